//! One suite on both databases: SQLite always, PostgreSQL when `POSTROOM_TEST_DATABASE_URL` names a
//! server on which databases may be created.

mod suite {
    mod access;
    mod arrivals;
    mod database;
    mod mail;
    mod people;
    mod world;
}
