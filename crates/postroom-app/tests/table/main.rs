//! What must hold for every row of the operation table.

mod access;
mod contract;
mod output;
mod rest;
mod world;
