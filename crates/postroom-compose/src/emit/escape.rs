//! Text made safe for its place. What looks like a template tag is broken up with an entity, so
//! that no template language sees one.

/// Text between tags.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    push(&mut out, text);
    out
}

/// A value of a double-quoted attribute, on one line.
pub(super) fn attribute(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    push(&mut out, text);
    out
}

/// Writes text so that it is text in HTML, in MJML and in every template language. It looks at what
/// is before it, so that a mark is not made of two pieces.
pub(super) fn push(out: &mut String, text: &str) {
    for c in text.chars() {
        let before = out.as_bytes().last().copied().unwrap_or(b' ');
        match (before, c) {
            (_, '&') => out.push_str("&amp;"),
            (_, '<') => out.push_str("&lt;"),
            (_, '>') => out.push_str("&gt;"),
            (_, '"') => out.push_str("&quot;"),
            (_, '\'') => out.push_str("&#39;"),
            (b'{', '{') => out.push_str("&#123;"),
            (b'{', '%') => out.push_str("&#37;"),
            (b'{', '#') => out.push_str("&#35;"),
            (b'}' | b'%', '}') => out.push_str("&#125;"),
            (b'*', '|') => out.push_str("&#124;"),
            (b'|', '*') => out.push_str("&#42;"),
            (b'[', '[') => out.push_str("&#91;"),
            (_, '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}') => out.push(' '),
            (_, c) if c.is_control() => {}
            (_, c) => out.push(c),
        }
    }
}

/// Breaks up what looks like a template tag in HTML that is safe already.
pub(super) fn inert(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    for c in html.chars() {
        let before = out.as_bytes().last().copied().unwrap_or(b' ');
        match (before, c) {
            (b'{', '{') => out.push_str("&#123;"),
            (b'{', '%') => out.push_str("&#37;"),
            (b'{', '#') => out.push_str("&#35;"),
            (b'*', '|') => out.push_str("&#124;"),
            (b'[', '[') => out.push_str("&#91;"),
            (b'<', '%') => out.push_str("&#37;"),
            (_, c) => out.push(c),
        }
    }
    out
}

/// Ends text before a template tag, so that its last character does not become part of the tag.
pub(super) fn before_tag(out: &mut String) {
    let safe = match out.as_bytes().last() {
        Some(b'{') => "&#123;",
        Some(b'\\') => "&#92;",
        _ => return,
    };
    out.pop();
    out.push_str(safe);
}

/// A literal piece of a URL for a double-quoted attribute or `url('')`.
pub(super) fn url(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in plain_url(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}

/// A literal piece of a URL in plain text: what no URL holds is percent-encoded.
pub(super) fn plain_url(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            ' ' | '"' | '\'' | '<' | '>' | '{' | '}' | '|' | '\\' | '^' | '`' | '(' | ')' => {
                out.push_str(&format!("%{:02X}", u32::from(c)));
            }
            '\u{2028}' | '\u{2029}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Whether a URL has a scheme that a mail may have, or none.
pub(super) fn is_safe_url(url: &str) -> bool {
    let bare: String = url
        .chars()
        .filter(|c| !c.is_whitespace() && !c.is_control())
        .collect();
    let Some((scheme, _)) = bare.split_once(':') else {
        return true;
    };
    if scheme.contains(['/', '?', '#']) {
        return true;
    }
    let scheme = scheme.to_ascii_lowercase();
    matches!(
        scheme.as_str(),
        "http" | "https" | "mailto" | "tel" | "sms" | "cid"
    )
}
