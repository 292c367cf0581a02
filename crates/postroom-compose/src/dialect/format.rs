//! Filters: what they do to a sample, and the patterns that languages take.

use serde_json::Value as Json;

use crate::model::Filter;

/// A part of a date pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatePart<'a> {
    /// One of [`DATE_WORDS`].
    Word(&'static str),
    /// As it is.
    Text(&'a str),
}

/// Words of a date pattern, longer ones first.
const DATE_WORDS: &[&str] = &[
    "yyyy", "MMMM", "EEEE", "MMM", "EEE", "yy", "MM", "dd", "HH", "hh", "mm", "ss", "d", "M", "H",
    "h", "a",
];

/// Takes a date pattern apart. Letters of other words stay as they are.
pub(crate) fn date_parts(pattern: &str) -> Vec<DatePart<'_>> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('\'') {
            let end = quoted.find('\'').unwrap_or(quoted.len());
            parts.push(DatePart::Text(quoted.get(..end).unwrap_or_default()));
            rest = quoted.get(end + 1..).unwrap_or_default();
        } else if let Some(word) = DATE_WORDS.iter().find(|word| rest.starts_with(**word)) {
            parts.push(DatePart::Word(word));
            rest = rest.get(word.len()..).unwrap_or_default();
        } else {
            let len = rest.chars().next().map_or(1, char::len_utf8);
            parts.push(DatePart::Text(rest.get(..len).unwrap_or_default()));
            rest = rest.get(len..).unwrap_or_default();
        }
    }
    parts
}

/// Whether a pattern holds words of ours and signs: other letters stand in single quotes.
pub(crate) fn is_date_pattern(pattern: &str) -> bool {
    let mut outside = String::new();
    let mut words = 0;
    for (place, part) in pattern.split('\'').enumerate() {
        if place % 2 == 0 {
            outside.push_str(part);
            outside.push(' ');
        }
    }
    let mut last = None;
    for part in date_parts(&outside) {
        match part {
            // `dddd` is a word of others, not `dd` twice.
            DatePart::Word(word) => {
                let letter = word.chars().next();
                if last == letter {
                    return false;
                }
                last = letter;
                words += 1;
            }
            DatePart::Text(text) => {
                last = None;
                if text.contains(|char: char| char.is_ascii_alphabetic() || char == '%') {
                    return false;
                }
            }
        }
    }
    words > 0
}

/// A date pattern in another language's words; `None` when it has none for one of them, or when
/// the pattern holds something that could end a string.
pub(super) fn date_pattern(
    pattern: &str,
    word: impl Fn(&str) -> Option<&'static str>,
    text: impl Fn(&str) -> String,
) -> Option<String> {
    let mut out = String::new();
    for part in date_parts(pattern) {
        match part {
            DatePart::Word(name) => out.push_str(word(name)?),
            DatePart::Text(other)
                if other.contains(['\'', '"', '\\', '{', '}', '%', '<', '>', '&']) =>
            {
                return None;
            }
            DatePart::Text(other) => out.push_str(&text(other)),
        }
    }
    Some(out)
}

/// A word of a date pattern for strftime.
pub(super) fn strftime(word: &str) -> Option<&'static str> {
    Some(match word {
        "yyyy" => "%Y",
        "yy" => "%y",
        "MMMM" => "%B",
        "MMM" => "%b",
        "MM" => "%m",
        "M" => "%-m",
        "EEEE" => "%A",
        "EEE" => "%a",
        "dd" => "%d",
        "d" => "%-d",
        "HH" => "%H",
        "H" => "%-H",
        "hh" => "%I",
        "h" => "%-I",
        "mm" => "%M",
        "ss" => "%S",
        "a" => "%p",
        _ => return None,
    })
}

/// Decimals of a number pattern and whether thousands are set apart.
pub(super) fn number_pattern(pattern: &str) -> (usize, bool) {
    let decimals = pattern.split_once('.').map_or(0, |(_, digits)| {
        digits.chars().filter(|c| matches!(c, '0' | '#')).count()
    });
    (decimals.min(6), pattern.contains(','))
}

/// What is written before an amount, and its decimals.
pub(crate) fn money(currency: &str) -> (String, usize) {
    let decimals = match currency {
        "JPY" | "KRW" | "VND" | "CLP" | "ISK" => 0,
        _ => 2,
    };
    let sign = match currency {
        "EUR" => "€".to_owned(),
        "USD" => "$".to_owned(),
        "GBP" => "£".to_owned(),
        "JPY" => "¥".to_owned(),
        "INR" => "₹".to_owned(),
        "KRW" => "₩".to_owned(),
        other => format!("{other} "),
    };
    (sign, decimals)
}

/// What a filter makes of a sample.
pub(crate) fn filtered(text: &str, value: &Json, filter: Option<&Filter>) -> String {
    match filter {
        None => text.to_owned(),
        Some(Filter::Upper) => text.to_uppercase(),
        Some(Filter::Lower) => text.to_lowercase(),
        Some(Filter::Title) => title(text),
        Some(Filter::Trim) => text.trim().to_owned(),
        Some(Filter::Truncate(len)) => truncate(text, *len as usize),
        Some(Filter::UrlEncode) => encode(text),
        Some(Filter::Date(pattern)) => date(text, pattern),
        Some(Filter::Number(pattern)) => {
            let (decimals, grouped) = number_pattern(pattern);
            number(value, decimals, grouped).unwrap_or_default()
        }
        Some(Filter::Money(currency)) => {
            let (sign, decimals) = money(currency);
            let amount = number(value, decimals, false);
            amount.map_or_else(String::new, |amount| format!("{sign}{amount}"))
        }
    }
}

/// Percent-encodes everything but unreserved characters (RFC 3986, section 2.3).
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Words between blanks, each with a capital and the rest small.
fn title(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let mut chars = word.chars();
        let first = chars.next().map(|first| {
            // One letter may have a capital of two (`ß`), of which the second is small here.
            let mut capital = first.to_uppercase();
            let head: String = capital.next().into_iter().collect();
            head + &capital.collect::<String>().to_lowercase()
        });
        first.unwrap_or_default() + &chars.as_str().to_lowercase()
    });
    words.collect::<Vec<_>>().join(" ")
}

fn truncate(text: &str, len: usize) -> String {
    if text.chars().count() <= len {
        return text.to_owned();
    }
    let kept: String = text.chars().take(len.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// A number, or a text that is one, rounded half away from zero on its decimal digits; nothing for
/// what is no number.
fn number(value: &Json, decimals: usize, grouped: bool) -> Option<String> {
    let digits = match value {
        Json::Number(number) if number.is_f64() => number.as_f64()?.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => text.trim().parse::<f64>().ok()?.to_string(),
        _ => return None,
    };
    let plain = rounded(&digits, decimals)?;
    if !grouped {
        return Some(plain);
    }
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let (sign, digits) = whole
        .strip_prefix('-')
        .map_or(("", whole), |digits| ("-", digits));
    let mut out = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    Some(out)
}

/// Decimal digits rounded half away from zero; zero has no sign. `None` for what is no digits.
fn rounded(number: &str, decimals: usize) -> Option<String> {
    let (sign, number) = match number.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", number),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut digits: Vec<u8> = whole.bytes().collect();
    digits.extend(
        fraction
            .bytes()
            .chain(std::iter::repeat(b'0'))
            .take(decimals),
    );
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    if fraction
        .as_bytes()
        .get(decimals)
        .is_some_and(|next| *next >= b'5')
    {
        let mut carries = true;
        for digit in digits.iter_mut().rev() {
            carries = *digit == b'9';
            *digit = if carries { b'0' } else { *digit + 1 };
            if !carries {
                break;
            }
        }
        if carries {
            digits.insert(0, b'1');
        }
    }
    let sign = if digits.iter().all(|digit| *digit == b'0') {
        ""
    } else {
        sign
    };
    let text: String = digits.into_iter().map(char::from).collect();
    let (whole, fraction) = text.split_at(text.len().checked_sub(decimals)?);
    let point = if decimals > 0 { "." } else { "" };
    Some(format!("{sign}{whole}{point}{fraction}"))
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// Whether a text is a date, or a date and a time, as RFC 3339 has them; the seconds and the offset
/// may be left out.
pub(crate) fn is_date(text: &str) -> bool {
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        let all = digits.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| digits.parse::<usize>().ok()).flatten()
    };
    let sign = |at: usize, signs: &str| text.get(at..=at).is_some_and(|one| signs.contains(one));
    let (Some(year), Some(month), Some(day)) = (number(0, 4), number(5, 7), number(8, 10)) else {
        return false;
    };
    let days = match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    if !sign(4, "-") || !sign(7, "-") || !(1..=days).contains(&day) {
        return false;
    }
    if text.len() == 10 {
        return true;
    }
    let (Some(hour), Some(minute)) = (number(11, 13), number(14, 16)) else {
        return false;
    };
    // A second that is put in is the sixtieth.
    let (second, mut rest) = match text.get(16..).and_then(|rest| rest.strip_prefix(':')) {
        Some(_) => match number(17, 19) {
            Some(second) => (second, text.get(19..).unwrap_or_default()),
            None => return false,
        },
        None => (0, text.get(16..).unwrap_or_default()),
    };
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    let offset = match rest.as_bytes() {
        [] | [b'Z' | b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => {
            [h1, h2, m1, m2].iter().all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    };
    sign(10, "Tt ") && sign(13, ":") && hour < 24 && minute < 60 && second <= 60 && offset
}

/// An RFC 3339 date or time by a pattern; what is none stays as it is.
fn date(text: &str, pattern: &str) -> String {
    let field = |from: usize, to: usize| {
        text.get(from..to)
            .and_then(|digits| digits.parse::<usize>().ok())
    };
    let (Some(year), Some(month), Some(day)) = (field(0, 4), field(5, 7), field(8, 10)) else {
        return text.to_owned();
    };
    let (hour, minute) = (field(11, 13).unwrap_or(0), field(14, 16).unwrap_or(0));
    let second = field(17, 19).unwrap_or(0);
    let Some(month_name) = MONTHS.get(month.wrapping_sub(1)) else {
        return text.to_owned();
    };
    let weekday = DAYS
        .get(weekday(year, month, day))
        .copied()
        .unwrap_or_default();
    let short = |name: &str| name.get(..3).unwrap_or_default().to_owned();
    let hour12 = if hour % 12 == 0 { 12 } else { hour % 12 };
    let parts = date_parts(pattern).into_iter().map(|part| match part {
        DatePart::Text(other) => other.to_owned(),
        DatePart::Word("yyyy") => format!("{year:04}"),
        DatePart::Word("yy") => format!("{:02}", year % 100),
        DatePart::Word("MMMM") => (*month_name).to_owned(),
        DatePart::Word("MMM") => short(month_name),
        DatePart::Word("MM") => format!("{month:02}"),
        DatePart::Word("M") => month.to_string(),
        DatePart::Word("EEEE") => weekday.to_owned(),
        DatePart::Word("EEE") => short(weekday),
        DatePart::Word("dd") => format!("{day:02}"),
        DatePart::Word("d") => day.to_string(),
        DatePart::Word("HH") => format!("{hour:02}"),
        DatePart::Word("H") => hour.to_string(),
        DatePart::Word("hh") => format!("{hour12:02}"),
        DatePart::Word("h") => hour12.to_string(),
        DatePart::Word("mm") => format!("{minute:02}"),
        DatePart::Word("ss") => format!("{second:02}"),
        DatePart::Word(_) => (if hour < 12 { "AM" } else { "PM" }).to_owned(),
    });
    parts.collect()
}

/// Day of the week, Sunday 0, in the Gregorian calendar.
fn weekday(year: usize, month: usize, day: usize) -> usize {
    let (year, month) = if month < 3 {
        (year.saturating_sub(1), month + 12)
    } else {
        (year, month)
    };
    // Zeller's congruence counts Saturday as 0.
    let saturday =
        (day + 13 * (month + 1) / 5 + year + year / 4 + year / 400 + 6 * (year / 100)) % 7;
    (saturday + 6) % 7
}
