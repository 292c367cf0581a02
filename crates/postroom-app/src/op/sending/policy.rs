//! A tenant's policy as it holds now.

use postroom_core::Policy;
use postroom_store::read;

use crate::{Failure, operation::Call};

/// Built-in values with the tenant's own over them.
pub(in crate::op) async fn in_force(call: &Call<'_>) -> Result<Policy, Failure> {
    let row = read::policy(call.room.store(), call.scope()?).await?;
    Ok(row.own.effective())
}
