//! Reads. Each asks for a scope; what is outside of it reads as missing.

mod access;
mod blob;
mod contact;
mod document;
mod event;
mod message;
mod old;
mod send;
mod sending;
mod source;
mod status;
mod tenant;
mod thread;
mod todo;

pub use access::{
    CredentialAnswer, SessionAnswer, credential, key, keys, owner_link_open, person_signed_in,
    platform_key, platform_keys, session,
};
pub use blob::{KeptBytes, kept_bytes};
pub use contact::{ContactFilter, ContactPlace, contacts, written_to};
pub use document::{document_session, document_sessions, document_states};
pub use event::{
    EventFilter, Since, changes, event, event_payload, events, import_failure_payload,
    import_failures, known_digests, oldest_pending, pending_deliveries, pending_events, position,
    positions,
};
pub use message::{
    Message, WaitFilter, labels_of_nums, message, message_of_ids, messages_after, messages_of_nums,
    nums_by_label, nums_in_thread, nums_unread, nums_with_label, raw, rows_of_nums,
    thread_ids_of_nums, thread_of_key,
};
pub use old::old_deliveries;
pub use send::{
    DueSend, OpenClaim, SendFilter, SendingTrouble, deliveries, deliveries_of, due_sends,
    idempotent, next_due_send, open_claims, recent_deliveries, send, sending_trouble, sends,
    sends_of, sent_message, uncertain_sends, wire,
};
pub use sending::{
    draft, drafts, list_entries, policy, suppressed, suppressions, upload, upload_bytes, usage,
};
pub use source::{Source, events_of_source, mails_by, source, source_by_token, sources};
pub use status::{Counts, counts, deployment_counts, quick_check, result_set};
pub use tenant::{
    Identity, IdentityFilter, RecipientAnswer, deployment_domain, identities, identity,
    identity_by_address, oldest_mailbox, owners_of_addresses, recipient, role_mailbox, tenant,
    tenant_by_id, tenant_by_slug, tenant_of_address, tenant_of_identity, tenants,
};
pub use thread::{Thread, ThreadFilter, thread, thread_messages, threads, threads_of_ids};
pub use todo::{
    QueueCounts, Todo, TodoFilter, ended_todos, ended_todos_beyond, next_due, queue_counts, queues,
    todo, todo_attempts, todo_payload, todo_row, todos, work_waits,
};
