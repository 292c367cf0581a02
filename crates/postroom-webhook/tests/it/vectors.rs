//! Vectors as data: what a row accepts and what it refuses.

use std::collections::BTreeSet;

use hmac::{Hmac, KeyInit as _, Mac as _};
use postroom_types::limit::WEBHOOK_PARTS;
use postroom_webhook::{
    Delivery, Handshake, Next, Received, TrustMode, provider,
    scheme::{Check, Scheme},
};
use serde_json::{Value, json};
use sha2::Sha256;

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
    let mut vectors = read(&text);
    for vector in &mut vectors {
        // A file from elsewhere names no scheme and has no clock where a provider promises no freshness.
        vector.options.recorded = true;
    }
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

/// What a provider sends beside a better scheme is no way around it: of those that count without being
/// named, all have a signed time or none has, and all cover the body or none does.
#[test]
fn no_scheme_of_a_row_is_weaker_than_another_unless_it_is_named() {
    let timed = |scheme: &&Scheme| scheme.time.is_some() || matches!(scheme.check, Check::Jwt(_));
    let covers = |scheme: &&Scheme| scheme.covers.trust_mode() == TrustMode::Signed;
    for row in provider::all() {
        let counts: Vec<&Scheme> = row.schemes.iter().filter(|one| !one.by_name).collect();
        for (what, has) in [
            ("time", counts.iter().filter(|one| timed(one)).count()),
            ("body", counts.iter().filter(|one| covers(one)).count()),
        ] {
            assert!(has == 0 || has == counts.len(), "{}: {what}", row.name);
        }
        assert!(!counts.is_empty(), "{}", row.name);
    }
}

#[test]
fn a_scheme_that_must_be_named_is_told_of() {
    let vectors = own();
    let find = |id: &str| vectors.iter().find(|vector| vector.id == id).expect(id);
    let refused = find("hubspot-v1-not-named").run().expect_err("refused");
    assert!(refused.detail.contains("hubspot-v1"), "{refused:?}");
    let Ok(Received::Delivery(taken)) = find("hubspot-v1-recorded").run() else {
        panic!("not accepted");
    };
    assert!(
        taken.verify_detail.contains("names this scheme"),
        "{taken:?}"
    );
}

#[test]
fn a_list_that_is_not_split_says_so() {
    #[track_caller]
    fn check(events: Vec<Value>, parts: usize, says: Option<&str>) {
        let mut vector = own()
            .into_iter()
            .find(|vector| vector.id == "asana-good")
            .expect("a vector");
        vector.body = json!({"events": events}).to_string().into_bytes();
        let secret = vector.secrets[0].as_bytes();
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("any length");
        mac.update(&vector.body);
        let signature = hex::encode(mac.finalize().into_bytes());
        vector.headers = vec![("X-Hook-Signature".to_owned(), signature.into_bytes())];
        let Ok(Received::Delivery(delivery)) = vector.run() else {
            panic!("refused");
        };
        assert_eq!(delivery.parts.len(), parts);
        let said = delivery.verify_detail.split_once("kept as one event ");
        assert_eq!(said.map(|(_, why)| why), says);
    }
    let item = json!({"action": "changed"});
    check(vec![item.clone(); WEBHOOK_PARTS], WEBHOOK_PARTS, None);
    let many = vec![item.clone(); WEBHOOK_PARTS + 1];
    check(many, 0, Some("(5001 items, at most 5000 are split)"));
    check(vec![item, json!(1)], 0, Some("(an item is no object)"));
}
