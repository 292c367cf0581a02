//! `server.json` in the data folder: which server holds it, and the key for commands on this machine.

use std::{
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use postroom_types::TenantId;
use serde::{Deserialize, Serialize};

const NAME: &str = "server.json";

/// Why a data folder names no server.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoServer {
    /// There is no file.
    #[error("there is no server.json in it")]
    Missing,
    /// The file cannot be read, or is not what a server writes.
    #[error("its server.json cannot be read ({0})")]
    Damaged(String),
    /// The server that the file names does not answer.
    #[error("the server at {0} that its server.json names does not answer")]
    Silent(String),
}

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
    /// Reads the file of a data folder.
    ///
    /// # Errors
    /// [`NoServer`] when there is none, or none that can be read.
    pub(crate) fn read(data: &Path) -> Result<Self, NoServer> {
        let bytes = std::fs::read(data.join(NAME)).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => NoServer::Missing,
            _ => NoServer::Damaged(error.to_string()),
        })?;
        // What the parser says would repeat parts of the file, and a key stands in it.
        serde_json::from_slice(&bytes)
            .map_err(|_| NoServer::Damaged("it is not what a server writes".to_owned()))
    }

    /// Writes the file, readable by its owner only, in one step.
    pub(crate) fn write(&self, data: &Path) -> std::io::Result<ServerFileGuard> {
        self.put(data).map(ServerFileGuard)
    }

    fn put(&self, data: &Path) -> std::io::Result<PathBuf> {
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
        Ok(path)
    }
}

/// Removes the file when the server ends.
#[derive(Debug)]
pub(crate) struct ServerFileGuard(PathBuf);

impl ServerFileGuard {
    /// Writes the file anew when it was lost or damaged: commands on this machine find the server by
    /// it alone.
    pub(crate) fn renew(&self, file: &ServerFile) {
        let Some(data) = self.0.parent() else { return };
        if ServerFile::read(data).as_ref() == Ok(file) {
            return;
        }
        if let Err(error) = file.put(data) {
            tracing::warn!(%error, "server.json cannot be written anew");
        }
    }
}

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
        assert_eq!(ServerFile::read(folder.path()).as_ref(), Ok(&file));
        let mode = std::fs::metadata(folder.path().join(NAME))
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::write(folder.path().join(NAME), "{\"key\":\"k").expect("written");
        let damaged = ServerFile::read(folder.path()).expect_err("damaged");
        assert!(matches!(damaged, NoServer::Damaged(_)));
        guard.renew(&file);
        assert_eq!(ServerFile::read(folder.path()).as_ref(), Ok(&file));
        std::fs::remove_file(folder.path().join(NAME)).expect("removed");
        guard.renew(&file);
        assert_eq!(ServerFile::read(folder.path()).as_ref(), Ok(&file));
        drop(guard);
        assert_eq!(ServerFile::read(folder.path()), Err(NoServer::Missing));
    }
}
