//! Accepting connections.

use std::{
    io::Write as _,
    net::{Shutdown, SocketAddr},
    sync::Arc,
    time::Duration,
};

use postroom_mail::smtp::is_hostname;
use tokio::{
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{debug, warn};

use super::{
    MailSink, SmtpOptions,
    bounds::{Connections, Room},
    session::{Session, Shared},
};
use crate::NetError;

/// How long to wait after a failed accept: without descriptors the next one fails at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves a bound socket until `shutdown` is cancelled, then lets every connection finish its
/// command (421) and returns when all have ended.
///
/// # Errors
/// [`NetError::Hostname`] when the options name no host.
pub async fn serve<S: MailSink>(
    listener: TcpListener,
    options: SmtpOptions,
    sink: Arc<S>,
    shutdown: CancellationToken,
) -> Result<(), NetError> {
    if !is_hostname(&options.hostname) {
        return Err(NetError::Hostname);
    }
    let connections = Connections::new(&options.limits);
    let shared = Arc::new(Shared {
        room: Room::new(options.limits.held_bytes),
        options,
        sink,
        shutdown: shutdown.clone(),
        overtime: CancellationToken::new(),
    });
    let tasks = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, client)) => match connections.admit(client.ip()) {
                Some(connection) => {
                    let session = Session::new(Arc::clone(&shared), client);
                    tasks.spawn(async move {
                        Box::pin(session.run(stream)).await;
                        drop(connection);
                    });
                }
                None => turn_away(stream, client, &shared.options.hostname),
            },
            Err(error) => {
                warn!(%error, "cannot accept an SMTP connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    tasks.close();
    if timeout(shared.options.limits.shutdown_time, tasks.wait())
        .await
        .is_err()
    {
        shared.overtime.cancel();
        tasks.wait().await;
    }
    Ok(())
}

/// Says 421 without a task: one line always fits into the empty buffer of a new socket, and
/// whoever floods us is not waited for.
fn turn_away(stream: TcpStream, client: SocketAddr, hostname: &str) {
    debug!(client = %client.ip(), "too many SMTP connections");
    if let Ok(mut stream) = stream.into_std() {
        let line = format!("421 4.7.0 {hostname} Too many connections; try again later\r\n");
        let _ = stream.write(line.as_bytes());
        let _ = stream.shutdown(Shutdown::Write);
    }
}
