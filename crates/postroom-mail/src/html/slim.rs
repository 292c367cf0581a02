//! Tags without the attributes that nobody looks at.
//!
//! The tokenizer is exact and takes its time over every character of a tag, and compares each
//! attribute with all before it. Newsletters are mostly attributes; a hostile tag has a hundred
//! thousand. One plain pass in front takes out what decides nothing.

/// Attributes kept of one tag.
const ATTRIBUTES_MAX: usize = 64;

/// Attributes that decide whether a text is seen.
const DECIDING: &[&str] = &[
    "style",
    "class",
    "id",
    "hidden",
    "bgcolor",
    "background",
    "color",
];

/// Elements whose content is no markup (WHATWG HTML section 13.1.2).
const RAW: &[&str] = &[
    "script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes",
];

/// `html` with only the deciding and the `wanted` attributes. Comments and raw text stay as they
/// are, so that what ends them still does.
pub(super) fn slim(html: &str, wanted: &[&str]) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = memchr::memchr(b'<', rest.as_bytes()) {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let length = if tag.starts_with("<!--") {
            let length = tag.find("-->").map_or(tag.len(), |end| end + 3);
            out.push_str(tag.get(..length).unwrap_or_default());
            length
        } else if tag.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic) {
            start_tag(tag, wanted, &mut out)
        } else {
            out.push('<');
            1
        };
        rest = tag.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Writes the start tag at the beginning of `tag`, with its raw text if it has one, and answers
/// how much of `tag` that was.
fn start_tag(tag: &str, wanted: &[&str], out: &mut String) -> usize {
    let bytes = tag.as_bytes();
    let name_end = 1 + run(bytes, 1, |byte| !ends_name(byte));
    let name = tag.get(1..name_end).unwrap_or_default();
    out.push_str(tag.get(..name_end).unwrap_or_default());
    let (mut at, mut kept) = (name_end, 0);
    let mut closes;
    loop {
        let skipped = run(bytes, at, |byte| byte.is_ascii_whitespace() || byte == b'/');
        closes = skipped > 0 && bytes.get(at + skipped - 1) == Some(&b'/');
        at += skipped;
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'>') => break,
            Some(_) => {}
        }
        let attribute = attribute(bytes, at);
        let known = tag.get(at..attribute.name_end).unwrap_or_default();
        let is_wanted = |list: &[&str]| list.iter().any(|one| known.eq_ignore_ascii_case(one));
        if kept < ATTRIBUTES_MAX && (is_wanted(DECIDING) || is_wanted(wanted)) {
            kept += 1;
            out.push(' ');
            out.push_str(tag.get(at..attribute.end).unwrap_or_default());
        }
        at = attribute.end;
    }
    // An unquoted value would take the slash in.
    out.push_str(if closes { " />" } else { ">" });
    at += 1;
    if !RAW.iter().any(|raw| name.eq_ignore_ascii_case(raw)) {
        return at;
    }
    let content = tag.get(at..).unwrap_or_default();
    let length = raw_text(content, name);
    out.push_str(content.get(..length).unwrap_or_default());
    at + length
}

struct Attribute {
    name_end: usize,
    end: usize,
}

/// The attribute at `at`: at least one byte (WHATWG HTML section 13.2.5.32 and on).
fn attribute(bytes: &[u8], at: usize) -> Attribute {
    // An equals sign in the first place is part of the name.
    let name_end = at + 1 + run(bytes, at + 1, |byte| !ends_name(byte) && byte != b'=');
    let equals = name_end + run(bytes, name_end, |byte| byte.is_ascii_whitespace());
    if bytes.get(equals) != Some(&b'=') {
        return Attribute {
            name_end,
            end: name_end,
        };
    }
    let value = equals + 1 + run(bytes, equals + 1, |byte| byte.is_ascii_whitespace());
    let end = match bytes.get(value) {
        Some(&quote @ (b'"' | b'\'')) => {
            let inner = bytes.get(value + 1..).unwrap_or_default();
            memchr::memchr(quote, inner).map_or(bytes.len(), |length| value + length + 2)
        }
        _ => {
            value
                + run(bytes, value, |byte| {
                    !byte.is_ascii_whitespace() && byte != b'>'
                })
        }
    };
    Attribute { name_end, end }
}

fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>')
}

/// How many bytes from `at` on are as `is` says.
fn run(bytes: &[u8], at: usize, is: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take_while(|byte| is(**byte)).count()
}

/// How much raw text stands in front of the end tag of `name`.
fn raw_text(content: &str, name: &str) -> usize {
    memchr::memmem::find_iter(content.as_bytes(), b"</")
        .find(|at| {
            content
                .get(at + 2..at + 2 + name.len())
                .is_some_and(|end| end.eq_ignore_ascii_case(name))
        })
        .unwrap_or(content.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wanted_attributes_stay() {
        for (html, expected) in [
            ("plain < words", "plain < words"),
            ("<p width=1 STYLE = 'a>b' x>t</p>", "<p STYLE = 'a>b'>t</p>"),
            ("<img src=a alt=\"b\"/>", "<img alt=\"b\" />"),
            ("<a href=http://x/>t", "<a href=http://x/>t"),
            ("<br/>", "<br />"),
            ("<!-- <p width=\"-->\" -->", "<!-- <p width=\"-->\" -->"),
            (
                "<script a=b>'<p width=\"</script>\"'",
                "<script>'<p width=\"</script>\"'",
            ),
            ("<p width=\"never closed", "<p"),
            ("<p =a id=b>", "<p id=b>"),
            ("<p\nid='a'class='b'>", "<p id='a' class='b'>"),
        ] {
            assert_eq!(slim(html, &["href", "alt"]), expected, "{html}");
        }
    }
}
