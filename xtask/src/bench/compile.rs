//! Compile: a document of 60 blocks checked and compiled into HTML, against npm mjml on the MJML that
//! the same document becomes.

use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::report::Report;
use crate::{engines, process};

const NODE: &str = "
import fs from 'node:fs'
import mjml2html from 'mjml'
const code = fs.readFileSync(process.argv[2], 'utf8')
const run = () => mjml2html(code, { validationLevel: 'skip', minify: false, beautify: false })
for (let i = 0; i < 20; i++) await run()
const count = Number(process.argv[3])
const times = []
for (let i = 0; i < count; i++) {
  const start = process.hrtime.bigint()
  await run()
  times.push(Number(process.hrtime.bigint() - start) / 1e6)
}
times.sort((a, b) => a - b)
console.log(JSON.stringify({ median: times[count >> 1], worst: times[Math.floor(count * 0.99)] }))
";

pub(crate) fn run(count: usize, peers: bool) -> Result<Report> {
    let mut report = Report::new(
        "compile",
        format!("cargo xtask bench compile --count {count}"),
        &[
            "what",
            "median ms",
            "99 % below ms",
            "a CPU second",
            "Postroom is",
        ],
    );
    let work = tempfile::tempdir()?;
    let mjml = work.path().join("document.mjml");
    let said = process::output(
        process::command(
            "cargo",
            &[
                "run",
                "--release",
                "--locked",
                "--quiet",
                "-p",
                "postroom-compose",
                "--example",
                "compile_speed",
                "--",
            ],
        )
        .arg(count.to_string())
        .arg(&mjml),
    )?;
    let ours: Value =
        serde_json::from_str(&said).with_context(|| format!("compile_speed printed {said:?}"))?;
    let figure = |what: &str, name: &str| ours[what][name].as_f64().context("no figure");
    for (what, title) in [
        ("check", "check, lints included"),
        ("html", "document to HTML"),
        ("jinja2", "document to HTML with Jinja2 tags"),
        ("mjml", "document to MJML"),
    ] {
        report.row(vec![
            title.to_owned(),
            format!("{:.2}", figure(what, "median")?),
            format!("{:.2}", figure(what, "worst")?),
            format!("{:.0}", figure(what, "a_second")?),
            "-".to_owned(),
        ]);
    }
    if peers {
        engines::install()?;
        let script = engines::folder().join("out").join("speed.mjs");
        std::fs::create_dir_all(script.parent().context("a parent")?)?;
        std::fs::write(&script, NODE)?;
        let said = process::output(
            Command::new("node")
                .arg(&script)
                .arg(&mjml)
                .arg((count / 10).max(20).to_string()),
        )?;
        let theirs: Value = serde_json::from_str(&said)?;
        let median = theirs["median"].as_f64().context("no median")?;
        report.row(vec![
            "MJML to HTML with npm mjml 5.4.1, unchecked".to_owned(),
            format!("{median:.2}"),
            format!("{:.2}", theirs["worst"].as_f64().context("no time")?),
            "-".to_owned(),
            format!("{:.0} times as fast", median / figure("html", "median")?),
        ]);
    }
    report.note(format!(
        "One document of {} blocks, {} bytes of JSON, {} bytes of HTML; programs warm.",
        ours["blocks"], ours["json_bytes"], ours["html_bytes"]
    ));
    Ok(report)
}
