//! What each command does.

use super::{
    super::{
        Protocol, Recipient,
        command::{self, Command},
        data::Decoder,
        path::Path,
        reply,
    },
    Hello, Phase, Server, Transaction,
};

impl Server {
    /// Runs one command line, its CRLF taken off.
    pub(super) fn run(&mut self, line: &[u8]) {
        let command = match command::parse(line) {
            Ok(command) => command,
            Err(reply::NOT_HTTP) => return self.close_with(reply::NOT_HTTP),
            Err(reply) => return self.refuse(reply),
        };
        if !matches!(
            command,
            Command::Data | Command::Mail(..) | Command::Rcpt(..)
        ) {
            self.idle += 1;
            if self.idle > self.options.idle_commands && command != Command::Quit {
                return self.close_with(reply::TOO_MANY_IDLE);
            }
        }
        match command {
            Command::Data => self.data(),
            Command::Ehlo(name) => self.hello(name, Protocol::Smtp, true),
            Command::Helo(name) => self.hello(name, Protocol::Smtp, false),
            Command::Help => self.reply(reply::HELP),
            Command::Lhlo(name) => self.hello(name, Protocol::Lmtp, true),
            Command::Mail(path, parameters) => self.mail(&path, parameters),
            Command::Noop => self.reply(reply::OK),
            Command::Quit => self.close_with(reply::BYE),
            Command::Rcpt(path, parameters) => self.rcpt(&path, parameters),
            Command::Rset => {
                self.transaction = None;
                self.reply(reply::OK);
            }
            Command::StartTls => self.start_tls(),
            Command::Vrfy => self.reply(reply::NOT_VERIFIED),
        }
    }

    /// EHLO, HELO and LHLO. LMTP has LHLO in place of the two others (RFC 2033 section 4.1).
    fn hello(&mut self, name: &str, protocol: Protocol, extended: bool) {
        if protocol != self.options.protocol {
            return self.refuse(reply::NOT_A_COMMAND);
        }
        self.transaction = None;
        self.hello = Some(Hello {
            name: name.to_owned(),
            extended,
        });
        let hostname = &self.options.hostname;
        if !extended {
            let line = format!("250 {hostname}\r\n");
            return self.output.extend_from_slice(line.as_bytes());
        }
        let size = format!("SIZE {}", self.options.message_bytes);
        let mut lines = vec![hostname.as_str(), "PIPELINING", &size];
        if self.options.starttls && !self.tls {
            lines.push("STARTTLS");
        }
        lines.extend(["ENHANCEDSTATUSCODES", "8BITMIME", "SMTPUTF8"]);
        let last = lines.len() - 1;
        for (at, line) in lines.into_iter().enumerate() {
            let mark = if at == last { ' ' } else { '-' };
            self.output
                .extend_from_slice(format!("250{mark}{line}\r\n").as_bytes());
        }
    }

    fn mail(&mut self, path: &Path<'_>, parameters: &str) {
        let Some(hello) = &self.hello else {
            return self.refuse(reply::HELO_FIRST);
        };
        if self.transaction.is_some() {
            return self.refuse(reply::MAIL_TWICE);
        }
        // Parameters belong to ESMTP (RFC 5321 section 4.1.1.11).
        if !hello.extended && !parameters.is_empty() {
            return self.refuse(reply::PARAMETER_UNKNOWN);
        }
        let mail_from = match path {
            Path::Null => "",
            Path::Local(_) => return self.refuse(reply::BAD_SENDER),
            Path::Mailbox(mailbox) => mailbox.text,
        };
        let parameters = match command::mail_parameters(parameters) {
            Ok(parameters) => parameters,
            Err(reply) => return self.refuse(reply),
        };
        if !parameters.smtputf8 && !mail_from.is_ascii() {
            return self.refuse(reply::NEEDS_UTF8);
        }
        let largest = u64::try_from(self.options.message_bytes).unwrap_or(u64::MAX);
        if parameters.size.is_some_and(|size| size > largest) {
            return self.reply(reply::TOO_LARGE);
        }
        self.transaction = Some(Transaction {
            mail_from: mail_from.to_owned(),
            smtputf8: parameters.smtputf8,
            recipients: Vec::new(),
            accepted: Vec::new(),
        });
        self.reply(reply::SENDER_OK);
    }

    fn rcpt(&mut self, path: &Path<'_>, parameters: &str) {
        let Some(transaction) = &self.transaction else {
            return self.refuse(reply::MAIL_FIRST);
        };
        if let Err(reply) = command::no_parameters(parameters) {
            return self.refuse(reply);
        }
        let recipient = match path {
            Path::Local(word) if word.eq_ignore_ascii_case("postmaster") => Recipient::Postmaster,
            Path::Null | Path::Local(_) => return self.refuse(reply::BAD_RECIPIENT),
            Path::Mailbox(mailbox) if !transaction.smtputf8 && !mailbox.text.is_ascii() => {
                return self.refuse(reply::NEEDS_UTF8);
            }
            Path::Mailbox(mailbox) => match mailbox.deliverable() {
                Some(address) => Recipient::Address(address),
                None => return self.refuse_recipient(reply::UNKNOWN),
            },
        };
        if transaction.accepted.len() >= self.options.recipients {
            return self.reply(reply::TOO_MANY_RECIPIENTS);
        }
        self.phase = Phase::AwaitRecipient(recipient);
    }

    pub(super) fn add_recipient(&mut self, recipient: Recipient) {
        let Some(transaction) = &mut self.transaction else {
            return;
        };
        let known = transaction.recipients.iter().position(|r| *r == recipient);
        let at = known.unwrap_or_else(|| {
            transaction.recipients.push(recipient);
            transaction.recipients.len() - 1
        });
        transaction.accepted.push(at);
    }

    fn data(&mut self) {
        let Some(transaction) = &self.transaction else {
            return self.refuse(reply::MAIL_FIRST);
        };
        if transaction.accepted.is_empty() {
            return self.refuse(reply::NO_RECIPIENTS);
        }
        self.phase = Phase::Data(Decoder::new(self.options.message_bytes));
        self.output.extend_from_slice(reply::START_DATA.as_bytes());
    }

    fn start_tls(&mut self) {
        if self.tls {
            return self.refuse(reply::TLS_ALREADY);
        }
        if !self.options.starttls {
            return self.refuse(reply::NOT_OFFERED);
        }
        self.reply(reply::READY_FOR_TLS);
        self.phase = Phase::AwaitTls;
        // What came in the clear behind the command was put there by whoever sits in between.
        self.forget_input();
    }
}
