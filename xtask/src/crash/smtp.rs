//! A sender that remembers what was acknowledged.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Result, ensure};
use sha2::{Digest, Sha256};

use super::server::RECIPIENT;

/// A connection that speaks SMTP.
pub(crate) struct Client {
    reader: BufReader<TcpStream>,
    stream: TcpStream,
}

impl Client {
    /// Connects and greets.
    pub(crate) fn connect(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        stream.set_nodelay(true)?;
        let mut this = Self {
            reader: BufReader::new(stream.try_clone()?),
            stream,
        };
        this.expect("220")?;
        this.command("EHLO harness.example", "250")?;
        Ok(this)
    }

    /// Sends one mail; returns after its 250.
    pub(crate) fn send(&mut self, mail: &str) -> Result<()> {
        self.send_to(RECIPIENT, mail)
    }

    /// Sends one mail to somebody else.
    pub(crate) fn send_to(&mut self, recipient: &str, mail: &str) -> Result<()> {
        self.command("MAIL FROM:<sender@elsewhere.example>", "250")?;
        self.command(&format!("RCPT TO:<{recipient}>"), "250")?;
        self.command("DATA", "354")?;
        self.stream.write_all(format!("{mail}.\r\n").as_bytes())?;
        self.expect("250")
    }

    fn command(&mut self, line: &str, code: &str) -> Result<()> {
        self.stream.write_all(format!("{line}\r\n").as_bytes())?;
        self.expect(code)
    }

    fn expect(&mut self, code: &str) -> Result<()> {
        loop {
            let mut line = String::new();
            ensure!(
                self.reader.read_line(&mut line)? > 0,
                "the server closed the connection"
            );
            ensure!(line.starts_with(code), "expected {code}, got {line:?}");
            if line.as_bytes().get(3) != Some(&b'-') {
                return Ok(());
            }
        }
    }
}

/// A mail whose text is unlike any other's.
pub(crate) fn mail(name: &str) -> String {
    format!(
        "From: Sender <sender@elsewhere.example>\r\nTo: <{RECIPIENT}>\r\nSubject: kill {name}\r\nMessage-ID: <{name}@elsewhere.example>\r\n\
         Date: Mon, 30 Nov 2026 12:00:00 +0000\r\n\r\nText of {name}.\r\n{}\r\n",
        "A line that makes the mail as long as mails are.\r\n".repeat(40)
    )
}

/// Sends mail after mail until told to stop or the connection breaks; notes each acknowledged content.
pub(crate) fn send_until_stopped(
    address: &str,
    name: &str,
    stop: &AtomicBool,
    acknowledged: &Mutex<BTreeSet<String>>,
) {
    let Ok(mut client) = Client::connect(address) else {
        return;
    };
    for number in 0..100_000 {
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let mail = mail(&format!("{name}-{number}"));
        if client.send(&mail).is_err() {
            return;
        }
        if let Ok(mut acknowledged) = acknowledged.lock() {
            acknowledged.insert(digest(&mail));
        }
    }
}

/// The digest of a mail's bytes, as the database shows it.
fn digest(mail: &str) -> String {
    Sha256::digest(mail.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect()
}
