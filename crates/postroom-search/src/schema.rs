//! The shape of an index, and how a message is laid out in it.
//!
//! Nothing is stored, only indexed: terms with positions for words, plain terms for filters, and
//! columns for what is compared or counted.

use std::collections::HashSet;

use postroom_query::{AttachmentType, Direction};
use postroom_types::{IdentityId, Mailbox};
use tantivy::{
    TantivyDocument,
    schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions},
};

use crate::{
    Doc, DocAttachment,
    analysis::{TOKENIZER, fold},
    message::class_of,
};

/// Counted up whenever fields or analysis change; an index of another shape is rebuilt.
pub(crate) const SHAPE: u32 = 1;

/// Column of message numbers.
pub(crate) const NUM: &str = "num";
/// Column of message dates, milliseconds.
pub(crate) const DATE: &str = "date";
/// Column of [`flags`].
pub(crate) const FLAGS: &str = "flags";
/// Column of the sender's address.
pub(crate) const SENDER: &str = "sender";

/// What a term of the `from` and `to` fields begins with when it is a name. No address begins so,
/// which keeps a display name that looks like an address from matching as one.
pub(crate) const NAME_MARK: char = '"';

/// The fields of an index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    pub(crate) num: Field,
    pub(crate) date: Field,
    pub(crate) flags: Field,
    pub(crate) sender: Field,
    pub(crate) identity: Field,
    pub(crate) from: Field,
    pub(crate) to: Field,
    pub(crate) filename: Field,
    pub(crate) media: Field,
    pub(crate) subject: Field,
    pub(crate) people: Field,
    pub(crate) body: Field,
    pub(crate) quoted: Field,
    pub(crate) attachment: Field,
}

/// Bits of the flags column.
pub(crate) mod flags {
    use super::{AttachmentType, Direction};

    pub(crate) const OUTBOUND: u64 = 1;
    pub(crate) const INBOUND: u64 = 1 << 1;
    pub(crate) const HAS_ATTACHMENT: u64 = 1 << 2;
    const FIRST_CLASS: u32 = 8;

    /// The classes of a flags column.
    pub(crate) fn classes(bits: u64) -> impl Iterator<Item = &'static AttachmentType> {
        let mut rest = bits >> FIRST_CLASS;
        std::iter::from_fn(move || {
            let place = usize::try_from(rest.trailing_zeros()).ok()?;
            rest &= rest.checked_sub(1)?;
            AttachmentType::CLASSES.get(place)
        })
    }

    pub(crate) fn direction(direction: Direction) -> u64 {
        match direction {
            Direction::Inbound => INBOUND,
            Direction::Outbound => OUTBOUND,
        }
    }

    /// The bit of an attachment class; none for a media type.
    pub(crate) fn class(class: &AttachmentType) -> u64 {
        AttachmentType::CLASSES
            .iter()
            .zip(FIRST_CLASS..)
            .find(|(known, _)| *known == class)
            .map_or(0, |(_, bit)| 1 << bit)
    }
}

/// The schema and its fields.
pub(crate) fn schema() -> (Schema, Fields) {
    let words = |fieldnorms| {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(TOKENIZER)
                .set_fieldnorms(fieldnorms)
                .set_index_option(IndexRecordOption::WithFreqsAndPositions),
        )
    };
    let terms = || {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer("raw")
                .set_fieldnorms(false)
                .set_index_option(IndexRecordOption::Basic),
        )
    };
    let mut builder = Schema::builder();
    let fields = Fields {
        num: builder.add_u64_field(NUM, tantivy::schema::FAST),
        date: builder.add_i64_field(DATE, tantivy::schema::FAST),
        flags: builder.add_u64_field(FLAGS, tantivy::schema::FAST),
        sender: builder.add_text_field(SENDER, tantivy::schema::FAST),
        identity: builder.add_text_field("identity", terms()),
        from: builder.add_text_field("from", terms()),
        to: builder.add_text_field("to", terms()),
        filename: builder.add_text_field("filename", terms()),
        media: builder.add_text_field("media", terms()),
        subject: builder.add_text_field("subject", words(true)),
        people: builder.add_text_field("people", words(true)),
        body: builder.add_text_field("body", words(true)),
        quoted: builder.add_text_field("quoted", words(true)),
        attachment: builder.add_text_field("attachment", words(true)),
    };
    (builder.build(), fields)
}

/// The term of an identity.
pub(crate) fn identity_term(identity: IdentityId) -> String {
    format!("{:x}", identity.bits())
}

/// Lays a message out.
pub(crate) fn document(fields: &Fields, doc: &Doc) -> TantivyDocument {
    let mut out = TantivyDocument::default();
    out.add_u64(fields.num, doc.num);
    out.add_i64(fields.date, doc.date.ms());
    out.add_text(fields.identity, identity_term(doc.identity));
    out.add_text(fields.subject, &doc.subject);
    out.add_text(fields.body, &doc.extracted_text);
    let quoted = rest_of(&doc.text, &doc.extracted_text);
    if !quoted.is_empty() {
        out.add_text(fields.quoted, quoted);
    }
    if let Some(sender) = doc.from.iter().find(|sender| !sender.address.is_empty()) {
        out.add_text(fields.sender, sender.address.to_lowercase());
    }
    add_people(fields, doc, &mut out);
    let mut bits = flags::direction(doc.direction);
    for attachment in &doc.attachments {
        bits |= add_attachment(fields, attachment, &mut out);
    }
    out.add_u64(fields.flags, bits);
    out
}

fn add_people(fields: &Fields, doc: &Doc, out: &mut TantivyDocument) {
    let mut seen: HashSet<(&str, &str)> = HashSet::new();
    for (field, people) in [(fields.from, &doc.from), (fields.to, &doc.to)] {
        for person in people {
            for term in person_terms(person) {
                out.add_text(field, term);
            }
            if seen.insert((&person.address, &person.name)) {
                if !person.name.is_empty() {
                    out.add_text(fields.people, &person.name);
                }
                if !person.address.is_empty() {
                    out.add_text(fields.people, &person.address);
                }
            }
        }
    }
}

/// The terms under which a person is found: the address, `@` and each domain above it, the name.
pub(crate) fn person_terms(person: &Mailbox) -> Vec<String> {
    let address = person.address.to_lowercase();
    let mut terms = Vec::new();
    if let Some((_, domain)) = address.rsplit_once('@') {
        let mut domain = domain;
        loop {
            terms.push(format!("@{domain}"));
            match domain.split_once('.') {
                Some((_, above)) if !above.is_empty() => domain = above,
                _ => break,
            }
        }
    }
    if !address.is_empty() {
        terms.push(address);
    }
    let name = fold(&person.name);
    if !name.is_empty() {
        terms.push(format!("{NAME_MARK}{name}"));
    }
    terms
}

/// Adds one attachment and gives its bits of the flags column.
fn add_attachment(fields: &Fields, attachment: &DocAttachment, out: &mut TantivyDocument) -> u64 {
    let filename = attachment.filename.as_deref();
    if let Some(filename) = filename {
        out.add_text(fields.filename, fold(filename));
        out.add_text(fields.attachment, filename);
    }
    if let Some(text) = attachment.text.as_deref() {
        out.add_text(fields.attachment, text);
    }
    out.add_text(fields.media, attachment.content_type.to_ascii_lowercase());
    let class = flags::class(&class_of(&attachment.content_type, filename));
    if attachment.inline {
        class
    } else {
        class | flags::HAS_ATTACHMENT
    }
}

/// What a text holds beyond the part of it that was extracted.
fn rest_of(text: &str, extracted: &str) -> String {
    let extracted = extracted.trim();
    if let Some(rest) = text.trim_start().strip_prefix(extracted) {
        return rest.trim().to_owned();
    }
    let known: HashSet<&str> = extracted.lines().map(str::trim).collect();
    let rest: Vec<&str> = text
        .lines()
        .filter(|line| !known.contains(line.trim()))
        .collect();
    rest.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_what_was_not_extracted() {
        assert_eq!(rest_of("Hi\n> old\n", "Hi"), "> old");
        assert_eq!(rest_of("> old\nHi\n-- \nJo", "Hi"), "> old\n-- \nJo");
        assert_eq!(rest_of("same", "same"), "");
        assert_eq!(rest_of("all of it", ""), "all of it");
    }

    #[test]
    fn a_person_is_found_by_every_domain_above() {
        let person = Mailbox {
            address: "Jo@Mail.Example.org".into(),
            name: "José  Li".into(),
        };
        assert_eq!(
            person_terms(&person),
            [
                "@mail.example.org",
                "@example.org",
                "@org",
                "jo@mail.example.org",
                "\"jose li"
            ]
        );
    }

    #[test]
    fn each_class_has_a_bit_of_its_own() {
        let bits: HashSet<u64> = AttachmentType::CLASSES.iter().map(flags::class).collect();
        assert_eq!(bits.len(), AttachmentType::CLASSES.len());
        assert!(!bits.contains(&0));
    }
}
