//! What a mail is once it was read: plain values, no borrowed bytes.

use postroom_types::{Mailbox, Timestamp};
use serde::{Deserialize, Serialize};

/// Everything Postroom makes of one raw mail.
///
/// Texts, names and subjects are an outsider's words. Every list and text is within the limits
/// table; what was cut is named in [`Parsed::flags`] and [`Parsed::defects`] and stays in the raw
/// bytes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Parsed {
    /// SHA-256 of the raw bytes, 64 lower-case hex digits.
    pub raw_sha256: String,
    /// Length of the raw bytes.
    pub size: u64,
    /// Message-ID, normalised, without angle brackets; `{raw_sha256}@synthetic.invalid` when the
    /// mail has none.
    pub message_id: String,
    /// Whether [`Parsed::message_id`] was made up.
    pub message_id_synthetic: bool,
    /// Ids of In-Reply-To, normalised, in order.
    pub in_reply_to: Vec<String>,
    /// Ids of References, normalised, oldest first; the last [`postroom_types::limit::REFERENCES_KEPT`].
    pub references: Vec<String>,
    /// First author; `None` when the mail names none.
    pub from: Option<Mailbox>,
    /// Sender header.
    pub sender: Option<Mailbox>,
    /// Reply-To header.
    pub reply_to: Vec<Mailbox>,
    /// To header, groups flattened.
    pub to: Vec<Mailbox>,
    /// Cc header, groups flattened.
    pub cc: Vec<Mailbox>,
    /// Bcc header as the mail carries it; never shown for received mail.
    pub bcc: Vec<Mailbox>,
    /// Subject as written, decoded, on one line; `None` when there is none.
    pub subject: Option<String>,
    /// Date header; the caller decides whether it can be `sent_at`.
    pub date: Option<Timestamp>,
    /// Time of the topmost Received header.
    pub received_at: Option<Timestamp>,
    /// The whole body as text, quotes included; from text/plain, else from the HTML.
    pub text: Option<String>,
    /// The body without quoted history and signature; never empty when `text` is not.
    pub extracted_text: Option<String>,
    /// Whether a text/html body exists.
    pub has_html: bool,
    /// Start of [`Parsed::extracted_text`] on one line.
    pub snippet: String,
    /// Every leaf that is not the text or HTML body, in order of the mail.
    pub attachments: Vec<Attachment>,
    /// What kind of mail this is.
    pub kind: Kind,
    /// Whether a program sent it (`dsn`, `mdn`, `list`, `automated`).
    pub automated: bool,
    /// Summary of the first text/calendar part.
    pub calendar: Option<Calendar>,
    /// Flags of the message, sorted, each once.
    pub flags: Vec<Flag>,
    /// Whether text was removed that a reader would not have seen.
    pub hidden_text: bool,
    /// What is wrong with the mail, in the order it was met.
    pub defects: Vec<Defect>,
    /// Header fields as the mail carries them: names as written, values decoded and unfolded.
    pub headers: Vec<HeaderField>,
}

/// One header field.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HeaderField {
    /// The name as written.
    pub name: String,
    /// The value on one line, encoded words (RFC 2047) decoded.
    pub value: String,
}

/// One leaf of a mail that is not its body.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Attachment {
    /// Its place among the attachments, from 0; the argument of [`crate::attachment`].
    pub index: usize,
    /// The file name without any folder; `None` when the mail gives none.
    pub filename: Option<String>,
    /// The declared type, lower case, without parameters.
    pub content_type: String,
    /// Length of the decoded bytes.
    pub size: u64,
    /// Content-Disposition, when it is one of the two known.
    pub disposition: Option<Disposition>,
    /// Content-ID without angle brackets.
    pub content_id: Option<String>,
    /// Whether it is an Outlook `winmail.dat` (application/ms-tnef).
    pub is_tnef: bool,
    /// Whether it is a mail of its own (message/rfc822).
    pub nested: bool,
}

/// Content-Disposition (RFC 2183).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// Meant to be kept as a file.
    Attachment,
    /// Meant to be shown within the text.
    Inline,
}

/// What kind of mail this is; the first that matches, in this order, with `Normal` last.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A delivery status notification (RFC 3464) or what looks like a bounce.
    Dsn,
    /// A disposition notification (RFC 8098).
    Mdn,
    /// Mail of a list or a bulk sender.
    List,
    /// An automatic answer or notice (RFC 3834).
    Automated,
    /// An invitation or its answer (RFC 6047).
    Calendar,
    /// A person's mail.
    #[default]
    Normal,
    /// A mail of our own, written for its recipients.
    Transactional,
    /// Bulk mail of our own that its recipients agreed to.
    Marketing,
    /// An answer of our own that no person decided on (RFC 3834).
    AutoReply,
}

impl Kind {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dsn => "dsn",
            Self::Mdn => "mdn",
            Self::List => "list",
            Self::Automated => "automated",
            Self::Calendar => "calendar",
            Self::Normal => "normal",
            Self::Transactional => "transactional",
            Self::Marketing => "marketing",
            Self::AutoReply => "auto_reply",
        }
    }

    /// Whether a program sent it.
    pub fn is_automated(self) -> bool {
        matches!(self, Self::Dsn | Self::Mdn | Self::List | Self::Automated)
    }
}

/// Flags that reading a mail can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// A text was longer than its limit and cut; the raw bytes have it whole.
    BodyTruncated,
    /// The body is encrypted (S/MIME or OpenPGP) and kept as an attachment.
    Encrypted,
    /// Something could not be read as it was meant; see the defects.
    ParseDegraded,
    /// It came to an address with the token of a thread that is not signed for the mailbox, or was not
    /// looked at because too many were not; it is filed by its header alone.
    ThreadJoinUnverified,
}

impl Flag {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BodyTruncated => "body_truncated",
            Self::Encrypted => "encrypted",
            Self::ParseDegraded => "parse_degraded",
            Self::ThreadJoinUnverified => "thread_join_unverified",
        }
    }
}

/// One thing that is wrong with a mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defect {
    /// What, from the closed list.
    pub code: DefectCode,
    /// More words, in our own wording or plain ASCII tokens of at most 64 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

macro_rules! defect_codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, degrades $degrades:literal;)*) => {
        /// Everything that can be wrong with a mail.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum DefectCode {
            $($(#[$doc])* #[serde(rename = $code)] $name,)*
        }

        impl DefectCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The stable wire name.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Whether the message is flagged `parse_degraded` for it.
            pub fn degrades(self) -> bool {
                match self { $(Self::$name => $degrades,)* }
            }
        }
    };
}

defect_codes! {
    /// More addresses than are kept in one header.
    AddressesCut = "addresses_cut", degrades false;
    /// More attachments than are listed.
    AttachmentsCut = "attachments_cut", degrades true;
    /// Base64 with foreign characters or a broken end.
    BrokenBase64 = "broken_base64", degrades false;
    /// A Date header that is no date.
    BrokenDate = "broken_date", degrades false;
    /// A header line without a name.
    BrokenHeader = "broken_header", degrades false;
    /// A Message-ID header without a usable id.
    BrokenMessageId = "broken_message_id", degrades false;
    /// Bytes that the named charset does not have.
    CharsetErrors = "charset_errors", degrades true;
    /// A charset label nobody knows; the charset was guessed.
    CharsetGuessed = "charset_guessed", degrades false;
    /// A content-transfer-encoding nobody knows; the bytes were taken as they stand.
    EncodingUnknown = "encoding_unknown", degrades false;
    /// Bytes outside ASCII in a header without any encoding.
    EightBitHeader = "eight_bit_header", degrades false;
    /// A parser fault was caught; the mail was read in the plainest way.
    Fault = "fault", degrades true;
    /// More header bytes than are read.
    HeaderBytesCut = "header_bytes_cut", degrades true;
    /// More header lines than are read.
    HeaderLinesCut = "header_lines_cut", degrades true;
    /// A multipart without a boundary parameter.
    MissingBoundary = "missing_boundary", degrades true;
    /// A multipart whose closing boundary never comes.
    MissingClosingBoundary = "missing_closing_boundary", degrades false;
    /// No Date header.
    MissingDate = "missing_date", degrades false;
    /// No From header with an address or a name.
    MissingFrom = "missing_from", degrades true;
    /// No Message-ID; one was made from the bytes.
    MissingMessageId = "missing_message_id", degrades false;
    /// Several authors; the first is used.
    MultipleFrom = "multiple_from", degrades true;
    /// Messages within messages deeper than are read.
    NestedMessagesCut = "nested_messages_cut", degrades true;
    /// Not one header field: the whole is read as text.
    NoHeaders = "no_headers", degrades true;
    /// NUL bytes in text, dropped from it.
    NulBytes = "nul_bytes", degrades false;
    /// MIME nesting deeper than is read.
    MimeDepthCut = "mime_depth_cut", degrades true;
    /// More MIME parts than are read.
    MimePartsCut = "mime_parts_cut", degrades true;
    /// More references than are kept.
    ReferencesCut = "references_cut", degrades false;
    /// The mail is larger than any that is read; only its start was.
    SizeCut = "size_cut", degrades true;
    /// The content stood inside an S/MIME signature; it is shown, the signature was not checked.
    OpaqueSigned = "opaque_signed", degrades false;
    /// A text was cut at its limit.
    TextCut = "text_cut", degrades false;
    /// A winmail.dat that could not be read to its end; it is listed beside what came out of it.
    TnefBroken = "tnef_broken", degrades true;
    /// Attachments or the body were taken out of a winmail.dat, which is no longer listed.
    TnefUnpacked = "tnef_unpacked", degrades false;
}

/// Summary of an invitation; at most 256 characters per value. Nothing is ever accepted by reading.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Calendar {
    /// METHOD, upper case (RFC 5546): REQUEST, REPLY, CANCEL ...
    pub method: Option<String>,
    /// SUMMARY.
    pub summary: Option<String>,
    /// DTSTART as written, with `TZID` in front when it has one.
    pub dtstart: Option<String>,
    /// DTEND as written.
    pub dtend: Option<String>,
    /// ORGANIZER: the address, without `mailto:`.
    pub organizer: Option<String>,
    /// LOCATION.
    pub location: Option<String>,
}

/// The bytes of one attachment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachmentBody {
    /// As in the message.
    pub attachment: Attachment,
    /// The decoded bytes.
    pub bytes: Vec<u8>,
}

/// What text an attachment has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachmentText {
    /// Whether there is text.
    pub status: TextStatus,
    /// Its pages, from 1; mail and HTML are one page.
    pub pages: Vec<Page>,
    /// How many pages there are.
    pub total_pages: Option<usize>,
    /// Whether text was cut at its limit.
    pub truncated: bool,
}

/// Whether an attachment's text can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextStatus {
    /// It is here.
    Ready,
    /// It should have text and could not be read.
    Unavailable,
    /// It is of a type that is not read.
    Skipped,
}

/// One page of an attachment's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Its number, from 1.
    pub page: usize,
    /// Its text.
    pub text: String,
}

impl Defect {
    pub(crate) fn new(code: DefectCode) -> Self {
        Self { code, detail: None }
    }

    /// With a token of the mail as detail: printable ASCII only, at most 64 characters.
    pub(crate) fn with_token(code: DefectCode, token: &str) -> Self {
        let detail: String = token
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/'))
            .take(64)
            .collect();
        Self {
            code,
            detail: (!detail.is_empty()).then_some(detail),
        }
    }
}
