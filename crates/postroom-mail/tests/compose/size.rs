//! How large a mail may become.

use postroom_mail::{attachment, compose::compose, parse};
use postroom_types::limit;

use super::{assert_wire, file, outgoing};

#[test]
fn a_file_of_twenty_megabytes_goes_and_is_read_again() {
    let mut mail = outgoing();
    let bytes: Vec<u8> = (0..20 * 1024 * 1024u32).map(|n| (n % 251) as u8).collect();
    mail.content.attachments = vec![file("big.bin", "application/octet-stream", &bytes)];
    let sent = compose(&mail).expect("composed");
    assert_wire(&sent.bytes);
    assert!(sent.bytes.len() <= limit::SENT_MAIL_BYTES);
    assert!(attachment(&sent.bytes, 0).expect("a file").bytes == bytes);
    assert!(parse(&sent.bytes).defects.is_empty());
}

#[test]
fn the_composed_bytes_have_the_limit() {
    let mut mail = outgoing();
    mail.content.attachments = vec![file("f.bin", "application/octet-stream", b"")];
    let empty = compose(&mail).expect("composed").bytes.len();
    // 57 bytes become a line of 78; the header takes the rest.
    let lines = (limit::SENT_MAIL_BYTES - empty) / 78;
    mail.content.attachments[0].bytes = vec![b'x'; lines * 57];
    let rest = limit::SENT_MAIL_BYTES - compose(&mail).expect("fits").bytes.len();
    mail.content.text = mail
        .content
        .text
        .map(|text| text + &" ".repeat(0) + &"x".repeat(rest));
    assert_eq!(
        compose(&mail).map(|sent| sent.bytes.len()),
        Ok(limit::SENT_MAIL_BYTES)
    );
    mail.content.text = mail.content.text.map(|text| text + "x");
    let error = compose(&mail).expect_err("too large");
    assert_eq!((error.code(), error.path()), ("message_too_large", None));

    // Files that are too large together are not written first.
    mail.content.attachments[0].bytes = vec![0; 30 * 1024 * 1024];
    assert_eq!(
        compose(&mail).map_err(|error| error.code()),
        Err("message_too_large")
    );
}

#[test]
fn so_many_files_and_no_more() {
    let mut mail = outgoing();
    mail.content.attachments = vec![file("f", "text/plain", b"x"); limit::SENT_FILES];
    let sent = compose(&mail).expect("composed");
    assert_eq!(parse(&sent.bytes).attachments.len(), limit::SENT_FILES);
    mail.content.attachments.push(file("f", "text/plain", b"x"));
    let error = compose(&mail).expect_err("too many");
    assert_eq!(
        (error.code(), error.path()),
        ("invalid_request", Some("attachments"))
    );
}

#[test]
fn a_subject_has_its_limit() {
    let mut mail = outgoing();
    mail.content.subject = "ä".repeat(limit::SUBJECT_CHARS);
    let sent = compose(&mail).expect("composed");
    assert_eq!(
        parse(&sent.bytes).subject,
        Some(mail.content.subject.clone())
    );
    // One that shows nothing is none.
    for blank in [" ", "\u{200b}", "\u{2060} \u{ad}"] {
        let mut mail = outgoing();
        mail.content.subject = blank.to_owned();
        let error = compose(&mail).expect_err("blank");
        assert_eq!(error.path(), Some("subject"), "{blank:?}");
    }
    mail.content.subject.push('ä');
    assert_eq!(
        compose(&mail).map_err(|error| error.code()),
        Err("invalid_request")
    );
}
