//! Forwarding a mail: its words under a block that says whose they are, and its files.

use super::{Content, File, History, content, encode};
use crate::{
    Attachment, Disposition, Parsed,
    mail::{self, Mail},
    message_id, transfer,
};

/// Above the older mail; programs that split quotes know the line.
const MARK: &str = "---------- Forwarded message ---------";

/// The subject of a forward: exactly one `Fwd: `.
pub fn forward_subject(subject: Option<&str>) -> String {
    super::prefixed("Fwd: ", subject)
}

/// The content of a forward of the mail `raw`: the note, the older mail below, and its files
/// unless `include_attachments` is false. `is_risky` tells the files that are never passed on, by
/// what [`crate::parse`] says of them.
///
/// Names, types and ids of the files are the outsider's; what could not be sent as it stands is
/// replaced, so that a hostile mail can still be forwarded.
pub fn forward(
    raw: &[u8],
    note: Option<&str>,
    include_attachments: bool,
    is_risky: impl Fn(&Attachment) -> bool,
) -> Content {
    let parsed = crate::parse(raw);
    let html = crate::html(raw).filter(|html| !html.trim().is_empty());
    let attachments = match include_attachments {
        true => files(raw, html.as_deref().unwrap_or_default(), is_risky),
        false => Vec::new(),
    };
    let block = block(&parsed);
    let lines: Vec<String> = block
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let words = parsed.text.as_deref().unwrap_or_default();
    Content {
        subject: forward_subject(parsed.subject.as_deref()),
        text: note.map(str::to_owned),
        html: None,
        attachments,
        history: Some(History {
            text: format!("{MARK}\n{}\n\n{words}", lines.join("\n")),
            html: html.map(|html| history_html(&block, &html)),
        }),
    }
}

/// Who wrote the older mail, when, about what and to whom.
fn block(parsed: &Parsed) -> Vec<(&'static str, String)> {
    let people = |list: &[postroom_types::Mailbox]| -> String {
        let shown: Vec<String> = list
            .iter()
            .map(|mailbox| match mailbox.name.as_str() {
                "" => mailbox.address.clone(),
                name => format!("{name} <{}>", mailbox.address),
            })
            .collect();
        encode::one_line(&shown.join(", ")).into_owned()
    };
    let date = parsed.date.map(super::write::date).unwrap_or_default();
    let subject = encode::one_line(parsed.subject.as_deref().unwrap_or_default()).into_owned();
    let lines = [
        ("From", people(parsed.from.as_slice())),
        ("Date", date),
        ("Subject", subject),
        ("To", people(&parsed.to)),
        ("Cc", people(&parsed.cc)),
    ];
    lines
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

fn history_html(block: &[(&'static str, String)], html: &str) -> String {
    let lines: Vec<String> = block
        .iter()
        .map(|(name, value)| format!("<b>{name}:</b> {}", encode::html(value)))
        .collect();
    format!(
        "<div>{MARK}<br>\n{}</div>\n<blockquote>\n{html}\n</blockquote>\n",
        lines.join("<br>\n")
    )
}

/// Whether a file of this name runs when it is opened: a program, a script or a shortcut, on any of
/// the systems people read mail on.
pub fn is_program_name(filename: &str) -> bool {
    const RUNS: &[&str] = &[
        "apk",
        "app",
        "appinstaller",
        "appx",
        "bat",
        "chm",
        "cmd",
        "com",
        "command",
        "cpl",
        "deb",
        "dll",
        "dmg",
        "exe",
        "gadget",
        "hta",
        "inf",
        "iso",
        "img",
        "jar",
        "jnlp",
        "js",
        "jse",
        "lnk",
        "msc",
        "msi",
        "msix",
        "msp",
        "pif",
        "pkg",
        "ps1",
        "psm1",
        "reg",
        "rpm",
        "scf",
        "scr",
        "settingcontent-ms",
        "sh",
        "sys",
        "vb",
        "vbe",
        "vbs",
        "vhd",
        "vhdx",
        "wsc",
        "wsf",
        "wsh",
        "xll",
    ];
    // Windows opens `a.exe.` and `a.exe ` as `a.exe`.
    let name = filename.trim_end_matches(|c: char| c == '.' || c.is_whitespace());
    name.rsplit_once('.')
        .is_some_and(|(_, end)| RUNS.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// The files of the older mail; `html` decides which of them are shown within it.
fn files(raw: &[u8], html: &str, is_risky: impl Fn(&Attachment) -> bool) -> Vec<File> {
    let bytes = mail::prepare(raw, &mut Vec::new());
    let mail = Mail::read(&bytes, &mut Vec::new());
    let mut shown: Vec<String> = Vec::new();
    let mut files = Vec::new();
    for index in 0..mail.attachments.len() {
        let part = mail.part(mail.attachments.get(index).copied());
        let (Some(part), Some(facts)) = (part, mail.attachment(index, &mut Vec::new())) else {
            continue;
        };
        if is_risky(&facts) {
            continue;
        }
        let id = part
            .block
            .first("content-id")
            .and_then(|value| message_id::read_to_the_letter(&String::from_utf8_lossy(value)))
            .filter(|id| content::check_content_id(id).is_ok())
            .filter(|id| html.contains(&format!("cid:{id}")) && !shown.contains(id));
        shown.extend(id.clone());
        let disposition = match id {
            Some(_) => Disposition::Inline,
            None => Disposition::Attachment,
        };
        files.push(File {
            filename: filename(&facts),
            content_type: content_type(&facts, part.media.params()),
            bytes: transfer::unwrap(&part.body, part.encoding)
                .bytes
                .into_owned(),
            disposition,
            content_id: id,
        });
    }
    files
}

/// The name it has, when it can be sent, else one by its type.
fn filename(facts: &Attachment) -> String {
    let given = encode::one_line(facts.filename.as_deref().unwrap_or_default()).into_owned();
    let given = crate::cut::chars(&given, content::FILENAME_CHARS);
    if content::check_filename(given).is_ok() {
        return given.to_owned();
    }
    let extension = match facts.content_type.as_str() {
        "text/plain" => "txt",
        "text/html" => "html",
        "text/csv" => "csv",
        "text/calendar" | "application/ics" => "ics",
        "application/pdf" => "pdf",
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "message/rfc822" | "message/global" => "eml",
        _ => "bin",
    };
    format!("attachment-{}.{extension}", facts.index + 1)
}

/// The type it has with what a reader of its text needs, else bytes.
fn content_type<'a>(
    facts: &Attachment,
    params: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    let mut full = facts.content_type.clone();
    for (name, value) in params {
        if matches!(name, "charset" | "method") && content::is_token(value) {
            full.push_str(&format!("; {name}={value}"));
        }
    }
    let fits = [full.as_str(), facts.content_type.as_str()]
        .into_iter()
        .find(|media| content::check_content_type(media).is_ok());
    fits.unwrap_or("application/octet-stream").to_owned()
}
