//! Vectors as data: what a row accepts and what it refuses.

use std::collections::BTreeSet;

use postroom_webhook::{Delivery, Handshake, Next, Received, provider};
use serde_json::{Value, json};

use crate::vector::Vector;

/// Runs a vector; none when it agrees, else what differs.
fn differs(vector: &Vector) -> Option<String> {
    let received = vector.run();
    let seen = match &received {
        Ok(_) if !vector.valid => return Some(format!("{}: accepted", vector.id)),
        Err(rejection) if vector.valid => return Some(format!("{}: {rejection:?}", vector.id)),
        Ok(Received::Delivery(delivery)) => of_delivery(delivery),
        Ok(Received::Handshake(handshake)) => of_handshake(handshake),
        Err(rejection) => json!({ "reason": rejection.reason.as_str() }),
    };
    if let Some(response) = vector.response.as_ref().filter(|_| vector.valid)
        && seen.get("response") != Some(response)
    {
        return Some(format!("{}: answered {seen}", vector.id));
    }
    vector.expected.iter().find_map(|(name, value)| {
        let found = seen.get(name).unwrap_or(&Value::Null);
        (found != value).then(|| {
            format!(
                "{}: {name} is {found}, not {value}; {received:?}",
                vector.id
            )
        })
    })
}

fn of_delivery(delivery: &Delivery) -> Value {
    json!({
        "action": delivery.action,
        "event_type": delivery.event_type,
        "external_id": delivery.external_id,
        "external_id_signed": delivery.external_id_signed,
        "occurred_at": delivery.occurred_at.map(|instant| instant.to_string()),
        "parts": delivery.parts.len(),
        "scheme": delivery.scheme,
        "secret": delivery.secret.as_ref().map(|secret| secret.index),
        "trust_mode": delivery.trust_mode.as_str(),
        "verified": delivery.verified,
    })
}

fn of_handshake(handshake: &Handshake) -> Value {
    let (confirm, offered) = match &handshake.next {
        Next::Nothing => (None, None),
        Next::Confirm { url, .. } => (Some(url.clone()), None),
        Next::OfferedSecret { secret } => (
            None,
            Some(String::from_utf8_lossy(secret.expose()).into_owned()),
        ),
    };
    json!({
        "answer": String::from_utf8_lossy(&handshake.answer.body),
        "authenticated": handshake.authenticated,
        "confirm": confirm,
        "handshake": handshake.kind.as_str(),
        "offered": offered,
        "response": serde_json::from_slice::<Value>(&handshake.answer.body).ok(),
    })
}

/// The vectors of a file; those of bare algorithms belong to no provider.
pub(crate) fn read(text: &str) -> Vec<Vector> {
    let file: Value = serde_json::from_str(text).expect("JSON");
    let vectors = file["vectors"].as_array().expect("vectors").iter();
    vectors
        .filter(|vector| vector["provider"] != "primitive")
        .map(Vector::read)
        .collect()
}

/// Our own vectors.
pub(crate) fn own() -> Vec<Vector> {
    read(include_str!("../vectors/vectors.json"))
}

#[track_caller]
fn check(vectors: &[Vector]) {
    let differences: Vec<String> = vectors.iter().filter_map(differs).collect();
    assert!(
        differences.is_empty(),
        "{} of {} differ:\n{}",
        differences.len(),
        vectors.len(),
        differences.join("\n")
    );
}

#[test]
fn every_vector_agrees() {
    check(&own());
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test is told by its environment where a file of vectors is"
)]
fn every_vector_of_a_given_file_agrees() {
    let Ok(path) = std::env::var("POSTROOM_VECTORS") else {
        return;
    };
    let text = std::fs::read_to_string(&path).expect("the file that POSTROOM_VECTORS names");
    let vectors = read(&text);
    check(&vectors);
    println!("{} vectors agree", vectors.len());
}

#[test]
fn every_row_has_vectors_that_pass_and_that_fail() {
    let vectors = own();
    let of = |valid: bool| -> BTreeSet<&str> {
        let some = vectors.iter().filter(|vector| vector.valid == valid);
        some.map(|vector| vector.provider.as_str()).collect()
    };
    let (good, bad) = (of(true), of(false));
    for row in provider::all() {
        assert!(good.contains(row.name), "{} has no good vector", row.name);
        // Where only the URL is secret, nothing that gets this far is refused.
        assert!(
            bad.contains(row.name) || row.name == "url-token",
            "{} has no bad vector",
            row.name
        );
    }
}

#[test]
fn every_scheme_is_used_by_a_vector() {
    let used: BTreeSet<&'static str> = own()
        .iter()
        .filter_map(|vector| match vector.run() {
            Ok(Received::Delivery(delivery)) => Some(delivery.scheme),
            _ => None,
        })
        .collect();
    for row in provider::all() {
        for scheme in row.schemes {
            // The branded Ed25519 variant differs from the other one in header names only.
            assert!(
                used.contains(scheme.name) || scheme.name == "svix-v1a",
                "{} {}",
                row.name,
                scheme.name
            );
        }
    }
}
