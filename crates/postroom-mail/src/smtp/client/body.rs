//! The message on its way: looked through once, then written in pieces with its dots doubled.

use bytes::Bytes;

/// Bytes of the message in one piece.
const PIECE_BYTES: usize = 64 * 1024;

/// What a message needs of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needs {
    /// A byte above 127 somewhere.
    pub(super) eight_bit: bool,
    /// A byte above 127 in the header section.
    pub(super) utf8: bool,
}

/// What the message needs; `None` when it has a CR or LF that is no CRLF. Such a byte is one line
/// end to some servers and none to others, which makes two messages out of one (SMTP smuggling).
pub(super) fn look_through(message: &[u8]) -> Option<Needs> {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'\r', b'\n', message.get(at..)?) {
        let cr = at + found;
        if message.get(cr..cr + 2) != Some(b"\r\n") {
            return None;
        }
        at = cr + 2;
    }
    let header_end = memchr::memmem::find(message, b"\r\n\r\n").unwrap_or(message.len());
    Some(Needs {
        eight_bit: !message.is_ascii(),
        utf8: message
            .get(..header_end)
            .is_some_and(|header| !header.is_ascii()),
    })
}

/// A message that is being written.
#[derive(Debug)]
pub(super) struct Body {
    rest: Bytes,
    at_line_start: bool,
}

impl Body {
    /// A message that [`look_through`] found in order.
    pub(super) fn new(message: Bytes) -> Self {
        Self {
            rest: message,
            at_line_start: true,
        }
    }

    /// Whether all of the message was written, and only its end is left.
    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Appends the next piece, a dot before each dot that begins a line (RFC 5321 section 4.5.2).
    pub(super) fn write_piece(&mut self, output: &mut Vec<u8>) {
        let piece = self.rest.split_to(self.rest.len().min(PIECE_BYTES));
        output.reserve(piece.len() + 64);
        for line in piece.split_inclusive(|byte| *byte == b'\n') {
            if self.at_line_start && line.first() == Some(&b'.') {
                output.push(b'.');
            }
            output.extend_from_slice(line);
            self.at_line_start = line.last() == Some(&b'\n');
        }
    }

    /// Appends the end of the data.
    pub(super) fn write_end(&self, output: &mut Vec<u8>) {
        if !self.at_line_start {
            output.extend_from_slice(b"\r\n");
        }
        output.extend_from_slice(b".\r\n");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::data::{Decoder, Progress};
    use super::*;

    fn written(message: &[u8]) -> Vec<u8> {
        let mut body = Body::new(Bytes::copy_from_slice(message));
        let mut output = Vec::new();
        while !body.is_empty() {
            body.write_piece(&mut output);
        }
        body.write_end(&mut output);
        output
    }

    #[test]
    fn dots_that_begin_a_line_are_doubled_across_pieces_too() {
        for (message, wire) in [
            ("", ".\r\n"),
            ("a\r\n", "a\r\n.\r\n"),
            ("a", "a\r\n.\r\n"),
            (".\r\n", "..\r\n.\r\n"),
            ("a\r\n.b\r\n..\r\n", "a\r\n..b\r\n...\r\n.\r\n"),
            ("a.b\r\n", "a.b\r\n.\r\n"),
        ] {
            assert_eq!(written(message.as_bytes()), wire.as_bytes(), "{message:?}");
        }
        // The line end is the last of one piece, the dot the first of the next.
        let mut long = "x".repeat(PIECE_BYTES - 2);
        long.push_str("\r\n.\r\n");
        let wire = written(long.as_bytes());
        assert!(wire.ends_with(b"x\r\n..\r\n.\r\n"));
    }

    #[test]
    fn bare_line_ends_are_found() {
        for (message, good) in [
            ("", true),
            ("a\r\nb\r\n", true),
            ("a\nb\r\n", false),
            ("a\rb\r\n", false),
            ("a\r\r\n", false),
            ("a\r\n\n", false),
            ("a\r", false),
            ("a\n", false),
            ("\r\n.\r\n", true),
            ("\n.\r\n", false),
            ("\r\n.\r", false),
        ] {
            assert_eq!(
                look_through(message.as_bytes()).is_some(),
                good,
                "{message:?}"
            );
        }
    }

    #[test]
    fn needs_are_told_apart() {
        let needs = |message: &str| look_through(message.as_bytes()).expect("in order");
        let plain = Needs {
            eight_bit: false,
            utf8: false,
        };
        assert_eq!(needs("A: b\r\n\r\nc\r\n"), plain);
        let body = needs("A: b\r\n\r\n\u{e9}\r\n");
        assert!(body.eight_bit && !body.utf8);
        let header = needs("A: \u{e9}\r\n\r\nc\r\n");
        assert!(header.eight_bit && header.utf8);
    }

    fn in_order() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"\r\n".to_vec()),
            Just(b".".to_vec()),
            Just(b"..".to_vec()),
            proptest::collection::vec(
                any::<u8>().prop_filter("no line end", |byte| { !matches!(byte, b'\r' | b'\n') }),
                0..5
            ),
        ];
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn our_own_server_reads_what_was_written(mut message in in_order()) {
            let wire = written(&message);
            let mut decoder = Decoder::new(1_000_000);
            prop_assert_eq!(decoder.push(&wire), Progress::End(wire.len()));
            if !message.is_empty() && !message.ends_with(b"\r\n") {
                message.extend_from_slice(b"\r\n");
            }
            prop_assert_eq!(decoder.finish(), Ok(message));
        }
    }
}
