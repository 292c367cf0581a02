//! What must hold of threads, labels and duplicates for any mails in any order.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly, as the tests do"
)]

use postroom_core::{
    AddressRole, AddressRow, AddressStatus, ArchiveThread, Arrival, Change, Command, Context,
    Decision, Draft, IdentityRow, IdentityStatus, Import, ImportOutcome, MessageRow, Mode, Outcome,
    RawMail, Receive, Recipient, Refusal, State, Target, TenantRow, TenantStatus, ThreadRow,
    TrustMode, UpdateLabels, aggregate, decide,
};
use postroom_types::{
    AddressId, DomainId, ErrorCode, IdentityId, MessageId, TenantId, ThreadId, Timestamp, limit,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const NOON: i64 = 1_796_040_000_000;

/// A mailbox in memory: the state, and every message with its draft.
struct Mailbox {
    state: State,
    tenant: TenantId,
    identity: IdentityId,
    random: u128,
    now: Timestamp,
    messages: Vec<(MessageRow, Draft)>,
}

impl Mailbox {
    fn new() -> Self {
        let tenant = TenantId::from_parts(1, 1);
        let identity = IdentityId::from_parts(1, 1);
        let now = Timestamp::from_ms(NOON);
        let mut state = State::default();
        state.apply(&[
            Change::PutTenant(TenantRow {
                id: tenant,
                slug: "acme".to_owned(),
                name: "acme".to_owned(),
                status: TenantStatus::Active,
                mode: Mode::Live,
                timezone: "UTC".to_owned(),
                address_suffix: ".acme".to_owned(),
                created_at: now,
                updated_at: now,
            }),
            Change::PutIdentity(IdentityRow {
                id: identity,
                tenant_id: tenant,
                username: "agent".to_owned(),
                display_name: "agent".to_owned(),
                purpose: None,
                status: IdentityStatus::Active,
                pause_reason: None,
                owner: None,
                metadata: BTreeMap::new(),
                client_id: None,
                client_digest: None,
                signature: None,
                send_policy: Default::default(),
                resumed_at: None,
                created_at: now,
                updated_at: now,
            }),
            Change::PutAddress(AddressRow {
                id: AddressId::from_parts(1, 1),
                tenant_id: tenant,
                identity_id: identity,
                address: "agent@acme.example".to_owned(),
                domain_id: DomainId::from_parts(1, 1),
                role: AddressRole::Primary,
                status: AddressStatus::Active,
                retire_at: None,
                retired_at: None,
                created_at: now,
            }),
        ]);
        Self {
            state,
            tenant,
            identity,
            random: 0,
            now,
            messages: Vec::new(),
        }
    }

    fn decide(&mut self, command: &Command) -> Result<Outcome, Refusal> {
        let random = &mut self.random;
        let mut bits = || {
            *random += 1;
            // Spread, so that ids of one millisecond are in no order.
            random.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
        };
        let mut context = Context {
            now: self.now,
            random: &mut bits,
        };
        let Decision { changes, outcome } = decide(command, &self.state, &mut context)?;
        self.state.apply(&changes);
        Ok(outcome)
    }

    fn import(&mut self, mail: &Mail) -> ImportOutcome {
        let raw = mail.raw();
        let command = Command::Import(Box::new(Import {
            recipient: Recipient {
                tenant: self.tenant,
                identity: self.identity,
                delivered_to: None,
            },
            draft: mail.draft(),
            raw: RawMail::new(raw.into_bytes()),
            provider: "import".to_owned(),
            file_time: None,
            unread: mail.unread,
            labels: Vec::new(),
        }));
        match self.decide(&command).expect("taken in") {
            Outcome::Imported(outcome) => {
                if let ImportOutcome::Stored { message_id, .. } = outcome {
                    let row = self.state.messages[&message_id].row.clone();
                    self.messages.push((row, mail.draft()));
                }
                outcome
            }
            other => panic!("{other:?}"),
        }
    }

    /// Sets of raw mails that are one thread.
    fn partition(&self) -> BTreeSet<BTreeSet<[u8; 32]>> {
        let mut threads: BTreeMap<ThreadId, BTreeSet<[u8; 32]>> = BTreeMap::new();
        for message in self.state.messages.values() {
            let thread = self.state.canonical(message.row.thread_id);
            assert_eq!(thread, message.row.thread_id, "messages follow a merge");
            threads
                .entry(thread)
                .or_default()
                .insert(message.row.sha256);
        }
        threads.into_values().collect()
    }

    /// Every thread must be what counting its messages again gives.
    fn check_aggregates(&self) {
        for thread in self.state.threads.values() {
            let own: Vec<(MessageRow, &Draft)> = self
                .messages
                .iter()
                .map(|(row, draft)| (self.state.messages[&row.id].row.clone(), draft))
                .filter(|(row, _)| row.thread_id == thread.id)
                .collect();
            let counted = aggregate(own.iter().map(|(row, draft)| (row, *draft)), |address| {
                address == "agent@acme.example"
            })
            .expect("a thread has messages");
            let counted = ThreadRow {
                id: thread.id,
                archived: thread.archived,
                ..counted
            };
            assert_eq!(*thread, counted);
        }
    }
}

#[derive(Debug, Clone)]
struct Mail {
    id: u8,
    refs: Vec<u8>,
    from: u8,
    name: u8,
    minute: u8,
    unread: bool,
    body: u8,
}

impl Mail {
    /// As it is read; some vouch for nobody.
    fn draft(&self) -> Draft {
        let mut draft = Draft::read(self.raw().as_bytes(), None);
        draft.doc.unvouched = self.body == 0;
        draft
    }

    fn raw(&self) -> String {
        let refs: Vec<String> = self
            .refs
            .iter()
            .map(|id| format!("<{id}@x.example>"))
            .collect();
        let name = match self.name {
            0 => String::new(),
            n => format!("Name{n} "),
        };
        format!(
            "From: {name}<p{}@y.example>\r\nTo: agent@acme.example, q{}@y.example\r\n\
             Subject: S{}\r\nMessage-ID: <{}@x.example>\r\nReferences: {}\r\n\
             Date: Mon, 30 Nov 2026 10:{:02}:00 +0000\r\n\r\nBody {}\r\n",
            self.from,
            self.name,
            self.body,
            self.id,
            refs.join(" "),
            self.minute % 60,
            self.body,
        )
    }
}

fn mails() -> impl Strategy<Value = Vec<Mail>> {
    let mail = (
        0_u8..16,
        proptest::collection::vec(0_u8..16, 0..4),
        0_u8..5,
        0_u8..4,
        any::<u8>(),
        any::<bool>(),
        0_u8..3,
    )
        .prop_map(|(id, refs, from, name, minute, unread, body)| Mail {
            id,
            refs,
            from,
            name,
            minute,
            unread,
            body,
        });
    proptest::collection::vec(mail, 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_order_gives_the_same_threads(
        (mails, shuffled) in mails().prop_flat_map(|mails| {
            (Just(mails.clone()), Just(mails).prop_shuffle())
        })
    ) {
        let mut one = Mailbox::new();
        let mut other = Mailbox::new();
        for mail in &mails {
            one.import(mail);
        }
        for mail in &shuffled {
            other.import(mail);
        }
        prop_assert_eq!(one.partition(), other.partition());
        one.check_aggregates();
        other.check_aggregates();
    }

    #[test]
    fn mails_are_one_thread_exactly_when_ids_connect_them(mails in mails()) {
        let mut mailbox = Mailbox::new();
        for mail in &mails {
            mailbox.import(mail);
        }
        // Connected components over the ids that each mail names.
        let mut groups: Vec<(BTreeSet<u8>, BTreeSet<[u8; 32]>)> = Vec::new();
        for mail in &mails {
            let mut ids: BTreeSet<u8> = mail.refs.iter().copied().collect();
            ids.insert(mail.id);
            let mut digests = BTreeSet::from([RawMail::new(mail.raw().into_bytes()).sha256]);
            let (joined, rest): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|(known, _)| !known.is_disjoint(&ids));
            for (known, members) in joined {
                ids.extend(known);
                digests.extend(members);
            }
            groups = rest;
            groups.push((ids, digests));
        }
        let expected: BTreeSet<_> = groups.into_iter().map(|(_, members)| members).collect();
        prop_assert_eq!(mailbox.partition(), expected);
    }

    #[test]
    fn read_state_and_labels_keep_threads_true(
        mails in mails(),
        steps in proptest::collection::vec((any::<u8>(), any::<bool>(), 0_u8..3, 0_u8..3, any::<bool>()), 0..12)
    ) {
        let mut mailbox = Mailbox::new();
        for mail in &mails {
            mailbox.import(mail);
        }
        for (pick, whole, add, remove, read) in steps {
            let (row, _) = &mailbox.messages[usize::from(pick) % mailbox.messages.len()];
            let id = row.id;
            let thread = mailbox.state.messages[&id].row.thread_id;
            let target = if whole { Target::Thread(thread) } else { Target::Message(id) };
            let outcome = mailbox.decide(&Command::UpdateLabels(UpdateLabels {
                tenant: mailbox.tenant,
                identity: mailbox.identity,
                target,
                add: vec![format!("l{add}")],
                remove: vec![format!("l{remove}")],
                read: Some(read),
            })).expect("done");
            let Outcome::Labels(outcome) = outcome else { panic!("labels") };
            prop_assert_eq!(outcome.read, read);
            let gone = format!("l{remove}");
            prop_assert!(!outcome.labels.contains(&gone));
            prop_assert_eq!(add != remove, outcome.labels.contains(&format!("l{add}")));
            mailbox.check_aggregates();
        }
    }
}

fn mail(id: u8, refs: &[u8], body: u8) -> Mail {
    Mail {
        id,
        refs: refs.to_vec(),
        from: 1,
        name: 1,
        minute: 1,
        unread: true,
        body,
    }
}

#[test]
fn the_same_content_twice_is_a_duplicate() {
    let mut mailbox = Mailbox::new();
    let first = mailbox.import(&mail(1, &[], 1));
    let ImportOutcome::Stored { event_id, .. } = first else {
        panic!("stored");
    };
    assert_eq!(
        mailbox.import(&mail(1, &[], 1)),
        ImportOutcome::Duplicate { event_id }
    );
    assert_eq!(mailbox.messages.len(), 1);
}

#[test]
fn one_message_id_with_other_content_marks_both() {
    let mut mailbox = Mailbox::new();
    // The id is known from a reference first: that alone is no conflict.
    mailbox.import(&mail(9, &[1], 1));
    mailbox.import(&mail(1, &[], 1));
    assert!(mailbox.state.messages.values().all(|m| !m.row.id_conflict));
    mailbox.import(&mail(1, &[], 2));
    let marked = mailbox
        .state
        .messages
        .values()
        .filter(|m| m.row.id_conflict)
        .count();
    assert_eq!(marked, 2);
    assert_eq!(mailbox.partition().len(), 1);
}

#[test]
fn merges_keep_every_old_id_as_an_alias() {
    let mut mailbox = Mailbox::new();
    let mut ids = Vec::new();
    for id in 0..6 {
        let ImportOutcome::Stored { thread_id, .. } = mailbox.import(&mail(id, &[], id)) else {
            panic!("stored");
        };
        ids.push(thread_id);
    }
    mailbox.import(&mail(10, &[0, 1], 0));
    mailbox.import(&mail(11, &[2, 3], 0));
    mailbox.import(&mail(12, &[1, 3, 4, 5], 0));
    assert_eq!(mailbox.partition().len(), 1);
    let own = mailbox.state.canonical(ids[0]);
    assert_eq!(Some(own), ids.iter().min().copied(), "the oldest stays");
    assert!(ids.iter().all(|id| mailbox.state.canonical(*id) == own));
    mailbox.check_aggregates();
}

#[test]
fn an_archive_does_not_bring_a_thread_back() {
    let mut mailbox = Mailbox::new();
    let ImportOutcome::Stored { thread_id, .. } = mailbox.import(&mail(1, &[], 1)) else {
        panic!("stored");
    };
    let archive = Command::ArchiveThread(ArchiveThread {
        tenant: mailbox.tenant,
        identity: mailbox.identity,
        thread: thread_id,
        archived: true,
    });
    mailbox.decide(&archive).expect("away");
    mailbox.import(&mail(2, &[1], 1));
    assert!(mailbox.state.threads[&thread_id].archived);
}

#[test]
fn a_missing_message_is_not_found() {
    let mut mailbox = Mailbox::new();
    let refusal = mailbox.decide(&Command::UpdateLabels(UpdateLabels {
        tenant: mailbox.tenant,
        identity: mailbox.identity,
        target: Target::Message(MessageId::from_parts(1, 9)),
        add: vec!["x".to_owned()],
        remove: Vec::new(),
        read: None,
    }));
    assert_eq!(
        refusal.expect_err("refused").code(),
        ErrorCode::MessageNotFound
    );
}

#[test]
fn the_time_of_an_archive_is_its_own_and_never_in_the_future() {
    let mut mailbox = Mailbox::new();
    let raw = |date: &str, received: &str| {
        format!("{received}From: a@y.example\r\nDate: {date}\r\nMessage-ID: <{date}@x>\r\n\r\nx")
    };
    let date = "Sat, 1 Jan 2005 10:00:00 +0000";
    let cases = [
        (raw(date, ""), "2005-01-01T10:00:00Z"),
        (
            raw(
                date,
                "Received: from a by b; Sun, 2 Jan 2005 10:00:00 +0000\r\n",
            ),
            "2005-01-02T10:00:00Z",
        ),
        (
            raw("Mon, 1 Jan 2035 10:00:00 +0000", ""),
            "2026-11-30T12:00:00Z",
        ),
    ];
    for (raw, expected) in cases {
        let command = Command::Import(Box::new(Import {
            recipient: Recipient {
                tenant: mailbox.tenant,
                identity: mailbox.identity,
                delivered_to: None,
            },
            draft: Draft::read(raw.as_bytes(), None),
            raw: RawMail::new(raw.into_bytes()),
            provider: "import".to_owned(),
            file_time: None,
            unread: true,
            labels: Vec::new(),
        }));
        let Ok(Outcome::Imported(ImportOutcome::Stored {
            message_id,
            event_id,
            ..
        })) = mailbox.decide(&command)
        else {
            panic!("stored");
        };
        let row = &mailbox.state.messages[&message_id].row;
        assert_eq!(row.received_at, expected.parse().expect("an instant"));
        assert!(row.sort_at <= row.received_at.plus_ms(300_000));
        let event = &mailbox.state.events[&(mailbox.tenant, event_id)];
        assert_eq!(event.received_at, mailbox.now);
        assert_eq!(event.occurred_at, Some(row.received_at));
    }
}

#[test]
fn a_mail_from_a_mailbox_here_may_be_as_large_as_what_is_sent() {
    for (provider, most) in [
        ("smtp", limit::RAW_MAIL_BYTES),
        (Arrival::LOOPBACK, limit::SENT_MAIL_BYTES),
    ] {
        for (size, fits) in [(most, true), (most + 1, false)] {
            let mut mailbox = Mailbox::new();
            let mut raw = RawMail::new(b"Subject: S\r\n\r\nT\r\n".to_vec());
            raw.size = size as u64;
            let receive = Command::Receive(Receive {
                raw,
                recipients: vec![Recipient {
                    tenant: mailbox.tenant,
                    identity: mailbox.identity,
                    delivered_to: None,
                }],
                arrival: Arrival {
                    provider: provider.to_owned(),
                    trust_mode: TrustMode::Token,
                    verify_detail: None,
                    source_ip: None,
                    mail_from: None,
                    headers: BTreeMap::new(),
                },
            });
            let code = mailbox.decide(&receive).map_err(|refusal| refusal.code());
            let refused = code.err();
            let expected = (!fits).then_some(ErrorCode::MessageTooLarge);
            assert_eq!(refused, expected, "{provider} {size}");
        }
    }
}
