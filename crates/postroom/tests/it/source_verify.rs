//! `source verify`, as somebody calls it who wonders why a delivery was refused.

use serde_json::{Value, json};

use crate::served::{Answered, run};

/// The vectors of the webhook room.
const VECTORS: &str = include_str!("../../../postroom-webhook/tests/vectors/vectors.json");

/// Runs the command over files of a vector; the headers as JSON, or as lines.
fn verify(vector: &Value, as_lines: bool) -> Answered {
    verify_with(vector, as_lines, true, &[])
}

/// As [`verify`], with or without the vector's clock, and with further words.
fn verify_with(vector: &Value, as_lines: bool, dated: bool, more: &[&str]) -> Answered {
    let folder = tempfile::tempdir().expect("a folder");
    let headers = vector["headers"].as_object().expect("headers");
    let written = if as_lines {
        let lines = headers
            .iter()
            .map(|(name, value)| format!("{name}:  {}\r\n", value.as_str().expect("text")));
        lines.collect()
    } else {
        Value::Object(headers.clone()).to_string()
    };
    std::fs::write(folder.path().join("headers"), written).expect("written");
    let body = vector["body"].as_str().expect("text");
    std::fs::write(folder.path().join("body"), body).expect("written");
    let now = vector["timestamp"].to_string();
    let mut words = vec![
        "source",
        "verify",
        "--json",
        "--headers",
        "headers",
        "--body",
        "body",
        "--provider",
        vector["provider"].as_str().expect("text"),
    ];
    if dated {
        words.extend(["--now", &now]);
    }
    words.extend(more);
    let secrets: Vec<&str> = match &vector["secret"] {
        Value::Array(secrets) => secrets.iter().filter_map(Value::as_str).collect(),
        secret => secret.as_str().into_iter().collect(),
    };
    words.extend(secrets.iter().flat_map(|secret| ["--secret", secret]));
    for (option, name) in [
        ("--method", "method"),
        ("--url", "url"),
        ("--audience", "expected_audience"),
        ("--email", "expected_email"),
        ("--topic-arn", "topic_arn"),
        ("--webhook-id", "webhook_id"),
    ] {
        if let Some(value) = vector[name].as_str() {
            words.extend([option, value]);
        }
    }
    run(folder.path(), &words)
}

#[test]
fn a_recorded_delivery_is_explained() {
    let file: Value = serde_json::from_str(VECTORS).expect("JSON");
    for id in [
        "github-good",
        "github-rotated-second",
        "github-tampered-body",
        "stripe-stale",
        "square-good",
        "pubsub-good",
        "pubsub-no-key",
        "paypal-good",
        "sns-v2-another-topic",
        "sns-confirm-good",
        "postmark-good",
        "zoom-validation-unsigned",
        "meta-challenge-good",
    ] {
        let vectors = file["vectors"].as_array().expect("vectors");
        let vector = vectors.iter().find(|vector| vector["id"] == id);
        let vector = vector.unwrap_or_else(|| panic!("no vector {id}"));
        let valid = vector["valid"] == true;
        for as_lines in [false, true] {
            let answer = verify(vector, as_lines);
            assert_eq!(answer.exit, i32::from(!valid), "{id}: {answer:?}");
            let said = answer.json();
            assert_eq!(said["accepted"], valid, "{id}");
            for name in [
                "event_type",
                "external_id",
                "reason",
                "scheme",
                "trust_mode",
                "verified",
            ] {
                if let Some(expected) = vector["expected"].get(name) {
                    assert_eq!(&said[name], expected, "{id}: {name}");
                }
            }
            assert_eq!(said["delivery_id"], said["external_id"], "{id}");
            if let Some(response) = vector.get("expected_response") {
                let body = said["handshake"]["body"].as_str().expect("a body");
                let body: Value = serde_json::from_str(body).expect("JSON");
                assert_eq!(&body, response, "{id}");
            }
            for secret in vector["secret"]
                .as_str()
                .into_iter()
                .filter(|secret| secret.len() > 8)
            {
                assert!(!answer.out.contains(secret), "{id} says its secret");
            }
        }
    }
}

#[test]
fn a_scheme_that_a_source_must_name_is_explained_and_said_to_be_so() {
    let file: Value = serde_json::from_str(VECTORS).expect("JSON");
    let vectors = file["vectors"].as_array().expect("vectors");
    for (id, scheme) in [
        ("hubspot-v1-not-named", "hubspot-v1"),
        ("hubspot-v2-not-named", "hubspot-v2"),
        ("plivo-v2-not-named", "plivo-v2"),
    ] {
        let vector = vectors.iter().find(|vector| vector["id"] == id);
        let vector = vector.unwrap_or_else(|| panic!("no vector {id}"));
        let said = verify(vector, false).json();
        assert_eq!(
            (&said["accepted"], &said["scheme"]),
            (&json!(true), &json!(scheme))
        );
        let detail = said["verify_detail"].as_str().expect("text");
        assert!(
            detail.contains("only where the source names this scheme"),
            "{detail}"
        );
        let named = verify_with(vector, false, true, &["--scheme", scheme]).json();
        assert_eq!(named["accepted"], json!(true));
        let detail = named["verify_detail"].as_str().expect("text");
        assert!(!detail.contains("only where"), "{detail}");
    }
}

#[test]
fn a_freshness_that_only_a_source_asks_for_counts_with_a_clock() {
    let file: Value = serde_json::from_str(VECTORS).expect("JSON");
    let vectors = file["vectors"].as_array().expect("vectors");
    let stale = vectors.iter().find(|vector| vector["id"] == "sns-v2-stale");
    let stale = stale.expect("a vector");
    assert_eq!(
        verify(stale, false).json()["reason"],
        json!("stale_timestamp")
    );
    let undated = verify_with(stale, false, false, &[]);
    assert_eq!(undated.json()["accepted"], json!(true), "{undated:?}");
    let asked = verify_with(stale, false, false, &["--tolerance", "60"]);
    assert_eq!(asked.json()["reason"], json!("stale_timestamp"));
    let longer = verify_with(stale, false, true, &["--tolerance", "7200"]);
    assert_eq!(longer.json()["accepted"], json!(true));
}

#[test]
fn a_verdict_names_secret_and_skew_and_never_the_right_signature() {
    let file: Value = serde_json::from_str(VECTORS).expect("JSON");
    let vectors = file["vectors"].as_array().expect("vectors");
    let mut vector = vectors
        .iter()
        .find(|vector| vector["id"] == "stripe-rotated-second")
        .expect("vector")
        .clone();
    let right = vector["headers"]["Stripe-Signature"]
        .as_str()
        .expect("text")
        .rsplit_once("v1=")
        .expect("a signature")
        .1
        .to_owned();
    vector["timestamp"] = json!(vector["timestamp"].as_i64().expect("seconds") + 7);
    let said = verify(&vector, false).json();
    assert_eq!(
        (&said["skew_s"], &said["secret"]["index"]),
        (&json!(7), &json!(1))
    );
    assert_eq!(
        said["secret"]["fingerprint"].as_str().map(str::len),
        Some(12)
    );

    vector["headers"]["Stripe-Signature"] =
        json!(format!("t={},v1={}", 1_780_000_000, "0".repeat(64)));
    let refused = verify(&vector, false);
    assert_eq!(refused.exit, 1);
    assert!(!refused.out.contains(&right) && !refused.err.contains(&right));
}

#[test]
fn input_that_cannot_be_used_is_said_to_be_so() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in [
        ("body", "{}"),
        ("lines", "X-A: 1\nno header\n"),
        ("list.json", "{\"X-A\": {\"b\": 1}}"),
        ("broken.json", "{\"X-A\": "),
        ("good", "X-A: 1"),
    ] {
        std::fs::write(folder.path().join(name), content).expect("written");
    }
    let asked = |more: &[&str]| {
        let mut words = vec!["source", "verify", "--body", "body", "--secret", "s"];
        words.extend(more);
        run(folder.path(), &words).exit
    };
    for more in [
        ["--provider", "nobody", "--headers", "good"].as_slice(),
        &["--headers", "good"],
        &["--provider", "github", "--headers", "lines"],
        &["--provider", "github", "--headers", "list.json"],
        &["--provider", "github", "--headers", "broken.json"],
        &["--provider", "github", "--headers", "missing"],
        &["--provider", "github", "--headers", "good", "--now", "1.5"],
        &["--provider", "github", "--headers", "good", "--now", "soon"],
        &[
            "--provider",
            "github",
            "--headers",
            "good",
            "--secret",
            "@missing",
        ],
        &[
            "--provider",
            "github",
            "--headers",
            "good",
            "--tolerance",
            "-1",
        ],
    ] {
        assert_eq!(asked(more), 2, "{more:?}");
    }
    assert_eq!(asked(&["--provider", "github", "--headers", "good"]), 1);
}

#[test]
fn a_secret_may_stand_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("secret"), "right\n").expect("written");
    std::fs::write(folder.path().join("headers"), "X-Gitlab-Token: right").expect("written");
    std::fs::write(folder.path().join("body"), "{}").expect("written");
    let answer = run(
        folder.path(),
        &[
            "source",
            "verify",
            "--provider",
            "gitlab",
            "--secret",
            "@secret",
            "--headers",
            "headers",
            "--body",
            "body",
        ],
    );
    assert_eq!(answer.exit, 0, "{answer:?}");
    assert!(answer.out.contains("body not covered"), "{answer:?}");
}
