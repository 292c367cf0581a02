//! A room in a fresh folder: mail in, kept, found, read, and the same after it was closed.

mod finding;
mod importing;
mod reading;
mod receiving;
mod waiting;
mod world;
