//! From the parts of a mail to the message.

use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
};

use postroom_types::{Mailbox, Timestamp, limit};
use sha2::{Digest, Sha256};

use crate::{
    Defect, DefectCode, Flag, HeaderField, Kind, Parsed,
    automation::{self, Evidence},
    calendar, cut, date,
    field::{self, Block},
    html,
    html::VisibleText,
    invisible,
    mail::{self, Mail},
    mailbox, message_id, quote, word,
};

/// Defects listed of one mail.
const DEFECTS_KEPT: usize = 64;

/// Reads a mail behind a guard: should a parser fault after all, the mail is read in the plainest
/// way and says so.
pub(crate) fn read(raw: &[u8], envelope_sender: Option<&str>) -> Parsed {
    let guarded = catch_unwind(AssertUnwindSafe(|| {
        let mut defects = Vec::new();
        let bytes = mail::prepare(raw, &mut defects);
        let is_opened = defects
            .iter()
            .any(|defect| defect.code == DefectCode::OpaqueSigned);
        let sha256 = hex(&Sha256::digest(raw));
        let mut parsed = read_prepared(&bytes, raw.len(), sha256, envelope_sender, defects);
        if is_opened {
            parsed.headers = fields_of(&field::read_block(raw, 0, |_| false, &mut Vec::new()));
        }
        parsed
    }));
    guarded.unwrap_or_else(|_| plainest(raw))
}

fn read_prepared(
    bytes: &[u8],
    size: usize,
    sha256: String,
    envelope_sender: Option<&str>,
    defects: Vec<Defect>,
) -> Parsed {
    let mut reader = Reader {
        parsed: Parsed {
            raw_sha256: sha256,
            size: size as u64,
            defects,
            ..Parsed::default()
        },
        truncated: false,
        has_received: false,
    };
    let mail = Mail::read(bytes, &mut reader.parsed.defects);
    reader.headers(&mail);
    reader.ids();
    reader.bodies(&mail);
    reader.attachments(&mail);
    reader.kind(&mail, envelope_sender);
    reader.finish(&mail)
}

/// A header as the mail carries it.
fn fields_of(block: &Block<'_>) -> Vec<HeaderField> {
    let decoded = |field: &field::Field<'_>| HeaderField {
        name: String::from_utf8_lossy(field.name).into_owned(),
        value: word::decode(field.value).0,
    };
    block.fields.iter().map(decoded).collect()
}

/// What is left when everything else failed: the bytes as text.
fn plainest(raw: &[u8]) -> Parsed {
    let sha256 = hex(&Sha256::digest(raw));
    let start = raw.get(..limit::TEXT_BYTES).unwrap_or(raw);
    let text = String::from_utf8_lossy(start).replace('\0', "");
    let text = cut::bytes(&text, limit::TEXT_BYTES).trim().to_owned();
    Parsed {
        message_id: synthetic_id(&sha256),
        message_id_synthetic: true,
        raw_sha256: sha256,
        size: raw.len() as u64,
        snippet: snippet(&text),
        extracted_text: Some(cut::bytes(&text, limit::EXTRACTED_TEXT_BYTES).to_owned()),
        text: Some(text),
        flags: vec![Flag::ParseDegraded],
        defects: vec![Defect::new(DefectCode::Fault)],
        ..Parsed::default()
    }
}

fn synthetic_id(sha256: &str) -> String {
    format!("{sha256}@synthetic.invalid")
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// A text's beginning on one line, at most [`limit::SNIPPET_CHARS`] characters.
pub fn snippet(text: &str) -> String {
    let mut out = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        let room = limit::SNIPPET_CHARS.saturating_sub(count + usize::from(count > 0));
        if room == 0 {
            break;
        }
        if count > 0 {
            out.push(' ');
            count += 1;
        }
        let kept = cut::chars(word, room);
        out.push_str(kept);
        count += kept.chars().count();
        if kept.len() < word.len() {
            break;
        }
    }
    out
}

struct Reader {
    parsed: Parsed,
    truncated: bool,
    has_received: bool,
}

impl Reader {
    fn note(&mut self, code: DefectCode) {
        self.parsed.defects.push(Defect::new(code));
    }

    fn headers(&mut self, mail: &Mail<'_>) {
        let Some(root) = mail.parts.first() else {
            return;
        };
        if root.block.fields.is_empty() {
            self.note(DefectCode::NoHeaders);
        }
        let mut eight_bit = false;
        let mut from_fields = 0;
        for field in &root.block.fields {
            let (value, raw_bytes) = word::decode(field.value);
            eight_bit |= raw_bytes;
            from_fields += usize::from(field.name.eq_ignore_ascii_case(b"from"));
            self.field(field.name, field.value, &value);
            let name = String::from_utf8_lossy(field.name).into_owned();
            self.parsed.headers.push(HeaderField { name, value });
        }
        if eight_bit {
            self.note(DefectCode::EightBitHeader);
        }
        if from_fields > 1 {
            self.note(DefectCode::MultipleFrom);
        }
        if self.parsed.from.is_none() {
            self.note(DefectCode::MissingFrom);
        }
        self.date(root.block.first("date"));
        self.cut_addresses();
    }

    /// Takes one field in; `raw` is its value as it stands, `text` decoded.
    fn field(&mut self, name: &[u8], raw: &[u8], text: &str) {
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        let parsed = &mut self.parsed;
        if is(b"received") {
            // The topmost one only: the others tell of earlier hops.
            if !std::mem::replace(&mut self.has_received, true) {
                parsed.received_at = date::read_received(raw);
            }
        } else if is(b"from") {
            self.from(raw);
        } else if is(b"to") {
            parsed.to.extend(mailbox::read(raw).0);
        } else if is(b"subject") {
            if parsed.subject.is_none() {
                self.subject(text);
            }
        } else if is(b"cc") {
            parsed.cc.extend(mailbox::read(raw).0);
        } else if is(b"bcc") {
            parsed.bcc.extend(mailbox::read(raw).0);
        } else if is(b"reply-to") {
            parsed.reply_to.extend(mailbox::read(raw).0);
        } else if is(b"sender") && parsed.sender.is_none() {
            parsed.sender = mailbox::read(raw).0.into_iter().next();
        }
    }

    fn from(&mut self, value: &[u8]) {
        let mut authors = mailbox::read(value).0.into_iter();
        if self.parsed.from.is_none() {
            self.parsed.from = authors.next();
        }
        if authors.next().is_some() {
            self.note(DefectCode::MultipleFrom);
        }
    }

    fn subject(&mut self, value: &str) {
        let stripped = invisible::strip(value);
        self.parsed.hidden_text |= stripped.suspicious;
        let kept = cut::chars(stripped.text.trim(), limit::SUBJECT_CHARS);
        if kept.len() < stripped.text.trim().len() {
            self.truncated = true;
            self.note(DefectCode::TextCut);
        }
        self.parsed.subject = Some(kept.to_owned());
    }

    fn date(&mut self, value: Option<&[u8]>) {
        self.parsed.date = value.and_then(date::read);
        if value.is_none() {
            self.note(DefectCode::MissingDate);
        } else if self.parsed.date.is_none() {
            self.note(DefectCode::BrokenDate);
        }
    }

    fn cut_addresses(&mut self) {
        let parsed = &mut self.parsed;
        let lists: [&mut Vec<Mailbox>; 4] = [
            &mut parsed.to,
            &mut parsed.cc,
            &mut parsed.bcc,
            &mut parsed.reply_to,
        ];
        let mut cut = false;
        for list in lists {
            cut |= list.len() > limit::ADDRESSES_KEPT;
            list.truncate(limit::ADDRESSES_KEPT);
        }
        if cut {
            self.note(DefectCode::AddressesCut);
        }
    }

    fn header_values(&self, name: &str) -> Vec<&str> {
        self.parsed
            .headers
            .iter()
            .filter(|field| field.name.eq_ignore_ascii_case(name))
            .map(|field| field.value.as_str())
            .collect()
    }

    fn ids(&mut self) {
        let written = self.header_values("message-id");
        let id = written
            .iter()
            .find_map(|text| crate::normalize_message_id(text));
        let was_written = !written.is_empty();
        let in_reply_to = message_id::read_list(&self.header_values("in-reply-to").join(" "));
        let mut references = message_id::read_list(&self.header_values("references").join(" "));
        // Mail programs of old wrote the author's address into In-Reply-To; it would join every
        // thread with that person.
        let is_person = |id: &String| {
            let parsed = &self.parsed;
            let people = parsed
                .from
                .iter()
                .chain(&parsed.to)
                .chain(&parsed.cc)
                .chain(&parsed.reply_to);
            people
                .into_iter()
                .any(|person| person.address == id.to_lowercase())
        };
        let mut in_reply_to: Vec<String> = in_reply_to
            .into_iter()
            .filter(|id| !is_person(id))
            .collect();
        in_reply_to.truncate(limit::REFERENCES_KEPT);
        if references.len() > limit::REFERENCES_KEPT {
            references.drain(..references.len() - limit::REFERENCES_KEPT);
            self.note(DefectCode::ReferencesCut);
        }
        self.parsed.in_reply_to = in_reply_to;
        self.parsed.references = references;
        match id {
            Some(id) => self.parsed.message_id = id,
            None => {
                self.note(if was_written {
                    DefectCode::BrokenMessageId
                } else {
                    DefectCode::MissingMessageId
                });
                self.parsed.message_id = synthetic_id(&self.parsed.raw_sha256);
                self.parsed.message_id_synthetic = true;
            }
        }
    }

    fn bodies(&mut self, mail: &Mail<'_>) {
        let seen = mail.part(mail.html).map(|part| {
            let source = mail::text_of(part, &mut self.parsed.defects);
            html::html_to_text(&source)
        });
        self.parsed.has_html = seen.is_some();
        self.parsed.hidden_text |= seen.as_ref().is_some_and(|seen| seen.hidden);
        let plain = mail.part(mail.text).map(|part| {
            let text = mail::text_of(part, &mut self.parsed.defects);
            let stripped = invisible::strip(&text);
            self.parsed.hidden_text |= stripped.suspicious;
            match stripped.text {
                Cow::Borrowed(_) => text,
                Cow::Owned(stripped) => stripped,
            }
        });
        let history = seen.as_ref().and_then(first_of_history);
        let plain = plain.filter(|text| !text.trim().is_empty());
        let text = match (plain, seen) {
            (Some(plain), _) => plain,
            (None, Some(seen)) => seen.text,
            (None, None) => return,
        };
        let text = self.kept(tidy(text), limit::TEXT_BYTES);
        if text.is_empty() {
            return;
        }
        let split = quote::split(&text, history.as_deref());
        let extracted = self.kept(split.extracted, limit::EXTRACTED_TEXT_BYTES);
        self.parsed.snippet = snippet(&extracted);
        self.parsed.extracted_text = Some(extracted);
        self.parsed.text = Some(text);
    }

    /// Cut at a limit, with the flag for it.
    fn kept(&mut self, mut text: String, max: usize) -> String {
        let kept = cut::bytes(&text, max).len();
        if kept < text.len() {
            text.truncate(kept);
            self.truncated = true;
            self.note(DefectCode::TextCut);
        }
        text
    }

    fn attachments(&mut self, mail: &Mail<'_>) {
        for index in 0..mail.attachments.len() {
            let attachment = mail.attachment(index, &mut self.parsed.defects);
            self.parsed.attachments.extend(attachment);
        }
        if mail.is_nested_too_deep(0) {
            self.note(DefectCode::NestedMessagesCut);
        }
    }

    fn kind(&mut self, mail: &Mail<'_>, envelope_sender: Option<&str>) {
        let has = |media: &[&str]| {
            mail.parts
                .iter()
                .any(|part| media.contains(&part.media.value.as_str()))
        };
        let invitation = mail.parts.iter().find(|part| part.is("text/calendar"));
        self.parsed.calendar = invitation.map(|part| {
            let text = mail::text_of(part, &mut self.parsed.defects);
            calendar::read(&text, part.media.param("method"))
        });
        let report = mail
            .parts
            .first()
            .filter(|part| part.is("multipart/report"));
        let kind = automation::classify(&Evidence {
            headers: &self.parsed.headers,
            report_type: report
                .and_then(|part| part.media.param("report-type"))
                .map(str::to_ascii_lowercase),
            has_delivery_status: report.is_some()
                && has(&["message/delivery-status", "message/global-delivery-status"]),
            has_disposition_notification: report.is_some()
                && has(&[
                    "message/disposition-notification",
                    "message/global-disposition-notification",
                ]),
            has_returned_mail: has(&["message/rfc822", "message/global", "text/rfc822-headers"]),
            has_calendar: invitation.is_some(),
            from: self.parsed.from.as_ref().map_or("", |from| &from.address),
            subject: self.parsed.subject.as_deref().unwrap_or_default(),
            text: self.parsed.text.as_deref().unwrap_or_default(),
            envelope_sender,
        });
        self.parsed.kind = kind;
        self.parsed.automated = Kind::is_automated(kind);
    }

    fn finish(mut self, mail: &Mail<'_>) -> Parsed {
        let mut kept: Vec<Defect> = Vec::new();
        for defect in std::mem::take(&mut self.parsed.defects) {
            if kept.len() < DEFECTS_KEPT && !kept.contains(&defect) {
                kept.push(defect);
            }
        }
        let degraded = kept.iter().any(|defect| defect.code.degrades());
        let flags = [
            (self.truncated, Flag::BodyTruncated),
            (mail.encrypted, Flag::Encrypted),
            (degraded, Flag::ParseDegraded),
        ];
        self.parsed.flags = flags
            .into_iter()
            .filter_map(|(set, flag)| set.then_some(flag))
            .collect();
        self.parsed.defects = kept;
        self.parsed
    }
}

/// Without empty lines around it.
fn tidy(mut text: String) -> String {
    text.truncate(text.trim_end().len());
    let start = text.len() - text.trim_start().len();
    // The first line keeps its indentation.
    let line = text.get(..start).and_then(|before| before.rfind('\n'));
    if let Some(at) = line {
        text.drain(..=at);
    }
    text
}

/// The first line of the history container that the HTML marks, as text.
fn first_of_history(seen: &VisibleText) -> Option<String> {
    let tail = seen.text.get(seen.quote_at?..)?;
    let line = tail
        .lines()
        .find(|line| !line.trim_matches(['>', ' ']).is_empty())?;
    Some(line.trim_matches(['>', ' ']).to_owned())
}

/// The instant that `received_at` has for archived mail: the topmost Received header's time, else
/// the Date header.
pub fn archived_at(parsed: &Parsed) -> Option<Timestamp> {
    parsed.received_at.or(parsed.date)
}
