//! What the sink has taken: in memory for counting, and in a file for whoever looks from outside.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The log, and what stands in it.
#[derive(Debug)]
pub struct Ledger {
    inner: Mutex<Inner>,
    sync: bool,
    /// A folder that every message taken is written to.
    keep: Option<PathBuf>,
}

#[derive(Debug, Default)]
struct Inner {
    file: Option<File>,
    taken: Taken,
    kept: u64,
    begun: u64,
    /// Recipients that were put off once.
    deferred: BTreeSet<String>,
}

/// How often each pair of Message-ID and recipient was taken.
pub type Taken = BTreeMap<(String, String), usize>;

impl Ledger {
    /// A ledger in memory alone.
    pub fn in_memory() -> Self {
        Self {
            inner: Mutex::default(),
            sync: false,
            keep: None,
        }
    }

    /// A ledger that writes to the end of `log`, syncs each entry if it is told so, and keeps each
    /// message in the folder `keep` if there is one.
    ///
    /// # Errors
    /// When the file cannot be opened or the folder not be made.
    pub fn open(log: &Path, sync: bool, keep: Option<PathBuf>) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(log)?;
        if let Some(folder) = &keep {
            std::fs::create_dir_all(folder)?;
        }
        let inner = Inner {
            file: Some(file),
            ..Inner::default()
        };
        Ok(Self {
            inner: Mutex::new(inner),
            sync,
            keep,
        })
    }

    /// Takes a message for these recipients; when it returns, the log says so.
    ///
    /// # Errors
    /// When the log or the message cannot be written.
    pub fn take(&self, message: &[u8], recipients: &[String]) -> io::Result<()> {
        let id = message_id(message);
        let mut inner = self.lock();
        if let Some(folder) = &self.keep {
            inner.kept += 1;
            std::fs::write(folder.join(format!("{}.eml", inner.kept)), message)?;
        }
        let mut lines = String::new();
        for recipient in recipients {
            lines.push_str(&format!("{id} {recipient}\n"));
            let pair = (id.clone(), recipient.clone());
            *inner.taken.entry(pair).or_default() += 1;
        }
        if let Some(file) = &mut inner.file {
            file.write_all(lines.as_bytes())?;
            if self.sync {
                file.sync_data()?;
            }
        }
        Ok(())
    }

    /// What was taken so far.
    pub fn taken(&self) -> Taken {
        self.lock().taken.clone()
    }

    /// The number of what is begun now, from 1.
    pub(super) fn begin(&self) -> u64 {
        let mut inner = self.lock();
        inner.begun += 1;
        inner.begun
    }

    /// Whether a recipient is put off: the first time that it is named.
    pub(super) fn puts_off(&self, recipient: &str) -> bool {
        self.lock().deferred.insert(recipient.to_owned())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The Message-ID of a message without white space; `-` for one that has none.
fn message_id(message: &[u8]) -> String {
    let text = String::from_utf8_lossy(message);
    let head = text.split("\r\n\r\n").next().unwrap_or_default();
    let unfolded = head.replace("\r\n ", " ").replace("\r\n\t", " ");
    let value = unfolded.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim()
            .eq_ignore_ascii_case("message-id")
            .then_some(value)
    });
    let id: String = value.unwrap_or_default().split_whitespace().collect();
    if id.is_empty() { "-".to_owned() } else { id }
}

/// Reads a log back: how often each pair stands in it.
///
/// # Errors
/// When it cannot be read.
pub fn read(log: &Path) -> io::Result<Taken> {
    let mut taken = Taken::new();
    for line in std::fs::read_to_string(log)?.lines() {
        if let Some((id, recipient)) = line.split_once(' ') {
            *taken
                .entry((id.to_owned(), recipient.to_owned()))
                .or_default() += 1;
        }
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_id_is_read_from_the_header_alone() {
        for (message, id) in [
            ("Message-ID: <1@a>\r\n\r\nx", "<1@a>"),
            ("Subject: x\r\nmessage-id:\r\n <1@a>\r\n\r\nx", "<1@a>"),
            ("Subject: x\r\n\r\nMessage-ID: <1@a>\r\n", "-"),
            ("", "-"),
        ] {
            assert_eq!(message_id(message.as_bytes()), id, "{message:?}");
        }
    }

    #[test]
    fn what_is_taken_twice_is_counted_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let keep = folder.path().join("kept");
        let ledger = Ledger::open(&log, true, Some(keep.clone())).expect("opened");
        let message = b"Message-ID: <1@a>\r\n\r\nx\r\n";
        let (ann, bob) = ("ann@b".to_owned(), "bob@b".to_owned());
        ledger
            .take(message, &[ann.clone(), bob.clone()])
            .expect("taken");
        ledger
            .take(message, std::slice::from_ref(&ann))
            .expect("taken");
        let expected: Taken = [
            (("<1@a>".to_owned(), ann), 2),
            (("<1@a>".to_owned(), bob), 1),
        ]
        .into();
        assert_eq!(ledger.taken(), expected);
        assert_eq!(read(&log).expect("read"), expected);
        assert_eq!(std::fs::read_dir(keep).expect("kept").count(), 2);
    }
}
