//! Why a configuration stops the start, and what to do.

/// Why the process does not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// A key of the file that is not in the table.
    #[error("{file} has an unknown key `{key}`; the nearest known key is `{nearest}`")]
    UnknownKey {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// The known key that is most like it.
        nearest: &'static str,
    },
    /// A variable that is not in the table.
    #[error("the variable {variable} is unknown; the nearest known one is {nearest}")]
    UnknownVariable {
        /// The variable.
        variable: String,
        /// The known variable that is most like it.
        nearest: String,
    },
    /// A value that its key does not take.
    #[error("{place} is not valid: expected {expected}")]
    BadValue {
        /// Where the value stood.
        place: String,
        /// What would be valid.
        expected: &'static str,
    },
    /// The file cannot be read.
    #[error("{file} cannot be read: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no TOML.
    #[error("{file} is not valid TOML: {message}")]
    NotToml {
        /// The file.
        file: String,
        /// Where and why.
        message: String,
    },
    /// A certificate without a key or the other way round.
    #[error("tls_certificate and tls_key belong together: only one of them is set")]
    HalfTls,
}

impl ConfigError {
    /// What to do.
    pub(crate) fn fix(&self) -> String {
        match self {
            Self::UnknownKey { nearest, .. } => {
                format!("Write `{nearest}`, or remove the line; `postroom config` lists the keys.")
            }
            Self::UnknownVariable { nearest, .. } => {
                format!("Set {nearest}, or unset the variable; `postroom config` lists the keys.")
            }
            Self::BadValue { expected, .. } => format!("Give {expected}."),
            Self::Unreadable { .. } => {
                "Name a readable file with --config, or leave it out.".to_owned()
            }
            Self::NotToml { .. } => "Correct the file at the place that is named.".to_owned(),
            Self::HalfTls => "Set both, or neither for a self-made certificate.".to_owned(),
        }
    }
}
