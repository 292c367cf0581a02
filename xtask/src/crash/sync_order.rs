//! Watches the server's system calls: between the arrival of a mail's last bytes and the 250 that
//! answers it, a sync of the database must have begun and ended.

use std::{collections::HashMap, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};

use super::{database::Database, server::Server, smtp};
use crate::test;

/// What one line of strace says, as far as we care.
#[derive(Debug, PartialEq)]
enum Call {
    /// The end of a mail's data was read from a connection.
    Data(u32),
    /// A read began in a thread on a connection, and its data is shown later.
    ReadBegan(u32, u32),
    /// The end of a mail's data was read by the read that began in this thread.
    DataResumed(u32),
    /// An acknowledgement was about to be written to a connection.
    Acknowledgement(u32),
    /// A sync began in a thread.
    SyncBegan(u32),
    /// A sync ended well in a thread.
    SyncEnded(u32),
    /// Something else.
    Other,
}

/// Sends `count` mails on eight connections under strace and checks the order.
pub(crate) fn run(count: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let trace = folder.path().join("trace");
    let mut strace = Command::new("strace");
    strace
        .args([
            "-f",
            "-qq",
            "-s",
            "4096",
            "-e",
            "trace=read,recvfrom,recvmsg,write,writev,sendto,sendmsg,fsync,fdatasync",
            "-o",
        ])
        .arg(&trace);
    strace.arg(test::binary("postroom").get_program());
    let database = Database::new(folder.path(), None)?;
    let server = Server::start_with(strace, folder.path(), |command| database.configure(command))?;
    server.make_identity()?;
    let senders: Vec<_> = (0..8)
        .map(|sender| {
            let address = server.smtp.clone();
            let share = count / 8 + usize::from(sender < count % 8);
            std::thread::spawn(move || -> Result<()> {
                let mut client = smtp::Client::connect(&address)?;
                (0..share).try_for_each(|number| {
                    client.send(&smtp::mail(&format!("order-{sender}-{number}")))
                })
            })
        })
        .collect();
    for sender in senders {
        sender
            .join()
            .map_err(|_| anyhow::anyhow!("a sender panicked"))??;
    }
    // strace passes SIGTERM on to nobody; the server is its child and is ended by name of its parent.
    let _ = Command::new("pkill")
        .args(["-TERM", "-P", &server.pid().to_string()])
        .status();
    std::thread::sleep(Duration::from_millis(500));
    drop(server);
    let text = std::fs::read_to_string(&trace).context("no trace")?;
    let (acknowledged, early) = check(&text);
    println!("sync order: {acknowledged} acknowledgements, {early} before their sync");
    ensure!(
        acknowledged >= count,
        "only {acknowledged} of {count} acknowledgements were seen"
    );
    ensure!(early == 0, "acknowledgements were written before a sync");
    Ok(())
}

/// How many acknowledgements a trace holds, and how many of them had no whole sync since their data.
fn check(trace: &str) -> (usize, usize) {
    let mut clock = 0u64;
    let mut data_at: HashMap<u32, u64> = HashMap::new();
    let mut sync_began: HashMap<u32, u64> = HashMap::new();
    // The socket of a read that another thread's call interrupted in the trace.
    let mut reading: HashMap<u32, u32> = HashMap::new();
    // When the newest sync that has ended had begun.
    let mut synced_from = 0u64;
    let (mut acknowledged, mut early) = (0, 0);
    for line in trace.lines() {
        clock += 1;
        match call(line) {
            Call::Data(socket) => {
                data_at.insert(socket, clock);
            }
            Call::ReadBegan(thread, socket) => {
                reading.insert(thread, socket);
            }
            Call::DataResumed(thread) => {
                if let Some(socket) = reading.remove(&thread) {
                    data_at.insert(socket, clock);
                }
            }
            Call::SyncBegan(thread) => {
                sync_began.insert(thread, clock);
            }
            Call::SyncEnded(thread) => {
                synced_from = synced_from.max(sync_began.remove(&thread).unwrap_or(clock))
            }
            Call::Acknowledgement(socket) => {
                if let Some(at) = data_at.remove(&socket) {
                    acknowledged += 1;
                    early += usize::from(synced_from < at);
                }
            }
            Call::Other => {}
        }
    }
    (acknowledged, early)
}

fn call(line: &str) -> Call {
    let Some((thread, rest)) = line.split_once(' ') else {
        return Call::Other;
    };
    let thread = thread.parse().unwrap_or(0);
    let rest = rest.trim_start();
    let socket = || {
        rest.split_once('(')
            .and_then(|(_, arguments)| arguments.split([',', ')']).next()?.trim().parse().ok())
            .unwrap_or(0)
    };
    let is = |names: &[&str]| {
        names
            .iter()
            .any(|name| rest.starts_with(&format!("{name}(")))
    };
    if is(&["fsync", "fdatasync"]) {
        return if rest.contains("= 0") {
            Call::SyncEnded(thread)
        } else {
            Call::SyncBegan(thread)
        };
    }
    if rest.contains("sync resumed>") && rest.contains("= 0") {
        return Call::SyncEnded(thread);
    }
    const END_OF_DATA: &str = "\\r\\n.\\r\\n\"";
    if is(&["read", "recvfrom", "recvmsg"]) {
        return match (rest.contains("<unfinished"), rest.contains(END_OF_DATA)) {
            (true, _) => Call::ReadBegan(thread, socket()),
            (false, true) => Call::Data(socket()),
            (false, false) => Call::Other,
        };
    }
    if rest.starts_with("<... re") && rest.contains(END_OF_DATA) {
        return Call::DataResumed(thread);
    }
    if is(&["write", "writev", "sendto", "sendmsg"])
        && rest.contains("\"250 2.")
        && !rest.contains("2.1.")
    {
        return Call::Acknowledgement(socket());
    }
    Call::Other
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &str = "7 recvfrom(21, \"Text.\\r\\n.\\r\\n\", 8192, 0, NULL, NULL) = 12\n";
    const ACK: &str = "7 sendto(21, \"250 2.0.0 Stored\\r\\n\", 18, MSG_NOSIGNAL, NULL, 0) = 18\n";

    #[test]
    fn a_sync_in_between_is_seen() {
        assert_eq!(check(&format!("{DATA}9 fdatasync(12) = 0\n{ACK}")), (1, 0));
        assert_eq!(
            check(&format!(
                "{DATA}9 fdatasync(12 <unfinished ...>\n9 <... fdatasync resumed>) = 0\n{ACK}"
            )),
            (1, 0)
        );
    }

    #[test]
    fn a_read_that_the_trace_interrupts_keeps_its_connection() {
        let data = "7 recvfrom(21,  <unfinished ...>\n8 recvfrom(22,  <unfinished ...>\n7 <... recvfrom resumed>\"Text.\\r\\n.\\r\\n\", 8192, 0, NULL, NULL) = 12\n";
        assert_eq!(check(&format!("{data}9 fdatasync(12) = 0\n{ACK}")), (1, 0));
        assert_eq!(check(&format!("9 fdatasync(12) = 0\n{data}{ACK}")), (1, 1));
    }

    #[test]
    fn a_planted_early_acknowledgement_is_found() {
        assert_eq!(check(&format!("{DATA}{ACK}9 fdatasync(12) = 0\n")), (1, 1));
        // A sync that began before the data does not cover it.
        assert_eq!(
            check(&format!(
                "9 fdatasync(12 <unfinished ...>\n{DATA}9 <... fdatasync resumed>) = 0\n{ACK}"
            )),
            (1, 1)
        );
        assert_eq!(
            check(&format!(
                "9 fdatasync(12) = 0\n{DATA}9 fdatasync(12) = -1 EIO\n{ACK}"
            )),
            (1, 1)
        );
    }
}
