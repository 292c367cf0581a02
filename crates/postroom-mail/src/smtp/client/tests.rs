//! Dialogues with a server that is written down, and what holds whatever a server does.

mod hostile;
mod own_server;

use std::{fmt::Write as _, fs, path::PathBuf};

use bytes::Bytes;
use postroom_types::Secret;

use super::{Action, Client, ClientOptions, Envelope, Fate, Fault, Submission};
use crate::smtp::Protocol;

const MESSAGE: &[u8] = b"Subject: Hi\r\n\r\n.dot\r\n";

fn options() -> ClientOptions {
    ClientOptions {
        hostname: "here.example".to_owned(),
        protocol: Protocol::Smtp,
        starttls: false,
        credentials: None,
    }
}

fn envelope(recipients: &[&str]) -> Envelope {
    let recipients = recipients.iter().map(|&path| path.to_owned()).collect();
    Envelope::new("me@here.example", recipients).expect("an envelope")
}

/// A client with what came out of it.
struct Peer {
    client: Client,
    /// The lines it wrote, and what it asked for.
    trace: Vec<String>,
    wire: Vec<u8>,
}

impl Peer {
    fn new(options: ClientOptions) -> Self {
        Self {
            client: Client::new(options, false),
            trace: Vec::new(),
            wire: Vec::new(),
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        self.client.receive(bytes);
        self.work();
    }

    fn work(&mut self) {
        loop {
            let action = self.client.poll();
            let output = self.client.take_output();
            self.wire.extend_from_slice(&output);
            let text = String::from_utf8_lossy(&output);
            let lines = text.split_terminator("\r\n");
            self.trace.extend(lines.map(|line| format!("C: {line}")));
            match action {
                Action::Read => return,
                Action::Write => {}
                Action::StartTls => {
                    self.trace.push("TLS".to_owned());
                    self.client.tls_established();
                }
                Action::Done(done) => self.trace.push(told(&done)),
                Action::Idle => return self.once("IDLE"),
                Action::Close => return self.once("CLOSE"),
            }
        }
    }

    fn once(&mut self, word: &str) {
        if self.trace.last().is_none_or(|line| line != word) {
            self.trace.push(word.to_owned());
        }
    }
}

/// A submission as a dialogue's line.
fn told(submission: &Submission) -> String {
    let mut line = "=>".to_owned();
    for outcome in &submission.recipients {
        let fate = match outcome.fate {
            Fate::Accepted => "accepted",
            Fate::Refused => "refused",
            Fate::Retry => "retry",
            Fate::Uncertain => "uncertain",
        };
        write!(line, " {fate}").expect("strings take all");
        if let Some(answer) = &outcome.answer {
            write!(line, ":{}", answer.code).expect("strings take all");
        }
    }
    if let Some(fault) = submission.fault {
        write!(line, " {}", fault.as_str()).expect("strings take all");
    }
    if submission.handed_over {
        line.push_str(" handed_over");
    }
    if let Some(id) = &submission.provider_message_id {
        write!(line, " {id}").expect("strings take all");
    }
    line
}

/// What the first line of a dialogue says: options, recipients and a message.
fn read_head(head: &str) -> (ClientOptions, Envelope, Bytes) {
    let mut options = options();
    let mut recipients = vec!["bob@there.example"];
    let mut message = MESSAGE.to_vec();
    for word in head.trim_start_matches('#').split_whitespace() {
        match word.split_once('=').unwrap_or((word, "")) {
            ("lmtp", _) => options.protocol = Protocol::Lmtp,
            ("starttls", _) => options.starttls = true,
            ("auth", _) => {
                options.credentials = Some(("user".to_owned(), Secret::new("pass".to_owned())));
            }
            ("to", paths) => recipients = paths.split(',').collect(),
            ("eight_bit", _) => message = b"Subject: Hi\r\n\r\n\xc3\xa9\r\n".to_vec(),
            ("utf8", _) => message = b"Subject: \xc3\xa9\r\n\r\nHi\r\n".to_vec(),
            ("bare", _) => message = b"Subject: Hi\r\n\r\nHi\n.\n".to_vec(),
            (other, _) => panic!("no such option: {other}"),
        }
    }
    (options, envelope(&recipients), Bytes::from(message))
}

/// Runs a dialogue with the server's bytes in pieces of so many.
fn run(dialogue: &str, piece: usize) -> (Vec<String>, Vec<String>) {
    let head = dialogue.lines().next().unwrap_or_default();
    let (options, envelope, message) = read_head(head);
    let mut peer = Peer::new(options);
    assert!(peer.client.submit(envelope.clone(), message.clone()));
    peer.work();
    let mut expected = Vec::new();
    let mut said = Vec::new();
    for line in dialogue.lines().skip(1) {
        if let Some(text) = line.strip_prefix("S: ") {
            said.extend(format!("{text}\r\n").into_bytes());
            continue;
        }
        // Bare words of the server, a cut and a second message are the server's turn as well.
        if let Some(text) = line.strip_prefix("s: ") {
            said.extend(text.replace("\\r", "\r").replace("\\n", "\n").into_bytes());
            continue;
        }
        for bytes in std::mem::take(&mut said).chunks(piece) {
            peer.hear(bytes);
        }
        match line {
            "CUT" => {
                peer.client.fail(Fault::ConnectionLost);
                peer.work();
            }
            "AGAIN" => {
                assert!(peer.client.submit(envelope.clone(), message.clone()));
                peer.work();
            }
            _ => expected.push(line.to_owned()),
        }
    }
    for bytes in said.chunks(piece) {
        peer.hear(bytes);
    }
    (peer.trace, expected)
}

#[test]
fn dialogues() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/smtp/client/testdata");
    let mut seen = 0;
    for entry in fs::read_dir(folder).expect("dialogues") {
        let path = entry.expect("a dialogue").path();
        let text = fs::read_to_string(&path).expect("a dialogue");
        for dialogue in text.split("\n\n").filter(|text| !text.trim().is_empty()) {
            // What a server pushes in behind its answer may come together with it or later; where
            // that matters the dialogue says so.
            let pieces: &[usize] = match dialogue.contains("together") {
                true => &[usize::MAX],
                false => &[usize::MAX, 1],
            };
            let dialogue = dialogue.replace(" together", "");
            for &piece in pieces {
                let (trace, expected) = run(dialogue.trim(), piece);
                assert_eq!(
                    trace,
                    expected,
                    "{} in {piece}:\n{dialogue}",
                    path.display()
                );
            }
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen} dialogues");
}

#[test]
fn a_second_message_waits_for_the_first() {
    let mut client = Client::new(options(), false);
    let message = Bytes::from_static(MESSAGE);
    assert!(client.submit(envelope(&["a@there.example"]), message.clone()));
    assert!(!client.submit(envelope(&["b@there.example"]), message.clone()));
    client.fail(Fault::Timeout);
    assert!(matches!(client.poll(), Action::Done(_)));
    assert_eq!(client.poll(), Action::Close);
    assert!(!client.submit(envelope(&["b@there.example"]), message));
}

#[test]
fn nothing_printed_shows_a_password() {
    let mut options = options();
    options.credentials = Some(("user".to_owned(), Secret::new("hunter2".to_owned())));
    let mut client = Client::new(options, true);
    client.receive(b"220 x\r\n250-x\r\n");
    client.poll();
    client.receive(b"250 AUTH PLAIN\r\n");
    client.poll();
    let shown = format!("{client:?}");
    assert!(
        !shown.contains("hunter2") && !shown.contains("output"),
        "{shown}"
    );
}
