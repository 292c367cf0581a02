//! Header fields that a caller may set.

use std::collections::HashSet;

use postroom_types::limit;

use super::{ComposeError, Fault, encode};

/// Checked header fields of a caller: none of them can be one that the server writes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers {
    fields: Vec<(String, String)>,
}

/// Values that a name may have, and how they are named to a caller.
type Values = Option<(&'static [&'static str], &'static str)>;

const IMPORTANCE: &[&str] = &["high", "normal", "low"];
const PRIORITY: &[&str] = &["normal", "non-urgent", "urgent"];
const SENSITIVITY: &[&str] = &["personal", "private", "company-confidential"];

/// Names that are not `X-`, as they are written.
const STANDARD: &[(&str, Values)] = &[
    ("Importance", Some((IMPORTANCE, "high, normal, low"))),
    ("Priority", Some((PRIORITY, "normal, non-urgent, urgent"))),
    (
        "Sensitivity",
        Some((SENSITIVITY, "personal, private, company-confidential")),
    ),
    ("Keywords", None),
    ("Comments", None),
    ("Organization", None),
];

/// What only the server sets, and what relays take as orders, in lower case; a name that ends in `-`
/// stands for all that begin with it. By some of these orders a mail gets recipients that nobody
/// checked.
const RESERVED: &[&str] = &[
    "x-postroom-",
    "x-ai-generated",
    "x-mailgun-",
    "x-mc-",
    "x-mj-",
    "x-msys-api",
    "x-pm-",
    "x-ses-",
    "x-sib-",
    "x-smtpapi",
];

const NAME_BYTES: usize = 100;

impl Headers {
    /// Checks names and values. `X-` names of letters, digits, `-` and `_` are sent as given,
    /// except those that are the server's own or orders to a relay; six standard names are sent in their usual case.
    ///
    /// # Errors
    /// [`ComposeError::HeaderNotAllowed`] for any other name; [`ComposeError::Invalid`] with the
    /// path `headers.NAME` for a value that is empty, longer than
    /// [`limit::SEND_HEADER_VALUE_BYTES`], not on one line or not in the list of its name, for a
    /// name given twice in different case, and with the path `headers` when all are longer than
    /// [`limit::SEND_HEADERS_BYTES`].
    pub fn check<N, V>(fields: impl IntoIterator<Item = (N, V)>) -> Result<Self, ComposeError>
    where
        N: AsRef<str>,
        V: AsRef<str>,
    {
        let mut seen = HashSet::new();
        let mut checked = Vec::new();
        let mut bytes = 0usize;
        for (name, value) in fields {
            let (name, value) = (name.as_ref(), value.as_ref());
            let path = path_of(name);
            let Some((written, values)) = allowed(name) else {
                return Err(ComposeError::HeaderNotAllowed { path });
            };
            if !seen.insert(name.to_ascii_lowercase()) {
                return Err(ComposeError::invalid(path, Fault::Twice));
            }
            let value = value.trim_matches(' ');
            check_value(value, values).map_err(|fault| ComposeError::invalid(path, fault))?;
            bytes += name.len() + value.len() + 4;
            if bytes > limit::SEND_HEADERS_BYTES {
                let fault = Fault::TooLong(limit::SEND_HEADERS_BYTES, "bytes");
                return Err(ComposeError::invalid("headers", fault));
            }
            checked.push((written.to_owned(), value.to_owned()));
        }
        Ok(Self { fields: checked })
    }

    /// The fields as they are sent, in the order given.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether a field of this name is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields
            .iter()
            .any(|(known, _)| known.eq_ignore_ascii_case(name))
    }
}

/// The name as it is sent and the values it may have.
fn allowed(name: &str) -> Option<(&str, Values)> {
    let standard = STANDARD
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    if let Some((written, values)) = standard {
        return Some((written, *values));
    }
    let lower = name.to_ascii_lowercase();
    let rest = lower.strip_prefix("x-")?;
    let is_name = !rest.is_empty()
        && name.len() <= NAME_BYTES
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let is_reserved = RESERVED.iter().any(|reserved| {
        lower == *reserved || reserved.ends_with('-') && lower.starts_with(reserved)
    });
    (is_name && !is_reserved).then_some((name, None))
}

fn check_value(value: &str, values: Values) -> Result<(), Fault> {
    if value.trim().is_empty() {
        return Err(Fault::Empty);
    }
    if value.len() > limit::SEND_HEADER_VALUE_BYTES {
        return Err(Fault::TooLong(limit::SEND_HEADER_VALUE_BYTES, "bytes"));
    }
    if !encode::is_one_line(value) {
        return Err(Fault::NotOneLine);
    }
    match values {
        Some((list, said)) if !list.contains(&value) => Err(Fault::NotOneOf(said)),
        _ => Ok(()),
    }
}

/// The path of an argument whose name may be anything.
fn path_of(name: &str) -> String {
    let shown: String = name
        .chars()
        .take(NAME_BYTES)
        .map(|c| if c.is_ascii_graphic() { c } else { '?' })
        .collect();
    format!("headers.{shown}")
}
