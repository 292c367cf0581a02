//! The rows.

use super::{Operation, Toolset};
use crate::{Actor, op};

/// Every operation, in the order in which surfaces list them.
pub const TABLE: &[Operation] = &[
    op::mail_list_identities::ROW,
    op::mail_list_threads::ROW,
    op::mail_search::ROW,
    op::mail_get_thread::ROW,
    op::mail_get_message::ROW,
    op::mail_get_attachment_text::ROW,
    op::mail_find_related::ROW,
    op::mail_search_contacts::ROW,
    op::mail_wait::ROW,
    op::mail_get_usage::ROW,
    op::mail_send::ROW,
    op::mail_reply::ROW,
    op::mail_forward::ROW,
    op::mail_update_labels::ROW,
    op::list_webhook_events::ROW,
    op::get_webhook_event::ROW,
    op::replay_webhook_event::ROW,
    op::todo_list::ROW,
    op::todo_get::ROW,
    op::todo_claim::ROW,
    op::todo_claim_next::ROW,
    op::todo_heartbeat::ROW,
    op::todo_complete::ROW,
    op::todo_fail::ROW,
    op::todo_release::ROW,
    op::source_create::ROW,
    op::source_list::ROW,
    op::source_rotate::ROW,
    op::source_delete::ROW,
    op::source_set_secret::ROW,
    op::source_set_rules::ROW,
    op::source_test_rules::ROW,
    op::source_update::ROW,
    op::describe_blocks::ROW,
    op::check_ir::ROW,
    op::repair_ir::ROW,
    op::compile_ir::ROW,
    op::lint_html::ROW,
    op::patch_ir::ROW,
    op::diff_ir::ROW,
    op::session_get::ROW,
    op::session_put::ROW,
    op::send_test::ROW,
    op::document_reference::ROW,
    op::inbound_raw::ROW,
    op::message_raw::ROW,
    op::upload_create::ROW,
    op::outbox_list::ROW,
    op::delivery_list::ROW,
    op::send_cancel::ROW,
    op::send_resolve::ROW,
    op::session_list::ROW,
    op::draft_create::ROW,
    op::draft_list::ROW,
    op::draft_get::ROW,
    op::draft_update::ROW,
    op::draft_delete::ROW,
    op::draft_send::ROW,
    op::thread_update::ROW,
    op::deployment_get::ROW,
    op::tenant_create::ROW,
    op::tenant_list::ROW,
    op::tenant_get::ROW,
    op::tenant_update::ROW,
    op::policy_get::ROW,
    op::policy_update::ROW,
    op::suppression_list::ROW,
    op::suppression_add::ROW,
    op::suppression_remove::ROW,
    op::list_entry_list::ROW,
    op::list_entry_add::ROW,
    op::list_entry_remove::ROW,
    op::identity_create::ROW,
    op::identity_get::ROW,
    op::identity_update::ROW,
    op::address_add::ROW,
    op::address_retire::ROW,
    op::key_create::ROW,
    op::key_list::ROW,
    op::key_get::ROW,
    op::key_rotate::ROW,
    op::key_revoke::ROW,
    op::todo_create::ROW,
    op::todo_retry::ROW,
    op::queue_list::ROW,
    op::queue_update::ROW,
];

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
