//! Addresses: whole, of a scheme that is safe in mail, with variables.

use crate::{
    draft::{Node, Origin, Value},
    grammar::UrlUse,
    issue::Code,
    notation::{self, Part},
    pass::{Pass, adopt, text},
};

/// Endings of files; a word that ends so is a relative address, not a host.
const FILES: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "bmp", "ico", "html", "htm", "php", "asp",
    "aspx", "pdf", "css", "js", "json", "txt", "xml",
];

/// An address in the form of a link of Markdown, and blanks in the number of a telephone.
fn as_written(address: String, at: Origin, pass: &mut Pass<'_, '_>) -> String {
    let mended = match address
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]("))
    {
        Some((_, rest)) => rest.strip_suffix(')').map(str::to_owned),
        None if address.starts_with("tel:") && !address.contains('{') => {
            let bare = address.split_whitespace().collect::<String>();
            (bare != address).then_some(bare)
        }
        None => None,
    };
    let Some(mended) = mended else {
        return address;
    };
    pass.findings.mend(
        Code::UrlInvalid,
        at,
        "The address has signs around it or blanks in it.",
        "url.trim",
        format!("{address} to {mended}"),
    );
    mended
}

/// The one address in a list of one, or in an object around it.
fn inner(node: &Node) -> Option<&Node> {
    match &node.value {
        Value::Array(items) => match items.as_slice() {
            [one] if one.as_str().is_some() => Some(one),
            _ => None,
        },
        Value::Object(object) => {
            let object = object
                .find("values")
                .and_then(Node::as_object)
                .unwrap_or(object);
            let found = ["href", "url", "src", "link"].into_iter().find_map(|key| {
                let inner = object.find(key)?;
                inner.as_str().map(|_| inner)
            });
            // Words beside it would be lost.
            let words = object.0.iter().any(|(key, node)| {
                !matches!(key.as_str(), "href" | "url" | "src" | "link")
                    && adopt::says_something(key, node)
            });
            found.filter(|_| !words)
        }
        _ => None,
    }
}

/// The path of the variable that an object names and nothing else.
fn variable(node: &Node) -> Option<&str> {
    let object = node.as_object()?;
    let only = object
        .0
        .iter()
        .all(|(key, _)| matches!(key.as_str(), "var" | "variable" | "name" | "path" | "type"));
    let kind = object.string("type");
    if !only || !kind.is_none_or(|kind| matches!(kind, "var" | "variable")) {
        return None;
    }
    let found = ["var", "variable", "name", "path"]
        .into_iter()
        .find_map(|key| object.string(key))?;
    let path = text::path_of(found);
    (object.0.len() <= 2 && notation::is_path(path)).then_some(path)
}

/// An address in its form; what is none stays as it is.
pub(crate) fn url(node: &Node, usage: UrlUse, pass: &mut Pass<'_, '_>) -> Node {
    let at = node.origin;
    if let Some(inner) = inner(node) {
        pass.findings.mend(
            Code::SchemaType,
            at,
            format!("An address is a string, not {}.", node.what()),
            "text.string",
            format!("{} to {}", node.excerpt(), inner.excerpt()),
        );
        return url(inner, usage, pass);
    }
    if let Some(path) = variable(node) {
        let mended = Node::string(at, format!("{{{{ {path} }}}}"));
        pass.findings.mend(
            Code::SchemaType,
            at,
            format!("An address is a string, not {}.", node.what()),
            "text.string",
            format!("{} to {}", node.excerpt(), mended.excerpt()),
        );
        return url(&mended, usage, pass);
    }
    let Some(written) = node.as_str() else {
        let message = format!("An address is a string, not {}.", node.what());
        pass.findings.report(Code::SchemaType, at, message);
        return node.clone();
    };
    let trimmed = written.trim_matches(|char: char| char.is_whitespace() || char.is_control());
    if trimmed != written {
        pass.findings.mend(
            Code::UrlInvalid,
            at,
            "Blanks stand around the address.",
            "url.trim",
            format!("{} to {trimmed:?}", node.excerpt()),
        );
    }
    let decoded = trimmed.replace("%7B%7B", "{{").replace("%7D%7D", "}}");
    if decoded != trimmed {
        pass.findings.mend(
            Code::VarSyntax,
            at,
            "The braces of a variable are percent-encoded.",
            "var.syntax",
            format!("{trimmed} to {decoded}"),
        );
    }
    let decoded = entities(decoded, at, pass);
    let decoded = as_written(decoded, at, pass);
    let mut parts = pass.reading(|reading| notation::parse(&decoded, reading));
    for part in &parts {
        match part {
            Part::Foreign(used, written) => text::foreign(used, written, at, pass),
            Part::Bad(written, why) => text::bad(written, why, at, pass),
            Part::Text(_) | Part::Variable(_) => {}
        }
    }
    let fault = judge(&parts, usage).or_else(|| judge_default(&parts, usage));
    match fault {
        Some(Fault::Prefix(prefix, code, message)) => {
            parts.insert(0, Part::Text(prefix.to_owned()));
            if let [Part::Text(prefix), Part::Text(rest), ..] = parts.as_mut_slice() {
                // `//host` has its slashes already.
                let rest = std::mem::take(rest);
                let rest = match rest.strip_prefix("//") {
                    Some(host) if prefix.ends_with("//") => host,
                    _ => rest.as_str(),
                };
                prefix.push_str(rest);
            }
            parts.retain(|part| *part != Part::Text(String::new()));
            let mended = pass.reading(|reading| notation::join(&parts, reading));
            let change = format!("{decoded} to {mended}");
            pass.findings.mend(code, at, message, "url.scheme", change);
        }
        Some(Fault::Error(code, message)) => {
            let shown: String = decoded.chars().take(60).collect();
            pass.findings
                .report(code, at, format!("{shown:?}: {message}"));
        }
        None => {}
    }
    Node::string(at, pass.reading(|reading| notation::join(&parts, reading)))
}

/// An address copied from HTML, where `&` is written as a reference, as it is meant.
fn entities(address: String, at: Origin, pass: &mut Pass<'_, '_>) -> String {
    const REFERENCE: &str = "&amp;";
    if !address.contains(REFERENCE) {
        return address;
    }
    let mut meant = address.clone();
    while meant.contains(REFERENCE) {
        meant = meant.replace(REFERENCE, "&");
    }
    pass.findings.mend(
        Code::UrlInvalid,
        at,
        "The address has `&amp;`, which is `&` in HTML only.",
        "url.entity",
        format!("{address} to {meant}"),
    );
    meant
}

enum Fault {
    /// A prefix makes it whole.
    Prefix(&'static str, Code, &'static str),
    Error(Code, String),
}

fn error(code: Code, message: impl Into<String>) -> Option<Fault> {
    Some(Fault::Error(code, message.into()))
}

/// What is wrong with the address that stands there when the variable it begins with has no value.
fn judge_default(parts: &[Part], usage: UrlUse) -> Option<Fault> {
    let Some(Part::Variable(used)) = parts.first() else {
        return None;
    };
    if let Some(Part::Text(rest)) = parts.get(1)
        && rest.starts_with(':')
        && !rest.starts_with("://")
    {
        return error(
            Code::UrlScheme,
            "a scheme from a variable is followed by no address of the web.",
        );
    }
    let default = used.default.as_ref().filter(|text| !text.is_empty())?;
    let mut stood = parts.to_vec();
    if let Some(first) = stood.first_mut() {
        *first = Part::Text(default.clone());
    }
    if let [Part::Text(_), Part::Text(rest), ..] = stood.as_slice() {
        let joined = format!("{default}{rest}");
        stood.remove(0);
        if let Some(first) = stood.first_mut() {
            *first = Part::Text(joined);
        }
    }
    match judge(&stood, usage)? {
        Fault::Error(code, message) => error(code, format!("its default: {message}")),
        // Only what stands in the document is mended, not what a variable may be.
        Fault::Prefix(_, code, message) => {
            error(code, format!("its default: {}", message.to_lowercase()))
        }
    }
}

/// What is wrong with a value that stands in a document for a whole address.
pub(crate) fn address_fault(value: &str) -> Option<String> {
    match judge(&[Part::Text(value.to_owned())], UrlUse::Link)? {
        Fault::Error(_, message) => Some(message),
        Fault::Prefix(_, _, message) => Some(message.to_lowercase()),
    }
}

/// What is wrong with the scheme of a value that stands for a whole address.
pub(crate) fn scheme_fault(value: &str) -> Option<String> {
    match judge(&[Part::Text(value.to_owned())], UrlUse::Link)? {
        Fault::Error(Code::UrlScheme, message) => Some(message),
        _ => None,
    }
}

/// What is wrong with the address.
fn judge(parts: &[Part], usage: UrlUse) -> Option<Fault> {
    let first = match parts.first() {
        None => return error(Code::UrlInvalid, "the address is empty."),
        Some(Part::Text(text)) => text.as_str(),
        Some(_) => "",
    };
    // Variables stand for one letter, so that the rest can be looked at.
    let whole: String = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.as_str(),
            _ => "x",
        })
        .collect();
    if let Some(scheme) = scheme(first) {
        return judge_scheme(&scheme, first, &whole, usage);
    }
    if first.is_empty() {
        // It begins with a variable, which may hold scheme and host.
        return clean(&whole);
    }
    if first.starts_with("//") {
        return Some(Fault::Prefix(
            "https://",
            Code::UrlRelative,
            "The address leaves out its scheme.",
        ));
    }
    if first.starts_with('#') && usage == UrlUse::Link {
        return clean(&whole);
    }
    if usage == UrlUse::Link && is_mailbox(first) && parts.len() == 1 {
        return Some(Fault::Prefix(
            "mailto:",
            Code::UrlRelative,
            "A mail address is written with mailto:.",
        ));
    }
    if is_host(first, parts.len() == 1) {
        return Some(Fault::Prefix(
            "https://",
            Code::UrlRelative,
            "The address leaves out its scheme.",
        ));
    }
    error(
        Code::UrlRelative,
        "the address is relative, and a mail has no place of its own.",
    )
}

/// The scheme that a browser would see: references to characters resolved, blanks and control
/// characters left out.
fn scheme(text: &str) -> Option<String> {
    let head: String = text.chars().take(200).collect();
    let head = decode(&head);
    let head: String = head
        .chars()
        .filter(|char| !char.is_whitespace() && !char.is_control() && !is_invisible(*char))
        .collect();
    let end = head.find([':', '/', '?', '#'])?;
    let (scheme, rest) = head.split_at(end);
    let is = rest.starts_with(':')
        && scheme.starts_with(|char: char| char.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || matches!(char, '+' | '-' | '.'));
    // `localhost:8080` and `host.example:443/x` are hosts with ports.
    let port = rest.get(1..).unwrap_or_default();
    let port = port.split(['/', '?', '#']).next().unwrap_or_default();
    let has_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let host = scheme.contains('.') || scheme.eq_ignore_ascii_case("localhost");
    (is && !(has_port && host)).then(|| scheme.to_ascii_lowercase())
}

/// Characters that show nothing and that readers of addresses skip.
fn is_invisible(char: char) -> bool {
    matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// References to characters as HTML has them, as far as they can hide a scheme.
fn decode(text: &str) -> String {
    let mut decoded = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, after) = rest.split_at(at);
        decoded.push_str(before);
        let inner = after.get(1..).unwrap_or_default();
        let (char, length) = reference(inner).unwrap_or(('&', 0));
        decoded.push(char);
        rest = inner.get(length..).unwrap_or_default();
    }
    decoded.push_str(rest);
    decoded
}

/// The character that a reference after its `&` stands for, and its length.
fn reference(text: &str) -> Option<(char, usize)> {
    for (name, char) in [
        ("colon;", ':'),
        ("Tab;", '\t'),
        ("NewLine;", '\n'),
        ("sol;", '/'),
        ("amp;", '&'),
    ] {
        if text.starts_with(name) {
            return Some((char, name.len()));
        }
    }
    let digits = text.strip_prefix('#')?;
    let (digits, radix, prefix) = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 2),
        None => (digits, 10, 1),
    };
    let length = digits
        .find(|char: char| !char.is_digit(radix))
        .unwrap_or(digits.len());
    let number = u32::from_str_radix(digits.get(..length)?, radix).ok()?;
    let semicolon = usize::from(digits.get(length..)?.starts_with(';'));
    Some((char::from_u32(number)?, prefix + length + semicolon))
}

fn judge_scheme(scheme: &str, first: &str, whole: &str, usage: UrlUse) -> Option<Fault> {
    let plain = first
        .get(..scheme.len() + 1)
        .is_some_and(|start| start.trim_end_matches(':').eq_ignore_ascii_case(scheme));
    if !plain {
        return error(
            Code::UrlScheme,
            format!("the scheme {scheme}: is hidden in it."),
        );
    }
    let rest = whole.get(scheme.len() + 1..).unwrap_or_default();
    match (scheme, usage) {
        ("http" | "https", _) => web(rest, whole),
        ("mailto", UrlUse::Link) if rest.contains('@') || rest.starts_with('?') || rest == "x" => {
            clean(whole)
        }
        ("mailto", UrlUse::Link) => error(Code::UrlInvalid, "no mail address follows mailto:."),
        ("tel" | "sms", UrlUse::Link) => {
            let is = rest
                .chars()
                .any(|char| char.is_ascii_digit() || char == 'x');
            if is {
                clean(whole)
            } else {
                error(Code::UrlInvalid, "no number follows.")
            }
        }
        ("cid", UrlUse::Picture) => clean(whole),
        ("data", UrlUse::Picture) => error(
            Code::UrlScheme,
            "pictures inside addresses are blocked by most mail programs; put the picture on a server.",
        ),
        (scheme, _) => error(
            Code::UrlScheme,
            format!("{scheme}: addresses do not work in mail."),
        ),
    }
}

/// An address of the web after its scheme.
fn web(rest: &str, whole: &str) -> Option<Fault> {
    let Some(rest) = rest.strip_prefix("//") else {
        return error(Code::UrlInvalid, "two slashes follow the scheme.");
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return error(
            Code::UrlInvalid,
            "a name stands before the host, as in forged links.",
        );
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => (host, port),
        _ => (authority, ""),
    };
    let host_is = !host.is_empty()
        && !host.starts_with('.')
        && !host.contains("..")
        && host.chars().all(|char| {
            char.is_alphanumeric() || matches!(char, '.' | '-' | '_' | '[' | ']' | ':')
        });
    if !host_is {
        return error(Code::UrlInvalid, "its host is none.");
    }
    let port_is = port
        .chars()
        .all(|char| char.is_ascii_digit() || char == 'x')
        && port.len() <= 5;
    if !port_is {
        return error(Code::UrlInvalid, "its port is none.");
    }
    clean(whole)
}

/// Characters that no address holds unencoded.
fn clean(whole: &str) -> Option<Fault> {
    let stray = |char: char| {
        char.is_whitespace() || char.is_control() || matches!(char, '"' | '<' | '>' | '\\' | '`')
    };
    match whole.chars().find(|char| stray(*char)) {
        Some(char) => error(
            Code::UrlInvalid,
            format!("{char:?} has to be percent-encoded."),
        ),
        None => None,
    }
}

/// Whether `text` is a mail address alone.
fn is_mailbox(text: &str) -> bool {
    match text.split_once('@') {
        Some((name, host)) => {
            !name.is_empty() && is_host(host, true) && !host.contains('/') && clean(text).is_none()
        }
        None => false,
    }
}

/// Whether `text` begins with the name of a host; `alone` when nothing follows it.
fn is_host(text: &str, alone: bool) -> bool {
    let end = text.find(['/', '?', '#', ':']);
    let host = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    let labels: Vec<&str> = host.split('.').collect();
    let label_is = |label: &&str| {
        !label.is_empty()
            && label.len() <= 63
            && label
                .chars()
                .all(|char| char.is_alphanumeric() || char == '-')
    };
    let Some(last) = labels.last().filter(|_| labels.len() >= 2) else {
        return false;
    };
    let file = (end.is_none() && alone) && FILES.contains(&last.to_ascii_lowercase().as_str());
    labels.iter().all(label_is)
        && last.len() >= 2
        && last.chars().all(char::is_alphabetic)
        && !file
        && (end.is_some() || alone)
        && clean(text).is_none()
}
