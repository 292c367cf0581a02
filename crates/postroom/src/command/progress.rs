//! A bar on standard error for long work; nothing where nobody watches.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::terminal::Terminal;

/// A bar over `bytes`; hidden with `--json` and where standard error is no terminal.
pub(super) fn over_bytes(terminal: Terminal, bytes: u64) -> ProgressBar {
    bar(
        terminal,
        bytes,
        "{bar:32} {percent:>3}%  {bytes}/{total_bytes}  {msg}  {eta} left",
    )
}

/// A bar over a number of steps.
pub(super) fn over_steps(terminal: Terminal, steps: u64) -> ProgressBar {
    bar(
        terminal,
        steps,
        "{bar:32} {percent:>3}%  {pos}/{len}  {per_sec}  {eta} left",
    )
}

fn bar(terminal: Terminal, length: u64, template: &str) -> ProgressBar {
    // indicatif draws on a terminal only.
    let target = if terminal.json {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(8)
    };
    let bar = ProgressBar::with_draw_target(Some(length), target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
