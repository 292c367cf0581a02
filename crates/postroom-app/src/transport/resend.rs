//! Sending through Resend.

use postroom_net::{resend, smtp::send::Submission};

use super::{Handover, ResendOptions};
use crate::Room;

/// Hands one mail over. The provider's key against doubles is the message's own id, so that a try
/// whose answer was lost and one after it are one mail there too.
pub(super) async fn submit(
    room: &Room,
    options: &ResendOptions,
    handover: Handover<'_>,
) -> Submission {
    let key = format!("postroom/{}", handover.row.message_id);
    resend::submit(
        room.egress(),
        &options.api_key,
        &key,
        handover.envelope,
        &handover.raw,
    )
    .await
}
