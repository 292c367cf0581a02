//! The target `eml`.

use postroom_compose::{
    dialect::Dialect,
    emit::{Envelope, Options, Target, compile},
    model::{Marks, Span, Text},
};

use crate::{compiled, named};

#[test]
fn a_mail_is_read_back_as_it_was() {
    let document = named("order");
    let envelope = Envelope {
        from: Some("Acme <shop@acme.test>".to_owned()),
        to: Some("ada@acme.test\r\nBcc: eve@acme.test".to_owned()),
        date: Some("Mon, 30 Nov 2026 19:00:00 +0000".to_owned()),
        message_id: Some("<1@acme.test>".to_owned()),
    };
    let made = compile(
        &document,
        &Options {
            target: Target::Eml,
            envelope,
            ..Options::default()
        },
    );
    assert!(
        made.code.split("\r\n").all(|line| line.len() <= 78),
        "a line is too long"
    );
    assert!(!made.code.replace("\r\n", "").contains('\n'));
    let mail = mail_parser::MessageParser::default()
        .parse(made.code.as_bytes())
        .unwrap();
    assert!(mail.bcc().is_none());
    assert_eq!(mail.subject(), Some(made.subject.as_str()));
    let lines = |text: &str| text.replace("\r\n", "\n").trim_end().to_owned();
    let html = compiled(&document, Target::Html, Dialect::None).code;
    assert_eq!(lines(&mail.body_html(0).unwrap()), lines(&html));
    assert_eq!(
        lines(&mail.body_text(0).unwrap()),
        lines(&made.text.unwrap())
    );
}

#[test]
fn a_subject_in_any_script_is_read_back() {
    for subject in [
        "Ünïcode ✓ and a lot more of it, so that it has to be broken up somewhere",
        "件名件名件名件名件名件名件名件名件名件名件名件名",
        "=?utf-8?Q?x?=",
    ] {
        let mut document = named("rtl");
        document.meta.subject = Text(vec![Span::Text {
            text: subject.to_owned(),
            marks: Marks::default(),
            color: None,
        }]);
        let made = compile(
            &document,
            &Options {
                target: Target::Eml,
                ..Options::default()
            },
        );
        let mail = mail_parser::MessageParser::default()
            .parse(made.code.as_bytes())
            .unwrap();
        assert_eq!(mail.subject(), Some(subject));
    }
}
