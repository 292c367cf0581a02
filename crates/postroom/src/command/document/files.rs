//! Files as they are named on the command line: paths, patterns, standard input.

use std::{
    fs::Permissions,
    io::{Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use crate::cli::trouble::Trouble;

/// Bytes of a file that are read: past the bound of a document, so that it is told by its own code.
const MOST: u64 = 8 * 1024 * 1024;
/// Files that one pattern may name.
const FILES: usize = 10_000;

/// One input.
#[derive(Debug, Clone)]
pub(super) struct Named {
    /// As it is shown.
    pub(super) name: String,
    /// `None` for standard input.
    path: Option<PathBuf>,
}

impl Named {
    /// A file, or standard input for `-`.
    pub(super) fn one(name: &str) -> Self {
        if name == "-" {
            return Self {
                name: "<stdin>".to_owned(),
                path: None,
            };
        }
        Self {
            name: name.to_owned(),
            path: Some(PathBuf::from(name)),
        }
    }

    /// Whether it is the file at `path`.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        let own = self.path.as_deref().and_then(|own| own.canonicalize().ok());
        own.is_some() && own == path.canonicalize().ok()
    }

    /// What it holds.
    pub(super) fn text(&self) -> Result<String, Trouble> {
        let mut bytes = Vec::new();
        let read = match &self.path {
            None => std::io::stdin().lock().take(MOST).read_to_end(&mut bytes),
            Some(path) => {
                std::fs::File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes))
            }
        };
        read.map_err(|error| {
            Trouble::io(
                format!("{} cannot be read: {error}.", self.name),
                "Name a file, a pattern, or - for standard input.",
            )
        })?;
        // A byte order mark is how some editors begin a file.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        String::from_utf8(bytes.to_vec())
            .map_err(|_| Trouble::io(format!("{} is not UTF-8.", self.name), "Save it as UTF-8."))
    }
}

/// Every file that `names` mean; a pattern that means none is trouble, so that a check of nothing
/// does not pass.
pub(super) fn all(names: &[String]) -> Result<Vec<Named>, Trouble> {
    let mut files = Vec::new();
    for name in names {
        // A file may have a name that looks like a pattern.
        if name == "-" || Path::new(name).exists() || !name.contains(['*', '?', '[']) {
            files.push(Named::one(name));
            continue;
        }
        let found = glob::glob(name).map_err(|error| {
            Trouble::usage(
                format!("`{name}` is no pattern: {error}."),
                "Use *, ?, ** and [..].",
            )
        })?;
        let before = files.len();
        let paths = found.filter_map(Result::ok).filter(|path| path.is_file());
        files.extend(
            paths
                .take(FILES)
                .map(|path| Named::one(&path.to_string_lossy())),
        );
        if files.len() == before {
            return Err(Trouble::io(
                format!("No file fits `{name}`."),
                "Correct the pattern, or leave it out.",
            ));
        }
    }
    Ok(files)
}

/// What anybody may do with a new file before the umask takes some of it away.
const MODE: u32 = 0o666;

/// Writes a result beside its place and renames it, so that a reader never sees half of it. A new file is
/// for whomever the umask says, one that was there keeps its mode; links, pipes and devices are written
/// through and stay what they are.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    let known = std::fs::symlink_metadata(path).ok();
    let written = match &known {
        Some(known) if !known.is_file() => std::fs::write(path, bytes),
        known => replace(
            path,
            bytes,
            known.as_ref().map(std::fs::Metadata::permissions),
        ),
    };
    written.map_err(|error| {
        Trouble::io(
            format!("{} cannot be written: {error}.", path.display()),
            "Name a file in a folder that you may write to.",
        )
    })
}

/// As [`write`], for what is a file or is not there.
fn replace(path: &Path, bytes: &[u8], known: Option<Permissions>) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut beside = tempfile::Builder::new();
    beside.permissions(Permissions::from_mode(MODE));
    let mut file = beside.tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(known) = known {
        std::fs::set_permissions(file.path(), known)?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_keeps_its_mode_and_what_is_no_file_stays_what_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&file, "old").expect("written");
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("set");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        write(&file, b"new").expect("written");
        let mode = std::fs::metadata(&file)
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        write(&link, b"through").expect("written");
        assert!(
            std::fs::symlink_metadata(&link)
                .expect("there")
                .is_symlink()
        );
        assert_eq!(std::fs::read(&file).expect("there"), b"through");
        write(Path::new("/dev/null"), b"nothing").expect("written");
        let null = std::fs::symlink_metadata("/dev/null").expect("there");
        assert!(!null.is_file());
    }
}
