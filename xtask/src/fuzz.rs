//! `cargo xtask fuzz`: runs the fuzz targets of `fuzz/`, each for a time, and fails on a crash.

use anyhow::Result;

use crate::process;

/// Every target of `fuzz/Cargo.toml`.
const TARGETS: &[&str] = &[
    "address",
    "compose",
    "dsn",
    "egress_url",
    "html",
    "mail",
    "mcp",
    "query",
    "quotes",
    "rule",
    "smtp",
    "smtp_client",
    "webhook_verify",
];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Minutes for each target.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Only this target.
    #[arg(long)]
    target: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if !process::exists("cargo-fuzz") {
        process::run("cargo", &["install", "--locked", "cargo-fuzz"])?;
    }
    let seconds = format!("-max_total_time={}", (options.minutes * 60.0) as u64);
    for target in TARGETS.iter().filter(|target| {
        options
            .target
            .as_deref()
            .is_none_or(|only| only == **target)
    }) {
        eprintln!("== fuzz {target} for {} minutes", options.minutes);
        // The sanitizers of libFuzzer need unstable flags; this lets a stable compiler take them.
        let mut run = process::command(
            "cargo",
            &[
                "fuzz",
                "run",
                target,
                "--",
                &seconds,
                "-max_len=65536",
                "-rss_limit_mb=4096",
                "-timeout=10",
                "-print_final_stats=1",
            ],
        );
        process::check(run.env("RUSTC_BOOTSTRAP", "1"))?;
    }
    Ok(())
}
