//! One connection of the sink.

use std::{io, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    time::sleep,
};
use tokio_rustls::TlsAcceptor;

use super::{Manner, Sink, Stage, Turn};

/// Longest line that is read, bytes.
const LINE_BYTES: usize = 64 * 1024;
/// Longest message, bytes.
const MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// What comes after a conversation.
enum Next {
    Close,
    StartTls,
}

/// Serves one connection to its end, which may be sudden.
pub(super) async fn run(stream: TcpStream, sink: &Sink) -> io::Result<()> {
    let acceptor = sink.tls.clone().map(TlsAcceptor::from);
    if sink.tls_first {
        let Some(acceptor) = acceptor else {
            return Ok(());
        };
        let mut session = Session::new(acceptor.accept(stream).await?, sink, true);
        session.say("220 sink.example ESMTP").await?;
        return session.converse().await.map(drop);
    }
    let mut session = Session::new(stream, sink, false);
    session.say("220 sink.example ESMTP").await?;
    if let (Next::StartTls, Some(acceptor)) = (session.converse().await?, acceptor) {
        let stream = acceptor.accept(session.stream.into_inner()).await?;
        Session::new(stream, sink, true).converse().await?;
    }
    Ok(())
}

struct Session<'a, IO> {
    stream: BufReader<IO>,
    sink: &'a Sink,
    encrypted: bool,
    authenticated: bool,
    has_sender: bool,
    recipients: Vec<String>,
    /// Where the transaction in work is stopped.
    stop: Option<Stage>,
}

impl<'a, IO: AsyncRead + AsyncWrite + Unpin> Session<'a, IO> {
    fn new(stream: IO, sink: &'a Sink, encrypted: bool) -> Self {
        Self {
            stream: BufReader::new(stream),
            sink,
            encrypted,
            authenticated: sink.credentials.is_none(),
            has_sender: false,
            recipients: Vec::new(),
            stop: None,
        }
    }

    async fn converse(&mut self) -> io::Result<Next> {
        while let Some(line) = self.line().await? {
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            let (verb, argument) = line.split_once(' ').unwrap_or((&line, ""));
            match verb.to_ascii_uppercase().as_str() {
                "EHLO" | "LHLO" => self.hello().await?,
                "HELO" | "NOOP" => self.say("250 Ok").await?,
                "STARTTLS" if self.sink.tls.is_some() && !self.encrypted => {
                    self.say("220 Go").await?;
                    return Ok(Next::StartTls);
                }
                "AUTH" if self.encrypted => self.authenticate(argument).await?,
                "MAIL" if !self.authenticated => self.say("530 5.7.0 Log in first").await?,
                "MAIL" => {
                    self.stop = self.sink.stops.as_ref().and_then(|stops| stops.next());
                    self.reach(Stage::Sender).await;
                    self.has_sender = true;
                    self.recipients.clear();
                    self.say("250 2.1.0 Ok").await?;
                }
                "RCPT" if self.has_sender => {
                    if !self.recipient(argument).await? {
                        return Ok(Next::Close);
                    }
                }
                "DATA" if !self.recipients.is_empty() => {
                    if !self.message().await? {
                        return Ok(Next::Close);
                    }
                }
                "RSET" => {
                    self.forget();
                    self.say("250 Ok").await?;
                }
                "QUIT" => {
                    self.say("221 Bye").await?;
                    return Ok(Next::Close);
                }
                _ => self.say("503 5.5.1 Not now, or not here").await?,
            }
        }
        Ok(Next::Close)
    }

    async fn hello(&mut self) -> io::Result<()> {
        let mut lines = vec!["sink.example", "PIPELINING", "8BITMIME", "SMTPUTF8"];
        if self.sink.tls.is_some() && !self.encrypted {
            lines.push("STARTTLS");
        }
        if self.sink.credentials.is_some() && self.encrypted {
            lines.push("AUTH PLAIN LOGIN");
        }
        let mut text = String::new();
        for line in lines {
            text.push_str(&format!("250-{line}\r\n"));
        }
        text.push_str("250 SIZE 67108864");
        self.say(&text).await
    }

    async fn authenticate(&mut self, argument: &str) -> io::Result<()> {
        let (mechanism, initial) = argument.split_once(' ').unwrap_or((argument, ""));
        let given = match mechanism.to_ascii_uppercase().as_str() {
            "PLAIN" => {
                let whole = decoded(initial);
                let mut parts = whole.split('\0').skip(1).map(str::to_owned);
                (
                    parts.next().unwrap_or_default(),
                    parts.next().unwrap_or_default(),
                )
            }
            _ => (
                self.ask("334 VXNlcm5hbWU6").await?,
                self.ask("334 UGFzc3dvcmQ6").await?,
            ),
        };
        self.authenticated = self.sink.credentials.as_ref() == Some(&given);
        match self.authenticated {
            true => self.say("235 2.7.0 Welcome").await,
            false => self.say("535 5.7.8 Wrong user name or password").await,
        }
    }

    async fn ask(&mut self, question: &str) -> io::Result<String> {
        self.say(question).await?;
        let line = self.line().await?.unwrap_or_default();
        Ok(decoded(String::from_utf8_lossy(&line).trim()))
    }

    /// Answers a recipient; false when it closed.
    async fn recipient(&mut self, argument: &str) -> io::Result<bool> {
        self.reach(Stage::Recipient).await;
        let path = argument
            .split_once('<')
            .and_then(|(_, rest)| rest.split_once('>'))
            .map_or("", |(path, _)| path)
            .to_owned();
        let own = self.sink.manner;
        let manner = match Manner::of_recipient(&path) {
            Some(manner) => manner,
            None if own.turn() == Turn::Recipient && self.is_hit() => own,
            None => Manner::Well,
        };
        match manner {
            Manner::Refuse => self.say("550 5.1.1 Nobody").await?,
            Manner::Defer => self.say("451 4.7.1 Later").await?,
            Manner::Greylist if self.sink.ledger.puts_off(&path) => {
                self.say("451 4.7.1 Later").await?;
            }
            Manner::Code(code @ 300..) => {
                self.say(&format!("{code} {}.0.0 As asked", code / 100))
                    .await?;
            }
            Manner::Bye => {
                self.say("421 4.3.2 Bye").await?;
                return Ok(false);
            }
            _ => {
                self.recipients.push(path);
                self.say("250 2.1.5 Ok").await?;
            }
        }
        Ok(true)
    }

    /// Takes a message, or does otherwise; false when it closed.
    async fn message(&mut self) -> io::Result<bool> {
        self.reach(Stage::Data).await;
        self.say("354 Go").await?;
        let asked = self.recipients.iter().find_map(|path| {
            Manner::of_recipient(path).filter(|manner| manner.turn() == Turn::Message)
        });
        let manner = match asked {
            Some(manner) => manner,
            None if self.sink.manner.turn() == Turn::Message && self.is_hit() => self.sink.manner,
            None => Manner::Well,
        };
        if manner == Manner::CutData {
            return Ok(false);
        }
        let Some(message) = self.body(manner).await? else {
            return Ok(false);
        };
        match manner {
            Manner::CutBody => return Ok(false),
            Manner::SoftFail => self.say("451 4.3.0 Not taken").await?,
            Manner::HardFail => self.say("554 5.6.0 Not taken").await?,
            Manner::Early => {
                self.take(&message)?;
                self.say("250 2.0.0 Taken, so far").await?;
                return Ok(false);
            }
            _ => {
                self.take(&message)?;
                self.reach(Stage::Taken).await;
                if !self.answer(manner).await? {
                    return Ok(false);
                }
                self.reach(Stage::Answered).await;
            }
        }
        self.forget();
        Ok(true)
    }

    /// The answer to a message that was taken; false when it closed.
    async fn answer(&mut self, manner: Manner) -> io::Result<bool> {
        match manner {
            Manner::CutAnswer => return Ok(false),
            Manner::HalfAnswer => {
                self.write(b"250 2.").await?;
                return Ok(false);
            }
            Manner::NoAnswer => {
                sleep(self.sink.delay).await;
                return Ok(false);
            }
            Manner::Delay => sleep(self.sink.delay).await,
            Manner::Slow => {
                for byte in b"250 2.0.0 Taken\r\n" {
                    self.write(&[*byte]).await?;
                    sleep(Duration::from_millis(5)).await;
                }
                return Ok(true);
            }
            _ => {}
        }
        self.say("250 2.0.0 Taken").await?;
        Ok(true)
    }

    /// Reads a message to its end, or to where the manner ends it; `None` when the client went.
    async fn body(&mut self, manner: Manner) -> io::Result<Option<Vec<u8>>> {
        let mut message = Vec::new();
        while let Some(line) = self.line().await? {
            if line == b".\r\n" {
                return Ok(Some(message));
            }
            message.extend_from_slice(line.strip_prefix(b".").unwrap_or(&line));
            if line == b"\r\n" {
                self.reach(Stage::Body).await;
            }
            let goes_no_further = matches!(manner, Manner::CutBody | Manner::Early);
            if message.len() > MESSAGE_BYTES || (goes_no_further && line == b"\r\n") {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    fn take(&self, message: &[u8]) -> io::Result<()> {
        self.sink.ledger.take(message, &self.recipients)
    }

    /// Whether the sink's own manner is for this time.
    fn is_hit(&self) -> bool {
        self.sink
            .ledger
            .begin()
            .is_multiple_of(self.sink.every.max(1))
    }

    /// Stops here, when the transaction in work is to be stopped here; once.
    async fn reach(&mut self, stage: Stage) {
        if let (Some(stops), true) = (&self.sink.stops, self.stop == Some(stage)) {
            self.stop = None;
            stops.hold(stage).await;
        }
    }

    fn forget(&mut self) {
        self.has_sender = false;
        self.recipients.clear();
    }

    async fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut limited = tokio::io::AsyncReadExt::take(&mut self.stream, LINE_BYTES as u64);
        limited.read_until(b'\n', &mut line).await?;
        Ok(line.ends_with(b"\n").then_some(line))
    }

    async fn say(&mut self, text: &str) -> io::Result<()> {
        self.write(format!("{text}\r\n").as_bytes()).await
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }
}

fn decoded(text: &str) -> String {
    let bytes = BASE64_STANDARD.decode(text).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
