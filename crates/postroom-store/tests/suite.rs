//! One suite on both databases: SQLite always, PostgreSQL when `POSTROOM_TEST_DATABASE_URL` names a
//! server on which databases may be created.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly, as the tests do"
)]

mod suite {
    mod access;
    mod arrivals;
    mod database;
    mod mail;
    mod people;
    mod sending;
    mod work;
    mod world;
}
