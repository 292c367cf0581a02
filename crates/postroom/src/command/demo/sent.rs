//! Mail that the demo's mailboxes sent: in the sandbox, so that nothing leaves, with what becomes of
//! mail in a word each: delivered here, kept, bounced, refused, and one of which nobody knows.

use serde_json::{Value, json};

use super::super::serve::Server;
use crate::{
    cli::{alias::used, trouble::Trouble},
    demo::Mailbox,
};

/// One mail of the demo.
struct Letter {
    from: Mailbox,
    to: &'static str,
    subject: &'static str,
    text: &'static str,
}

const LETTERS: &[Letter] = &[
    Letter {
        from: Mailbox::Bookings,
        to: "accounts@larkspur.example",
        subject: "Deposit for the long-wheelbase van",
        text: "Hello,\n\nthe customer for Friday has paid the deposit of 250 in cash. Please add it to the booking.\n\nBookings",
    },
    Letter {
        from: Mailbox::Bookings,
        to: "theo.brandt@harbourlights.example",
        subject: "Your van is ready on Friday",
        text: "Dear Theo,\n\nthe van stands ready from eight o'clock. Please bring your licence.\n\nKind regards\nLarkspur Bookings",
    },
    Letter {
        from: Mailbox::Bookings,
        to: "bounce@simulator.invalid",
        subject: "Reminder: return on Sunday",
        text: "Please return the van by six on Sunday.",
    },
    Letter {
        from: Mailbox::Bookings,
        to: "timeout@simulator.invalid",
        subject: "Invoice for the minibus",
        text: "The invoice for the minibus is attached to your booking.",
    },
    Letter {
        from: Mailbox::Claims,
        to: "reject@simulator.invalid",
        subject: "Photos of the damage",
        text: "Could you send us two more photos of the bumper?",
    },
];

/// Sends them, and answers the newest mail of the first mailbox.
pub(super) async fn send(server: &Server) -> Result<usize, Trouble> {
    for (place, letter) in LETTERS.iter().enumerate() {
        let mail = json!({
            "identity": letter.from.address(), "to": [letter.to], "subject": letter.subject, "text": letter.text,
            "idempotency_key": format!("demo-{place}"),
        });
        server.call(used::SEND_MAIL, mail).await?;
    }
    let threads =
        json!({"identity": Mailbox::Bookings.address(), "direction": "inbound", "limit": 10});
    let threads = server.call(used::LIST_THREADS, threads).await?;
    for thread in threads["data"].as_array().into_iter().flatten() {
        let wanted = json!({"identity": Mailbox::Bookings.address(), "thread_id": thread["id"]});
        let thread = server.call(used::SHOW_THREAD, wanted).await?;
        let mut messages = thread["messages"].as_array().into_iter().flatten();
        // A person's mail: what a program wrote is not answered.
        let by_hand =
            |message: &&Value| message["kind"] == "normal" && message["direction"] == "inbound";
        if let Some(message) = messages.rfind(by_hand) {
            let answer = json!({
                "identity": Mailbox::Bookings.address(), "message_id": message["id"],
                "text": "Thank you, we have noted it and come back to you today.", "idempotency_key": "demo-answer",
            });
            server.call(used::REPLY_TO_MAIL, answer).await?;
            return Ok(LETTERS.len() + 1);
        }
    }
    Ok(LETTERS.len())
}
