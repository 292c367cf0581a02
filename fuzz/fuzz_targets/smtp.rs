//! Any bytes from a client, in pieces: the machine never panics, and never takes a message that holds a
//! bare CR or LF.
#![no_main]

use postroom_mail::smtp::{Protocol, MessageAnswer, RecipientAnswer, Server, ServerOptions, Action};

libfuzzer_sys::fuzz_target!(|pieces: Vec<Vec<u8>>| {
    let mut server = Server::new(ServerOptions::new("mx.example", Protocol::Smtp));
    for piece in pieces {
        server.receive(&piece);
        loop {
            match server.poll() {
                Action::Read => break,
                Action::Recipient(_) => server.answer_recipient(RecipientAnswer::Accepted),
                Action::Message(incoming) => {
                    let raw = String::from_utf8_lossy(&incoming.raw).replace("\r\n", "");
                    assert!(!raw.contains(['\r', '\n']));
                    server.answer_message(&[MessageAnswer::Stored]);
                }
                Action::StartTls => server.tls_established(),
                Action::Close => return,
            }
        }
        let _ = server.take_output();
    }
});
