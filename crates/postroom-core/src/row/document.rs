//! Documents that are worked on in rounds, by agents and people.

use postroom_types::{DocumentSessionId, IdentityId, KeyId, TenantId, Timestamp};

/// A document that is worked on, without its states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentSessionRow {
    /// Its id.
    pub id: DocumentSessionId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// The identity that it belongs to; `None` for one of the whole tenant.
    pub identity_id: Option<IdentityId>,
    /// A name for people.
    pub name: String,
    /// Number of its newest state, from 1; a save names the one it changes.
    pub version: u64,
    /// When it was first saved.
    pub created_at: Timestamp,
    /// When it was last saved.
    pub updated_at: Timestamp,
}

/// One state of such a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentStateRow {
    /// Whose.
    pub session_id: DocumentSessionId,
    /// Its number.
    pub version: u64,
    /// The document, JSON in canonical form.
    pub document: String,
    /// When it was saved.
    pub at: Timestamp,
    /// The key that saved it; `None` for a person.
    pub key_id: Option<KeyId>,
}
