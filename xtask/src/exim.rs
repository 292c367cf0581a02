//! An Exim that is unpacked and not installed, since its Debian package and Postfix's exclude each other:
//! it runs from a temporary folder, sees a user of its own in a mount namespace of its own, listens on
//! a high loopback port and passes everything on. Stopped by its process id.

use std::{
    net::TcpStream,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use crate::{
    postgres,
    process::{self, Running},
};

const PACKAGE: &str = "exim4-daemon-light";
/// The user that Debian's build wants, and an id that nobody has.
const USER: &str = "Debian-exim";
const UID: &str = "65533";

/// A running Exim; stopped and removed when dropped.
pub(crate) struct Exim {
    running: Option<Running>,
    folder: PathBuf,
    /// Where it listens, on the loopback address.
    pub(crate) port: u16,
}

impl Exim {
    /// A server that passes everything on to another one at a port of this host.
    pub(crate) fn relay(port: u16, to: u16) -> Result<Self> {
        ensure!(
            postgres::is_root()?,
            "Exim runs in a namespace that only root can make"
        );
        let name = format!("postroom-exim-{}-{port}", std::process::id());
        let mut this = Self {
            running: None,
            folder: std::env::temp_dir().join(name),
            port,
        };
        this.unpack()?;
        this.configure(to)?;
        let child = Command::new("unshare")
            .args(["--mount", "sh", "-c"])
            .arg(
                "mount --bind \"$0/passwd\" /etc/passwd && mount --bind \"$0/group\" /etc/group && \
                 exec \"$0/usr/sbin/exim4\" -C \"$0/exim.conf\" -bdf -q10m",
            )
            .arg(&this.folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("unshare (Debian package util-linux)")?;
        this.running = Some(Running(child));
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            ensure!(Instant::now() < deadline, "Exim does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(this)
    }

    /// Its version, as the package has it.
    pub(crate) fn version(&self) -> Result<String> {
        let said = process::output(Command::new("apt-cache").args([
            "show",
            "--no-all-versions",
            PACKAGE,
        ]))?;
        let version = said.lines().find_map(|line| line.strip_prefix("Version: "));
        Ok(format!("Exim {}", version.context("no version")?))
    }

    fn unpack(&self) -> Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        process::check(
            Command::new("apt-get")
                .args(["download", "-qq", PACKAGE])
                .current_dir(&self.folder)
                .stderr(Stdio::null()),
        )?;
        let package = std::fs::read_dir(&self.folder)?
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
            .context("no package came")?;
        process::check(
            Command::new("dpkg")
                .arg("-x")
                .arg(package)
                .arg(&self.folder),
        )
    }

    fn configure(&self, to: u16) -> Result<()> {
        let folder = self.folder.display();
        for (name, line) in [
            (
                "passwd",
                format!("{USER}:x:{UID}:{UID}::{folder}:/usr/sbin/nologin\n"),
            ),
            ("group", format!("{USER}:x:{UID}:\n")),
        ] {
            let system = std::fs::read_to_string(format!("/etc/{name}"))?;
            std::fs::write(self.folder.join(name), system + &line)?;
        }
        for name in ["spool", "log"] {
            let made = self.folder.join(name);
            std::fs::create_dir_all(&made)?;
            process::check(Command::new("chown").arg(format!("{UID}:{UID}")).arg(made))?;
        }
        let port = self.port;
        let settings = format!(
            "exim_path = {folder}/usr/sbin/exim4
primary_hostname = relay.example
spool_directory = {folder}/spool
log_file_path = {folder}/log/%slog
pid_file_path = {folder}/pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = {port}
tls_advertise_hosts =
acl_smtp_rcpt = everything
acl_smtp_data = everything
smtp_accept_max = 200
smtp_accept_queue_per_connection = 0
never_users =
host_lookup =
rfc1413_hosts =
keep_environment =
begin acl
everything:
  accept
begin routers
all:
  driver = manualroute
  domains = *
  route_list = * 127.0.0.1
  self = send
  transport = remote
begin transports
remote:
  driver = smtp
  port = {to}
  hosts_avoid_tls = *
  allow_localhost
begin retry
* * F,2h,1m
"
        );
        std::fs::write(self.folder.join("exim.conf"), settings)?;
        Ok(())
    }
}

impl Drop for Exim {
    fn drop(&mut self) {
        self.running = None;
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
