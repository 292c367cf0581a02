//! Takes mail, writes down what it took, and misbehaves when asked to.

use std::{io::Write as _, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use clap::Parser;
use postroom_testkit::smtp_sink::{Ledger, Manner, Sink, Stops, self_made, serve};
use tokio::net::TcpListener;

/// A mail server for tests: every Message-ID and recipient that it took stands in its log.
#[derive(Debug, Parser)]
#[command(name = "postroom-smtp-sink")]
struct Arguments {
    /// Address of the listener; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The log: one line `MESSAGE-ID RECIPIENT` for each recipient of a message that was taken.
    #[arg(long)]
    log: PathBuf,
    /// Do not sync the log before each answer.
    #[arg(long)]
    no_sync: bool,
    /// A folder that every message is written to.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// How mail is treated whose recipients name no manner: well, refuse, defer, greylist, code-NNN,
    /// bye, cut-data, cut-body, cut-answer, half-answer, no-answer, early, delay, soft-fail, hard-fail
    /// or slow.
    #[arg(long, default_value = "well")]
    manner: Manner,
    /// Use the manner at every message of this number only.
    #[arg(long, default_value_t = 1)]
    every: u64,
    /// How long to wait where the manner is to wait, milliseconds.
    #[arg(long, default_value_t = 1_000)]
    delay_ms: u64,
    /// Offer STARTTLS with a certificate for localhost that is made now and written here.
    #[arg(long, value_name = "FILE")]
    starttls: Option<PathBuf>,
    /// Speak TLS from the first byte, with a certificate as for --starttls.
    #[arg(long, value_name = "FILE", conflicts_with = "starttls")]
    tls: Option<PathBuf>,
    /// User name and password that are asked for after TLS, as USER:PASSWORD.
    #[arg(long)]
    auth: Option<String>,
    /// At every message of this number, stop at one of its steps in turn (sender, recipient, data, body,
    /// taken, answered), print the step's name, and go on after --hold-ms.
    #[arg(long)]
    stop_every: Option<u64>,
    /// How long a stop lasts, milliseconds.
    #[arg(long, default_value_t = 500)]
    hold_ms: u64,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut sink = Sink::new(Ledger::open(
        &arguments.log,
        !arguments.no_sync,
        arguments.keep,
    )?);
    sink.manner = arguments.manner;
    sink.every = arguments.every;
    sink.delay = Duration::from_millis(arguments.delay_ms);
    sink.tls_first = arguments.tls.is_some();
    if let Some(file) = arguments.tls.or(arguments.starttls) {
        sink.tls = Some(self_made(&file)?);
    }
    if let Some(auth) = &arguments.auth {
        let (username, password) = auth.split_once(':').unwrap_or((auth, ""));
        sink.credentials = Some((username.to_owned(), password.to_owned()));
    }
    let mut stopped = None;
    if let Some(every) = arguments.stop_every {
        let (stops, stages) = Stops::new(every, Duration::from_millis(arguments.hold_ms));
        sink.stops = Some(stops);
        stopped = Some(stages);
    }
    let listener = TcpListener::bind(arguments.listen).await?;
    let ready = serde_json::json!({ "smtp": listener.local_addr()?.to_string() });
    let mut out = std::io::stdout();
    writeln!(out, "{ready}")?;
    out.flush()?;
    if let Some(mut stages) = stopped {
        tokio::spawn(async move {
            while let Some(stage) = stages.recv().await {
                // Nobody listens any more: the mail goes on all the same.
                let _ = writeln!(out, "{}", stage.as_str());
                let _ = out.flush();
            }
        });
    }
    tokio::select! {
        served = serve(listener, Arc::new(sink)) => served?,
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(())
}
