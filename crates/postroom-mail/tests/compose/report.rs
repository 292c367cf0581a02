//! Delivery reports: their limits, and that any bytes are read.

use postroom_mail::{
    compose::compose,
    dsn::{self, Action, Fate, Recipient},
};
use postroom_types::limit;
use proptest::prelude::*;

use super::outgoing;

fn report(recipients: usize, diagnostic: &str) -> Vec<u8> {
    let groups: String = (0..recipients)
        .map(|n| {
            format!(
                "Final-Recipient: rfc822; r{n}@shop.example\nAction: failed\nStatus: 5.1.1\n\
                 Diagnostic-Code: smtp; {diagnostic}\n\n"
            )
        })
        .collect();
    format!(
        "From: MAILER-DAEMON@mx.example\nContent-Type: multipart/report; boundary=b; \
         report-type=delivery-status\n\n--b\nContent-Type: message/delivery-status\n\n\
         Reporting-MTA: dns; mx.example\n\n{groups}\n--b--\n"
    )
    .into_bytes()
}

#[test]
fn so_many_recipients_are_read_and_no_more() {
    let read = |count: usize| {
        dsn::read(&report(count, "550 no"))
            .expect("a report")
            .recipients
            .len()
    };
    assert_eq!(read(limit::REPORT_RECIPIENTS), limit::REPORT_RECIPIENTS);
    assert_eq!(read(limit::REPORT_RECIPIENTS + 1), limit::REPORT_RECIPIENTS);
}

#[test]
fn so_many_words_are_kept_and_no_more() {
    for (chars, kept) in [
        (
            limit::REPORT_DIAGNOSTIC_CHARS,
            limit::REPORT_DIAGNOSTIC_CHARS,
        ),
        (
            limit::REPORT_DIAGNOSTIC_CHARS + 1,
            limit::REPORT_DIAGNOSTIC_CHARS,
        ),
    ] {
        let found = dsn::read(&report(1, &"ä".repeat(chars))).expect("a report");
        let words = found.recipients[0].diagnostic.clone().expect("words");
        assert_eq!(words.chars().count(), kept);
    }
}

#[test]
fn an_address_is_given_up_only_when_somebody_said_so() {
    for (action, status, smtp_code, fate) in [
        (Action::Failed, Some("5.1.1"), None, Fate::BouncedHard),
        (Action::Failed, Some("4.4.7"), Some(550), Fate::BouncedSoft),
        (Action::Failed, None, Some(550), Fate::BouncedHard),
        (Action::Failed, None, Some(452), Fate::BouncedSoft),
        (Action::Failed, None, None, Fate::BouncedSoft),
        (Action::Delayed, Some("5.0.0"), None, Fate::Deferred),
        (Action::Delivered, None, None, Fate::Delivered),
        (Action::Relayed, None, None, Fate::Delivered),
        (Action::Expanded, None, None, Fate::Delivered),
    ] {
        let recipient = Recipient {
            address: "a@b.example".to_owned(),
            final_address: None,
            action,
            status: status.map(str::to_owned),
            smtp_code,
            diagnostic: None,
            remote_mta: None,
        };
        assert_eq!(recipient.fate(), fate, "{recipient:?}");
    }
}

#[test]
fn what_we_send_is_no_report() {
    let mut mail = outgoing();
    mail.content.subject = "Undelivered Mail Returned to Sender".to_owned();
    mail.content.text = Some("<ann@shop.example>: was not delivered".to_owned());
    assert_eq!(dsn::read(&compose(&mail).expect("composed").bytes), None);
}

const PIECES: &[&str] = &[
    "Return-Path: <>\n",
    "From: MAILER-DAEMON@mx.example\n",
    "Message-ID: <a@b>\n",
    "X-Failed-Recipients: a@b.example, c@d.example\n",
    "Content-Type: multipart/report; boundary=b; report-type=delivery-status\n\n",
    "--b\n",
    "--b--\n",
    "Content-Type: message/delivery-status\n\n",
    "Content-Type: text/rfc822-headers\n\n",
    "Final-Recipient: rfc822; ",
    "Original-Recipient: rfc822;",
    "Action: failed\n",
    "Action: delayed\n",
    "Status: 5.1.1\n",
    "Diagnostic-Code: smtp; 550-5.1.1 no\n",
    " folded\n",
    "\n",
    "<a@b.example>:\n",
    "a@b.example",
    "This is a permanent error.\n",
    "--- Below this line is a copy of the message.\n",
    "é\u{2028}",
    "\0",
    ";",
    "<",
];

proptest! {
    #[test]
    fn any_bytes_are_read_within_their_limits(
        pieces in prop::collection::vec(
            prop_oneof![
                4 => prop::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
                1 => prop::collection::vec(any::<u8>(), 0..30),
            ],
            0..40,
        ),
    ) {
        let raw = pieces.concat();
        let found = dsn::read(&raw);
        prop_assert_eq!(&found, &dsn::read(&raw));
        for recipient in found.iter().flat_map(|report| &report.recipients) {
            prop_assert!(recipient.address.contains('@'));
            let words = recipient.diagnostic.as_deref().unwrap_or_default();
            let breaks_line = words.contains(|c: char| c.is_control() || c == '\u{2028}');
            prop_assert!(!breaks_line);
        }
    }
}
