//! The bytes between `DATA` and the end of data.
//!
//! Only CRLF "." CRLF ends a message. A CR or LF that is not part of a CRLF never does, and the
//! message that has one is not accepted: two servers that read it differently would see two
//! different numbers of messages (SMTP smuggling).

/// Why a message is read to its end and then refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// A CR without LF, or an LF without CR.
    BareLineEnd,
    /// The process holds as many bytes of unfinished messages as it may.
    NoSpace,
    /// More bytes than one message may have.
    TooLarge,
}

/// What a slice of input came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// All of the slice belongs to the data, and more is to come.
    More,
    /// The data ended; this many bytes of the slice belong to it.
    End(usize),
    /// The client sends on and on past the limit.
    Endless,
}

/// Where in a line the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Behind a CRLF, or at the first byte: the CRLF of the command itself counts.
    LineStart,
    /// Anywhere else.
    Text,
    /// Behind a CR.
    Cr,
    /// Behind a dot at the start of a line.
    Dot,
    /// Behind a dot at the start of a line and a CR.
    DotCr,
}

/// Takes the data apart from what follows it, undoing the dots.
#[derive(Debug)]
pub(super) struct Decoder {
    at: At,
    kept: Vec<u8>,
    /// Bytes of the message so far, kept or not.
    seen: usize,
    /// Bytes of input so far.
    read: usize,
    limit: usize,
    fault: Option<Fault>,
}

impl Decoder {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            at: At::LineStart,
            kept: Vec::new(),
            seen: 0,
            read: 0,
            limit,
            fault: None,
        }
    }

    /// Reads as much of the slice as belongs to the data.
    pub(super) fn push(&mut self, input: &[u8]) -> Progress {
        let mut rest = input;
        while let Some((&byte, tail)) = rest.split_first() {
            if self.is_endless() {
                return Progress::Endless;
            }
            if self.at == At::Text && byte != b'\r' && byte != b'\n' {
                let run = rest
                    .iter()
                    .position(|byte| matches!(byte, b'\r' | b'\n'))
                    .unwrap_or(rest.len());
                let (text, tail) = rest.split_at(run);
                self.keep(text);
                self.read = self.read.saturating_add(run);
                rest = tail;
                continue;
            }
            rest = tail;
            self.read = self.read.saturating_add(1);
            if self.step(byte) {
                return Progress::End(input.len() - rest.len());
            }
        }
        if self.is_endless() {
            return Progress::Endless;
        }
        Progress::More
    }

    /// Whether the client has sent so much that it is not going to listen: far more than the
    /// limit, and more than dot-stuffing can add to a message at the limit.
    fn is_endless(&self) -> bool {
        self.read > self.limit.saturating_mul(2).saturating_add(1024)
    }

    /// The message, or why there is none.
    pub(super) fn finish(self) -> Result<Vec<u8>, Fault> {
        match self.fault {
            None => Ok(self.kept),
            Some(fault) => Err(fault),
        }
    }

    /// Bytes held in memory for this message.
    pub(super) fn held_bytes(&self) -> usize {
        self.kept.len()
    }

    /// Marks the message as refused and lets go of what was kept; the first reason stays.
    pub(super) fn refuse(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
        self.kept = Vec::new();
    }

    /// Takes one byte; true when it ends the data.
    fn step(&mut self, byte: u8) -> bool {
        self.at = match (self.at, byte) {
            (At::DotCr, b'\n') => return true,
            (At::Cr, b'\n') => {
                self.keep(b"\r\n");
                At::LineStart
            }
            (At::LineStart, b'.') => At::Dot,
            (At::Dot, b'\r') => At::DotCr,
            (At::LineStart | At::Text, b'\r') => At::Cr,
            (At::Cr | At::DotCr, b'\r') => {
                self.refuse(Fault::BareLineEnd);
                At::Cr
            }
            (At::Cr | At::DotCr, _) | (_, b'\n') => {
                self.refuse(Fault::BareLineEnd);
                At::Text
            }
            (At::LineStart | At::Dot | At::Text, _) => {
                self.keep(&[byte]);
                At::Text
            }
        };
        false
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.seen = self.seen.saturating_add(bytes.len());
        if self.seen > self.limit {
            self.refuse(Fault::TooLarge);
        }
        if self.fault.is_none() {
            self.kept.extend_from_slice(bytes);
        }
    }
}
