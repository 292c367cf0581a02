//! No words in any argument add a header field, a part or a recipient.

use mail_parser::{MessageParser, PartType};
use postroom_mail::{
    compose::{
        ComposeError, Composed, Disclosure, Headers, Outgoing, Parent, Signature, Unsubscribe,
        compose, forward, references_for, reply_all_recipients, reply_subject, reply_target,
    },
    parse,
};
use postroom_types::Mailbox;
use proptest::prelude::*;

use super::{assert_wire, file, inline, mailbox, outgoing};

/// What breaks lines, ends fields, opens parts or closes quotes somewhere.
const PIECES: &[&str] = &[
    "\r\n",
    "\n",
    "\r",
    "\n\n",
    "\r\n\r\n",
    "\0",
    "\u{b}",
    "\u{c}",
    "\u{1b}",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\u{202e}",
    "\u{fffd}",
    // What an overlong or broken sequence looks like once it was taken for Latin-1.
    "\u{c0}\u{8d}",
    "\u{c0}\u{8a}",
    "\u{e0}\u{80}\u{8a}",
    // Full-width and look-alike forms that a later step might fold to line ends or colons.
    "\u{ff1a}",
    "\u{10d}",
    "\u{10a}",
    "\u{560d}\u{560a}",
    "\r\n ",
    "\r\n\t",
    " ",
    "  ",
    "\t",
    "Bcc: evil@evil.example",
    "\r\nBcc: evil@evil.example\r\n",
    "\nX-Evil: 1",
    "\rX-Evil: 1",
    "\u{2028}X-Evil: 1",
    "\r\nContent-Type: text/html\r\n\r\n<b>",
    "%0d%0aX-Evil: 1",
    "\\r\\nX-Evil: 1",
    "=0D=0AX-Evil: 1",
    "=?utf-8?Q?=0D=0AX-Evil:_1?=",
    "=?utf-8?B?DQpYLUV2aWw6IDE=?=",
    "=?utf-7?Q?+AA0ACg-X-Evil:_1?=",
    "=?",
    "?=",
    "\"",
    "\\",
    "<",
    ">",
    "(",
    ")",
    ",",
    ";",
    ":",
    "@",
    "'",
    "%",
    "*",
    "--",
    "\r\n--=_",
    "boundary=",
    "evil@evil.example",
    "<evil@evil.example>",
    "\", <evil@evil.example>, \"",
    "group: evil@evil.example;",
    "X-Evil",
    "words",
    "ü",
    "世界",
    "🧨",
];

/// Line ends in more bytes than they have, and bytes that are no UTF-8.
const OVERLONG: &[&[u8]] = &[
    b"\xc0\x8d\xc0\x8a",
    b"\xe0\x80\x8d\xe0\x80\x8a",
    b"\xf0\x80\x80\x8a",
    b"\xff\r\xfe\n",
    b"\xed\xa0\x8d",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => "\\PC{0,40}",
        1 => any::<char>().prop_map(String::from),
        // Long enough to be folded.
        1 => "[a-z:]{60,1200}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// Words for every argument that takes some.
fn arguments() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(hostile(), 16)
}

/// The field names that the server writes itself.
const OWN: &[&str] = &[
    "Message-ID",
    "Date",
    "From",
    "Reply-To",
    "To",
    "Cc",
    "Subject",
    "In-Reply-To",
    "References",
    "Auto-Submitted",
    "X-Auto-Response-Suppress",
    "X-Postroom-Hop",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
    "MIME-Version",
    "Content-Type",
    "Content-Transfer-Encoding",
];
/// The field names of its parts.
const PART: &[&str] = &[
    "content-type",
    "content-transfer-encoding",
    "content-disposition",
    "content-id",
];

/// Checks the header and the parts of a composed mail with two readers.
fn check(sent: &Composed, mail: &Outgoing) {
    assert_wire(&sent.bytes);
    let callers: Vec<&str> = mail.headers.fields().map(|(name, _)| name).collect();
    let is_known = |name: &str| OWN.contains(&name) || callers.contains(&name);
    let own = parse(&sent.bytes);
    let names: Vec<&str> = own
        .headers
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    for name in &names {
        assert!(
            is_known(name),
            "{name:?} in {:?}",
            String::from_utf8_lossy(&sent.bytes)
        );
        let count = names.iter().filter(|other| *other == name).count();
        assert_eq!(count, 1, "{name} is there {count} times");
    }
    assert_eq!(
        own.from.as_ref().map(|from| &from.address),
        Some(&mail.from.address)
    );
    let addresses = |list: &[Mailbox]| -> Vec<String> {
        list.iter().map(|mailbox| mailbox.address.clone()).collect()
    };
    assert_eq!(addresses(&own.to), addresses(&mail.to));
    assert_eq!(addresses(&own.cc), addresses(&mail.cc));
    assert!(own.bcc.is_empty());
    assert_eq!(own.message_id, mail.message_id);
    assert_eq!(own.attachments.len(), mail.content.attachments.len());

    let other = MessageParser::new().parse(&sent.bytes).expect("read");
    let others: Vec<&str> = other.headers_raw().map(|(name, _)| name).collect();
    assert_eq!(others, names);
    assert_eq!(other.attachment_count(), mail.content.attachments.len());
    for part in other.parts.iter().skip(1) {
        for field in &part.headers {
            let name = field.name.as_str().to_ascii_lowercase();
            assert!(PART.contains(&name.as_str()), "{name:?} in a part");
        }
        assert!(!matches!(part.body, PartType::Message(_)));
    }
    let html = mail.content.html.is_some()
        || mail
            .content
            .history
            .as_ref()
            .is_some_and(|history| history.html.is_some());
    let inline = mail
        .content
        .attachments
        .iter()
        .any(|file| file.content_id.is_some());
    // Root, text; alternative and HTML; related; mixed.
    let most = 2 + 2 * usize::from(html) + usize::from(inline) + mail.content.attachments.len();
    assert!(other.parts.len() <= most + 1, "{} parts", other.parts.len());
}

/// Every argument hostile.
fn built(words: &[String]) -> Result<Outgoing, ComposeError> {
    let [
        name,
        to_name,
        cc_name,
        subject,
        text,
        html,
        header,
        value,
        filename,
        media,
        id,
        url,
        signature,
        footer,
        reply,
        key,
    ] = words
    else {
        unreachable!("sixteen words");
    };
    let mut mail = outgoing();
    mail.from = mailbox("desk@agents.example", name);
    mail.reply_to = Some(mailbox("desk+t@agents.example", reply));
    mail.to = vec![
        mailbox("ann@shop.example", to_name),
        mailbox("bo@shop.example", name),
    ];
    mail.cc = vec![mailbox("cy@shop.example", cc_name)];
    mail.content.subject = subject.clone();
    mail.content.text = Some(format!("words {text}"));
    mail.content.html = Some(html.clone());
    mail.content.attachments = vec![
        file(filename, media, text.as_bytes()),
        inline(key, "image/png", html.as_bytes(), id),
    ];
    mail.headers = Headers::check([(format!("X-{header}"), value.as_str())])?;
    mail.unsubscribe = Some(Unsubscribe::check(&format!("https://u.example/{url}"))?);
    mail.signature = Some(Signature {
        text: Some(signature.clone()),
        html: Some(footer.clone()),
    });
    mail.disclosure = Disclosure::Footer(footer.clone());
    mail.auto_reply = true;
    Ok(mail)
}

/// Whether a text may not stand in a header as it is.
fn breaks_line(text: &str) -> bool {
    text.chars()
        .any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
}

/// Words that stand on one line, so that the checks let them through.
fn tamed(text: &str) -> String {
    let tame = |c: char| if breaks_line(&c.to_string()) { '~' } else { c };
    text.chars().map(tame).take(500).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// Each argument hostile by itself and the others harmless: refused with its path, or sent
    /// without one more field, part or recipient.
    #[test]
    fn one_hostile_argument_adds_nothing(words in hostile(), which in 0usize..16) {
        let mut all: Vec<String> = vec!["words".to_owned(); 16];
        all[9] = "image/png".to_owned();
        all[which] = words.clone();
        match built(&all).and_then(|mail| compose(&mail).map(|sent| (mail, sent))) {
            Ok((mail, sent)) => {
                // Subject, header name and value, file names, type and id are never bent into shape.
                let is_strict = matches!(which, 3 | 6..=11 | 15);
                prop_assert!(!(is_strict && breaks_line(words.trim_matches(' '))), "{which}");
                check(&sent, &mail);
            }
            Err(error) => {
                let is_checked = matches!(which, 3..=11 | 15);
                prop_assert!(is_checked, "{which}: {error}");
                let said = error.to_string();
                prop_assert!(said.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{}", said);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// All arguments as hostile as the checks let through, at once.
    #[test]
    fn all_hostile_arguments_add_nothing(words in arguments()) {
        let mut words = words;
        for which in [3, 7, 8, 15] {
            words[which] = tamed(&words[which]).replace(['/', '\\'], "~");
        }
        for which in [3, 7, 8, 15] {
            words[which] = format!("x{}", words[which].trim()).chars().take(250).collect();
        }
        words[4] = words[4].replace('\0', "~");
        words[5] = words[5].replace('\0', "~");
        for (which, plain) in [(6, "Evil"), (9, "image/png"), (10, "id@x"), (11, "way")] {
            words[which] = plain.to_owned();
        }
        let mail = built(&words).expect("allowed");
        let sent = compose(&mail).expect("composed");
        check(&sent, &mail);
    }

    /// A hostile mail is answered and forwarded: nothing of it gets into the header of ours.
    #[test]
    fn a_hostile_mail_is_answered_and_forwarded(
        words in prop::collection::vec(hostile(), 8),
        overlong in prop::collection::vec(
            prop::sample::select(OVERLONG),
            0..6,
        ),
    ) {
        let mut raw = Vec::new();
        for (name, value) in ["Subject", "To", "Cc", "References", "Message-ID", "Reply-To", "In-Reply-To"]
            .iter()
            .zip(&words)
        {
            raw.extend_from_slice(format!("{name}: {value}").as_bytes());
            raw.extend(overlong.concat());
            raw.extend_from_slice(b"\r\n");
        }
        raw.extend_from_slice(
            format!(
                "From: {}<ann@shop.example>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\
                 Content-Type: text/html\r\n\r\n<img src=\"cid:{}\">{}\r\n--b\r\n\
                 Content-Type: image/{}; name=\"{}\"\r\nContent-ID: <{}>\r\n\r\nx\r\n--b--\r\n",
                words[7], words[6], words[0], words[1], words[2], words[6]
            )
            .as_bytes(),
        );
        let parent = Parent::read(&raw);
        let mut answer = outgoing();
        let target = reply_target(&parent, Default::default());
        let all = reply_all_recipients(&parent, target, false, |_| false);
        let can_be_sent = |list: Vec<Mailbox>| -> Vec<Mailbox> {
            list.into_iter()
                .filter(|mailbox| postroom_types::Address::parse(&mailbox.address).is_ok())
                .collect()
        };
        (answer.to, answer.cc) = (can_be_sent(all.to), can_be_sent(all.cc));
        answer.references = references_for(&parent);
        answer.content.subject = reply_subject(parent.subject.as_deref());
        check(&compose(&answer).expect("composed"), &answer);

        let mut passed_on = outgoing();
        passed_on.content = forward(&raw, Some("see below"), true, |_| false);
        check(&compose(&passed_on).expect("composed"), &passed_on);
    }
}
