//! Dialogues, ends of data, bounds, and what holds for all bytes.

use std::{fmt::Write as _, fs, path::PathBuf};

use proptest::prelude::*;

use super::{
    Action, Incoming, MessageAnswer, Protocol, Recipient, RecipientAnswer, Server, ServerOptions,
};

/// Everything that came out of a connection, as a dialogue's lines.
type Trace = Vec<String>;

/// A connection whose sink knows a few names at `here.example`.
struct Peer {
    machine: Server,
    trace: Trace,
}

impl Peer {
    fn new(options: ServerOptions) -> Self {
        let machine = Server::new(options);
        let mut peer = Self {
            machine,
            trace: Trace::new(),
        };
        peer.work();
        peer
    }

    /// Sends bytes and works until more are needed.
    fn send(&mut self, bytes: &[u8]) {
        self.machine.receive(bytes);
        self.work();
    }

    fn work(&mut self) {
        loop {
            let action = self.machine.poll();
            let output = String::from_utf8(self.machine.take_output()).expect("replies are text");
            let lines = output.split_terminator("\r\n");
            self.trace.extend(lines.map(|line| format!("S: {line}")));
            match action {
                Action::Read => return,
                Action::Recipient(recipient) => {
                    self.machine.answer_recipient(recipient_answer(&recipient));
                }
                Action::Message(incoming) => {
                    self.trace.push(message_line(&incoming));
                    self.machine.answer_message(&message_answers(&incoming));
                }
                Action::StartTls => {
                    self.trace.push("TLS".to_owned());
                    self.machine.tls_established();
                }
                Action::Close => {
                    if self.trace.last().is_none_or(|line| line != "CLOSE") {
                        self.trace.push("CLOSE".to_owned());
                    }
                    return;
                }
            }
        }
    }

    fn last(&self) -> &str {
        self.trace.last().map_or("", String::as_str)
    }

    fn messages(&self) -> usize {
        let is_message = |line: &&String| line.starts_with("M: ");
        self.trace.iter().filter(is_message).count()
    }
}

fn recipient_answer(recipient: &Recipient) -> RecipientAnswer {
    let Recipient::Address(address) = recipient else {
        return RecipientAnswer::Accepted;
    };
    match address.base() {
        "alice@here.example" | "bob@here.example" | "full@here.example" => {
            RecipientAnswer::Accepted
        }
        "alice@xn--bcher-kva.example" => RecipientAnswer::Accepted,
        "disabled@here.example" => RecipientAnswer::Disabled,
        "later@here.example" => RecipientAnswer::Unavailable,
        "retired@here.example" => RecipientAnswer::Retired,
        base if base.starts_with("many") => RecipientAnswer::Accepted,
        _ => RecipientAnswer::Unknown,
    }
}

fn name(recipient: &Recipient) -> String {
    match recipient {
        Recipient::Address(address) => match address.detail() {
            Some(detail) => format!("{address}+{detail}"),
            None => address.to_string(),
        },
        Recipient::Postmaster => "postmaster".to_owned(),
    }
}

fn message_line(incoming: &Incoming) -> String {
    let envelope = &incoming.envelope;
    let names: Vec<String> = envelope.recipients.iter().map(name).collect();
    let utf8 = if envelope.smtputf8 { " utf8" } else { "" };
    let tls = if envelope.tls { " tls" } else { "" };
    format!(
        "M: <{}> {}{utf8}{tls} \"{}\"",
        envelope.mail_from.expose(),
        names.join(","),
        escape(&incoming.raw)
    )
}

/// A sink whose disk is full for one of its mailboxes.
fn message_answers(incoming: &Incoming) -> Vec<MessageAnswer> {
    let answer = |recipient: &Recipient| match name(recipient).as_str() {
        "full@here.example" => MessageAnswer::Unavailable,
        _ => MessageAnswer::Stored,
    };
    let recipients = &incoming.envelope.recipients;
    match incoming.envelope.protocol {
        Protocol::Lmtp => recipients.iter().map(answer).collect(),
        Protocol::Smtp => {
            let failed = recipients
                .iter()
                .map(answer)
                .find(|answer| *answer != MessageAnswer::Stored);
            vec![failed.unwrap_or(MessageAnswer::Stored)]
        }
    }
}

fn escape(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b'\r' => text.push_str("\\r"),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => write!(text, "\\x{byte:02x}").expect("strings take all"),
        }
    }
    text
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            bytes.extend_from_slice(c.to_string().as_bytes());
            continue;
        }
        let kind = rest.chars().next().expect("a letter after the backslash");
        rest = &rest[1..];
        match kind {
            'r' => bytes.push(b'\r'),
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            '\\' => bytes.push(b'\\'),
            'x' => {
                bytes.push(u8::from_str_radix(&rest[..2], 16).expect("two hex digits"));
                rest = &rest[2..];
            }
            other => panic!("no escape: {other}"),
        }
    }
    bytes
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("src/smtp/testdata")
        .join(name)
}

fn smtp() -> ServerOptions {
    ServerOptions::new("mail.example", Protocol::Smtp)
}

/// Runs a dialogue line by line; where there is no handshake in it, also byte by byte and at once.
fn check(dialogue: &str) {
    let head = dialogue.lines().next().unwrap_or_default();
    let mut options = smtp();
    if head.starts_with("# lmtp") {
        options.protocol = Protocol::Lmtp;
    }
    options.starttls = head.contains("starttls");
    let mut peer = Peer::new(options.clone());
    let mut expected = Trace::new();
    let mut wire = Vec::new();
    for line in dialogue.lines().skip(1) {
        let (mark, text) = line.split_at(line.len().min(3));
        let sent = match mark {
            "C: " => unescape(&format!("{text}\\r\\n")),
            "c: " => unescape(text),
            _ => {
                expected.push(line.to_owned());
                continue;
            }
        };
        assert_eq!(peer.trace, expected, "before {line:?}");
        peer.send(&sent);
        wire.extend(sent);
    }
    assert_eq!(peer.trace, expected, "{head}");
    if !options.starttls {
        assert_eq!(at_once(&options, &wire), expected, "{head}, at once");
        assert_eq!(in_pieces(&options, &wire, 1), expected, "{head}, by bytes");
    }
}

fn at_once(options: &ServerOptions, wire: &[u8]) -> Trace {
    in_pieces(options, wire, wire.len().max(1))
}

fn in_pieces(options: &ServerOptions, wire: &[u8], size: usize) -> Trace {
    let mut peer = Peer::new(options.clone());
    for piece in wire.chunks(size) {
        peer.send(piece);
    }
    peer.trace
}

#[test]
fn dialogues_go_as_written() {
    let mut count = 0;
    for entry in fs::read_dir(fixture("")).expect("fixtures") {
        let path = entry.expect("entry").path();
        if path.ends_with("data_ends.txt") || path.ends_with("relays.txt") {
            continue;
        }
        check(&fs::read_to_string(&path).expect("fixture"));
        count += 1;
    }
    assert!(count >= 14, "{count} dialogues");
}

const BEFORE_DATA: &[u8] =
    b"HELO c.example\r\nMAIL FROM:<a@sender.example>\r\nRCPT TO:<alice@here.example>\r\nDATA\r\n";
const SMUGGLED: &[u8] =
    b"MAIL FROM:<evil@sender.example>\r\nRCPT TO:<bob@here.example>\r\nDATA\r\nevil\r\n.\r\n";

/// A form at the start of the data, inside it, and as its last bytes, with a second message behind.
fn check_end(outcome: &str, form: &[u8]) {
    let places: [(&[u8], &[u8]); 3] = [
        (b"", b"more\r\n"),
        (b"some\r\nline", b"more\r\n"),
        (b"", b""),
    ];
    for (before, after) in places {
        let wire = [BEFORE_DATA, before, form, after, SMUGGLED].concat();
        let whole = at_once(&smtp(), &wire);
        let label = format!("{outcome} {} in {}", escape(form), escape(&wire));
        assert_eq!(in_pieces(&smtp(), &wire, 1), whole, "{label}");
        let messages = whole.iter().filter(|line| line.starts_with("M: ")).count();
        let last = whole.last().map_or("", String::as_str);
        match outcome {
            "refused" => {
                assert_eq!(messages, 0, "{label}");
                assert!(last.starts_with("S: 550 5.6.0"), "{label}");
            }
            "kept" => {
                assert_eq!(messages, 1, "{label}");
                assert_eq!(last, "S: 250 2.0.0 Stored", "{label}");
            }
            other => panic!("no outcome: {other}"),
        }
        // Banner, HELO, MAIL, RCPT, 354 and one answer: nothing behind the form was a command.
        assert_eq!(whole.len() - messages, 6, "{label}");
    }
}

#[test]
fn no_form_of_smuggling_makes_a_second_message() {
    let forms = fs::read_to_string(fixture("data_ends.txt")).expect("fixture");
    let mut count = 0;
    for line in forms.lines().filter(|line| !line.starts_with('#')) {
        let (outcome, form) = line.split_once(' ').expect("outcome and form");
        check_end(outcome, &unescape(form));
        count += 1;
    }
    assert!(count >= 40, "{count} forms");
}

#[test]
fn no_way_to_write_a_recipient_relays() {
    let forms = fs::read_to_string(fixture("relays.txt")).expect("fixture");
    let mut count = 0;
    for form in forms.lines().filter(|line| !line.starts_with('#')) {
        for utf8 in ["", " SMTPUTF8"] {
            let start = format!("EHLO c.example\r\nMAIL FROM:<a@sender.example>{utf8}\r\n");
            let recipient = [b"RCPT TO:<", unescape(form).as_slice(), b">\r\n"].concat();
            let wire = [start.as_bytes(), &recipient, b"DATA\r\nx\r\n.\r\n"].concat();
            let trace = at_once(&smtp(), &wire);
            for line in trace.iter().filter(|line| line.starts_with("M: ")) {
                let names = line.split(' ').nth(2).expect("recipients");
                let base = names.split('+').next();
                assert_eq!(base, Some("alice@here.example"), "{form}: {trace:?}");
            }
        }
        count += 1;
    }
    assert!(count >= 60, "{count} forms");
}

/// What the data comes to, read the slow way: the end is the first CRLF.CRLF, the CRLF of the
/// command counted in.
fn model(data: &[u8]) -> Option<Result<Vec<u8>, ()>> {
    let wire = [b"\r\n", data].concat();
    let end = wire.windows(5).position(|five| five == b"\r\n.\r\n")?;
    let body = wire.get(2..end + 2).unwrap_or_default();
    let text: Vec<char> = body.iter().map(|byte| char::from(*byte)).collect();
    let text: String = text.into_iter().collect();
    let without = text.replace("\r\n", "");
    if without.contains(['\r', '\n']) {
        return Some(Err(()));
    }
    let lines = text.split_inclusive("\r\n");
    let unstuffed: String = lines
        .map(|line| line.strip_prefix('.').unwrap_or(line))
        .collect();
    Some(Ok(unstuffed.chars().map(|c| c as u8).collect()))
}

fn decode(data: &[u8], piece: usize) -> Option<Result<Vec<u8>, ()>> {
    let mut decoder = super::data::Decoder::new(1 << 20);
    for bytes in data.chunks(piece) {
        if let super::data::Progress::End(_) = decoder.push(bytes) {
            return Some(decoder.finish().map_err(drop));
        }
    }
    None
}

#[test]
fn every_short_string_of_line_ends_and_dots_is_read_as_the_model_reads_it() {
    let letters = [b'\r', b'\n', b'.', b'x'];
    for length in 0..=6_u32 {
        for number in 0..4_usize.pow(length) {
            let digit = |at: u32| letters[number / 4_usize.pow(at) % 4];
            let mut data: Vec<u8> = (0..length).map(digit).collect();
            data.extend_from_slice(b"y\r\n.\r\n");
            let expected = model(&data);
            assert_eq!(decode(&data, data.len()), expected, "{}", escape(&data));
            assert_eq!(decode(&data, 1), expected, "{} by bytes", escape(&data));
        }
    }
}

#[test]
fn a_message_at_the_limit_is_taken_and_one_byte_more_is_not() {
    for (bytes, answer) in [
        (1_000, "S: 250 2.0.0 Stored"),
        (1_001, "S: 552 5.3.4 The message is larger than allowed"),
    ] {
        let options = ServerOptions {
            message_bytes: 1_000,
            ..smtp()
        };
        let body = [vec![b'x'; bytes - 2], b"\r\n.\r\n".to_vec()].concat();
        let mut peer = Peer::new(options);
        peer.send(BEFORE_DATA);
        peer.send(&body);
        assert_eq!(peer.last(), answer);
        peer.send(b"NOOP\r\n");
        assert_eq!(peer.last(), "S: 250 2.0.0 Ok");
    }
}

#[test]
fn dots_that_the_wire_adds_do_not_count() {
    let options = ServerOptions {
        message_bytes: 999,
        ..smtp()
    };
    let mut peer = Peer::new(options);
    peer.send(BEFORE_DATA);
    peer.send(&b"..\r\n".repeat(333));
    peer.send(b".\r\n");
    assert_eq!(peer.last(), "S: 250 2.0.0 Stored");
}

#[test]
fn the_largest_message_of_the_limits_table_comes_through() {
    let line = [vec![b'x'; 1_022], b"\r\n".to_vec()].concat();
    let mut peer = Peer::new(smtp());
    peer.machine.receive(BEFORE_DATA);
    peer.work();
    peer.machine
        .receive(&line.repeat(postroom_types::limit::RAW_MAIL_BYTES / 1_024));
    assert_eq!(peer.machine.poll(), Action::Read);
    assert_eq!(
        peer.machine.held_bytes(),
        postroom_types::limit::RAW_MAIL_BYTES
    );
    peer.machine.receive(b".\r\n");
    assert!(matches!(peer.machine.poll(), Action::Message(_)));
}

#[test]
fn a_client_that_never_ends_its_message_is_cut_off() {
    let options = ServerOptions {
        message_bytes: 1_000,
        ..smtp()
    };
    let wire = [BEFORE_DATA.to_vec(), vec![b'x'; 3_100]].concat();
    let whole = at_once(&options, &wire);
    assert_eq!(whole.last().map(String::as_str), Some("CLOSE"));
    assert_eq!(whole.len(), 7);
    assert_eq!(in_pieces(&options, &wire, 7), whole);
    let longest = [BEFORE_DATA.to_vec(), vec![b'x'; 3_000]].concat();
    assert_eq!(at_once(&options, &longest).len(), 5);
}

#[test]
fn recipients_stop_at_their_limit_and_the_rest_is_still_delivered() {
    let mut peer = Peer::new(smtp());
    peer.send(b"HELO c.example\r\nMAIL FROM:<>\r\n");
    for number in 0..100 {
        peer.send(format!("RCPT TO:<many{number}@here.example>\r\n").as_bytes());
        assert_eq!(peer.last(), "S: 250 2.1.5 Recipient ok");
    }
    peer.send(b"RCPT TO:<many100@here.example>\r\n");
    assert!(peer.last().starts_with("S: 452 4.5.3"), "{}", peer.last());
    peer.send(b"DATA\r\n.\r\n");
    assert_eq!(peer.last(), "S: 250 2.0.0 Stored");
}

/// Repeats a line as often as it may be, each answered alike, and once more, which closes.
fn check_count(line: &[u8], most: usize, answer: &str) {
    let mut peer = Peer::new(smtp());
    peer.send(b"HELO c.example\r\nMAIL FROM:<>\r\n");
    for _ in 0..most {
        peer.send(line);
        assert!(peer.last().starts_with(answer), "{}", peer.last());
    }
    peer.send(line);
    assert_eq!(peer.last(), "CLOSE");
    let goodbye = &peer.trace[peer.trace.len() - 2];
    assert!(goodbye.starts_with("S: 421 4.7.0"), "{goodbye}");
    peer.send(b"NOOP\r\n");
    assert_eq!(peer.last(), "CLOSE");
}

#[test]
fn the_eleventh_bad_command_closes() {
    check_count(b"WHAT\r\n", 10, "S: 500");
}

#[test]
fn who_tries_a_hundred_and_one_unknown_names_is_cut_off() {
    check_count(b"RCPT TO:<nobody@here.example>\r\n", 100, "S: 550 5.1.1");
}

#[test]
fn a_thousand_commands_without_mail_are_enough() {
    // The greeting was one of them.
    check_count(b"NOOP\r\n", 999, "S: 250 2.0.0 Ok");
}

#[test]
fn mail_makes_the_count_of_idle_commands_start_again() {
    let mut peer = Peer::new(smtp());
    peer.send(BEFORE_DATA);
    peer.send(b".\r\n");
    for _ in 0..1_000 {
        peer.send(b"NOOP\r\n");
        assert_eq!(peer.last(), "S: 250 2.0.0 Ok");
    }
}

#[test]
fn a_line_at_the_limit_is_read_and_one_byte_more_is_not() {
    for (bytes, answer) in [
        (4_096, "S: 250 2.0.0 Ok"),
        (4_097, "S: 500 5.5.2 Line too long"),
        (9_000, "S: 500 5.5.2 Line too long"),
    ] {
        let mut line = b"NOOP ".to_vec();
        line.resize(bytes - 2, b'x');
        line.extend_from_slice(b"\r\n");
        for piece in [1, 4_096, line.len()] {
            let trace = in_pieces(&smtp(), &line, piece);
            assert_eq!(trace.last().map(String::as_str), Some(answer), "{bytes}");
            assert_eq!(trace.len(), 2);
        }
    }
}

#[test]
fn a_message_without_room_is_read_to_its_end_and_can_be_sent_later() {
    let mut peer = Peer::new(smtp());
    peer.send(BEFORE_DATA);
    peer.send(b"Subject: x\r\n");
    assert_eq!(peer.machine.held_bytes(), 12);
    peer.machine.refuse_for_space();
    assert_eq!(peer.machine.held_bytes(), 0);
    peer.send(b"\r\nRSET\r\n.\r\n");
    assert!(peer.last().starts_with("S: 452 4.3.1"), "{}", peer.last());
    assert_eq!(peer.messages(), 0);
    peer.send(b"MAIL FROM:<a@sender.example>\r\nRCPT TO:<alice@here.example>\r\nDATA\r\n.\r\n");
    assert_eq!(peer.last(), "S: 250 2.0.0 Stored");
}

#[test]
fn time_and_the_end_of_the_process_say_421_once() {
    let mut peer = Peer::new(smtp());
    assert!(peer.machine.is_between_commands());
    peer.send(b"NO");
    assert!(!peer.machine.is_between_commands());
    peer.machine.time_out();
    peer.machine.shut_down();
    peer.send(b"OP\r\n");
    assert_eq!(
        peer.trace[1..],
        ["S: 421 4.4.2 Timed out; closing", "CLOSE"]
    );
}

/// Lines and pieces of lines that make a session go far.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "EHLO c.example\r\n",
        "HELO c.example\r\n",
        "MAIL FROM:<a@sender.example>\r\n",
        "MAIL FROM:<> SIZE=10 SMTPUTF8\r\n",
        "RCPT TO:<alice@here.example>\r\n",
        "RCPT TO:<nobody@here.example>\r\n",
        "DATA\r\n",
        "Subject: x\r\n\r\nbody\r\n.\r\n",
        ".\r\n",
        "\r\n.\r\n",
        "..\r\n",
        "\n",
        "\r",
        ".",
        "\r\n",
        "RSET\r\n",
        "NOOP\r\n",
        "QUIT\r\n",
        "VRFY x\r\n",
        "<>\"\\@",
    ]);
    prop_oneof![
        6 => known.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => (1_usize..5_000).prop_map(|length| vec![b'x'; length]),
    ]
}

proptest! {
    #[test]
    fn any_split_of_the_bytes_gives_the_same(
        pieces in prop::collection::vec(pieces(), 0..40),
        cuts in prop::collection::vec(1_usize..200, 0..200),
    ) {
        let options = ServerOptions { message_bytes: 2_000, ..smtp() };
        let wire = pieces.concat();
        let mut peer = Peer::new(options.clone());
        let mut rest = wire.as_slice();
        for cut in cuts {
            let (piece, tail) = rest.split_at(cut.min(rest.len()));
            peer.send(piece);
            rest = tail;
        }
        peer.send(rest);
        prop_assert_eq!(&peer.trace, &at_once(&options, &wire));
    }

    #[test]
    fn any_bytes_are_read_without_panic(
        writes in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20),
        lmtp: bool,
        starttls: bool,
    ) {
        let protocol = if lmtp { Protocol::Lmtp } else { Protocol::Smtp };
        let options = ServerOptions { protocol, starttls, ..smtp() };
        let mut peer = Peer::new(options);
        for write in writes {
            peer.send(&write);
        }
    }

    #[test]
    fn any_command_line_is_read_without_panic(
        verb in prop::sample::select(vec!["MAIL FROM:", "RCPT TO:", "EHLO ", "HELO ", "", "VRFY "]),
        argument in "\\PC{0,60}",
    ) {
        let _ = super::command::parse(format!("{verb}{argument}").as_bytes());
    }

    #[test]
    fn an_accepted_recipient_is_the_one_that_was_written(local in "[a-z0-9.\"\\\\ @%!]{1,12}", domain in "[a-z.@\\[\\]]{1,12}") {
        // Whatever is asked of the sink has one `@`, and the domain behind the last one written.
        let text = format!("<{local}@{domain}>");
        if let Ok((super::path::Path::Mailbox(mailbox), _)) = super::path::parse(&text)
            && let Some(address) = mailbox.deliverable()
        {
            prop_assert_eq!(address.base().matches('@').count(), 1);
            let written = mailbox.text.rsplit_once('@').map(|(_, domain)| domain.trim_end_matches('.'));
            prop_assert_eq!(Some(address.domain()), written);
        }
    }

    #[test]
    fn what_follows_starttls_in_the_clear_is_never_run(injected in prop::collection::vec(pieces(), 0..6)) {
        let options = ServerOptions { starttls: true, ..smtp() };
        let mut peer = Peer::new(options);
        peer.send(&[b"EHLO c.example\r\nSTARTTLS\r\n".to_vec(), injected.concat()].concat());
        prop_assert_eq!(peer.last(), "TLS");
        let lines = peer.trace.len();
        peer.send(b"NOOP\r\n");
        prop_assert_eq!(peer.trace.len(), lines + 1);
        prop_assert_eq!(peer.last(), "S: 250 2.0.0 Ok");
    }
}
