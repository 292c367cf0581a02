//! What a caller sees: the objects of the contract, the label on text that outsiders wrote, and the
//! budgets that keep an answer readable.
//!
//! Text of outsiders passes through [`visible`] on its way out: invisible instructions (Unicode tag
//! characters, bidirectional overrides, control characters) are dropped, everything else is exact.
//! The fence around it is the JSON string it stands in, and every answer that holds such text says
//! so in a field of its own, [`ContentNotice`].

mod budget;
mod event;
mod identity;
mod key;
mod message;
mod notice;
mod policy;
mod search;
mod source;
mod tenant;
mod thread;
mod todo;
mod usage;

pub use budget::{cut, fit, json_bytes, shrink};
pub use event::{EventDetail, EventSummary};
pub use identity::{Address, Identity, Owner, SendPolicy, Signature};
pub use key::ApiKey;
pub use message::{
    Attachment, Delivery, Header, Message, Reference, Sent, Triage, Trust, Verification,
};
pub use notice::{ContentNotice, visible};
pub(crate) use policy::suppressed_hash;
pub use policy::{AutoReply, Disclosure, ListEntry, Policy, Suppression};
pub use postroom_types::Mailbox;
pub use search::{AttachmentHit, Contact, Facets, HitTrust, SearchHit, SearchQuery, ThreadHit};
pub use source::{Source, SourceRules};
pub use tenant::Tenant;
pub use thread::{Hold, ThreadSummary};
pub(crate) use todo::json_or_text;
pub use todo::{Attempt, ClaimedTodo, Queue, Todo, TodoTrust};
pub use usage::{Cap, Feature, Plan, Topups, Usage};
