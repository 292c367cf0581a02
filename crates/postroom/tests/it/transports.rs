//! Mail that leaves: by a relay that answers each recipient apart, and through a provider's interface.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{
    carried_mail::{now_s, svix},
    fake::Fake,
    replay::ALLOWED,
    sending::Desk,
    served::on_both_told,
    webhooks::{Source, post},
};

const AGENT: &str = "agent@localhost";

/// A mail server for tests: it answers each recipient by its local part, and keeps what it took.
struct Relay {
    port: u16,
    taken: Arc<Mutex<Vec<String>>>,
}

impl Relay {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let taken = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&taken);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || {
                    let _ = session(stream, &kept);
                });
            }
        });
        Self { port, taken }
    }

    fn taken(&self) -> Vec<String> {
        self.taken.lock().expect("lock").clone()
    }
}

fn session(mut stream: std::net::TcpStream, kept: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?);
    stream.write_all(b"220 relay.example ready\r\n")?;
    let mut line = String::new();
    let mut some = false;
    let mut silent = false;
    while lines.read_line(&mut line)? > 0 {
        let command = line.trim_end().to_ascii_uppercase();
        let answer = if command.starts_with("RCPT") {
            let local = command
                .split(['<', '@'])
                .nth(1)
                .unwrap_or_default()
                .to_owned();
            silent |= local == "SILENT";
            some |= !matches!(local.as_str(), "NOBODY" | "LATER");
            match local.as_str() {
                "NOBODY" => "550 5.1.1 no such user\r\n",
                "LATER" => "451 4.7.1 come back later\r\n",
                _ => "250 2.1.5 ok\r\n",
            }
        } else if command == "DATA" && !some {
            "554 5.5.1 no valid recipients\r\n"
        } else if command == "DATA" {
            stream.write_all(b"354 go on\r\n")?;
            let mut mail = String::new();
            loop {
                let mut text = String::new();
                if lines.read_line(&mut text)? == 0 {
                    return Ok(());
                }
                if text == ".\r\n" {
                    break;
                }
                mail.push_str(&text);
            }
            kept.lock().expect("lock").push(mail);
            some = false;
            if silent {
                // The mail is taken, and the answer never comes.
                return Ok(());
            }
            "250 2.0.0 taken\r\n"
        } else if command == "QUIT" {
            stream.write_all(b"221 2.0.0 bye\r\n")?;
            return Ok(());
        } else {
            "250 2.0.0 ok\r\n"
        };
        stream.write_all(answer.as_bytes())?;
        line.clear();
    }
    Ok(())
}

fn fate<'a>(mail: &'a Value, address: &str) -> &'a Value {
    let deliveries = mail["deliveries"].as_array().expect("deliveries").iter();
    let mut found = deliveries.filter(|delivery| delivery["address"] == address);
    found.next().unwrap_or_else(|| panic!("{mail}"))
}

#[test]
fn a_relay_answers_each_recipient_apart_and_silence_is_uncertain_and_never_sent_again() {
    let relay = Relay::start();
    let file = format!(
        "[egress]\nallow_ports = [\"{0}\"]\n[transport]\nkind = \"smtp\"\nhost = \"127.0.0.1\"\nport = {0}\nsecurity = \"plain\"\ndomains = [\"localhost\"]\n",
        relay.port
    );
    on_both_told("serve", &file, async |served| {
        let before = relay.taken().len();
        let ann = Desk::open(&served, AGENT, "anyone").await;
        let sent = ann
            .send(json!({
                "to": ["here@outside.example", "nobody@outside.example"], "cc": ["later@outside.example"],
                "bcc": ["hidden@outside.example"], "subject": "Gr\u{fc}\u{df}e", "text": ".\r\nA line of one dot is above.",
                "idempotency_key": "one",
            }))
            .await;
        let mut told = Value::Null;
        for _ in 0..400 {
            told = ann.message(&sent["id"]).await;
            if fate(&told, "nobody@outside.example")["status"] == "rejected" {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        assert_eq!(
            fate(&told, "here@outside.example")["status"],
            "submitted",
            "{told}"
        );
        assert_eq!(fate(&told, "hidden@outside.example")["status"], "submitted");
        assert_eq!(fate(&told, "nobody@outside.example")["status"], "rejected");
        assert_eq!(
            fate(&told, "nobody@outside.example")["enhanced_code"],
            "5.1.1"
        );
        assert_eq!(fate(&told, "later@outside.example")["status"], "queued");
        assert_eq!(told["status"], "queued", "one of them is tried again");
        let taken = relay.taken().split_off(before);
        assert_eq!(taken.len(), 1);
        let id = sent["rfc_message_id"].as_str().expect("an id");
        assert!(taken[0].contains(&format!("<{id}>")), "{}", taken[0]);
        assert!(!taken[0].to_lowercase().contains("hidden") && !taken[0].contains("Bcc"));

        let silent = ann
            .send(json!({"to": ["silent@outside.example"], "subject": "S", "text": "T", "idempotency_key": "two"}))
            .await;
        let uncertain = ann.until(&silent["id"], &["uncertain"]).await;
        assert_eq!(
            fate(&uncertain, "silent@outside.example")["reason"],
            "transport_connection_lost"
        );
        let again = ann
            .send(json!({"to": ["silent@outside.example"], "subject": "S", "text": "T", "idempotency_key": "two"}))
            .await;
        assert_eq!(again["deduplicated"], true);
        assert_eq!(
            relay.taken().len(),
            before + 2,
            "one mail for one key, whatever is not known"
        );

        let other = json!({"address": "eve@elsewhere.example", "owner": {"name": "Olga", "email": "olga@owner.example"}});
        served
            .ask("POST", "/v1/identities", served.admin(), Some(other))
            .await;
        let mail = json!({"to": ["here@outside.example"], "subject": "S", "text": "T", "idempotency_key": "three"});
        let path = "/v1/identities/eve@elsewhere.example/messages";
        let refused = served.ask("POST", path, served.admin(), Some(mail)).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (409, "domain_not_ready")
        );
    });
}

#[test]
fn a_provider_gets_one_key_for_one_mail_and_its_events_reach_the_deliveries() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let fake = runtime.block_on(Fake::start(|asked, _| {
        let body = String::from_utf8_lossy(&asked.body).into_owned();
        let told = match asked.header("authorization") {
            Some(_) if body.contains("Refused") => {
                let why = json!({"statusCode": 422, "name": "validation_error", "message": "no such field"});
                return (422, "content-type: application/json\r\n", why.to_string().into_bytes());
            }
            // Taken, and the answer lost on its way.
            Some(_) if body.contains("Lost answer") => {
                return (504, "", Vec::new());
            }
            Some("Bearer re_0123456789abcdef") => json!({"id": "49a3999c-0ce1"}),
            _ => return (401, "", Vec::new()),
        };
        (
            200,
            "content-type: application/json\r\n",
            told.to_string().into_bytes(),
        )
    }));
    let file = format!(
        "{ALLOWED}provider_base = {{ resend = \"{}\" }}\n[transport]\nkind = \"resend\"\napi_key = \"re_0123456789abcdef\"\ndomains = [\"localhost\"]\n",
        fake.url
    );
    on_both_told("serve", &file, async |served| {
        let before = fake.asked().len();
        let ann = Desk::open(&served, AGENT, "anyone").await;
        let sent = ann
            .send(json!({"to": ["gone@outside.example"], "subject": "S", "text": "T", "idempotency_key": "k"}))
            .await;
        let taken = ann.until(&sent["id"], &["submitted"]).await;
        assert_eq!(taken["provider_message_id"], "49a3999c-0ce1");
        let asked = fake.asked().split_off(before);
        assert_eq!(asked.len(), 1);
        let key = format!("postroom/{}", sent["id"].as_str().expect("an id"));
        assert_eq!(asked[0].header("idempotency-key"), Some(key.as_str()));
        let refused = ann
            .send(json!({"to": ["here@outside.example"], "subject": "Refused", "text": "T", "idempotency_key": "r"}))
            .await;
        let refused = ann.until(&refused["id"], &["rejected"]).await;
        let told = fate(&refused, "here@outside.example");
        assert_eq!(
            told["reason"],
            "provider_validation: validation_error: no such field"
        );
        assert_eq!(told["smtp_code"], Value::Null, "HTTP has no codes of SMTP");
        let taken = ann.message(&sent["id"]).await;
        assert_eq!(
            fate(&taken, "gone@outside.example")["smtp_code"],
            Value::Null
        );
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let wanted =
            json!({"source_type": "resend", "target_queue": "mail", "signing_secret": secret});
        let source = Source::of(&served, wanted).await;
        let tell = async |id: &str, body: Value| {
            let (body, now) = (body.to_string(), now_s().to_string());
            let key = STANDARD
                .decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
                .expect("Base64");
            let signature = svix(&key, &format!("{id}.{now}.{body}"));
            let headers = [
                ("svix-id", id),
                ("svix-timestamp", &now),
                ("svix-signature", &signature),
            ];
            post(&served, &source.url, &headers, body.into())
                .await
                .status
        };
        let data = json!({"email_id": "49a3999c-0ce1", "to": ["gone@outside.example"], "bounce": {"type": "Permanent", "message": "no such user"}});
        assert_eq!(
            tell("msg_1", json!({"type": "email.bounced", "data": data})).await,
            200
        );
        let bounced = ann.until(&sent["id"], &["bounced"]).await;
        assert_eq!(
            fate(&bounced, "gone@outside.example")["bounce_type"],
            "hard"
        );
        let again = ann
            .send(json!({"to": ["gone@outside.example"], "subject": "S", "text": "T", "idempotency_key": "l"}))
            .await;
        assert_eq!(again["status"], "suppressed");
        let mut lost = Vec::new();
        for (key, subject) in [
            ("m", "Lost answer"),
            ("n", "Lost answer too"),
            ("o", "Lost answer too"),
        ] {
            let mail = json!({"to": ["here@outside.example"], "subject": subject, "text": "T", "idempotency_key": key});
            let sent = ann.send(mail).await;
            lost.push(ann.until(&sent["id"], &["uncertain"]).await["id"].clone());
        }
        for (id, subject) in [
            ("msg_2", "Lost answer"),
            ("msg_3", "Lost answer too"),
            ("msg_4", "Another"),
        ] {
            let data = json!({"email_id": id, "from": format!("Ann <{AGENT}>"), "to": ["here@outside.example"], "subject": subject});
            assert_eq!(
                tell(id, json!({"type": "email.delivered", "data": data})).await,
                200
            );
        }
        let settled = ann.until(&lost[0], &["delivered"]).await;
        assert_eq!(settled["flags"], json!(["reconciled"]), "{settled}");
        for id in &lost[1..] {
            assert_eq!(
                ann.message(id).await["status"],
                "uncertain",
                "either could be meant"
            );
        }
    });
}
