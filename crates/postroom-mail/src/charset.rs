//! Bytes of a named, misnamed or unnamed charset to text.
//!
//! A label is trusted as long as the bytes fit it. A label nobody knows, or bytes that do not fit,
//! lead to a guess; the answer says so.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, REPLACEMENT};
use mail_parser::decoders::charsets::map::charset_decoder;

/// Bytes looked at for a guess; a language shows itself well before.
const GUESS_BYTES: usize = 16 * 1024;

/// Text and how sure it is.
pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, str>,
    /// The label was unknown or wrong and the charset guessed.
    pub(crate) guessed: bool,
    /// Some bytes had no meaning and became U+FFFD.
    pub(crate) errors: bool,
}

impl<'a> Decoded<'a> {
    fn sure(text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            text: text.into(),
            guessed: false,
            errors: false,
        }
    }
}

/// Decodes `bytes` under the charset `label`, if there is one.
pub(crate) fn decode<'a>(bytes: &'a [u8], label: Option<&str>) -> Decoded<'a> {
    let label = label.map(clean_label).unwrap_or_default();
    match label.as_str() {
        "" | "utf-8" | "utf8" | "us-ascii" | "ascii" | "ansi_x3.4-1968" | "unknown-8bit"
        | "x-unknown" | "unknown" | "default" | "default_charset" | "_autodetect" | "binary" => {
            let label_known =
                matches!(label.as_str(), "" | "us-ascii" | "ascii" | "ansi_x3.4-1968");
            decode_unlabelled(bytes, label.starts_with("utf"), label_known)
        }
        _ => decode_labelled(bytes, &label),
    }
}

/// Lower case, without quotes, spaces or a language suffix (RFC 2231 section 5).
fn clean_label(label: &str) -> String {
    label
        .split('*')
        .next()
        .unwrap_or_default()
        .trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | ','))
        .to_ascii_lowercase()
}

fn decode_unlabelled(bytes: &[u8], says_utf8: bool, label_known: bool) -> Decoded<'_> {
    match std::str::from_utf8(bytes) {
        // Seven-bit Japanese is valid ASCII; its escapes tell it apart.
        Ok(_) if !says_utf8 && memchr::memmem::find(bytes, b"\x1b$").is_some() => {
            decode_with(bytes, encoding_rs::ISO_2022_JP)
        }
        Ok(text) => Decoded {
            guessed: !says_utf8 && !label_known && !bytes.is_ascii(),
            ..Decoded::sure(text)
        },
        Err(_) if says_utf8 && is_mostly_utf8(bytes) => Decoded {
            errors: true,
            ..Decoded::sure(String::from_utf8_lossy(bytes))
        },
        Err(_) => guess(bytes),
    }
}

fn decode_labelled<'a>(bytes: &'a [u8], label: &str) -> Decoded<'a> {
    if bytes.is_ascii() && !needs_decoding_of_ascii(label) {
        // Every charset that is left agrees with ASCII where mail uses it; the label still counts
        // as unknown only when there is something to guess.
        return Decoded::sure(std::str::from_utf8(bytes).unwrap_or_default());
    }
    let decoded = match special(bytes, label) {
        Some(text) => {
            let errors = text.contains('\u{fffd}');
            Decoded {
                errors,
                ..Decoded::sure(text)
            }
        }
        None => match encoding_of(label) {
            Some(encoding) => decode_with(bytes, encoding),
            None => match charset_decoder(label.as_bytes()) {
                Some(decoder) => Decoded::sure(decoder(bytes)),
                None => return guess(bytes),
            },
        },
    };
    if !decoded.errors {
        return decoded;
    }
    // Bytes that do not fit: another charset may, but a few broken characters do not make it so.
    let second = guess(bytes);
    let lost = |text: &str| text.matches('\u{fffd}').count();
    if !second.errors && lost(&decoded.text) * 20 > decoded.text.chars().count() {
        second
    } else {
        decoded
    }
}

fn needs_decoding_of_ascii(label: &str) -> bool {
    label.contains("2022") || label.contains("utf") || label.contains("hz") || label.contains("ucs")
}

fn encoding_of(label: &str) -> Option<&'static Encoding> {
    let known = |label: &str| {
        Encoding::for_label(label.as_bytes()).filter(|encoding| *encoding != REPLACEMENT)
    };
    known(label).or_else(|| {
        let bare = label
            .trim_start_matches("x-")
            .trim_end_matches("_charset")
            .trim_end_matches("-charset")
            .trim_start_matches("charset=");
        known(bare)
            .or_else(|| known(&bare.replace('_', "-")))
            .or_else(|| known(&bare.replace(['-', '_', ' '], "")))
            .or_else(|| alias(&bare.replace(['-', '_', ' '], "")))
    })
}

/// Names met in real mail that no registry has.
fn alias(bare: &str) -> Option<&'static Encoding> {
    let label: &str = match bare {
        "chinesebig5" | "big5hkscs" | "cp950" | "ms950" => "big5",
        "gb2312" | "gb231280" | "cp936" | "ms936" | "euccn" => "gbk",
        "cp932" | "ms932" | "mskanji" | "sjis" | "windows932" => "shift_jis",
        "cp949" | "ms949" | "uhc" | "ksc5601" | "windows949" => "euc-kr",
        "iso2022jpms" | "iso2022jp1" | "iso2022jp2" | "iso2022jp3" | "cp50220" | "cp50221" => {
            "iso-2022-jp"
        }
        "macroman" => "macintosh",
        "koi8" => "koi8-r",
        _ => {
            let digits = bare
                .strip_prefix("windows")
                .or_else(|| bare.strip_prefix("win"))
                .or_else(|| bare.strip_prefix("microsoftcp"))
                .or_else(|| bare.strip_prefix("ms"))?;
            return Encoding::for_label(format!("windows-{digits}").as_bytes());
        }
    };
    Encoding::for_label(label.as_bytes())
}

fn decode_with<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Decoded<'a> {
    if encoding == encoding_rs::ISO_2022_JP
        && let Some(plain) = without_idle_escapes(bytes)
    {
        let (text, _, errors) = encoding.decode(&plain);
        return Decoded {
            text: text.into_owned().into(),
            guessed: false,
            errors,
        };
    }
    let (text, _, errors) = encoding.decode(bytes);
    Decoded {
        text,
        guessed: false,
        errors,
    }
}

/// Without the escapes of ISO-2022-JP (RFC 1468) that another follows at once; `None` when there are
/// none. Encoded words set side by side each end in one and begin with one, which the web's decoder
/// takes for an attack.
fn without_idle_escapes(bytes: &[u8]) -> Option<Vec<u8>> {
    let is_idle = |at: usize| bytes.get(at) == Some(&0x1b) && bytes.get(at + 3) == Some(&0x1b);
    memchr::memchr_iter(0x1b, bytes).find(|at| is_idle(*at))?;
    let mut kept = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if is_idle(at) {
            at += 3;
        } else {
            kept.push(*byte);
            at += 1;
        }
    }
    Some(kept)
}

/// Charsets that the web dropped and mail still has.
fn special(bytes: &[u8], label: &str) -> Option<String> {
    match label {
        "utf-7" | "utf7" | "unicode-1-1-utf-7" | "x-unicode-2-0-utf-7" => {
            charset_decoder(b"utf-7").map(|decoder| decoder(bytes))
        }
        "utf-16" | "utf16" | "ucs-2" | "unicode" | "iso-10646-ucs-2" => Some(decode_utf16(bytes)),
        "utf-32" | "utf-32be" | "utf-32le" | "ucs-4" => {
            Some(decode_utf32(bytes, label.ends_with("le")))
        }
        "iso-2022-kr" | "csiso2022kr" => Some(decode_iso_2022_kr(bytes)),
        "hz-gb-2312" | "hz" => Some(decode_hz(bytes)),
        _ => None,
    }
}

/// UTF-16 without a mark is big endian by RFC 2781; the zero bytes of Latin text know better.
fn decode_utf16(bytes: &[u8]) -> String {
    let little = match bytes {
        [0xff, 0xfe, ..] => true,
        [0xfe, 0xff, ..] => false,
        _ => {
            let zeros = |from: usize| {
                bytes
                    .iter()
                    .skip(from)
                    .step_by(2)
                    .filter(|byte| **byte == 0)
                    .count()
            };
            zeros(1) > zeros(0)
        }
    };
    let encoding = if little {
        encoding_rs::UTF_16LE
    } else {
        encoding_rs::UTF_16BE
    };
    encoding.decode(bytes).0.into_owned()
}

fn decode_utf32(bytes: &[u8], little: bool) -> String {
    let little = little || bytes.starts_with(&[0xff, 0xfe, 0, 0]);
    bytes
        .chunks(4)
        .map(|unit| match (<[u8; 4]>::try_from(unit), little) {
            (Ok(unit), true) => u32::from_le_bytes(unit),
            (Ok(unit), false) => u32::from_be_bytes(unit),
            (Err(_), _) => u32::MAX,
        })
        .map(|point| char::from_u32(point).unwrap_or('\u{fffd}'))
        .filter(|point| *point != '\u{feff}')
        .collect()
}

/// RFC 1557: after the header `ESC $ ) C`, SO and SI switch between Korean and ASCII.
fn decode_iso_2022_kr(bytes: &[u8]) -> String {
    let mut eight_bit = Vec::with_capacity(bytes.len());
    let mut korean = false;
    let mut rest = bytes;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            0x1b if tail.starts_with(b"$)C") => rest = tail.get(3..).unwrap_or_default(),
            0x0e => korean = true,
            0x0f => korean = false,
            b'\n' => {
                korean = false;
                eight_bit.push(byte);
            }
            _ if korean && byte > 0x20 => eight_bit.push(byte | 0x80),
            _ => eight_bit.push(byte),
        }
    }
    encoding_rs::EUC_KR.decode(&eight_bit).0.into_owned()
}

/// RFC 1843: `~{` and `~}` switch between Chinese and ASCII, `~~` is a tilde.
fn decode_hz(bytes: &[u8]) -> String {
    let mut eight_bit = Vec::with_capacity(bytes.len());
    let mut chinese = false;
    let mut rest = bytes;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        let skip = tail.get(1..).unwrap_or_default();
        match (byte, tail.first()) {
            (b'~', Some(b'{')) => (chinese, rest) = (true, skip),
            (b'~', Some(b'}')) => (chinese, rest) = (false, skip),
            (b'~', Some(b'\n')) if !chinese => rest = skip,
            (b'~', Some(b'~')) if !chinese => {
                eight_bit.push(b'~');
                rest = skip;
            }
            (b'\n', _) => {
                chinese = false;
                eight_bit.push(byte);
            }
            _ if chinese && byte > 0x20 => eight_bit.push(byte | 0x80),
            _ => eight_bit.push(byte),
        }
    }
    encoding_rs::GBK.decode(&eight_bit).0.into_owned()
}

/// The charset that fits best, by the letters' statistics.
fn guess(bytes: &[u8]) -> Decoded<'_> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Decoded {
            guessed: true,
            ..Decoded::sure(text)
        };
    }
    if bytes.len() > 4 && bytes.iter().filter(|byte| **byte == 0).count() * 3 > bytes.len() {
        return Decoded {
            guessed: true,
            ..Decoded::sure(decode_utf16(bytes))
        };
    }
    if is_mostly_utf8(bytes) {
        return Decoded {
            text: String::from_utf8_lossy(bytes),
            guessed: true,
            errors: true,
        };
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    for line in telling_lines(bytes) {
        detector.feed(line, false);
    }
    detector.feed(b"", true);
    let (text, _, errors) = detector.guess(None, Utf8Detection::Allow).decode(bytes);
    Decoded {
        text,
        guessed: true,
        errors,
    }
}

/// The lines that tell charsets apart, within the budget: those with bytes above ASCII or escapes.
fn telling_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut left = GUESS_BYTES;
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| !line.is_ascii() || line.contains(&0x1b))
        .map_while(move |line| {
            let kept = line.get(..left).unwrap_or(line);
            left -= kept.len();
            (!kept.is_empty()).then_some(kept)
        })
}

/// Whether most of the bytes above ASCII form valid UTF-8, so that a few broken ones are damage
/// and not another charset.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0usize, 0usize);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().bytes().filter(|byte| *byte >= 0xc0).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good > 0 && good >= bad
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_real_mail_are_understood() {
        for (label, bytes, text) in [
            ("chinesebig5", &b"\xa4\xa4\xa4\xe5"[..], "中文"),
            ("GB2312_CHARSET", b"\xd6\xd0\xce\xc4", "中文"),
            ("hz-gb-2312", b"~{VPND~} ok ~~", "中文 ok ~"),
            ("iso-2022-kr", b"\x1b$)C\x0eGQ1[\x0f ok", "한글 ok"),
            ("ISO-2022-JP", b"\x1b$B$\"\x1b(B", "あ"),
            ("utf-7", b"1 +AKM-", "1 £"),
            ("utf-16", b"\xff\xfea\0b\0", "ab"),
            ("utf-16", b"a\0b\0", "ab"),
            ("utf-16be", b"\0a\0b", "ab"),
            ("utf-32le", b"a\0\0\0b\0\0\0", "ab"),
            ("win-1251", b"\xcf\xf0\xe8", "При"),
            ("cp850", b"\x81", "ü"),
            ("\"iso-8859-15\"", b"\xa4", "€"),
            ("latin-1", b"\xe9", "é"),
            ("ks_c_5601-1987", b"\xc7\xd1", "한"),
            ("x-sjis", b"\x82\xa0", "あ"),
        ] {
            let decoded = decode(bytes, Some(label));
            assert_eq!(decoded.text, text, "{label}");
            assert!(!decoded.errors && !decoded.guessed, "{label}");
        }
    }

    #[test]
    fn unknown_labels_are_guessed_and_said_so() {
        let bytes = encoding_rs::WINDOWS_1251
            .encode("Добрый день, как дела?")
            .0
            .into_owned();
        for label in ["unknown-8bit", "default", "x-unknown", "no-such-thing"] {
            let decoded = decode(&bytes, Some(label));
            assert_eq!(decoded.text, "Добрый день, как дела?", "{label}");
            assert!(decoded.guessed);
        }
        assert!(!decode(b"plain", Some("no-such-thing")).guessed);
    }

    #[test]
    fn one_broken_byte_does_not_change_the_charset() {
        let decoded = decode("grüße über alles\u{e9}".as_bytes(), Some("utf-8"));
        assert!(!decoded.errors);
        let mut bytes = "grüße über alles".as_bytes().to_vec();
        bytes.push(0xff);
        let decoded = decode(&bytes, Some("utf-8"));
        assert!(decoded.errors && decoded.text.starts_with("grüße"));
        let decoded = decode(b"gr\xfc\xdfe", Some("utf-8"));
        assert_eq!(decoded.text, "grüße");
    }
}
