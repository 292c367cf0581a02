//! TLS to PostgreSQL, as far as the URL asks for it.

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject as _},
};
use std::{path::PathBuf, sync::Arc};

/// What is checked of the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Nothing: the connection is encrypted, to whomever (libpq's `require`).
    Nothing,
    /// That somebody trusted has signed it.
    Chain,
    /// The same, and that it is for the host of the URL.
    ChainAndName,
}

/// Files that the URL names.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    /// Who is trusted besides those that browsers trust.
    pub(super) roots: Option<PathBuf>,
    /// This side's certificate.
    pub(super) cert: Option<PathBuf>,
    /// Its key.
    pub(super) key: Option<PathBuf>,
}

type Result<T> = std::result::Result<T, String>;

/// How to speak TLS.
pub(super) fn config(check: Check, files: &Files) -> Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match check {
        Check::Nothing => Arc::new(Lenient {
            provider: Arc::clone(&provider),
            chain: None,
        }),
        Check::Chain => Arc::new(Lenient {
            provider: Arc::clone(&provider),
            chain: Some(chain(files, &provider)?),
        }),
        Check::ChainAndName => chain(files, &provider)?,
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| "TLS cannot be set up".to_owned())?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let (cert, key) = match (&files.cert, &files.key) {
        (None, None) => return Ok(builder.with_no_client_auth()),
        (Some(cert), Some(key)) => (cert, key),
        _ => return Err("sslcert and sslkey go together".to_owned()),
    };
    let certs = certificates(cert).ok_or("sslcert cannot be read")?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|_| "sslkey cannot be read".to_owned())?;
    builder
        .with_client_auth_cert(certs, key)
        .map_err(|_| "sslcert and sslkey do not fit".to_owned())
}

fn certificates(path: &PathBuf) -> Option<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_file_iter(path)
        .ok()?
        .collect::<std::result::Result<_, _>>()
        .ok()
}

fn chain(files: &Files, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>> {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if let Some(path) = &files.roots {
        const UNREAD: &str = "sslrootcert cannot be read";
        for cert in certificates(path).ok_or(UNREAD)? {
            roots.add(cert).map_err(|_| UNREAD.to_owned())?;
        }
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|_| "TLS cannot be set up".to_owned())
}

/// Asks less than a certificate for the very host.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    /// Who checks the signatures of the certificate; nobody without it.
    chain: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else {
            return Ok(ServerCertVerified::assertion());
        };
        let checked =
            chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match checked {
            // Its chain was checked before its name.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            checked => checked,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a client with this check makes of a certificate that `ca` signed for `db.example`.
    fn checked(check: Check, trusts: bool, host: &str) -> bool {
        let mut params = rcgen::CertificateParams::new(Vec::new()).expect("params");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().expect("key");
        let ca = rcgen::CertifiedIssuer::self_signed(params, key).expect("signed");
        let key = rcgen::KeyPair::generate().expect("key");
        let params = rcgen::CertificateParams::new(vec!["db.example".to_owned()]).expect("params");
        let leaf = params.signed_by(&key, &ca).expect("signed");
        let folder = tempfile::tempdir().expect("dir");
        let path = folder.path().join("ca.pem");
        std::fs::write(&path, ca.pem()).expect("written");
        let files = Files {
            roots: trusts.then_some(path),
            ..Files::default()
        };
        let server = rustls::ServerConfig::builder_with_provider(Arc::new(
            rustls::crypto::ring::default_provider(),
        ))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(
            vec![leaf.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).expect("key"),
        )
        .expect("config");
        let mut server = rustls::ServerConnection::new(Arc::new(server)).expect("server");
        let name = ServerName::try_from(host.to_owned()).expect("name");
        let client = config(check, &files).expect("config");
        let mut client = rustls::ClientConnection::new(Arc::new(client), name).expect("client");
        while client.is_handshaking() {
            let mut bytes = Vec::new();
            while client.wants_write() {
                client.write_tls(&mut bytes).expect("written");
            }
            server.read_tls(&mut bytes.as_slice()).expect("read");
            server.process_new_packets().expect("the server goes on");
            let mut bytes = Vec::new();
            while server.wants_write() {
                server.write_tls(&mut bytes).expect("written");
            }
            client.read_tls(&mut bytes.as_slice()).expect("read");
            if client.process_new_packets().is_err() {
                return false;
            }
        }
        true
    }

    #[test]
    fn each_mode_checks_what_it_says() {
        for (check, trusts, host, passes) in [
            (Check::Nothing, false, "other.example", true),
            (Check::Chain, false, "db.example", false),
            (Check::Chain, true, "other.example", true),
            (Check::ChainAndName, true, "other.example", false),
            (Check::ChainAndName, true, "db.example", true),
            (Check::ChainAndName, false, "db.example", false),
        ] {
            assert_eq!(
                checked(check, trusts, host),
                passes,
                "{check:?} {trusts} {host}"
            );
        }
    }
}
