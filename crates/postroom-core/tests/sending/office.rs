//! A mailbox that sends, in memory.

use postroom_core::{
    AddressRole, AddressRow, AddressStatus, Change, ClaimSends, ClaimedSend, Command, Context,
    Decision, DeliveryRow, DeliveryStatus, DomainRow, DomainState, Draft, Idempotency, IdentityRow,
    IdentityStatus, MessageStatus, Mode, Outcome, OutgoingMail, Owner, PolicyPatch, QueueMessage,
    RawMail, RecipientField, RecipientRoute, Refusal, SendKind, SendOperation, SendOutcome,
    SendRecipient, SendRef, SendRow, SendScope, SendThread, SendUpdate, SetPolicy, State,
    Submission, TenantRow, TenantStatus, UsageDay, decide, fingerprint, idempotency_key,
};
use postroom_types::{
    AddressId, DomainId, ErrorCode, IdentityId, MessageId, TenantId, ThreadId, Timestamp,
};
use std::collections::BTreeMap;

pub(crate) const NOON: i64 = 1_796_040_000_000;
pub(crate) const FROM: &str = "agent@acme.example";
pub(crate) const DAY: &str = "2026-11-30";

pub(crate) struct Office {
    pub(crate) state: State,
    pub(crate) tenant: TenantId,
    pub(crate) identity: IdentityId,
    pub(crate) now: Timestamp,
    random: u128,
    count: u128,
}

impl Office {
    pub(crate) fn new() -> Self {
        let tenant = TenantId::from_parts(1, 1);
        let identity = IdentityId::from_parts(1, 1);
        let domain = DomainId::from_parts(1, 1);
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
            Change::PutDomain(DomainRow {
                id: domain,
                tenant_id: Some(tenant),
                name: "acme.example".to_owned(),
                state: DomainState::Healthy,
                created_at: now,
            }),
            Change::PutIdentity(IdentityRow {
                id: identity,
                tenant_id: tenant,
                username: "agent".to_owned(),
                display_name: "Agent".to_owned(),
                purpose: None,
                status: IdentityStatus::Active,
                pause_reason: None,
                owner: Some(Owner {
                    name: "Ada".to_owned(),
                    email: "ada@acme.example".to_owned(),
                }),
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
                address: FROM.to_owned(),
                domain_id: domain,
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
            now,
            random: 0,
            count: 0,
        }
    }

    pub(crate) fn pass_ms(&mut self, ms: i64) {
        self.now = self.now.plus_ms(ms);
    }

    pub(crate) fn decide(&mut self, command: &Command) -> Result<Outcome, Refusal> {
        let random = &mut self.random;
        let mut bits = || {
            *random += 1;
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

    /// A mail to `to`, which nobody has sent yet.
    pub(crate) fn mail(&mut self, to: &[&str]) -> QueueMessage {
        self.count += 1;
        let id = MessageId::from_parts(self.now.ulid_ms(), self.count);
        let raw = format!(
            "From: Agent <{FROM}>\r\nTo: {}\r\nSubject: Offer\r\nMessage-ID: <{id}@acme.example>\r\n\
             \r\nHello\r\n",
            to.join(", ")
        );
        let key = format!("key-{}", self.count);
        QueueMessage {
            tenant: self.tenant,
            identity: self.identity,
            key: None,
            scope: SendScope::Anyone,
            test: false,
            operation: SendOperation::Send,
            kind: SendKind::Transactional,
            id,
            thread: SendThread::New(ThreadId::from_parts(self.now.ulid_ms(), self.count)),
            answers: None,
            idempotency: Idempotency {
                key: idempotency_key(&key).expect("a key"),
                fingerprint: fingerprint("send", "idn", &serde_json::json!({ "key": key })),
            },
            from: FROM.to_owned(),
            thread_uses_from: false,
            envelope_from: None,
            recipients: to.iter().map(|address| recipient(address)).collect(),
            mail: Some(OutgoingMail {
                draft: Draft::read(raw.as_bytes(), None),
                raw: RawMail::new(raw.into_bytes()),
            }),
            hop: 1,
            transport: "sandbox".to_owned(),
            leaves: false,
            day: UsageDay {
                date: DAY.to_owned(),
                ends_at: Timestamp::from_ms(NOON).plus_ms(12 * 3_600_000),
            },
            labels: Vec::new(),
            metadata: BTreeMap::new(),
            draft: None,
            faults: Vec::new(),
            dry_run: false,
        }
    }

    pub(crate) fn queue(&mut self, mail: QueueMessage) -> Result<Outcome, Refusal> {
        self.decide(&Command::QueueMessage(Box::new(mail)))
    }

    /// Queues a mail and gives its message.
    pub(crate) fn queued(&mut self, to: &[&str]) -> MessageId {
        let mail = self.mail(to);
        match self.queue(mail).expect("queued") {
            Outcome::Sent(sent) => sent.message_id,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn named(&self, message: MessageId) -> SendRef {
        SendRef {
            tenant: self.tenant,
            message,
        }
    }

    /// Claims what can be claimed of some messages.
    pub(crate) fn claim(&mut self, messages: &[MessageId]) -> Vec<ClaimedSend> {
        let claim = ClaimSends {
            sends: messages.iter().map(|id| self.named(*id)).collect(),
            process: 7,
            asked_again_before: self.now.plus_ms(-10_000),
        };
        match self.decide(&Command::ClaimSends(claim)).expect("decided") {
            Outcome::SendsClaimed(claimed) => claimed,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn record(&mut self, claim: &ClaimedSend, submission: Submission) -> SendUpdate {
        let outcome = SendOutcome {
            send: self.named(claim.row.message_id),
            token: claim.row.claim.expect("claimed").token,
            submission,
        };
        let command = Command::RecordOutcomes(vec![outcome]);
        match self.decide(&command).expect("decided") {
            Outcome::SendsUpdated(updates) => updates[0],
            other => panic!("{other:?}"),
        }
    }

    /// Claims one message and records what came of it.
    pub(crate) fn attempt(&mut self, message: MessageId, submission: Submission) -> SendUpdate {
        let claimed = self.claim(&[message]);
        self.record(&claimed[0], submission)
    }

    pub(crate) fn set_policy(&mut self, patch: serde_json::Value) -> Result<Outcome, Refusal> {
        let patch: PolicyPatch = serde_json::from_value(patch).expect("a patch");
        let set = SetPolicy {
            tenant: self.tenant,
            patch,
        };
        self.decide(&Command::SetPolicy(set))
    }

    pub(crate) fn change_identity(&mut self, change: impl FnOnce(&mut IdentityRow)) {
        change(
            self.state
                .identities
                .get_mut(&self.identity)
                .expect("there"),
        );
    }

    pub(crate) fn send(&self, message: MessageId) -> &SendRow {
        &self.state.sends[&message]
    }

    pub(crate) fn deliveries(&self, message: MessageId) -> &[DeliveryRow] {
        &self.state.deliveries[&message]
    }

    pub(crate) fn statuses(&self, message: MessageId) -> Vec<DeliveryStatus> {
        self.deliveries(message).iter().map(|d| d.status).collect()
    }

    pub(crate) fn status(&self, message: MessageId) -> MessageStatus {
        self.state.messages[&message].row.status
    }

    /// What counts as sent and as held, of the mailbox; the tenant's sum is the same.
    pub(crate) fn usage(&self) -> (u64, u64) {
        let of = |identity| {
            self.state
                .usage
                .get(&(self.tenant, identity, DAY.to_owned()))
                .map_or((0, 0), |row| (row.sends, row.held))
        };
        assert_eq!(of(Some(self.identity)), of(None));
        of(None)
    }
}

pub(crate) fn recipient(address: &str) -> SendRecipient {
    SendRecipient {
        address: address.to_owned(),
        name: String::new(),
        field: RecipientField::To,
        hash: hash(address),
        base_hash: base(address).map(|base| hash(&base)),
        route: RecipientRoute::Outside,
        asked: false,
        on_forwarded: false,
    }
}

/// An address without its detail.
fn base(address: &str) -> Option<String> {
    let (local, domain) = address.rsplit_once('@')?;
    let (base, _) = local.split_once('+')?;
    Some(format!("{base}@{domain}"))
}

/// Stands for the keyed hash that a store makes.
pub(crate) fn hash(address: &str) -> [u8; 16] {
    let mut out = [0; 16];
    for (place, byte) in address.bytes().enumerate() {
        out[place % 16] ^= byte.rotate_left((place / 16) as u32);
    }
    out
}

pub(crate) fn code(answer: Result<Outcome, Refusal>) -> ErrorCode {
    match answer {
        Err(refusal) | Ok(Outcome::Recorded(refusal)) => refusal.code(),
        Ok(outcome) => panic!("{outcome:?}"),
    }
}
