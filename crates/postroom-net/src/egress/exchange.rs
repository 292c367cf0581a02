//! One request and its answer over one connection of its own.

use std::{io, pin::pin, sync::Arc};

use bytes::Bytes;
use futures_util::future::{Either, select};
use http::{HeaderName, HeaderValue, header};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use postroom_types::limit::EGRESS_RESPONSE_HEADERS;
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::{Instant, timeout_at},
};
use tokio_rustls::TlsConnector;

use super::{Answer, Request, target::Target};

/// Bytes of an answer's head that are held.
const HEAD_BYTES: usize = 64 * 1024;

/// Where an exchange ended. For the operator's log: a caller learns only that it failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// No address took the connection.
    #[error("connect: {0}")]
    Connect(io::Error),
    /// The TLS handshake or the certificate.
    #[error("tls: {0}")]
    Tls(io::Error),
    /// HTTP itself.
    #[error("http: {0}")]
    Http(hyper::Error),
    /// The time was over.
    #[error("timeout")]
    Timeout,
}

/// A request that could be written, with whom it goes to.
pub(super) struct Exchange<'a> {
    pub(super) target: &'a Target,
    pub(super) tls: &'a Arc<ClientConfig>,
    pub(super) request: http::Request<Full<Bytes>>,
    /// Bytes of the answer that are read.
    pub(super) response_bytes: usize,
    /// When the exchange ends, whatever has come.
    pub(super) deadline: Instant,
}

impl Exchange<'_> {
    /// Speaks to the target; TLS asks for the certificate of the host that the URL names,
    /// whatever address is dialled. `sent` becomes true when the request may have left.
    pub(super) async fn run(self, stream: TcpStream, sent: &mut bool) -> Result<Answer, Fault> {
        if !self.target.tls {
            return self.speak(stream, sent).await;
        }
        let name = match self.target.literal {
            Some(address) => ServerName::IpAddress(address.into()),
            None => ServerName::try_from(self.target.host.clone())
                .map_err(|error| Fault::Tls(io::Error::other(error)))?,
        };
        let connecting = TlsConnector::from(Arc::clone(self.tls)).connect(name, stream);
        let stream = timeout_at(self.deadline, connecting)
            .await
            .map_err(|_| Fault::Timeout)?
            .map_err(Fault::Tls)?;
        self.speak(stream, sent).await
    }

    async fn speak<S>(self, stream: S, sent: &mut bool) -> Result<Answer, Fault>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let (mut sender, connection) = http1::Builder::new()
            .max_buf_size(HEAD_BYTES)
            .max_headers(EGRESS_RESPONSE_HEADERS)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(Fault::Http)?;
        *sent = true;
        let answering = async move {
            let response = timeout_at(self.deadline, sender.send_request(self.request))
                .await
                .map_err(|_| Fault::Timeout)?
                .map_err(Fault::Http)?;
            let (head, body) = response.into_parts();
            let (body, complete) = read(body, self.response_bytes, self.deadline).await;
            Ok(Answer {
                status: head.status.as_u16(),
                headers: head.headers,
                body,
                complete,
            })
        };
        // The connection lives in this future and not in a task: nothing of it outlasts the call,
        // so that no later request can meet it.
        match select(pin!(answering), pin!(connection)).await {
            Either::Left((answer, _)) => answer,
            Either::Right((_, answering)) => answering.await,
        }
    }
}

/// Reads a body to its end, its bound or the deadline; says whether that was all of it.
async fn read(mut body: Incoming, most: usize, deadline: Instant) -> (Bytes, bool) {
    let mut kept = Vec::new();
    let complete = loop {
        match timeout_at(deadline, body.frame()).await {
            Ok(None) => break true,
            Ok(Some(Ok(frame))) => {
                let data = frame.into_data().unwrap_or_default();
                let room = most.saturating_sub(kept.len());
                kept.extend_from_slice(data.get(..room).unwrap_or(&data));
                if data.len() > room {
                    break false;
                }
            }
            Ok(Some(Err(_))) | Err(_) => break false,
        }
    };
    (Bytes::from(kept), complete)
}

/// The request as HTTP; `None` when a header is none or is not the caller's to give.
pub(super) fn assemble(target: &Target, request: Request) -> Option<http::Request<Full<Bytes>>> {
    let mut assembled = http::Request::builder()
        .method(request.method)
        .uri(target.path_and_query())
        .body(Full::new(request.body))
        .ok()?;
    let headers = assembled.headers_mut();
    headers.insert(
        header::HOST,
        HeaderValue::try_from(target.host_header()).ok()?,
    );
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    for (name, value) in request.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        if super::headers::is_own(name.as_str()) {
            return None;
        }
        headers.append(name, HeaderValue::from_bytes(&value).ok()?);
    }
    if !headers.contains_key(header::USER_AGENT) {
        headers.insert(header::USER_AGENT, HeaderValue::from_static("Postroom"));
    }
    Some(assembled)
}
