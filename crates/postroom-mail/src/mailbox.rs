//! Address headers (RFC 5322 section 3.4): groups flattened, names decoded.

use mail_parser::{Addr, Address, HeaderValue, parsers::MessageStream};
use postroom_types::{Mailbox, limit};

use crate::{cut, invisible, word};

/// The longest address kept, in bytes: RFC 5321 section 4.5.3.1 allows 254, mail does not care.
const ADDRESS_BYTES: usize = 320;

/// The mailboxes of one address header, and whether it held raw bytes that are no UTF-8.
pub(crate) fn read(value: &[u8]) -> (Vec<Mailbox>, bool) {
    let (normal, eight_bit) = word::normalise(value);
    let mut line = one_angle_each(without_comments(normal.into_owned()));
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

/// Comments (RFC 5322 section 3.2.2) say nothing about where mail goes, and nested or scattered ones are
/// read as names and recipients that nobody wrote. What is left of them is the name that old programs
/// put behind an address without one: a line with one plain comment an item is left as it is, and so
/// is one whose comment does not end.
fn without_comments(line: Vec<u8>) -> Vec<u8> {
    if !line.contains(&b'(') {
        return line;
    }
    let mut out = Vec::with_capacity(line.len());
    let mut item = Item::default();
    let (mut depth, mut quoted, mut angle, mut odd) = (0usize, false, false, false);
    let mut bytes = line.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' && (quoted || depth > 0) {
            let escaped = bytes.next();
            if depth > 0 {
                odd = true;
                item.note(escaped.unwrap_or(b' '));
            } else {
                item.text.extend([byte].into_iter().chain(escaped));
            }
            continue;
        }
        match byte {
            b'(' if !quoted && !item.is_in_encoded_word() => {
                odd |= depth > 0 || angle || !item.comment.is_empty();
                depth += 1;
                item.note(b' ');
            }
            b')' if depth > 0 => depth -= 1,
            _ if depth > 0 => item.note(byte),
            _ => {
                match byte {
                    b'"' => quoted = !quoted,
                    b'<' if !quoted => angle = true,
                    b'>' if !quoted => angle = false,
                    _ => {}
                }
                if matches!(byte, b',' | b';' | b':') && !quoted && !angle {
                    odd |= item.is_comment();
                    std::mem::take(&mut item).write(&mut out, byte == b':');
                    out.push(byte);
                } else {
                    item.text.push(byte);
                }
            }
        }
    }
    odd |= item.is_comment();
    if depth > 0 || !odd {
        return line;
    }
    item.write(&mut out, false);
    out
}

/// What stands between two commas.
#[derive(Default)]
struct Item {
    text: Vec<u8>,
    comment: Vec<u8>,
}

impl Item {
    fn note(&mut self, byte: u8) {
        // Brackets inside would be comments again.
        self.comment.push(match byte {
            b'(' | b')' | b'\\' => b' ',
            byte => byte,
        });
    }

    fn is_comment(&self) -> bool {
        !self.comment.is_empty() && self.text.trim_ascii().is_empty()
    }

    /// Brackets in an encoded word (RFC 2047) are letters of it, though they should be encoded.
    fn is_in_encoded_word(&self) -> bool {
        let blank = |byte: &u8| byte.is_ascii_whitespace();
        let word = self.text.rsplit(blank).next().unwrap_or_default();
        word.starts_with(b"=?") && !(word.len() > 3 && word.ends_with(b"?="))
    }

    fn write(self, out: &mut Vec<u8>, is_group: bool) {
        let before = self.text.split(|byte| *byte == b'<').next();
        let named =
            self.text.contains(&b'<') && before.is_some_and(|name| !name.trim_ascii().is_empty());
        let empty = self.text.trim_ascii().is_empty();
        out.extend_from_slice(&self.text);
        if !(named || empty || is_group || self.comment.trim_ascii().is_empty()) {
            out.extend_from_slice(b" (");
            out.extend_from_slice(self.comment.trim_ascii());
            out.push(b')');
        }
    }
}

/// A mailbox has one address in angle brackets (RFC 5322 section 3.4). Where one has several, what
/// holds no `@` is dropped, and each that holds one begins a mailbox of its own: read as they stand,
/// the pieces would be joined to an address that nobody wrote.
fn one_angle_each(line: Vec<u8>) -> Vec<u8> {
    let angles = angles(&line);
    let more = |angle: &Angle| {
        let of_item = |other: &&Angle| other.item == angle.item;
        angles.iter().filter(of_item).count() > 1
    };
    if !angles.iter().any(more) {
        return line;
    }
    let mut out = Vec::with_capacity(line.len());
    let mut copied = 0;
    let mut had = None;
    for angle in angles.iter().filter(|angle| more(angle)) {
        out.extend_from_slice(line.get(copied..angle.start).unwrap_or_default());
        let inner = line.get(angle.start..angle.end).unwrap_or_default();
        if inner.contains(&b'@') {
            if had.replace(angle.item) == Some(angle.item) {
                out.push(b',');
            }
            out.extend_from_slice(inner);
        }
        copied = angle.end;
    }
    out.extend_from_slice(line.get(copied..).unwrap_or_default());
    out
}

/// What stands in angle brackets, brackets and all, and in which item of the list.
struct Angle {
    start: usize,
    end: usize,
    item: usize,
}

fn angles(line: &[u8]) -> Vec<Angle> {
    let (mut found, mut item) = (Vec::new(), 0);
    let (mut quoted, mut depth, mut open) = (false, 0_usize, None);
    let mut bytes = line.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if quoted || depth > 0 => drop(bytes.next()),
            b'"' if depth == 0 => quoted = !quoted,
            b'(' if !quoted && open.is_none() => depth += 1,
            b')' if !quoted => depth = depth.saturating_sub(1),
            _ if quoted || depth > 0 => {}
            b'<' => open = open.or(Some(at)),
            b'>' => {
                let start = open.take();
                found.extend(start.map(|start| Angle {
                    start,
                    end: at + 1,
                    item,
                }));
            }
            b',' | b';' | b':' if open.is_none() => item += 1,
            _ => {}
        }
    }
    found
}

/// `Doe, Ann <ann@b>` is one author whose quotes were forgotten: a word without an address joins
/// the named mailbox behind it.
fn join_names(found: &[&Addr<'_>]) -> Vec<Mailbox> {
    let mut mailboxes: Vec<Mailbox> = Vec::with_capacity(found.len());
    let mut loose: Option<Mailbox> = None;
    for mut mailbox in found.iter().flat_map(|addr| mailboxes_of(addr)) {
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

fn mailboxes_of(addr: &Addr<'_>) -> Vec<Mailbox> {
    let clean = |text: Option<&str>| {
        let text = invisible::strip(text.unwrap_or_default()).text.into_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let address = without_gaps(&clean(addr.address.as_deref()));
    let name = clean(addr.name.as_deref());
    if name.is_empty() && address.contains(' ') && address.contains('@') && !address.contains('"') {
        return unmarked(&address);
    }
    vec![mailbox_from(&address, &name)]
}

fn mailbox_from(address: &str, name: &str) -> Mailbox {
    if name.is_empty() && !address.contains('@') {
        // Kept as a name too, where the case survives; the caller sees an address without a host.
        return Mailbox {
            name: cut::chars(address, limit::NAME_CHARS).to_owned(),
            address: String::new(),
        };
    }
    Mailbox::from_header(
        cut::bytes(bare(address), ADDRESS_BYTES),
        cut::chars(name, limit::NAME_CHARS),
    )
}

/// The address without brackets and quotes that stand around the whole of it, as some programs
/// write it, and without a route (`@relay.example:ann@b`), which RFC 5322 section 4.4 has ignored.
fn bare(address: &str) -> &str {
    let mut address = address.trim_matches(['<', '>']);
    for quote in ['\'', '"'] {
        let inner = address
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote));
        address = inner.unwrap_or(address);
    }
    match address.split_once(':') {
        Some((route, rest)) if route.starts_with('@') && rest.contains('@') => rest,
        _ => address,
    }
}

/// Without the white space that RFC 5322 section 4.4 still lets stand around the dots and the `@`
/// of an address.
fn without_gaps(address: &str) -> String {
    if !address.contains(' ') || address.contains('"') {
        return address.to_owned();
    }
    let joins = |c: Option<char>| matches!(c, Some('.' | '@'));
    let mut out = String::with_capacity(address.len());
    let mut chars = address.chars().peekable();
    while let Some(c) = chars.next() {
        if c != ' ' || !(joins(chars.peek().copied()) || joins(out.chars().next_back())) {
            out.push(c);
        }
    }
    out
}

/// Mailboxes whose commas or brackets were forgotten: words before an address are its name.
fn unmarked(text: &str) -> Vec<Mailbox> {
    let mut mailboxes = Vec::new();
    let mut name: Vec<&str> = Vec::new();
    for word in text.split(' ') {
        if word.contains('@') {
            mailboxes.push(mailbox_from(word, &name.join(" ")));
            name.clear();
        } else {
            name.push(word);
        }
    }
    mailboxes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_no_names_and_no_recipients() {
        check(
            r"Pete(A wonderful \) chap) <pete(his account)@silly.test(his host)>",
            &[("Pete", "pete@silly.test")],
        );
        check(
            "A Group(Some people):Chris Jones <c@(Chris's host.)public.example>, joe@example.org, \
             John <jdoe@one.test> (my dear friend); (the end of the group)",
            &[
                ("Chris Jones", "c@public.example"),
                ("", "joe@example.org"),
                ("John", "jdoe@one.test"),
            ],
        );
        check(
            "(Empty list)(start)Undisclosed recipients  :(nobody(that I know))  ;",
            &[],
        );
        check("ann@a.example (Ann Lee)", &[("Ann Lee", "ann@a.example")]);
        check(
            "ann@a.example (Ann (of sales))",
            &[("Ann of sales", "ann@a.example")],
        );
        check(
            "=?utf-8?Q?Ann_(sales)_(uk)?= <ann@a.example>",
            &[("Ann (sales) (uk)", "ann@a.example")],
        );
    }

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
        check(
            "ann@b.example bo@c.example",
            &[("", "ann@b.example"), ("", "bo@c.example")],
        );
        check("Ann Doe ann@b.example", &[("Ann Doe", "ann@b.example")]);
        check(
            "Ann <ann@b . example>, bo @ c.example",
            &[("Ann", "ann@b.example"), ("", "bo@c.example")],
        );
        check(
            "Ann <@relay.example,@x.example:ann@b.example>",
            &[("Ann", "ann@b.example")],
        );
        check("x <script> <bob@out.example>", &[("x", "bob@out.example")]);
        check("<bob@out.example> <x>", &[("", "bob@out.example")]);
        check(
            "Ann <ann@b.example> <bo@c.example>, Cy <cy@d.example>",
            &[
                ("Ann", "ann@b.example"),
                ("", "bo@c.example"),
                ("Cy", "cy@d.example"),
            ],
        );
        check(
            "\"a <b@c> <d@e>\" (<f@g> <h@i>) <ann@b.example>",
            &[("a <b@c> <d@e> (<f@g> <h@i>)", "ann@b.example")],
        );
        check("<\"a@b\"@c.example>", &[("", "\"a@b\"@c.example")]);
        check("'a@b.example'", &[("", "a@b.example")]);
        check("\"'Ann'\" <a@b.example>", &[("'Ann'", "a@b.example")]);
        check(
            "J=?iso-8859-1?q?=FC?=rgen <j@b.example>",
            &[("Jürgen", "j@b.example")],
        );
        check("undisclosed-recipients:;", &[]);
        check("j@bücher.example", &[("", "j@xn--bcher-kva.example")]);
        check("", &[]);
        check("<>", &[]);
    }
}
