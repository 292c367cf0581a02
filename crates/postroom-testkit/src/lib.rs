//! Development only: fixture servers, seeded worlds and crash harness.
