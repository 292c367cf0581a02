//! What words say to readers and filters.

use std::sync::LazyLock;

/// Labels that do not say where a link leads.
const GENERIC: &[&str] = &[
    "click here",
    "here",
    "click",
    "read more",
    "more",
    "learn more",
    "link",
    "this link",
    "this",
    "see more",
    "go",
    "tap here",
    "more info",
    "details",
    "hier",
    "hier klicken",
    "mehr",
    "mehr erfahren",
    "weiterlesen",
    "cliquez ici",
    "ici",
    "en savoir plus",
    "lire la suite",
    "haga clic aquí",
    "aquí",
    "clic aquí",
    "más información",
    "leer más",
    "clicca qui",
    "qui",
    "scopri di più",
    "klik hier",
    "lees meer",
    "clique aqui",
    "aqui",
    "saiba mais",
];

/// Phrases that filters have learnt from spam. Our own short list.
const SPAM: &[&str] = &[
    "100% free",
    "act now",
    "best price",
    "buy now",
    "cash bonus",
    "cheap meds",
    "congratulations you",
    "double your",
    "earn extra cash",
    "earn money",
    "exclusive deal",
    "extra income",
    "free gift",
    "free money",
    "get paid",
    "guaranteed income",
    "limited time",
    "lose weight",
    "make money",
    "million dollars",
    "miracle cure",
    "no catch",
    "no credit check",
    "no obligation",
    "no risk",
    "once in a lifetime",
    "order now",
    "risk free",
    "risk-free",
    "special promotion",
    "this is not spam",
    "urgent response",
    "winner",
    "work from home",
    "you have been selected",
    "you won",
    "100% satisfied",
    "click below",
    "while supplies last",
    "what are you waiting for",
];

/// Hosts that shorten addresses.
const SHORTENERS: &[&str] = &[
    "bit.ly",
    "tinyurl.com",
    "t.co",
    "goo.gl",
    "ow.ly",
    "is.gd",
    "buff.ly",
    "cutt.ly",
    "rebrand.ly",
    "shorturl.at",
    "t.ly",
    "rb.gy",
    "tiny.cc",
    "v.gd",
    "bl.ink",
    "lnkd.in",
];

/// Whether a link's words say nothing of where it leads.
pub(super) fn is_generic(label: &str) -> bool {
    let bare = label
        .trim()
        .trim_end_matches(['.', '!', '›', '»', '→', '>', '…', ' '])
        .to_lowercase();
    GENERIC.contains(&bare.as_str())
}

/// Phrases of spam in a text, in the order of the list.
pub(super) fn spam(text: &str) -> Vec<&'static str> {
    let folded = folded(text);
    let mut found = [false; SPAM.len()];
    let mut before = ' ';
    for (at, c) in folded.char_indices() {
        let begins = !std::mem::replace(&mut before, c).is_alphanumeric();
        let Some(first) = u8::try_from(c).ok().filter(|_| begins) else {
            continue;
        };
        let rest = folded.get(at..).unwrap_or_default();
        for index in by_first(first) {
            let phrase = SPAM.get(*index).copied().unwrap_or_default();
            let ends = |after: &str| !after.starts_with(char::is_alphanumeric);
            if let Some(found) = found.get_mut(*index) {
                *found = *found || rest.strip_prefix(phrase).is_some_and(ends);
            }
        }
    }
    let said = SPAM.iter().zip(found).filter(|(_, found)| *found);
    said.map(|(phrase, _)| *phrase).collect()
}

/// Places in [`SPAM`] of the phrases that begin with a byte.
fn by_first(byte: u8) -> &'static [usize] {
    static PLACES: LazyLock<Vec<Vec<usize>>> = LazyLock::new(|| {
        let with = |byte: usize| {
            let places = SPAM.iter().enumerate();
            let with =
                places.filter(|(_, phrase)| phrase.bytes().next().map(usize::from) == Some(byte));
            with.map(|(index, _)| index).collect()
        };
        (0..=usize::from(u8::MAX)).map(with).collect()
    });
    PLACES
        .get(usize::from(byte))
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// A text in lower case with one blank between words.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        if word.is_ascii() {
            folded.extend(
                word.bytes()
                    .map(|byte| char::from(byte.to_ascii_lowercase())),
            );
        } else {
            folded.push_str(&word.to_lowercase());
        }
    }
    folded
}

/// Whether a host shortens addresses.
pub(super) fn is_shortener(host: &str) -> bool {
    SHORTENERS.contains(&host.trim_start_matches("www."))
}

/// Whether a text is written in capitals.
pub(super) fn is_shouted(text: &str) -> bool {
    let letters: Vec<char> = text
        .chars()
        .filter(|c| c.is_alphabetic() && (c.is_uppercase() || c.is_lowercase()))
        .collect();
    let capitals = letters.iter().filter(|c| c.is_uppercase()).count();
    letters.len() >= 8 && capitals * 10 >= letters.len() * 7
}

/// Emoji in a text.
pub(super) fn emoji(text: &str) -> usize {
    text.chars()
        .filter(
            |c| matches!(u32::from(*c), 0x1F300..=0x1FAFF | 0x2600..=0x27BF | 0x1F1E6..=0x1F1FF),
        )
        .count()
}

/// The first thing in a text that looks like a key or a token.
pub(super) fn secret(text: &str) -> Option<&'static str> {
    const PREFIXES: &[(&str, usize, &str)] = &[
        ("sk_live_", 16, "a secret key"),
        ("sk-", 24, "a secret key"),
        ("rk_live_", 16, "a secret key"),
        ("ghp_", 30, "an access token"),
        ("github_pat_", 30, "an access token"),
        ("xoxb-", 20, "an access token"),
        ("xoxp-", 20, "an access token"),
        ("AKIA", 16, "an access key"),
        ("AIza", 30, "an API key"),
        ("glpat-", 16, "an access token"),
        ("SG.", 40, "an API key"),
        ("whsec_", 16, "a signing secret"),
        ("-----BEGIN", 0, "a private key"),
        ("eyJhbGciOi", 20, "a signed token"),
    ];
    text.split(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '=' | '&' | '?' | '(' | ')' | ',' | ';')
    })
    .find_map(|word| {
        let found = PREFIXES.iter().find(|(prefix, rest, _)| {
            word.strip_prefix(prefix).is_some_and(|tail| {
                tail.len() >= *rest
                    && tail
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            })
        });
        found.map(|(.., what)| *what)
    })
}

/// A date written out in a text, as `12 March 2026`, `2026-03-12` or `12.03.2026`.
pub(super) fn date(text: &str) -> Option<String> {
    const MONTHS: &[&str] = &[
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
    ];
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .collect();
    let year = |word: &str| {
        word.len() == 4
            && word
                .parse::<u32>()
                .is_ok_and(|year| (1990..2100).contains(&year))
    };
    for (index, word) in words.iter().enumerate() {
        if is_numeric_date(word) {
            return Some((*word).to_owned());
        }
        let next = |step: usize| words.get(index + step).copied().unwrap_or_default();
        let day = |word: &str| {
            let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
            digits
                .parse::<u32>()
                .is_ok_and(|day| (1..=31).contains(&day))
        };
        let month = |word: &str| MONTHS.contains(&word.to_lowercase().as_str());
        if day(word) && month(next(1)) && year(next(2))
            || month(word) && day(next(1)) && year(next(2))
        {
            return Some(format!("{word} {} {}", next(1), next(2)));
        }
    }
    None
}

fn is_numeric_date(word: &str) -> bool {
    for separator in ['-', '.', '/'] {
        let parts: Vec<&str> = word.split(separator).collect();
        let [one, two, three] = parts.as_slice() else {
            continue;
        };
        let number = |part: &str| part.parse::<u32>().ok();
        let (Some(a), Some(b), Some(c)) = (number(one), number(two), number(three)) else {
            continue;
        };
        let year = |text: &str, value: u32| text.len() == 4 && (1990..2100).contains(&value);
        let small = |value: u32| (1..=31).contains(&value);
        if year(one, a) && small(b) && small(c) || year(three, c) && small(a) && small(b) {
            return true;
        }
    }
    false
}
