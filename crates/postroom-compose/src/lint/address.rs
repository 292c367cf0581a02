//! Addresses of links and pictures.

use crate::Code;

use super::words;

/// Characters of an address past which some programs break it.
const LINK_CHARS: usize = 2_000;

/// Scheme of an address, as a browser would read it: without blanks and control characters.
pub(super) fn scheme(address: &str) -> Option<String> {
    let bare: String = address
        .chars()
        .filter(|c| !c.is_whitespace() && !c.is_control())
        .collect();
    let (scheme, _) = bare.split_once(':')?;
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (!scheme.is_empty() && scheme.chars().all(named)).then(|| scheme.to_ascii_lowercase())
}

/// Host of a web address, lower case.
pub(super) fn host(address: &str) -> Option<String> {
    let (scheme, rest) = address.trim().split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = host.split(':').next().unwrap_or(host).to_ascii_lowercase();
    (!host.is_empty()).then_some(host)
}

/// The last two labels of a host; enough to tell whether two belong together.
fn site(host: &str) -> String {
    let labels: Vec<&str> = host.rsplit('.').take(2).collect();
    labels.into_iter().rev().collect::<Vec<_>>().join(".")
}

/// The host that a link's words show, if they show one.
pub(super) fn shown_host(label: &str) -> Option<String> {
    let label = label.trim().trim_end_matches('.');
    if label.contains(char::is_whitespace) || label.contains('@') {
        return None;
    }
    if label.contains("://") {
        return host(label);
    }
    let host = label
        .split(['/', '?', '#'])
        .next()
        .unwrap_or(label)
        .to_ascii_lowercase();
    let labels: Vec<&str> = host.split('.').collect();
    let top = labels.last()?;
    let word =
        |label: &&str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let known = top.len() >= 2 && top.chars().all(char::is_alphabetic);
    (labels.len() >= 2 && known && labels.iter().all(word)).then_some(host)
}

/// What is wrong with a link that has these words and leads there; addresses with variables at
/// their start are none.
pub(super) fn link(label: &str, address: &str) -> Vec<(Code, String)> {
    let mut found = Vec::new();
    if words::is_generic(label) {
        found.push((
            Code::A11yGenericLink,
            format!("The link says only \"{}\".", label.trim()),
        ));
    }
    let Some(host) = host(address) else {
        return found;
    };
    if words::is_shortener(&host) {
        found.push((
            Code::LinkShortener,
            format!("The link goes through {host}."),
        ));
    }
    if let Some(shown) = shown_host(label)
        && site(&shown) != site(&host)
    {
        found.push((
            Code::LinkDeceptive,
            format!("The link shows {shown} and leads to {host}."),
        ));
    }
    found
}

/// What is wrong with an address in HTML, beside what [`link`] sees.
pub(super) fn target(address: &str) -> Vec<(Code, String)> {
    let address = address.trim();
    let mut found = Vec::new();
    match scheme(address).as_deref() {
        Some(scheme @ ("javascript" | "vbscript" | "data" | "file")) => {
            found.push((
                Code::UrlScheme,
                format!("A link with the scheme {scheme}:."),
            ));
        }
        Some("http") => found.push((
            Code::LinkHttp,
            format!("{} is not encrypted.", cut(address)),
        )),
        _ => {}
    }
    let example = host(address).is_some_and(|host| {
        host == "example.com"
            || host.ends_with(".example.com")
            || host.ends_with(".example")
            || host == "example.org"
    });
    if address.is_empty() || address == "#" || example {
        found.push((
            Code::LinkPlaceholder,
            format!("A link to \"{}\" leads nowhere.", cut(address)),
        ));
    }
    if address.chars().count() > LINK_CHARS {
        found.push((
            Code::LinkTooLong,
            format!("An address of {} characters.", address.chars().count()),
        ));
    }
    found
}

/// Format of a picture by the end of its address.
pub(super) fn picture_format(address: &str) -> Option<&'static str> {
    if address.starts_with("data:image/") {
        return Some("data:");
    }
    let path = address
        .split(['?', '#'])
        .next()
        .unwrap_or(address)
        .to_ascii_lowercase();
    let known = [
        ".svg", ".webp", ".avif", ".gif", ".png", ".jpg", ".jpeg", ".bmp", ".tiff", ".heic",
        ".apng", ".ico", ".mp4",
    ];
    known.into_iter().find(|end| path.ends_with(end))
}

/// What is wrong with a picture's format.
pub(super) fn picture(address: &str) -> Vec<(Code, String)> {
    match picture_format(address) {
        Some(format @ (".svg" | ".webp" | ".avif" | ".heic" | ".tiff" | ".bmp" | ".mp4")) => {
            let name = format.trim_start_matches('.').to_ascii_uppercase();
            vec![(Code::ImageFormat, format!("A picture in {name}."))]
        }
        Some("data:") => vec![(
            Code::ImageFormat,
            "A picture inside the HTML, which Gmail does not show.".to_owned(),
        )],
        Some(".gif" | ".apng") => {
            vec![(Code::ImageGifOutlook, "A picture that may move.".to_owned())]
        }
        _ => Vec::new(),
    }
}

/// The beginning of an address.
pub(super) fn cut(address: &str) -> String {
    let mut short: String = address.chars().take(80).collect();
    if short.len() < address.len() {
        short.push('…');
    }
    short
}
