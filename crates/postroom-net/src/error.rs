//! What goes wrong at this room's edge.

use std::{io, path::PathBuf};

use postroom_types::ErrorCode;

/// Why a listener or a certificate is not there.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The name for the banner is no domain and no address literal.
    #[error("the SMTP host name is not a domain name")]
    Hostname,
    /// A certificate or key file could not be read or written.
    #[error("cannot use the TLS file {path}")]
    TlsFile {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A file holds no certificate or no private key in PEM.
    #[error("{path} holds no usable PEM")]
    TlsPem {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    /// The certificate and the key do not go together, or the key's kind is not supported.
    #[error("the TLS certificate and key cannot be used")]
    TlsKey(#[source] rustls::Error),
    /// No certificate could be made.
    #[error("cannot make a TLS certificate")]
    TlsMake(#[source] rcgen::Error),
}

impl NetError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Hostname | Self::TlsPem { .. } | Self::TlsKey(_) => ErrorCode::InvalidArgument,
            Self::TlsFile { .. } => ErrorCode::Unavailable,
            Self::TlsMake(_) => ErrorCode::InternalError,
        }
    }
}
