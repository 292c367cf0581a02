//! Signing secrets: made here, or given to us by whoever got them from the provider.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use postroom_types::{Dialect, Secret};
use postroom_webhook::{Provider, scheme::Place};

use crate::{Failure, random};

/// A new secret for a provider that takes ours: letters, digits, `-` and `_`, which every provider
/// takes; for Basic credentials a user with it.
///
/// # Errors
/// `unavailable` when the system has no randomness.
pub(crate) fn mint(provider: &Provider) -> Result<Secret<String>, Failure> {
    let random = URL_SAFE_NO_PAD.encode(random::bytes::<32>()?);
    let basic = provider
        .schemes
        .first()
        .is_some_and(|scheme| scheme.signature == Place::Basic);
    Ok(Secret::new(if basic {
        format!("postroom:{random}")
    } else {
        format!("whsec_{random}")
    }))
}

/// Whether a secret that somebody gives us can be one of this provider.
///
/// # Errors
/// A bad argument that names the form.
pub(crate) fn check_given(provider: &Provider, secret: &str) -> Result<(), Failure> {
    provider
        .check_secret(secret)
        .map_err(|words| Failure::argument(Dialect::Events, "signing_secret", &words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use postroom_webhook::provider;

    #[test]
    fn a_minted_secret_fits_every_provider_that_takes_ours() {
        let minted = provider::all().filter(|row| row.secret == provider::SecretOrigin::Minted);
        for row in minted {
            let secret = mint(row).expect("randomness");
            check_given(row, secret.expose())
                .unwrap_or_else(|failure| panic!("{}: {failure}", row.name));
            assert!(secret.expose().len() <= 128, "{}", row.name);
        }
    }

    #[test]
    fn lengths_and_forms_of_given_secrets_are_checked() {
        #[track_caller]
        fn check(provider: &str, secret: &str, fits: bool) {
            let row = provider::find(provider).expect("a row");
            assert_eq!(
                check_given(row, secret).is_ok(),
                fits,
                "{provider} {secret}"
            );
        }
        check("slack", &"a".repeat(15), false);
        check("slack", &"a".repeat(16), true);
        check("slack", &"a".repeat(512), true);
        check("slack", &"a".repeat(513), false);
        check("slack", "a secret with é in it", false);
        check("stripe", "sk_live_0123456789abcdef", false);
        check("stripe", "whsec_0123456789abcdef", true);
        check("discord", "not a public key in hex", false);
        check("resend", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true);
        check("resend", "whsec_!!!!!!!!!!!!!!!!!!!!", false);
    }
}
