//! Words of a text, as the index has them and as queries and snippets look for them.
//!
//! A word is a run of letters and digits, lower case, accents folded away; everything else parts
//! words, so `INV-88213` and `jane.doe@example.org` are words in a row and are found whole or by
//! part. Scripts that are written without blanks (Han, kana, Hangul, Thai and their like) become
//! overlapping pairs, so that any two or more characters in a row are found.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_normalization::char::{compose, decompose_compatible, is_combining_mark};

/// Bytes of a word that are kept; a longer one is found by its beginning.
const WORD_BYTES: usize = 64;

/// The name under which the tokenizer is registered; part of the shape of the index.
pub(crate) const TOKENIZER: &str = "mail";

/// One word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Folded.
    pub(crate) text: String,
    /// Where it stands among the words.
    pub(crate) position: u32,
}

/// What a word of the query asks of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Words that must stand at these distances from each other.
    pub(crate) words: Vec<Word>,
    /// A beginning of one more word behind them, at this position.
    pub(crate) stem: Option<Word>,
}

impl Wanted {
    /// Reads the words of a query leaf; `None` when nothing in it can be looked for.
    pub(crate) fn of(text: &str, prefix: bool) -> Option<Self> {
        let mut walk = Walk::new(text);
        let mut words = Vec::new();
        let mut last = Piece::Word;
        while walk.advance() {
            last = walk.piece;
            // The last character of a run stands alone in the index so that it can be found; the
            // pairs before it say the same already.
            if last != Piece::Tail {
                words.push(Word {
                    text: walk.text.clone(),
                    position: walk.position,
                });
            }
        }
        let first = words.first()?.position;
        for word in &mut words {
            word.position -= first;
        }
        let open = match last {
            Piece::Single => true,
            Piece::Word => prefix,
            Piece::Pair | Piece::Tail => false,
        };
        let stem = if open { words.pop() } else { None };
        Some(Self { words, stem })
    }
}

/// The folded words of a text, in order.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    let mut walk = Walk::new(text);
    std::iter::from_fn(move || {
        while walk.advance() {
            if walk.piece != Piece::Tail {
                return Some(walk.text.clone());
            }
        }
        None
    })
}

/// A text folded as a whole, blanks collapsed: what substring filters compare.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        for next in word.chars() {
            if !is_stripped(next) {
                push_folded(next, &mut folded);
            }
        }
    }
    folded
}

/// What a token is cut from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A run of letters and digits.
    Word,
    /// Two characters of a script without blanks.
    Pair,
    /// The last character of a longer run of such a script.
    Tail,
    /// A run of one such character.
    Single,
}

/// A walk over the words of a text.
pub(crate) struct Walk<'a> {
    source: &'a str,
    /// Byte offset of what was not read yet.
    at: usize,
    /// The character that the next pair begins with.
    dense: Option<Dense>,
    /// The word.
    pub(crate) text: String,
    /// Its place among the words.
    pub(crate) position: u32,
    /// Byte offset of its beginning in the source.
    pub(crate) from: usize,
    /// Byte offset behind it.
    pub(crate) to: usize,
    /// What it is cut from.
    pub(crate) piece: Piece,
}

#[derive(Debug, Clone, Copy)]
struct Dense {
    char: char,
    from: usize,
    to: usize,
    first: bool,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        Self {
            source,
            at: 0,
            dense: None,
            text: String::new(),
            position: u32::MAX,
            from: 0,
            to: 0,
            piece: Piece::Word,
        }
    }

    /// Goes to the next word; `false` at the end.
    pub(crate) fn advance(&mut self) -> bool {
        self.text.clear();
        self.position = self.position.wrapping_add(1);
        if let Some(begin) = self.dense.take() {
            self.pair(begin);
            return true;
        }
        while let Some(&byte) = self.source.as_bytes().get(self.at) {
            if byte.is_ascii_alphanumeric() {
                self.word();
                return true;
            }
            if byte.is_ascii() {
                self.at += 1;
                continue;
            }
            if let Some(begin) = self.dense_char(true) {
                self.pair(begin);
                return true;
            }
            let Some(next) = self.peek() else {
                return false;
            };
            if next.is_alphanumeric() {
                self.word();
                if !self.text.is_empty() {
                    return true;
                }
            } else {
                self.at += next.len_utf8();
            }
        }
        false
    }

    fn peek(&self) -> Option<char> {
        self.source.get(self.at..)?.chars().next()
    }

    /// Reads a run of letters and digits that begins here.
    fn word(&mut self) {
        self.piece = Piece::Word;
        self.from = self.at;
        let bytes = self.source.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(byte) if byte.is_ascii_alphanumeric() => {
                    if self.text.len() < WORD_BYTES {
                        self.text.push(char::from(byte.to_ascii_lowercase()));
                    }
                    self.at += 1;
                }
                Some(byte) if !byte.is_ascii() => {
                    let Some(next) = self.peek() else { break };
                    if is_dense(next) || !continues(next) {
                        break;
                    }
                    let begins = !self.text.is_empty() || next.is_alphanumeric();
                    if begins && self.text.len() < WORD_BYTES && !is_stripped(next) {
                        push_folded_word(next, &mut self.text);
                    }
                    self.at += next.len_utf8();
                }
                _ => break,
            }
        }
        self.to = self.at;
        // Marks without a letter are no word.
        if !self.text.is_ascii() && !self.text.chars().any(char::is_alphanumeric) {
            self.text.clear();
        }
    }

    /// Reads one character of a script without blanks, if one stands here.
    fn dense_char(&mut self, first: bool) -> Option<Dense> {
        let from = self.at;
        let written = self.peek().filter(|next| is_dense(*next))?;
        self.at += written.len_utf8();
        let mut char = written;
        // Half-width forms and compatibility characters are other spellings of one character.
        if matches!(u32::from(written), 0xF900..=0xFAFF | 0xFF66..=0xFFDC | 0x2F800..=0x2FA1F) {
            decompose_compatible(written, |plain| char = plain);
        }
        // A voicing mark that stands apart belongs to the kana before it.
        if let Some(mark) = self.peek() {
            let mark_full = match mark {
                '\u{FF9E}' | '\u{3099}' => Some('\u{3099}'),
                '\u{FF9F}' | '\u{309A}' => Some('\u{309A}'),
                _ => None,
            };
            if let Some(voiced) = mark_full.and_then(|mark| compose(char, mark)) {
                char = voiced;
                self.at += mark.len_utf8();
            }
        }
        Some(Dense {
            char,
            from,
            to: self.at,
            first,
        })
    }

    /// The pair that begins with a character, or the character alone at the end of its run.
    fn pair(&mut self, begin: Dense) {
        self.from = begin.from;
        self.text.push(begin.char);
        match self.dense_char(false) {
            Some(next) => {
                self.text.push(next.char);
                self.to = next.to;
                self.piece = Piece::Pair;
                self.dense = Some(next);
            }
            None => {
                self.to = begin.to;
                self.piece = if begin.first {
                    Piece::Single
                } else {
                    Piece::Tail
                };
            }
        }
    }
}

/// Scripts that are written without blanks between words, or with words that grow endings.
fn is_dense(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF      // Thai, Lao
        | 0x1000..=0x109F    // Myanmar
        | 0x1100..=0x11FF    // Hangul Jamo
        | 0x1780..=0x17FF    // Khmer
        | 0x3005..=0x3007    // iteration mark, ideographic zero
        | 0x3041..=0x3096 | 0x309D..=0x309F   // Hiragana
        | 0x30A1..=0x30FA | 0x30FC..=0x30FF   // Katakana
        | 0x3105..=0x312F    // Bopomofo
        | 0x3131..=0x318E    // Hangul compatibility Jamo
        | 0x31A0..=0x31BF | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF   // Han
        | 0xA960..=0xA97F
        | 0xAC00..=0xD7FF    // Hangul syllables
        | 0xF900..=0xFAFF    // Han, compatibility
        | 0xFF66..=0xFF9D | 0xFFA0..=0xFFDC   // half-width Katakana and Hangul
        | 0x20000..=0x3FFFF  // Han, supplementary
    ) && (c.is_alphanumeric() || is_combining_mark(c))
}

/// Whether a character that is not ASCII goes on with a word.
fn continues(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c) || is_joiner(c)
}

/// Characters inside words that one does not see.
fn is_joiner(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}' | '\u{200C}' | '\u{200D}' | '\u{2060}' | '\u{FEFF}'
    )
}

/// Marks that are folded away, and characters that one does not see. Marks of scripts in which they
/// make the vowels stay.
fn is_stripped(c: char) -> bool {
    is_joiner(c)
        || matches!(u32::from(c),
            0x0300..=0x036F | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF | 0xFE20..=0xFE2F
            | 0x0591..=0x05BD | 0x05BF | 0x05C1..=0x05C2 | 0x05C4..=0x05C5 | 0x05C7
            | 0x064B..=0x065F | 0x0670)
}

fn push_folded_word(c: char, out: &mut String) {
    let before = out.len();
    push_folded(c, out);
    // Compatibility forms may bring signs with them (one half has a slash).
    if out.get(before..).is_some_and(|new| {
        !new.chars()
            .all(|c| c.is_alphanumeric() || is_combining_mark(c))
    }) {
        let kept: String = out
            .get(before..)
            .unwrap_or_default()
            .chars()
            .filter(|c| c.is_alphanumeric())
            .collect();
        out.truncate(before);
        out.push_str(&kept);
    }
}

fn push_folded(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
        return;
    }
    match c {
        'ß' | 'ẞ' => return out.push_str("ss"),
        'ς' => return out.push('σ'),
        'ı' => return out.push('i'),
        // Composed syllables and kana are letters of their own, not letters with marks.
        _ if is_dense(c) => return out.push(c),
        _ => {}
    }
    for lower in c.to_lowercase() {
        decompose_compatible(lower, |part| match part {
            'ς' => out.push('σ'),
            'ı' => out.push('i'),
            _ if is_stripped(part) => {}
            _ => out.extend(part.to_lowercase().filter(|part| !is_stripped(*part))),
        });
    }
}

/// The tokenizer of every text field.
#[derive(Clone, Default)]
pub(crate) struct MailTokenizer {
    token: Token,
}

/// Words of one field value.
pub(crate) struct MailTokenStream<'a> {
    walk: Walk<'a>,
    token: &'a mut Token,
}

impl Tokenizer for MailTokenizer {
    type TokenStream<'a> = MailTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> MailTokenStream<'a> {
        self.token.reset();
        MailTokenStream {
            walk: Walk::new(text),
            token: &mut self.token,
        }
    }
}

impl TokenStream for MailTokenStream<'_> {
    fn advance(&mut self) -> bool {
        if !self.walk.advance() {
            return false;
        }
        self.token.position = self.walk.position as usize;
        self.token.offset_from = self.walk.from;
        self.token.offset_to = self.walk.to;
        // Both buffers are kept and reused.
        std::mem::swap(&mut self.token.text, &mut self.walk.text);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(words(text).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn accents_and_case_are_folded() {
        check("Ärger CAFÉ naïve", &["arger", "cafe", "naive"]);
        check("cafe\u{301}", &["cafe"]);
        check("Straße GROẞ", &["strasse", "gross"]);
        check("Łódź smørrebrød", &["łodz", "smørrebrød"]);
        check("ΟΔΟΣ οδός", &["οδοσ", "οδοσ"]);
        check("Ёлка", &["елка"]);
        check("ＡＢＣ１２３ ﬁn", &["abc123", "fin"]);
    }

    #[test]
    fn signs_part_words_and_digits_stay_with_letters() {
        check("AB12CDE", &["ab12cde"]);
        check("INV-88213", &["inv", "88213"]);
        check(
            "jane.doe+x@example.co.uk",
            &["jane", "doe", "x", "example", "co", "uk"],
        );
        check("O'Brien’s l'avion", &["o", "brien", "s", "l", "avion"]);
        check("snake_case 1,234.50€", &["snake", "case", "1", "234", "50"]);
        check("  … !!! ", &[]);
    }

    #[test]
    fn scripts_without_blanks_become_pairs() {
        check("東京都", &["東京", "京都"]);
        check("水", &["水"]);
        check("請求書invoice", &["請求", "求書", "invoice"]);
        check("ガギ", &["ガギ"]);
        check("ｶﾞｷﾞ", &["ガギ"]);
        check("カ\u{3099}キ\u{3099}", &["ガギ"]);
        check("안녕하세요", &["안녕", "녕하", "하세", "세요"]);
    }

    #[test]
    fn soft_hyphens_do_not_part_words() {
        check("in\u{ad}voice zero\u{200d}width", &["invoice", "zerowidth"]);
    }

    #[test]
    fn long_words_are_found_by_their_beginning() {
        let long = "x".repeat(500);
        assert_eq!(words(&long).next().map(|word| word.len()), Some(WORD_BYTES));
    }

    #[test]
    fn a_leaf_says_what_to_look_for() {
        let wanted = Wanted::of("INV-882", true).expect("words");
        assert_eq!(wanted.words.len(), 1);
        assert_eq!(
            wanted.stem.map(|stem| (stem.text, stem.position)),
            Some(("882".into(), 1))
        );
        let wanted = Wanted::of("水", false).expect("words");
        assert!(wanted.words.is_empty() && wanted.stem.is_some());
        let wanted = Wanted::of("東京都 hotel", false).expect("words");
        let places: Vec<_> = wanted.words.iter().map(|word| word.position).collect();
        assert_eq!(places, [0, 1, 3]);
        assert_eq!(Wanted::of("!!!", false), None);
    }

    proptest! {
        #[test]
        fn any_text_is_walked_within_its_bounds(text in "\\PC{0,60}|[ -~ßéガｶﾞ水안क्]{0,60}") {
            let mut walk = Walk::new(&text);
            let mut last = 0;
            while walk.advance() {
                prop_assert!(text.get(walk.from..walk.to).is_some());
                prop_assert!(walk.from >= last && walk.to > walk.from);
                prop_assert!(!walk.text.is_empty() && walk.text.len() <= WORD_BYTES + 36);
                last = walk.from;
            }
        }

        #[test]
        fn folding_twice_is_folding_once(
            text in "[ -~À-ſͰ-ϿЀ-ӿ֐-׿؀-ۿऀ-ॿﬀ-ﬆＡ-ｚ]{0,40}",
        ) {
            let once: Vec<String> = words(&text).collect();
            let twice: Vec<String> = words(&once.join(" ")).collect();
            prop_assert_eq!(once, twice);
        }
    }
}
