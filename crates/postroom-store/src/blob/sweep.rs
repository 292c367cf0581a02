//! Files of commits that never were.
//!
//! A file is whole and under its name before the row that names it, so a process that dies in
//! between, or a commit that is refused, leaves a file that nothing reads. They are looked for
//! before the writer begins: no file can get its row while it is looked at.

use super::BlobFolder;
use crate::{StoreError, sql::Conn};
use postroom_core::{Sha256Bytes, hex};
use postroom_types::{Timestamp, limit};
use std::{
    collections::BTreeSet,
    fs,
    io::{self, ErrorKind},
    path::Path,
    time::UNIX_EPOCH,
};

/// Removes files that no row names and that were written longer ago than
/// [`limit::BLOB_UNNAMED_MS`]. No more than [`limit::BLOB_SWEEP_FILES`] are looked at, beginning
/// anywhere, so that with every start all have their chance.
pub(crate) async fn sweep(
    folder: &BlobFolder,
    conn: &Conn,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut first = [0];
    getrandom::fill(&mut first).map_err(|_| StoreError::Unavailable)?;
    let [first] = first;
    let before_ms = now
        .ms()
        .saturating_sub(limit::BLOB_UNNAMED_MS.cast_signed());
    let Ok(old) = old_files(folder, first, before_ms, limit::BLOB_SWEEP_FILES) else {
        // What cannot be listed cannot be read either; whoever reads it says so.
        return Ok(());
    };
    let named = conn
        .fetch_in(
            "SELECT sha256 FROM blobs WHERE place = 'file' AND sha256 IN ({})",
            1,
            old.iter().map(|digest| digest.as_slice().into()).collect(),
        )
        .await?;
    let named: BTreeSet<Vec<u8>> = named
        .iter()
        .map(|row| row.blob(0))
        .collect::<Result<_, _>>()?;
    let unnamed = old
        .iter()
        .filter(|digest| !named.contains(digest.as_slice()));
    let removed = unnamed
        .filter(|digest| fs::remove_file(folder.path(digest).1).is_ok())
        .count();
    if removed > 0 {
        tracing::info!(removed, "files of commits that never were are gone");
    }
    Ok(())
}

/// Digests of files that were last written before an instant, out of the first `most` that are found
/// from folder `first` on, once around.
fn old_files(
    folder: &BlobFolder,
    first: u8,
    before_ms: i64,
    most: usize,
) -> io::Result<Vec<Sha256Bytes>> {
    let mut seen = 0;
    let mut old = Vec::new();
    for step in 0..=u8::MAX {
        let names = match fs::read_dir(folder.root.join(hex(&[first.wrapping_add(step)]))) {
            Ok(names) => names,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in names {
            if seen == most {
                return Ok(old);
            }
            seen += 1;
            let entry = entry?;
            let Some(digest) = digest_of(&entry.path()) else {
                continue;
            };
            let written = entry.metadata()?.modified()?.duration_since(UNIX_EPOCH);
            // A file from before 1970 has a date that means nothing.
            let written_ms = written.map_or(i64::MAX, |age| {
                i64::try_from(age.as_millis()).unwrap_or(i64::MAX)
            });
            if written_ms < before_ms {
                old.push(digest);
            }
        }
    }
    Ok(old)
}

/// The digest that a file is named for; `None` for a file that is not ours.
fn digest_of(path: &Path) -> Option<Sha256Bytes> {
    let name = path.file_name()?.to_str()?.strip_suffix(".zst")?;
    let mut digest = Sha256Bytes::default();
    if name.len() != 2 * digest.len() {
        return None;
    }
    for (place, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(name.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    // Only the spelling that we write: another one would be removed under a name of ours.
    (hex(&digest) == name).then_some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &BlobFolder, first: u8, last: u8) -> Sha256Bytes {
        let mut digest = Sha256Bytes::default();
        (digest[0], digest[31]) = (first, last);
        folder.write(&digest, b"bytes").expect("written");
        digest
    }

    #[test]
    fn a_sweep_looks_at_so_many_files_and_goes_around() {
        let dir = tempfile::tempdir().expect("dir");
        let folder = BlobFolder::open(dir.path()).expect("folder");
        let (low, high) = (file(&folder, 1, 0), file(&folder, 200, 0));
        let all = |first, most| old_files(&folder, first, i64::MAX, most).expect("listed");
        assert_eq!(all(0, 2), [low, high]);
        assert_eq!(all(0, 1), [low]);
        assert_eq!(all(2, 1), [high]);
        assert_eq!(all(201, 3), [low, high]);
        assert!(all(0, 0).is_empty());
    }

    #[test]
    fn files_that_are_not_ours_stay() {
        let dir = tempfile::tempdir().expect("dir");
        let folder = BlobFolder::open(dir.path()).expect("folder");
        let ours = file(&folder, 171, 5);
        let (place, path) = folder.path(&ours);
        let upper = hex(&ours).to_uppercase();
        for name in ["notes.txt", "ab.zst", &format!("{upper}.zst")] {
            fs::write(place.join(name), b"x").expect("written");
        }
        assert_eq!(old_files(&folder, 0, i64::MAX, 10).expect("listed"), [ours]);
        assert_eq!(digest_of(&path), Some(ours));
    }
}
