//! Values out of a request, each at most read once.

use std::cell::OnceCell;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::params;
use crate::{Options, Reason, Rejection, Request, scheme::Place};

/// A request with its body read as far as somebody asked for it.
pub(crate) struct Reading<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) options: &'a Options,
    json: OnceCell<Option<Value>>,
    form: OnceCell<Vec<(String, String)>>,
    claims: OnceCell<Value>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(request: &'a Request<'a>, options: &'a Options) -> Self {
        Self {
            request,
            options,
            json: OnceCell::new(),
            form: OnceCell::new(),
            claims: OnceCell::new(),
        }
    }

    /// The body as JSON, if it is JSON.
    pub(crate) fn json(&self) -> Option<&Value> {
        self.json
            .get_or_init(|| serde_json::from_slice(&self.request.body).ok())
            .as_ref()
    }

    /// The fields of a form body.
    pub(crate) fn form(&self) -> &[(String, String)] {
        self.form.get_or_init(|| params::form_fields(self.request))
    }

    /// Keeps the claims of a token that was checked.
    pub(crate) fn keep_claims(&self, claims: Value) {
        // A request has one token; a second one would be a second verdict.
        let _ = self.claims.set(claims);
    }

    /// The one text value of a header. Several lines are an ambiguity, not a choice.
    pub(crate) fn header(&self, name: &str) -> Result<Option<String>, Rejection> {
        let mut values = self.request.values(name);
        let Some(value) = values.next() else {
            return Ok(None);
        };
        if values.next().is_some() {
            return Err(Rejection::new(
                Reason::MalformedSignature,
                format!("duplicate_header:{name}"),
                format!("The header {name} stands there more than once."),
            ));
        }
        match std::str::from_utf8(value) {
            Ok(text) if !text.is_empty() => Ok(Some(text.to_owned())),
            Ok(_) => Ok(None),
            Err(_) => Err(Rejection::new(
                Reason::MalformedSignature,
                format!("unreadable_header:{name}"),
                format!("The header {name} is not text."),
            )),
        }
    }

    /// The value at a place; `Ok(None)` when there is none.
    pub(crate) fn value(&self, place: Place) -> Result<Option<String>, Rejection> {
        match place {
            Place::Header(name) => self.header(name),
            Place::ChosenHeader(name) => self.header(self.chosen(name)),
            Place::AnyHeader => Ok(None),
            Place::Pair {
                header,
                separator,
                key,
            } => self.pair(header, separator, key),
            Place::Json(path) => Ok(self.json().and_then(|body| at(body, path)).and_then(text)),
            Place::Form(name) => Ok(field(self.form(), name)),
            Place::Param(name) => Ok(self.param(name)),
            Place::Query(name) => Ok(self.request.query_value(name)),
            Place::Basic => self.basic(),
            Place::Bearer => self.bearer(),
            Place::Claim(name) => Ok(self
                .claims
                .get()
                .and_then(|claims| claims.get(name))
                .and_then(text)),
            Place::MailHeader(name) => Ok(self.mail_header(name)),
            Place::Fixed(value) => Ok(Some(value.to_owned())),
        }
    }

    /// A value that must be there.
    pub(crate) fn required(&self, place: Place) -> Result<String, Rejection> {
        self.value(place)?.ok_or_else(|| self.missing(place))
    }

    /// The refusal for a value that is not there.
    pub(crate) fn missing(&self, place: Place) -> Rejection {
        let (code, detail) = match place {
            Place::Header(name) | Place::Pair { header: name, .. } => (
                format!("missing_header:{name}"),
                format!("The header {name} is not there."),
            ),
            Place::ChosenHeader(name) => {
                let name = self.chosen(name);
                (
                    format!("missing_header:{name}"),
                    format!("The header {name} is not there."),
                )
            }
            Place::AnyHeader => (
                "missing_header:x-signature".to_owned(),
                "No header holds a signature.".to_owned(),
            ),
            Place::Basic | Place::Bearer => (
                "missing_header:authorization".to_owned(),
                "The header authorization is not there.".to_owned(),
            ),
            Place::Json(path) => (
                format!("missing_field:{}", path.join(".")),
                format!("The body has no field {}.", path.join(".")),
            ),
            Place::Form(name) | Place::Param(name) | Place::Query(name) => (
                format!("missing_field:{name}"),
                format!("There is no parameter {name}."),
            ),
            Place::Claim(name) => (
                format!("missing_claim:{name}"),
                format!("The token has no claim {name}."),
            ),
            Place::MailHeader(_) | Place::Fixed(_) => (
                "missing_field".to_owned(),
                "A field is not there.".to_owned(),
            ),
        };
        Rejection::new(Reason::MissingSignature, code, detail)
    }

    /// The header that the source names, else the row's.
    pub(crate) fn chosen(&self, name: &'static str) -> &str {
        self.options.header.as_deref().unwrap_or(name)
    }

    fn pair(
        &self,
        header: &'static str,
        separator: char,
        key: &str,
    ) -> Result<Option<String>, Rejection> {
        let Some(line) = self.header(header)? else {
            return Ok(None);
        };
        let mut values = line
            .split(separator)
            .filter_map(|entry| entry.trim().split_once('='))
            .filter(|(name, _)| *name == key)
            .map(|(_, value)| value);
        let value = values.next().map(str::to_owned);
        if values.next().is_some() {
            return Err(Rejection::new(
                Reason::MalformedSignature,
                format!("duplicate_entry:{key}"),
                format!("The header {header} has {key} more than once."),
            ));
        }
        Ok(value)
    }

    fn param(&self, name: &str) -> Option<String> {
        params::all(self)
            .into_iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    fn basic(&self) -> Result<Option<String>, Rejection> {
        let Some(encoded) = self.credentials("basic")? else {
            return Ok(None);
        };
        let decoded = STANDARD
            .decode(encoded.as_bytes())
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        decoded.map(Some).ok_or_else(|| {
            Rejection::new(
                Reason::MalformedSignature,
                "unreadable_header:authorization",
                "The Basic credentials cannot be decoded.",
            )
        })
    }

    fn bearer(&self) -> Result<Option<String>, Rejection> {
        self.credentials("bearer")
    }

    /// `Authorization` of one scheme (RFC 9110 section 11.4: the scheme's name in any case).
    fn credentials(&self, scheme: &str) -> Result<Option<String>, Rejection> {
        let Some(line) = self.header("authorization")? else {
            return Ok(None);
        };
        let Some((given, rest)) = line.split_once(' ') else {
            return Ok(None);
        };
        Ok(given
            .eq_ignore_ascii_case(scheme)
            .then(|| rest.trim().to_owned()))
    }

    fn mail_header(&self, name: &str) -> Option<String> {
        let lines = field(self.form(), "headers")?;
        lines.lines().find_map(|line| {
            let (given, value) = line.split_once(':')?;
            given
                .eq_ignore_ascii_case(name)
                .then(|| value.trim().to_owned())
        })
    }
}

/// The value at a path; a number is a place in a list, `only` the item of a list of one.
pub(crate) fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, step| match value {
        Value::Object(map) => map.get(*step),
        Value::Array(list) if *step == "only" => match list.as_slice() {
            [item] => Some(item),
            _ => None,
        },
        Value::Array(list) => list.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// A scalar as text; null, lists and objects are none.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn field(fields: &[(String, String)], name: &str) -> Option<String> {
    fields
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.clone())
}
