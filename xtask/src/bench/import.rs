//! Import: a Maildir from cold, against `notmuch new` and `mu index`.

use std::process::Command;

use anyhow::Result;

use super::{Usage, bytes_below, maildir, measure, postroom, report::Report};
use crate::packages;

pub(crate) fn run(count: usize, peers: bool) -> Result<Report> {
    if peers {
        packages::apt(&["notmuch", "maildir-utils", "time"])?;
    }
    let maildir = maildir(count)?;
    let work = tempfile::tempdir()?;
    let mut report = Report::new(
        "import",
        format!("cargo xtask bench import --count {count}"),
        &[
            "program",
            "mails/s",
            "CPU s",
            "peak RSS MB",
            "index MB",
            "times Postroom's wall",
        ],
    );

    let data = work.path().join("postroom");
    let ours = measure(
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
    let index_mb = bytes_below(&data.join("index")) as f64 / 1e6;
    report.row(row(
        "postroom import (stored, synced, searchable)",
        count,
        &ours,
        index_mb,
        &ours,
    ));
    report.note(format!(
        "Postroom's database, which also holds the raw mails: {:.0} MB.",
        (bytes_below(&data) as f64) / 1e6 - index_mb
    ));
    if peers {
        let home = work.path().join("mu");
        measure(
            Command::new("mu")
                .args(["init", "--quiet", "--muhome"])
                .arg(&home)
                .arg("--maildir")
                .arg(&maildir),
        )?;
        let mu = measure(
            Command::new("mu")
                .args(["index", "--quiet", "--muhome"])
                .arg(&home),
        )?;
        report.row(row(
            "mu index",
            count,
            &mu,
            bytes_below(&home) as f64 / 1e6,
            &ours,
        ));

        let database = work.path().join("notmuch");
        std::fs::create_dir_all(&database)?;
        let config = work.path().join("notmuch-config");
        std::fs::write(
            &config,
            format!(
                "[database]\npath={}\nmail_root={}\n[user]\nname=Bench\nprimary_email=bench@bench.example\n[new]\ntags=unread\n[maildir]\nsynchronize_flags=false\n",
                database.display(),
                maildir.display()
            ),
        )?;
        let notmuch = measure(
            Command::new("notmuch")
                .arg("new")
                .arg("--quiet")
                .env("NOTMUCH_CONFIG", &config),
        )?;
        report.row(row(
            "notmuch new",
            count,
            &notmuch,
            bytes_below(&database) as f64 / 1e6,
            &ours,
        ));
    }
    Ok(report)
}

fn row(program: &str, count: usize, used: &Usage, index_mb: f64, ours: &Usage) -> Vec<String> {
    vec![
        program.to_owned(),
        format!("{:.0}", count as f64 / used.wall_s),
        format!("{:.1}", used.cpu_s),
        format!("{:.0}", used.rss_peak_mb),
        format!("{index_mb:.1}"),
        format!("{:.1}", used.wall_s / ours.wall_s),
    ]
}
