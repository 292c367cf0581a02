//! One mbox file as a stream of mails, never held in memory as a whole.
//!
//! RFC 4155 names the format and its `From ` separator line; what is found in the wild differs in
//! how a body line that starts with `From ` is protected. Read here: mboxrd (any number of `>`
//! before `From ` loses one), mboxo (the same with exactly one), and unprotected bodies, where a
//! line separates mails only if it also looks like a separator.

use std::io::{self, BufRead};

/// What the reader found next.
pub(super) enum Entry {
    /// One mail without its separator line.
    Mail {
        /// Where its first byte stands in the file.
        offset: u64,
        /// The bytes, with protected `From ` lines restored.
        raw: Vec<u8>,
    },
    /// A mail that is larger than the bound; its bytes were passed over.
    Oversized {
        /// Where its first byte stands in the file.
        offset: u64,
        /// How many bytes it takes in the file.
        length: u64,
    },
    /// Bytes before the first separator line, where a mail was expected.
    Unseparated,
}

/// Reads one mbox.
pub(super) struct Mbox<R> {
    input: R,
    /// A line that was read ahead.
    ahead: Option<Vec<u8>>,
    /// Where the next unread line starts (the line in `ahead`, if there is one).
    position: u64,
    max_bytes: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was read.
    Start,
    /// A separator line was read: a mail follows.
    Separated,
    /// Nothing is left.
    End,
}

/// A line longer than this is handed on in pieces, so that a file without line ends stays bounded.
const LINE_PIECE_BYTES: u64 = 64 * 1024;

impl<R: BufRead> Mbox<R> {
    pub(super) fn new(input: R, max_bytes: usize) -> Self {
        Self {
            input,
            ahead: None,
            position: 0,
            max_bytes,
            state: State::Start,
        }
    }

    /// How many bytes of the file were read.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The next entry, `None` at the end of the file.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<Entry>> {
        match self.state {
            State::Start => self.start(),
            State::Separated => self.body().map(Some),
            State::End => Ok(None),
        }
    }

    /// Blank lines, then the first separator.
    fn start(&mut self) -> io::Result<Option<Entry>> {
        loop {
            self.state = State::End;
            let Some(line) = self.line()? else {
                return Ok(None);
            };
            if is_blank(&line) {
                continue;
            }
            if line.starts_with(b"From ") {
                self.state = State::Separated;
                return self.body().map(Some);
            }
            // Nothing here is delimited; reading on would invent mails.
            return Ok(Some(Entry::Unseparated));
        }
    }

    /// The mail behind a separator line, up to the next one.
    fn body(&mut self) -> io::Result<Entry> {
        let offset = self.position;
        let mut raw = Vec::new();
        let mut oversized = false;
        let mut after_blank = false;
        let mut at_line_start = true;
        self.state = State::End;
        while let Some(line) = self.line()? {
            let length = line.len() as u64;
            if at_line_start && line.starts_with(b"From ") && self.separates(&line, after_blank)? {
                self.state = State::Separated;
                return Ok(self.entry(offset, raw, oversized, length));
            }
            after_blank = at_line_start && is_blank(&line);
            let text = if at_line_start {
                unprotected(&line)
            } else {
                &line
            };
            at_line_start = line.ends_with(b"\n");
            if raw.len() + text.len() > self.max_bytes + 2 {
                oversized = true;
                raw = Vec::new();
            }
            if !oversized {
                raw.extend_from_slice(text);
            }
        }
        Ok(self.entry(offset, raw, oversized, 0))
    }

    /// Closes the mail that began at `offset`; `separator` bytes behind it are already read.
    fn entry(&self, offset: u64, mut raw: Vec<u8>, oversized: bool, separator: u64) -> Entry {
        // The blank line before a separator belongs to the mbox, not to the mail.
        if raw.ends_with(b"\r\n\r\n") || raw.as_slice() == b"\r\n" {
            raw.truncate(raw.len() - 2);
        } else if raw.ends_with(b"\n\n") || raw.as_slice() == b"\n" {
            raw.truncate(raw.len() - 1);
        }
        if oversized || raw.len() > self.max_bytes {
            let length = self.position.saturating_sub(offset + separator);
            Entry::Oversized { offset, length }
        } else {
            Entry::Mail { offset, raw }
        }
    }

    /// Whether a `From ` line inside the file starts another mail: it carries a date as separators
    /// do, or is as short as the oldest writers made it, and what surrounds it fits.
    fn separates(&mut self, line: &[u8], after_blank: bool) -> io::Result<bool> {
        let dated = has_clock_and_year(line);
        if dated && after_blank {
            return Ok(true);
        }
        let short = line
            .split(|byte| byte.is_ascii_whitespace())
            .filter(|word| !word.is_empty())
            .count()
            <= 2;
        if !(dated || (short && after_blank)) {
            return Ok(false);
        }
        let next = self.peek()?;
        Ok(next.is_some_and(is_header_line))
    }

    fn peek(&mut self) -> io::Result<Option<&[u8]>> {
        if self.ahead.is_none() {
            self.ahead = self.read_line()?;
        }
        Ok(self.ahead.as_deref())
    }

    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let line = match self.ahead.take() {
            Some(line) => Some(line),
            None => self.read_line()?,
        };
        self.position += line.as_ref().map_or(0, |line| line.len() as u64);
        Ok(line)
    }

    fn read_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        io::Read::take(&mut self.input, LINE_PIECE_BYTES).read_until(b'\n', &mut line)?;
        Ok((!line.is_empty()).then_some(line))
    }
}

/// A line without the `>` that protects a `From ` at its start.
fn unprotected(line: &[u8]) -> &[u8] {
    let quotes = line.iter().take_while(|byte| **byte == b'>').count();
    match line.split_at_checked(quotes) {
        Some((_, rest)) if quotes > 0 && rest.starts_with(b"From ") => {
            line.get(1..).unwrap_or(line)
        }
        _ => line,
    }
}

fn is_blank(line: &[u8]) -> bool {
    matches!(line, b"\n" | b"\r\n")
}

/// Whether a line has the form of a header field (RFC 5322 section 2.2).
pub(super) fn is_header_line(line: &[u8]) -> bool {
    let name = line
        .iter()
        .take_while(|byte| (33..=126).contains(*byte) && **byte != b':')
        .count();
    name > 0 && line.get(name) == Some(&b':')
}

/// Whether a line has a time of day and a year, as every dated separator line has.
fn has_clock_and_year(line: &[u8]) -> bool {
    let words = || line.split(|byte| byte.is_ascii_whitespace());
    let clock = |word: &[u8]| {
        let mut parts = word.split(|byte| *byte == b':');
        let two = |part: Option<&[u8]>| {
            part.is_some_and(|part| {
                (1..=2).contains(&part.len()) && part.iter().all(u8::is_ascii_digit)
            })
        };
        two(parts.next()) && two(parts.next())
    };
    let year = |word: &[u8]| {
        word.len() == 4
            && word.iter().all(u8::is_ascii_digit)
            && (word.starts_with(b"19") || word.starts_with(b"20"))
    };
    words().any(clock) && words().any(year)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str, max_bytes: usize) -> Vec<String> {
        let mut mbox = Mbox::new(text.as_bytes(), max_bytes);
        let mut out = Vec::new();
        while let Some(entry) = mbox.next_entry().expect("memory reads") {
            out.push(match entry {
                Entry::Mail { raw, .. } => String::from_utf8(raw).expect("text"),
                Entry::Oversized { offset, length } => format!("oversized {offset}+{length}"),
                Entry::Unseparated => "unseparated".to_owned(),
            });
        }
        out
    }

    #[test]
    fn mails_are_split_at_dated_from_lines() {
        let text = "From a@b.example Mon Nov 30 12:00:00 2026\nSubject: one\n\nhello\n\nFrom - Mon Nov 30 12:00:01 2026\nSubject: two\n\nbye\n";
        assert_eq!(
            read(text, 1_000),
            ["Subject: one\n\nhello\n", "Subject: two\n\nbye\n"]
        );
    }

    #[test]
    fn a_sentence_that_starts_with_from_splits_nothing() {
        let text = "From a@b.example Mon Nov 30 12:00:00 2026\nSubject: one\n\nHello\n\nFrom here on we meet at 9:30 only.\nFrom now: no\n";
        assert_eq!(read(text, 1_000).len(), 1);
    }

    #[test]
    fn protected_from_lines_lose_one_quote() {
        let text = "From a Mon Nov 30 12:00:00 2026\nSubject: s\n\n>From x\n>>From y\n> From z\n";
        assert_eq!(
            read(text, 1_000),
            ["Subject: s\n\nFrom x\n>From y\n> From z\n"]
        );
    }

    #[test]
    fn a_mail_past_the_bound_is_measured_and_the_next_one_is_read() {
        let sep = "From a Mon Nov 30 12:00:00 2026\n";
        let big = format!("Subject: big\n\n{}\n", "x".repeat(50));
        let small = "Subject: small\n\nok\n";
        let text = format!("{sep}{big}\n{sep}{small}");
        let got = read(&text, big.len() - 1);
        assert_eq!(got.len(), 2);
        assert_eq!(got[0], format!("oversized {}+{}", sep.len(), big.len() + 1));
        assert_eq!(got[1], small);
        assert_eq!(read(&text, big.len())[0], big);
    }

    #[test]
    fn a_file_without_separator_is_named_as_such() {
        assert_eq!(read("\n\nSubject: x\n\nhello\n", 100), ["unseparated"]);
        assert_eq!(read("", 100), Vec::<String>::new());
    }

    #[test]
    fn crlf_files_keep_their_line_ends() {
        let text = "From a Mon Nov 30 12:00:00 2026\r\nSubject: s\r\n\r\nhello\r\n\r\nFrom b Mon Nov 30 12:00:00 2026\r\nSubject: t\r\n\r\nbye\r\n";
        assert_eq!(
            read(text, 1_000),
            ["Subject: s\r\n\r\nhello\r\n", "Subject: t\r\n\r\nbye\r\n"]
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_the_end(bytes in proptest::collection::vec(any::<u8>(), 0..600), max in 1usize..200) {
            let mut mbox = Mbox::new(bytes.as_slice(), max);
            while let Some(entry) = mbox.next_entry().expect("memory reads") {
                if let Entry::Mail { raw, .. } = entry {
                    prop_assert!(raw.len() <= max);
                }
            }
        }

        #[test]
        fn escaped_mails_come_back_as_they_went_in(bodies in proptest::collection::vec("(>{0,2}From [a-z]{1,5}\n|[a-z ]{0,12}\n){0,6}", 1..5)) {
            let mut text = String::new();
            let mails: Vec<String> = bodies.iter().map(|body| format!("Subject: s\n\n{body}end\n")).collect();
            for mail in &mails {
                text.push_str("From a@b.example Mon Nov 30 12:00:00 2026\n");
                for line in mail.lines() {
                    if line.trim_start_matches('>').starts_with("From ") {
                        text.push('>');
                    }
                    text.push_str(line);
                    text.push('\n');
                }
                text.push('\n');
            }
            prop_assert_eq!(read(&text, 10_000), mails);
        }
    }
}
