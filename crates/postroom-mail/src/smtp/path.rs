//! Reverse and forward paths (RFC 5321 section 4.1.2, RFC 6531 section 3.3).

use std::net::{Ipv4Addr, Ipv6Addr};

use postroom_types::Address;

/// Longest path with its brackets, bytes: 256 in RFC 5321 section 4.5.3.1.3, doubled for UTF-8 and
/// for senders that write long return addresses.
const PATH_BYTES: usize = 512;

/// Longest domain, bytes (RFC 5321 section 4.5.3.1.2).
const DOMAIN_BYTES: usize = 255;

/// A path with its source route taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Path<'a> {
    /// `<>`.
    Null,
    /// A single word without a domain; only `postmaster` may be one.
    Local(&'a str),
    /// `local@domain`.
    Mailbox(PathMailbox<'a>),
}

/// A mailbox as the client wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathMailbox<'a> {
    /// `local@domain` with any quotes left as they are.
    pub(super) text: &'a str,
    /// The local part without quotes and backslashes.
    local: String,
    domain: &'a str,
}

/// No path at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathError;

impl PathMailbox<'_> {
    /// The address that mail can be delivered to, if this is one.
    ///
    /// A local part that needs its quotes, one outside ASCII and an address literal name nobody
    /// here. Unquoting never makes another address out of one: what is left has no `@` and no
    /// space.
    pub(super) fn deliverable(&self) -> Option<Address> {
        if self.local.contains(|c: char| c == '@' || c.is_whitespace()) {
            return None;
        }
        Address::parse(&format!("{}@{}", self.local, self.domain)).ok()
    }
}

/// Reads one path from the start of an argument; gives it and what follows.
pub(super) fn parse(text: &str) -> Result<(Path<'_>, &str), PathError> {
    let inner = text.strip_prefix('<').ok_or(PathError)?;
    let inner = without_route(inner)?;
    if let Some(rest) = inner.strip_prefix('>') {
        return Ok((Path::Null, rest));
    }
    let (local, after_local) = local_part(inner)?;
    if let Some(rest) = after_local.strip_prefix('>') {
        let word = inner.get(..local.bytes).ok_or(PathError)?;
        return Ok((Path::Local(word), rest));
    }
    let domain_on = after_local.strip_prefix('@').ok_or(PathError)?;
    let (domain, rest) = domain_on.split_once('>').ok_or(PathError)?;
    let bytes = local.bytes + 1 + domain.len();
    if bytes + 2 > PATH_BYTES || !is_domain(domain) {
        return Err(PathError);
    }
    let mailbox = PathMailbox {
        text: inner.get(..bytes).ok_or(PathError)?,
        local: local.value,
        domain,
    };
    Ok((Path::Mailbox(mailbox), rest))
}

/// Takes off `@a,@b:`. It must be accepted and is best ignored (RFC 5321 appendix C): mail never
/// goes where a route says.
fn without_route(inner: &str) -> Result<&str, PathError> {
    if !inner.starts_with('@') {
        return Ok(inner);
    }
    let (route, rest) = inner.split_once(':').ok_or(PathError)?;
    let hop = |hop: &str| hop.strip_prefix('@').is_some_and(is_domain_name);
    // A route leads to a mailbox, never to nobody.
    if !route.split(',').all(hop) || rest.starts_with('>') {
        return Err(PathError);
    }
    Ok(rest)
}

struct LocalPart {
    value: String,
    bytes: usize,
}

fn local_part(inner: &str) -> Result<(LocalPart, &str), PathError> {
    if inner.starts_with('"') {
        return quoted_string(inner);
    }
    let is_atom = |c: char| {
        c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c) || is_beyond_ascii(c)
    };
    let bytes = inner.find(|c| !is_atom(c)).ok_or(PathError)?;
    let (value, rest) = inner.split_at_checked(bytes).ok_or(PathError)?;
    if value.is_empty() {
        return Err(PathError);
    }
    let value = value.to_owned();
    Ok((LocalPart { value, bytes }, rest))
}

fn quoted_string(inner: &str) -> Result<(LocalPart, &str), PathError> {
    let mut value = String::new();
    let mut escaped = false;
    for (at, c) in inner.char_indices().skip(1) {
        match c {
            ' '..='~' if escaped => {
                value.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' if value.is_empty() => return Err(PathError),
            '"' => {
                let rest = inner.get(at + 1..).ok_or(PathError)?;
                let bytes = at + 1;
                return Ok((LocalPart { value, bytes }, rest));
            }
            _ if escaped => return Err(PathError),
            ' '..='~' => value.push(c),
            _ if is_beyond_ascii(c) => value.push(c),
            _ => return Err(PathError),
        }
    }
    Err(PathError)
}

/// Whether a server may call itself this: a domain name or an address literal, in ASCII.
pub fn is_hostname(text: &str) -> bool {
    text.is_ascii() && is_domain(text)
}

/// Whether the text is a domain name or an address literal.
fn is_domain(domain: &str) -> bool {
    match domain
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(literal) => is_address_literal(literal),
        None => is_domain_name(domain),
    }
}

/// Underscores are no letters of a host name, and hosts have them.
fn is_domain_name(domain: &str) -> bool {
    let domain = domain.strip_suffix('.').unwrap_or(domain);
    let is_letter =
        |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || is_beyond_ascii(c);
    domain.len() <= DOMAIN_BYTES
        && domain
            .split('.')
            .all(|label| !label.is_empty() && label.chars().all(is_letter))
}

/// RFC 5321 section 4.1.3, the two forms that exist.
fn is_address_literal(literal: &str) -> bool {
    match literal.split_at_checked(5) {
        Some((tag, address)) if tag.eq_ignore_ascii_case("IPv6:") => {
            address.parse::<Ipv6Addr>().is_ok()
        }
        _ => literal.parse::<Ipv4Addr>().is_ok(),
    }
}

fn is_beyond_ascii(c: char) -> bool {
    !c.is_ascii() && !c.is_control() && !c.is_whitespace()
}
