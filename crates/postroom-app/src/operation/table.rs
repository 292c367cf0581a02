//! The rows.

use super::{Operation, Toolset};
use crate::{Actor, op};

/// Every operation, in the order in which surfaces list them.
pub const TABLE: &[Operation] = &[op::mail_list_identities::ROW];

/// The operation of that name.
pub fn find(name: &str) -> Option<&'static Operation> {
    TABLE.iter().find(|row| row.name == name)
}

/// The MCP tools that `actor` may call out of `toolsets`, in order.
pub fn listed<'a>(
    actor: &'a Actor,
    toolsets: &'a [Toolset],
) -> impl Iterator<Item = &'static Operation> + 'a {
    TABLE
        .iter()
        .filter(move |row| row.is_tool() && toolsets.contains(&row.toolset) && actor.may_call(row))
}
