//! `import`: an archive into a mailbox, with totals that add up.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use indicatif::ProgressBar;
use postroom_app::{
    Room, operation,
    room::import::{
        self, FailureReason, ImportCounts, ImportOptions, ItemFailure, RawItem, measure, walk,
    },
};
use postroom_types::{Address, ErrorCode, IdentityId};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{Done, progress};
use crate::{
    cli::{
        Global, Import,
        alias::used,
        terminal::{Terminal, plain},
        trouble::{PROBLEMS, Trouble},
    },
    client::{Answer, Client},
    config::Config,
    connection::{Connection, holds_data},
};

/// Mails that are on their way to a server at once.
const POSTS: usize = 16;
/// Failures that a person is shown.
const FAILURES_SHOWN: usize = 20;

/// What an import came to.
struct Report {
    counts: ImportCounts,
    skipped: u64,
    failures: Vec<ItemFailure>,
    /// Why it ended before the end.
    stopped: Option<Trouble>,
}

pub(super) async fn run(
    config: &Config,
    global: &Global,
    options: Import,
    terminal: Terminal,
) -> Done {
    for path in &options.paths {
        if let Err(error) = std::fs::metadata(path) {
            return Err(Trouble::io(
                format!("{} cannot be read: {error}.", path.display()),
                "Name files or folders that exist.",
            ));
        }
    }
    let identity = options
        .identity
        .or_else(|| global.identity.clone())
        .or_else(|| config.identity.clone());
    // A new folder has no mailbox, so its name is looked at before the folder is made.
    if config.url.is_none() && !holds_data(config) {
        let named = identity.as_deref().ok_or_else(unnamed)?;
        if named.starts_with("idn_") {
            return Err(no_mailbox(id_of(named)?));
        }
        address(named)?;
    }
    let connection = Connection::open(config, true).await?;
    let bar = progress::over_bytes(terminal, measure(&options.paths).bytes);
    let report = match &connection {
        Connection::Folder(room) => {
            into_folder(room, options.paths, identity.as_deref(), &bar).await
        }
        Connection::Server(client, tenant) => {
            let tenant = tenant.map(|tenant| tenant.to_string());
            into_server(
                &connection,
                client,
                tenant,
                options.paths,
                identity.as_deref(),
                &bar,
            )
            .await
        }
    };
    bar.finish_and_clear();
    connection.close().await;
    report.map(|report| say(&report, terminal))?
}

/// Without a name the archive goes to the only mailbox there is.
async fn only_mailbox(connection: &Connection) -> Result<String, Trouble> {
    let listed = connection
        .call_json(used::LIST_MAILBOXES, Map::new())
        .await?;
    match listed
        .get("data")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        Some([only]) => Ok(only
            .get("id")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()),
        _ => Err(unnamed()),
    }
}

fn unnamed() -> Trouble {
    Trouble::usage(
        "It is not said which mailbox takes the mail.",
        "Name it with --identity ADDRESS; it is made when there is none.",
    )
}

/// What to give in place of an id that is none, or of no mailbox.
const NAME_ONE: &str = "Give an id that `postroom identity list` shows, or an address; a mailbox is made for an address that none has.";

fn id_of(named: &str) -> Result<IdentityId, Trouble> {
    let told = || format!("`{}` is no id of a mailbox.", plain(named));
    named.parse().map_err(|_| Trouble::usage(told(), NAME_ONE))
}

fn no_mailbox(id: IdentityId) -> Trouble {
    let code = ErrorCode::IdentityNotFound.as_str();
    let mut missing = Trouble::new(
        code,
        format!("There is no mailbox {id}."),
        NAME_ONE,
        PROBLEMS,
    );
    missing.details = json!({"identity": id});
    missing
}

/// The mailbox that an id names; `None` for what is no id.
async fn mailbox_of_id(
    connection: &Connection,
    named: &str,
) -> Result<Option<IdentityId>, Trouble> {
    if !named.starts_with("idn_") {
        return Ok(None);
    }
    let id = id_of(named)?;
    let mut arguments = Map::new();
    arguments.insert("identity".to_owned(), named.into());
    match connection.call_json(used::SHOW_MAILBOX, arguments).await {
        // A key that may put mail in and see nothing learns of a wrong id with the first mail.
        Err(trouble) if &*trouble.code == "identity_not_found" => {
            let mut missing = no_mailbox(id);
            missing.request_id = trouble.request_id;
            Err(missing)
        }
        _ => Ok(Some(id)),
    }
}

async fn into_folder(
    room: &Arc<Room>,
    paths: Vec<PathBuf>,
    identity: Option<&str>,
    bar: &ProgressBar,
) -> Result<Report, Trouble> {
    let tenant = room.default_tenant();
    let connection = Connection::Folder(Arc::clone(room));
    let identity = match identity {
        Some(named) => match mailbox_of_id(&connection, named).await? {
            Some(id) => id,
            None => room
                .mailbox(tenant, &address(named)?)
                .await
                .map_err(postroom_app::Failure::from)?,
        },
        None => only_mailbox(&connection)
            .await?
            .parse()
            .map_err(|_| Trouble::io("The mailbox has no id.", "Report this."))?,
    };
    let cancel = CancellationToken::new();
    let interrupted = cancel.clone();
    let listening = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            interrupted.cancel();
        }
    });
    let options = ImportOptions {
        tenant,
        identity,
        cancel,
    };
    let report = import::run(room, paths, options, |step| {
        show(bar, step.done.bytes, &step.counts)
    })
    .await;
    listening.abort();
    let stopped = match (&report.stopped, report.cancelled) {
        (Some(error), _) => Some(Trouble::io(
            format!("The store could not go on: {error}."),
            "Repeat the import; it goes on from here.",
        )),
        (None, true) => Some(Trouble::io(
            "The import was interrupted.",
            "Repeat it; it goes on from here.",
        )),
        (None, false) => None,
    };
    Ok(Report {
        counts: report.counts,
        skipped: report.skipped,
        failures: report.failures,
        stopped,
    })
}

fn address(named: &str) -> Result<Address, Trouble> {
    Address::parse(named).map_err(|error| {
        Trouble::usage(
            format!("`{}` is {error}.", plain(named)),
            "Give an address such as mail@example.org.",
        )
    })
}

/// Posts the mails one by one, many at a time.
async fn into_server(
    connection: &Connection,
    client: &Client,
    tenant: Option<String>,
    paths: Vec<PathBuf>,
    identity: Option<&str>,
    bar: &ProgressBar,
) -> Result<Report, Trouble> {
    let identity = match identity {
        Some(named) => server_mailbox(connection, client, tenant, named).await?,
        None => only_mailbox(connection).await?,
    };
    let row = operation::find(used::PUT_IN_MAIL)
        .ok_or_else(|| Trouble::usage("There is no way to put mail in.", "Report this."))?;
    let (sender, receiver) = tokio::sync::mpsc::channel(POSTS);
    let reading = tokio::task::spawn_blocking(move || {
        let mut walk = walk(paths);
        while let Some(item) = walk.next() {
            if sender.blocking_send((item, walk.done().bytes)).is_err() {
                break;
            }
        }
        walk.skipped()
    });
    let items = stream::unfold(receiver, async |mut receiver| {
        receiver.recv().await.map(|item| (item, receiver))
    });
    let mut posted = std::pin::pin!(
        items
            .map(|(item, done)| post(client, row, &identity, item, done))
            .buffered(POSTS)
    );
    let mut report = Report {
        counts: ImportCounts::default(),
        skipped: 0,
        failures: Vec::new(),
        stopped: None,
    };
    while let Some((outcome, done)) = posted.next().await {
        match outcome {
            Posted::Stored => report.counts.stored += 1,
            Posted::Duplicate => report.counts.duplicate += 1,
            Posted::Failed(failure) => {
                report.counts.failed += 1;
                report.failures.push(failure);
            }
            Posted::Broken(trouble) => {
                report.stopped = Some(trouble);
                break;
            }
        }
        report.counts.read += 1;
        show(bar, done, &report.counts);
    }
    if report.stopped.is_none() {
        report.skipped = reading.await.unwrap_or(0);
    }
    Ok(report)
}

/// The mailbox of a server, made when there is none.
async fn server_mailbox(
    connection: &Connection,
    client: &Client,
    tenant: Option<String>,
    named: &str,
) -> Result<String, Trouble> {
    if let Some(id) = mailbox_of_id(connection, named).await? {
        return Ok(id.to_string());
    }
    address(named)?;
    let row = operation::find(used::LIST_MAILBOXES)
        .ok_or_else(|| Trouble::usage("There are no mailboxes.", "Report this."))?;
    let mut cursor: Option<Value> = None;
    loop {
        let mut arguments = Map::new();
        arguments.insert("limit".to_owned(), 100.into());
        if let Some(cursor) = cursor.take() {
            arguments.insert("cursor".to_owned(), cursor);
        }
        if let Some(tenant) = &tenant {
            arguments.insert("tenant_id".to_owned(), tenant.as_str().into());
        }
        let Answer::Json(page) = client.call(row, &arguments, None).await? else {
            break;
        };
        let found = page
            .get("data")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .find(|one| {
                let addresses = one
                    .get("addresses")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten();
                let mut addresses =
                    addresses.filter_map(|address| address.get("address").and_then(Value::as_str));
                addresses.any(|address| address.eq_ignore_ascii_case(named))
            });
        if let Some(id) = found.and_then(|one| one.get("id")).and_then(Value::as_str) {
            return Ok(id.to_owned());
        }
        cursor = page
            .get("next_cursor")
            .filter(|cursor| !cursor.is_null())
            .cloned();
        if cursor.is_none() {
            break;
        }
    }
    let mut arguments = Map::new();
    arguments.insert("address".to_owned(), named.into());
    let made = connection
        .call_json(used::CREATE_MAILBOX, arguments)
        .await?;
    Ok(made
        .get("id")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned())
}

enum Posted {
    Stored,
    Duplicate,
    Failed(ItemFailure),
    /// The server does not take mail any more.
    Broken(Trouble),
}

async fn post(
    client: &Client,
    row: &'static postroom_app::Operation,
    identity: &str,
    item: Result<RawItem, ItemFailure>,
    done: u64,
) -> (Posted, u64) {
    let item = match item {
        Ok(item) => item,
        Err(failure) => return (Posted::Failed(failure), done),
    };
    let mut arguments = Map::new();
    arguments.insert("identity".to_owned(), identity.into());
    arguments.insert("archive".to_owned(), true.into());
    arguments.insert("read".to_owned(), item.read.into());
    if let Some(time) = item.file_time {
        arguments.insert("file_time".to_owned(), time.to_string().into());
    }
    let length = item.raw.len() as u64;
    let outcome = match client
        .call(row, &arguments, Some(Bytes::from(item.raw)))
        .await
    {
        Ok(Answer::Json(answer)) if answer.get("duplicate") == Some(&Value::Bool(true)) => {
            Posted::Duplicate
        }
        Ok(_) => Posted::Stored,
        Err(trouble) if matches!(&*trouble.code, "invalid_request" | "message_too_large") => {
            Posted::Failed(ItemFailure {
                path: item.path,
                offset: item.offset,
                length: Some(length),
                reason: FailureReason::NotStored(trouble.message),
            })
        }
        Err(trouble) => Posted::Broken(trouble),
    };
    (outcome, done)
}

fn show(bar: &ProgressBar, bytes: u64, counts: &ImportCounts) {
    bar.set_position(bytes);
    let seconds = bar.elapsed().as_secs_f64().max(0.001);
    bar.set_message(format!(
        "{} mails, {:.0}/s",
        counts.read,
        counts.read as f64 / seconds
    ));
}

fn say(report: &Report, terminal: Terminal) -> Done {
    let counts = &report.counts;
    if terminal.json {
        for failure in &report.failures {
            terminal.value(&json!({
                "path": failure.path.display().to_string(),
                "offset": failure.offset,
                "bytes": failure.length,
                "reason": failure.reason.to_string(),
            }));
        }
    } else {
        for failure in report.failures.iter().take(FAILURES_SHOWN) {
            let place = failure
                .offset
                .map_or_else(String::new, |offset| format!(" at byte {offset}"));
            terminal.line(&plain(&format!(
                "failed: {}{place}: {}",
                failure.path.display(),
                failure.reason
            )));
        }
        let more = counts
            .failed
            .saturating_sub(FAILURES_SHOWN.min(report.failures.len()) as u64);
        if more > 0 {
            terminal.line(&format!("and {more} more failed."));
        }
        if report.skipped > 0 {
            terminal.line(&format!(
                "{} files that hold no mail were passed over.",
                report.skipped
            ));
        }
    }
    if let Some(trouble) = &report.stopped {
        trouble.say(Terminal {
            json: false,
            ..terminal
        });
    }
    if terminal.json {
        let counts = json!({"read": counts.read, "stored": counts.stored, "duplicate": counts.duplicate, "failed": counts.failed});
        terminal.value(&counts);
    } else {
        terminal.line(&format!(
            "read {}  stored {}  duplicate {}  failed {}",
            counts.read, counts.stored, counts.duplicate, counts.failed
        ));
    }
    Ok(match (&report.stopped, counts.failed) {
        (Some(trouble), _) => ExitCode::from(trouble.exit),
        (None, 0) => ExitCode::SUCCESS,
        (None, _) => ExitCode::from(PROBLEMS),
    })
}
