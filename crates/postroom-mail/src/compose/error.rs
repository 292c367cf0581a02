//! Why a mail was not composed.

/// Why a mail was not composed; each has a stable code and mostly the path of the argument.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    /// An argument that cannot be used.
    #[error("{path}: {fault}")]
    Invalid {
        /// The argument, such as `subject`, `attachments[2].filename` or `headers.X-Ticket`.
        path: String,
        /// What is wrong with it.
        fault: Fault,
    },
    /// An address that is none.
    #[error("{path}: not an address: expected local@domain")]
    AddressInvalid {
        /// The argument, such as `to[0]`.
        path: String,
    },
    /// An address whose local part is not ASCII.
    #[error("{path}: addresses with a non-ASCII local part are not supported")]
    AddressUnsupported {
        /// The argument, such as `to[0]`.
        path: String,
    },
    /// A header field that callers do not set.
    #[error("{path}: this header field is set by the server or not at all")]
    HeaderNotAllowed {
        /// The argument: `headers.` and the name, its characters outside printable ASCII replaced.
        path: String,
    },
    /// Marketing without a usable way out of it.
    #[error("unsubscribe.url: expected an https URL in ASCII of at most 900 bytes")]
    UnsubscribeUrl,
    /// The composed mail is larger than any that leaves.
    #[error("the composed mail has {size_bytes} bytes, at most {max_bytes} can be sent")]
    TooLarge {
        /// What it came to, attachments in base64.
        size_bytes: usize,
        /// [`postroom_types::limit::SENT_MAIL_BYTES`].
        max_bytes: usize,
    },
}

impl ComposeError {
    /// The stable code: `invalid_request`, `address_invalid`, `address_unsupported`,
    /// `header_not_allowed`, `marketing_requirements_missing` or `message_too_large`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid_request",
            Self::AddressInvalid { .. } => "address_invalid",
            Self::AddressUnsupported { .. } => "address_unsupported",
            Self::HeaderNotAllowed { .. } => "header_not_allowed",
            Self::UnsubscribeUrl => "marketing_requirements_missing",
            Self::TooLarge { .. } => "message_too_large",
        }
    }

    /// The argument at fault, when it is one.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Invalid { path, .. }
            | Self::AddressInvalid { path }
            | Self::AddressUnsupported { path }
            | Self::HeaderNotAllowed { path } => Some(path),
            Self::UnsubscribeUrl => Some("unsubscribe.url"),
            Self::TooLarge { .. } => None,
        }
    }

    pub(super) fn invalid(path: impl Into<String>, fault: Fault) -> Self {
        Self::Invalid {
            path: path.into(),
            fault,
        }
    }
}

/// What is wrong with an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Nothing is there.
    #[error("must not be empty")]
    Empty,
    /// Neither text nor HTML.
    #[error("give text, html or both")]
    NoText,
    /// Longer than its limit, in the unit named.
    #[error("at most {0} {1}")]
    TooLong(usize, &'static str),
    /// A line end, a control character or a line separator where one line is expected.
    #[error("must be one line without control characters")]
    NotOneLine,
    /// A NUL character.
    #[error("must not have NUL characters")]
    Nul,
    /// A value that is not in the list.
    #[error("must be one of {0}")]
    NotOneOf(&'static str),
    /// Two names that differ only in case.
    #[error("the same name is given twice in different case")]
    Twice,
    /// More than are allowed.
    #[error("at most {0}")]
    TooMany(usize),
    /// No media type.
    #[error("expected a media type such as application/pdf")]
    MediaType,
    /// A type that cannot be attached.
    #[error("parts of this type cannot be attached")]
    Composite,
    /// A file name with a folder in it.
    #[error("must be a name without a folder")]
    Folder,
    /// A file that is shown within the text has no id.
    #[error("an inline attachment needs a content_id")]
    NoContentId,
    /// An id with characters that ids do not have.
    #[error("expected printable ASCII without spaces and angle brackets")]
    ContentId,
    /// Not `left@right`.
    #[error("expected left@right in printable ASCII")]
    MessageId,
}
