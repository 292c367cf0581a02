//! Subjects without what replies and forwards put in front of them. For display only: a subject
//! never joins or splits threads.

/// Prefixes by language, lower case, without their colon.
const PREFIXES: &[&str] = &[
    // English, and Latin `re` as most programs write it.
    "re",
    "fw",
    "fwd",
    "res", // Portuguese
    "enc",
    "rv", // Spanish
    "rif",
    "r",
    "i",
    "inoltra", // Italian
    "aw",
    "wg",
    "antw", // German
    "antwort",
    "weitergeleitet",
    "sv",
    "vs",
    "vb",
    "vl",
    "vá", // Nordic
    "svar",
    "videresendt",
    "tr",
    "réf",
    "ref",
    "rép", // French
    "transféré",
    "doorst",
    "betr", // Dutch
    "odp",
    "pd",
    "ynt",
    "ilt",
    "yanit",
    "ilet", // Polish, Turkish
    "απ",
    "πρθ",
    "σχετ",
    "на",
    "отв",
    "ответ",
    "пересл",
    "re^2",
    "回复",
    "回覆",
    "答复",
    "转发",
    "轉寄",
    "轉發", // Greek, Russian, Chinese
    "返信",
    "転送",
    "답장",
    "전달",
];

/// Prefixes taken off at most; a mail answered more often keeps the rest.
const PREFIXES_MAX: usize = 32;

/// A subject without reply and forward prefixes, their counters (`Re[2]:`) and full-width colons;
/// a leading `[list-tag]` stays. Empty becomes `(no subject)`.
///
/// ```
/// use postroom_mail::normalize_subject;
/// assert_eq!(normalize_subject("Re: AW: [dev] Fwd: Build"), "[dev] Build");
/// assert_eq!(normalize_subject("Re:"), "(no subject)");
/// ```
pub fn normalize_subject(subject: &str) -> String {
    let mut rest = strip(subject);
    let mut tag = "";
    if let Some((found, after)) = list_tag(rest) {
        let inner = strip(after);
        // A tag is kept in front of what it tags.
        if inner.len() < after.trim_start().len() || !inner.is_empty() {
            (tag, rest) = (found, inner);
        }
    }
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let normal = match (tag, words(rest)) {
        ("", text) => text,
        (tag, text) if text.is_empty() => tag.to_owned(),
        (tag, text) => format!("{tag} {text}"),
    };
    if normal.is_empty() {
        "(no subject)".to_owned()
    } else {
        normal
    }
}

fn strip(subject: &str) -> &str {
    let mut rest = subject.trim();
    for _ in 0..PREFIXES_MAX {
        match strip_one(rest) {
            Some(shorter) => rest = shorter,
            None => break,
        }
    }
    rest
}

fn strip_one(subject: &str) -> Option<&str> {
    let colon = subject
        .char_indices()
        .take(16)
        .find(|(_, c)| matches!(c, ':' | '：' | '∶'))
        .map(|(at, _)| at)?;
    let (head, tail) = subject.split_at(colon);
    let tail = tail.trim_start_matches([':', '：', '∶']);
    let (name, counter) = head.split_at(head.find(['[', '(', '*', '^']).unwrap_or(head.len()));
    let name = name.trim().to_lowercase();
    let is_counter = counter
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, '[' | ']' | '(' | ')' | '*' | '^' | ' '));
    (is_counter && PREFIXES.contains(&name.as_str())).then(|| tail.trim_start())
}

fn list_tag(subject: &str) -> Option<(&str, &str)> {
    let end = subject.strip_prefix('[')?.find(']')? + 2;
    (end <= 64).then(|| subject.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_many_languages_go() {
        for (subject, normal) in [
            ("Re: a", "a"),
            ("RE: Re[2]: re(3): a", "a"),
            ("AW: WG: a", "a"),
            ("SV: VS: a", "a"),
            ("Antw: a", "a"),
            ("TR : a", "a"),
            ("RIF: R: a", "a"),
            ("RV: ENC: a", "a"),
            ("Odp: a", "a"),
            ("YNT: İLT", "İLT"),
            ("ΑΠ: a", "a"),
            ("Отв: a", "a"),
            ("回复：转发：a", "a"),
            ("Re：a", "a"),
            ("[list] Re: a", "[list] a"),
            ("Re: [list] Re: a", "[list] a"),
            ("[list]", "[list]"),
            ("  two   words ", "two words"),
            ("", "(no subject)"),
            ("Fwd: ", "(no subject)"),
            ("Report: a", "Report: a"),
            ("10:30 train", "10:30 train"),
        ] {
            assert_eq!(normalize_subject(subject), normal, "{subject:?}");
        }
    }
}
