//! Results for the wire: what the modern era adds to them, and lists of entries.

use serde_json::Value;
use serde_json::value::RawValue;

use super::Server;
use crate::{CacheScope, Outcome, Rejection, Revision, write};

impl<R> Server<R> {
    /// Writes what a call came to.
    pub(super) fn outcome<T>(
        &self,
        revision: Revision,
        outcome: Outcome<T>,
        write: impl FnOnce(T) -> (String, Option<(u64, CacheScope)>),
    ) -> Result<String, Rejection> {
        match outcome {
            Outcome::Complete(result) => {
                let (body, cache) = write(result);
                Ok(self.finish(revision, &body, cache))
            }
            Outcome::InputRequired(wish) if revision.is_modern() => {
                let body = write::json(&wish);
                Ok(self.close(&body, "\"resultType\":\"input_required\""))
            }
            Outcome::InputRequired(_) => Err(Rejection::new(
                200,
                crate::code::INTERNAL,
                "This call needs input that a client of this revision cannot be asked for.",
            )),
        }
    }

    /// Adds to a result object what a modern result must say; a legacy result stays as it is.
    pub(super) fn finish(
        &self,
        revision: Revision,
        object: &str,
        cache: Option<(u64, CacheScope)>,
    ) -> String {
        if !revision.is_modern() {
            return object.to_owned();
        }
        let Some((ttl_ms, scope)) = cache else {
            return self.close(object, r#""resultType":"complete""#);
        };
        let scope = match scope {
            CacheScope::Public => "public",
            CacheScope::Private => "private",
        };
        let members = format!(r#""resultType":"complete","ttlMs":{ttl_ms},"cacheScope":"{scope}""#);
        self.close(object, &members)
    }

    /// Puts members and the server's `_meta` at the end of an object.
    pub(super) fn close(&self, object: &str, members: &str) -> String {
        let open = object.strip_suffix('}').unwrap_or("{");
        let mut text = String::with_capacity(open.len() + members.len() + self.meta.len() + 3);
        text.push_str(open);
        if !open.ends_with('{') {
            text.push(',');
        }
        text.push_str(members);
        text.push(',');
        text.push_str(&self.meta);
        text.push('}');
        text
    }
}

/// Adds entries to the `_meta` that [`Server::close`] put at the end of a result.
pub(super) fn splice(result: &mut String, meta: &Value) {
    let addition = write::json(meta);
    let Some(members) = addition.strip_prefix('{') else {
        return;
    };
    if result.ends_with("}}") {
        result.truncate(result.len() - 2);
        result.push(',');
        result.push_str(members);
        result.push('}');
    }
}

/// A result of one list.
pub(super) fn entries(name: &str, entries: &[&RawValue]) -> String {
    let size = entries
        .iter()
        .map(|entry| entry.get().len() + 1)
        .sum::<usize>();
    let mut text = String::with_capacity(size + name.len() + 8);
    text.push_str("{\"");
    text.push_str(name);
    text.push_str("\":[");
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(entry.get());
    }
    text.push_str("]}");
    text
}
