//! Addresses that play a fate, for tests of those who send: `bounce@simulator.invalid` and others.
//! Nothing is sent to them, whatever the transport.

use postroom_core::{BounceType, DeliveryEvent, Verdict};
use postroom_types::Address;

/// The domain of all of them; `.invalid` is nobody's for ever (RFC 6761).
const DOMAIN: &str = "simulator.invalid";

/// What becomes of mail to one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Play {
    /// What the transport says.
    pub(crate) verdict: Verdict,
    /// Reply code.
    pub(crate) smtp_code: Option<u64>,
    /// Enhanced status code (RFC 3463).
    pub(crate) enhanced_code: Option<&'static str>,
    /// A word of ours.
    pub(crate) reason: Option<&'static str>,
    /// What is reported later.
    pub(crate) later: Option<DeliveryEvent>,
}

/// Whether an address plays a fate.
pub(crate) fn plays(address: &Address) -> bool {
    address.domain() == DOMAIN
}

/// The fate by the local part; an unknown one is refused as an unknown mailbox is.
pub(crate) fn play(address: &Address) -> Play {
    let taken = Play {
        verdict: Verdict::Submitted,
        smtp_code: Some(250),
        enhanced_code: Some("2.1.5"),
        reason: None,
        later: None,
    };
    match address.local() {
        "delivered" => Play {
            verdict: Verdict::Delivered,
            ..taken
        },
        "bounce" => Play {
            later: Some(DeliveryEvent::Bounced(BounceType::Hard)),
            ..taken
        },
        "softbounce" => Play {
            later: Some(DeliveryEvent::Bounced(BounceType::Soft)),
            ..taken
        },
        "complaint" => Play {
            verdict: Verdict::Delivered,
            later: Some(DeliveryEvent::Complained),
            ..taken
        },
        "deferred" => Play {
            later: Some(DeliveryEvent::Deferred),
            ..taken
        },
        "timeout" => Play {
            verdict: Verdict::Uncertain,
            smtp_code: None,
            enhanced_code: None,
            reason: Some("transport_timeout"),
            later: None,
        },
        // `reject`, and whatever is none of them.
        _ => Play {
            verdict: Verdict::Rejected,
            smtp_code: Some(550),
            enhanced_code: Some("5.1.1"),
            reason: Some("refused"),
            later: None,
        },
    }
}

/// The codes that come with what is reported later.
pub(crate) fn codes(event: DeliveryEvent) -> (Option<u64>, Option<&'static str>) {
    match event {
        DeliveryEvent::Bounced(BounceType::Hard) => (Some(550), Some("5.1.1")),
        DeliveryEvent::Bounced(BounceType::Soft) => (Some(452), Some("4.2.2")),
        DeliveryEvent::Deferred => (Some(451), Some("4.3.0")),
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_local_part_plays_its_fate() {
        for (local, verdict) in [
            ("delivered", Verdict::Delivered),
            ("bounce", Verdict::Submitted),
            ("softbounce", Verdict::Submitted),
            ("complaint", Verdict::Delivered),
            ("deferred", Verdict::Submitted),
            ("reject", Verdict::Rejected),
            ("timeout", Verdict::Uncertain),
            ("nobody", Verdict::Rejected),
            ("bounce+17", Verdict::Submitted),
        ] {
            let address = Address::parse(&format!("{local}@simulator.invalid")).expect("valid");
            assert!(plays(&address));
            assert_eq!(play(&address).verdict, verdict, "{local}");
        }
        let other = Address::parse("bounce@simulator.invalid.example").expect("valid");
        assert!(!plays(&other));
    }
}
