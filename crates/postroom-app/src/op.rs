//! One file per operation: its input, its output, its function and its row.
//!
//! A module that is no operation has what several share: `composing` and `sending` mail on its way
//! out, `drafting` drafts, `document_sessions` saved documents, `listing` who may be written to,
//! `reading` messages and threads, `ruling` routing rules, `sourcing` sources, `working` todos.

pub mod address_add;
pub mod address_retire;
pub mod attachment_raw;
pub mod check_ir;
pub mod compile_ir;
pub mod delivery_list;
pub mod deployment_get;
pub mod describe_blocks;
pub mod diff_ir;
pub mod document_reference;
pub mod draft_create;
pub mod draft_delete;
pub mod draft_get;
pub mod draft_list;
pub mod draft_send;
pub mod draft_update;
pub mod get_webhook_event;
pub mod identity_create;
pub mod identity_get;
pub mod identity_update;
pub mod import_failure_list;
pub mod import_failure_raw;
pub mod inbound_raw;
pub mod key_create;
pub mod key_get;
pub mod key_list;
pub mod key_revoke;
pub mod key_rotate;
pub mod lint_html;
pub mod list_entry_add;
pub mod list_entry_list;
pub mod list_entry_remove;
pub mod list_webhook_events;
pub mod mail_find_related;
pub mod mail_forward;
pub mod mail_get_attachment_text;
pub mod mail_get_message;
pub mod mail_get_thread;
pub mod mail_get_usage;
pub mod mail_list_identities;
pub mod mail_list_threads;
pub mod mail_reply;
pub mod mail_search;
pub mod mail_search_contacts;
pub mod mail_send;
pub mod mail_update_labels;
pub mod mail_wait;
pub mod message_raw;
pub mod outbox_list;
pub mod owner_link_create;
pub mod patch_ir;
pub mod policy_get;
pub mod policy_update;
pub mod queue_list;
pub mod queue_update;
pub mod repair_ir;
pub mod replay_webhook_event;
pub mod send_cancel;
pub mod send_resolve;
pub mod send_test;
pub mod session_get;
pub mod session_list;
pub mod session_put;
pub mod source_create;
pub mod source_delete;
pub mod source_list;
pub mod source_rotate;
pub mod source_set_rules;
pub mod source_set_secret;
pub mod source_test_rules;
pub mod source_update;
pub mod suppression_add;
pub mod suppression_list;
pub mod suppression_remove;
pub mod tenant_create;
pub mod tenant_get;
pub mod tenant_list;
pub mod tenant_update;
pub mod thread_update;
pub mod todo_claim;
pub mod todo_claim_next;
pub mod todo_complete;
pub mod todo_create;
pub mod todo_fail;
pub mod todo_get;
pub mod todo_heartbeat;
pub mod todo_list;
pub mod todo_release;
pub mod todo_retry;
pub mod upload_create;

mod composing;
pub mod document_sessions;
pub mod drafting;
pub mod listing;
pub(crate) mod reading;
mod ruling;
pub mod sending;
mod sourcing;
pub(crate) mod working;

pub(crate) use sending::detailed;

use postroom_types::{Address, AddressError, ErrorCode, Level};

use crate::{Failure, operation::Call};

/// Whether a tenant may have an address under a domain: one that mail leaves from is the operator's, who
/// alone gives addresses under it to tenants other than the first.
fn check_domain(call: &Call<'_>, domain: &str) -> Result<(), Failure> {
    let guest = call.scope()?.tenant() != call.room.default_tenant();
    let asks = call.actor.level != Level::Platform;
    match guest && asks && call.room.leaves_from(domain) {
        true => Err(ErrorCode::DomainUnavailable.into()),
        false => Ok(()),
    }
}

/// An address that somebody asks to have, or the code that says why it cannot be.
fn address_of(text: &str) -> Result<Address, Failure> {
    Address::parse(text).map_err(|error| match error {
        AddressError::Unsupported => ErrorCode::AddressUnsupported.into(),
        _ => ErrorCode::AddressInvalid.into(),
    })
}
