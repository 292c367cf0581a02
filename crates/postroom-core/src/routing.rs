//! Routing rules: where a delivery goes.
//!
//! For: deciding by the rules of a source, written in the Common Expression Language, to which
//! queue a verified delivery goes, whether it is dropped, or held back. [`Rules::compile`] reads
//! and checks a [`RuleSet`] when it is saved; [`Rules::evaluate`] judges an [`Envelope`].
//!
//! Never: no clock, no randomness, no reach beyond the envelope; no loop that runs away; no fault
//! that is taken for "no match". The first rule that faults ends the judgement, and the delivery
//! is quarantined as faulted.
//!
//! How a delivery passes through: [`Envelope::of`] lays out what is known of it in a shape that
//! never changes; each rule's expression is evaluated in order; the first that is true gives the
//! action; when none is, the source's default does. The [`Trace`] says which.
//!
//! Modules: `rule` (rules as data), `check` (which expressions are allowed), `envelope` (what a rule sees),
//! `issue` and `actor` (what is read out of a forge's payload), `reads` (what an expression looks at), `value` (the envelope as values of
//! the language, counted), `judge` (evaluation).

mod actor;
mod check;
mod envelope;
mod issue;
mod judge;
mod reads;
mod rule;
mod value;

pub use actor::{Matching, TrustedActors};
pub use check::FUNCTIONS;
pub use envelope::{Delivered, Envelope, MailFacts};
pub use judge::{Cause, Fault, Judgement, Rules, Stage, Trace};
pub use rule::{Action, Rule, RuleError, RuleSet};
