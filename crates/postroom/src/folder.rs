//! `server.json` in the data folder: which server holds it, and the key for commands on this machine.

use std::{
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use postroom_types::TenantId;
use serde::{Deserialize, Serialize};

const NAME: &str = "server.json";

/// What a running server says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerFile {
    /// Where it listens.
    pub(crate) url: String,
    /// A key that lives as long as the process.
    pub(crate) key: String,
    /// The tenant that commands mean when they name none.
    pub(crate) tenant_id: TenantId,
    /// The process.
    pub(crate) pid: u32,
}

impl ServerFile {
    /// Reads the file of a data folder; `None` when there is none that can be read.
    pub(crate) fn read(data: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(data.join(NAME)).ok()?).ok()
    }

    /// Writes the file, readable by its owner only, in one step.
    pub(crate) fn write(&self, data: &Path) -> std::io::Result<ServerFileGuard> {
        let path = data.join(NAME);
        let fresh = data.join(format!("{NAME}.new"));
        let _ = std::fs::remove_file(&fresh);
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&fresh)?;
        file.write_all(serde_json::to_string(self)?.as_bytes())?;
        std::fs::rename(&fresh, &path)?;
        Ok(ServerFileGuard(path))
    }
}

/// Removes the file when the server ends.
#[derive(Debug)]
pub(crate) struct ServerFileGuard(PathBuf);

impl Drop for ServerFileGuard {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_file_is_its_owners_alone_and_goes_with_the_server() {
        let folder = tempfile::tempdir().expect("folder");
        let file = ServerFile {
            url: "http://127.0.0.1:1".to_owned(),
            key: "k".to_owned(),
            tenant_id: TenantId::from_parts(1, 2),
            pid: 7,
        };
        let guard = file.write(folder.path()).expect("written");
        assert_eq!(ServerFile::read(folder.path()), Some(file));
        let mode = std::fs::metadata(folder.path().join(NAME))
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(guard);
        assert_eq!(ServerFile::read(folder.path()), None);
    }
}
