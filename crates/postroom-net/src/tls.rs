//! Certificates for STARTTLS.
//!
//! Mail servers encrypt without asking who is there, so a certificate that nobody vouches for is
//! as good as none is bad: [`self_made`] makes one on the first start and keeps it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

use crate::NetError;

/// The file of a certificate that was made here.
const CERTIFICATE_FILE: &str = "smtp-cert.pem";
/// The file of its private key.
const KEY_FILE: &str = "smtp-key.pem";

/// Loads a certificate chain (leaf first) and its private key from PEM files.
///
/// # Errors
/// [`NetError`] when a file cannot be read, holds no PEM, or the two do not go together.
pub fn from_pem(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, NetError> {
    let chain = CertificateDer::pem_slice_iter(&read(certificate)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| NetError::TlsPem {
            path: certificate.to_owned(),
            source,
        })?;
    if chain.is_empty() {
        return Err(NetError::TlsPem {
            path: certificate.to_owned(),
            source: rustls::pki_types::pem::Error::NoItemsFound,
        });
    }
    let key = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|source| NetError::TlsPem {
        path: key.to_owned(),
        source,
    })?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(NetError::TlsKey)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(NetError::TlsKey)?;
    Ok(Arc::new(config))
}

/// Loads the certificate that was made in `folder`, or makes one for `hostname` and keeps it there.
///
/// The key's file can be read by its owner only. The folder must exist.
///
/// # Errors
/// [`NetError`] when the files cannot be read, written or used.
pub fn self_made(folder: &Path, hostname: &str) -> Result<Arc<ServerConfig>, NetError> {
    let [certificate, key] = self_made_files(folder);
    // The certificate is written last: where it stands, the key stands too.
    if !certificate.exists() {
        let (certificate_pem, key_pem) = make(hostname).map_err(NetError::TlsMake)?;
        write(&key, key_pem.as_bytes(), 0o600)?;
        write(&certificate, certificate_pem.as_bytes(), 0o644)?;
    }
    from_pem(&certificate, &key)
}

/// The files that [`self_made`] keeps in `folder`: the certificate and its key.
pub fn self_made_files(folder: &Path) -> [PathBuf; 2] {
    [folder.join(CERTIFICATE_FILE), folder.join(KEY_FILE)]
}

/// A certificate for one name and its key, both as PEM.
fn make(hostname: &str) -> Result<(String, String), rcgen::Error> {
    // An address literal goes into a certificate without its brackets.
    let name_or_ip = hostname
        .trim_matches(['[', ']'])
        .trim_start_matches("IPv6:");
    let mut parameters = CertificateParams::new([name_or_ip.to_owned()])?;
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, hostname);
    parameters.distinguished_name = name;
    let key = KeyPair::generate()?;
    let certificate = parameters.self_signed(&key)?;
    Ok((certificate.pem(), key.serialize_pem()))
}

fn read(path: &Path) -> Result<Vec<u8>, NetError> {
    fs::read(path).map_err(|source| NetError::TlsFile {
        path: path.to_owned(),
        source,
    })
}

/// Writes aside, syncs and renames, so that no half file is ever loaded.
fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), NetError> {
    let aside = path.with_extension("pem.new");
    let written = || -> io::Result<()> {
        match fs::remove_file(&aside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&aside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&aside, path)?;
        File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
    };
    written().map_err(|source| NetError::TlsFile {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn made_once_and_kept_with_a_private_key_nobody_else_reads() {
        let folder = tempfile::tempdir().expect("folder");
        self_made(folder.path(), "mail.example").expect("made");
        let key = folder.path().join(KEY_FILE);
        let first = fs::read(&key).expect("key");
        let mode = fs::metadata(&key).expect("metadata").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        self_made(folder.path(), "mail.example").expect("loaded");
        assert_eq!(fs::read(&key).expect("key"), first);
    }

    #[test]
    fn an_address_literal_is_a_name_too() {
        for hostname in ["[192.0.2.1]", "[IPv6:2001:db8::1]", "localhost"] {
            let folder = tempfile::tempdir().expect("folder");
            self_made(folder.path(), hostname).expect("made");
        }
    }

    #[test]
    fn files_that_are_no_pair_are_refused() {
        let folder = tempfile::tempdir().expect("folder");
        self_made(folder.path(), "mail.example").expect("made");
        let certificate = folder.path().join(CERTIFICATE_FILE);
        let key = folder.path().join(KEY_FILE);
        let missing = folder.path().join("missing.pem");
        assert!(matches!(
            from_pem(&missing, &key),
            Err(NetError::TlsFile { .. })
        ));
        assert!(matches!(from_pem(&key, &key), Err(NetError::TlsPem { .. })));
        assert!(matches!(
            from_pem(&certificate, &certificate),
            Err(NetError::TlsPem { .. })
        ));
        let other = tempfile::tempdir().expect("folder");
        self_made(other.path(), "mail.example").expect("made");
        let foreign = other.path().join(KEY_FILE);
        assert!(matches!(
            from_pem(&certificate, &foreign),
            Err(NetError::TlsKey(_))
        ));
    }
}
