//! What to do about a delivery that was refused, for the person who connects its provider.

use postroom_webhook::{Provider, provider::SecretOrigin};

/// One sentence or two about a refusal.
pub(super) fn advice(row: &Provider, source_id: &str, reason: &str, code: &str) -> String {
    let (title, hint) = (row.title, row.secret_hint);
    let set = format!("`postroom source set-secret {source_id}`");
    if code == "awaiting_secret" {
        return format!("Copy the secret there ({hint}) and give it: {set}.");
    }
    match reason {
        "bad_signature" if row.secret == SecretOrigin::Minted => format!(
            "The secret at {title} is not this source's, or something on the way changed the body. Paste it again ({hint}), or make a new one: `postroom source rotate {source_id}`."
        ),
        "bad_signature" => format!(
            "The secret that was given is not the one that signs, or something on the way changed the body. Look at it again ({hint}): {set}."
        ),
        "missing_signature" => format!(
            "Either this was not {title}, or no secret is set there ({hint})."
        ),
        "malformed_signature" => {
            format!("The signature is not in the form of {title}; is the source of the right provider?")
        }
        "stale_timestamp" => "The clocks are too far apart, or an old delivery was sent again. Compare `date -u` here, then send a new one.".to_owned(),
        "malformed" | "unreadable" => {
            format!("The body cannot be read. Choose JSON as its form at {title}, and let nothing on the way change it.")
        }
        "event_id_mismatch" => "The id in the header is not the signed one: something on the way changed the headers.".to_owned(),
        "too_large" => format!(
            "This source takes {} bytes at most. Choose fewer or smaller events at {title}.",
            row.body_limit
        ),
        "not_configured" => format!(
            "The source lacks a setting that {title}'s scheme needs; see `postroom source show {source_id}` and {}",
            row.docs
        ),
        "key_needed" => "The key that it was signed with could not be fetched. Can this server reach the provider?".to_owned(),
        "unsupported_source" => format!(
            "{title} delivers by {}; this was another kind of request.",
            row.methods.join(" and ")
        ),
        _ => format!("See {}", row.docs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postroom_webhook::{Reason, provider};

    #[test]
    fn every_reason_has_advice_of_its_own_for_every_provider() {
        for row in provider::all() {
            for reason in Reason::ALL {
                let said = advice(row, "src_X", reason.as_str(), "");
                assert!(!said.starts_with("See "), "{reason}: {said}");
            }
        }
    }

    #[test]
    fn a_wrong_secret_is_changed_where_it_is_made() {
        let told = |provider: &str| {
            let row = provider::find(provider).expect("a row");
            advice(row, "src_X", "bad_signature", "no_secret_matches")
        };
        assert!(told("github").contains("source rotate src_X"));
        assert!(told("stripe").contains("source set-secret src_X"));
    }
}
