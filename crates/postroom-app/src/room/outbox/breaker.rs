//! A transport whose outcomes stay unknown is left alone for a while: each such mail needs a person.

use std::{collections::HashMap, sync::Mutex};

use postroom_core::{Submission, Verdict};
use postroom_types::Timestamp;

/// Unknown outcomes in a row that open a breaker.
const IN_A_ROW: u32 = 3;
/// How long it stays open at first.
const FIRST_MS: i64 = 5 * 60 * 1_000;
/// The longest that it stays open.
const MOST_MS: i64 = 60 * 60 * 1_000;

/// One breaker for each transport.
#[derive(Debug, Default)]
pub(in crate::room) struct Breakers(Mutex<HashMap<String, Breaker>>);

#[derive(Debug, Default, Clone, Copy)]
struct Breaker {
    unknown: u32,
    /// Times that it opened without a known outcome since.
    opened: u32,
    open_until: Option<Timestamp>,
}

/// How far a transport is trusted to say what becomes of mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// It did so far.
    Whole,
    /// The last outcome was not known: one mail shows whether the next will be.
    OneByOne,
    /// It is left alone.
    None,
}

impl Breakers {
    /// How a transport may be tried.
    pub(super) fn trusts(&self, transport: &str, now: Timestamp) -> Trust {
        match self.lock().get(transport) {
            Some(found) if found.open_until.is_some_and(|until| until > now) => Trust::None,
            Some(found) if found.unknown > 0 => Trust::OneByOne,
            _ => Trust::Whole,
        }
    }

    /// Until when a transport is left alone.
    pub(in crate::room) fn paused_until(
        &self,
        transport: &str,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let until = self.lock().get(transport)?.open_until;
        until.filter(|until| *until > now)
    }

    /// Notes an outcome.
    pub(super) fn note(&self, transport: &str, submission: &Submission, now: Timestamp) {
        let mut breakers = self.lock();
        let breaker = breakers.entry(transport.to_owned()).or_default();
        match is_unknown(submission) {
            Some(true) => breaker.unknown += 1,
            Some(false) => *breaker = Breaker::default(),
            None => {}
        }
        if breaker.unknown >= IN_A_ROW {
            let ms = FIRST_MS
                .saturating_mul(1 << breaker.opened.min(8))
                .min(MOST_MS);
            *breaker = Breaker {
                // The next unknown outcome opens it again at once.
                unknown: IN_A_ROW - 1,
                opened: breaker.opened.saturating_add(1),
                open_until: Some(now.plus_ms(ms)),
            };
            tracing::warn!(
                transport,
                pause_ms = ms,
                "a transport does not say what becomes of mail; it is left alone for a while"
            );
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Breaker>> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Whether nobody knows what became of it; `None` where that says nothing of the transport, as with
/// addresses that play a fate.
fn is_unknown(submission: &Submission) -> Option<bool> {
    match submission {
        Submission::Uncertain { .. } => Some(true),
        Submission::Answered { recipients, .. } => {
            let played = |address: &str| address.ends_with("@simulator.invalid");
            let mut asked = recipients
                .iter()
                .filter(|outcome| !played(&outcome.address))
                .peekable();
            asked.peek()?;
            Some(asked.any(|outcome| outcome.verdict == Verdict::Uncertain))
        }
        Submission::NotHandedOver { .. } => Some(false),
        Submission::NotTried => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postroom_core::RecipientOutcome;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn unknown() -> Submission {
        Submission::Uncertain {
            reason: "transport_timeout".to_owned(),
        }
    }

    fn answered(address: &str, verdict: Verdict) -> Submission {
        Submission::Answered {
            provider_message_id: None,
            recipients: vec![RecipientOutcome {
                address: address.to_owned(),
                verdict,
                smtp_code: None,
                enhanced_code: None,
                reason: None,
            }],
        }
    }

    #[test]
    fn three_in_a_row_open_it_for_longer_each_time_and_one_known_closes_it() {
        let breakers = Breakers::default();
        breakers.note("smtp", &unknown(), at(0));
        breakers.note("smtp", &unknown(), at(0));
        assert_eq!(breakers.trusts("smtp", at(0)), Trust::OneByOne);
        breakers.note("smtp", &unknown(), at(0));
        assert_eq!(breakers.trusts("smtp", at(FIRST_MS - 1)), Trust::None);
        assert_eq!(breakers.trusts("smtp", at(FIRST_MS)), Trust::OneByOne);
        let other = breakers.trusts("resend", at(0));
        assert_eq!(other, Trust::Whole, "each its own");
        breakers.note("smtp", &unknown(), at(FIRST_MS));
        assert_eq!(breakers.trusts("smtp", at(3 * FIRST_MS - 1)), Trust::None);
        let mut now = 3 * FIRST_MS;
        for _ in 0..20 {
            breakers.note("smtp", &unknown(), at(now));
            let trust = breakers.trusts("smtp", at(now + MOST_MS));
            assert_eq!(trust, Trust::OneByOne);
            now += MOST_MS;
        }
        breakers.note(
            "smtp",
            &answered("a@there.example", Verdict::Submitted),
            at(now),
        );
        assert_eq!(breakers.trusts("smtp", at(now)), Trust::Whole);
        breakers.note("smtp", &unknown(), at(now));
        breakers.note("smtp", &unknown(), at(now));
        assert_eq!(breakers.trusts("smtp", at(now)), Trust::OneByOne);
    }

    #[test]
    fn fates_that_are_played_say_nothing_of_the_transport() {
        let breakers = Breakers::default();
        for _ in 0..10 {
            let played = answered("timeout@simulator.invalid", Verdict::Uncertain);
            breakers.note("sandbox", &played, at(0));
        }
        assert_eq!(breakers.trusts("sandbox", at(0)), Trust::Whole);
    }
}
