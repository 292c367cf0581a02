//! Replies as a server writes them (RFC 5321 section 4.2), read with bounds.

use postroom_types::{
    Tainted,
    limit::{RELAY_ANSWER_CHARS, RELAY_LINE_BYTES, RELAY_REPLY_LINES},
};

use super::Answer;

/// One whole reply.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) code: u16,
    /// What stands behind the code in each line.
    pub(super) lines: Vec<String>,
}

/// What kind of word a reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// 2yz: done.
    Done,
    /// 3yz: go on.
    GoOn,
    /// 4yz: not now.
    NotNow,
    /// 5yz: never.
    Never,
}

/// What the input came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// Not a whole reply yet.
    Open,
    /// A reply, and how many bytes of the input it is.
    Whole(Reply, usize),
    /// These bytes begin no reply.
    NotSmtp,
}

/// Reads one reply from the start of the input.
pub(super) fn read(input: &[u8]) -> Read {
    let mut rest = input;
    let mut reply: Option<Reply> = None;
    loop {
        let window = rest.get(..RELAY_LINE_BYTES).unwrap_or(rest);
        let Some(end) = memchr::memchr(b'\n', window) else {
            return match rest.len() < RELAY_LINE_BYTES {
                true => Read::Open,
                false => Read::NotSmtp,
            };
        };
        let (line, after) = rest.split_at(end + 1);
        let Some((code, last, text)) = line.strip_suffix(b"\r\n").and_then(read_line) else {
            return Read::NotSmtp;
        };
        let whole = reply.get_or_insert(Reply {
            code,
            lines: Vec::new(),
        });
        if whole.code != code || whole.lines.len() >= RELAY_REPLY_LINES {
            return Read::NotSmtp;
        }
        whole.lines.push(text);
        rest = after;
        if last {
            break;
        }
    }
    match reply {
        Some(reply) => Read::Whole(reply, input.len() - rest.len()),
        None => Read::Open,
    }
}

/// The code, whether it is the last line, and the text of a line without its CRLF.
fn read_line(line: &[u8]) -> Option<(u16, bool, String)> {
    let (&[a @ b'2'..=b'5', b @ b'0'..=b'9', c @ b'0'..=b'9'], rest) = line.split_first_chunk()?
    else {
        return None;
    };
    let digit = |byte: u8| u16::from(byte - b'0');
    let code = digit(a) * 100 + digit(b) * 10 + digit(c);
    let (last, text) = match rest.split_first() {
        None => (true, rest),
        Some((b' ', text)) => (true, text),
        Some((b'-', text)) => (false, text),
        Some(_) => return None,
    };
    if text.contains(&b'\r') {
        return None;
    }
    let text = String::from_utf8_lossy(text);
    let blank = |c: char| if c.is_control() { ' ' } else { c };
    Some((code, last, text.chars().map(blank).collect()))
}

impl Reply {
    pub(super) fn class(&self) -> Class {
        match self.code {
            ..300 => Class::Done,
            300..400 => Class::GoOn,
            400..500 => Class::NotNow,
            500.. => Class::Never,
        }
    }

    /// Whether the server takes its leave (RFC 5321 section 3.8); it may say so to any command.
    pub(super) fn is_leaving(&self) -> bool {
        self.code == 421
    }

    /// The code alone: what stands behind it may repeat what was sent.
    pub(super) fn without_text(&self) -> Self {
        Self {
            code: self.code,
            lines: Vec::new(),
        }
    }

    /// The reply as it is kept.
    pub(super) fn answer(&self) -> Answer {
        let first = self.lines.first().map_or("", String::as_str);
        let code = first.split(' ').next().unwrap_or_default();
        let enhanced = is_enhanced(code, self.code).then(|| code.to_owned());
        let mut text = String::new();
        for line in &self.lines {
            let line = match &enhanced {
                Some(code) => line.strip_prefix(code.as_str()).unwrap_or(line),
                None => line,
            };
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(line.trim());
        }
        Answer {
            code: self.code,
            enhanced,
            text: Tainted::new(text.chars().take(RELAY_ANSWER_CHARS).collect::<String>()),
        }
    }

    /// The name under which the server keeps the message, where it says so as Postfix, Sendmail or
    /// Exim do.
    pub(super) fn queue_id(&self) -> Option<String> {
        let is_id = |c: char| c.is_ascii_alphanumeric() || c == '-';
        self.lines.iter().find_map(|line| {
            let (_, rest) = line
                .split_once("queued as ")
                .or_else(|| line.split_once("id="))?;
            let end = rest.find(|c| !is_id(c)).unwrap_or(rest.len());
            let id = rest.get(..end)?;
            (!id.is_empty() && id.len() <= 64).then(|| id.to_owned())
        })
    }
}

/// RFC 3463: class, subject, detail; its class is the reply's own (RFC 2034 section 4).
fn is_enhanced(text: &str, code: u16) -> bool {
    let mut parts = text.split('.');
    let (Some(class), Some(subject), Some(detail), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let number = |part: &str| {
        (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    class == (code / 100).to_string() && number(subject) && number(detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(input: &str) -> Option<(u16, usize)> {
        match read(input.as_bytes()) {
            Read::Whole(reply, bytes) => Some((reply.code, bytes)),
            _ => None,
        }
    }

    #[test]
    fn replies_are_read_to_their_last_line() {
        assert_eq!(whole("250 Ok\r\n"), Some((250, 8)));
        assert_eq!(whole("250\r\n"), Some((250, 5)));
        assert_eq!(whole("250-a\r\n250-b\r\n250 c\r\nmore"), Some((250, 21)));
        for open in [
            "",
            "2",
            "250",
            "250 Ok",
            "250 Ok\r",
            "250-a\r\n",
            "250-a\r\n250",
        ] {
            assert_eq!(read(open.as_bytes()), Read::Open, "{open:?}");
        }
    }

    #[test]
    fn what_is_no_reply_is_said_to_be_none() {
        for input in [
            "\r\n",
            "Ok\r\n",
            "25 Ok\r\n",
            "2500 Ok\r\n",
            "150 Ok\r\n",
            "650 Ok\r\n",
            "250 Ok\n",
            "250 O\rk\r\n",
            "250_Ok\r\n",
            "250-a\r\n550 b\r\n",
            "250-a\r\n251 b\r\n",
            "HTTP/1.1 400 Bad Request\r\n",
        ] {
            assert_eq!(read(input.as_bytes()), Read::NotSmtp, "{input:?}");
        }
    }

    #[test]
    fn lines_and_their_length_have_their_bounds() {
        let lines = |count: usize| "250-x\r\n".repeat(count - 1) + "250 x\r\n";
        assert!(whole(&lines(RELAY_REPLY_LINES)).is_some());
        let more = lines(RELAY_REPLY_LINES + 1);
        assert_eq!(read(more.as_bytes()), Read::NotSmtp);
        let line = |bytes: usize| format!("250 {}\r\n", "x".repeat(bytes - 6));
        assert!(whole(&line(RELAY_LINE_BYTES)).is_some());
        let longer = line(RELAY_LINE_BYTES + 1);
        assert_eq!(read(longer.as_bytes()), Read::NotSmtp);
        let endless = "2".repeat(RELAY_LINE_BYTES);
        assert_eq!(read(endless.as_bytes()), Read::NotSmtp);
    }

    #[test]
    fn the_enhanced_code_is_of_the_replys_class_and_words_are_cut() {
        for (input, enhanced, text) in [
            ("550 5.1.1 No such user\r\n", Some("5.1.1"), "No such user"),
            ("550 4.1.1 No such user\r\n", None, "4.1.1 No such user"),
            ("550 5.1.1\r\n", Some("5.1.1"), ""),
            (
                "550-5.7.1 One\r\n550 5.7.1 two\r\n",
                Some("5.7.1"),
                "One two",
            ),
            ("550 5.1.1.1 x\r\n", None, "5.1.1.1 x"),
            ("550 a\x1b[31mb\r\n", None, "a [31mb"),
        ] {
            let Read::Whole(reply, _) = read(input.as_bytes()) else {
                panic!("{input:?} is a reply");
            };
            let answer = reply.answer();
            assert_eq!(answer.enhanced.as_deref(), enhanced, "{input:?}");
            assert_eq!(answer.text.expose(), text, "{input:?}");
        }
        let long = format!("550 {}\r\n", "\u{e9}".repeat(RELAY_ANSWER_CHARS + 1));
        let Read::Whole(reply, _) = read(long.as_bytes()) else {
            panic!("a reply");
        };
        let kept = reply.answer().text.expose().chars().count();
        assert_eq!(kept, RELAY_ANSWER_CHARS);
    }

    #[test]
    fn the_name_in_the_servers_queue_is_found() {
        for (line, id) in [
            ("2.0.0 Ok: queued as 4f3Bc1", Some("4f3Bc1")),
            ("OK id=1abCde-0000Ab-2z", Some("1abCde-0000Ab-2z")),
            ("2.0.0 Stored", None),
            ("queued as <b>", None),
        ] {
            let reply = Reply {
                code: 250,
                lines: vec![line.to_owned()],
            };
            assert_eq!(reply.queue_id().as_deref(), id, "{line}");
        }
    }
}
