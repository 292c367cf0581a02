//! Listeners over loopback sockets, with a sink that keeps mail in memory.
#![expect(clippy::expect_used, reason = "what fails here fails the test")]

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use postroom_net::{
    NetError,
    smtp::{
        Arrival, MailSink, MessageAnswer, Protocol, Recipient, RecipientAnswer, RecipientQuery,
        SmtpLimits, SmtpOptions, serve,
    },
    tls,
};
use rustls::{
    ClientConfig, DigitallySignedStruct, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// Keeps mail for every address at `here.example` but a few.
#[derive(Default)]
struct Memory {
    kept: Mutex<Vec<Arrival>>,
    /// When there, a message is stored only once this is notified.
    gate: Option<Arc<Notify>>,
    /// Told when a message waits at the gate.
    waiting: Notify,
}

impl MailSink for Memory {
    async fn recipient(&self, query: &RecipientQuery) -> RecipientAnswer {
        let Recipient::Address(address) = &query.recipient else {
            return RecipientAnswer::Accepted;
        };
        match (address.local(), address.domain()) {
            ("nobody", "here.example") => RecipientAnswer::Unknown,
            ("later", "here.example") => RecipientAnswer::Unavailable,
            (_, "here.example") => RecipientAnswer::Accepted,
            _ => RecipientAnswer::Unknown,
        }
    }

    async fn receive(&self, arrival: Arrival) -> MessageAnswer {
        if let Some(gate) = &self.gate {
            self.waiting.notify_one();
            gate.notified().await;
        }
        let is_full = |recipient: &Recipient| match recipient {
            Recipient::Address(address) => address.local() == "full",
            Recipient::Postmaster => false,
        };
        if arrival.envelope.recipients.iter().any(is_full) {
            return MessageAnswer::Unavailable;
        }
        self.kept.lock().expect("lock").push(arrival);
        MessageAnswer::Stored
    }
}

/// A listener on a free port.
struct World {
    address: SocketAddr,
    sink: Arc<Memory>,
    shutdown: CancellationToken,
    served: JoinHandle<Result<(), NetError>>,
}

impl World {
    async fn start(options: SmtpOptions, sink: Memory) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("address");
        let sink = Arc::new(sink);
        let shutdown = CancellationToken::new();
        let served = tokio::spawn(serve(
            listener,
            options,
            Arc::clone(&sink),
            shutdown.clone(),
        ));
        Self {
            address,
            sink,
            shutdown,
            served,
        }
    }

    async fn smtp() -> Self {
        Self::start(smtp(), Memory::default()).await
    }

    async fn connect(&self) -> Client<TcpStream> {
        let stream = TcpStream::connect(self.address).await.expect("connect");
        Client::new(stream)
    }

    fn kept(&self) -> Vec<Arrival> {
        self.sink.kept.lock().expect("lock").clone()
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.served.await.expect("task").expect("served");
    }
}

fn smtp() -> SmtpOptions {
    SmtpOptions::new("mail.example", Protocol::Smtp)
}

struct Client<IO> {
    stream: BufReader<IO>,
}

impl<IO: AsyncRead + AsyncWrite + Unpin> Client<IO> {
    fn new(stream: IO) -> Self {
        Self {
            stream: BufReader::new(stream),
        }
    }

    async fn send(&mut self, text: impl AsRef<[u8]>) {
        self.stream.write_all(text.as_ref()).await.expect("write");
        self.stream.flush().await.expect("flush");
    }

    /// One whole reply, its lines without CRLF; empty when the server has closed.
    async fn reply(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).await.expect("read");
            let Some(line) = line.strip_suffix("\r\n") else {
                return lines;
            };
            lines.push(line.to_owned());
            if line.as_bytes().get(3) != Some(&b'-') {
                return lines;
            }
        }
    }

    async fn expect(&mut self, start: &str) {
        let reply = self.reply().await.join("|");
        assert!(reply.starts_with(start), "{reply:?} instead of {start:?}");
    }

    async fn say(&mut self, line: &str, start: &str) {
        self.send(format!("{line}\r\n")).await;
        self.expect(start).await;
    }

    /// From the banner to where data begins.
    async fn begin(&mut self, recipient: &str) {
        self.expect("220 ").await;
        self.say("EHLO client.example", "250-").await;
        self.say("MAIL FROM:<a@sender.example>", "250 2.1.0").await;
        self.say(&format!("RCPT TO:<{recipient}>"), "250 2.1.5")
            .await;
        self.say("DATA", "354 ").await;
    }
}

#[tokio::test]
async fn a_mail_arrives_with_its_envelope_and_its_very_bytes() {
    let world = World::smtp().await;
    let mut client = world.connect().await;
    client.begin("Alice+x@here.example").await;
    let raw = b"Subject: \xff\r\n\r\n..dots\r\n".to_vec();
    client.send([raw.as_slice(), b".\r\n"].concat()).await;
    client.expect("250 2.0.0").await;
    client.say("QUIT", "221 ").await;
    assert!(client.reply().await.is_empty());
    let kept = world.kept();
    let arrival = &kept[0];
    assert_eq!(arrival.raw, b"Subject: \xff\r\n\r\n.dots\r\n".as_slice());
    assert_eq!(arrival.envelope.mail_from.expose(), "a@sender.example");
    assert_eq!(arrival.envelope.helo.expose(), "client.example");
    assert_eq!(arrival.client.ip().to_string(), "127.0.0.1");
    let Recipient::Address(address) = &arrival.envelope.recipients[0] else {
        panic!("an address");
    };
    assert_eq!(address.base(), "alice@here.example");
    assert_eq!(address.detail(), Some("x"));
    drop(client);
    world.stop().await;
}

#[tokio::test]
async fn nothing_is_acknowledged_before_it_is_stored() {
    let gate = Arc::new(Notify::new());
    let sink = Memory {
        gate: Some(Arc::clone(&gate)),
        ..Memory::default()
    };
    let world = World::start(smtp(), sink).await;
    let mut client = world.connect().await;
    client.begin("alice@here.example").await;
    client.send("x\r\n.\r\n").await;
    world.sink.waiting.notified().await;
    let mut byte = [0; 1];
    let socket = client.stream.get_ref();
    let nothing = socket.try_read(&mut byte).expect_err("no reply yet");
    assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
    gate.notify_one();
    client.expect("250 2.0.0").await;
    drop(client);
    world.stop().await;
}

#[tokio::test]
async fn a_message_whose_client_has_gone_is_stored_all_the_same() {
    let gate = Arc::new(Notify::new());
    let sink = Memory {
        gate: Some(Arc::clone(&gate)),
        ..Memory::default()
    };
    let world = World::start(smtp(), sink).await;
    let mut client = world.connect().await;
    client.begin("alice@here.example").await;
    client.send("x\r\n.\r\n").await;
    world.sink.waiting.notified().await;
    drop(client);
    gate.notify_one();
    let sink = Arc::clone(&world.sink);
    world.stop().await;
    assert_eq!(sink.kept.lock().expect("lock").len(), 1);
}

#[tokio::test]
async fn a_hundred_mails_in_one_write_get_their_replies_in_order() {
    let world = World::smtp().await;
    let mut client = world.connect().await;
    let mut wire = b"EHLO client.example\r\n".to_vec();
    for number in 0..100 {
        wire.extend_from_slice(
            format!(
                "MAIL FROM:<a@sender.example>\r\nRCPT TO:<nobody@here.example>\r\n\
                 RCPT TO:<alice@here.example>\r\nDATA\r\nSubject: {number}\r\n.\r\n"
            )
            .as_bytes(),
        );
    }
    wire.extend_from_slice(b"QUIT\r\n");
    let expected = ["250 2.1.0", "550 5.1.1", "250 2.1.5", "354 ", "250 2.0.0"];
    client.send(wire).await;
    client.expect("220 ").await;
    client.expect("250-mail.example").await;
    for _ in 0..100 {
        for start in expected {
            client.expect(start).await;
        }
    }
    client.expect("221 ").await;
    let subjects: Vec<_> = world.kept().iter().map(|mail| mail.raw.clone()).collect();
    let sent: Vec<_> = (0..100).map(|n| format!("Subject: {n}\r\n")).collect();
    assert_eq!(subjects, sent);
    drop(client);
    world.stop().await;
}

#[tokio::test]
async fn lmtp_answers_each_recipient_and_hands_over_each_by_itself() {
    let options = SmtpOptions::new("mail.example", Protocol::Lmtp);
    let world = World::start(options, Memory::default()).await;
    let mut client = world.connect().await;
    client.expect("220 mail.example LMTP").await;
    client.say("LHLO client.example", "250-mail.example").await;
    client.say("MAIL FROM:<>", "250 2.1.0").await;
    for name in ["alice", "full", "bob"] {
        let line = format!("RCPT TO:<{name}@here.example>");
        client.say(&line, "250 2.1.5").await;
    }
    client
        .say("RCPT TO:<nobody@here.example>", "550 5.1.1")
        .await;
    client
        .say("RCPT TO:<later@here.example>", "451 4.3.0")
        .await;
    client.say("DATA", "354 ").await;
    client.send("x\r\n.\r\n").await;
    for start in ["250 2.0.0", "451 4.3.0", "250 2.0.0"] {
        client.expect(start).await;
    }
    let kept = world.kept();
    assert_eq!(kept.len(), 2);
    assert!(kept.iter().all(|mail| mail.envelope.recipients.len() == 1));
    drop(client);
    world.stop().await;
}

#[tokio::test]
async fn smtp_stores_for_all_recipients_or_tells_them_all_to_come_back() {
    let world = World::smtp().await;
    let mut client = world.connect().await;
    client.expect("220 ").await;
    client.say("HELO client.example", "250 ").await;
    client.say("MAIL FROM:<a@sender.example>", "250 ").await;
    client.say("RCPT TO:<alice@here.example>", "250 ").await;
    client.say("RCPT TO:<full@here.example>", "250 ").await;
    client.say("DATA", "354 ").await;
    client.send("x\r\n.\r\n").await;
    client.expect("451 4.3.0").await;
    assert!(world.kept().is_empty());
    drop(client);
    world.stop().await;
}

#[tokio::test]
async fn connections_past_the_limit_hear_421() {
    let options = SmtpOptions {
        limits: SmtpLimits {
            connections_per_ip: 2,
            ..SmtpLimits::default()
        },
        ..smtp()
    };
    let world = World::start(options, Memory::default()).await;
    let mut first = world.connect().await;
    first.expect("220 ").await;
    let mut second = world.connect().await;
    second.expect("220 ").await;
    let mut third = world.connect().await;
    third.expect("421 4.7.0 mail.example").await;
    assert!(third.reply().await.is_empty());
    second.say("NOOP", "250 ").await;
    drop((first, second, third));
    world.stop().await;
}

#[tokio::test]
async fn messages_in_progress_take_no_more_memory_than_they_may() {
    let options = SmtpOptions {
        limits: SmtpLimits {
            held_bytes: 200_000,
            ..SmtpLimits::default()
        },
        ..smtp()
    };
    let world = World::start(options, Memory::default()).await;
    let body = "x".repeat(998) + "\r\n";
    let mut client = world.connect().await;
    client.begin("alice@here.example").await;
    client.send(body.repeat(300) + ".\r\n").await;
    client.expect("452 4.3.1").await;
    client.say("MAIL FROM:<a@sender.example>", "250 ").await;
    client.say("RCPT TO:<alice@here.example>", "250 ").await;
    client.say("DATA", "354 ").await;
    client.send(body.repeat(150) + ".\r\n").await;
    client.expect("250 2.0.0").await;
    drop(client);
    world.stop().await;
}

#[tokio::test]
async fn stopping_ends_idle_connections_and_lets_a_message_be_stored() {
    let gate = Arc::new(Notify::new());
    let sink = Memory {
        gate: Some(Arc::clone(&gate)),
        ..Memory::default()
    };
    let world = World::start(smtp(), sink).await;
    let mut idle = world.connect().await;
    idle.expect("220 ").await;
    let mut busy = world.connect().await;
    busy.begin("alice@here.example").await;
    busy.send("x\r\n.\r\n").await;
    world.sink.waiting.notified().await;
    world.shutdown.cancel();
    idle.expect("421 4.3.2").await;
    assert!(idle.reply().await.is_empty());
    gate.notify_one();
    busy.expect("250 2.0.0").await;
    busy.expect("421 4.3.2").await;
    drop((idle, busy));
    let address = world.address;
    world.stop().await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_host_name_that_could_break_the_banner_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let options = SmtpOptions::new("mail.example\r\n250 x", Protocol::Smtp);
    let sink = Arc::new(Memory::default());
    let served = serve(listener, options, sink, CancellationToken::new()).await;
    assert!(matches!(served, Err(NetError::Hostname)));
}

/// Trusts any certificate, as a mail server does that only wants to encrypt.
#[derive(Debug)]
struct TrustAll;

impl ServerCertVerifier for TrustAll {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}

async fn encrypt(stream: TcpStream) -> Client<tokio_rustls::client::TlsStream<TcpStream>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(TrustAll))
        .with_no_client_auth();
    let name = ServerName::try_from("mail.example").expect("name");
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    Client::new(connector.connect(name, stream).await.expect("handshake"))
}

async fn start_with_tls() -> (World, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("folder");
    let options = SmtpOptions {
        tls: Some(tls::self_made(folder.path(), "mail.example").expect("certificate")),
        ..smtp()
    };
    (World::start(options, Memory::default()).await, folder)
}

#[tokio::test]
async fn starttls_encrypts_and_forgets_what_came_before() {
    let (world, _folder) = start_with_tls().await;
    let mut client = world.connect().await;
    client.expect("220 ").await;
    client.send("EHLO clear.example\r\n").await;
    assert!(client.reply().await.contains(&"250-STARTTLS".to_owned()));
    client.say("MAIL FROM:<clear@sender.example>", "250 ").await;
    client
        .send("STARTTLS\r\nEHLO injected.example\r\nMAIL FROM:<injected@sender.example>\r\n")
        .await;
    client.expect("220 2.0.0").await;
    let mut client = encrypt(client.stream.into_inner()).await;
    client.say("RCPT TO:<alice@here.example>", "503 ").await;
    client.send("EHLO client.example\r\n").await;
    assert!(!client.reply().await.contains(&"250-STARTTLS".to_owned()));
    client.say("MAIL FROM:<a@sender.example>", "250 ").await;
    client.say("RCPT TO:<alice@here.example>", "250 ").await;
    client.say("DATA", "354 ").await;
    client.send("x\r\n.\r\n").await;
    client.expect("250 2.0.0").await;
    client.say("QUIT", "221 ").await;
    assert!(client.reply().await.is_empty());
    let kept = world.kept();
    assert!(kept[0].envelope.tls);
    assert_eq!(kept[0].envelope.helo.expose(), "client.example");
    assert_eq!(kept[0].envelope.mail_from.expose(), "a@sender.example");
    drop(client);
    world.stop().await;
}

#[tokio::test]
async fn a_handshake_that_is_none_closes_the_connection() {
    let (world, _folder) = start_with_tls().await;
    let mut client = world.connect().await;
    client.expect("220 ").await;
    client.say("EHLO client.example", "250-").await;
    client.say("STARTTLS", "220 2.0.0").await;
    client.send("MAIL FROM:<a@sender.example>\r\n").await;
    // Whatever TLS says to that, it is no reply, and then the end.
    let mut rest = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut client.stream, &mut rest).await;
    assert!(read.is_err() || !rest.starts_with(b"2"), "{rest:?}");
    drop(client);
    world.stop().await;
}
