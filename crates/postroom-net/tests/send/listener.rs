//! Our own listener as the relay: what it stored is what the relay's client tells.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use postroom_net::{
    smtp::{
        Arrival, MailSink, MessageAnswer, Protocol, Recipient, RecipientAnswer, RecipientQuery,
        SmtpOptions,
        send::{Fate, Fault, RelayOptions, Security},
        serve,
    },
    tls,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{MESSAGE, fates, plain, relay, send, trusting};

/// Keeps what comes; a few names are told otherwise.
#[derive(Default)]
struct Memory(Mutex<Vec<Arrival>>);

impl MailSink for Memory {
    async fn recipient(&self, query: &RecipientQuery) -> RecipientAnswer {
        match &query.recipient {
            Recipient::Address(address) if address.local() == "nobody" => RecipientAnswer::Unknown,
            Recipient::Address(address) if address.local() == "later" => {
                RecipientAnswer::Unavailable
            }
            _ => RecipientAnswer::Accepted,
        }
    }

    async fn receive(&self, arrival: Arrival) -> MessageAnswer {
        self.0.lock().expect("lock").push(arrival);
        MessageAnswer::Stored
    }
}

struct World {
    address: SocketAddr,
    memory: Arc<Memory>,
    _shutdown: tokio_util::sync::DropGuard,
}

impl World {
    async fn start(options: SmtpOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("address");
        let memory = Arc::<Memory>::default();
        let shutdown = CancellationToken::new();
        let served = serve(listener, options, Arc::clone(&memory), shutdown.clone());
        tokio::spawn(served);
        Self {
            address,
            memory,
            _shutdown: shutdown.drop_guard(),
        }
    }

    fn kept(&self) -> Vec<Arrival> {
        self.memory.0.lock().expect("lock").clone()
    }

    /// How many connections brought the mail that is kept.
    fn connections(&self) -> usize {
        let clients: BTreeSet<SocketAddr> =
            self.kept().iter().map(|arrival| arrival.client).collect();
        clients.len()
    }
}

#[tokio::test]
async fn every_recipient_has_its_own_outcome() {
    for protocol in [Protocol::Smtp, Protocol::Lmtp] {
        let world = World::start(SmtpOptions::new("there.example", protocol)).await;
        let mut options = plain(world.address.port());
        options.protocol = protocol;
        let relay = relay(options);
        let submission = send(
            &relay,
            &[
                "a@x.example",
                "nobody@x.example",
                "later@x.example",
                "b@x.example",
            ],
        )
        .await;
        assert_eq!(
            fates(&submission),
            [Fate::Accepted, Fate::Refused, Fate::Retry, Fate::Accepted]
        );
        assert_eq!(submission.fault, None);
        let told = |at: usize| {
            let answer = submission.recipients[at].answer.clone().expect("an answer");
            (answer.code, answer.enhanced)
        };
        assert_eq!(told(1), (550, Some("5.1.1".to_owned())));
        assert_eq!(told(2), (451, Some("4.3.0".to_owned())));
        for arrival in world.kept() {
            assert_eq!(arrival.raw, MESSAGE);
            assert_eq!(arrival.envelope.mail_from.expose(), "me@here.example");
        }
    }
}

#[tokio::test]
async fn a_connection_is_used_again_as_often_as_it_may_be() {
    let world = World::start(SmtpOptions::new("there.example", Protocol::Smtp)).await;
    let mut options = plain(world.address.port());
    options.limits.messages = 3;
    let relay = relay(options);
    for (sent, connections) in [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 2), (7, 3)] {
        // One that is refused leaves the connection usable.
        let recipient = if sent % 2 == 0 {
            "nobody@x.example"
        } else {
            "a@x.example"
        };
        let submission = send(&relay, &[recipient]).await;
        assert_eq!(submission.fault, None);
        if sent % 2 == 1 {
            assert_eq!(world.connections(), connections, "after {sent}");
        }
    }
    assert_eq!(world.kept().len(), 4);
}

#[tokio::test]
async fn no_more_connections_than_allowed() {
    let world = World::start(SmtpOptions::new("there.example", Protocol::Smtp)).await;
    let mut options = plain(world.address.port());
    options.limits.connections = 2;
    let relay = relay(options);
    let sends = (0..20).map(|_| send(&relay, &["a@x.example"]));
    for submission in futures_util::future::join_all(sends).await {
        assert_eq!(fates(&submission), [Fate::Accepted]);
    }
    assert_eq!(world.kept().len(), 20);
    assert!(world.connections() <= 2, "{}", world.connections());
}

#[tokio::test]
async fn starttls_comes_first_and_its_certificate_counts() {
    let folder = tempfile::tempdir().expect("folder");
    let mut options = SmtpOptions::new("there.example", Protocol::Smtp);
    options.tls = Some(tls::self_made(folder.path(), "localhost").expect("made"));
    let world = World::start(options).await;
    let [certificate, _] = tls::self_made_files(folder.path());
    let port = world.address.port();
    let mut options = RelayOptions::new("localhost", port, "here.example");
    assert_eq!(options.security, Security::StartTls);

    // Nobody vouches for it.
    let stranger = send(&relay(options.clone()), &["a@x.example"]).await;
    assert_eq!(stranger.fault, Some(Fault::Tls));
    assert_eq!(fates(&stranger), [Fate::Retry]);
    // It is for another name.
    options.host = "127.0.0.1".to_owned();
    let other = send(
        &trusting(options.clone(), certificate.clone()),
        &["a@x.example"],
    )
    .await;
    assert_eq!(other.fault, Some(Fault::Tls));
    assert!(world.kept().is_empty());

    options.host = "localhost".to_owned();
    let relay = trusting(options, certificate);
    for _ in 0..3 {
        let submission = send(&relay, &["a@x.example"]).await;
        assert_eq!(fates(&submission), [Fate::Accepted]);
    }
    assert!(world.kept().iter().all(|arrival| arrival.envelope.tls));
    assert_eq!(world.kept().len(), 3);
    assert_eq!(world.connections(), 1);
}

#[tokio::test]
async fn a_relay_without_starttls_gets_nothing() {
    let world = World::start(SmtpOptions::new("there.example", Protocol::Smtp)).await;
    let options = RelayOptions::new("127.0.0.1", world.address.port(), "here.example");
    let submission = send(&relay(options), &["a@x.example"]).await;
    assert_eq!(submission.fault, Some(Fault::TlsNotOffered));
    assert_eq!(fates(&submission), [Fate::Retry]);
    assert!(world.kept().is_empty());
}

#[tokio::test]
async fn a_long_message_arrives_byte_for_byte() {
    let world = World::start(SmtpOptions::new("there.example", Protocol::Smtp)).await;
    let relay = relay(plain(world.address.port()));
    // Lines of every length up to one that shifts the dots over the edges of what is written at once.
    let mut message = b"Subject: long\r\n\r\n".to_vec();
    for length in (0..200).cycle().take(30_000) {
        message.push(b'.');
        message.extend(std::iter::repeat_n(b'x', length));
        message.extend_from_slice(b"\r\n");
    }
    let envelope = super::envelope(&["a@x.example"]);
    let submission = relay.submit(&envelope, message.clone().into()).await;
    assert_eq!(fates(&submission), [Fate::Accepted]);
    let kept = world.kept();
    assert_eq!(kept.len(), 1);
    assert!(kept[0].raw == message, "the message changed on its way");
}
