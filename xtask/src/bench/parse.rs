//! Parse: mails per CPU second, text, quotes and thread keys included, against Python's email package,
//! postal-mime and mailparser (npm), which decode headers and text only.

use std::process::Command;

use anyhow::{Context, Result};

use super::{maildir, report::Report};
use crate::process;

const PYTHON: &str = "
import email, email.policy, os, sys, time
paths = [os.path.join(d, f) for d, _, fs in os.walk(sys.argv[1]) for f in fs]
mails = [open(p, 'rb').read() for p in paths]
start = time.process_time()
for raw in mails:
    m = email.message_from_bytes(raw, policy=email.policy.default)
    str(m['subject']), str(m['from']), str(m['to'])
    b = m.get_body(('plain', 'html'))
    if b:
        try: b.get_content()
        except Exception: pass
print(len(mails) / (time.process_time() - start))
";

const NODE: &str = "
const fs = require('fs'), path = require('path');
const walk = d => fs.readdirSync(d, {withFileTypes: true}).flatMap(e => e.isDirectory() ? walk(path.join(d, e.name)) : [path.join(d, e.name)]);
const mails = walk(process.argv[2]).map(p => fs.readFileSync(p));
(async () => {
  const kind = process.argv[3];
  const parse = kind === 'mailparser' ? require('mailparser').simpleParser : (await import('postal-mime')).default.parse;
  const start = process.cpuUsage();
  for (const raw of mails) { try { await parse(raw); } catch {} }
  const used = process.cpuUsage(start);
  console.log(mails.length / ((used.user + used.system) / 1e6));
})();
";

pub(crate) fn run(peers: bool) -> Result<Report> {
    let folder = match std::env::var_os("POSTROOM_CORPORA") {
        Some(folder) => folder.into(),
        None => maildir(5_000)?,
    };
    let mut report = Report::new(
        "parse",
        "cargo xtask bench parse".to_owned(),
        &["program", "mails per CPU second", "Postroom is"],
    );
    let said = process::output(
        process::command(
            "cargo",
            &[
                "run",
                "--release",
                "--locked",
                "--quiet",
                "-p",
                "postroom-mail",
                "--example",
                "parse_speed",
                "--",
            ],
        )
        .arg(&folder),
    )?;
    // It says first how many mails there were, then on a line of its own how many a second.
    let ours = said
        .lines()
        .find(|line| line.contains("mails per CPU second"))
        .and_then(number)
        .with_context(|| format!("parse_speed printed {said:?}"))?;
    report.row(vec![
        "postroom-mail (text, quotes, thread keys)".to_owned(),
        format!("{ours:.0}"),
        "1".to_owned(),
    ]);
    if peers {
        let work = tempfile::tempdir()?;
        let python = number(&process::output(
            Command::new("python3").args(["-c", PYTHON]).arg(&folder),
        )?)
        .context("python")?;
        report.row(vec![
            "Python email".to_owned(),
            format!("{python:.0}"),
            format!("{:.1} times", ours / python),
        ]);
        process::check(
            Command::new("npm")
                .args([
                    "install",
                    "--silent",
                    "--no-audit",
                    "--no-fund",
                    "postal-mime@2",
                    "mailparser@3",
                ])
                .current_dir(work.path()),
        )?;
        let script = work.path().join("parse.cjs");
        std::fs::write(&script, NODE)?;
        for peer in ["postal-mime", "mailparser"] {
            let value = number(&process::output(
                Command::new("node")
                    .arg(&script)
                    .arg(&folder)
                    .arg(peer)
                    .current_dir(work.path()),
            )?)
            .context(peer)?;
            report.row(vec![
                format!("{peer} (npm)"),
                format!("{value:.0}"),
                format!("{:.1} times", ours / value),
            ]);
        }
    }
    report.note(format!(
        "Input: {} mails.",
        if std::env::var_os("POSTROOM_CORPORA").is_some() {
            "real"
        } else {
            "made-up"
        }
    ));
    Ok(report)
}

/// The first number that a program printed.
fn number(text: &str) -> Option<f64> {
    text.split_whitespace().find_map(|word| word.parse().ok())
}
