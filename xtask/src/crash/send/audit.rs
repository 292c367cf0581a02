//! What the rows say against what the relay took.

use std::fmt;

use anyhow::{Result, ensure};

use crate::{crash::database::SendRow, sending::Taken};

/// The result of an audit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    rows: usize,
    submitted: usize,
    uncertain: usize,
    /// Uncertain ones that the relay has.
    uncertain_taken: usize,
    /// Claims that nobody has given up yet.
    open: usize,
    taken: usize,
    /// Pairs of mail and recipient that the relay took more than once.
    doubled: usize,
    /// Rows that say submitted where the relay has nothing.
    lost: usize,
    /// Rows that say neither where the relay has the mail.
    untrue: usize,
    /// Mails that the relay took and no row tells of.
    stray: usize,
}

/// Audits one recipient for each send.
pub(super) fn of(rows: &[SendRow], taken: &Taken) -> Verdict {
    let mut verdict = Verdict {
        rows: rows.len(),
        taken: taken.len(),
        doubled: taken.values().filter(|count| **count > 1).count(),
        ..Verdict::default()
    };
    let mut known = 0;
    for row in rows {
        let pair = (row.id.clone(), row.address.clone());
        let there = taken.contains_key(&pair);
        known += usize::from(there);
        match (row.state.as_str(), row.status.as_str()) {
            ("uncertain", _) | (_, "uncertain") => {
                verdict.uncertain += 1;
                verdict.uncertain_taken += usize::from(there);
            }
            ("claimed", _) => verdict.open += 1,
            ("done", "submitted" | "delivered") => {
                verdict.submitted += 1;
                verdict.lost += usize::from(!there);
            }
            _ => verdict.untrue += usize::from(there),
        }
    }
    verdict.stray = taken.len().saturating_sub(known);
    verdict
}

impl Verdict {
    /// Whether it is good: `count` rows, settled, and the truth in each.
    pub(super) fn check(&self, count: usize, settled: bool) -> Result<()> {
        ensure!(self.doubled == 0, "{} mails left twice", self.doubled);
        ensure!(
            self.lost == 0 && self.untrue == 0 && self.stray == 0,
            "rows and relay do not agree: {self}"
        );
        ensure!(
            self.rows == count && self.submitted + self.uncertain + self.open == count,
            "{count} mails were acknowledged: {self}"
        );
        ensure!(
            !settled || self.open == 0,
            "{} claims were never given up",
            self.open
        );
        ensure!(
            self.taken > 0,
            "nothing left: the harness does not reach the relay"
        );
        Ok(())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rows: {} submitted, {} uncertain of which the relay has {}, {} claimed; the relay took {}, {} of them \
             twice; {} submitted and not there, {} there and said not to be, {} without a row",
            self.rows,
            self.submitted,
            self.uncertain,
            self.uncertain_taken,
            self.open,
            self.taken,
            self.doubled,
            self.lost,
            self.untrue,
            self.stray
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, state: &str, status: &str) -> SendRow {
        SendRow {
            id: id.to_owned(),
            state: state.to_owned(),
            address: "r@sink.example".to_owned(),
            status: status.to_owned(),
        }
    }

    fn taken(counts: &[(&str, usize)]) -> Taken {
        let pair = |id: &str| (id.to_owned(), "r@sink.example".to_owned());
        counts
            .iter()
            .map(|(id, count)| (pair(id), *count))
            .collect()
    }

    #[test]
    fn planted_faults_are_found() {
        let good = [
            row("a", "done", "submitted"),
            row("b", "uncertain", "uncertain"),
            row("c", "uncertain", "uncertain"),
        ];
        let there = [("a", 1), ("b", 1)];
        assert!(of(&good, &taken(&there)).check(3, true).is_ok());
        // A mail twice, a mail that never left, one that nobody knows of, one row too few.
        for there in [
            &[("a", 2), ("b", 1)][..],
            &[("b", 1)],
            &[("a", 1), ("x", 1)],
        ] {
            assert!(
                of(&good, &taken(there)).check(3, true).is_err(),
                "{there:?}"
            );
        }
        assert!(of(&good, &taken(&there)).check(4, true).is_err());
        // A row that says rejected, canceled or queued while the relay has the mail.
        for (state, status) in [
            ("done", "rejected"),
            ("canceled", "failed"),
            ("queued", "queued"),
        ] {
            let rows = [row("a", state, status)];
            assert!(
                of(&rows, &taken(&[("a", 1)])).check(1, true).is_err(),
                "{state}"
            );
        }
        // A claim that is never given up.
        let open = [row("a", "claimed", "queued")];
        assert!(of(&open, &taken(&[("a", 1)])).check(1, true).is_err());
        assert!(of(&open, &taken(&[("a", 1)])).check(1, false).is_ok());
    }
}
