//! Files that the policy names: whom TLS trusts, and who answers for DNS.

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    client::Resumption,
    pki_types::{CertificateDer, pem::PemObject as _},
};

use super::{DnsFile, PolicyError};

/// TLS that verifies the host's name against the public roots and the operator's own.
pub(super) fn client(extra_ca: Option<&Path>) -> Result<Arc<ClientConfig>, PolicyError> {
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    if let Some(path) = extra_ca {
        add(&mut roots, path)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(PolicyError::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // A ticket of one tenant's exchange must not show up in another's.
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

fn add(roots: &mut RootCertStore, path: &Path) -> Result<(), PolicyError> {
    let pem = std::fs::read(path).map_err(|source| PolicyError::CaFile {
        path: path.to_owned(),
        source,
    })?;
    let unusable = || PolicyError::CaPem {
        path: path.to_owned(),
    };
    let mut found = false;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|_| unusable())?;
        roots.add(certificate).map_err(|_| unusable())?;
        found = true;
    }
    found.then_some(()).ok_or_else(unusable)
}

/// The DNS file.
pub(super) fn dns_file(path: &Path) -> Result<DnsFile, PolicyError> {
    let text = std::fs::read_to_string(path).map_err(|source| PolicyError::DnsFile {
        path: path.to_owned(),
        source,
    })?;
    DnsFile::parse(&text).map_err(|source| PolicyError::DnsEntry {
        path: path.to_owned(),
        source,
    })
}
