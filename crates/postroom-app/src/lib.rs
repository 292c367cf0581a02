//! The operation table and the functions behind every surface.
//!
//! Everything a caller can do is one row of [`operation::TABLE`]: its name, words, schemas,
//! permission, route and function. The surfaces (REST, MCP, command line) find a row, hand in
//! arguments and get back a value or a [`Failure`]; none of them knows an operation by name.
//!
//! A call passes through [`Room::call`] in this order: the key's permissions and level, the input
//! schema, [`authorise`] (which alone makes a [`TenantScope`](postroom_types::TenantScope)), the rate bucket, the operation's
//! function, the [`view`] that cuts and labels what an agent sees, and the call log.
//!
//! This room never knows HTTP, never decides what a change does (that is `postroom-core`), never
//! writes SQL, and never lets an outsider's text into an error message, a log line or a
//! description.

pub mod actor;
mod authenticate;
pub mod authorise;
pub mod clock;
pub mod failure;
mod finding;
mod log;
pub mod op;
mod openapi;
pub mod operation;
mod owner;
pub mod prompt;
pub mod random;
pub mod rate;
mod reference;
pub mod resource;
pub mod room;
pub mod schema;
mod source;
pub mod status;
pub mod transport;
pub mod view;
pub mod watch;

pub use actor::Actor;
pub use failure::Failure;
pub use openapi::openapi;
pub use operation::{Call, CallContext, Operation, Reply};
pub use reference::reference_markdown;
pub use room::{Room, import};
