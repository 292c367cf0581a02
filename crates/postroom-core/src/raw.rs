//! Raw bytes with their digest.

use crate::Sha256Bytes;
use sha2::Digest as _;

/// The very bytes of a mail and their SHA-256, computed once where they came in.
pub struct RawMail {
    /// SHA-256 of the bytes.
    pub sha256: Sha256Bytes,
    /// Their number.
    pub size: u64,
    /// The bytes themselves; the store takes them out before it queues the command.
    pub bytes: Vec<u8>,
}

impl RawMail {
    /// Hashes `bytes`.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self {
            sha256: sha2::Sha256::digest(&bytes).into(),
            size: bytes.len() as u64,
            bytes,
        }
    }
}

impl std::fmt::Debug for RawMail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RawMail({} bytes)", self.size)
    }
}
