//! Address headers (RFC 5322 section 3.4): groups flattened, names decoded.

use mail_parser::{Addr, Address, HeaderValue, parsers::MessageStream};
use postroom_types::{Mailbox, limit};

use crate::{cut, invisible, word};

/// The longest address kept, in bytes: RFC 5321 section 4.5.3.1 allows 254, mail does not care.
const ADDRESS_BYTES: usize = 320;

/// The mailboxes of one address header, and whether it held raw bytes that are no UTF-8.
pub(crate) fn read(value: &[u8]) -> (Vec<Mailbox>, bool) {
    let (normal, eight_bit) = word::normalise(value);
    let mut line = normal.into_owned();
    line.push(b'\n');
    let parsed = MessageStream::new(&line).parse_address();
    let found: Vec<&Addr<'_>> = match &parsed {
        HeaderValue::Address(Address::List(list)) => list.iter().collect(),
        HeaderValue::Address(Address::Group(groups)) => {
            groups.iter().flat_map(|group| &group.addresses).collect()
        }
        _ => Vec::new(),
    };
    (join_names(&found), eight_bit)
}

/// `Doe, Ann <ann@b>` is one author whose quotes were forgotten: a word without an address joins
/// the named mailbox behind it.
fn join_names(found: &[&Addr<'_>]) -> Vec<Mailbox> {
    let mut mailboxes: Vec<Mailbox> = Vec::with_capacity(found.len());
    let mut loose: Option<Mailbox> = None;
    for addr in found {
        let mut mailbox = mailbox_of(addr);
        if let Some(word) = loose.take() {
            let word_text = if word.address.is_empty() {
                &word.name
            } else {
                &word.address
            };
            if mailbox.address.contains('@') && !mailbox.name.is_empty() {
                mailbox.name = format!("{}, {}", original(word_text, &word), mailbox.name);
            } else {
                mailboxes.push(word);
            }
        }
        let is_loose = !mailbox.address.contains('@')
            && (mailbox.name.is_empty() || mailbox.address.is_empty());
        if is_loose {
            loose = Some(mailbox);
        } else {
            mailboxes.push(mailbox);
        }
    }
    mailboxes.extend(loose);
    mailboxes.retain(|mailbox| !mailbox.address.is_empty() || !mailbox.name.is_empty());
    mailboxes
}

/// The word as written: as an address it was put in lower case, its name keeps the case.
fn original<'a>(text: &'a str, word: &'a Mailbox) -> &'a str {
    if word.name.is_empty() {
        text
    } else {
        &word.name
    }
}

fn mailbox_of(addr: &Addr<'_>) -> Mailbox {
    let clean = |text: Option<&str>| {
        let text = invisible::strip(text.unwrap_or_default()).text.into_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let address = clean(addr.address.as_deref());
    let name = clean(addr.name.as_deref());
    if name.is_empty() && !address.contains('@') {
        // Kept as a name too, where the case survives; the caller sees an address without a host.
        return Mailbox {
            name: cut::chars(&address, limit::NAME_CHARS).to_owned(),
            address: String::new(),
        };
    }
    // Some programs write the address without its own brackets inside quotes.
    let address = address.trim_matches(|c| matches!(c, '<' | '>' | '\'' | '"'));
    Mailbox::from_header(
        cut::bytes(address, ADDRESS_BYTES),
        cut::chars(name.trim_matches('\''), limit::NAME_CHARS),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: &[(&str, &str)]) {
        let (found, _) = read(value.as_bytes());
        let found: Vec<_> = found
            .iter()
            .map(|mailbox| (mailbox.name.as_str(), mailbox.address.as_str()))
            .collect();
        assert_eq!(found, expected, "{value}");
    }

    #[test]
    fn addresses_of_real_mail_are_read() {
        check("a@B.example", &[("", "a@b.example")]);
        check("Ann Doe <A@b.example>", &[("Ann Doe", "a@b.example")]);
        check(
            "\"Doe, Ann\" <a@b.example>, c@d",
            &[("Doe, Ann", "a@b.example"), ("", "c@d")],
        );
        check("Doe, Ann <a@b.example>", &[("Doe, Ann", "a@b.example")]);
        check("a@b.example (Ann)", &[("Ann", "a@b.example")]);
        check(
            "=?utf-8?q?J=C3=BCrgen?= <j@b.example>",
            &[("Jürgen", "j@b.example")],
        );
        check(
            "=?iso-8859-1?q?Doe=2C_J=FCrgen?= <j@b.example>",
            &[("Doe, Jürgen", "j@b.example")],
        );
        check(
            "\"=?utf-8?q?J=C3=BCrgen?=\" <j@b.example>",
            &[("Jürgen", "j@b.example")],
        );
        check(
            "team: a@b.example, Bo <c@d.example>;",
            &[("", "a@b.example"), ("Bo", "c@d.example")],
        );
        check("undisclosed-recipients:;", &[]);
        check("j@bücher.example", &[("", "j@xn--bcher-kva.example")]);
        check("", &[]);
        check("<>", &[]);
    }
}
