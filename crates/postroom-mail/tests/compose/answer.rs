//! Answers: who gets them, what they refer to, what they are called.

use postroom_mail::{
    Kind,
    compose::{
        Parent, Recipients, ReplyToTrust, forward_references, forward_subject, references_for,
        reply_all_recipients, reply_recipients, reply_subject, reply_target, same_organisation,
    },
};
use postroom_types::{Mailbox, limit};

use super::{composed, mailbox, outgoing, raw_field};

fn ids(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{n}@mail.example")).collect()
}

fn parent(message_id: &str, references: &[String]) -> Parent {
    Parent {
        message_id: Some(message_id.to_owned()),
        references: references.to_vec(),
        ..Parent::default()
    }
}

#[test]
fn ids_are_repeated_to_the_letter() {
    let raw = b"Message-ID: <DB7PR08@DB7.EURPRD08.Prod.Outlook.COM>\r\n\
        In-Reply-To:\r\n <CAF+x=Y@Mail.Gmail.com>\r\n\
        References: <First@A.Example>\r\n\t<CAF+x=Y@Mail.Gmail.com>\r\n\
        From: Ann <ann@shop.example>\r\nX-Postroom-Hop: 3\r\nSubject: AW: Re: Build\r\n\r\nHi\r\n";
    let parent = Parent::read(raw);
    assert_eq!(parent.hop, 3);
    let mut mail = outgoing();
    mail.references = references_for(&parent);
    mail.content.subject = reply_subject(parent.subject.as_deref());
    let sent = composed(&mail);
    for (name, value) in [
        ("In-Reply-To", "<DB7PR08@DB7.EURPRD08.Prod.Outlook.COM>"),
        (
            "References",
            "<First@A.Example> <CAF+x=Y@Mail.Gmail.com> <DB7PR08@DB7.EURPRD08.Prod.Outlook.COM>",
        ),
        ("Subject", "Re: Build"),
    ] {
        assert_eq!(raw_field(&sent, name).as_deref(), Some(value));
    }
}

#[test]
fn references_are_the_first_and_the_newest() {
    let refs = ids(150);
    let found = references_for(&parent("parent@mail.example", &refs));
    let mut wanted = vec!["0@mail.example".to_owned()];
    wanted.extend((132..150).map(|n| format!("{n}@mail.example")));
    wanted.push("parent@mail.example".to_owned());
    assert_eq!(wanted.len(), limit::REFERENCES_SENT);
    assert_eq!(found.references(), wanted);
    assert_eq!(found.in_reply_to(), Some("parent@mail.example"));

    // At the limit nothing is dropped, one past it the second is.
    let found = references_for(&parent("p@x", &ids(limit::REFERENCES_SENT - 1)));
    assert_eq!(found.references().len(), limit::REFERENCES_SENT);
    assert_eq!(found.references()[1], "1@mail.example");
    let found = references_for(&parent("p@x", &ids(limit::REFERENCES_SENT)));
    assert_eq!(found.references().len(), limit::REFERENCES_SENT);
    assert_eq!(
        found.references()[..2],
        ["0@mail.example", "2@mail.example"]
    );
}

#[test]
fn references_are_made_of_what_there_is() {
    let list = |ids: &[&str]| -> Vec<String> { ids.iter().map(|id| (*id).to_owned()).collect() };
    // The last place of an id counts.
    let found = references_for(&parent("c@x", &list(&["a@x", "b@x", "a@x", "c@x"])));
    assert_eq!(found.references(), ["b@x", "a@x", "c@x"]);
    // Without References, one id in In-Reply-To is the line of ancestors; several are none.
    let mut only = parent("c@x", &[]);
    only.in_reply_to = list(&["b@x"]);
    assert_eq!(references_for(&only).references(), ["b@x", "c@x"]);
    only.in_reply_to = list(&["a@x", "b@x"]);
    assert_eq!(references_for(&only).references(), ["c@x"]);
    // What is no id of mail is never referred to.
    let odd = parent(
        "msg_01ABC",
        &list(&["x y@z", "a@b>\r\nX: 1", "ä@b", "", "ok@b"]),
    );
    let found = references_for(&odd);
    assert_eq!(
        (found.in_reply_to(), found.references()),
        (None, &list(&["ok@b"])[..])
    );
    let long = format!("{}@x", "a".repeat(limit::MESSAGE_ID_SENT_BYTES - 2));
    assert_eq!(
        references_for(&parent(&long, &[])).references(),
        std::slice::from_ref(&long)
    );
    assert!(
        references_for(&parent(&format!("a{long}"), &[]))
            .references()
            .is_empty()
    );
    // A mail without an id of its own has none that could be named.
    let none = Parent::read(b"From: a@b.example\r\nReferences: <r@x>\r\n\r\nHi\r\n");
    let found = references_for(&none);
    assert_eq!(
        (found.in_reply_to(), found.references()),
        (None, &list(&["r@x"])[..])
    );
    // A forward answers nobody.
    let found = forward_references(&parent("c@x", &list(&["a@x"])));
    assert_eq!(
        (found.in_reply_to(), found.references()),
        (None, &list(&["a@x", "c@x"])[..])
    );
}

#[test]
fn subjects_have_one_prefix_whatever_the_language() {
    for (subject, reply, forward) in [
        (Some("Build"), "Re: Build", "Fwd: Build"),
        (Some("Re: Build"), "Re: Build", "Fwd: Build"),
        (Some("AW: WG: Re[2]: Build"), "Re: Build", "Fwd: Build"),
        (Some("SV: VS: Build"), "Re: Build", "Fwd: Build"),
        (Some("回复：转发：项目"), "Re: 项目", "Fwd: 项目"),
        (
            Some("Re: [dev] Re: Build"),
            "Re: [dev] Build",
            "Fwd: [dev] Build",
        ),
        (Some("Report: a"), "Re: Report: a", "Fwd: Report: a"),
        (
            Some("a\r\nBcc: x\u{2028}b"),
            "Re: a Bcc: x b",
            "Fwd: a Bcc: x b",
        ),
        (Some(""), "Re: (no subject)", "Fwd: (no subject)"),
        (None, "Re: (no subject)", "Fwd: (no subject)"),
    ] {
        assert_eq!(reply_subject(subject), reply, "{subject:?}");
        assert_eq!(forward_subject(subject), forward, "{subject:?}");
    }
    let long = "x".repeat(limit::SUBJECT_CHARS);
    assert_eq!(
        forward_subject(Some(&long)).chars().count(),
        limit::SUBJECT_CHARS
    );
}

#[test]
fn the_reply_target_is_the_author_unless_his_own_house_says_otherwise() {
    let with = |from: &str, reply_to: &[&str]| Parent {
        from: Some(mailbox(from, "Ann")),
        reply_to: reply_to
            .iter()
            .map(|address| mailbox(address, ""))
            .collect(),
        ..Parent::default()
    };
    let new = ReplyToTrust::default();
    let known = ReplyToTrust { written_to: true };
    for (parent, trust, target) in [
        (with("a@shop.example", &[]), new, "a@shop.example"),
        (
            with("a@shop.example", &["help@shop.example"]),
            new,
            "help@shop.example",
        ),
        (
            with("a@mail.shop.example", &["help@tickets.shop.example"]),
            new,
            "help@tickets.shop.example",
        ),
        (
            with("a@shop.example", &["thief@evil.test"]),
            new,
            "a@shop.example",
        ),
        (
            with("a@shop.example", &["thief@evil.test", "b@shop.example"]),
            new,
            "a@shop.example",
        ),
        (
            with("a@shop.example", &["partner@other.test"]),
            known,
            "partner@other.test",
        ),
        (
            with("a@shop.co.uk", &["thief@evil.co.uk"]),
            new,
            "a@shop.co.uk",
        ),
        (
            with("boss@gmail.com", &["thief@gmail.com"]),
            new,
            "boss@gmail.com",
        ),
        (
            with("boss@yahoo.co.uk", &["thief@yahoo.co.uk"]),
            new,
            "boss@yahoo.co.uk",
        ),
        (
            with("a@me.github.io", &["thief@you.github.io"]),
            new,
            "a@me.github.io",
        ),
        (
            with("a@shop.example", &["no-address"]),
            known,
            "a@shop.example",
        ),
    ] {
        let found = reply_target(&parent, trust).map(|mailbox| mailbox.address);
        assert_eq!(found.as_deref(), Some(target), "{parent:?}");
    }
    assert_eq!(reply_target(&Parent::default(), new), None);
    assert!(same_organisation("a@localhost", "b@localhost"));
    assert!(!same_organisation("a@localhost", "b@otherhost"));
    assert!(!same_organisation("", ""));
}

#[test]
fn an_answer_reaches_these_and_no_others() {
    let people = |list: &[&str]| -> Vec<Mailbox> {
        list.iter().map(|address| mailbox(address, "")).collect()
    };
    let addresses = |found: Recipients| -> (Vec<String>, Vec<String>) {
        let plain = |list: Vec<Mailbox>| list.into_iter().map(|it| it.address).collect();
        (plain(found.to), plain(found.cc))
    };
    let is_own = |address: &str| matches!(address, "me@agents.example" | "alias@agents.example");
    // from, to, cc of the answered mail; is it our own; answer to one; answer to all
    type Case = (
        &'static str,
        &'static [&'static str],
        &'static [&'static str],
        bool,
        (&'static [&'static str], &'static [&'static str]),
        (&'static [&'static str], &'static [&'static str]),
    );
    let cases: &[Case] = &[
        (
            "a@x",
            &["me@agents.example"],
            &[],
            false,
            (&["a@x"], &[]),
            (&["a@x"], &[]),
        ),
        (
            "a@x",
            &["me@agents.example", "b@x", "A@X"],
            &["c@x", "alias@agents.example", "b@x"],
            false,
            (&["a@x"], &[]),
            (&["a@x", "b@x"], &["c@x"]),
        ),
        // A blind copy to us: we are in no field, and nobody learns of it.
        (
            "a@x",
            &["b@x"],
            &[],
            false,
            (&["a@x"], &[]),
            (&["a@x", "b@x"], &[]),
        ),
        // Our own message: whoever it went to.
        (
            "me@agents.example",
            &["a@x"],
            &["c@x"],
            true,
            (&["a@x"], &["c@x"]),
            (&["a@x"], &["c@x"]),
        ),
        // To ourselves.
        (
            "me@agents.example",
            &["me@agents.example"],
            &[],
            false,
            (&["me@agents.example"], &[]),
            (&["me@agents.example"], &[]),
        ),
        (
            "me@agents.example",
            &["me@agents.example"],
            &["c@x"],
            true,
            (&["me@agents.example"], &["c@x"]),
            (&["c@x"], &[]),
        ),
    ];
    for (from, to, cc, is_own_message, one, all) in cases {
        let parent = Parent {
            from: Some(mailbox(from, "")),
            to: people(to),
            cc: people(cc),
            kind: Kind::Normal,
            ..Parent::default()
        };
        let target = reply_target(&parent, ReplyToTrust::default());
        let found = addresses(reply_recipients(&parent, target.clone(), *is_own_message));
        let wanted = |(to, cc): &(&[&str], &[&str])| -> (Vec<String>, Vec<String>) {
            let plain = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect();
            (plain(to), plain(cc))
        };
        assert_eq!(found, wanted(one), "{parent:?}");
        let found = reply_all_recipients(&parent, target, *is_own_message, is_own);
        assert_eq!(addresses(found), wanted(all), "{parent:?}");
    }
}
