//! An HTTP/1.1 listener whose open connections cost little memory.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ::http::HeaderValue;
use ::http::header::{CONNECTION, EXPECT};
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use postroom_types::limit::HTTP_CONNECTIONS;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::rest::Rest;

/// The largest read and write buffer of a connection, bytes; also bounds the request head.
const BUFFER_BYTES: usize = 16 * 1024;
/// Time for a client to send a request head.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// Time for running exchanges to end once the server stops.
const DRAIN_TIME: Duration = Duration::from_secs(10);
/// Pause after the system could not accept a connection (out of file descriptors).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves `router` on `listener` until `shutdown` is cancelled, then lets running exchanges end.
///
/// Every request carries its peer as [`ConnectInfo`].
///
/// # Errors
/// None at present; a failure to accept is waited out.
pub async fn serve_http(
    listener: TcpListener,
    router: Router,
    shutdown: CancellationToken,
) -> io::Result<()> {
    serve_at_most(HTTP_CONNECTIONS, listener, router, shutdown).await
}

async fn serve_at_most(
    limit: usize,
    listener: TcpListener,
    router: Router,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let connections = TaskTracker::new();
    let room = Arc::new(Semaphore::new(limit));
    loop {
        let room = Arc::clone(&room);
        let accepting = async {
            let permit = room.acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|accepted| (permit, accepted))
        };
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = accepting => accepted,
        };
        let Ok((permit, (stream, peer))) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let serving = connection(stream, peer, router.clone(), shutdown.clone());
        connections.spawn(async move {
            serving.await;
            drop(permit);
        });
    }
    drop(listener);
    connections.close();
    let _ = tokio::time::timeout(DRAIN_TIME, connections.wait()).await;
    Ok(())
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    shutdown: CancellationToken,
) {
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        // Who waits for leave to send its body sends none once it is refused.
        let sends = !request.headers().contains_key(EXPECT);
        let (parts, body) = request.into_parts();
        let (body, rest) = Rest::of(body);
        let mut request = hyper::Request::from_parts(parts, Body::new(body));
        request.extensions_mut().insert(ConnectInfo(peer));
        let answer = hyper::service::Service::call(&service, request);
        async move {
            let mut answer = answer.await.unwrap_or_else(|never| match never {});
            if sends && !rest.discard().await {
                let close = HeaderValue::from_static("close");
                answer.headers_mut().insert(CONNECTION, close);
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(BUFFER_BYTES);
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    let mut serving = std::pin::pin!(serving);
    // A connection that fails has no one left to tell.
    tokio::select! {
        _ = serving.as_mut() => return,
        () = shutdown.cancelled() => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    async fn start(limit: usize) -> (SocketAddr, CancellationToken, tokio::task::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let router = Router::new().route(
            "/",
            get(async |peer: ConnectInfo<SocketAddr>| peer.0.to_string()),
        );
        let serving = serve_at_most(limit, listener, router, shutdown.clone());
        let serving = tokio::spawn(async { serving.await.unwrap() });
        (address, shutdown, serving)
    }

    async fn ask(stream: &mut TcpStream) -> String {
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            .await
            .unwrap();
        let mut bytes = vec![0; 4_096];
        let read = stream.read(&mut bytes).await.unwrap();
        String::from_utf8(bytes[..read].to_vec()).unwrap()
    }

    #[tokio::test]
    async fn a_connection_past_the_limit_waits_for_another_to_close() {
        let (address, _shutdown, _serving) = start(1).await;
        let mut first = TcpStream::connect(address).await.unwrap();
        let own = first.local_addr().unwrap().to_string();
        assert!(
            ask(&mut first).await.ends_with(&own),
            "the peer's address is known"
        );
        let mut second = TcpStream::connect(address).await.unwrap();
        second
            .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            .await
            .unwrap();
        // The first is still served while the second waits.
        assert!(ask(&mut first).await.starts_with("HTTP/1.1 200"));
        drop(first);
        let mut byte = [0];
        second.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"H");
    }

    #[tokio::test]
    async fn idle_connections_are_closed_when_the_server_stops() {
        let (address, shutdown, serving) = start(8).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        assert!(ask(&mut stream).await.starts_with("HTTP/1.1 200"));
        shutdown.cancel();
        serving.await.unwrap();
        assert_eq!(stream.read(&mut [0; 16]).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_head_past_the_buffer_is_refused() {
        let (address, _shutdown, _serving) = start(8).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        let filler = "x".repeat(2 * BUFFER_BYTES);
        let head = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {filler}\r\n\r\n");
        // The server may close before it has read all of it.
        let _ = stream.write_all(head.as_bytes()).await;
        let mut answer = vec![0; 64];
        let read = stream.read(&mut answer).await.unwrap_or(0);
        let answer = String::from_utf8_lossy(&answer[..read]).into_owned();
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
            "{answer}"
        );
    }
}
