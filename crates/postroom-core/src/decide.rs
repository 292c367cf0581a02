//! The decision.

use crate::{Command, Decision, Refusal, State};
use postroom_types::{ErrorCode, Timestamp};

/// The instant and the randomness of one round.
pub struct Context<'a> {
    /// Now.
    pub now: Timestamp,
    /// Fresh random bits.
    pub random: &'a mut dyn FnMut() -> u128,
}

/// Decides one command.
///
/// # Errors
/// [`Refusal`]: nothing changes.
pub fn decide(
    command: &Command,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let _ = (command, state, context.now);
    Err(ErrorCode::Unavailable.into())
}
