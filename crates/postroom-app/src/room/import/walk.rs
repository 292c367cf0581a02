//! Files and folders as a stream of raw mails.
//!
//! Knows mbox files, Maildirs, folders of single mails (recursively) and single files, and reads
//! one mail at a time; it knows nothing of a store.

use std::{
    collections::{HashSet, VecDeque},
    fs::{self, File, FileType},
    io::{BufReader, Read},
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use postroom_store::LOCK_FILE;
use postroom_types::{Timestamp, limit::RAW_MAIL_BYTES};

use super::mbox::{Entry, Mbox, is_header_line};

/// One mail as it stands in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawItem {
    /// The file it was read from.
    pub path: PathBuf,
    /// Where it starts in the file, for a file of several mails.
    pub offset: Option<u64>,
    /// The bytes.
    pub raw: Vec<u8>,
    /// Whether the source says it was read (Maildir flag S, mbox status R).
    pub read: bool,
    /// When the file was last changed; `None` for mbox, whose time says nothing of one mail.
    pub file_time: Option<Timestamp>,
}

/// One mail or file that could not be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemFailure {
    /// The file.
    pub path: PathBuf,
    /// Where the mail starts in the file, for a file of several mails.
    pub offset: Option<u64>,
    /// How many bytes it takes, when that is known.
    pub length: Option<u64>,
    /// Why.
    pub reason: FailureReason,
}

/// Why a mail or file could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FailureReason {
    /// Larger than one mail may be; the bytes are kept aside by an import into a data folder.
    #[error("larger than {RAW_MAIL_BYTES} bytes")]
    Oversized,
    /// The system did not let us read it.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// A pipe, socket or device: reading it may never end.
    #[error("not a file but {0}")]
    Special(&'static str),
    /// Nothing in it.
    #[error("it is empty")]
    Empty,
    /// Called mbox, but no separator line starts it.
    #[error("not an mbox: it does not start with a \"From \" line")]
    NotMbox,
    /// The store did not take it.
    #[error("not stored: {0}")]
    NotStored(String),
}

/// How much there is to read, for a progress bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// Files.
    pub files: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// The mails under `paths`, in the order of the paths and of the names inside folders.
pub fn walk(paths: impl IntoIterator<Item = PathBuf>) -> Walk {
    Walk {
        ahead: paths
            .into_iter()
            .map(|path| Step {
                path,
                kind: Kind::Named,
            })
            .collect(),
        mbox: None,
        done: Extent::default(),
        skipped: 0,
        loops: HashSet::new(),
    }
}

/// Counts the files and bytes that [`walk`] will look at, without reading them.
pub fn measure(paths: &[PathBuf]) -> Extent {
    let mut extent = Extent::default();
    let mut ahead: Vec<Step> = paths
        .iter()
        .map(|path| Step {
            path: path.clone(),
            kind: Kind::Named,
        })
        .collect();
    while let Some(step) = ahead.pop() {
        let Ok(meta) = fs::metadata(&step.path) else {
            continue;
        };
        if meta.is_dir() {
            ahead.extend(list(&step.path).unwrap_or_default());
        } else if meta.is_file() {
            extent.files += 1;
            extent.bytes += meta.len();
        }
    }
    extent
}

/// An iterator over the mails of files and folders.
pub struct Walk {
    ahead: VecDeque<Step>,
    mbox: Option<OpenMbox>,
    done: Extent,
    skipped: u64,
    /// Loops of links that were told, each by the first of its links in order.
    loops: HashSet<PathBuf>,
}

struct OpenMbox {
    path: PathBuf,
    reader: Mbox<BufReader<File>>,
    /// Bytes of it that `done` counts already.
    counted: u64,
}

struct Step {
    path: PathBuf,
    kind: Kind,
}

/// What is known of a path before it is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Named by the caller: it is mail whatever it looks like.
    Named,
    /// Found in a folder: taken when it looks like mail.
    Found,
    /// In `cur` or `new` of a Maildir: one mail.
    Maildir,
}

impl Walk {
    /// How much was read so far.
    pub fn done(&self) -> Extent {
        self.done
    }

    /// Files in folders that hold no mail and were passed over.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    fn next_of_mbox(&mut self) -> Option<Result<RawItem, ItemFailure>> {
        let open = self.mbox.as_mut()?;
        let entry = open.reader.next_entry();
        let read = open.reader.position();
        self.done.bytes += read.saturating_sub(open.counted);
        open.counted = read;
        let failure = |offset, length, reason| {
            Some(Err(ItemFailure {
                path: open.path.clone(),
                offset,
                length,
                reason,
            }))
        };
        let item = match entry {
            Ok(None) => None,
            Ok(Some(Entry::Mail { offset, raw })) if raw.is_empty() => {
                return failure(Some(offset), Some(0), FailureReason::Empty);
            }
            Ok(Some(Entry::Mail { offset, raw })) => {
                let (path, read) = (open.path.clone(), status_says_read(&raw));
                return Some(Ok(RawItem {
                    path,
                    offset: Some(offset),
                    raw,
                    read,
                    file_time: None,
                }));
            }
            Ok(Some(Entry::Oversized { offset, length })) => {
                return failure(Some(offset), Some(length), FailureReason::Oversized);
            }
            Ok(Some(Entry::Unseparated)) => failure(None, None, FailureReason::NotMbox),
            Err(error) => failure(
                Some(read),
                None,
                FailureReason::Unreadable(error.to_string()),
            ),
        };
        self.mbox = None;
        self.done.files += 1;
        item
    }

    /// Opens one path: `None` when it yielded nothing of its own.
    fn open(&mut self, step: Step) -> Option<Result<RawItem, ItemFailure>> {
        match self.try_open(&step) {
            Ok(item) => item.map(Ok),
            Err(reason) => {
                self.done.files += 1;
                let length = fs::metadata(&step.path)
                    .ok()
                    .filter(|meta| meta.is_file())
                    .map(|meta| meta.len());
                self.done.bytes += length.unwrap_or(0);
                Some(Err(ItemFailure {
                    path: step.path,
                    offset: None,
                    length,
                    reason,
                }))
            }
        }
    }

    fn try_open(&mut self, step: &Step) -> Result<Option<RawItem>, FailureReason> {
        let meta = match fs::metadata(&step.path) {
            Ok(meta) => meta,
            // Links that lead to each other are one fault, told at the first of them.
            Err(error) => {
                let told = loop_of(&step.path).is_some_and(|first| !self.loops.insert(first));
                return if told {
                    Ok(None)
                } else {
                    Err(unreadable(error))
                };
            }
        };
        if meta.is_dir() {
            for inner in list(&step.path)?.into_iter().rev() {
                self.ahead.push_front(inner);
            }
            return Ok(None);
        }
        if !meta.is_file() {
            return Err(FailureReason::Special(kind_words(&meta.file_type())));
        }
        let mut file = File::open(&step.path).map_err(unreadable)?;
        let is_mbox = match self.form(step, &mut file)? {
            None => {
                self.skipped += 1;
                self.done.files += 1;
                self.done.bytes += meta.len();
                return Ok(None);
            }
            Some(is_mbox) => is_mbox,
        };
        if is_mbox {
            let file = File::open(&step.path).map_err(unreadable)?;
            let reader = Mbox::new(BufReader::with_capacity(256 * 1024, file), RAW_MAIL_BYTES);
            self.mbox = Some(OpenMbox {
                path: step.path.clone(),
                reader,
                counted: 0,
            });
            return Ok(None);
        }
        if meta.len() == 0 {
            return Err(FailureReason::Empty);
        }
        if meta.len() > RAW_MAIL_BYTES as u64 {
            return Err(FailureReason::Oversized);
        }
        let item = read_one(step, &meta)?;
        self.done.files += 1;
        self.done.bytes += meta.len();
        Ok(Some(item))
    }

    /// Whether a file is an mbox (`Some(true)`), one mail (`Some(false)`) or no mail.
    fn form(&self, step: &Step, file: &mut File) -> Result<Option<bool>, FailureReason> {
        let ending = step
            .path
            .extension()
            .and_then(|ending| ending.to_str())
            .map(str::to_ascii_lowercase);
        match (step.kind, ending.as_deref()) {
            (Kind::Maildir, _) | (_, Some("eml")) => return Ok(Some(false)),
            (_, Some("mbox" | "mbx")) => return Ok(Some(true)),
            _ => {}
        }
        let mut start = Vec::with_capacity(SNIFF_BYTES as usize);
        file.take(SNIFF_BYTES)
            .read_to_end(&mut start)
            .map_err(unreadable)?;
        let is_mbox = start.trim_ascii_start().starts_with(b"From ");
        if is_mbox || step.kind == Kind::Named || looks_like_mail(&start) {
            return Ok(Some(is_mbox));
        }
        Ok(None)
    }
}

impl Iterator for Walk {
    type Item = Result<RawItem, ItemFailure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.mbox.is_some() {
                if let Some(item) = self.next_of_mbox() {
                    return Some(item);
                }
                continue;
            }
            let step = self.ahead.pop_front()?;
            if let Some(item) = self.open(step) {
                return Some(item);
            }
        }
    }
}

/// How much of a file is looked at to tell what it is.
const SNIFF_BYTES: u64 = 4 * 1024;

fn read_one(step: &Step, meta: &fs::Metadata) -> Result<RawItem, FailureReason> {
    let mut raw = Vec::with_capacity(meta.len() as usize);
    // The file may have grown since it was measured; one byte past the bound tells.
    let file = File::open(&step.path).map_err(unreadable)?;
    file.take(RAW_MAIL_BYTES as u64 + 1)
        .read_to_end(&mut raw)
        .map_err(unreadable)?;
    if raw.len() > RAW_MAIL_BYTES {
        return Err(FailureReason::Oversized);
    }
    let read = match step.kind {
        Kind::Maildir => flags_say_read(&step.path),
        _ => status_says_read(&raw),
    };
    Ok(RawItem {
        path: step.path.clone(),
        offset: None,
        raw,
        read,
        file_time: modified(meta),
    })
}

/// What stands in a folder: for a Maildir the mails of `new` and `cur` and its subfolders. A data
/// folder of ours holds mail that was taken in already, and files that come and go.
fn list(folder: &Path) -> Result<Vec<Step>, FailureReason> {
    if folder.join(LOCK_FILE).exists() {
        return Ok(Vec::new());
    }
    let is_maildir = folder.join("cur").is_dir() && folder.join("new").is_dir();
    let in_maildir = matches!(
        folder.file_name().and_then(|name| name.to_str()),
        Some("cur" | "new")
    ) && folder
        .parent()
        .is_some_and(|parent| parent.join("cur").is_dir() && parent.join("new").is_dir());
    let mut steps = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        // A link to a folder may lead back here.
        let is_folder = kind.is_dir();
        if kind.is_symlink() && path.is_dir() {
            continue;
        }
        // Of a Maildir itself only its folders hold mail; `tmp` holds what is being delivered.
        if is_maildir && (!is_folder || entry.file_name() == "tmp") {
            continue;
        }
        let kind = if in_maildir && !is_folder {
            Kind::Maildir
        } else {
            Kind::Found
        };
        steps.push(Step { path, kind });
    }
    steps.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(steps)
}

/// Links that are followed to tell a loop; the system follows no more (Linux: 40).
const LINKS_FOLLOWED: usize = 40;

/// The loop that a link leads into, named by the first of its links in order; `None` when it leads
/// into none.
fn loop_of(path: &Path) -> Option<PathBuf> {
    let mut passed: Vec<PathBuf> = vec![path.to_owned()];
    while passed.len() <= LINKS_FOLLOWED {
        let last = passed.last()?;
        let target = fs::read_link(last).ok()?;
        // `join` takes an absolute target as it is.
        let folder = last.parent()?.join(target);
        let next = match (folder.parent(), folder.file_name()) {
            (Some(parent), Some(name)) => fs::canonicalize(parent).ok()?.join(name),
            _ => return None,
        };
        if let Some(start) = passed.iter().position(|known| *known == next) {
            return passed.drain(start..).min();
        }
        passed.push(next);
    }
    None
}

/// What a thing is that is neither file nor folder.
fn kind_words(kind: &FileType) -> &'static str {
    match () {
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_block_device() || kind.is_char_device() => "a device",
        () => "something special",
    }
}

fn unreadable(error: std::io::Error) -> FailureReason {
    FailureReason::Unreadable(error.to_string())
}

fn modified(meta: &fs::Metadata) -> Option<Timestamp> {
    let since = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_ms(i64::try_from(since.as_millis()).ok()?))
}

/// The Maildir flag S behind `:2,` (`;2,` where a colon cannot stand in a name).
fn flags_say_read(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let flags = name.rsplit_once(":2,").or_else(|| name.rsplit_once(";2,"));
    flags.is_some_and(|(_, flags)| flags.contains('S'))
}

/// The `Status: R` of mbox writers and bit 0 of Mozilla's own header.
fn status_says_read(raw: &[u8]) -> bool {
    for line in raw.split(|byte| *byte == b'\n').take(1_000) {
        let line = line.trim_ascii();
        if line.is_empty() {
            return false;
        }
        let Ok(line) = std::str::from_utf8(line) else {
            continue;
        };
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        if name.eq_ignore_ascii_case("status") {
            return value.contains('R');
        }
        if name.eq_ignore_ascii_case("x-mozilla-status") {
            return u32::from_str_radix(value.trim(), 16).is_ok_and(|bits| bits & 1 == 1);
        }
    }
    false
}

/// Header fields of which a mail has at least one near its start.
const TELLING_FIELDS: &[&str] = &[
    "from",
    "received",
    "return-path",
    "date",
    "message-id",
    "subject",
    "to",
    "delivered-to",
    "mime-version",
    "sender",
    "x-mailer",
    "content-type",
    "reply-to",
    "dkim-signature",
];

/// Whether a file found in a folder starts as mail does: header lines, a telling one among them.
fn looks_like_mail(start: &[u8]) -> bool {
    let mut telling = 0;
    for (at, line) in start.split(|byte| *byte == b'\n').take(60).enumerate() {
        let folded = at > 0 && matches!(line.first(), Some(b' ' | b'\t'));
        if line.trim_ascii().is_empty() {
            break;
        }
        if !folded && !is_header_line(line) {
            // The last line may be cut by the bound.
            return telling >= 2;
        }
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        telling += usize::from(
            TELLING_FIELDS
                .iter()
                .any(|known| known.as_bytes().eq_ignore_ascii_case(name)),
        );
    }
    telling >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &str =
        "From: a@b.example\nSubject: s\nDate: Mon, 30 Nov 2026 12:00:00 +0000\n\nhello\n";

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(path, text).expect("file");
    }

    #[test]
    fn a_maildir_gives_new_and_cur_with_flags_and_its_subfolders() {
        let folder = tempfile::tempdir().expect("tempdir");
        let root = folder.path();
        put(&root.join("new/1.a"), MAIL);
        put(&root.join("cur/2.a:2,S"), MAIL);
        put(&root.join("cur/3.a:2,F"), MAIL);
        put(&root.join("tmp/4.a"), MAIL);
        put(&root.join("dovecot.index"), MAIL);
        put(&root.join(".Sent/cur/5.a:2,RS"), MAIL);
        put(&root.join(".Sent/new/.keep"), "");
        fs::remove_file(root.join(".Sent/new/.keep")).expect("remove");
        let items: Vec<_> = walk([root.to_owned()])
            .map(|item| item.expect("mail"))
            .collect();
        let names: Vec<_> = items
            .iter()
            .map(|item| {
                (
                    item.path.file_name().expect("name").to_str().expect("text"),
                    item.read,
                )
            })
            .collect();
        assert_eq!(
            names,
            [
                ("5.a:2,RS", true),
                ("2.a:2,S", true),
                ("3.a:2,F", false),
                ("1.a", false)
            ]
        );
    }

    #[test]
    fn a_folder_gives_its_mails_and_passes_over_the_rest() {
        let folder = tempfile::tempdir().expect("tempdir");
        let root = folder.path();
        put(&root.join("a/1.eml"), MAIL);
        put(&root.join("a/b/2"), MAIL);
        put(&root.join("a/notes.md"), "# Notes\n\nnothing\n");
        put(&root.join("a/empty.eml"), "");
        put(&root.join("data").join(LOCK_FILE), "");
        put(&root.join("data/blobs/mail"), MAIL);
        put(
            &root.join("z.mbox"),
            &format!("From x Mon Nov 30 12:00:00 2026\nStatus: RO\n{MAIL}"),
        );
        let mut walk = walk([root.to_owned()]);
        let items: Vec<_> = walk.by_ref().collect();
        assert_eq!(items.iter().filter(|item| item.is_ok()).count(), 3);
        assert!(
            items
                .iter()
                .flatten()
                .any(|item| item.read && item.offset.is_some())
        );
        let failures: Vec<_> = items.into_iter().filter_map(Result::err).collect();
        assert_eq!(failures.len(), 1);
        assert_eq!(failures[0].reason, FailureReason::Empty);
        assert_eq!(walk.skipped(), 1);
        assert_eq!(walk.done(), measure(&[root.to_owned()]));
    }

    #[test]
    fn a_loop_of_links_is_told_once_and_what_is_no_file_is_told() {
        use std::os::unix::{fs::symlink, net::UnixListener};
        let folder = tempfile::tempdir().expect("tempdir");
        let root = folder.path();
        put(&root.join("1.eml"), MAIL);
        for (link, target) in [
            ("alone", "alone"),
            ("one", "two"),
            ("two", "three"),
            ("three", "one"),
            ("to-loop", "two"),
            ("self", "."),
            ("dangling", "nothing"),
        ] {
            symlink(target, root.join(link)).expect("a link");
        }
        let _socket = UnixListener::bind(root.join("socket.eml")).expect("a socket");
        let items: Vec<_> = walk([root.to_owned()]).collect();
        let mut failed: Vec<_> = items
            .iter()
            .filter_map(|item| item.as_ref().err())
            .map(|failure| {
                let name = failure.path.file_name().expect("name").to_string_lossy();
                (name.into_owned(), failure.reason.to_string())
            })
            .collect();
        failed.sort();
        let names: Vec<&str> = failed.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["alone", "dangling", "one", "socket.eml"]);
        assert_eq!(failed[3].1, "not a file but a socket");
        assert_eq!(items.len(), 5, "and one mail");
    }

    #[test]
    fn a_missing_path_is_a_failure_and_not_the_end() {
        let folder = tempfile::tempdir().expect("tempdir");
        put(&folder.path().join("1.eml"), MAIL);
        let paths = [folder.path().join("none"), folder.path().join("1.eml")];
        let items: Vec<_> = walk(paths).collect();
        assert!(matches!(
            &items[0],
            Err(ItemFailure {
                reason: FailureReason::Unreadable(_),
                ..
            })
        ));
        assert!(items[1].is_ok());
    }
}
