//! Reports that wait for what they speak of.

use crate::{
    DeliveryEvent, DeliveryReport, DeliverySubject, Reporter, UnknownWord, row::BounceType,
};
use postroom_types::{IdentityId, MessageId, TenantId, Timestamp};

/// What a provider told of a mail before its own answer to it was noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlyReportRow {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The provider's name for the mail.
    pub provider_message_id: String,
    /// The mailbox of whose mail alone its channel speaks.
    pub identity_id: Option<IdentityId>,
    /// Which recipient; all of them without one.
    pub recipient: Option<String>,
    /// What it says.
    pub event: DeliveryEvent,
    /// Reply code.
    pub smtp_code: Option<u64>,
    /// Enhanced status code.
    pub enhanced_code: Option<String>,
    /// Why, in the provider's words.
    pub reason: Option<String>,
    /// When it came.
    pub at: Timestamp,
}

impl EarlyReportRow {
    /// What `report` says, to be kept at `now`; `None` for one that names a message, and for what nobody
    /// vouches for.
    pub(crate) fn of(report: &DeliveryReport, now: Timestamp) -> Option<Self> {
        let DeliverySubject::Provider(name) = &report.subject else {
            return None;
        };
        let identity_id = match report.reporter {
            Reporter::Transport => None,
            Reporter::TransportOf(identity) => Some(identity),
            Reporter::Mail => return None,
        };
        Some(Self {
            tenant_id: report.tenant,
            provider_message_id: name.clone(),
            identity_id,
            recipient: report.recipient.clone(),
            event: report.event,
            smtp_code: report.smtp_code,
            enhanced_code: report.enhanced_code.clone(),
            reason: report.reason.clone(),
            at: now,
        })
    }

    /// The report, now that its message is known.
    pub(crate) fn report_on(&self, message: MessageId) -> DeliveryReport {
        DeliveryReport {
            tenant: self.tenant_id,
            reporter: self
                .identity_id
                .map_or(Reporter::Transport, Reporter::TransportOf),
            subject: DeliverySubject::Message(message),
            recipient: self.recipient.clone(),
            event: self.event,
            smtp_code: self.smtp_code,
            enhanced_code: self.enhanced_code.clone(),
            reason: self.reason.clone(),
        }
    }

    /// Whether it says the same of the same as another.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        let said = |row: &Self| (row.tenant_id, row.identity_id, row.event);
        said(self) == said(other)
            && self.provider_message_id == other.provider_message_id
            && self.recipient == other.recipient
    }
}

impl DeliveryEvent {
    /// Every event.
    pub const ALL: &'static [Self] = &[
        Self::Submitted,
        Self::Delivered,
        Self::Deferred,
        Self::Bounced(BounceType::Hard),
        Self::Bounced(BounceType::Soft),
        Self::Complained,
        Self::Rejected,
        Self::SuppressedByProvider,
    ];

    /// The word that rows hold.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Delivered => "delivered",
            Self::Deferred => "deferred",
            Self::Bounced(BounceType::Hard) => "bounced_hard",
            Self::Bounced(BounceType::Soft) => "bounced_soft",
            Self::Complained => "complained",
            Self::Rejected => "rejected",
            Self::SuppressedByProvider => "suppressed",
        }
    }
}

impl std::str::FromStr for DeliveryEvent {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let mut all = Self::ALL.iter().copied();
        all.find(|event| event.as_str() == text)
            .ok_or(UnknownWord("DeliveryEvent"))
    }
}
