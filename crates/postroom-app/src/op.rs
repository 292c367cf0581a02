//! One file per operation: its input, its output, its function and its row.

pub mod mail_list_identities;
