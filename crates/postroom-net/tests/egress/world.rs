//! Resolvers and targets made up for these tests.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};

use postroom_net::egress::{
    DnsFile, Egress, EgressPolicy, Limits, Purpose, Request, Resolver, Resolving,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpListener,
    sync::mpsc,
};

/// Answers in turn; the last one again and again.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    answers: Vec<Vec<IpAddr>>,
    pub(crate) asked: Arc<Mutex<usize>>,
}

impl Table {
    pub(crate) fn turns(answers: Vec<Vec<IpAddr>>) -> Self {
        Self {
            answers,
            asked: Arc::default(),
        }
    }

    pub(crate) fn always(answer: Vec<IpAddr>) -> Self {
        Self::turns(vec![answer])
    }

    pub(crate) fn silent() -> Self {
        Self::turns(Vec::new())
    }
}

impl Resolver for Table {
    fn resolve<'a>(&'a self, _host: &'a str) -> Resolving<'a> {
        let mut asked = self.asked.lock().expect("not poisoned");
        let turn = (*asked).min(self.answers.len().saturating_sub(1));
        *asked += 1;
        match self.answers.get(turn) {
            Some(answer) => Box::pin(std::future::ready(Ok(answer.clone()))),
            None => Box::pin(std::future::pending()),
        }
    }
}

pub(crate) fn dns_file() -> DnsFile {
    DnsFile::parse(include_str!("../../test_data/egress/dns.json")).expect("valid")
}

pub(crate) fn egress(policy: EgressPolicy, resolver: impl Resolver + 'static) -> Egress {
    Egress::with_resolver(policy, Box::new(resolver)).expect("a policy")
}

/// Loopback, any port, plain http: how a test reaches its own target.
pub(crate) fn open_policy() -> EgressPolicy {
    EgressPolicy {
        allow_cidrs: vec!["127.0.0.1".parse().expect("one")],
        allow_ports: vec!["1-65535".parse().expect("ports")],
        allow_http: true,
        ..EgressPolicy::default()
    }
}

/// A replay whose time is short, for targets that never end.
pub(crate) fn post(url: String) -> Request {
    let mut request = Request::post(
        url,
        vec![("content-type".to_owned(), b"application/json".to_vec())],
        "{\"a\":1}",
        Purpose::Replay,
    );
    request.limits = Limits {
        total: Duration::from_millis(1_500),
        ..Limits::of(Purpose::Replay)
    };
    request
}

/// What a target does with a connection after it has read the request's head.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Writes and closes.
    Write(Vec<u8>),
    /// Writes and holds the connection open.
    WriteAndHold(Vec<u8>),
    /// Writes the first, then the second until nobody reads.
    Flood(Vec<u8>, Vec<u8>),
}

/// A target on loopback; each connection's request arrives at the receiver.
pub(crate) async fn target(act: Act) -> (SocketAddr, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let address = listener.local_addr().expect("address");
    let (seen, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, act.clone(), seen.clone()));
        }
    });
    (address, requests)
}

pub(crate) async fn serve<S>(mut stream: S, act: Act, seen: mpsc::UnboundedSender<String>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut request = Vec::new();
    let mut piece = [0; 4_096];
    while !request.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut piece).await {
            Ok(read) if read > 0 => request.extend_from_slice(&piece[..read]),
            _ => break,
        }
    }
    let _ = seen.send(String::from_utf8_lossy(&request).into_owned());
    match act {
        Act::Write(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Act::WriteAndHold(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.flush().await;
            std::future::pending::<()>().await;
        }
        Act::Flood(first, again) => {
            let _ = stream.write_all(&first).await;
            while stream.write_all(&again).await.is_ok() {}
        }
    }
}

pub(crate) fn ok(body: &str) -> Act {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    Act::Write(format!("{head}{body}").into_bytes())
}
