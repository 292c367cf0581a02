//! The secret key and what is derived from it.

use crate::{StoreError, blob::sync_folder};
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use postroom_core::{AddressHash, hex};
use postroom_types::{DraftId, Secret, TenantId};
use sha2::Sha256;
use std::{fs, io::Write as _, path::Path};

type Subkey = Secret<[u8; 32]>;

/// Keys derived from the secret key by HKDF-SHA-256 (RFC 5869), one per use.
pub struct Subkeys {
    credentials: Subkey,
    tokens: Subkey,
    cursors: Subkey,
    sealing: Subkey,
    queries: Subkey,
    addresses: Subkey,
    threads: Subkey,
    etags: Subkey,
    fingerprint: String,
}

impl std::fmt::Debug for Subkeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Subkeys(..)")
    }
}

impl Subkeys {
    /// Derives all subkeys.
    pub fn new(secret: &Secret<[u8; 32]>) -> Self {
        let hkdf = Hkdf::<Sha256>::new(None, secret.expose());
        let derive = |label: &str| {
            let mut out = [0; 32];
            // 32 bytes are far below the 8,160 that HKDF can give.
            let _fits = hkdf.expand(label.as_bytes(), &mut out);
            Secret::new(out)
        };
        let fingerprint = derive("postroom fingerprint v1");
        Self {
            credentials: derive("postroom api keys v1"),
            tokens: derive("postroom tokens v1"),
            cursors: derive("postroom cursors v1"),
            sealing: derive("postroom sealing v1"),
            queries: derive("postroom query hashes v1"),
            addresses: derive("postroom address hashes v1"),
            threads: derive("postroom thread tokens v1"),
            etags: derive("postroom draft etags v1"),
            fingerprint: hex(fingerprint.expose().get(..16).unwrap_or_default()),
        }
    }

    /// What the database keeps to tell this key from another; says nothing about the key.
    pub(crate) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// A keyed hash of a search query as 16 hex digits, for log lines.
    pub fn query_hash(&self, query: &str) -> String {
        let mac = mac(&self.queries, &[query.as_bytes()]);
        hex(mac.get(..8).unwrap_or_default())
    }

    /// A keyed hash of an address in a tenant: `local@domain`, lower case, with its detail.
    pub fn address_hash(&self, tenant: TenantId, address: &str) -> AddressHash {
        let mac = mac(
            &self.addresses,
            &[&tenant.bits().to_be_bytes(), address.as_bytes()],
        );
        mac.first_chunk::<16>().copied().unwrap_or_default()
    }

    /// A keyed name of one version of a draft, 16 hex digits: nobody guesses it who has not read it.
    pub fn draft_etag(&self, draft: DraftId, version: u64) -> String {
        let mac = mac(
            &self.etags,
            &[&draft.bits().to_be_bytes(), &version.to_be_bytes()],
        );
        hex(mac.get(..8).unwrap_or_default())
    }

    /// The key of tokens in reply addresses, which name a thread.
    pub fn thread_tokens(&self) -> &Secret<[u8; 32]> {
        &self.threads
    }

    /// The key under which values are sealed at rest.
    pub fn sealing(&self) -> &Secret<[u8; 32]> {
        &self.sealing
    }

    pub(crate) fn credential_hash(&self, token: &str) -> [u8; 32] {
        mac(&self.credentials, &[token.as_bytes()])
    }

    pub(crate) fn token_hash(&self, token: &str) -> [u8; 32] {
        mac(&self.tokens, &[token.as_bytes()])
    }

    pub(crate) fn cursor_mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        mac(&self.cursors, parts)
    }
}

/// HMAC-SHA-256 over parts, each with its length in front, so that no two lists of parts are the
/// same bytes.
fn mac(key: &Subkey, parts: &[&[u8]]) -> [u8; 32] {
    // HMAC takes a key of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.expose()) else {
        return [0; 32];
    };
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// The file of the secret key in the data folder.
pub(crate) const SECRET_FILE: &str = "secret.key";

fn wrong(reason: impl ToString) -> StoreError {
    StoreError::Open {
        what: SECRET_FILE.to_owned(),
        reason: reason.to_string(),
    }
}

/// Reads `secret.key` of the data folder; `None` when there is none.
pub(crate) fn load(data_dir: &Path) -> Result<Option<Secret<[u8; 32]>>, StoreError> {
    match fs::read_to_string(data_dir.join(SECRET_FILE)) {
        Ok(text) => decode(text.trim())
            .map(Some)
            .ok_or_else(|| wrong("expected 64 hexadecimal digits")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(wrong(error)),
    }
}

/// Makes `secret.key` (mode 0600). Only for a database that no other key was used with: whoever
/// lost the file must not find a fresh one in its place.
pub(crate) fn create(data_dir: &Path) -> Result<Secret<[u8; 32]>, StoreError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(wrong)?;
    write(&data_dir.join(SECRET_FILE), &hex(&bytes)).map_err(wrong)?;
    sync_folder(data_dir).map_err(wrong)?;
    Ok(Secret::new(bytes))
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}

/// 64 hexadecimal digits.
fn decode(text: &str) -> Option<Secret<[u8; 32]>> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut out = [0; 32];
    for (place, slot) in out.iter_mut().enumerate() {
        let digits = text.get(place * 2..place * 2 + 2)?;
        *slot = u8::from_str_radix(digits, 16).ok()?;
    }
    Some(Secret::new(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_made_once_and_only_its_owner_reads_it() {
        let dir = tempfile::tempdir().expect("dir");
        assert!(load(dir.path()).expect("none").is_none());
        let first = create(dir.path()).expect("made");
        let second = load(dir.path()).expect("read").expect("there");
        assert!(first.matches(second.expose()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(dir.path().join("secret.key"))
                .expect("there")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(dir.path().join("secret.key"), "short").expect("written");
        assert!(load(dir.path()).is_err());
        assert!(create(dir.path()).is_err());
    }

    #[test]
    fn subkeys_differ_by_use_and_by_secret() {
        let keys = Subkeys::new(&Secret::new([7; 32]));
        let other = Subkeys::new(&Secret::new([8; 32]));
        assert_ne!(keys.credential_hash("x"), keys.token_hash("x"));
        assert_ne!(keys.credential_hash("x"), other.credential_hash("x"));
        assert_ne!(keys.fingerprint(), other.fingerprint());
        assert_eq!(keys.query_hash("invoice").len(), 16);
        assert_ne!(
            keys.cursor_mac(&[b"ab", b"c"]),
            keys.cursor_mac(&[b"a", b"bc"])
        );
    }
}
