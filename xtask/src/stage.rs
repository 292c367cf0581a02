//! Named steps whose times are printed at the end.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// The steps run so far.
#[derive(Default)]
pub(crate) struct Stages(Vec<(String, Duration)>);

impl Stages {
    /// Runs one step; its name is in the error when it fails.
    pub(crate) fn run<T>(&mut self, name: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        eprintln!("\n== {name}");
        let start = Instant::now();
        let result = step().with_context(|| format!("stage `{name}` failed"));
        self.0.push((name.to_owned(), start.elapsed()));
        if result.is_err() {
            self.print();
        }
        result
    }

    /// Prints each step with its time and the sum.
    pub(crate) fn print(&self) {
        eprintln!("\n== times");
        for (name, time) in &self.0 {
            eprintln!("{:>8.1} s  {name}", time.as_secs_f64());
        }
        let total: Duration = self.0.iter().map(|(_, time)| *time).sum();
        eprintln!("{:>8.1} s  all", total.as_secs_f64());
    }
}
