//! Rows.

use super::Provider;

pub(super) const ROWS: &[Provider] = &[];
