//! Our client against our server, in pieces of any size.

use bytes::Bytes;
use proptest::prelude::*;

use super::{Action, Client, Envelope, Fate, Submission, options};
use crate::smtp::{
    self, Incoming, MessageAnswer, Protocol, Recipient, RecipientAnswer, Server, ServerOptions,
};

/// What the server's sink says about a recipient, and what that comes to.
const ANSWERS: [(RecipientAnswer, Option<Fate>); 4] = [
    (RecipientAnswer::Accepted, None),
    (RecipientAnswer::Unknown, Some(Fate::Refused)),
    (RecipientAnswer::Unavailable, Some(Fate::Retry)),
    (RecipientAnswer::Retired, Some(Fate::Refused)),
];

/// A server whose sink answers by the number in a recipient's name, and its messages.
struct Sink {
    server: Server,
    stored: Vec<Incoming>,
    answer: MessageAnswer,
}

fn number(recipient: &Recipient) -> usize {
    let Recipient::Address(address) = recipient else {
        return 0;
    };
    let local = address.base().split('@').next().unwrap_or_default();
    let digits = local.rsplit('r').next().unwrap_or_default();
    digits.parse().unwrap_or_default()
}

impl Sink {
    /// Works until bytes are needed; gives what it wrote.
    fn work(&mut self) -> Vec<u8> {
        loop {
            match self.server.poll() {
                smtp::Action::Read | smtp::Action::Close => return self.server.take_output(),
                smtp::Action::Recipient(recipient) => {
                    let (answer, _) = ANSWERS[number(&recipient) % ANSWERS.len()];
                    self.server.answer_recipient(answer);
                }
                smtp::Action::Message(incoming) => {
                    let answers = vec![self.answer; incoming.envelope.recipients.len()];
                    self.stored.push(*incoming);
                    self.server.answer_message(&answers);
                }
                smtp::Action::StartTls => self.server.tls_established(),
            }
        }
    }
}

/// Moves bytes between the two in pieces until the client has a submission.
fn converse(client: &mut Client, sink: &mut Sink, sizes: &[usize]) -> Submission {
    let mut sizes = sizes.iter().copied().cycle();
    let mut to_client: Vec<u8> = Vec::new();
    for _ in 0..100_000 {
        let action = client.poll();
        let output = client.take_output();
        let mut rest = output.as_slice();
        while !rest.is_empty() {
            let (piece, tail) = rest.split_at(rest.len().min(sizes.next().unwrap_or(1)));
            sink.server.receive(piece);
            to_client.extend(sink.work());
            rest = tail;
        }
        match action {
            Action::Done(submission) => return *submission,
            Action::Read => {
                to_client.extend(sink.work());
                let size = to_client.len().min(sizes.next().unwrap_or(1));
                let piece: Vec<u8> = to_client.drain(..size).collect();
                client.receive(&piece);
            }
            Action::Write => {}
            Action::StartTls => {
                client.tls_established();
                sink.work();
            }
            Action::Idle | Action::Close => panic!("ended without a submission"),
        }
    }
    panic!("never ends");
}

fn lines() -> impl Strategy<Value = Vec<u8>> {
    let line = proptest::collection::vec(prop_oneof![Just(b'.'), 32_u8..127, Just(b'\t')], 0..20);
    proptest::collection::vec(line, 0..12).prop_map(|lines| {
        let mut message = Vec::new();
        for line in lines {
            message.extend(line);
            message.extend(b"\r\n");
        }
        message
    })
}

proptest! {
    #[test]
    fn what_the_server_did_is_what_the_client_tells(
        messages in proptest::collection::vec((lines(), 1_usize..6), 1..4),
        sizes in proptest::collection::vec(1_usize..40, 1..8),
        lmtp in any::<bool>(),
        starttls in any::<bool>(),
        stored in any::<bool>(),
    ) {
        let protocol = if lmtp { Protocol::Lmtp } else { Protocol::Smtp };
        let mut server_options = ServerOptions::new("there.example", protocol);
        server_options.starttls = starttls;
        let answer = if stored { MessageAnswer::Stored } else { MessageAnswer::Unavailable };
        let mut sink = Sink { server: Server::new(server_options), stored: Vec::new(), answer };
        let mut client_options = options();
        client_options.protocol = protocol;
        client_options.starttls = starttls;
        let mut client = Client::new(client_options, false);
        let mut first = 0;
        for (message, count) in &messages {
            let names: Vec<String> = (first..first + count).map(|at| format!("r{at}@there.example")).collect();
            first += count;
            let envelope = Envelope::new("me@here.example", names.clone()).expect("an envelope");
            prop_assert!(client.submit(envelope, Bytes::from(message.clone())));
            let before = sink.stored.len();
            let submission = converse(&mut client, &mut sink, &sizes);
            let expected: Vec<Fate> = (first - count..first)
                .map(|at| ANSWERS[at % ANSWERS.len()].1.unwrap_or(match stored {
                    true => Fate::Accepted,
                    false => Fate::Retry,
                }))
                .collect();
            let told: Vec<Fate> = submission.recipients.iter().map(|outcome| outcome.fate).collect();
            prop_assert_eq!(told, expected);
            prop_assert_eq!(submission.fault, None);
            let accepted = (first - count..first).any(|at| at % ANSWERS.len() == 0);
            prop_assert_eq!(submission.handed_over, accepted);
            prop_assert_eq!(sink.stored.len() - before, usize::from(accepted));
            if accepted {
                let incoming = sink.stored.last().expect("stored");
                prop_assert_eq!(&incoming.raw, message);
                prop_assert_eq!(incoming.envelope.mail_from.expose(), "me@here.example");
            }
            prop_assert!(client.is_ready());
        }
    }
}
