//! Mail from the built server to a real Postfix, read there by Python's `mailbox` and `email`.

use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::{
    bench::Http,
    postfix::{self, Postfix},
    process,
    sending::{self, Mailboxes},
    server, test,
};

const CHECK: &str = include_str!("receiver.py");

/// Sends a few mails over TLS and checks what arrived and what the rows say.
pub(crate) fn run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let postfix = Postfix::receiver()?;
    let mut command = test::binary("postroom");
    server::serve(&mut command, &folder.path().join("data"));
    sending::relay(&mut command, postfix.port)
        .env("POSTROOM_TRANSPORT_HOST", "localhost")
        .env("POSTROOM_TRANSPORT_SECURITY", "starttls")
        .env("POSTROOM_EGRESS_EXTRA_CA", postfix.certificate())
        .stderr(std::process::Stdio::null());
    let (ready, running) = server::start(&mut command)?;
    let mailboxes = Mailboxes::create(&ready, 1)?;
    let mut client = Http::connect(server::text(&ready, "url")?, &mailboxes.key)?;
    let mut sent = Vec::new();
    for mail in mails() {
        let answer = mailboxes.send(&mut client, 0, &mail)?;
        sent.push(json!({"asked": mail, "answer": answer}));
    }
    let script = folder.path().join("receiver.py");
    std::fs::write(&script, CHECK)?;
    let told = folder.path().join("sent.json");
    std::fs::write(&told, Value::from(sent).to_string())?;
    let said = process::output(
        Command::new("python3")
            .arg(script)
            .args([server::text(&ready, "url")?, &mailboxes.key])
            .arg(told)
            .arg(postfix.maildir()),
    )?;
    print!("{} {said}", postfix.version()?);
    drop(running);
    ensure!(said.contains("as they were asked for"), "{said}");
    Ok(())
}

fn mails() -> Vec<Value> {
    let at = |name: &str| format!("{name}@{}", postfix::DOMAIN);
    let file = |name: &str, kind: &str, content: &str| json!({"filename": name, "content_type": kind, "content_base64": content});
    vec![
        json!({
            "idempotency_key": "plain",
            "to": [{"address": at("ann"), "name": "Ann, the first"}],
            "cc": [at("carl")],
            "bcc": [at("blind")],
            "subject": "Gr\u{fc}\u{df}e \u{2014} \u{65e5}\u{672c}\u{8a9e}",
            "text": ".\n..\n.dots at the start\nFrom the start\n\nE\u{301}te\u{301} \u{1f600}\n",
        }),
        json!({
            "idempotency_key": "files",
            "to": [at("ann")],
            "subject": "Files",
            "html": "<p>See the <b>files</b>.</p>",
            "attachments": [
                file("\u{dc}bersicht 1.txt", "text/plain", "LgouLgpsaW5lDQo="),
                file("a.bin", "application/octet-stream", "AAECAw0KLg0KAA=="),
            ],
        }),
        json!({
            "idempotency_key": "fates",
            "to": [at("ann"), at("nobody"), at("later")],
            "subject": "Fates",
            "text": "For some of you.",
        }),
    ]
}
