//! Sending to peers that share no code with us: a mail server and a provider, both of which
//! misbehave when a recipient's name asks for it.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why and ends"
)]

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use postroom_net::{
    egress::{Egress, EgressPolicy},
    resend,
    smtp::send::{Credentials, Envelope, Fate, Fault, Relay, RelayOptions, Security, Submission},
};
use postroom_testkit::{
    resend as provider,
    smtp_sink::{self, Ledger, Manner, Sink},
};
use postroom_types::Secret;

const MESSAGE: &[u8] = b"From: <me@here.example>\r\nTo: <bob@there.example>\r\nSubject: Hi\r\n\
    Message-ID: <1@here.example>\r\n\r\n.dot\r\n";

fn policy() -> EgressPolicy {
    EgressPolicy {
        allow_cidrs: vec!["127.0.0.1".parse().expect("one")],
        allow_ports: vec!["1-65535".parse().expect("ports")],
        allow_http: true,
        ..EgressPolicy::default()
    }
}

fn envelope(recipients: &[&str]) -> Envelope {
    let recipients = recipients.iter().map(|&path| path.to_owned()).collect();
    Envelope::new("me@here.example", recipients).expect("an envelope")
}

fn fates(submission: &Submission) -> Vec<Fate> {
    let outcomes = submission.recipients.iter();
    outcomes.map(|outcome| outcome.fate).collect()
}

async fn relay(sink: Sink) -> (Relay, Arc<Sink>) {
    let (address, sink) = smtp_sink::start(sink).await.expect("a sink");
    let mut options = RelayOptions::new("127.0.0.1", address.port(), "here.example");
    options.security = Security::Plain;
    options.limits.command = Duration::from_secs(5);
    options.limits.answer = Duration::from_secs(1);
    let egress = Arc::new(Egress::new(policy()).expect("a policy"));
    (Relay::new(options, egress).expect("a relay"), sink)
}

async fn send(relay: &Relay, recipients: &[&str]) -> Submission {
    let envelope = envelope(recipients);
    relay.submit(&envelope, Bytes::from_static(MESSAGE)).await
}

/// What the sink took is what the client believes, or the client says that it does not know; and
/// nothing is handed over that the client calls not taken.
#[tokio::test]
async fn however_a_server_behaves_the_tale_is_true() {
    for (recipients, expected, taken) in [
        (vec!["ann@x.example"], vec![Fate::Accepted], 1),
        (vec!["slow@x.example"], vec![Fate::Accepted], 1),
        (vec!["refuse@x.example"], vec![Fate::Refused], 0),
        (vec!["code-553@x.example"], vec![Fate::Refused], 0),
        (vec!["defer@x.example"], vec![Fate::Retry], 0),
        (vec!["code-452@x.example"], vec![Fate::Retry], 0),
        (vec!["bye@x.example"], vec![Fate::Retry], 0),
        (vec!["hard-fail@x.example"], vec![Fate::Refused], 0),
        (vec!["soft-fail@x.example"], vec![Fate::Retry], 0),
        (vec!["cut-answer@x.example"], vec![Fate::Uncertain], 1),
        (vec!["half-answer@x.example"], vec![Fate::Uncertain], 1),
        (vec!["no-answer@x.example"], vec![Fate::Uncertain], 1),
        (
            vec!["ann@x.example", "refuse@x.example", "defer@x.example"],
            vec![Fate::Accepted, Fate::Refused, Fate::Retry],
            1,
        ),
        (
            vec!["refuse@x.example", "cut-answer@x.example", "ann@x.example"],
            vec![Fate::Refused, Fate::Uncertain, Fate::Uncertain],
            2,
        ),
    ] {
        let mut sink = Sink::new(Ledger::in_memory());
        sink.delay = Duration::from_secs(5);
        let (relay, sink) = relay(sink).await;
        let submission = send(&relay, &recipients).await;
        assert_eq!(fates(&submission), expected, "{recipients:?}");
        assert_eq!(sink.ledger.taken().len(), taken, "{recipients:?}");
    }
}

/// Where the system decides whether a message's end was still written, both ends of the tale are
/// true: what may have arrived is never called not taken.
#[tokio::test]
async fn a_server_that_cuts_within_the_message_or_lies_gets_no_second_one() {
    for recipient in [
        "cut-data@x.example",
        "cut-body@x.example",
        "early@x.example",
    ] {
        let (relay, sink) = relay(Sink::new(Ledger::in_memory())).await;
        let submission = send(&relay, &[recipient]).await;
        let fate = fates(&submission)[0];
        assert!(
            matches!(fate, Fate::Retry | Fate::Uncertain | Fate::Accepted),
            "{recipient}"
        );
        if !sink.ledger.taken().is_empty() {
            assert_ne!(fate, Fate::Retry, "{recipient}");
        }
        if fate != Fate::Retry {
            assert!(submission.handed_over, "{recipient}");
        }
    }
}

#[tokio::test]
async fn whoever_was_put_off_is_taken_at_the_second_try() {
    let mut sink = Sink::new(Ledger::in_memory());
    sink.manner = Manner::Greylist;
    let (relay, sink) = relay(sink).await;
    assert_eq!(
        fates(&send(&relay, &["ann@x.example"]).await),
        [Fate::Retry]
    );
    assert_eq!(
        fates(&send(&relay, &["ann@x.example"]).await),
        [Fate::Accepted]
    );
    let counts: Vec<usize> = sink.ledger.taken().into_values().collect();
    assert_eq!(counts, [1]);
}

#[tokio::test]
async fn credentials_go_through_either_kind_of_tls() {
    let folder = tempfile::tempdir().expect("folder");
    for (tls_first, password, fault) in [
        (true, "pass", None),
        (false, "pass", None),
        (true, "wrong", Some(Fault::AuthRefused)),
        (false, "wrong", Some(Fault::AuthRefused)),
    ] {
        let certificate = folder.path().join("sink.pem");
        let mut sink = Sink::new(Ledger::in_memory());
        sink.tls = Some(smtp_sink::self_made(&certificate).expect("made"));
        sink.tls_first = tls_first;
        sink.credentials = Some(("user".to_owned(), "pass".to_owned()));
        let (address, sink) = smtp_sink::start(sink).await.expect("a sink");
        let mut options = RelayOptions::new("localhost", address.port(), "here.example");
        options.security = match tls_first {
            true => Security::Tls,
            false => Security::StartTls,
        };
        options.credentials = Some(Credentials {
            username: "user".to_owned(),
            password: Secret::new(password.to_owned()),
        });
        let policy = EgressPolicy {
            extra_ca: Some(certificate),
            ..policy()
        };
        let egress = Arc::new(Egress::new(policy).expect("a policy"));
        let relay = Relay::new(options, egress).expect("a relay");
        let submission = send(&relay, &["ann@x.example"]).await;
        assert_eq!(submission.fault, fault);
        assert_eq!(sink.ledger.taken().len(), usize::from(fault.is_none()));
    }
}

#[tokio::test]
async fn the_provider_takes_one_mail_of_one_key() {
    let (address, provider) = provider::start("re_key").await.expect("a provider");
    let mut policy = policy();
    let base = format!("http://{address}");
    policy.provider_base.insert("resend".to_owned(), base);
    let egress = Egress::new(policy).expect("a policy");
    let key = Secret::new("re_key".to_owned());
    let send = async |name: &str, recipient: &str| {
        resend::submit(&egress, &key, name, &envelope(&[recipient]), MESSAGE).await
    };
    for (name, recipient, fate, fault, taken) in [
        ("k1", "ann@x.example", Fate::Accepted, None, 1),
        ("k1", "ann@x.example", Fate::Accepted, None, 1),
        (
            "k1",
            "eve@x.example",
            Fate::Uncertain,
            Some(Fault::OutcomeUnknown),
            1,
        ),
        (
            "k2",
            "cut-answer@x.example",
            Fate::Uncertain,
            Some(Fault::Timeout),
            2,
        ),
        // A person who resends with the same key is told the first outcome.
        ("k2", "cut-answer@x.example", Fate::Accepted, None, 2),
        (
            "k3",
            "half-answer@x.example",
            Fate::Uncertain,
            Some(Fault::OutcomeUnknown),
            3,
        ),
        (
            "k4",
            "code-422-validation_error@x.example",
            Fate::Refused,
            None,
            3,
        ),
        (
            "k5",
            "code-429-rate_limit_exceeded@x.example",
            Fate::Retry,
            Some(Fault::Unavailable),
            3,
        ),
        (
            "k6",
            "code-500-application_error@x.example",
            Fate::Retry,
            Some(Fault::Unavailable),
            3,
        ),
        (
            "k7",
            "code-502-bad_gateway@x.example",
            Fate::Uncertain,
            Some(Fault::OutcomeUnknown),
            3,
        ),
        (
            "",
            "ann@x.example",
            Fate::Refused,
            Some(Fault::ExtensionMissing),
            3,
        ),
    ] {
        let submission = send(name, recipient).await;
        assert_eq!(fates(&submission), [fate], "{name} {recipient}");
        assert_eq!(submission.fault, fault, "{name} {recipient}");
        assert_eq!(provider.taken().len(), taken, "{name} {recipient}");
        let has_id = submission.provider_message_id.is_some();
        assert_eq!(has_id, fate == Fate::Accepted, "{name} {recipient}");
    }
    let first = provider.taken().remove(0);
    assert_eq!((first.key.as_str(), first.requests), ("k1", 3));
    let stranger = Secret::new("re_other".to_owned());
    let refused = resend::submit(
        &egress,
        &stranger,
        "k8",
        &envelope(&["ann@x.example"]),
        MESSAGE,
    )
    .await;
    assert_eq!(refused.fault, Some(Fault::AuthRefused));
    assert_eq!(fates(&refused), [Fate::Retry]);
}
