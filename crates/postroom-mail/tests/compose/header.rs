//! Header fields: which are there, how words are written, which a caller may set.

use mail_parser::{HeaderForm, MessageParser};
use postroom_mail::{
    compose::{ComposeError, Disclosure, Headers, Unsubscribe, compose},
    parse,
};
use postroom_types::limit;
use proptest::prelude::*;

use super::{composed, header, mailbox, outgoing, raw_field};

fn names(mail: &str) -> Vec<String> {
    parse(mail.as_bytes())
        .headers
        .into_iter()
        .map(|field| field.name)
        .collect()
}

#[test]
fn a_plain_mail_has_the_fields_it_needs() {
    let mail = composed(&outgoing());
    assert_eq!(
        mail,
        "Message-ID: <01m@agents.example>\r\n\
         Date: Mon, 30 Nov 2026 12:00:00 +0000\r\n\
         From: Desk <desk@agents.example>\r\n\
         To: Ann Doe <ann@shop.example>\r\n\
         Subject: Invoice 4711\r\n\
         X-Postroom-Hop: 1\r\n\
         MIME-Version: 1.0\r\n\
         Content-Type: text/plain; charset=\"utf-8\"\r\n\
         Content-Transfer-Encoding: 7bit\r\n\
         \r\n\
         Hello Ann,\r\n\
         \r\n\
         all is paid.\r\n"
    );
}

#[test]
fn every_field_is_where_programs_look_for_it() {
    let mut mail = outgoing();
    mail.reply_to = Some(mailbox("desk+t1abc.12345678@agents.example", "Desk"));
    mail.cc = vec![mailbox("bo@shop.example", "")];
    mail.auto_reply = true;
    mail.hop = 4;
    mail.disclosure = Disclosure::Header;
    mail.unsubscribe = Some(Unsubscribe::check("https://u.example/x?a=1&b=2").expect("a URL"));
    mail.headers = Headers::check([("x-ticket", "T-1"), ("importance", "high")]).expect("allowed");
    let mail = composed(&mail);
    assert_eq!(
        names(&mail),
        [
            "Message-ID",
            "Date",
            "From",
            "Reply-To",
            "To",
            "Cc",
            "Subject",
            "Auto-Submitted",
            "X-Auto-Response-Suppress",
            "X-Postroom-Hop",
            "X-AI-Generated",
            "List-Unsubscribe",
            "List-Unsubscribe-Post",
            "x-ticket",
            "Importance",
            "MIME-Version",
            "Content-Type",
            "Content-Transfer-Encoding",
        ]
    );
    for (name, value) in [
        ("Auto-Submitted", "auto-replied"),
        ("X-Postroom-Hop", "4"),
        ("X-AI-Generated", "true"),
        ("List-Unsubscribe", "<https://u.example/x?a=1&b=2>"),
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
        ("Reply-To", "Desk <desk+t1abc.12345678@agents.example>"),
        ("x-ticket", "T-1"),
        ("Importance", "high"),
    ] {
        assert_eq!(raw_field(&mail, name).as_deref(), Some(value), "{name}");
    }
    assert!(mail.contains("\r\nUnsubscribe: https://u.example/x?a=1&b=2\r\n"));
}

#[test]
fn a_mail_to_blind_recipients_alone_names_no_one() {
    let mut mail = outgoing();
    mail.to.clear();
    let mail = composed(&mail);
    assert_eq!(
        raw_field(&mail, "To").as_deref(),
        Some("undisclosed-recipients:;")
    );
    assert!(parse(mail.as_bytes()).to.is_empty());
}

#[test]
fn names_are_written_so_that_they_are_read_again() {
    for (name, written) in [
        ("Ann", "Ann <a@b.example>"),
        ("Ann Doe", "Ann Doe <a@b.example>"),
        ("Doe, Ann", "\"Doe, Ann\" <a@b.example>"),
        (
            "Ann \"A\" \\ Doe",
            "\"Ann \\\"A\\\" \\\\ Doe\" <a@b.example>",
        ),
        ("a@b.example", "\"a@b.example\" <a@b.example>"),
        ("Jürgen", "=?utf-8?Q?J=C3=BCrgen?= <a@b.example>"),
        ("株式会社", "=?utf-8?B?5qCq5byP5Lya56S+?= <a@b.example>"),
        ("", "a@b.example"),
    ] {
        let mut mail = outgoing();
        mail.to = vec![mailbox("a@b.example", name)];
        let mail = composed(&mail);
        assert_eq!(raw_field(&mail, "To").as_deref(), Some(written), "{name}");
        let read = parse(mail.as_bytes()).to;
        assert_eq!(read, [mailbox("a@b.example", name)]);
    }
}

#[test]
fn a_name_that_breaks_a_line_is_made_one() {
    let mut mail = outgoing();
    mail.to = vec![mailbox(
        "a@b.example",
        "Ann\r\nBcc: x@y.example\u{2028}\0Doe",
    )];
    let mail = composed(&mail);
    assert_eq!(
        parse(mail.as_bytes()).to,
        [mailbox("a@b.example", "Ann Bcc: x@y.example Doe")]
    );
    assert!(!names(&mail).contains(&"Bcc".to_owned()));
}

#[test]
fn addresses_that_are_none_are_named_by_their_place() {
    for (address, code) in [
        ("a b@c.example", "address_invalid"),
        ("a@c.example>\r\nBcc: x@y.example", "address_invalid"),
        ("a@c.example, x@y.example", "address_invalid"),
        ("", "address_invalid"),
        ("jürgen@c.example", "address_unsupported"),
    ] {
        let mut mail = outgoing();
        mail.to.push(mailbox(address, ""));
        let error = compose(&mail).expect_err("refused");
        assert_eq!(
            (error.code(), error.path()),
            (code, Some("to[1]")),
            "{address:?}"
        );
    }
    let mut mail = outgoing();
    mail.to = vec![mailbox("a+x@bücher.example", "")];
    assert_eq!(
        raw_field(&composed(&mail), "To").as_deref(),
        Some("a+x@xn--bcher-kva.example")
    );
}

#[test]
fn long_lists_are_folded_between_recipients() {
    let mut mail = outgoing();
    mail.to = (0..49)
        .map(|n| mailbox(&format!("person-{n}@department.shop.example"), "A Person"))
        .collect();
    let wanted = mail.to.clone();
    let mail = composed(&mail);
    assert!(header(&mail).lines().all(|line| line.len() <= 78));
    assert_eq!(parse(mail.as_bytes()).to, wanted);
}

#[test]
fn callers_set_these_fields_and_no_others() {
    let long = "v".repeat(limit::SEND_HEADER_VALUE_BYTES);
    for (name, value) in [
        ("X-Ticket", "T-1"),
        ("x_ticket-9", "not x-"),
        ("X-A_b-9", "ü"),
        ("IMPORTANCE", "low"),
        ("priority", "non-urgent"),
        ("Sensitivity", "company-confidential"),
        ("Keywords", "a, b"),
        ("Comments", "any words"),
        ("Organization", "Ännchen"),
        ("X-Long", long.as_str()),
    ] {
        let checked = Headers::check([(name, value)]);
        if name.starts_with("x_") {
            assert_eq!(
                checked.map_err(|error| error.code()),
                Err("header_not_allowed")
            );
            continue;
        }
        let mut mail = outgoing();
        mail.headers = checked.expect(name);
        let read = parse(composed(&mail).as_bytes()).headers;
        let field = read
            .iter()
            .find(|field| field.name.eq_ignore_ascii_case(name));
        assert_eq!(
            field.map(|field| field.value.as_str()),
            Some(value),
            "{name}"
        );
    }
}

#[test]
fn other_fields_and_values_are_refused_with_their_path() {
    let long = "v".repeat(limit::SEND_HEADER_VALUE_BYTES + 1);
    let long_name = format!("X-{}", "a".repeat(99));
    for (name, value, code) in [
        ("Bcc", "a@b.example", "header_not_allowed"),
        ("From", "a@b.example", "header_not_allowed"),
        ("Subject", "x", "header_not_allowed"),
        ("Received", "x", "header_not_allowed"),
        ("X-", "x", "header_not_allowed"),
        ("X-A b", "x", "header_not_allowed"),
        ("X-A:b", "x", "header_not_allowed"),
        ("X-A\r\nBcc", "x", "header_not_allowed"),
        ("X-Ä", "x", "header_not_allowed"),
        ("", "x", "header_not_allowed"),
        ("X-Postroom-Hop", "1", "header_not_allowed"),
        ("x-postroom-anything", "1", "header_not_allowed"),
        ("x-ai-generated", "false", "header_not_allowed"),
        (
            "X-SMTPAPI",
            "{\"to\":[\"x@y.example\"]}",
            "header_not_allowed",
        ),
        ("X-MC-BccAddress", "x@y.example", "header_not_allowed"),
        ("X-Msys-Api", "{}", "header_not_allowed"),
        (long_name.as_str(), "x", "header_not_allowed"),
        ("X-A", "", "invalid_request"),
        ("X-A", "  ", "invalid_request"),
        ("X-A", "a\r\nBcc: x", "invalid_request"),
        ("X-A", "a\nb", "invalid_request"),
        ("X-A", "a\0b", "invalid_request"),
        ("X-A", "a\u{2028}b", "invalid_request"),
        ("X-A", "a\u{85}b", "invalid_request"),
        ("X-A", long.as_str(), "invalid_request"),
        ("Importance", "urgent", "invalid_request"),
        ("Priority", "high", "invalid_request"),
        ("Sensitivity", "secret", "invalid_request"),
    ] {
        let error = Headers::check([(name, value)]).expect_err(name);
        assert_eq!(error.code(), code, "{name:?}: {value:?}");
        let path = error.path().unwrap_or_default();
        assert!(path.starts_with("headers."), "{path}");
        assert!(path.bytes().all(|byte| byte.is_ascii_graphic()), "{path}");
    }
    let twice = Headers::check([("X-A", "1"), ("x-a", "2")]).expect_err("twice");
    assert_eq!(
        (twice.code(), twice.path()),
        ("invalid_request", Some("headers.x-a"))
    );
}

#[test]
fn all_fields_of_a_caller_together_have_a_limit() {
    let value = "v".repeat(limit::SEND_HEADER_VALUE_BYTES);
    // Name, colon, blank and line end beside the value.
    let each = limit::SEND_HEADER_VALUE_BYTES + "X-0".len() + 4;
    let fits = limit::SEND_HEADERS_BYTES / each;
    let fields = |count: usize| (0..count).map(|n| (format!("X-{n}"), value.clone()));
    assert!(Headers::check(fields(fits)).is_ok());
    let error = Headers::check(fields(fits + 1)).expect_err("too many");
    assert_eq!(
        (error.code(), error.path()),
        ("invalid_request", Some("headers"))
    );
}

#[test]
fn a_way_out_is_an_https_url() {
    for good in [
        "https://u.example",
        "HTTPS://u.example:8443/a?b=c&d=%20#e",
        "https://[::1]/x",
    ] {
        assert_eq!(
            Unsubscribe::check(good).map(|way| way.url().to_owned()),
            Ok(good.to_owned())
        );
    }
    let long = format!("https://u.example/{}", "a".repeat(900));
    for bad in [
        "",
        "http://u.example",
        "https://",
        "https:///path",
        "https://user@u.example",
        "https://u.example/a b",
        "https://u.example/>\r\nBcc: x@y.example",
        "https://u.example/ü",
        "mailto:u@u.example",
        "javascript:alert(1)",
        long.as_str(),
    ] {
        let error = Unsubscribe::check(bad).expect_err(bad);
        assert_eq!(error, ComposeError::UnsubscribeUrl);
        assert_eq!(error.code(), "marketing_requirements_missing");
    }
}

#[test]
fn message_ids_are_fixed_by_the_caller_and_checked() {
    for bad in ["", "no-at", "a@", "@b", "a b@c", "a@b>\r\nX: y", "ä@b"] {
        let mut mail = outgoing();
        mail.message_id = bad.to_owned();
        let error = compose(&mail).expect_err(bad);
        assert_eq!(error.path(), Some("message_id"));
    }
    let first = compose(&outgoing()).expect("composed");
    assert_eq!(first, compose(&outgoing()).expect("composed"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Words of any script come back the same, by two readers, in lines that may be sent.
    #[test]
    fn words_survive(subject in "\\PC{0,300}", name in "\\PC{0,120}", value in "\\PC{1,300}") {
        let mut mail = outgoing();
        let is_one_line = |text: &str| !text.contains(['\u{2028}', '\u{2029}']);
        prop_assume!([&subject, &name, &value].iter().all(|text| is_one_line(text)));
        prop_assume!(!value.trim().is_empty());
        mail.content.subject = subject.trim().to_owned();
        mail.to = vec![mailbox("a@b.example", name.trim())];
        mail.headers = Headers::check([("X-Words", value.trim())]).expect("allowed");
        let sent = composed(&mail);
        let encoded = header(&sent).lines().filter(|line| line.contains("=?utf-8?"));
        for line in encoded {
            prop_assert!(line.len() <= 78, "{}", line);
        }
        let other = MessageParser::new().parse(sent.as_bytes()).expect("read");
        prop_assert_eq!(other.subject().unwrap_or_default(), mail.content.subject.as_str());
        let words = other.header_as("X-Words", HeaderForm::Text).pop();
        prop_assert_eq!(words.as_ref().and_then(|words| words.as_text()), Some(value.trim()));
        let to = other.to().and_then(|to| to.first());
        prop_assert_eq!(to.and_then(|to| to.name()).unwrap_or_default(), name.trim());
        let own = parse(sent.as_bytes());
        let find = |name: &str| own.headers.iter().find(|field| field.name == name);
        prop_assert_eq!(
            find("Subject").map(|field| field.value.trim().to_owned()).unwrap_or_default(),
            mail.content.subject.trim()
        );
        prop_assert_eq!(find("X-Words").map(|field| field.value.as_str()), Some(value.trim()));
    }
}
