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
mod log;
pub mod op;
pub mod operation;
pub mod random;
pub mod rate;
pub mod room;
pub mod schema;
pub mod view;

pub use actor::Actor;
pub use failure::Failure;
pub use operation::{Call, CallContext, Operation, Reply};
pub use room::Room;
