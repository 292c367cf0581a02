//! The index as a projection of the change feed: full text, filters, ranking, facets, snippets.
//!
//! One index per tenant, so that another tenant's mail never moves a score. It owns no truth: it is
//! fed message by message with [`TenantIndex::apply`], every commit carries the feed position it
//! reaches, and a folder that is damaged or of an older shape is reported ([`SearchError::Rebuild`])
//! and filled again from the feed. It holds terms, not texts: snippets and reasons are computed from
//! texts that the caller loads.
//!
//! ```text
//! feed --Doc--> TenantIndex::apply --> segments on disk (position in the commit)
//! Plan + SearchRequest --> TenantIndex::search --> Ranked (message numbers, scores, facets)
//! Plan + MessageTexts  --> snippet, why, attachment_hits
//! ```
//!
//! What changes after arrival (labels, read state, threads, what is hidden) is not in the index; it
//! comes with each request as sets of message numbers.
//!
//! This room blocks: callers in an async program run it on a thread that may block. It reads no
//! clock and opens no sockets.

mod analysis;
mod collect;
mod columns;
mod compile;
mod error;
mod excerpt;
mod facets;
mod indexes;
mod kept_terms;
mod message;
mod rank;
mod related;
mod request;
mod schema;
mod search;
mod senders;
mod tenant;
mod terms;

pub use error::{RebuildReason, SearchError};
pub use excerpt::{attachment_hits, snippet, why};
pub use facets::{FACET_VALUES, IndexFacets, MONTH_VALUES, top_counts};
pub use indexes::Indexes;
pub use message::{Doc, DocAttachment, MessageTexts, class_of};
pub use request::{Hit, Match, Ranked, Related, RelatedRequest, SearchRequest};
pub use tenant::TenantIndex;
