//! Characters that nobody sees, taken out of everything an agent reads.

use std::borrow::Cow;

/// Text without invisible characters.
pub(crate) struct Stripped<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Whether what was taken out can hide words: tag characters, direction overrides, or more
    /// than two zero-width characters where no script or emoji needs them.
    pub(crate) suspicious: bool,
}

/// How many zero-width characters a harmless text may have.
const ZERO_WIDTH_FREE: usize = 2;

pub(crate) fn strip(text: &str) -> Stripped<'_> {
    if text.is_ascii() || !text.chars().any(is_invisible) {
        return Stripped {
            text: text.into(),
            suspicious: false,
        };
    }
    let mut out = String::with_capacity(text.len());
    let (mut zero_width, mut suspicious) = (0usize, false);
    let mut chars = text.chars().peekable();
    let mut flag_tags = 0usize;
    let mut last_kept = '\0';
    while let Some(c) = chars.next() {
        if !is_invisible(c) {
            flag_tags = if c == '\u{1f3f4}' { 8 } else { 0 };
            last_kept = c;
            out.push(c);
            continue;
        }
        match c {
            // Emoji joined into one (Unicode TR 51) stay whole.
            '\u{200d}' if is_emoji(last_kept) && chars.peek().is_some_and(|c| is_emoji(*c)) => {
                out.push(c);
            }
            // Regional flags are spelled in tag characters after a black flag.
            '\u{e0000}'..='\u{e007f}' if flag_tags > 0 => flag_tags -= 1,
            '\u{e0000}'..='\u{e007f}' | '\u{202d}' | '\u{202e}' => suspicious = true,
            // Persian and Indic writing needs joiners between letters.
            '\u{200c}' | '\u{200d}' if is_joining_script(last_kept) => {}
            '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{180e}' => zero_width += 1,
            '\u{feff}' if !out.is_empty() => zero_width += 1,
            _ => {}
        }
    }
    Stripped {
        text: out.into(),
        suspicious: suspicious || zero_width > ZERO_WIDTH_FREE,
    }
}

/// Invisible: zero width, fillers, direction marks that embed or override, tags.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200d}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e007f}')
}

fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{203c}'..='\u{3299}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

fn is_joining_script(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' | '\u{900}'..='\u{dff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, stripped: &str, suspicious: bool) {
        let found = strip(text);
        assert_eq!(
            (found.text.as_ref(), found.suspicious),
            (stripped, suspicious),
            "{text:?}"
        );
    }

    #[test]
    fn what_nobody_sees_goes() {
        check("plain", "plain", false);
        check("grüße", "grüße", false);
        check("soft\u{ad}hyphen", "softhyphen", false);
        check("a\u{200b}b\u{200b}c", "abc", false);
        check("a\u{200b}b\u{200b}c\u{200b}d", "abcd", true);
        check("\u{feff}start", "start", false);
        check("evil\u{202e}txt.exe", "eviltxt.exe", true);
        check("a\u{202a}b\u{202c}", "ab", false);
        check("hi\u{e0041}\u{e0042}", "hi", true);
        check("👩\u{200d}💻 works", "👩\u{200d}💻 works", false);
        check(
            "می\u{200c}خواهم می\u{200c}خواهم می\u{200c}خواهم",
            "میخواهم میخواهم میخواهم",
            false,
        );
        check("🏴\u{e0067}\u{e0062}\u{e007f}", "🏴", false);
        check("rtl\u{200f}mark", "rtl\u{200f}mark", false);
    }
}
