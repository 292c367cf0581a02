//! The details of a refused send.

use postroom_core::SendDetail;
use postroom_types::ErrorCode;
use serde_json::json;

use super::recipients_of;
use crate::Failure;

/// A refusal's facts as details of its error.
pub(crate) fn detailed(failure: Failure, detail: SendDetail) -> Failure {
    match detail {
        SendDetail::Original(message) => failure.with("original_message_id", message.to_string()),
        SendDetail::Cap {
            cap,
            most,
            resets_at,
        } => failure
            .with("cap", cap.as_str())
            .with("limit", most)
            .with("resets_at", resets_at.to_string()),
        SendDetail::Recipients(recipients) => failure.with("recipients", recipients),
        SendDetail::Most(most) if failure.code == ErrorCode::MessageTooLarge => {
            Failure::too_large(most)
        }
        SendDetail::Most(most) => failure.with("max", most),
        // Why an identity is paused is its own word, whatever the rule that refused says.
        SendDetail::Paused(reason) => failure.with("reason", reason.as_str()),
        SendDetail::Thread(thread) => failure.with("thread_id", thread.to_string()),
        SendDetail::WouldSend(recipients) => failure
            .with("would_send", false)
            .with("recipients", json!(recipients_of(&recipients))),
    }
}
