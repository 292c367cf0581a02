//! E-mail documents: read, checked, repaired, compiled. Pure: no IO, no clock, no randomness.
//!
//! ```text
//! JSON text or value --read--> draft --passes--> draft without what can be repaired + issues
//!                                                  |
//!                       canonical JSON <-----------+-----------> Document (typed, defaults filled in)
//!                       (what is stored)                           |
//!                                                         emitters, lints of mail programs
//! ```
//!
//! One set of passes serves [`check`] and [`repair`]: `check` returns what the passes found in the
//! document as it is, `repair` the document they leave. So whatever an issue calls repairable is.
//!
//! # Shape for emitters and lints
//!
//! * [`model::Document`] holds [`model::Meta`], [`model::Theme`], [`model::Policy`], variables and
//!   `body: Vec<Block>`. A [`model::Block`] is one node of any level: common attributes and a
//!   [`model::BlockKind`]. Containers hold `children: Vec<Block>`; [`model::If`] and
//!   [`model::Each`] may stand wherever their children may, so an emitter handles them at each
//!   level. Defaults are filled in; `Option` means "as the theme has it".
//! * Words are [`model::Text`] (spans), addresses and alternative texts [`model::Template`]
//!   (pieces). Variables appear as [`model::VariableUse`] only; everything else is literal text.
//! * [`scope::Scope`] resolves a path inside nested loops to its type and declaration.
//! * Everything wrong is an [`issue::Issue`] made with `Issue::new(Code, &block.source, message)`.
//!   [`issue::Code`] is the one table of codes, with severity, hint and page.
//! * `document.json()` is the canonical JSON, for the `json` target.
//!
//! Codes of the document itself (`parse.*`, `limit.*`, `version.*`, `schema.*`, `grammar*`,
//! `block.*`, `id.*`, `hydrate.*`, `color.*`, `url.*`, `var.*` but `var.url_unchecked`, `cond.*`,
//! `column.*`, `each.*`, `loop.*`, `table.*`, `image.no_alt`, `image.too_wide`, `width.*`,
//! `unsubscribe.*`, `address.*`, `gradient.*`, `raw.*`, `text.empty`, `a11y.*` but
//! `a11y.generic_link`, `link.http`, `link.placeholder`, `link.too_long`) come from [`check`]. The
//! others need compiled output or knowledge of mail programs and come from `emit` and `lint`.

pub mod backend;
mod canonical;
mod check;
mod compile;
mod describe;
pub mod dialect;
mod draft;
pub mod emit;
mod findings;
mod grammar;
pub mod issue;
pub mod lint;
pub mod model;
mod notation;
mod pass;
mod patch;
mod raw;
mod read;
mod rules;
mod schema;
pub mod scope;
mod sense;
mod source;
mod starter;

pub use canonical::{canonical, print, with_defaults};
pub use check::{Checked, Input, Repaired, check, check_with, repair, repair_with};
pub use compile::{Made, compile};
pub use describe::{Detail, describe};
pub use findings::Applied;
pub use issue::{Code, Issue, Severity};
pub use pass::RepairOptions;
pub use patch::{Change, Difference, Patched, diff, patch};
pub use rules::{RULES, reference, rules};
pub use schema::{SchemaKind, schema};
pub use source::{Position, Source};
pub use starter::{STARTERS, Starter, starter};
