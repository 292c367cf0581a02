//! Log lines on standard error.

use tracing_subscriber::{EnvFilter, fmt};

use crate::{
    cli::trouble::Trouble,
    config::{Config, LogFormat},
};

/// Starts the log as the configuration says, else from `level` on.
///
/// # Errors
/// Usage trouble for a filter that cannot be read.
pub(crate) fn start(config: &Config, level: &str) -> Result<(), Trouble> {
    let level = config.log_level.as_deref().unwrap_or(level);
    let filter = EnvFilter::try_new(level).map_err(|_| {
        Trouble::usage(
            format!("`{level}` is no log level."),
            "Give error, warn, info, debug or trace.",
        )
    })?;
    let log = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second start finds the log running already.
    let _ = match config.log_format {
        LogFormat::Text => log.with_ansi(false).try_init(),
        LogFormat::Json => log.json().try_init(),
    };
    Ok(())
}
