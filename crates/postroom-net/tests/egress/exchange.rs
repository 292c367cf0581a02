//! Exchanges with targets on loopback that do their worst.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex},
};

use postroom_net::egress::{Class, EgressError, EgressPolicy, Purpose, Request};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, pem::PemObject as _};
use tokio::{net::TcpListener, sync::mpsc};

use crate::world::{Act, Table, dns_file, egress, ok, open_policy, post, serve, target};

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

#[tokio::test]
async fn a_request_arrives_as_it_was_given() {
    let (address, mut requests) = target(ok("fine")).await;
    let egress = egress(open_policy(), dns_file());
    let url = format!("http://good.example:{}/in/a%20b?x=1", address.port());
    let answer = egress
        .send(post(url).header("x-event", "push"))
        .await
        .expect("answered");
    assert_eq!(
        (answer.status, answer.body.as_ref(), answer.complete),
        (200, &b"fine"[..], true)
    );
    let request = requests.recv().await.expect("seen").to_lowercase();
    let lines: Vec<&str> = request.lines().collect();
    assert_eq!(lines[0], "post /in/a%20b?x=1 http/1.1");
    let host = format!("host: good.example:{}", address.port());
    for line in [
        &host,
        "connection: close",
        "content-length: 7",
        "x-event: push",
    ] {
        assert!(lines.contains(&line), "{line} in {request}");
    }
    assert!(!request.contains("accept-encoding") && !request.contains("cookie"));
}

#[tokio::test]
async fn only_the_address_that_was_checked_is_dialled() {
    let (address, mut requests) = target(ok("")).await;
    let answers = vec![vec![ip("127.0.0.1")], vec![ip("169.254.169.254")]];
    let resolver = Table::turns(answers);
    let asked = Arc::clone(&resolver.asked);
    let egress = egress(open_policy(), resolver);
    let url = format!("http://rebinding.example:{}/", address.port());
    assert_eq!(
        egress
            .send(post(url.clone()))
            .await
            .expect("answered")
            .status,
        200
    );
    assert_eq!(*asked.lock().expect("not poisoned"), 1, "resolved once");
    assert!(requests.recv().await.is_some());
    // The verdict of the first time is worth nothing the second time.
    let again = egress.send(post(url)).await.expect_err("refused");
    assert_eq!(again, EgressError::Refused(Class::LinkLocal));
    assert!(!again.is_retryable());
    assert!(requests.try_recv().is_err());
}

#[tokio::test]
async fn one_bad_answer_refuses_all_of_them() {
    let (address, mut requests) = target(ok("")).await;
    for bad in ["10.0.0.5", "::1", "169.254.169.254", "0.0.0.0"] {
        for answers in [[ip("127.0.0.1"), ip(bad)], [ip(bad), ip("127.0.0.1")]] {
            let egress = egress(open_policy(), Table::always(answers.to_vec()));
            let url = format!("http://mixed.example:{}/", address.port());
            let refused = egress.send(post(url)).await.expect_err("refused");
            assert!(matches!(refused, EgressError::Refused(_)), "{bad}");
        }
    }
    assert!(requests.try_recv().is_err(), "nobody was dialled");
}

#[tokio::test]
async fn no_answer_may_be_tried_again_and_a_bad_one_may_not() {
    for (answers, expected) in [
        (vec![], EgressError::NotResolved),
        (vec![ip("10.0.0.5")], EgressError::Refused(Class::Private)),
    ] {
        let egress = egress(open_policy(), Table::always(answers));
        let error = egress.send(post("https://some.example/".to_owned())).await;
        let error = error.expect_err("refused");
        assert_eq!(error, expected);
        assert_eq!(error.is_retryable(), expected == EgressError::NotResolved);
    }
}

/// What every test of this file relies on, under an environment that names a proxy.
async fn redirects() {
    let (elsewhere, mut never) = target(ok("")).await;
    for status in [301, 302, 303, 307, 308] {
        for location in [
            "http://169.254.169.254/".to_owned(),
            format!("http://127.0.0.1:{}/", elsewhere.port()),
        ] {
            let head = format!(
                "HTTP/1.1 {status} Moved\r\nLocation: {location}\r\n\
                 Alt-Svc: h3=\"127.0.0.1:{}\"\r\nContent-Length: 0\r\n\r\n",
                elsewhere.port()
            );
            let (address, mut requests) = target(Act::Write(head.into_bytes())).await;
            let egress = egress(open_policy(), dns_file());
            let url = format!("http://good.example:{}/", address.port());
            let answer = egress.send(post(url)).await.expect("answered");
            assert_eq!(answer.status, status);
            assert!(requests.recv().await.is_some() && requests.try_recv().is_err());
        }
    }
    assert!(never.try_recv().is_err(), "nobody followed");
}

#[tokio::test]
async fn redirects_are_answers() {
    redirects().await;
}

#[test]
fn proxies_of_the_environment_are_not_asked() {
    // Nothing listens on port 9: had a proxy been asked, no redirect would have come back.
    let proxy = "http://127.0.0.1:9";
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    for name in [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        command.env(name, proxy);
    }
    let done = command
        .args(["--exact", "exchange::redirects_are_answers"])
        .output()
        .expect("run");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn no_connection_serves_twice() {
    let keep = b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n".to_vec();
    let (address, mut requests) = target(Act::WriteAndHold(keep)).await;
    let egress = egress(open_policy(), dns_file());
    for _ in 0..3 {
        let url = format!("http://good.example:{}/", address.port());
        assert_eq!(egress.send(post(url)).await.expect("answered").status, 200);
        // The target reads one request per connection and holds it: a second one on the same
        // connection would never be seen.
        assert!(requests.recv().await.is_some());
    }
}

#[tokio::test]
async fn a_body_is_read_to_its_bound_and_as_it_came() {
    let chunk = [b"1000\r\n".to_vec(), vec![b'a'; 4_096], b"\r\n".to_vec()].concat();
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (address, _requests) = target(Act::Flood(head.to_vec(), chunk)).await;
    let egress = egress(open_policy(), dns_file());
    let url = format!("http://good.example:{}/", address.port());
    let answer = egress.send(post(url)).await.expect("answered");
    assert_eq!(
        (answer.status, answer.body.len(), answer.complete),
        (200, 64 * 1024, false)
    );

    for (length, complete) in [(64 * 1024, true), (64 * 1024 + 1, false)] {
        let (address, _requests) = target(ok(&"b".repeat(length))).await;
        let url = format!("http://good.example:{}/", address.port());
        let answer = egress.send(post(url)).await.expect("answered");
        assert_eq!((answer.body.len(), answer.complete), (64 * 1024, complete));
    }
}

#[tokio::test]
async fn a_body_that_never_ends_leaves_the_status() {
    let half = b"HTTP/1.1 202 Accepted\r\nContent-Length: 100\r\n\r\nhalf".to_vec();
    for act in [Act::WriteAndHold(half.clone()), Act::Write(half)] {
        let (address, _requests) = target(act).await;
        let egress = egress(open_policy(), dns_file());
        let url = format!("http://good.example:{}/", address.port());
        let mut request = post(url);
        request.limits.total = std::time::Duration::from_millis(300);
        let answer = egress.send(request).await.expect("answered");
        assert_eq!(
            (answer.status, answer.body.as_ref(), answer.complete),
            (202, &b"half"[..], false)
        );
    }
}

#[tokio::test]
async fn everything_that_fails_fails_in_the_same_words() {
    let egress = egress(open_policy(), dns_file());
    let nobody = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let closed = nobody.local_addr().expect("address").port();
    drop(nobody);
    let endless = Act::Flood(
        b"HTTP/1.1 200 OK\r\n".to_vec(),
        b"X-More: and more\r\n".to_vec(),
    );
    let mut ports = vec![("http", closed, false), ("https", closed, false)];
    let mut kept = Vec::new();
    for (scheme, act, sent) in [
        ("http", Act::WriteAndHold(Vec::new()), true),
        ("http", Act::Write(Vec::new()), true),
        (
            "http",
            Act::Write(b"220 smtp.example ESMTP\r\n".to_vec()),
            true,
        ),
        ("http", endless, true),
        (
            "https",
            Act::Write(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
            false,
        ),
        ("https", Act::WriteAndHold(Vec::new()), false),
    ] {
        let (address, requests) = target(act).await;
        kept.push(requests);
        ports.push((scheme, address.port(), sent));
    }
    let mut words = Vec::new();
    for (scheme, port, sent) in ports {
        let mut request = post(format!("{scheme}://good.example:{port}/secret-token"));
        request.limits.total = std::time::Duration::from_millis(300);
        let error = egress.send(request).await.expect_err("failed");
        assert_eq!(error, EgressError::Failed { sent }, "{scheme} {port}");
        words.push(error.to_string());
    }
    words.dedup();
    assert_eq!(words.len(), 1);
    assert!(!words[0].contains("127.0.0.1") && !words[0].contains("secret"));
}

#[tokio::test]
async fn headers_of_the_connection_are_not_the_callers_to_give() {
    let (address, mut requests) = target(ok("")).await;
    let egress = egress(open_policy(), dns_file());
    for (name, value) in [
        ("Host", "evil.example"),
        ("host", "evil.example"),
        (":authority", "evil.example"),
        ("Content-Length", "0"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "keep-alive"),
        ("Proxy-Authorization", "x"),
        ("X-A", "b\r\nHost: evil.example"),
        ("X A", "b"),
        ("", "b"),
    ] {
        let url = format!("http://good.example:{}/", address.port());
        let error = egress.send(post(url).header(name, value)).await;
        assert_eq!(error.expect_err("refused"), EgressError::Header, "{name}");
    }
    assert!(requests.try_recv().is_err());
}

#[tokio::test]
async fn our_own_listener_is_not_dialled() {
    let (address, mut requests) = target(ok("")).await;
    let egress = egress(open_policy(), dns_file());
    egress.listens_at(address);
    let url = format!("http://good.example:{}/", address.port());
    let error = egress.send(post(url)).await.expect_err("refused");
    assert_eq!(error, EgressError::Refused(Class::OwnListener));
    assert!(requests.try_recv().is_err());
}

#[tokio::test]
async fn without_an_allowance_nothing_on_loopback_is_dialled() {
    let (address, mut requests) = target(ok("")).await;
    let policy = EgressPolicy {
        allow_cidrs: Vec::new(),
        ..open_policy()
    };
    let egress = egress(policy, dns_file());
    for host in [
        "127.0.0.1",
        "good.example",
        "0x7f000001",
        "[::ffff:127.0.0.1]",
        "[::1]",
    ] {
        let url = format!("http://{host}:{}/", address.port());
        let error = egress.send(post(url)).await.expect_err("refused");
        assert_eq!(error, EgressError::Refused(Class::Loopback), "{host}");
    }
    assert!(requests.try_recv().is_err());
}

/// A CA, and a TLS target with its certificate for `good.example`; the names that clients asked
/// for are noted.
async fn tls_target() -> (tempfile::NamedTempFile, u16, Arc<Mutex<Vec<String>>>) {
    let ca_key = KeyPair::generate().expect("key");
    let mut ca = CertificateParams::new(Vec::new()).expect("parameters");
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_pem = ca.self_signed(&ca_key).expect("signed").pem();
    let issuer = Issuer::new(ca, ca_key);
    let key = KeyPair::generate().expect("key");
    let leaf = CertificateParams::new(["good.example".to_owned()])
        .expect("parameters")
        .signed_by(&key, &issuer)
        .expect("signed");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(
            vec![leaf.der().clone()],
            PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).expect("key"),
        )
        .expect("a pair");
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let port = listener.local_addr().expect("address").port();
    let names = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&names);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, noted) = (acceptor.clone(), Arc::clone(&noted));
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let name = stream
                    .get_ref()
                    .1
                    .server_name()
                    .unwrap_or_default()
                    .to_owned();
                noted.lock().expect("not poisoned").push(name);
                serve(stream, ok("secure"), mpsc::unbounded_channel().0).await;
            });
        }
    });
    let file = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(file.path(), ca_pem).expect("written");
    (file, port, names)
}

#[tokio::test]
async fn tls_asks_for_the_name_and_not_for_the_address() {
    let (ca, port, names) = tls_target().await;
    let policy = EgressPolicy {
        extra_ca: Some(ca.path().to_owned()),
        allow_http: false,
        ..open_policy()
    };
    let trusting = egress(policy, dns_file());
    let get = |host: &str| Request::get(format!("https://{host}:{port}/"), Purpose::Certificate);
    let answer = trusting.send(get("good.example")).await.expect("answered");
    assert_eq!((answer.status, answer.body.as_ref()), (200, &b"secure"[..]));
    assert_eq!(*names.lock().expect("not poisoned"), ["good.example"]);
    // The same address under another name, the bare address, and a client that does not know the
    // operator's certificate.
    for host in ["wrong.example", "127.0.0.1"] {
        let error = trusting.send(get(host)).await.expect_err("failed");
        assert_eq!(error, EgressError::Failed { sent: false }, "{host}");
    }
    let public_only = egress(
        EgressPolicy {
            allow_http: false,
            ..open_policy()
        },
        dns_file(),
    );
    let error = public_only
        .send(get("good.example"))
        .await
        .expect_err("failed");
    assert_eq!(error, EgressError::Failed { sent: false });
}

#[tokio::test]
async fn a_key_of_ours_travels_and_is_not_printed() {
    let (address, mut requests) = target(ok("{}")).await;
    let egress = egress(open_policy(), dns_file());
    let url = format!("http://good.example:{}/v1?token=hidden", address.port());
    let token = postroom_types::Secret::new("re_hidden".to_owned());
    let request = Request::get(url, Purpose::Provider).bearer(&token);
    assert!(!format!("{request:?}").contains("hidden"));
    egress.send(request).await.expect("answered");
    let seen = requests.recv().await.expect("seen");
    assert!(seen.contains("authorization: Bearer re_hidden"));
}
