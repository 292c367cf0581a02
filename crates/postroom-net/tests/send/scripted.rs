//! Servers that do as their script says: they stall, cut, or take leave.

use std::{sync::Arc, time::Duration};

use postroom_net::{
    smtp::send::{Credentials, Fate, Fault, RelayOptions, Security},
    tls,
};
use postroom_types::Secret;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    net::TcpListener,
    task::JoinHandle,
};

use super::{fates, plain, relay, send, trusting};

/// One turn of a script.
#[derive(Debug, Clone, Copy)]
enum Turn {
    /// Says this.
    Say(&'static str),
    /// Hears one line.
    Hear,
    /// Hears lines up to the end of the data.
    HearMessage,
    /// Says nothing more, and stays until the client goes.
    Stall,
}
use Turn::{Hear, HearMessage, Say, Stall};

const GREETING: &[Turn] = &[Say("220 there\r\n"), Hear, Say("250 there\r\n")];
const PATHS: &[Turn] = &[
    Hear,
    Say("250 Ok\r\n"),
    Hear,
    Say("250 Ok\r\n"),
    Hear,
    Say("354 go\r\n"),
];
const DONE: &[Turn] = &[HearMessage, Say("250 Done\r\n")];

async fn play<IO: AsyncRead + AsyncWrite + Unpin>(stream: IO, turns: &[Turn]) -> Vec<String> {
    let mut stream = BufReader::new(stream);
    let mut heard = Vec::new();
    for turn in turns {
        match turn {
            Say(words) => {
                // A client that has gone is not spoken to.
                let _ = stream.write_all(words.as_bytes()).await;
                let _ = stream.flush().await;
            }
            Hear => heard.extend(line(&mut stream).await),
            HearMessage => loop {
                match line(&mut stream).await {
                    Some(line) if line != "." => heard.push(line),
                    end => break heard.extend(end),
                }
            },
            Stall => while line(&mut stream).await.is_some() {},
        }
    }
    heard
}

async fn line<IO: AsyncRead + Unpin>(stream: &mut BufReader<IO>) -> Option<String> {
    let mut line = String::new();
    match stream.read_line(&mut line).await {
        Ok(1..) => Some(line.trim_end().to_owned()),
        _ => None,
    }
}

/// A server that takes one connection for each script and gives what each of them heard.
async fn server(scripts: Vec<Vec<Turn>>) -> (u16, JoinHandle<Vec<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let port = listener.local_addr().expect("address").port();
    let playing = tokio::spawn(async move {
        let mut heard = Vec::new();
        for script in scripts {
            let (stream, _) = listener.accept().await.expect("accept");
            heard.push(play(stream, &script).await);
        }
        heard
    });
    (port, playing)
}

#[tokio::test]
async fn where_the_connection_ends_says_who_has_the_message() {
    let cases: &[(&[&[Turn]], Fate, Fault)] = &[
        (&[], Fate::Retry, Fault::ConnectionLost),
        (&[GREETING], Fate::Retry, Fault::ConnectionLost),
        (&[GREETING, PATHS], Fate::Retry, Fault::ConnectionLost),
        (
            &[GREETING, PATHS, &[HearMessage]],
            Fate::Uncertain,
            Fault::ConnectionLost,
        ),
        (
            &[GREETING, PATHS, &[HearMessage, Say("250-Do")]],
            Fate::Uncertain,
            Fault::ConnectionLost,
        ),
        (
            &[GREETING, PATHS, &[HearMessage, Say("Done\r\n")]],
            Fate::Uncertain,
            Fault::Protocol,
        ),
    ];
    for (at, (script, fate, fault)) in cases.iter().enumerate() {
        let (port, playing) = server(vec![script.concat()]).await;
        let submission = send(&relay(plain(port)), &["bob@there.example"]).await;
        // Between the dot that was sent and a server that closed without reading it, the system
        // decides which end is seen; nobody doubles a message by it.
        let cut_before_message = at == 2 && submission.handed_over;
        if !cut_before_message {
            assert_eq!(fates(&submission), [*fate], "case {at}");
            assert_eq!(submission.fault, Some(*fault), "case {at}");
        }
        playing.await.expect("played");
    }
}

#[tokio::test]
async fn a_server_that_stalls_is_given_up_in_time() {
    let short = Duration::from_millis(50);
    let cases: &[(&[&[Turn]], Fate)] = &[
        (&[&[Stall]], Fate::Retry),
        (&[GREETING, &[Stall]], Fate::Retry),
        (&[GREETING, &[Hear, Say("250 O"), Stall]], Fate::Retry),
        (&[GREETING, PATHS, &[HearMessage, Stall]], Fate::Uncertain),
        (
            &[GREETING, PATHS, &[HearMessage, Say("250 O"), Stall]],
            Fate::Uncertain,
        ),
    ];
    for (at, (script, fate)) in cases.iter().enumerate() {
        let (port, playing) = server(vec![script.concat()]).await;
        let mut options = plain(port);
        match fate {
            Fate::Uncertain => options.limits.answer = short,
            _ => options.limits.command = short,
        }
        let relay = relay(options);
        let submission = send(&relay, &["bob@there.example"]).await;
        assert_eq!(fates(&submission), [*fate], "case {at}");
        assert_eq!(submission.fault, Some(Fault::Timeout), "case {at}");
        playing.await.expect("played");
    }
}

#[tokio::test]
async fn the_whole_has_its_time_and_waiting_for_a_connection_counts() {
    let script = [GREETING, PATHS, &[HearMessage, Stall]].concat();
    let (port, _playing) = server(vec![script]).await;
    let mut options = plain(port);
    options.limits.total = Duration::from_millis(100);
    options.limits.connections = 1;
    let relay = relay(options);
    let first = send(&relay, &["a@there.example"]);
    let second = send(&relay, &["b@there.example"]);
    let (first, second) = tokio::join!(first, second);
    assert_eq!(fates(&first), [Fate::Uncertain]);
    assert_eq!(first.uncertain_reason(), Some("transport_timeout"));
    assert_eq!(fates(&second), [Fate::Retry]);
    assert!(!second.handed_over);
}

#[tokio::test]
async fn a_kept_connection_that_the_server_closed_costs_nothing() {
    // The server goes right after its answer, before or after it is used again.
    let once = [GREETING, PATHS, DONE].concat();
    let (port, playing) = server(vec![once.clone(), once.clone(), once]).await;
    let relay = relay(plain(port));
    for _ in 0..3 {
        let submission = send(&relay, &["bob@there.example"]).await;
        assert_eq!(fates(&submission), [Fate::Accepted]);
    }
    let heard = playing.await.expect("played");
    for lines in heard {
        let messages = lines.iter().filter(|line| *line == ".").count();
        assert_eq!(messages, 1, "{lines:?}");
    }
}

#[tokio::test]
async fn a_kept_connection_whose_end_comes_behind_the_message_is_not_tried_again() {
    let twice = [GREETING, PATHS, DONE, PATHS, &[HearMessage]].concat();
    let (port, playing) = server(vec![twice]).await;
    let relay = relay(plain(port));
    let first = send(&relay, &["bob@there.example"]).await;
    assert_eq!(fates(&first), [Fate::Accepted]);
    let second = send(&relay, &["bob@there.example"]).await;
    assert_eq!(fates(&second), [Fate::Uncertain]);
    assert_eq!(second.uncertain_reason(), Some("transport_connection_lost"));
    playing.await.expect("played");
}

#[tokio::test]
async fn leave_is_taken_of_a_connection_that_nobody_needs() {
    let script = [GREETING, PATHS, DONE, &[Hear]].concat();
    let (port, playing) = server(vec![script]).await;
    let mut options = plain(port);
    options.limits.idle = Duration::from_millis(20);
    let relay = relay(options);
    let submission = send(&relay, &["bob@there.example"]).await;
    assert_eq!(fates(&submission), [Fate::Accepted]);
    let heard = playing.await.expect("played");
    assert_eq!(heard[0].last().map(String::as_str), Some("QUIT"));
}

#[tokio::test]
async fn tls_from_the_first_byte_and_credentials_inside_it() {
    let folder = tempfile::tempdir().expect("folder");
    let config = tls::self_made(folder.path(), "localhost").expect("made");
    let [certificate, _] = tls::self_made_files(folder.path());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let port = listener.local_addr().expect("address").port();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::clone(&config));
    let playing = tokio::spawn(async move {
        let login = [
            Say("220 there\r\n"),
            Hear,
            Say("250-there\r\n250 AUTH PLAIN\r\n"),
            Hear,
            Say("235 Ok\r\n"),
        ];
        let script = [&login, PATHS, DONE].concat();
        let (stream, _) = listener.accept().await.expect("accept");
        let stream = acceptor.accept(stream).await.expect("TLS");
        play(stream, &script).await
    });
    let mut options = RelayOptions::new("localhost", port, "here.example");
    options.security = Security::Tls;
    options.credentials = Some(Credentials {
        username: "user".to_owned(),
        password: Secret::new("pass".to_owned()),
    });
    let submission = send(&trusting(options, certificate), &["bob@there.example"]).await;
    assert_eq!(fates(&submission), [Fate::Accepted]);
    let heard = playing.await.expect("played");
    assert_eq!(heard[1], "AUTH PLAIN AHVzZXIAcGFzcw==");
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_given_up() {
    let (port, playing) = server(vec![vec![Stall]]).await;
    let mut options = RelayOptions::new("127.0.0.1", port, "here.example");
    options.security = Security::Tls;
    options.limits.connect = Duration::from_millis(50);
    let submission = send(&relay(options), &["bob@there.example"]).await;
    assert_eq!(submission.fault, Some(Fault::Tls));
    assert_eq!(fates(&submission), [Fate::Retry]);
    playing.abort();
}
