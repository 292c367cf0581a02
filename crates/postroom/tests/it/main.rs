//! The product from outside: the real executable over REST, MCP, SMTP and the command line.

mod cli;
mod configuration;
mod mail;
mod mcp;
mod rest;
mod served;
mod shapes;
