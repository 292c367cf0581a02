//! Mail by webhook.
