//! Outlook's compressed RTF (\[MS-OXRTFCP\]) and the words in it.

use postroom_types::limit;

use crate::charset;

/// What the dictionary holds before the first byte, \[MS-OXRTFCP\] section 2.1.2.1.
const DICTIONARY: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \
\\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier\
{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";
const WINDOW: usize = 4_096;
/// Groups within groups that are told apart.
const DEPTH_MAX: usize = 64;

/// The RTF itself, at most [`limit::HTML_BYTES`]; `None` when the bytes are no such stream.
pub(super) fn decompress(bytes: &[u8]) -> Option<Vec<u8>> {
    let header = bytes.get(..16)?;
    let body = bytes.get(16..)?;
    let raw_size = u32::from_le_bytes(header.get(4..8)?.try_into().ok()?);
    let raw_size = usize::try_from(raw_size).ok()?.min(limit::HTML_BYTES);
    match header.get(8..12)? {
        b"MELA" => Some(body.get(..raw_size).unwrap_or(body).to_vec()),
        b"LZFu" => Some(expand(body, raw_size)),
        _ => None,
    }
}

/// Eight runs after each flag byte: a byte as it is, or a stretch of the window.
fn expand(body: &[u8], raw_size: usize) -> Vec<u8> {
    let mut window = [0u8; WINDOW];
    let mut end = DICTIONARY.len();
    if let Some(start) = window.get_mut(..end) {
        start.copy_from_slice(DICTIONARY);
    }
    // A run of two bytes makes at most seventeen.
    let mut out = Vec::with_capacity(raw_size.min(body.len().saturating_mul(9)));
    let put = |byte: u8, out: &mut Vec<u8>, end: &mut usize, window: &mut [u8; WINDOW]| {
        out.push(byte);
        if let Some(place) = window.get_mut(*end) {
            *place = byte;
        }
        *end = (*end + 1) % WINDOW;
    };
    let mut input = body.iter().copied();
    while let Some(flags) = input.next() {
        for bit in 0..8 {
            if out.len() >= raw_size {
                return out;
            }
            let Some(first) = input.next() else {
                return out;
            };
            if flags & (1 << bit) == 0 {
                put(first, &mut out, &mut end, &mut window);
                continue;
            }
            let Some(second) = input.next() else {
                return out;
            };
            let reference = usize::from(first) << 8 | usize::from(second);
            let (offset, length) = (reference >> 4, (reference & 15) + 2);
            if offset == end {
                return out;
            }
            for step in 0..length {
                let byte = window.get((offset + step) % WINDOW).copied();
                put(byte.unwrap_or(0), &mut out, &mut end, &mut window);
            }
        }
    }
    out
}

/// The words of an RTF document: paragraphs become lines, everything that is no text goes.
pub(super) fn text(rtf: &[u8]) -> String {
    let mut reader = Reader {
        rest: rtf,
        out: String::new(),
        narrow: Vec::new(),
        label: "windows-1252".to_owned(),
        stack: Vec::new(),
        state: State::default(),
        skip: 0,
        high: None,
    };
    while reader.step() {}
    reader.flush();
    reader.out
}

#[derive(Clone, Copy)]
struct State {
    /// Within a group whose text is not shown.
    hidden: bool,
    /// `\ucN`: characters that stand in for one of Unicode.
    stand_ins: usize,
}

impl Default for State {
    fn default() -> Self {
        Self {
            hidden: false,
            stand_ins: 1,
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    out: String,
    /// Bytes of the document's codepage that are not decoded yet.
    narrow: Vec<u8>,
    label: String,
    stack: Vec<State>,
    state: State,
    /// Stand-ins still to pass over.
    skip: usize,
    /// The first half of a character beyond the first plane.
    high: Option<u16>,
}

impl Reader<'_> {
    fn step(&mut self) -> bool {
        let Some((&byte, rest)) = self.rest.split_first() else {
            return false;
        };
        self.rest = rest;
        match byte {
            b'{' => {
                if self.stack.len() < DEPTH_MAX {
                    self.stack.push(self.state);
                } else {
                    return false;
                }
            }
            b'}' => self.state = self.stack.pop().unwrap_or_default(),
            b'\\' => self.control(),
            b'\r' | b'\n' | 0 => {}
            _ => self.byte(byte),
        }
        true
    }

    fn byte(&mut self, byte: u8) {
        if self.skip > 0 {
            self.skip -= 1;
        } else if !self.state.hidden {
            self.narrow.push(byte);
        }
    }

    fn say(&mut self, c: char) {
        if !self.state.hidden {
            self.flush();
            self.out.push(c);
        }
    }

    fn flush(&mut self) {
        let bytes = std::mem::take(&mut self.narrow);
        self.out
            .push_str(&charset::decode(&bytes, Some(&self.label)).text);
    }

    fn control(&mut self) {
        let Some((&first, rest)) = self.rest.split_first() else {
            return;
        };
        if first == b'\'' {
            let digit = |at: usize| rest.get(at).and_then(|b| (*b as char).to_digit(16));
            if let (Some(high), Some(low)) = (digit(0), digit(1)) {
                self.byte((high << 4 | low) as u8);
            }
            self.rest = rest.get(2..).unwrap_or_default();
            return;
        }
        if !first.is_ascii_alphabetic() {
            self.rest = rest;
            match first {
                b'\\' | b'{' | b'}' => self.byte(first),
                b'~' => self.say('\u{a0}'),
                // A destination that only its own readers know.
                b'*' => self.state.hidden = true,
                b'\r' | b'\n' => self.say('\n'),
                _ => {}
            }
            return;
        }
        let (word, number) = self.word();
        self.obey(&word, number);
    }

    /// A control word, its number, and the blank that ends it.
    fn word(&mut self) -> (String, Option<i32>) {
        let letters = |b: &u8| b.is_ascii_alphabetic();
        let end = self.rest.iter().take(32).take_while(|b| letters(b)).count();
        let (word, rest) = self.rest.split_at(end);
        let sign = usize::from(rest.first() == Some(&b'-'));
        let digits = rest
            .iter()
            .skip(sign)
            .take(10)
            .take_while(|b| b.is_ascii_digit())
            .count();
        let (number, rest) = if digits == 0 {
            (None, rest)
        } else {
            let (number, rest) = rest.split_at(sign + digits);
            (std::str::from_utf8(number).ok(), rest)
        };
        self.rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let number = number.and_then(|number| number.parse().ok());
        (String::from_utf8_lossy(word).into_owned(), number)
    }

    fn obey(&mut self, word: &str, number: Option<i32>) {
        match word {
            "par" | "line" | "row" | "sect" | "page" => self.say('\n'),
            "tab" | "cell" => self.say('\t'),
            "emdash" => self.say('\u{2014}'),
            "endash" => self.say('\u{2013}'),
            "lquote" => self.say('\u{2018}'),
            "rquote" => self.say('\u{2019}'),
            "ldblquote" => self.say('\u{201c}'),
            "rdblquote" => self.say('\u{201d}'),
            "bullet" => self.say('\u{2022}'),
            "ansicpg" => {
                self.flush();
                let codepage = number.and_then(|number| u32::try_from(number).ok());
                self.label = super::label_of(codepage.unwrap_or(1252));
            }
            "uc" => {
                let count = number.and_then(|number| usize::try_from(number).ok());
                self.state.stand_ins = count.unwrap_or(1).min(8);
            }
            "u" => self.unicode(number.unwrap_or(0)),
            "bin" => {
                let count = number.and_then(|number| usize::try_from(number).ok());
                self.rest = self.rest.get(count.unwrap_or(0)..).unwrap_or_default();
            }
            "fonttbl" | "colortbl" | "stylesheet" | "info" | "pict" | "object" | "header"
            | "footer" | "htmltag" | "mhtmltag" | "themedata" | "datastore" | "listtable" | "v" => {
                self.state.hidden = true
            }
            _ => {}
        }
    }

    /// Characters beyond the first plane come as two halves, which only together mean something.
    fn unicode(&mut self, number: i32) {
        let unit = (number & 0xffff) as u16;
        self.skip = self.state.stand_ins;
        if self.state.hidden {
            return;
        }
        self.flush();
        let high = self.high.take();
        if (0xd800..0xdc00).contains(&unit) {
            self.high = Some(unit);
            return;
        }
        let units = high.into_iter().chain([unit]);
        self.out
            .extend(char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')));
    }
}
