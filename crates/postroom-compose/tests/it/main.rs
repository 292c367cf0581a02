//! Documents from outside: what is said of them, what a repair makes of them.

mod code;
mod draft;
mod patch;
mod property;
mod repair;
mod schema;
mod starter;
