//! `demo`: the made-up workspace, and a server over it.

mod sent;
mod webhooks;

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream};
use postroom_app::{
    Room,
    room::{ArchiveMail, Arrival, RecipientVerdict, Via},
};
use postroom_types::Address;
use serde_json::json;

use super::{
    Done,
    serve::{Secrets, Server},
};
use crate::{
    cli::{alias::used, terminal::Terminal, trouble::Trouble},
    config::Config,
    demo::{self, DemoMail, Mailbox},
};

/// Mails that are read at once while the world is loaded.
const LANES: usize = 16;
/// Mail of the last two days comes in as if it had just arrived; older mail as an archive.
const FRESH_MS: i64 = 2 * 24 * 60 * 60 * 1_000;
/// Mail of the last week is unread.
const UNREAD_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// How long the start waits for the index.
const INDEX_PATIENCE: Duration = Duration::from_secs(3);
const INDEX_LOOK: Duration = Duration::from_millis(20);

/// Runs the demo in a fresh folder, or in the one that was named.
pub(super) async fn run(mut config: Config, named: bool, terminal: Terminal) -> Done {
    let fresh = match named {
        true => None,
        false => Some(
            tempfile::Builder::new()
                .prefix("postroom-demo-")
                .tempdir()
                .map_err(|error| {
                    Trouble::io(
                        format!("No folder for the demo can be made: {error}."),
                        "Name one with --data.",
                    )
                })?,
        ),
    };
    if let Some(folder) = &fresh {
        config.data = folder.path().to_owned();
        // A demo never writes into a database that somebody configured.
        config.database_url = None;
    }
    // Nor does it ever send to anybody.
    config.transport = crate::config::transport::Transport::default();
    let server = Server::open(&config).await?;
    let mut secrets = server.owner_secrets().await?;
    if secrets.admin_key.is_some() {
        let (key, loaded) = load(&server).await?;
        secrets.key = key;
        if let Some(mailbox) = Mailbox::ALL.first() {
            let line = format!("key reads   the mail of {}", mailbox.address());
            secrets.hello.push(line);
            let line = "outbox      sent mail is kept here and leaves nowhere: `postroom outbox`";
            secrets.hello.push(line.to_owned());
        }
        secrets.hello.extend(loaded.hello());
        secrets.demo = Some(loaded.json());
    }
    let done = serve(server, &secrets, terminal).await;
    drop(fresh);
    done
}

async fn serve(server: Server, secrets: &Secrets, terminal: Terminal) -> Done {
    server.serve(secrets, terminal).await
}

/// Makes the mailboxes and fills them, connects the sources; gives an agent's key for the first
/// mailbox.
async fn load(server: &Server) -> Result<(Option<String>, webhooks::Loaded), Trouble> {
    let mut first = None;
    for mailbox in Mailbox::ALL {
        let arguments = json!({
            "address": mailbox.address(),
            "display_name": mailbox.display_name(),
            "purpose": mailbox.purpose(),
            "owner": {"name": Mailbox::Founder.display_name(), "email": Mailbox::Founder.address()},
        });
        let identity = server.call(used::CREATE_MAILBOX, arguments).await?;
        first.get_or_insert(identity);
    }
    let now = server.room.now();
    let mails = demo::world(now);
    let (fresh, old): (Vec<_>, Vec<_>) = mails
        .into_iter()
        .partition(|mail| now.ms() - mail.at.ms() < FRESH_MS);
    let taken: Vec<Result<(), Trouble>> = stream::iter(old)
        .map(|mail| archive(&server.room, mail))
        .buffered(LANES)
        .collect()
        .await;
    taken.into_iter().collect::<Result<Vec<()>, Trouble>>()?;
    for mail in fresh {
        receive(&server.room, mail).await?;
    }
    let loaded = webhooks::load(server, now).await?;
    wait_for_index(&server.room).await;
    sent::send(server).await?;
    let key = match &first {
        Some(identity) => server.agent_key(identity).await?,
        None => None,
    };
    Ok((key, loaded))
}

async fn archive(room: &Arc<Room>, mail: DemoMail) -> Result<(), Trouble> {
    let recipient = recipient(room, mail.mailbox).await?;
    let read = room.now().ms() - mail.at.ms() > UNREAD_MS;
    let mail = ArchiveMail {
        raw: mail.raw,
        recipient,
        read,
        file_time: Some(mail.at),
        by_agent: false,
    };
    room.take_in(mail)
        .await
        .map(drop)
        .map_err(|error| postroom_app::Failure::from(error).into())
}

async fn receive(room: &Arc<Room>, mail: DemoMail) -> Result<(), Trouble> {
    let arrival = Arrival {
        recipients: vec![recipient(room, mail.mailbox).await?],
        raw: mail.raw,
        via: Via::Smtp,
        source_ip: Some("192.0.2.25".to_owned()),
        mail_from: None,
        headers: std::collections::BTreeMap::new(),
    };
    room.receive(arrival)
        .await
        .map(drop)
        .map_err(|error| postroom_app::Failure::from(error).into())
}

async fn recipient(
    room: &Arc<Room>,
    mailbox: Mailbox,
) -> Result<postroom_core::Recipient, Trouble> {
    let missing = || {
        Trouble::io(
            "A mailbox of the demo is missing.",
            "Name a fresh folder with --data.",
        )
    };
    let address = Address::parse(&mailbox.address()).map_err(|_| missing())?;
    match room.recipient(&address).await {
        RecipientVerdict::Accept(recipient) => Ok(recipient),
        _ => Err(missing()),
    }
}

/// Waits until everything can be found, at most a few seconds.
async fn wait_for_index(room: &Room) {
    let complete = async {
        loop {
            match room.status().await {
                Ok(status)
                    if status.counts.pending_events == 0
                        && status.indexes.iter().all(|index| index.backlog == 0) =>
                {
                    return;
                }
                _ => tokio::time::sleep(INDEX_LOOK).await,
            }
        }
    };
    let _ = tokio::time::timeout(INDEX_PATIENCE, complete).await;
}
