//! The one writer of header fields: whatever words it is given, it writes printable ASCII, and a
//! line end only as its own folding.

use mail_parser::DateTime;
use postroom_types::{Address, AddressError, Mailbox, Timestamp, limit};

use super::{ComposeError, Disclosure, Fault, Outgoing, encode, references};
use crate::HOP_HEADER;

/// A longer word of plain text is written as encoded words, so that a line stays within 998 octets.
const PLAIN_WORD: usize = 800;
/// A longer quoted name is written as encoded words.
const QUOTED_NAME: usize = 60;
/// A longer parameter is written in pieces.
const PARAM: usize = 60;

/// Every field but those of MIME.
pub(super) fn header(outgoing: &Outgoing) -> Result<Vec<u8>, ComposeError> {
    let mut field = Fields::default();
    if !references::is_id(&outgoing.message_id) {
        return Err(ComposeError::invalid("message_id", Fault::MessageId));
    }
    field.ids("Message-ID", std::slice::from_ref(&outgoing.message_id));
    field.plain("Date", &date(outgoing.date));
    field.mailboxes("From", &[checked(&outgoing.from, || "from".into())?]);
    let reply_to = outgoing.reply_to.iter();
    let reply_to = reply_to.map(|mailbox| checked(mailbox, || "reply_to".into()));
    field.mailboxes("Reply-To", &reply_to.collect::<Result<Vec<_>, _>>()?);
    let (to, cc) = (
        checked_all(&outgoing.to, "to")?,
        checked_all(&outgoing.cc, "cc")?,
    );
    if to.is_empty() && cc.is_empty() {
        field.plain("To", "undisclosed-recipients:;");
    }
    field.mailboxes("To", &to);
    field.mailboxes("Cc", &cc);
    if !outgoing.content.subject.is_empty() {
        field.text("Subject", &outgoing.content.subject);
    }
    let answered = outgoing.references.in_reply_to().map(str::to_owned);
    field.ids("In-Reply-To", answered.as_slice());
    field.ids("References", outgoing.references.references());
    automatic(outgoing, &mut field);
    for (name, value) in outgoing.headers.fields() {
        field.text(name, value);
    }
    Ok(field.out)
}

/// What programs on the way go by.
fn automatic(outgoing: &Outgoing, field: &mut Fields) {
    const SUPPRESS: &str = "X-Auto-Response-Suppress";
    if outgoing.auto_reply {
        field.plain("Auto-Submitted", "auto-replied");
        if !outgoing.headers.has(SUPPRESS) {
            field.plain(SUPPRESS, "All");
        }
    }
    field.plain(HOP_HEADER, &outgoing.hop.to_string());
    if outgoing.disclosure == Disclosure::Header {
        field.plain("X-AI-Generated", "true");
    }
    if let Some(unsubscribe) = &outgoing.unsubscribe {
        field.plain("List-Unsubscribe", &format!("<{}>", unsubscribe.url()));
        field.plain("List-Unsubscribe-Post", "List-Unsubscribe=One-Click");
    }
}

/// RFC 5322 section 3.3; instants before 1970 are written as 1970.
pub(super) fn date(at: Timestamp) -> String {
    DateTime::from_timestamp(at.ms().max(0) / 1_000).to_rfc822()
}

/// A mailbox whose address can be written as it stands.
struct Checked<'a> {
    name: &'a str,
    address: String,
}

fn checked_all<'a>(list: &'a [Mailbox], name: &str) -> Result<Vec<Checked<'a>>, ComposeError> {
    let at =
        |(index, mailbox): (usize, &'a Mailbox)| checked(mailbox, || format!("{name}[{index}]"));
    list.iter().enumerate().map(at).collect()
}

fn checked(mailbox: &Mailbox, path: impl Fn() -> String) -> Result<Checked<'_>, ComposeError> {
    let address = Address::parse(&mailbox.address).map_err(|error| match error {
        AddressError::Unsupported => ComposeError::AddressUnsupported { path: path() },
        AddressError::Invalid | AddressError::TooLong => {
            ComposeError::AddressInvalid { path: path() }
        }
    })?;
    let (local, domain) = (address.local(), address.domain());
    Ok(Checked {
        name: crate::cut::chars(&mailbox.name, limit::NAME_CHARS),
        address: match address.detail() {
            Some(detail) => format!("{local}+{detail}@{domain}"),
            None => format!("{local}@{domain}"),
        },
    })
}

/// Header fields being written.
#[derive(Default)]
pub(super) struct Fields {
    out: Vec<u8>,
    column: usize,
    /// Whether the line holds more than the name: the first line of a field is never blank.
    has_words: bool,
}

impl Fields {
    /// Goes on behind what is written already.
    pub(super) fn behind(out: Vec<u8>) -> Self {
        Self {
            out,
            ..Self::default()
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// A name of our own or a checked one.
    fn name(&mut self, name: &str) {
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(b':');
        self.column = name.len() + 1;
        self.has_words = false;
    }

    fn end(&mut self) {
        self.out.extend_from_slice(b"\r\n");
        self.column = 0;
    }

    /// One word behind a blank, on the next line when it does not fit. The last filter: what is no
    /// printable ASCII is not written, so that no word can end a line.
    fn word(&mut self, word: &str) {
        if self.column + 1 + word.len() > encode::LINE && self.has_words {
            self.out.extend_from_slice(b"\r\n");
            self.column = 0;
        }
        self.out.push(b' ');
        let printable = word.bytes().filter(|byte| matches!(byte, b' '..=b'~'));
        self.out.extend(printable);
        self.column += 1 + word.len();
        self.has_words = true;
    }

    fn encoded(&mut self, text: &str) {
        self.out.push(b' ');
        self.column = encode::encoded_words(text, self.column + 1, &mut self.out);
        self.has_words = true;
    }

    /// Words of our own in printable ASCII.
    pub(super) fn plain(&mut self, name: &str, value: &str) {
        self.name(name);
        value.split(' ').for_each(|word| self.word(word));
        self.end();
    }

    /// Anybody's words.
    fn text(&mut self, name: &str, value: &str) {
        let value = encode::one_line(value);
        self.name(name);
        if is_plain(&value) {
            value.split(' ').for_each(|word| self.word(word));
        } else {
            self.encoded(&value);
        }
        self.end();
    }

    /// Nothing for an empty list.
    fn mailboxes(&mut self, name: &str, list: &[Checked<'_>]) {
        if list.is_empty() {
            return;
        }
        self.name(name);
        for (at, mailbox) in list.iter().enumerate() {
            let comma = if at + 1 < list.len() { "," } else { "" };
            let display = encode::one_line(mailbox.name);
            let display = display.trim();
            if display.is_empty() {
                self.word(&format!("{}{comma}", mailbox.address));
                continue;
            }
            self.phrase(display);
            self.word(&format!("<{}>{comma}", mailbox.address));
        }
        self.end();
    }

    /// A display name: atoms, a quoted string or encoded words (RFC 5322 section 3.2.5).
    fn phrase(&mut self, name: &str) {
        let is_atom = |word: &str| {
            let atext =
                |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
            !word.is_empty() && word.bytes().all(atext)
        };
        if !is_plain(name) {
            self.encoded(name);
        } else if name.split(' ').all(is_atom) {
            name.split(' ').for_each(|word| self.word(word));
        } else if name.len() <= QUOTED_NAME {
            let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
            self.word(&format!("\"{escaped}\""));
        } else {
            self.encoded(name);
        }
    }

    /// Ids without their angle brackets; nothing for an empty list.
    pub(super) fn ids(&mut self, name: &str, ids: &[String]) {
        if ids.is_empty() {
            return;
        }
        self.name(name);
        ids.iter().for_each(|id| self.word(&format!("<{id}>")));
        self.end();
    }

    /// A value of tokens with its parameters.
    pub(super) fn with_params(&mut self, name: &str, value: &str, params: &[(&str, &str)]) {
        let mut words = vec![value.to_owned()];
        for (name, value) in params {
            words.extend(param(name, value));
        }
        self.name(name);
        let last = words.len().saturating_sub(1);
        for (at, word) in words.iter().enumerate() {
            let semicolon = if at < last { ";" } else { "" };
            self.word(&format!("{word}{semicolon}"));
        }
        self.end();
    }
}

/// Printable ASCII in words of bearable length with one blank between them, that no reader takes
/// for an encoded word.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !text.contains("=?")
        && text
            .split(' ')
            .all(|word| !word.is_empty() && word.len() <= PLAIN_WORD)
}

/// A parameter: quoted, or extended and in pieces (RFC 2231 sections 3 and 4). `name` is a token.
fn param(name: &str, value: &str) -> Vec<String> {
    let is_quotable = value.len() <= PARAM
        && value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !value.contains(['"', '\\'])
        && !value.contains("=?");
    if is_quotable {
        return vec![format!("{name}=\"{value}\"")];
    }
    let mut pieces = vec!["utf-8''".to_owned()];
    for c in value.chars() {
        let mut buffer = [0u8; 4];
        let escaped = c
            .encode_utf8(&mut buffer)
            .bytes()
            .fold(String::new(), percent);
        match pieces.last_mut() {
            Some(piece) if piece.len() + escaped.len() <= PARAM => piece.push_str(&escaped),
            _ => pieces.push(escaped),
        }
    }
    match pieces.as_slice() {
        [only] => vec![format!("{name}*={only}")],
        many => many
            .iter()
            .enumerate()
            .map(|(at, piece)| format!("{name}*{at}*={piece}"))
            .collect(),
    }
}

/// RFC 2231 section 7: attribute characters stand as they are.
fn percent(mut out: String, byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`{|}~".contains(&byte) {
        out.push(char::from(byte));
    } else {
        out.push('%');
        out.extend(encode::hex(byte).map(char::from));
    }
    out
}
