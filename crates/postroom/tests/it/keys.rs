//! Signing keys that a delivery names: fetched through the guard from where their provider has them, which
//! the operator's names, allowance and certificate lead to this test.
//!
//! Keys stand behind port 443 and no other; a test without the right to listen there shows nothing, and any other
//! reason that it cannot fails it.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use rcgen::{
    BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, PublicKeyData as _, SigningKey as _,
};
use rustls::pki_types::{PrivateKeyDer, pem::PemObject as _};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    carried_mail::now_s,
    served::{Served, on_both_told},
    webhooks::{Source, events, post},
};

const SNS: &str = "sns.eu-west-1.amazonaws.com";
const PAYPAL: &str = "api.paypal.com";
const GOOGLE: &str = "www.googleapis.com";

/// The key of the webhook room's vectors; it signs nothing else.
fn signing_key() -> KeyPair {
    let file = include_str!("../../../postroom-webhook/tests/vectors/test-only.json");
    let file: Value = serde_json::from_str(file).expect("JSON");
    KeyPair::from_pem(file["rsa"].as_str().expect("PEM")).expect("a key")
}

/// RSA PKCS #1 v1.5 with SHA-256.
fn sign(text: &str) -> Vec<u8> {
    signing_key().sign(text.as_bytes()).expect("a signature")
}

/// `2026-12-01T03:00:00Z`.
fn rfc3339(seconds: i64) -> String {
    postroom_types::Timestamp::from_ms(seconds * 1_000).to_string()
}

/// What the vendors' hosts give out, and what they were asked for.
struct Vendors {
    folder: tempfile::TempDir,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Vendors {
    /// Starts them at an address of this machine; none where this test may not listen there.
    async fn start(host: &str) -> Option<Self> {
        let address: SocketAddr = format!("{host}:443").parse().expect("an address");
        let listener = match TcpListener::bind(address).await {
            Ok(listener) => listener,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return None,
            Err(error) => panic!("{address}: {error}"),
        };
        let folder = tempfile::tempdir().expect("a folder");
        let acceptor = certified(folder.path());
        let names: serde_json::Map<String, Value> = [SNS, PAYPAL, GOOGLE]
            .into_iter()
            .map(|name| (name.to_owned(), json!({"A": [host]})))
            .collect();
        let names = Value::Object(names).to_string();
        std::fs::write(folder.path().join("names.json"), names).expect("written");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if let Ok(stream) = acceptor.accept(stream).await {
                    let _ = answer(stream, &seen).await;
                }
            }
        });
        Some(Self { folder, asked })
    }

    /// The operator's allowance that leads to them.
    fn allowance(&self) -> String {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        format!(
            "[egress]\nallow_cidrs = [\"127.0.0.0/8\"]\ndns_file = {:?}\nextra_ca = {:?}\n",
            path("names.json"),
            path("ca.pem")
        )
    }

    /// How often something was asked for.
    fn times(&self, part: &str) -> usize {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.iter().filter(|line| line.contains(part)).count()
    }
}

/// A CA in `ca.pem`, and TLS with its certificate for the vendors' names.
fn certified(folder: &std::path::Path) -> TlsAcceptor {
    let ca_key = KeyPair::generate().expect("a key");
    let mut ca = CertificateParams::new(Vec::new()).expect("parameters");
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = ca.self_signed(&ca_key).expect("signed").pem();
    std::fs::write(folder.join("ca.pem"), pem).expect("written");
    let issuer = Issuer::new(ca, ca_key);
    let key = KeyPair::generate().expect("a key");
    let leaf = CertificateParams::new([SNS, PAYPAL, GOOGLE].map(str::to_owned))
        .expect("parameters")
        .signed_by(&key, &issuer)
        .expect("signed");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let private = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).expect("a key");
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], private)
        .expect("a pair");
    TlsAcceptor::from(Arc::new(config))
}

async fn answer(
    mut stream: tokio_rustls::server::TlsStream<tokio::net::TcpStream>,
    seen: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let line = head.lines().next().unwrap_or_default().to_owned();
    let body = if line.contains(".pem ") || line.contains("/certs/CERT-1 ") {
        let certificate = CertificateParams::new(vec!["test-only.invalid".to_owned()]);
        let certificate = certificate.expect("parameters").self_signed(&signing_key());
        certificate.expect("signed").pem()
    } else if line.contains("/oauth2/v3/certs ") {
        key_set()
    } else {
        "<ConfirmSubscriptionResponse/>".to_owned()
    };
    seen.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(line);
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// The public key as a set (RFC 7517).
fn key_set() -> String {
    let key = signing_key();
    let raw = key.der_bytes();
    // RSAPublicKey of 2,048 bits and the exponent 65,537: two headers, a zero, the modulus.
    let modulus = URL_SAFE_NO_PAD.encode(&raw[9..265]);
    json!({"keys": [{"kty": "RSA", "kid": "k1", "alg": "RS256", "n": modulus, "e": "AQAB"}]})
        .to_string()
}

/// A message of SNS, signed.
fn sns(mut message: Value) -> Vec<u8> {
    let names = [
        "Message",
        "MessageId",
        "SubscribeURL",
        "Timestamp",
        "Token",
        "TopicArn",
        "Type",
    ];
    let fields = names
        .iter()
        .filter_map(|name| Some((name, message[name].as_str()?)));
    let text: String = fields
        .map(|(name, value)| format!("{name}\n{value}\n"))
        .collect();
    message["SignatureVersion"] = json!("2");
    message["SigningCertURL"] = json!(format!("https://{SNS}/SimpleNotificationService-0.pem"));
    message["Signature"] = json!(STANDARD.encode(sign(&text)));
    message.to_string().into_bytes()
}

fn note(id: &str, topic: &str, at: i64) -> Value {
    json!({"Type": "Notification", "MessageId": id, "TopicArn": topic, "Message": "hello", "Timestamp": rfc3339(at)})
}

#[test]
fn a_topics_certificate_is_fetched_once_and_its_confirmation_visited() {
    with_vendors("127.0.0.41", async |vendors, served| {
        let source = Source::of(
            &served,
            json!({"source_type": "aws-sns", "target_queue": "any"}),
        )
        .await;
        let send =
            async |message: Value| post(&served, &source.url, &[], sns(message)).await.status;
        let (topic, now) = ("arn:aws:sns:eu-west-1:1:t", now_s());
        let (certificates, visits) = (vendors.times(".pem"), vendors.times("ConfirmSubscription"));
        let confirm = json!({
            "Type": "SubscriptionConfirmation", "MessageId": "c-1", "TopicArn": topic, "Message": "You have chosen",
            "Timestamp": rfc3339(now), "Token": "t",
            "SubscribeURL": format!("https://{SNS}/?Action=ConfirmSubscription&Token=t"),
        });
        assert_eq!(send(confirm).await, 200);
        assert_eq!(vendors.times("ConfirmSubscription") - visits, 1);
        assert_eq!(send(note("m-1", topic, now)).await, 202);
        assert_eq!(send(note("m-2", topic, now - 3_500)).await, 202);
        assert_eq!(
            send(note("m-3", topic, now - 3_700)).await,
            401,
            "an hour at most"
        );
        assert_eq!(
            send(note("m-4", "arn:aws:sns:eu-west-1:2:other", now)).await,
            401
        );
        let listed = events(&served, "?provider=aws-sns").await;
        assert_eq!(listed.len(), 2, "{listed:?}");
        assert!(
            listed.iter().all(|event| event["verified"] == json!(true)),
            "{listed:?}"
        );
        assert_eq!(
            vendors.times(".pem") - certificates,
            1,
            "kept for the next ones"
        );
    });
}

#[test]
fn paypals_certificate_is_fetched() {
    with_vendors("127.0.0.42", async |_, served| {
        let wanted = json!({"source_type": "paypal", "target_queue": "any", "settings": {"webhook_id": "HOOK1"}});
        let source = Source::of(&served, wanted).await;
        let at = rfc3339(now_s());
        let send = async |body: &str, signed: &str| {
            let crc = crc32fast::hash(signed.as_bytes());
            let signature = STANDARD.encode(sign(&format!("t1|{at}|HOOK1|{crc}")));
            let certificate = format!("https://{PAYPAL}/v1/notifications/certs/CERT-1");
            let headers = [
                ("paypal-transmission-id", "t1"),
                ("paypal-transmission-time", &at),
                ("paypal-auth-algo", "SHA256withRSA"),
                ("paypal-cert-url", &certificate),
                ("paypal-transmission-sig", &signature),
            ];
            post(&served, &source.url, &headers, body.into())
                .await
                .status
        };
        let body = r#"{"id":"WH-1","event_type":"PAYMENT.CAPTURE.COMPLETED"}"#;
        assert_eq!(send(body, "another body").await, 401);
        assert_eq!(send(body, body).await, 202);
        let listed = events(&served, "?provider=paypal").await;
        assert_eq!(listed[0]["event_type"], json!("PAYMENT.CAPTURE.COMPLETED"));
        assert_eq!(listed[0]["verified"], json!(true));
    });
}

#[test]
fn googles_key_set_is_fetched() {
    with_vendors("127.0.0.43", async |_, served| {
        let source = Source::of(
            &served,
            json!({
                "source_type": "google-pubsub", "target_queue": "any",
                "settings": {"audience": "https://hooks.example/", "email": "push@p.iam.gserviceaccount.com"},
            }),
        )
        .await;
        let token = |kid: &str, audience: &str| {
            let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
            let now = now_s();
            let head = part(json!({"alg": "RS256", "kid": kid, "typ": "JWT"}));
            let claims = part(json!({
                "iss": "https://accounts.google.com", "aud": audience, "email": "push@p.iam.gserviceaccount.com",
                "email_verified": true, "iat": now, "exp": now + 3_000, "sub": "1",
            }));
            let signature = URL_SAFE_NO_PAD.encode(sign(&format!("{head}.{claims}")));
            format!("Bearer {head}.{claims}.{signature}")
        };
        let body = r#"{"message":{"messageId":"p-1","data":"aGVsbG8=","publishTime":"2026-11-05T16:59:01Z"}}"#;
        let send = async |token: &str| {
            post(
                &served,
                &source.url,
                &[("authorization", token)],
                body.into(),
            )
            .await
            .status
        };
        assert_eq!(send(&token("k1", "https://other.example/")).await, 401);
        assert_eq!(send(&token("k2", "https://hooks.example/")).await, 401);
        assert_eq!(send(&token("k1", "https://hooks.example/")).await, 204);
        let listed = events(&served, "?provider=google-pubsub").await;
        assert_eq!(
            (listed.len(), &listed[0]["trust_mode"]),
            (1, &json!("token"))
        );
    });
}

/// Runs a test beside the vendors, which have one port and so an address for each test.
fn with_vendors<F: Future<Output = ()>>(host: &str, test: impl Fn(Arc<Vendors>, Served) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let Some(vendors) = runtime.block_on(Vendors::start(host)) else {
        return;
    };
    let vendors = Arc::new(vendors);
    on_both_told("serve", &vendors.allowance(), |served| {
        test(Arc::clone(&vendors), served)
    });
}
