//! What is asked about documents that are worked on.

use postroom_types::{DocumentSessionId, KeyId, TenantScope};

/// See [`crate::Command::PutDocument`].
#[derive(Debug, Clone)]
pub struct PutDocument {
    /// Who saves; one who reaches a single identity saves for that one.
    pub scope: TenantScope,
    /// Which; `None` for a new one.
    pub id: Option<DocumentSessionId>,
    /// Its name; `None` leaves it, and calls a new one `Untitled`.
    pub name: Option<String>,
    /// The document, JSON in canonical form.
    pub document: String,
    /// The version it changes; a known document needs it.
    pub version: Option<u64>,
    /// The key that saves; `None` for a person.
    pub key: Option<KeyId>,
}
