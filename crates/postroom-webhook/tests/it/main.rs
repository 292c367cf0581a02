//! The room from outside.

mod vector;
mod vectors;
