//! Decisions: command and state to changes.
