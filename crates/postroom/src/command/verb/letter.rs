//! What a person leaves out of a mail that is sent from the command line: its key, its texts out of
//! files, and the files it carries.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use postroom_app::operation;
use postroom_types::limit;
use serde_json::{Map, Value, json};

use crate::{
    cli::{
        alias::used,
        terminal::Terminal,
        trouble::{PROBLEMS, Trouble},
    },
    client::Answer,
    connection::Connection,
};

use super::find;

/// Bytes of files that go inside of the call itself, together; larger ones are uploaded first.
const INLINE_BYTES: usize = limit::REQUEST_BODY_BYTES / 2;

/// A mail that a person sends once has a key that nobody used; its texts may stand in a file or come by
/// standard input.
pub(super) fn complete(given: &mut Map<String, Value>) -> Result<(), Trouble> {
    if !given.contains_key(operation::IDEMPOTENCY_KEY) {
        let noise = postroom_app::random::bytes::<16>()?;
        let key = format!("cli-{}", hex(&noise));
        given.insert(operation::IDEMPOTENCY_KEY.to_owned(), key.into());
    }
    for name in ["text", "html"] {
        let Some(told) = given.get(name).and_then(Value::as_str) else {
            continue;
        };
        let whole = match told.strip_prefix('@') {
            _ if told == "-" => std::io::read_to_string(std::io::stdin()),
            Some(file) => std::fs::read_to_string(file),
            None => continue,
        };
        let whole = whole.map_err(|error| {
            Trouble::io(
                format!("--{name} cannot be read: {error}."),
                "Name a text file as @FILE, or - for standard input.",
            )
        })?;
        given.insert(name.to_owned(), whole.into());
    }
    Ok(())
}

/// Says of a mail that was taken what its sender would not expect. A script must tell a mail that goes to
/// nobody from one that is on its way.
pub(super) fn told(terminal: Terminal, mail: &Value, is_server: bool) -> ExitCode {
    match mail.get("status").and_then(Value::as_str) {
        Some("suppressed") => {
            terminal.note(
                "Nobody gets this mail: rules keep it from every recipient, as is said at each.",
            );
            ExitCode::from(PROBLEMS)
        }
        Some("queued") if !is_server => {
            terminal.note(
                "It waits in the outbox, and leaves once `postroom serve` runs on this folder.",
            );
            ExitCode::SUCCESS
        }
        _ => ExitCode::SUCCESS,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file that a mail is to carry.
#[derive(Debug)]
pub(super) struct Enclosure {
    filename: String,
    content_type: String,
    bytes: Bytes,
}

/// Reads the files of `--attach`; their types are what their names say.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<Enclosure>, Trouble> {
    if paths.len() > limit::SEND_ATTACHMENTS {
        return Err(Trouble::usage(
            format!("A mail carries at most {} files.", limit::SEND_ATTACHMENTS),
            "Put them into one archive, or send several mails.",
        ));
    }
    paths.iter().map(|path| read_one(path)).collect()
}

fn read_one(path: &Path) -> Result<Enclosure, Trouble> {
    let unusable = |why: String| {
        Trouble::io(
            format!("{} cannot be attached: {why}.", path.display()),
            "Name a file that can be read, of at most 20 MiB.",
        )
    };
    let size = std::fs::metadata(path).map_err(|error| unusable(error.to_string()))?;
    if !size.is_file() {
        return Err(unusable("it is no file".to_owned()));
    }
    if size.len() > limit::UPLOAD_BYTES {
        return Err(unusable(format!("it has {} bytes", size.len())));
    }
    let bytes = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
    if bytes.is_empty() {
        return Err(unusable("it is empty".to_owned()));
    }
    let name = path.file_name().unwrap_or_default();
    let kind = mime_guess::from_path(path).first_or_octet_stream();
    Ok(Enclosure {
        filename: name.to_string_lossy().into_owned(),
        content_type: kind.essence_str().to_owned(),
        bytes: bytes.into(),
    })
}

/// Puts the files behind the attachments that the mail has already: as bytes while they are small
/// together, as uploads of the mailbox `given` names otherwise.
pub(super) async fn enclose(
    connection: &Connection,
    files: &[Enclosure],
    given: &mut Map<String, Value>,
) -> Result<(), Trouble> {
    if files.is_empty() {
        return Ok(());
    }
    let inline = files.iter().map(|file| file.bytes.len()).sum::<usize>() <= INLINE_BYTES;
    let mut attachments = match given.remove("attachments") {
        Some(Value::Array(known)) => known,
        _ => Vec::new(),
    };
    for file in files {
        let content = match inline {
            true => STANDARD.encode(&file.bytes),
            false => upload(connection, file, given).await?,
        };
        attachments.push(json!({
            "filename": file.filename,
            "content_type": file.content_type,
            "content_base64": content,
        }));
    }
    given.insert("attachments".to_owned(), attachments.into());
    Ok(())
}

/// Uploads one file; its id stands for its bytes.
async fn upload(
    connection: &Connection,
    file: &Enclosure,
    given: &Map<String, Value>,
) -> Result<String, Trouble> {
    let mut arguments = Map::new();
    arguments.insert("filename".to_owned(), file.filename.as_str().into());
    arguments.insert("content_type".to_owned(), file.content_type.as_str().into());
    if let Some(identity) = given.get("identity") {
        arguments.insert("identity".to_owned(), identity.clone());
    }
    let row = find(used::UPLOAD)?;
    let answer = connection
        .call(row, arguments, Some(file.bytes.clone()))
        .await?;
    let id = match &answer {
        Answer::Json(value) => value.get("id").and_then(Value::as_str),
        Answer::Bytes(_) => None,
    };
    id.map(str::to_owned)
        .ok_or_else(|| Trouble::io("The server gave no id for an upload.", "Report this."))
}
