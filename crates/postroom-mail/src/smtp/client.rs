//! The client's side of one connection.
//!
//! Bytes of the server go in with [`Client::receive`]; [`Client::poll`] works through them until it
//! needs something from outside and says what, as an [`Action`]. Commands collect in the output,
//! which is to be written before anything is waited for.
//!
//! One thing matters more than all others here: whether the server may have the message. The end
//! of the data comes alone into the output, as its last piece; until it was taken from there nobody
//! has the message, and from then on only the server's answer tells. What a server says at a place
//! where the protocol has nothing to say (an answer before its question, a success before the end)
//! is never taken for the answer to something else.

mod body;
mod envelope;
mod extensions;
mod login;
mod reply;
mod submission;
mod transaction;

pub use envelope::{Envelope, EnvelopeError};
pub use submission::{Answer, Fate, Fault, Outcome, Submission};

use bytes::Bytes;
use postroom_types::Secret;

use super::Protocol;
use extensions::Extensions;
use reply::{Read, Reply};
use transaction::Transaction;

/// Who we are to a server, and how a connection to it is made.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// What we call ourselves in EHLO.
    pub hostname: String,
    /// SMTP or LMTP.
    pub protocol: Protocol,
    /// Whether STARTTLS comes before everything else.
    pub starttls: bool,
    /// User name and password. Give them only for a connection that is or will be encrypted.
    pub credentials: Option<(String, Secret<String>)>,
}

/// What the client needs next. Whatever it is, the output is to be written first.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// More bytes: [`Client::receive`].
    Read,
    /// Another poll once the output was written: there is more of the message. What the server has
    /// said meanwhile may be given before.
    Write,
    /// A TLS handshake: [`Client::tls_established`]. Nothing that came before is remembered.
    StartTls,
    /// This became of the message. Another may be given when [`Client::is_ready`].
    Done(Box<Submission>),
    /// A message: [`Client::submit`].
    Idle,
    /// The connection closed.
    Close,
}

/// What kind of answer is being waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expecting {
    /// The answer to a command.
    Command,
    /// The answer to the end of a message.
    Message,
}

/// One connection.
pub struct Client {
    options: ClientOptions,
    phase: Phase,
    input: Vec<u8>,
    output: Vec<u8>,
    tls: bool,
    extensions: Extensions,
    transaction: Option<Transaction>,
    /// A transaction was given up before its data: RSET comes before the next.
    dirty: bool,
    /// The connection has ended; what was received before is still looked at.
    failed: Option<Fault>,
    replies: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Greeting,
    Hello,
    StartTls,
    AwaitTls,
    AuthPlain,
    /// AUTH LOGIN asks for the name, then for the password, then says yes.
    AuthLogin {
        asked: u8,
    },
    /// Between two messages.
    Ready,
    Reset,
    /// Commands written and commands answered, of MAIL and one RCPT for each recipient.
    Envelope {
        written: usize,
        answered: usize,
    },
    Data,
    Body,
    /// The end of the data may have left; this many answers came.
    Answers {
        seen: usize,
    },
    Closed,
}

impl Client {
    /// A connection on which the server speaks first. With TLS from the first byte, the handshake
    /// is over and `tls` is true.
    pub fn new(options: ClientOptions, tls: bool) -> Self {
        Self {
            options,
            phase: Phase::Greeting,
            input: Vec::new(),
            output: Vec::new(),
            tls,
            extensions: Extensions::default(),
            transaction: None,
            dirty: false,
            failed: None,
            replies: 0,
        }
    }

    /// Takes a message to hand over: at the start, or when [`Self::is_ready`]. False when another
    /// one is in work or the connection has ended; the message was not looked at then.
    pub fn submit(&mut self, envelope: Envelope, message: Bytes) -> bool {
        if self.transaction.is_some() || self.phase == Phase::Closed {
            return false;
        }
        self.transaction = Some(Transaction::new(envelope, message));
        if self.phase == Phase::Ready {
            self.begin();
        }
        true
    }

    /// Takes bytes from the server.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// Works on until something is needed from outside.
    pub fn poll(&mut self) -> Action {
        loop {
            if let Some(done) = self
                .transaction
                .take_if(|transaction| transaction.is_over())
            {
                return Action::Done(Box::new(done.into_submission()));
            }
            match (self.phase, self.failed) {
                (Phase::Closed, _) => return Action::Close,
                (Phase::AwaitTls | Phase::Ready, Some(fault)) => self.end(fault),
                (Phase::AwaitTls, None) => return Action::StartTls,
                (Phase::Ready, None) if self.input.is_empty() => return Action::Idle,
                // Whoever speaks unasked takes leave, or is not to be understood.
                (Phase::Ready, None) => self.end(Fault::Unavailable),
                (phase, failed) => match reply::read(&self.input) {
                    Read::Whole(reply, bytes) => {
                        self.input.drain(..bytes);
                        self.replies += 1;
                        self.take(&reply);
                    }
                    Read::NotSmtp => self.end(Fault::Protocol),
                    Read::Open if let Some(fault) = failed => self.end(fault),
                    // Half an answer in the middle of the message is waited for: behind the end of
                    // the data it would pass for the answer to it.
                    Read::Open if phase == Phase::Body && self.input.is_empty() => {
                        return self.write_more();
                    }
                    Read::Open => return Action::Read,
                },
            }
        }
    }

    /// Answers [`Action::StartTls`]: nothing the server said in the clear is remembered (RFC 3207
    /// section 4.2).
    pub fn tls_established(&mut self) {
        if self.phase == Phase::AwaitTls {
            self.tls = true;
            self.input.clear();
            self.extensions = Extensions::default();
            self.say_hello();
        }
    }

    /// The connection is of no use any more: it was lost, took too long, or could not be encrypted.
    /// What is in work ends with this fault, unless what was received before says how it ended.
    pub fn fail(&mut self, fault: Fault) {
        self.failed.get_or_insert(fault);
    }

    /// Takes leave; the connection may be closed without waiting for the answer.
    pub fn quit(&mut self) {
        if self.phase == Phase::Ready {
            self.output.extend_from_slice(b"QUIT\r\n");
        }
        self.end(Fault::ConnectionLost);
    }

    /// What kind of answer comes next.
    pub fn expecting(&self) -> Expecting {
        match self.phase {
            Phase::Answers { .. } => Expecting::Message,
            _ => Expecting::Command,
        }
    }

    /// Whether the next message may be given.
    pub fn is_ready(&self) -> bool {
        self.phase == Phase::Ready
            && self.input.is_empty()
            && self.failed.is_none()
            && self.transaction.is_none()
    }

    /// Replies read so far.
    pub fn replies(&self) -> u64 {
        self.replies
    }

    /// Takes the bytes that wait to be written.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// One reply, where the protocol has one.
    fn take(&mut self, reply: &Reply) {
        // In the middle of the data and after it 421 is an answer to the message too.
        let about_message = matches!(self.phase, Phase::Body | Phase::Answers { .. });
        if reply.is_leaving() && !about_message {
            return self.end_with(reply, Fault::Unavailable);
        }
        match self.phase {
            Phase::Greeting => self.greeted(reply),
            Phase::Hello => self.introduced(reply),
            Phase::StartTls => self.tls_offered(reply),
            Phase::AuthPlain => self.authenticated(reply),
            Phase::AuthLogin { asked } => self.asked(reply, asked),
            Phase::Reset => self.reset(reply),
            Phase::Envelope { .. } => self.path_answered(reply),
            Phase::Data => self.data_answered(reply),
            Phase::Body => self.interrupted(reply),
            Phase::Answers { seen } => self.message_answered(reply, seen),
            Phase::AwaitTls | Phase::Ready | Phase::Closed => self.end(Fault::Protocol),
        }
    }

    /// Whether the server has said something that was not asked for. Taken for the answer to the
    /// next command, it would move all answers by one; so nothing more is asked.
    fn was_interrupted(&mut self) -> bool {
        if self.input.is_empty() {
            return false;
        }
        match reply::read(&self.input) {
            Read::Whole(reply, _) if reply.is_leaving() => {
                self.end_with(&reply, Fault::Unavailable);
            }
            _ => self.end(Fault::Protocol),
        }
        true
    }

    fn write_line(&mut self, line: &str) {
        self.output.extend_from_slice(line.as_bytes());
        self.output.extend_from_slice(b"\r\n");
    }

    /// Ends the connection, and what is in work with it.
    fn end(&mut self, fault: Fault) {
        if let Some(transaction) = &mut self.transaction {
            transaction.fail(fault, None);
        }
        self.phase = Phase::Closed;
        self.input.clear();
    }

    /// As [`Self::end`], with the server's words.
    fn end_with(&mut self, reply: &Reply, fault: Fault) {
        if let Some(transaction) = &mut self.transaction {
            transaction.fail(fault, Some(reply.answer()));
        }
        self.end(fault);
    }
}

// The output may hold a password.
impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("phase", &self.phase)
            .field("tls", &self.tls)
            .field("replies", &self.replies)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
