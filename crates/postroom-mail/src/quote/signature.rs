//! Signatures: what stands under every mail of a person, a phone or a list.

use super::words;

/// How many of the last lines with words may be a signature.
const SIGNATURE_LINES: usize = 15;
/// How many of them a phone's line is looked for in.
const MOBILE_LINES: usize = 5;

/// Cuts the signature off and answers whether there was one.
pub(super) fn cut(lines: &mut Vec<&str>) -> bool {
    let before = lines.len();
    if let Some(at) = delimiter(lines) {
        lines.truncate(at);
    }
    if let Some(at) = mobile(lines) {
        lines.truncate(at);
    }
    lines.len() < before && {
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        true
    }
}

/// Where the last `count` lines with words begin.
fn last_words(lines: &[&str], count: usize) -> usize {
    let with_words = lines
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, line)| !line.trim().is_empty());
    with_words.take(count).last().map_or(0, |(at, _)| at)
}

/// The line that begins a signature (RFC 3676 section 4.3) or a list's footer.
fn delimiter(lines: &[&str]) -> Option<usize> {
    let from = last_words(lines, SIGNATURE_LINES);
    (from..lines.len()).find(|at| {
        let line = lines
            .get(*at)
            .map(|line| line.trim_end())
            .unwrap_or_default();
        matches!(line, "--" | "-- *" | "—" | "__" | "– –")
            || is_dash_rule(line)
            || is_list_footer(lines, *at)
    })
}

/// A rule of em dashes, which nobody draws in a text.
fn is_dash_rule(line: &str) -> bool {
    line.starts_with("———") && line.chars().all(|c| c == '—')
}

/// `____` over the name of a mailing list.
fn is_list_footer(lines: &[&str], at: usize) -> bool {
    let rule = lines.get(at).map(|line| line.trim()).unwrap_or_default();
    let is_rule = rule.len() >= 10 && rule.bytes().all(|byte| matches!(byte, b'_' | b'-' | b'='));
    is_rule
        && lines.iter().skip(at + 1).take(3).any(|line| {
            let lower = line.to_lowercase();
            lower.contains("mailing list")
                || lower.contains("/listinfo")
                || lower.contains("unsubscribe")
        })
}

fn mobile(lines: &[&str]) -> Option<usize> {
    let from = last_words(lines, MOBILE_LINES);
    // A mail that says nothing else is not all signature.
    (from..lines.len()).find(|at| is_mobile(lines.get(*at).unwrap_or(&"")) && *at > 0)
}

/// `Sent from my iPhone` and the like: a device or a program, and no sentence.
fn is_mobile(line: &str) -> bool {
    let line = line
        .trim()
        .trim_matches(|c| matches!(c, '*' | '_' | '[' | ']'));
    let text = line.split(['<', '(']).next().unwrap_or_default().trim();
    if text.is_empty() || text.len() > 90 || text.split_whitespace().count() > 9 {
        return false;
    }
    let lower = text.to_lowercase();
    let first = lower.as_bytes().first();
    let bare = lower.trim_end_matches(['.', '。']);
    let framed = words::MOBILE_STARTS
        .iter()
        .any(|start| start.as_bytes().first() == first && lower.starts_with(start))
        || words::MOBILE_ENDS.iter().any(|end| bare.ends_with(end));
    let is_sentence = lower.trim_end_matches('.').contains([',', ';', '!', '?']);
    framed && !is_sentence && words::DEVICES.iter().any(|device| lower.contains(device))
}

/// OpenPGP's frame around a signed text (RFC 9580 section 7): how many lines at `at` belong to it.
pub(super) fn armour(lines: &[&str], at: usize) -> Option<usize> {
    let line = lines.get(at)?;
    if !line.starts_with("-----BEGIN PGP ") {
        return None;
    }
    let rest = lines.get(at..)?;
    match line.trim_end() {
        "-----BEGIN PGP SIGNED MESSAGE-----" => {
            let fields = rest
                .iter()
                .skip(1)
                .take(8)
                .position(|line| line.trim().is_empty());
            Some(fields.map_or(1, |fields| fields + 2))
        }
        "-----BEGIN PGP SIGNATURE-----" | "-----BEGIN PGP PUBLIC KEY BLOCK-----" => {
            let end = rest
                .iter()
                .position(|line| line.starts_with("-----END PGP "));
            Some(end.map_or(rest.len(), |end| end + 1))
        }
        _ => None,
    }
}
