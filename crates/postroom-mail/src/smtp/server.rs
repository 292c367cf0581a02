//! The server's side of one connection.
//!
//! Bytes go in with [`Server::receive`]; [`Server::poll`] works through them until it needs
//! something from outside and says what, as an [`Action`]. Replies collect in the output, which is
//! to be written before anything is waited for.

mod run;

use postroom_types::{Tainted, limit};

use super::{
    Envelope, Incoming, MessageAnswer, Protocol, Recipient, RecipientAnswer,
    data::{Decoder, Fault, Progress},
    reply::{self, Reply},
};

/// What a listener offers, and its bounds.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The name in the banner and in the answer to EHLO.
    pub hostname: String,
    /// SMTP or LMTP.
    pub protocol: Protocol,
    /// Whether STARTTLS is offered.
    pub starttls: bool,
    /// Largest message, bytes ([`limit::RAW_MAIL_BYTES`]).
    pub message_bytes: usize,
    /// Recipients of one transaction ([`limit::SMTP_RECIPIENTS`]).
    pub recipients: usize,
    /// Commands of one connection that may be refused ([`limit::SMTP_BAD_COMMANDS`]).
    pub bad_commands: usize,
    /// Recipients of one connection that may be refused ([`limit::SMTP_REFUSED_RECIPIENTS`]).
    pub refused_recipients: usize,
    /// Commands in a row that bring no mail ([`limit::SMTP_IDLE_COMMANDS`]).
    pub idle_commands: usize,
}

impl ServerOptions {
    /// The bounds of the limits table, without STARTTLS.
    pub fn new(hostname: impl Into<String>, protocol: Protocol) -> Self {
        Self {
            hostname: hostname.into(),
            protocol,
            starttls: false,
            message_bytes: limit::RAW_MAIL_BYTES,
            recipients: limit::SMTP_RECIPIENTS,
            bad_commands: limit::SMTP_BAD_COMMANDS,
            refused_recipients: limit::SMTP_REFUSED_RECIPIENTS,
            idle_commands: limit::SMTP_IDLE_COMMANDS,
        }
    }
}

/// What the server needs next. Whatever it is, the output is to be written first.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// More bytes: [`Server::receive`].
    Read,
    /// Whether mail for this recipient is taken: [`Server::answer_recipient`].
    Recipient(Recipient),
    /// The message stored and synced: [`Server::answer_message`].
    Message(Box<Incoming>),
    /// A TLS handshake: [`Server::tls_established`]. All bytes received before are forgotten.
    StartTls,
    /// The connection closed.
    Close,
}

/// What kind of input is being waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expecting {
    /// The first or further bytes of a command.
    Command,
    /// Further bytes of a message.
    Data,
}

/// One connection.
#[derive(Debug)]
pub struct Server {
    options: ServerOptions,
    phase: Phase,
    input: Vec<u8>,
    /// How much of `input` is done with.
    consumed: usize,
    output: Vec<u8>,
    hello: Option<Hello>,
    tls: bool,
    transaction: Option<Transaction>,
    bad: usize,
    refused: usize,
    idle: usize,
    steps: u64,
}

#[derive(Debug)]
enum Phase {
    Command,
    /// The rest of a line that was too long.
    LongLine,
    Data(Decoder),
    AwaitRecipient(Recipient),
    AwaitMessage(Vec<usize>),
    AwaitTls,
    Closed,
}

#[derive(Debug)]
struct Hello {
    name: String,
    /// EHLO or LHLO: parameters are allowed.
    extended: bool,
}

#[derive(Debug)]
struct Transaction {
    mail_from: String,
    smtputf8: bool,
    recipients: Vec<Recipient>,
    /// For each accepted `RCPT TO`, its place in `recipients`: LMTP answers each of them.
    accepted: Vec<usize>,
}

impl Server {
    /// A new connection; the banner waits in the output.
    pub fn new(options: ServerOptions) -> Self {
        let protocol = match options.protocol {
            Protocol::Smtp => "ESMTP",
            Protocol::Lmtp => "LMTP",
        };
        let output = format!("220 {} {protocol}\r\n", options.hostname).into_bytes();
        Self {
            options,
            phase: Phase::Command,
            input: Vec::new(),
            consumed: 0,
            output,
            hello: None,
            tls: false,
            transaction: None,
            bad: 0,
            refused: 0,
            idle: 0,
            steps: 0,
        }
    }

    /// Takes bytes from the client. They are kept until [`Self::poll`] has worked through them, so
    /// give more only when it asks: then at most one line is left of what came before.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.input.drain(..self.consumed.min(self.input.len()));
        self.consumed = 0;
        self.input.extend_from_slice(bytes);
    }

    /// Works on until something is needed from outside. An action that was not answered yet is
    /// given again, a message excepted.
    pub fn poll(&mut self) -> Action {
        loop {
            let done = match &mut self.phase {
                Phase::Command => self.read_line(),
                Phase::LongLine => self.skip_line(),
                Phase::Data(_) => self.read_data(),
                Phase::AwaitRecipient(recipient) => {
                    return Action::Recipient(recipient.clone());
                }
                Phase::AwaitMessage(_) => return Action::Read,
                Phase::AwaitTls => return Action::StartTls,
                Phase::Closed => return Action::Close,
            };
            match done {
                Step::Again => {}
                Step::Need(action) => return action,
            }
        }
    }

    /// Answers [`Action::Recipient`].
    pub fn answer_recipient(&mut self, answer: RecipientAnswer) {
        let phase = std::mem::replace(&mut self.phase, Phase::Command);
        let Phase::AwaitRecipient(recipient) = phase else {
            self.phase = phase;
            return;
        };
        if answer == RecipientAnswer::Accepted {
            self.add_recipient(recipient);
        } else if answer != RecipientAnswer::Unavailable {
            return self.refuse_recipient(answer.into());
        }
        self.reply(answer.into());
    }

    /// Answers [`Action::Message`]. SMTP takes one answer for all recipients together; LMTP one for
    /// each of [`Envelope::recipients`] in their order. An answer that is missing counts as
    /// [`MessageAnswer::Unavailable`].
    pub fn answer_message(&mut self, answers: &[MessageAnswer]) {
        let phase = std::mem::replace(&mut self.phase, Phase::Command);
        let Phase::AwaitMessage(accepted) = phase else {
            self.phase = phase;
            return;
        };
        if answers.contains(&MessageAnswer::Stored) {
            self.idle = 0;
        }
        let answer_at = |at: usize| *answers.get(at).unwrap_or(&MessageAnswer::Unavailable);
        match self.options.protocol {
            Protocol::Smtp => self.reply(answer_at(0).into()),
            Protocol::Lmtp => {
                for at in accepted {
                    self.reply(answer_at(at).into());
                }
            }
        }
    }

    /// Answers [`Action::StartTls`]: the client has to introduce itself again, and nothing it said
    /// in the clear is remembered (RFC 3207 section 4.2).
    pub fn tls_established(&mut self) {
        if matches!(self.phase, Phase::AwaitTls) {
            self.phase = Phase::Command;
            self.tls = true;
            self.forget_input();
            self.hello = None;
            self.transaction = None;
        }
    }

    /// Says 421 and closes: the client took too long.
    pub fn time_out(&mut self) {
        self.close_with(reply::TIMED_OUT);
    }

    /// Says 421 and closes: the process is going to end.
    pub fn shut_down(&mut self) {
        self.close_with(reply::SHUTTING_DOWN);
    }

    /// Lets go of the message that is being received; its end is answered with 452 4.3.1.
    pub fn refuse_for_space(&mut self) {
        if let Phase::Data(decoder) = &mut self.phase {
            decoder.refuse(Fault::NoSpace);
        }
    }

    /// Bytes of the message that is being received.
    pub fn held_bytes(&self) -> usize {
        match &self.phase {
            Phase::Data(decoder) => decoder.held_bytes(),
            _ => 0,
        }
    }

    /// What kind of input comes next.
    pub fn expecting(&self) -> Expecting {
        match self.phase {
            Phase::Data(_) => Expecting::Data,
            _ => Expecting::Command,
        }
    }

    /// Whether no command is half received and no message is open: a good moment to end.
    pub fn is_between_commands(&self) -> bool {
        matches!(self.phase, Phase::Command) && self.consumed >= self.input.len()
    }

    /// Commands and messages worked through; a client that waits without making it grow is slow.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Takes the replies that wait to be written.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }
}

/// What a turn of [`Server::poll`] came to.
enum Step {
    Again,
    Need(Action),
}

/// How a line in the input ends.
enum Line {
    /// At CRLF; this many bytes come before it.
    Whole(usize),
    /// At a CR or LF that is no CRLF.
    Bare,
    /// Not yet.
    Open,
    /// Longer than a line may be.
    Long,
}

fn find_line(input: &[u8]) -> Line {
    let window = input.get(..limit::SMTP_LINE_BYTES).unwrap_or(input);
    let Some(at) = window.iter().position(|byte| matches!(byte, b'\r' | b'\n')) else {
        return if input.len() < limit::SMTP_LINE_BYTES {
            Line::Open
        } else {
            Line::Long
        };
    };
    match (window.get(at), window.get(at + 1)) {
        (Some(b'\r'), Some(b'\n')) => Line::Whole(at),
        (Some(b'\r'), None) if input.len() < limit::SMTP_LINE_BYTES => Line::Open,
        (Some(b'\r'), None) => Line::Long,
        _ => Line::Bare,
    }
}

impl Server {
    fn read_line(&mut self) -> Step {
        let rest = self.input.get(self.consumed..).unwrap_or_default();
        match find_line(rest) {
            Line::Open => return Step::Need(Action::Read),
            Line::Long => {
                self.phase = Phase::LongLine;
            }
            Line::Bare => self.close_with(reply::BARE_LINE_END),
            Line::Whole(length) => {
                let line = rest.get(..length).unwrap_or_default().to_vec();
                self.consumed += length + 2;
                self.steps += 1;
                self.run(&line);
            }
        }
        Step::Again
    }

    /// Drops what is left of a line that was too long.
    fn skip_line(&mut self) -> Step {
        let rest = self.input.get(self.consumed..).unwrap_or_default();
        let Some(at) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) else {
            self.forget_input();
            return Step::Need(Action::Read);
        };
        match (rest.get(at), rest.get(at + 1)) {
            (Some(b'\r'), None) => {
                self.consumed += at;
                return Step::Need(Action::Read);
            }
            (Some(b'\r'), Some(b'\n')) => {
                self.consumed += at + 2;
                self.steps += 1;
                self.phase = Phase::Command;
                self.refuse(reply::LINE_TOO_LONG);
            }
            _ => self.close_with(reply::BARE_LINE_END),
        }
        Step::Again
    }

    fn read_data(&mut self) -> Step {
        let rest = self.input.get(self.consumed..).unwrap_or_default();
        let Phase::Data(decoder) = &mut self.phase else {
            return Step::Again;
        };
        match decoder.push(rest) {
            Progress::More => {
                self.forget_input();
                Step::Need(Action::Read)
            }
            Progress::End(length) => {
                self.consumed += length;
                self.steps += 1;
                self.end_data()
            }
            Progress::Endless => {
                self.close_with(reply::TOO_LARGE);
                Step::Again
            }
        }
    }

    fn end_data(&mut self) -> Step {
        let phase = std::mem::replace(&mut self.phase, Phase::Command);
        let (Phase::Data(decoder), Some(transaction)) = (phase, self.transaction.take()) else {
            return Step::Again;
        };
        let Transaction {
            mail_from,
            smtputf8,
            recipients,
            accepted,
        } = transaction;
        match decoder.finish() {
            Ok(raw) => {
                let envelope = Envelope {
                    mail_from: Tainted::new(mail_from),
                    recipients,
                    helo: Tainted::new(self.hello.as_ref().map_or("", |hello| &hello.name)),
                    protocol: self.options.protocol,
                    tls: self.tls,
                    smtputf8,
                };
                self.phase = Phase::AwaitMessage(accepted);
                Step::Need(Action::Message(Box::new(Incoming { envelope, raw })))
            }
            Err(fault) => {
                let reply = match fault {
                    Fault::BareLineEnd => reply::BARE_IN_DATA,
                    Fault::NoSpace => reply::NO_SPACE,
                    Fault::TooLarge => reply::TOO_LARGE,
                };
                let times = match self.options.protocol {
                    Protocol::Smtp => 1,
                    Protocol::Lmtp => accepted.len(),
                };
                for _ in 0..times {
                    self.reply(reply);
                }
                Step::Again
            }
        }
    }

    fn forget_input(&mut self) {
        self.input.clear();
        self.consumed = 0;
    }

    fn reply(&mut self, reply: Reply) {
        reply.write(&mut self.output);
    }

    /// Refuses a command and counts it.
    fn refuse(&mut self, reply: Reply) {
        self.bad += 1;
        if self.bad > self.options.bad_commands {
            return self.close_with(reply::TOO_MANY_ERRORS);
        }
        self.reply(reply);
    }

    /// Refuses a recipient for good and counts it: who tries names until one fits is not sending
    /// mail.
    fn refuse_recipient(&mut self, reply: Reply) {
        self.refused += 1;
        if self.refused > self.options.refused_recipients {
            return self.close_with(reply::TOO_MANY_UNKNOWN);
        }
        self.reply(reply);
    }

    fn close_with(&mut self, reply: Reply) {
        if !matches!(self.phase, Phase::Closed) {
            self.reply(reply);
            self.phase = Phase::Closed;
            self.forget_input();
            self.transaction = None;
        }
    }
}
