//! A proxy that adds a credential to every request.
//!
//! The conformance suite cannot send a header of its own; through this proxy it tests the very path
//! that clients with a key take. Everything else passes unchanged, the `Host` included, and a
//! client that goes away closes the connection behind it too.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

#[derive(Clone)]
struct Route {
    target: SocketAddr,
    credential: HeaderValue,
}

/// A router that passes everything to `target` with `Authorization: Bearer {key}`.
///
/// # Errors
/// When the key cannot stand in a header.
pub fn router(target: SocketAddr, key: &str) -> anyhow::Result<Router> {
    let credential = HeaderValue::from_str(&format!("Bearer {key}"))?;
    let route = Route { target, credential };
    Ok(Router::new().fallback(forward).with_state(route))
}

async fn forward(State(route): State<Route>, mut request: Request) -> Response {
    request
        .headers_mut()
        .insert(AUTHORIZATION, route.credential);
    match exchange(route.target, request).await {
        Ok(response) => response,
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}

async fn exchange(target: SocketAddr, request: Request) -> anyhow::Result<Response> {
    let stream = TcpStream::connect(target).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let response = sender.send_request(request).await?;
    Ok(response.map(Body::new))
}
