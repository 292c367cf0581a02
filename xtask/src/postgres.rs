//! A PostgreSQL of our own for the tests: a cluster in a temporary folder, on a free port of the
//! loopback address, run as Debian's `postgres` user when we are root, and stopped by process id.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::process;

/// A running cluster; stopped and removed when dropped.
pub(crate) struct Cluster {
    bin: PathBuf,
    folder: PathBuf,
    /// A URL with the right to create databases.
    pub(crate) url: String,
}

impl Cluster {
    /// Makes and starts a cluster.
    pub(crate) fn start() -> Result<Self> {
        let bin = bin_folder().context(
            "PostgreSQL's server programs are not installed (Debian package postgresql)",
        )?;
        let folder = std::env::temp_dir().join(format!("postroom-pg-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        if is_root()? {
            process::run("chown", &["postgres", &folder.to_string_lossy()])?;
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let data = folder.join("data");
        let this = Self {
            bin,
            folder,
            url: format!("postgres://postgres@127.0.0.1:{port}/postgres"),
        };
        process::output(&mut this.server_command(
            "initdb",
            &[
                "-D",
                &data.to_string_lossy(),
                "-U",
                "postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--no-instructions",
            ],
        )?)?;
        let options = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={} -c max_connections=200",
            this.folder.display()
        );
        let log = this.folder.join("log");
        process::output(&mut this.server_command(
            "pg_ctl",
            &[
                "-D",
                &data.to_string_lossy(),
                "-l",
                &log.to_string_lossy(),
                "-o",
                &options,
                "-w",
                "-s",
                "start",
            ],
        )?)?;
        Ok(this)
    }

    /// One of the cluster's programs, as the user that may run it.
    fn server_command(&self, program: &str, arguments: &[&str]) -> Result<Command> {
        let path = self.bin.join(program);
        let mut command = if is_root()? {
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid=postgres", "--regid=postgres", "--clear-groups"])
                .arg(path);
            command
        } else {
            Command::new(path)
        };
        command.args(arguments).current_dir(&self.folder);
        Ok(command)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let data = self.folder.join("data");
        if let Ok(mut stop) = self.server_command(
            "pg_ctl",
            &[
                "-D",
                &data.to_string_lossy(),
                "-m",
                "immediate",
                "-w",
                "-s",
                "stop",
            ],
        ) {
            let _ = stop.status();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The folder of `initdb` and `pg_ctl`: the newest of Debian's, or the one on the path.
fn bin_folder() -> Result<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            Some((
                entry.file_name().to_str()?.parse().ok()?,
                entry.path().join("bin"),
            ))
        })
        .filter(|(_, bin)| bin.join("initdb").exists())
        .collect();
    versions.sort();
    if let Some((_, bin)) = versions.pop() {
        return Ok(bin);
    }
    let path = std::env::var("PATH").unwrap_or_default();
    match path
        .split(':')
        .map(Path::new)
        .find(|folder| folder.join("initdb").exists())
    {
        Some(folder) => Ok(folder.to_path_buf()),
        None => bail!("initdb was not found"),
    }
}

/// Whether we run as root.
pub(crate) fn is_root() -> Result<bool> {
    Ok(process::output(Command::new("id").arg("-u"))?.trim() == "0")
}
