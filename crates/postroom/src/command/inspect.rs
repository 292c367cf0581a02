//! `inspect`: what Postroom makes of one mail file, offline.

use std::{io::Read as _, process::ExitCode};

use postroom_app::clock::{Clock as _, SystemClock};
use postroom_types::limit::RAW_MAIL_BYTES;
use serde_json::Value;

use super::Done;
use crate::cli::{
    Inspect,
    alias::View,
    render,
    terminal::{Terminal, plain},
    trouble::Trouble,
};

pub(super) fn run(options: &Inspect, terminal: Terminal) -> Done {
    let raw = read(options)?;
    let read = postroom_mail::inspect(&raw, SystemClock.now());
    let value = serde_json::to_value(&read).map_err(|error| {
        Trouble::io(
            format!("The result has no JSON form: {error}."),
            "Report this.",
        )
    })?;
    if terminal.json {
        terminal.value(&value);
        return Ok(ExitCode::SUCCESS);
    }
    render::show(terminal, View::Message, &value);
    terminal.line("");
    for (title, field) in [
        ("Defects", "defects"),
        ("Flags", "flags"),
        ("Thread keys", "thread_keys"),
    ] {
        let items = value
            .get(field)
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let shown: Vec<String> = items.iter().map(|item| plain(&in_words(item))).collect();
        if !shown.is_empty() {
            terminal.line(&format!(
                "{} {}",
                terminal.dim(&format!("{title:<12}")),
                shown.join(", ")
            ));
        }
    }
    let sha = value
        .get("raw_sha256")
        .and_then(Value::as_str)
        .unwrap_or_default();
    terminal.line(&format!(
        "{} {sha}",
        terminal.dim(&format!("{:<12}", "SHA-256"))
    ));
    Ok(ExitCode::SUCCESS)
}

/// A word, or a defect: its code and what is known of it.
fn in_words(item: &Value) -> String {
    let field = |name| item.get(name).and_then(Value::as_str);
    match (item.as_str(), field("code"), field("detail")) {
        (Some(word), ..) => word.to_owned(),
        (None, Some(code), Some(detail)) => format!("{code} ({detail})"),
        (None, Some(code), None) => code.to_owned(),
        (None, None, _) => item.to_string(),
    }
}

fn read(options: &Inspect) -> Result<Vec<u8>, Trouble> {
    let mut raw = Vec::new();
    let most = RAW_MAIL_BYTES as u64 + 1;
    let done = if options.file.as_os_str() == "-" {
        std::io::stdin().lock().take(most).read_to_end(&mut raw)
    } else {
        std::fs::File::open(&options.file).and_then(|file| file.take(most).read_to_end(&mut raw))
    };
    done.map_err(|error| {
        Trouble::io(
            format!("{} cannot be read: {error}.", options.file.display()),
            "Name a file of one mail.",
        )
    })?;
    if raw.len() > RAW_MAIL_BYTES {
        return Err(Trouble::io(
            format!("The file is larger than {RAW_MAIL_BYTES} bytes."),
            "Give one mail, not an archive; `postroom import` takes archives.",
        ));
    }
    Ok(raw)
}
