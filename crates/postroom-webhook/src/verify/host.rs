//! Which URLs a provider's keys and confirmations may have.
//!
//! A sender writes these URLs, so a loose rule lets anybody sign. Each rule is exact: https, a host
//! of one shape, no user, no port, no fragment, and the path that the provider documents.

use url::{Host, Url};

use crate::{Reason, Rejection, scheme::HostRule};

/// Refuses a URL that the rule does not name.
pub(crate) fn check(text: &str, rule: HostRule) -> Result<(), Rejection> {
    if allowed(text, rule) {
        return Ok(());
    }
    Err(Rejection::new(
        Reason::MalformedSignature,
        "untrusted_cert_url",
        match rule {
            HostRule::SnsCertificate => {
                "The certificate's URL is not one of sns.<region>.amazonaws.com; nothing was fetched."
            }
            HostRule::SnsConfirm => {
                "The confirmation's URL is not one of sns.<region>.amazonaws.com; nothing was called."
            }
            HostRule::PayPal => {
                "The certificate's URL is not one of api.paypal.com; nothing was fetched."
            }
        },
    ))
}

fn allowed(text: &str, rule: HostRule) -> bool {
    // The text must be the URL's own normal form: what another reader could take for a different
    // host (a backslash, a tab, an escaped dot) is refused before any reading.
    if text.len() > 2_048 || !text.bytes().all(|byte| (0x21..0x7f).contains(&byte)) {
        return false;
    }
    let Ok(url) = Url::parse(text) else {
        return false;
    };
    let Some(Host::Domain(host)) = url.host() else {
        return false;
    };
    let written = format!("https://{host}/");
    let plain = url.scheme() == "https"
        && url.username().is_empty()
        && url.password().is_none()
        && url.port().is_none()
        && url.fragment().is_none()
        && text.starts_with(&written);
    plain
        && match rule {
            HostRule::SnsCertificate => {
                sns_host(host) && url.query().is_none() && sns_certificate_path(url.path())
            }
            HostRule::SnsConfirm => {
                sns_host(host)
                    && url.path() == "/"
                    && url
                        .query_pairs()
                        .any(|(key, value)| key == "Action" && value == "ConfirmSubscription")
            }
            HostRule::PayPal => {
                matches!(
                    host,
                    "api.paypal.com"
                        | "api.sandbox.paypal.com"
                        | "api-m.paypal.com"
                        | "api-m.sandbox.paypal.com"
                ) && url.query().is_none()
                    && url.path().starts_with("/v1/notifications/certs/")
            }
        }
}

/// `sns.<region>.amazonaws.com` and its Chinese twin, the region one label.
fn sns_host(host: &str) -> bool {
    let rest = host.strip_prefix("sns.").unwrap_or_default();
    let region = rest
        .strip_suffix(".amazonaws.com")
        .or_else(|| rest.strip_suffix(".amazonaws.com.cn"))
        .unwrap_or_default();
    let parts: Vec<&str> = region.split('-').collect();
    // us-east-1, us-gov-west-1, cn-north-1
    let named = match parts.as_slice() {
        [area, rest @ .., number] => {
            area.len() == 2
                && (1..=2).contains(&rest.len())
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    };
    named
        && parts.iter().all(|part| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}

fn sns_certificate_path(path: &str) -> bool {
    path.strip_prefix("/SimpleNotificationService-")
        .and_then(|rest| rest.strip_suffix(".pem"))
        .is_some_and(|id| {
            !id.is_empty()
                && id.len() <= 128
                && id
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: HostRule, good: &[&str], bad: &[&str]) {
        for url in good {
            assert!(allowed(url, rule), "{url}");
        }
        for url in bad {
            assert!(!allowed(url, rule), "{url}");
        }
    }

    #[test]
    fn only_the_signing_key_of_a_region_is_fetched() {
        check(
            HostRule::SnsCertificate,
            &[
                "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-f3ec.pem",
                "https://sns.us-gov-west-1.amazonaws.com/SimpleNotificationService-a-b.pem",
                "https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-x.pem",
            ],
            &[
                "http://sns.us-west-2.amazonaws.com/SimpleNotificationService-x.pem",
                "https://s3.amazonaws.com/bucket/SimpleNotificationService-x.pem",
                "https://sns.us-west-2.amazonaws.com.evil.example/SimpleNotificationService-x.pem",
                "https://sns.us-west-2.amazonaws.com@evil.example/SimpleNotificationService-x.pem",
                "https://u@sns.us-west-2.amazonaws.com/SimpleNotificationService-x.pem",
                "https://sns.us-west-2.amazonaws.com:8443/SimpleNotificationService-x.pem",
                "https://sns.us-west-2.amazonaws.com:443/SimpleNotificationService-x.pem",
                "https://sns.us-west-2.amazonaws.com/?Action=GetX&y=/SimpleNotificationService-x.pem",
                "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-x.pem?a=b",
                "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-x.pem#a",
                "https://sns.us-west-2.amazonaws.com/a/SimpleNotificationService-x.pem",
                "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-x/../y.pem",
                "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-.pem",
                "https://sns.us-west-2.amazonaws.com\\@evil.example/SimpleNotificationService-x.pem",
                "https://sns.us-west-2.amazonaws.com./SimpleNotificationService-x.pem",
                "https://mybucket.s3-sns.us-west-2.amazonaws.com/SimpleNotificationService-x.pem",
                "https://sns.evil.us-west-2.amazonaws.com/SimpleNotificationService-x.pem",
                "https://sns.amazonaws.com/SimpleNotificationService-x.pem",
                "https://sns..amazonaws.com/SimpleNotificationService-x.pem",
                "https://sns.evil.amazonaws.com/SimpleNotificationService-x.pem",
                "https://SNS.us-west-2.amazonaws.com/SimpleNotificationService-x.pem",
                "https://evil.example/sns.us-west-2.amazonaws.com/SimpleNotificationService-x.pem",
                " https://sns.us-west-2.amazonaws.com/SimpleNotificationService-x.pem",
                "https:/sns.us-west-2.amazonaws.com/SimpleNotificationService-x.pem",
            ],
        );
    }

    #[test]
    fn only_a_confirmation_is_called() {
        check(
            HostRule::SnsConfirm,
            &["https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&TopicArn=a&Token=b"],
            &[
                "https://sns.us-west-2.amazonaws.com/?Action=Publish&TopicArn=a",
                "https://sns.us-west-2.amazonaws.com/x?Action=ConfirmSubscription",
                "https://evil.example/?Action=ConfirmSubscription",
            ],
        );
    }

    #[test]
    fn paypal_keys_come_from_its_interface_only() {
        check(
            HostRule::PayPal,
            &["https://api.sandbox.paypal.com/v1/notifications/certs/CERT-360caa42"],
            &[
                "https://api.paypal.com.evil.example/v1/notifications/certs/c",
                "https://www.paypal.com/v1/notifications/certs/c",
                "https://api.paypal.com/redirect?to=x",
            ],
        );
    }
}
