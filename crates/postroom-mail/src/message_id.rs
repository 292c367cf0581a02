//! Message-IDs in the one form that compares (RFC 5322 section 3.6.4).

use std::collections::HashSet;

use postroom_types::limit;

/// An id without brackets, comments and white space, the part behind its last `@` in lower case;
/// the first when there are several. `None` when nothing is left.
///
/// ```
/// let id = postroom_mail::normalize_message_id("<Ab.1@Mail.Example>");
/// assert_eq!(id.as_deref(), Some("Ab.1@mail.example"));
/// ```
pub fn normalize_message_id(text: &str) -> Option<String> {
    normalize(first(text))
}

/// The first id as its author wrote it: without brackets, comments and white space, the case kept.
/// Other programs compare ids byte by byte, so what leaves repeats them like this.
pub(crate) fn read_to_the_letter(text: &str) -> Option<String> {
    without_comments(first(text))
}

fn first(text: &str) -> &str {
    if let Some(id) = bracketed(text).next() {
        return id;
    }
    // No closing bracket, or none at all: the first word.
    let text = text.trim_start().trim_start_matches('<');
    text.split_whitespace().next().unwrap_or_default()
}

/// Every id of a References or In-Reply-To value, in order, each once.
///
/// Old programs wrote In-Reply-To as a sentence: `Message from Ann <ann@x> of "Mon" <id@y>`, where
/// only the last bracket is an id, or `<id@y>; from ann@x on Mon`, where the ones in front are.
pub(crate) fn read_list(text: &str) -> Vec<String> {
    list(text, normalize)
}

/// The same list, each id as its author wrote it.
pub(crate) fn read_list_to_the_letter(text: &str) -> Vec<String> {
    list(text, without_comments)
}

fn list(text: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let is_sentence = has_words_between(text);
    let mut ids: Vec<&str> = bracketed(text).collect();
    if is_sentence {
        ids = ids_of_sentence(text, &ids);
    } else if ids.is_empty() {
        ids = text
            .split_whitespace()
            .filter(|id| id.contains('@'))
            .collect();
    }
    let mut seen = HashSet::new();
    ids.into_iter()
        .filter_map(read)
        .filter(|id| seen.insert(id.clone()))
        .collect()
}

/// The ids that a sentence begins with, else the one it ends in.
fn ids_of_sentence<'a>(text: &str, bracketed: &[&'a str]) -> Vec<&'a str> {
    let mut rest = text.trim_start();
    let mut leading = Vec::new();
    for id in bracketed {
        let Some(tail) = rest
            .strip_prefix('<')
            .and_then(|tail| tail.strip_prefix(id))
            .and_then(|tail| tail.strip_prefix('>'))
        else {
            break;
        };
        leading.push(*id);
        rest = tail.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }
    // A sentence that begins with a person (`<ann@x> wrote on Mon <id@y>`) still ends in its id.
    let last = bracketed
        .last()
        .filter(|id| text.trim_end().ends_with(&format!("<{id}>")));
    match last {
        Some(last) => vec![*last],
        None => leading,
    }
}

/// The stretches between `<` and `>`; an unclosed one ends at the next `<`.
fn bracketed(text: &str) -> impl Iterator<Item = &str> {
    text.split('<')
        .skip(1)
        .filter_map(|piece| piece.split_once('>').map(|(id, _)| id))
        .filter(|id| !id.trim().is_empty())
}

fn has_words_between(text: &str) -> bool {
    let mut pieces = text.split('<');
    let first = pieces.next().unwrap_or_default();
    let outside = std::iter::once(first)
        .chain(pieces.filter_map(|piece| piece.split_once('>').map(|(_, after)| after)));
    let letters = outside
        .flat_map(str::chars)
        .filter(|c| c.is_alphabetic())
        .take(3)
        .count();
    letters >= 3 && text.contains('<')
}

fn normalize(id: &str) -> Option<String> {
    let mut plain = without_comments(id)?;
    if let Some(at) = plain.rfind('@') {
        let domain = plain.split_off(at);
        plain.push_str(&domain.to_lowercase());
    }
    let plain = crate::cut::bytes(&plain, limit::MESSAGE_ID_BYTES);
    (!plain.is_empty()).then(|| plain.to_owned())
}

/// `None` when nothing is left.
fn without_comments(id: &str) -> Option<String> {
    let mut plain = String::with_capacity(id.len());
    let mut depth = 0usize;
    let has_comment = id.contains('(') && id.contains(')');
    for c in id.chars().filter(|c| !c.is_whitespace() && !c.is_control()) {
        match c {
            '(' if has_comment => depth += 1,
            ')' if has_comment && depth > 0 => depth -= 1,
            '<' | '>' => {}
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    (!plain.is_empty()).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_in_every_shape() {
        for (text, id) in [
            ("<a@B.Example>", Some("a@b.example")),
            ("  <A@b>  (comment)", Some("A@b")),
            ("<a @\r\n b.example>", Some("a@b.example")),
            ("<a(comment)@b>", Some("a@b")),
            ("a@B", Some("a@b")),
            ("<a@b", Some("a@b")),
            ("<<a@b>>", Some("a@b")),
            ("<a@b@C>", Some("a@b@c")),
            ("<no-at-sign>", Some("no-at-sign")),
            ("<>", None),
            ("", None),
        ] {
            assert_eq!(normalize_message_id(text).as_deref(), id, "{text:?}");
        }
        let long = format!("<{}@b>", "a".repeat(2_000));
        assert_eq!(normalize_message_id(&long).map(|id| id.len()), Some(998));
    }

    #[test]
    fn lists_keep_order_and_drop_doubles() {
        assert_eq!(read_list("<a@b>\r\n <c@d> <a@B>"), ["a@b", "c@d"]);
        assert_eq!(read_list("<a@b><c@d>,<e@f>"), ["a@b", "c@d", "e@f"]);
        assert_eq!(read_list("a@b c@d"), ["a@b", "c@d"]);
        assert_eq!(
            read_list("Message from Ann <ann@x.example> of \"Mon, 1 Jan\" <1@y.example>"),
            ["1@y.example"]
        );
        assert_eq!(
            read_list("<1@y.example>; from ann@x.example on\r\n Mon, Jan 01 at 10:00:00PM"),
            ["1@y.example"]
        );
        assert_eq!(
            read_list("<1@y.example> <2@y.example> (Ann's message of Mon)"),
            ["1@y.example", "2@y.example"]
        );
        assert_eq!(read_list("Ann <ann@x.example>'s message of Mon"), [""; 0]);
        assert!(read_list("Your mail from Ann <ann@x.example> of Monday").is_empty());
        assert!(read_list("your letter of Monday").is_empty());
    }
}
