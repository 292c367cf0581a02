//! Development only: what tests and judges need around the product, and never ships.
//!
//! - [`conformance`]: the tools, prompts and resources that the official conformance suite of the
//!   Model Context Protocol expects, served by the product's own protocol layer and transport.
//! - [`proxy`]: adds a credential to every request, for judges that cannot send one.
//! - [`smtp_sink`]: a mail server that writes down what it took and misbehaves when asked to.
//! - [`resend`]: Resend's interface for sending, as far as its documentation goes.
//!
//! It must stay light: the fixture server is also how the protocol layer's memory is measured, so
//! nothing here may pull in the store, the index or the mail parser.

pub mod conformance;
pub mod proxy;
pub mod resend;
pub mod smtp_sink;
