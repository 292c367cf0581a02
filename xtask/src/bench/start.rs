//! Start: the binary's size, how soon `serve` is ready on a full data folder, and its idle memory.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use anyhow::Result;

use super::{maildir, measure, postroom, report::Report};
use crate::{process::memory_kib, server};

pub(crate) fn run(count: usize) -> Result<Report> {
    let maildir = maildir(count)?;
    let work = tempfile::tempdir()?;
    let data = work.path().join("postroom");
    let import = measure(
        Command::new(postroom())
            .args([
                "import",
                "--json",
                "--identity",
                "bench@bench.example",
                "--data",
            ])
            .arg(&data)
            .arg(&maildir),
    )?;
    let mut report = Report::new(
        "start",
        format!("cargo xtask bench start --count {count}"),
        &["what", "figure"],
    );
    let size = std::fs::metadata(postroom())?.len();
    report.row(vec![
        "binary".to_owned(),
        format!("{:.1} MB", size as f64 / 1e6),
    ]);
    report.row(vec![
        "import before it".to_owned(),
        format!(
            "{:.0} mails/s, peak {:.0} MB",
            count as f64 / import.wall_s,
            import.rss_peak_mb
        ),
    ]);
    let mut ready_ms = Vec::new();
    let mut idle_mb = 0.0;
    for _ in 0..5 {
        let start = Instant::now();
        let (_, running) = server::start(server::serve(&mut Command::new(postroom()), &data))?;
        ready_ms.push(start.elapsed().as_secs_f64() * 1e3);
        std::thread::sleep(Duration::from_secs(2));
        idle_mb = memory_kib(running.0.id())?.0 as f64 / 1024.0;
    }
    ready_ms.sort_by(f64::total_cmp);
    report.row(vec![
        "serve ready, median of 5".to_owned(),
        format!("{:.0} ms", ready_ms.get(2).copied().unwrap_or(0.0)),
    ]);
    report.row(vec![
        "serve idle".to_owned(),
        format!("{idle_mb:.0} MB RSS"),
    ]);
    Ok(report)
}
