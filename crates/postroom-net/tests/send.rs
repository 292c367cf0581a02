//! The operator's relay over loopback sockets: our own listener, and servers that do as their
//! script says.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why and ends"
)]

#[path = "send/listener.rs"]
mod listener;
#[path = "send/scripted.rs"]
mod scripted;

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use postroom_net::{
    egress::{Egress, EgressPolicy},
    smtp::send::{
        Credentials, Envelope, Fate, Fault, Relay, RelayError, RelayOptions, Security, Submission,
    },
};
use postroom_types::Secret;

const MESSAGE: &[u8] = b"Subject: Hi\r\nMessage-ID: <1@here.example>\r\n\r\n.dot\r\n";

fn envelope(recipients: &[&str]) -> Envelope {
    let recipients = recipients.iter().map(|&path| path.to_owned()).collect();
    Envelope::new("me@here.example", recipients).expect("an envelope")
}

fn policy() -> EgressPolicy {
    EgressPolicy {
        allow_ports: vec!["1-65535".parse().expect("ports")],
        ..EgressPolicy::default()
    }
}

fn egress(policy: EgressPolicy) -> Arc<Egress> {
    Arc::new(Egress::new(policy).expect("a policy"))
}

/// A relay in the clear at a port of this host.
fn plain(port: u16) -> RelayOptions {
    let mut options = RelayOptions::new("127.0.0.1", port, "here.example");
    options.security = Security::Plain;
    options
}

fn relay(options: RelayOptions) -> Relay {
    Relay::new(options, egress(policy())).expect("a relay")
}

fn trusting(options: RelayOptions, certificate: PathBuf) -> Relay {
    let policy = EgressPolicy {
        extra_ca: Some(certificate),
        ..policy()
    };
    Relay::new(options, egress(policy)).expect("a relay")
}

async fn send(relay: &Relay, recipients: &[&str]) -> Submission {
    let envelope = envelope(recipients);
    let sending = relay.submit(&envelope, Bytes::from_static(MESSAGE));
    // Far beyond every limit under test: a hang is a fault, not a stuck test.
    tokio::time::timeout(Duration::from_secs(60), sending)
        .await
        .expect("an end")
}

fn fates(submission: &Submission) -> Vec<Fate> {
    let outcomes = submission.recipients.iter();
    outcomes.map(|outcome| outcome.fate).collect()
}

#[test]
fn options_that_cannot_be_used_are_refused_at_the_start() {
    let usual = || RelayOptions::new("relay.example", 587, "here.example");
    let check = |options: RelayOptions| {
        let closed = egress(EgressPolicy::default());
        Relay::new(options, closed).map(|_| ())
    };
    let credentials = |username: &str, password: &str| {
        Some(Credentials {
            username: username.to_owned(),
            password: Secret::new(password.to_owned()),
        })
    };
    assert_eq!(check(usual()), Ok(()));
    for (port, expected) in [
        (465, Ok(())),
        (587, Ok(())),
        (25, Err(RelayError::Port(25))),
        (2525, Err(RelayError::Port(2525))),
    ] {
        let options = RelayOptions::new("relay.example", port, "here.example");
        assert_eq!(check(options), expected, "{port}");
    }
    for (host, good) in [
        ("192.0.2.1", true),
        ("2001:db8::1", true),
        ("localhost", true),
        ("", false),
        ("relay example", false),
        ("[192.0.2.1]", false),
        ("http://relay.example", false),
        ("relay.example\r\n", false),
    ] {
        let made = check(RelayOptions::new(host, 587, "here.example"));
        assert_eq!(made.is_ok(), good, "{host:?}");
    }
    let named = check(RelayOptions::new("relay.example", 587, "here\r\nexample"));
    assert_eq!(named, Err(RelayError::Hostname));
    let mut options = usual();
    options.credentials = credentials("user", "pass");
    assert_eq!(check(options.clone()), Ok(()));
    options.security = Security::Plain;
    assert_eq!(check(options), Err(RelayError::PlainCredentials));
    for (username, password) in [("", "pass"), ("us\0er", "pass"), ("user", "pa\0ss")] {
        let mut options = usual();
        options.credentials = credentials(username, password);
        assert_eq!(check(options), Err(RelayError::Credentials));
    }
}

#[tokio::test]
async fn a_listener_of_this_process_is_no_relay() {
    let at = std::net::SocketAddr::from(([127, 0, 0, 1], 2525));
    for own in [at, ([0, 0, 0, 0], 2525).into()] {
        let policy = EgressPolicy {
            own_listeners: vec![own],
            ..policy()
        };
        let relay = Relay::new(plain(2525), egress(policy)).expect("a relay");
        let submission = send(&relay, &["bob@there.example"]).await;
        assert_eq!(submission.fault, Some(Fault::NotAllowed));
        assert_eq!(fates(&submission), [Fate::Retry]);
    }
}

#[tokio::test]
async fn a_relay_that_is_not_there_is_tried_again_later() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("dns.json");
    std::fs::write(&file, "{}").expect("written");
    let policy = EgressPolicy {
        dns_file: Some(file),
        ..policy()
    };
    let options = RelayOptions::new("relay.example", 587, "here.example");
    let relay = Relay::new(options, egress(policy)).expect("a relay");
    let submission = send(&relay, &["bob@there.example"]).await;
    assert_eq!(submission.fault, Some(Fault::NotResolved));
    assert_eq!(fates(&submission), [Fate::Retry]);

    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
    let port = listener.local_addr().expect("address").port();
    drop(listener);
    let submission = send(&self::relay(plain(port)), &["bob@there.example"]).await;
    assert_eq!(submission.fault, Some(Fault::Unreachable));
    assert_eq!(fates(&submission), [Fate::Retry]);
}
