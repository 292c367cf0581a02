//! Patterns of dates: ours, and those of strftime, Moment and PHP in ours.

use crate::dialect::is_date_pattern;

/// What others write for our words; letters of strftime stand behind a percent sign.
const STRFTIME: &[(&str, &str)] = &[
    ("-d", "d"),
    ("-m", "M"),
    ("-H", "H"),
    ("-I", "h"),
    ("Y", "yyyy"),
    ("y", "yy"),
    ("m", "MM"),
    ("d", "dd"),
    ("e", "d"),
    ("B", "MMMM"),
    ("b", "MMM"),
    ("A", "EEEE"),
    ("a", "EEE"),
    ("H", "HH"),
    ("I", "hh"),
    ("M", "mm"),
    ("S", "ss"),
    ("p", "a"),
];
const MOMENT: &[(&str, &str)] = &[
    ("YYYY", "yyyy"),
    ("dddd", "EEEE"),
    ("MMMM", "MMMM"),
    ("yyyy", "yyyy"),
    ("ddd", "EEE"),
    ("MMM", "MMM"),
    ("YY", "yy"),
    ("DD", "dd"),
    ("MM", "MM"),
    ("HH", "HH"),
    ("hh", "hh"),
    ("mm", "mm"),
    ("ss", "ss"),
    ("D", "d"),
    ("M", "M"),
    ("H", "H"),
    ("h", "h"),
    ("A", "a"),
    ("a", "a"),
];
const PHP: &[(&str, &str)] = &[
    ("Y", "yyyy"),
    ("y", "yy"),
    ("F", "MMMM"),
    ("M", "MMM"),
    ("m", "MM"),
    ("n", "M"),
    ("l", "EEEE"),
    ("D", "EEE"),
    ("d", "dd"),
    ("j", "d"),
    ("H", "HH"),
    ("G", "H"),
    ("h", "hh"),
    ("g", "h"),
    ("i", "mm"),
    ("s", "ss"),
    ("A", "a"),
    ("a", "a"),
];

/// `pattern` in our words; of another notation only when `lenient`. `None` when it is in none.
pub(super) fn pattern(pattern: String, lenient: bool) -> Option<String> {
    if is_date_pattern(&pattern) {
        return Some(pattern);
    }
    if !lenient {
        return None;
    }
    let other = if pattern.contains('%') {
        strftime(&pattern)
    } else {
        // Letters that stand alone are those of PHP.
        let alone = pattern
            .split(|char: char| !char.is_ascii_alphabetic())
            .all(|run| run.len() <= 1);
        translated(&pattern, if alone { PHP } else { MOMENT })
    };
    other.filter(|other| is_date_pattern(other))
}

fn strftime(pattern: &str) -> Option<String> {
    let mut parts = pattern.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (sign, ours) = STRFTIME.iter().find(|(sign, _)| part.starts_with(sign))?;
        out.push_str(ours);
        out.push_str(part.get(sign.len()..)?);
    }
    Some(out)
}

/// `pattern` word by word; `None` at a letter that is no word.
fn translated(pattern: &str, words: &[(&str, &str)]) -> Option<String> {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(char) = rest.chars().next() {
        if let Some((word, ours)) = words.iter().find(|(word, _)| rest.starts_with(word)) {
            out.push_str(ours);
            rest = rest.get(word.len()..)?;
        } else if char.is_ascii_alphabetic() {
            return None;
        } else {
            out.push(char);
            rest = rest.get(char.len_utf8()..)?;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_others_become_ours_and_rubbish_nothing() {
        for (written, ours) in [
            ("d MMMM yyyy", Some("d MMMM yyyy")),
            ("d. MMMM yyyy 'um' HH:mm", Some("d. MMMM yyyy 'um' HH:mm")),
            ("YYYY-MM-DD", Some("yyyy-MM-dd")),
            ("MMMM D, YYYY", Some("MMMM d, yyyy")),
            ("dddd, D MMM", Some("EEEE, d MMM")),
            ("%B %-d, %Y", Some("MMMM d, yyyy")),
            ("%d.%m.%y %H:%M", Some("dd.MM.yy HH:mm")),
            ("Y-m-d", Some("yyyy-MM-dd")),
            ("F j, Y", Some("MMMM d, yyyy")),
            ("%Q", None),
            ("long", None),
            ("Do MMMM", None),
        ] {
            assert_eq!(
                pattern(written.to_owned(), true).as_deref(),
                ours,
                "{written}"
            );
            let strict = pattern(written.to_owned(), false);
            assert_eq!(strict.is_some(), ours == Some(written), "{written}");
        }
    }
}
