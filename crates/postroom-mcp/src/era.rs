//! Which revision a request speaks, and whether its headers agree with its body.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Rejection;
use crate::envelope::{borrow_str, is_object};

/// A revision of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    /// 2025-06-18, legacy.
    June2025,
    /// 2025-11-25, legacy.
    November2025,
    /// 2026-07-28, modern.
    July2026,
}

impl Revision {
    /// Every supported revision, newest first.
    pub const ALL: &'static [Self] = &[Self::July2026, Self::November2025, Self::June2025];

    /// The revision's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
            Self::July2026 => "2026-07-28",
        }
    }

    /// The revision of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|revision| revision.as_str() == name)
    }

    /// Whether requests carry their version themselves and there is no handshake.
    pub fn is_modern(self) -> bool {
        self == Self::July2026
    }
}

/// A header as a transport found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field<'a> {
    /// Not sent.
    Absent,
    /// Sent once.
    Value(&'a [u8]),
    /// Sent more than once.
    Repeated,
}

impl<'a> Field<'a> {
    /// The value without surrounding blanks, when it was sent once and is visible ASCII.
    fn text(self) -> Result<Option<&'a str>, ()> {
        match self {
            Self::Absent => Ok(None),
            Self::Repeated => Err(()),
            Self::Value(bytes) => {
                let text = std::str::from_utf8(bytes).map_err(|_| ())?;
                let text = text.trim_matches([' ', '\t']);
                let clean = text
                    .bytes()
                    .all(|byte| (0x20..0x7f).contains(&byte) || byte == b'\t');
                if clean { Ok(Some(text)) } else { Err(()) }
            }
        }
    }
}

/// The headers that the protocol reads.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    /// `MCP-Protocol-Version`.
    pub version: Field<'a>,
    /// `Mcp-Method`.
    pub method: Field<'a>,
    /// `Mcp-Name`.
    pub name: Field<'a>,
    /// Looks up `Mcp-Param-{suffix}`.
    pub parameter: &'a (dyn Fn(&str) -> Field<'a> + Send + Sync),
}

impl std::fmt::Debug for Head<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Head")
            .field("version", &self.version)
            .field("method", &self.method)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// How a message came in.
#[derive(Debug, Clone, Copy)]
pub enum Wire<'a> {
    /// By HTTP, with headers.
    Http(Head<'a>),
    /// By standard input. After `initialize` the process speaks the legacy revision it chose.
    Stdio(Option<Revision>),
}

/// The `params._meta` of a request. Every member is kept raw, so that a wrong type is a refusal
/// with its own sentence.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(crate) version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(crate) capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/logLevel")]
    pub(crate) log_level: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "progressToken")]
    pub(crate) progress_token: Option<&'a RawValue>,
}

/// What the era rule looks at.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    /// The method.
    pub(crate) method: &'a str,
    /// `params.protocolVersion`, when it is a string.
    pub(crate) handshake: Option<&'a str>,
    /// `params._meta`.
    pub(crate) meta: &'a Meta<'a>,
    /// What `Mcp-Name` must repeat.
    pub(crate) name: Option<&'a str>,
}

/// Decides the revision of a request.
///
/// The order is that of the protocol's conformance checks: `initialize` with a version opens the
/// legacy era whatever else is there; a header that differs from the body is told before a version
/// that is not supported; a modern header without `_meta` lacks parameters.
pub(crate) fn decide(claim: &Claim<'_>, wire: &Wire<'_>) -> Result<Revision, Rejection> {
    if claim.method == "initialize"
        && let Some(version) = claim.handshake
    {
        let legacy = Revision::of(version).filter(|revision| !revision.is_modern());
        return Ok(legacy.unwrap_or(Revision::November2025));
    }
    match claim.meta.version {
        Some(version) => modern(claim, version, wire),
        None => without_meta(claim, wire),
    }
}

fn without_meta(claim: &Claim<'_>, wire: &Wire<'_>) -> Result<Revision, Rejection> {
    const MISSING: &str = "params._meta must carry io.modelcontextprotocol/protocolVersion and \
        clientCapabilities; a client of an earlier revision sends initialize first.";
    let head = match wire {
        Wire::Stdio(Some(session)) => return Ok(*session),
        Wire::Stdio(None) => return Err(Rejection::bad_meta(MISSING)),
        Wire::Http(head) => head,
    };
    let version = match head.version.text() {
        Ok(version) => version,
        Err(()) => return Err(Rejection::unsupported_version("")),
    };
    match version.map(|name| (name, Revision::of(name))) {
        Some((_, Some(revision))) if !revision.is_modern() => Ok(revision),
        Some((_, Some(_))) => Err(Rejection::bad_meta(MISSING)),
        None if claim.method == "server/discover" => Err(Rejection::bad_meta(MISSING)),
        Some((name, None)) => Err(Rejection::unsupported_version(&clip(name))),
        None => Err(Rejection::unsupported_version("")),
    }
}

fn modern(claim: &Claim<'_>, version: &RawValue, wire: &Wire<'_>) -> Result<Revision, Rejection> {
    let version = borrow_str(version).ok_or_else(|| {
        Rejection::bad_meta("io.modelcontextprotocol/protocolVersion must be a string.")
    })?;
    if let Wire::Http(head) = wire {
        agree("MCP-Protocol-Version", head.version, &version)?;
    }
    if Revision::of(&version) != Some(Revision::July2026) {
        return Err(Rejection::unsupported_version(&clip(&version)));
    }
    if let Wire::Http(head) = wire {
        agree("Mcp-Method", head.method, claim.method)?;
        if let Some(name) = claim.name {
            agree("Mcp-Name", head.name, name)?;
        }
    }
    if !claim.meta.capabilities.is_some_and(is_object) {
        return Err(Rejection::bad_meta(
            "io.modelcontextprotocol/clientCapabilities must be an object.",
        ));
    }
    Ok(Revision::July2026)
}

/// Whether a header says what the body says.
fn agree(header: &str, field: Field<'_>, body: &str) -> Result<(), Rejection> {
    match decode(field) {
        Ok(Some(value)) if value == body => Ok(()),
        Ok(Some(_)) => Err(Rejection::header_mismatch(format!(
            "{header} differs from the body."
        ))),
        Ok(None) => Err(Rejection::header_mismatch(format!("{header} is missing."))),
        Err(()) => Err(Rejection::header_mismatch(format!(
            "{header} is repeated or malformed."
        ))),
    }
}

/// A header's text, out of its `=?base64?...?=` form when it has one.
pub(crate) fn decode(field: Field<'_>) -> Result<Option<Cow<'_, str>>, ()> {
    let Some(text) = field.text()? else {
        return Ok(None);
    };
    let Some(encoded) = text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    else {
        return Ok(Some(Cow::Borrowed(text)));
    };
    let bytes = STANDARD.decode(encoded).map_err(|_| ())?;
    String::from_utf8(bytes)
        .map(|text| Some(Cow::Owned(text)))
        .map_err(|_| ())
}

/// The parameters of a tool that must also be in headers (`x-mcp-header`).
pub(crate) fn check_parameters(
    head: &Head<'_>,
    expected: &[(&'static str, &'static str)],
    arguments: &RawValue,
) -> Result<(), Rejection> {
    if expected.is_empty() {
        return Ok(());
    }
    let arguments: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(arguments.get()).unwrap_or_default();
    for (property, suffix) in expected {
        let header = format!("Mcp-Param-{suffix}");
        let value = decode((head.parameter)(suffix));
        let body = arguments.get(*property).filter(|value| !value.is_null());
        let agrees = match (&value, body) {
            (Ok(None), None) => true,
            (Ok(Some(text)), Some(body)) => same_value(text, body),
            _ => false,
        };
        if !agrees {
            return Err(Rejection::header_mismatch(format!(
                "{header} differs from the body."
            )));
        }
    }
    Ok(())
}

/// Numbers are compared as numbers, everything else as text.
fn same_value(text: &str, body: &serde_json::Value) -> bool {
    match body {
        serde_json::Value::String(body) => body == text,
        serde_json::Value::Bool(body) => text == if *body { "true" } else { "false" },
        serde_json::Value::Number(body) => text
            .parse::<f64>()
            .ok()
            .zip(body.as_f64())
            .is_some_and(|(a, b)| a == b),
        _ => false,
    }
}

/// What a client asked for, short enough to repeat.
fn clip(text: &str) -> String {
    text.chars().take(100).collect()
}
