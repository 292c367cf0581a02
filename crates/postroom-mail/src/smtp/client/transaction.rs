//! One message: MAIL, RCPT for each recipient, DATA, the message and its answers.

use bytes::Bytes;

use super::{
    super::Protocol,
    Action, Answer, Client, Envelope, Fate, Fault, Outcome, Phase, Submission,
    body::{self, Body, Needs},
    extensions::Extensions,
    reply::{Class, Reply},
};

/// A message in work.
#[derive(Debug)]
pub(super) struct Transaction {
    envelope: Envelope,
    message_bytes: usize,
    /// `None` for a message that may go to nobody.
    needs: Option<Needs>,
    body: Body,
    /// One for each recipient; those that are empty are still open.
    outcomes: Vec<Option<Outcome>>,
    /// What the server said to MAIL, when it refused.
    sender_refused: Option<Outcome>,
    handed_over: bool,
    fault: Option<Fault>,
    queue_id: Option<String>,
}

impl Transaction {
    pub(super) fn new(envelope: Envelope, message: Bytes) -> Self {
        Self {
            outcomes: vec![None; envelope.recipients().len()],
            message_bytes: message.len(),
            needs: body::look_through(&message),
            body: Body::new(message),
            envelope,
            sender_refused: None,
            handed_over: false,
            fault: None,
            queue_id: None,
        }
    }

    /// Whether there is nothing left to learn.
    pub(super) fn is_over(&self) -> bool {
        self.outcomes.iter().all(Option::is_some)
    }

    /// Ends everybody whose outcome is open as the fault has it: what may have been handed over is
    /// uncertain, what was not may be tried again.
    pub(super) fn fail(&mut self, fault: Fault, answer: Option<Answer>) {
        if self.is_over() {
            return;
        }
        let fate = match (self.handed_over, fault.is_permanent()) {
            (true, _) => Fate::Uncertain,
            (false, true) => Fate::Refused,
            (false, false) => Fate::Retry,
        };
        self.fault.get_or_insert(fault);
        self.settle_open(&Outcome { fate, answer });
    }

    pub(super) fn into_submission(self) -> Submission {
        Submission {
            recipients: self.outcomes.into_iter().flatten().collect(),
            fault: self.fault,
            handed_over: self.handed_over,
            provider_message_id: self.queue_id,
        }
    }

    fn settle_open(&mut self, outcome: &Outcome) {
        for open in self.outcomes.iter_mut().filter(|known| known.is_none()) {
            *open = Some(outcome.clone());
        }
    }

    /// The command at a place of the envelope: MAIL, then the recipients.
    fn command(&self, at: usize, extensions: Extensions) -> Option<String> {
        let Some(recipient) = at.checked_sub(1) else {
            return Some(self.mail_command(extensions));
        };
        let path = self.envelope.recipients().get(recipient)?;
        Some(format!("RCPT TO:<{path}>"))
    }

    fn mail_command(&self, extensions: Extensions) -> String {
        let mut command = format!("MAIL FROM:<{}>", self.envelope.mail_from());
        if extensions.size {
            command.push_str(&format!(" SIZE={}", self.message_bytes));
        }
        if extensions.eight_bit && self.needs.is_some_and(|needs| needs.eight_bit) {
            command.push_str(" BODY=8BITMIME");
        }
        if self.envelope.needs_utf8() || self.needs.is_some_and(|needs| needs.utf8) {
            command.push_str(" SMTPUTF8");
        }
        command
    }

    /// Why the message cannot go to a server with these extensions.
    fn obstacle(&self, extensions: Extensions) -> Option<Fault> {
        let Some(needs) = self.needs else {
            return Some(Fault::Malformed);
        };
        let utf8 = needs.utf8 || self.envelope.needs_utf8();
        if (needs.eight_bit && !extensions.eight_bit) || (utf8 && !extensions.utf8) {
            return Some(Fault::ExtensionMissing);
        }
        let bytes = u64::try_from(self.message_bytes).unwrap_or(u64::MAX);
        extensions
            .most_bytes
            .is_some_and(|most| bytes > most)
            .then_some(Fault::TooLarge)
    }
}

/// What a refusal comes to for whom it is about.
fn refusal(reply: &Reply) -> Outcome {
    let fate = match reply.class() {
        Class::Never => Fate::Refused,
        Class::Done | Class::GoOn | Class::NotNow => Fate::Retry,
    };
    Outcome {
        fate,
        answer: Some(reply.answer()),
    }
}

impl Client {
    /// Begins the message that was given.
    pub(super) fn begin(&mut self) {
        let Some(transaction) = &mut self.transaction else {
            return;
        };
        if let Some(fault) = transaction.obstacle(self.extensions) {
            // The connection is as good as before.
            return transaction.fail(fault, None);
        }
        if self.dirty {
            self.write_line("RSET");
            self.phase = Phase::Reset;
            return;
        }
        self.phase = Phase::Envelope {
            written: 0,
            answered: 0,
        };
        self.write_paths();
    }

    pub(super) fn reset(&mut self, reply: &Reply) {
        if reply.class() != Class::Done {
            return self.end(Fault::Protocol);
        }
        if !self.was_interrupted() {
            self.dirty = false;
            self.begin();
        }
    }

    /// Writes the next command of the envelope, or all of them where the server takes them
    /// together (RFC 2920). DATA is not among them: with nobody accepted it would have to be
    /// followed by a message to nobody.
    fn write_paths(&mut self) {
        let Phase::Envelope {
            mut written,
            answered,
        } = self.phase
        else {
            return;
        };
        let pipelining = self.extensions.pipelining;
        while written == answered || pipelining {
            let command = self
                .transaction
                .as_ref()
                .and_then(|transaction| transaction.command(written, self.extensions));
            let Some(command) = command else { break };
            self.write_line(&command);
            written += 1;
        }
        self.phase = Phase::Envelope { written, answered };
    }

    pub(super) fn path_answered(&mut self, reply: &Reply) {
        let Phase::Envelope {
            written,
            answered: at,
        } = self.phase
        else {
            return;
        };
        let Some(transaction) = &mut self.transaction else {
            return self.end(Fault::Protocol);
        };
        match reply.class() {
            Class::Done => {}
            Class::GoOn => return self.end(Fault::Protocol),
            // A message is not refused for what the operator has to set right (RFC 4954
            // section 6): it waits.
            _ if reply.code == 530 => return self.end_with(reply, Fault::AuthRefused),
            Class::NotNow | Class::Never => match at.checked_sub(1) {
                None => transaction.sender_refused = Some(refusal(reply)),
                Some(recipient) => {
                    if let Some(outcome) = transaction.outcomes.get_mut(recipient) {
                        *outcome = Some(refusal(reply));
                    }
                }
            },
        }
        let answered = at + 1;
        self.phase = Phase::Envelope { written, answered };
        if answered < written {
            return;
        }
        let sender_refused = transaction.sender_refused.clone();
        let all = answered > transaction.outcomes.len();
        if sender_refused.is_none() && !all {
            if !self.was_interrupted() {
                self.write_paths();
            }
            return;
        }
        // Whom the server said what to is of no matter where it does not take the sender.
        if let Some(outcome) = sender_refused {
            transaction.outcomes.fill(Some(outcome));
        }
        if transaction.is_over() {
            self.dirty = true;
            self.phase = Phase::Ready;
        } else if !self.was_interrupted() {
            self.write_line("DATA");
            self.phase = Phase::Data;
        }
    }

    pub(super) fn data_answered(&mut self, reply: &Reply) {
        match reply.class() {
            Class::GoOn if reply.code == 354 => {
                // An answer to the message before the message is none.
                if !self.was_interrupted() {
                    self.phase = Phase::Body;
                }
            }
            Class::Done | Class::GoOn => self.end(Fault::Protocol),
            Class::NotNow | Class::Never => {
                self.settle(&refusal(reply));
                self.dirty = true;
                self.phase = Phase::Ready;
            }
        }
    }

    /// The next piece of the message, or its end.
    pub(super) fn write_more(&mut self) -> Action {
        let Some(transaction) = &mut self.transaction else {
            return Action::Close;
        };
        // What was not taken yet has not left, so nothing is put behind it: the end of the data
        // has to be the only thing whose taking decides.
        if self.output.is_empty() {
            if transaction.body.is_empty() {
                transaction.body.write_end(&mut self.output);
                transaction.handed_over = true;
                self.phase = Phase::Answers { seen: 0 };
                return Action::Read;
            }
            transaction.body.write_piece(&mut self.output);
        }
        Action::Write
    }

    /// A reply in the middle of the message. The server wants no more of it and says why, or says
    /// that it has what it cannot have; the two sides do not agree any more on where they are.
    pub(super) fn interrupted(&mut self, reply: &Reply) {
        match reply.class() {
            Class::NotNow | Class::Never => self.settle(&refusal(reply)),
            Class::Done | Class::GoOn => {
                if let Some(transaction) = &mut self.transaction {
                    transaction.handed_over = true;
                }
            }
        }
        self.end(Fault::Protocol);
    }

    /// The server's last word: with SMTP one for all who are open, with LMTP one for each.
    pub(super) fn message_answered(&mut self, reply: &Reply, seen: usize) {
        let outcome = match reply.class() {
            Class::Done => Outcome {
                fate: Fate::Accepted,
                answer: Some(reply.answer()),
            },
            Class::GoOn => return self.end(Fault::Protocol),
            Class::NotNow | Class::Never => refusal(reply),
        };
        let Some(transaction) = &mut self.transaction else {
            return self.end(Fault::Protocol);
        };
        if reply.class() == Class::Done {
            let queue_id = || reply.queue_id();
            transaction.queue_id = transaction.queue_id.take().or_else(queue_id);
        }
        match self.options.protocol {
            Protocol::Smtp => transaction.settle_open(&outcome),
            Protocol::Lmtp => {
                let next = transaction
                    .outcomes
                    .iter_mut()
                    .find(|known| known.is_none());
                if let Some(open) = next {
                    *open = Some(outcome);
                }
            }
        }
        if !transaction.is_over() {
            self.phase = Phase::Answers { seen: seen + 1 };
        } else if reply.is_leaving() || !self.input.is_empty() {
            self.end(Fault::Unavailable);
        } else {
            self.phase = Phase::Ready;
        }
    }

    fn settle(&mut self, outcome: &Outcome) {
        if let Some(transaction) = &mut self.transaction {
            transaction.settle_open(outcome);
        }
    }
}
