//! What must hold for all inputs: nothing forged passes, nothing panics.

use std::sync::LazyLock;

use bytes::Bytes;
use postroom_types::limit::{WEBHOOK_PARAMS, WEBHOOK_SECRETS};
use postroom_webhook::{
    Candidate, Options, Provider, Reason, Received, Request, provider, receive, redact,
};
use proptest::prelude::*;

use crate::{vector::Vector, vectors};

/// The good deliveries whose signature covers the body.
static SIGNED: LazyLock<Vec<Vector>> = LazyLock::new(|| {
    let good = vectors::own().into_iter().filter(|vector| {
        vector.valid
            && matches!(vector.run(), Ok(Received::Delivery(delivery)) if delivery.verified)
    });
    good.collect()
});

/// A body that says the same to whoever signs parameters or fields instead of bytes.
fn same_meaning(vector: &Vector, body: &[u8]) -> bool {
    match vector.provider.as_str() {
        "twilio" | "plivo" | "vonage" => {
            let sorted = |bytes: &[u8]| {
                let mut pairs: Vec<_> = form_urlencoded::parse(bytes).into_owned().collect();
                // The signature stands among the fields, in hexadecimal, which has no case.
                for (name, value) in &mut pairs {
                    if name == "sig" {
                        value.make_ascii_lowercase();
                    }
                }
                pairs.sort();
                pairs.dedup();
                pairs
            };
            let json = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).ok();
            // What these sign has no mark between a name and its value: `a=bc` and `ab=c` are the same to
            // them, which nobody who checks can tell apart.
            let signed = |bytes: &[u8]| -> String {
                sorted(bytes)
                    .into_iter()
                    .flat_map(|(name, value)| [name, value])
                    .collect::<String>()
                    .replace(['&', '=', '.'], "_")
            };
            sorted(body) == sorted(&vector.body)
                || signed(body) == signed(&vector.body)
                || (json(body).is_some() && json(body) == json(&vector.body))
        }
        "aws-sns" => {
            let json = |bytes: &[u8]| {
                let mut value: serde_json::Value = serde_json::from_slice(bytes).ok()?;
                let map = value.as_object_mut()?;
                // Where the certificate is fetched from is no part of what was signed.
                map.remove("SigningCertURL");
                Some(value)
            };
            json(body).is_some() && json(body) == json(&vector.body)
        }
        _ => body == vector.body,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_changed_body_is_never_accepted(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        change in 0..4,
        byte in any::<u8>(),
    ) {
        let vector = which.get(&SIGNED);
        let mut changed = vector.clone();
        let place = at.index(changed.body.len() + 1);
        match change {
            0 => changed.body.insert(place, byte),
            1 if place < changed.body.len() => { changed.body.remove(place); }
            2 if place < changed.body.len() => changed.body[place] ^= byte.max(1),
            _ => changed.body.truncate(place),
        }
        prop_assume!(!same_meaning(vector, &changed.body));
        prop_assert!(changed.run().is_err(), "{} accepted", vector.id);
    }

    #[test]
    fn a_changed_signature_is_never_accepted(
        which in any::<prop::sample::Index>(),
        header in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        letter in "[0-9a-zA-Z+/=]",
    ) {
        let vector = which.get(&SIGNED);
        let mut changed = vector.clone();
        let secret: Vec<usize> = (0..changed.headers.len())
            .filter(|&index| {
                let line = &changed.headers[index];
                redact(Some(vector.row()), None, std::slice::from_ref(line))
                    .values()
                    .any(|value| value == "«redacted»")
            })
            .collect();
        prop_assume!(!secret.is_empty());
        let line = &mut changed.headers[secret[header.index(secret.len())]].1;
        let place = at.index(line.len());
        let before = line[place];
        line[place] = letter.as_bytes()[0];
        // Hex has no case, and an entry beside the signature may be anything.
        prop_assume!(!before.eq_ignore_ascii_case(&line[place]));
        let entries = [" ", "v0=0", "v0=1", ",AAAA", "AAAA,", "v1=000", "h1=000", "v1,AAA", "v2,", "v1a,"];
        let text = String::from_utf8_lossy(&vector.headers[secret[header.index(secret.len())]].1).into_owned();
        prop_assume!(!entries.iter().any(|entry| text.contains(entry)));
        // A forwarded secret of another kind is not the signature.
        prop_assume!(text.len() > 16);
        prop_assert!(changed.run().is_err(), "{} accepted {}", vector.id, String::from_utf8_lossy(&changed.headers[secret[header.index(secret.len())]].1));
    }

    #[test]
    fn another_secret_is_never_accepted(
        which in any::<prop::sample::Index>(),
        secret in prop_oneof![
            "[ -~]{1,64}",
            "[0-9a-f]{64}",
            "whsec_[A-Za-z0-9+/]{32}",
            "whpk_[A-Za-z0-9+/]{43}=",
        ],
    ) {
        let mut changed = which.get(&SIGNED).clone();
        prop_assume!(!changed.secrets.iter().any(|known| known.trim() == secret.trim()));
        // PEM keys are not guessed here, and some secrets of the vectors are one letter long.
        prop_assume!(secret.trim().len() > 8);
        changed.secrets = vec![secret];
        prop_assert!(changed.run().is_err(), "{} accepted", changed.id);
    }

    #[test]
    fn nothing_that_arrives_panics(
        which in any::<prop::sample::Index>(),
        method in prop_oneof![Just("POST"), Just("GET"), Just("HEAD")],
        url in ".{0,80}",
        names in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        values in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..100),
                "[a-z0-9]{1,6}[=,;][0-9a-f]{0,130}".prop_map(String::into_bytes),
                "(Bearer|Basic) [A-Za-z0-9._=-]{0,200}".prop_map(String::into_bytes),
                "t=[0-9]{0,30},v1=[0-9a-f]{0,70}".prop_map(String::into_bytes),
            ],
            6,
        ),
        body in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..400),
            "[\\[\\]{}\",:a-z0-9 ]{0,200}".prop_map(String::into_bytes),
        ],
        now in any::<i64>(),
    ) {
        let vectors = &*SIGNED;
        let rows: Vec<&'static Provider> = provider::all().collect();
        let row = which.get(&rows);
        let known: Vec<&str> = vectors
            .iter()
            .filter(|vector| vector.provider == row.name)
            .flat_map(|vector| vector.headers.iter().map(|(name, _)| name.as_str()))
            .chain(["authorization", "content-type", "x"])
            .collect();
        let headers: Vec<(String, Vec<u8>)> = names
            .iter()
            .zip(values)
            .map(|(name, value)| ((*name.get(&known)).to_owned(), value))
            .collect();
        let request = Request { method, url: &url, headers: &headers, body: Bytes::from(body) };
        let options = Options {
            now: postroom_types::Timestamp::from_ms(now),
            audience: Some("a".to_owned()),
            email: Some("b".to_owned()),
            webhook_id: Some("c".to_owned()),
            ..Options::default()
        };
        let candidates = [Candidate::new("current", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")];
        if let Ok(Received::Delivery(delivery)) = receive(row, &candidates, &request, &options) {
            prop_assert_eq!(row.name, "url-token");
            prop_assert!(!delivery.verified);
        }
        let _ = redact(Some(row), None, &headers);
    }

    #[test]
    fn no_secret_and_no_signature_is_said_again(which in any::<prop::sample::Index>(), flip in any::<u8>()) {
        let mut vector = which.get(&SIGNED).clone();
        if let Some(byte) = vector.body.first_mut() {
            *byte ^= flip;
        }
        let candidates = format!("{:?}", vector.candidates());
        let said = match vector.run() {
            Ok(Received::Delivery(delivery)) => format!("{:?} {:?}", delivery.verify_detail, delivery.headers),
            Ok(Received::Handshake(_)) => String::new(),
            Err(rejection) => format!("{rejection:?} {rejection} {}", rejection.verify_detail()),
        };
        for secret in vector.secrets.iter().filter(|secret| secret.len() > 8) {
            prop_assert!(!said.contains(secret) && !candidates.contains(secret));
        }
        for (name, value) in &vector.headers {
            let lower = name.to_ascii_lowercase();
            if lower.ends_with("signature") || lower == "authorization" {
                prop_assert!(!said.contains(&*String::from_utf8_lossy(value)));
            }
        }
    }
}

#[test]
fn secrets_past_the_bound_are_not_tried() {
    let vector = SIGNED
        .iter()
        .find(|vector| vector.id == "github-good")
        .expect("vector");
    let with = |before: usize| {
        let mut changed = vector.clone();
        changed.secrets = vec!["another secret".to_owned(); before];
        changed.secrets.extend(vector.secrets.clone());
        changed.run().is_ok()
    };
    assert!(with(WEBHOOK_SECRETS - 1));
    assert!(!with(WEBHOOK_SECRETS));
}

#[test]
fn a_body_past_the_rows_limit_is_refused_unread() {
    let row = provider::find("slack").expect("row");
    let run = |size: usize| {
        let request = Request {
            method: "POST",
            url: "https://h.example/in/a",
            headers: &[],
            body: Bytes::from(vec![b'a'; size]),
        };
        let candidates = [Candidate::new("current", "secret")];
        receive(row, &candidates, &request, &Options::default())
            .expect_err("unsigned")
            .reason
    };
    assert_eq!(run(row.body_limit), Reason::MissingSignature);
    assert_eq!(run(row.body_limit + 1), Reason::TooLarge);
}

#[test]
fn more_parameters_than_the_bound_are_refused() {
    let row = provider::find("plivo").expect("row");
    let run = |count: usize| {
        let body: Vec<String> = (0..count).map(|index| format!("p{index}=1")).collect();
        let headers = [
            (
                "X-Plivo-Signature-V3".to_owned(),
                b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=".to_vec(),
            ),
            ("X-Plivo-Signature-V3-Nonce".to_owned(), b"n".to_vec()),
        ];
        let request = Request {
            method: "POST",
            url: "https://h.example/in/a",
            headers: &headers,
            body: Bytes::from(body.join("&")),
        };
        let candidates = [Candidate::new("current", "secret")];
        receive(row, &candidates, &request, &Options::default())
            .expect_err("not signed")
            .code
    };
    assert_eq!(run(WEBHOOK_PARAMS), "no_matching_signature");
    assert_eq!(run(WEBHOOK_PARAMS + 1), "too_many_parameters");
}

#[test]
fn a_named_scheme_shuts_out_the_others() {
    let vector = SIGNED
        .iter()
        .find(|vector| vector.id == "hubspot-v1-good")
        .expect("vector");
    let mut pinned = vector.clone();
    pinned.options.scheme = Some("hubspot-v3".to_owned());
    let refusal = pinned.run().expect_err("pinned");
    assert_eq!(refusal.reason, Reason::MissingSignature);
    pinned.options.scheme = Some("hubspot-v1".to_owned());
    assert!(pinned.run().is_ok());
}

#[test]
fn rows_are_complete_and_named_once() {
    let mut names: Vec<&str> = provider::all().map(|row| row.name).collect();
    assert!(names.len() >= 54, "{} rows", names.len());
    names.sort_unstable();
    let before = names.len();
    names.dedup();
    assert_eq!(names.len(), before);
    for row in provider::all() {
        assert!(row.docs.starts_with("https://"), "{}", row.name);
        assert!(!row.url_goes.is_empty(), "{}", row.name);
        assert!(
            row.about.ends_with('.') && !row.title.is_empty(),
            "{}",
            row.name
        );
        assert!(
            !row.schemes.is_empty() && !row.secret_hint.is_empty(),
            "{}",
            row.name
        );
        assert!(row.body_limit <= postroom_types::limit::WEBHOOK_BODY_MOST_BYTES);
    }
}

#[test]
fn a_secret_is_checked_when_it_is_set() {
    #[track_caller]
    fn check(provider: &str, secret: &str, good: bool) {
        let row = provider::find(provider).expect("row");
        let checked = row.check_secret(secret);
        assert_eq!(checked.is_ok(), good, "{checked:?}");
        if let Err(said) = checked {
            assert!(!said.contains(secret));
        }
    }
    check("stripe", "whsec_0123456789abcdef", true);
    check("stripe", "0123456789abcdef0123", false);
    check("slack", &"a".repeat(16), true);
    check("slack", &"a".repeat(15), false);
    check("slack", &"a".repeat(512), true);
    check("slack", &"a".repeat(513), false);
    check("slack", "a secret with ümlaut", false);
    check("resend", "whsec_YSBzZWNyZXQgb2YgMjQgYnl0ZXMgYXQg", true);
    check("resend", "whsec_not Base64 at all!", false);
    check(
        "telnyx",
        "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
        true,
    );
    check("telnyx", "whsec_YSBzZWNyZXQgb2YgMjQgYnl0ZXMgYXQg", false);
    check(
        "adyen",
        "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
        true,
    );
    check("adyen", "this is not hexadecimal", false);
}
