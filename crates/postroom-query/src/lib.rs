//! The search language: lexer, parser, canonical printer and plan.
//!
//! A query string becomes a [`Query`] ([`parse`]), which prints in canonical form ([`std::fmt::Display`])
//! and becomes a [`Plan`] ([`plan`]): a boolean tree whose leaves say who answers them. [`Plan::Text`]
//! leaves are for the full-text engine, [`Plan::Filter`] leaves for the index, and [`Plan::State`]
//! leaves stand for what changes after arrival (labels, read state, threads), which the caller
//! resolves to sets of message numbers.
//!
//! ```text
//! text --lex--> tokens --parse--> Query --plan(zone, now)--> Plan
//!                                  |
//!                                  +--Display--> canonical text, which parses to the same Query
//! ```
//!
//! This room never panics on any input, works in time linear in its length, does no IO and reads no
//! clock: the time zone and "now" are arguments. Query text never reaches an engine's own query
//! parser; an engine sees leaves only.

mod ast;
mod date;
mod error;
mod lex;
mod parse;
mod plan;
mod print;

pub use ast::{
    AttachmentType, Day, Direction, DurationUnit, Leaf, Node, Query, Text, TextForm, Who,
};
pub use error::QueryError;
pub use parse::parse;
pub use plan::{Field, Filter, FilterLeaf, Moment, Plan, State, StateLeaf, TextLeaf, plan};
