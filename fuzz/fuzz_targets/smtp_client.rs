//! Any bytes from a server, in pieces, when asked and unasked: the machine never panics and always ends,
//! writes the end of a message at most once, and calls nobody a recipient that has it or may have it
//! unless that end was written or the server claimed to have it before.
#![no_main]

use bytes::Bytes;
use postroom_mail::smtp::{
    Protocol,
    client::{Action, Client, ClientOptions, Envelope, Fate, Fault},
};

const MESSAGE: &[u8] = b"Subject: x\r\n\r\n.a\r\n";

libfuzzer_sys::fuzz_target!(|input: (bool, bool, Vec<Vec<u8>>)| {
    let (lmtp, interrupts, pieces) = input;
    let options = ClientOptions {
        hostname: "here.example".to_owned(),
        protocol: if lmtp { Protocol::Lmtp } else { Protocol::Smtp },
        starttls: false,
        credentials: None,
    };
    let recipients = vec!["a@x.example".to_owned(), "b@x.example".to_owned()];
    let Ok(envelope) = Envelope::new("me@here.example", recipients) else { return };
    let mut client = Client::new(options, false);
    assert!(client.submit(envelope, Bytes::from_static(MESSAGE)));
    let mut pieces = pieces.into_iter();
    let mut wire = Vec::new();
    loop {
        let action = client.poll();
        wire.extend(client.take_output());
        let ends = wire.windows(5).filter(|window| *window == b"\r\n.\r\n").count();
        assert!(ends <= 1);
        match action {
            Action::Write if !interrupts => {}
            Action::Write | Action::Read => match pieces.next() {
                Some(piece) => client.receive(&piece),
                None if action == Action::Read => client.fail(Fault::Timeout),
                None => {}
            },
            Action::Done(submission) => {
                assert_eq!(submission.recipients.len(), 2);
                for outcome in &submission.recipients {
                    match outcome.fate {
                        Fate::Accepted => assert_eq!(ends, 1),
                        Fate::Uncertain => assert!(submission.handed_over),
                        Fate::Refused | Fate::Retry => {}
                    }
                }
                return;
            }
            Action::StartTls | Action::Idle | Action::Close => panic!("no submission"),
        }
    }
});
