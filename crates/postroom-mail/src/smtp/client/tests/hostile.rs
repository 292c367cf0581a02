//! What holds whatever a server says, and wherever a connection ends.

use bytes::Bytes;
use proptest::prelude::*;

use super::{Action, Client, Fate, Fault, MESSAGE, Submission, envelope, options};

/// When the server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manners {
    /// When it is asked.
    Good,
    /// In the middle of the message too.
    Bad,
}

/// Runs a client against pieces of bytes, after which the connection ends. Gives what it told and
/// what went over the wire.
fn run(pieces: &[Vec<u8>], message: &[u8], manners: Manners) -> (Submission, Vec<u8>) {
    let mut client = Client::new(options(), false);
    let recipients = envelope(&["a@there.example", "b@there.example"]);
    assert!(client.submit(recipients, Bytes::copy_from_slice(message)));
    let mut pieces = pieces.iter();
    let mut wire = Vec::new();
    let mut told = None;
    for _ in 0..10_000 {
        let action = client.poll();
        if let Action::Done(submission) = action {
            assert!(told.is_none(), "told twice");
            told = Some(*submission);
            continue;
        }
        wire.extend(client.take_output());
        match action {
            Action::Write if manners == Manners::Good => {}
            Action::Read | Action::Write => match pieces.next() {
                Some(piece) => client.receive(piece),
                None if action == Action::Read => client.fail(Fault::ConnectionLost),
                None => {}
            },
            Action::Close | Action::Idle => return (told.expect("told"), wire),
            Action::StartTls => panic!("nobody asked for TLS"),
            Action::Done(_) => {}
        }
    }
    panic!("never ends");
}

/// A server that does everything right.
fn good() -> Vec<u8> {
    b"220 there\r\n250-there\r\n250 SIZE\r\n250 Ok\r\n250 Ok\r\n250 Ok\r\n354 go\r\n250 Done\r\n"
        .to_vec()
}

fn replies(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut replies = vec![Vec::new()];
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let last = replies.last_mut().expect("one");
        last.extend_from_slice(line);
        if line.get(3) != Some(&b'-') {
            replies.push(Vec::new());
        }
    }
    replies.retain(|reply| !reply.is_empty());
    replies
}

fn ends_of_data(wire: &[u8]) -> usize {
    wire.windows(5)
        .filter(|window| *window == b"\r\n.\r\n")
        .count()
}

/// What must hold of any submission.
fn check(submission: &Submission, wire: &[u8]) {
    assert_eq!(submission.recipients.len(), 2);
    let ends = ends_of_data(wire);
    assert!(ends <= 1, "sent {ends} times");
    let fates = |fate: Fate| {
        let has = |outcome: &&super::super::Outcome| outcome.fate == fate;
        submission.recipients.iter().filter(has).count()
    };
    if ends == 1 {
        assert!(submission.handed_over);
    }
    if !submission.handed_over {
        assert_eq!(fates(Fate::Accepted) + fates(Fate::Uncertain), 0);
    }
    if fates(Fate::Accepted) > 0 {
        assert_eq!(ends, 1, "accepted without an end");
    }
    if fates(Fate::Uncertain) > 0 {
        assert!(submission.fault.is_some());
        assert!(submission.uncertain_reason().is_some());
    }
}

#[test]
fn a_connection_that_ends_at_any_byte() {
    let whole = good();
    for end in 0..=whole.len() {
        let said = replies(&whole[..end]);
        let (submission, wire) = run(&said, MESSAGE, Manners::Good);
        check(&submission, &wire);
        let before_answer = whole.len() - b"250 Done\r\n".len();
        let expected = match end {
            end if end == whole.len() => Fate::Accepted,
            end if end >= before_answer => Fate::Uncertain,
            _ => Fate::Retry,
        };
        let told: Vec<Fate> = submission.recipients.iter().map(|one| one.fate).collect();
        assert_eq!(told, [expected; 2], "cut at {end}");
        assert_eq!(ends_of_data(&wire), usize::from(expected != Fate::Retry));
    }
}

#[test]
fn leave_is_taken_at_any_step() {
    let whole = replies(&good());
    for at in 0..whole.len() {
        let mut said = whole[..at].to_vec();
        said.push(b"421 4.3.2 Down\r\n".to_vec());
        let (submission, wire) = run(&said, MESSAGE, Manners::Bad);
        check(&submission, &wire);
        for outcome in &submission.recipients {
            assert_eq!(outcome.fate, Fate::Retry, "421 instead of reply {at}");
            let code = outcome.answer.as_ref().map(|answer| answer.code);
            assert_eq!(code, Some(421));
        }
    }
}

#[test]
fn a_server_that_speaks_in_the_middle_of_a_long_message() {
    let long = [
        b"Subject: x\r\n\r\n".as_slice(),
        &b"0123456789abcde\r\n".repeat(20_000),
    ]
    .concat();
    for (words, fate, handed_over) in [
        ("552 5.3.4 Too much\r\n", Fate::Refused, false),
        ("452 4.3.1 Full\r\n", Fate::Retry, false),
        ("421 4.3.2 Down\r\n", Fate::Retry, false),
        // It says that it has what it cannot have; whoever says so may do anything with it.
        ("250 Ok\r\n", Fate::Uncertain, true),
        ("354 go\r\n", Fate::Uncertain, true),
        ("what\r\n", Fate::Retry, false),
        ("25", Fate::Retry, false),
    ] {
        let mut said = replies(&good());
        said.pop();
        said.push(words.as_bytes().to_vec());
        let (submission, wire) = run(&said, &long, Manners::Bad);
        check(&submission, &wire);
        assert_eq!(ends_of_data(&wire), 0, "{words:?}");
        assert_eq!(submission.handed_over, handed_over, "{words:?}");
        for outcome in &submission.recipients {
            assert_eq!(outcome.fate, fate, "{words:?}");
        }
    }
}

#[test]
fn a_flood_is_given_up() {
    for flood in [
        b"250-more\r\n".repeat(10_000),
        b"2".repeat(1_000_000),
        [b"250-".as_slice(), &b"x".repeat(1_000_000), b"\r\n"].concat(),
    ] {
        let said = vec![b"220 there\r\n".to_vec(), flood];
        let (submission, wire) = run(&said, MESSAGE, Manners::Bad);
        check(&submission, &wire);
        assert_eq!(submission.fault, Some(Fault::Protocol));
    }
}

fn words() -> impl Strategy<Value = Vec<u8>> {
    let known = prop_oneof![
        Just("220 there\r\n"),
        Just("250 Ok\r\n"),
        Just("250-PIPELINING\r\n250 SIZE 100\r\n"),
        Just("250-x\r\n250 PIPELINING\r\n"),
        Just("250-x\r\n"),
        Just("354 go\r\n"),
        Just("354 go\r\n250 Ok\r\n"),
        Just("421 Down\r\n"),
        Just("450 Later\r\n"),
        Just("550 No\r\n"),
        Just("25"),
        Just("0 Ok\r\n"),
        Just("\r\n"),
        Just("250 Ok\n"),
    ];
    prop_oneof![
        8 => known.prop_map(|word| word.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..20),
    ]
}

proptest! {
    #[test]
    fn no_server_gets_a_mail_told_twice_or_wrongly(
        said in proptest::collection::vec(words(), 0..16),
        right in 0_usize..8,
        manners in prop_oneof![Just(Manners::Good), Just(Manners::Bad)],
    ) {
        // Most of what is said at random ends at the greeting; so some of it begins well.
        let mut pieces = replies(&good());
        pieces.truncate(right);
        pieces.extend(said);
        let (submission, wire) = run(&pieces, MESSAGE, manners);
        check(&submission, &wire);
    }
}
