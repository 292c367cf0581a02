//! Ids: every block gets one, by type and number in document order.

use std::collections::HashSet;

use super::{Pass, walk_mut};
use crate::{
    draft::Node,
    issue::{Code, Issue},
};

/// Longest id, characters.
const CHARS: usize = 40;

/// Whether `id` is a small letter, then small letters, digits and hyphens.
pub(crate) fn is_id(id: &str) -> bool {
    id.len() <= CHARS
        && id.starts_with(|char: char| char.is_ascii_lowercase())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Gives every block its own id.
pub(crate) fn assign(root: &mut Node, pass: &mut Pass<'_, '_>) {
    let at = root.origin;
    let Some(body) = super::body(root) else {
        return;
    };
    // Ids that are well formed keep their names, wherever they stand; the first of two wins.
    let mut taken: HashSet<String> = HashSet::new();
    walk_mut(body, &mut |node| {
        if let Some(id) = node.as_object().and_then(|object| object.string("id"))
            && is_id(id)
        {
            taken.insert(id.to_owned());
        }
    });
    let mut namer = Namer {
        taken,
        seen: HashSet::new(),
        next: std::collections::HashMap::new(),
    };
    let mut missing = 0;
    walk_mut(body, &mut |node| {
        if node.kind().is_none() {
            return;
        }
        missing += usize::from(namer.name(node, pass));
    });
    if missing > 0 {
        let source = pass.findings.origins.source(at);
        let message = format!("{missing} blocks have no id.");
        let issue = Issue::new(Code::HydrateIds, &source, message).fixable();
        pass.findings.push(at, issue);
        pass.findings
            .change(at, "id.assign", format!("{missing} ids assigned"));
    }
}

struct Namer {
    taken: HashSet<String>,
    seen: HashSet<String>,
    /// Next number by type.
    next: std::collections::HashMap<String, usize>,
}

impl Namer {
    /// Names one block; whether it had no id.
    fn name(&mut self, node: &mut Node, pass: &mut Pass<'_, '_>) -> bool {
        let at = node.origin;
        let kind = kebab(node.kind().unwrap_or("block"));
        let Some(object) = node.as_object_mut() else {
            return false;
        };
        let Some(written) = object.find("id").filter(|id| !id.is_null()) else {
            let id = self.numbered(&kind);
            object.put("id", Node::string(at, id));
            return true;
        };
        let origin = written.origin;
        let id = written.as_str().unwrap_or_default().to_owned();
        if is_id(&id) {
            if self.seen.insert(id.clone()) {
                return false;
            }
            let free = self.free(&id);
            pass.findings.mend(
                Code::IdDuplicate,
                origin,
                format!("The id {id} stands twice."),
                "id.rename",
                format!("{id} to {free}"),
            );
            object.put("id", Node::string(origin, free));
            return false;
        }
        let slug = slug(&id);
        let free = match slug {
            Some(slug) if self.taken.insert(slug.clone()) => {
                self.seen.insert(slug.clone());
                slug
            }
            Some(slug) => self.free(&slug),
            None => self.numbered(&kind),
        };
        let shown: String = id.chars().take(CHARS).collect();
        pass.findings.mend(
            Code::IdFormat,
            origin,
            format!("{shown:?} is no id."),
            "id.slug",
            format!("{shown:?} to {free}"),
        );
        object.put("id", Node::string(origin, free));
        false
    }

    /// The next free number of a type.
    fn numbered(&mut self, kind: &str) -> String {
        let next = self.next.entry(kind.to_owned()).or_insert(1);
        loop {
            let id = format!("{kind}-{next}");
            *next += 1;
            if self.taken.insert(id.clone()) {
                self.seen.insert(id.clone());
                return id;
            }
        }
    }

    /// `id` with the first free number from 2 on.
    fn free(&mut self, id: &str) -> String {
        let stem = id
            .get(..id.len().min(CHARS - 5))
            .unwrap_or(id)
            .trim_end_matches('-');
        let next = self.next.entry(format!("{stem} again")).or_insert(2);
        loop {
            let free = format!("{stem}-{next}");
            *next += 1;
            if self.taken.insert(free.clone()) {
                self.seen.insert(free.clone());
                return free;
            }
        }
    }
}

/// `menuItem` as `menu-item`; only what ids may hold.
fn kebab(kind: &str) -> String {
    let mut kebab = String::new();
    for char in kind.chars().take(20) {
        if char.is_ascii_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        if char.is_ascii_alphanumeric() {
            kebab.push(char.to_ascii_lowercase());
        }
    }
    if kebab.starts_with(|char: char| char.is_ascii_lowercase()) {
        kebab
    } else {
        "block".to_owned()
    }
}

/// What of `id` can stay.
fn slug(id: &str) -> Option<String> {
    let mut slug = String::new();
    for char in id.chars() {
        if slug.len() >= CHARS {
            break;
        }
        if char.is_ascii_alphanumeric() {
            slug.push(char.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_matches('-');
    let slug = slug.trim_start_matches(|char: char| char.is_ascii_digit() || char == '-');
    is_id(slug).then(|| slug.to_owned())
}
