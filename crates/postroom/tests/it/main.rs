//! The product from outside: the real executable over REST, MCP, SMTP and the command line.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why and ends"
)]

mod carried_mail;
mod cli;
mod configuration;
mod connect;
mod documents;
mod egress;
mod fake;
mod keys;
mod mail;
mod mail_rules;
mod mcp;
mod replay;
mod rest;
mod sending;
mod served;
mod shapes;
mod source_verify;
mod todos;
mod transports;
mod webhooks;
