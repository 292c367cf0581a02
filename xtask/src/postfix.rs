//! A Postfix of our own: configuration, queue and a high loopback port in a temporary folder, stopped by
//! its process id. The system's Postfix, if there is one, is not touched.

use std::{
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use crate::{postgres, process};

/// The domain that the receiver takes mail for.
pub(crate) const DOMAIN: &str = "receiver.example";

/// How long it may take to listen, and to end.
const PATIENCE: Duration = Duration::from_secs(20);

const SERVICES: &str = "cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
smtp unix - - n - - smtp
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
";

/// A running Postfix; stopped and removed when dropped.
pub(crate) struct Postfix {
    folder: PathBuf,
    /// Where it listens, on the loopback address.
    pub(crate) port: u16,
}

impl Postfix {
    /// A server that takes mail for [`DOMAIN`] into one Maildir and offers STARTTLS with a certificate
    /// for `localhost`. `nobody@` is refused for good and `later@` for now.
    pub(crate) fn receiver() -> Result<Self> {
        let this = Self::prepare()?;
        let at = |name: &str| this.folder.join(name).display().to_string();
        process::check(
            Command::new("openssl")
                .args([
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                ])
                .args(["-subj", "/CN=localhost"])
                .args(["-addext", "subjectAltName=DNS:localhost"])
                // One that may sign others is not taken for a server's own.
                .args(["-addext", "basicConstraints=critical,CA:FALSE"])
                .args(["-keyout", &at("etc/key.pem"), "-out", &at("etc/cert.pem")])
                .stderr(Stdio::null()),
        )?;
        let id = |flag: &str| process::output(Command::new("id").args([flag, "postfix"]));
        let (uid, gid) = (id("-u")?, id("-g")?);
        this.start(&format!(
            "virtual_mailbox_domains = {DOMAIN}
virtual_mailbox_maps = static:inbox/
virtual_mailbox_base = {mail}
virtual_uid_maps = static:{uid}
virtual_gid_maps = static:{gid}
virtual_minimum_uid = 1
virtual_mailbox_limit = 0
smtpd_tls_cert_file = {certificate}
smtpd_tls_key_file = {key}
smtpd_tls_security_level = may
smtpd_recipient_restrictions = check_recipient_access inline:{{nobody@{DOMAIN}=REJECT, later@{DOMAIN}=DEFER}}, reject_unauth_destination
",
            mail = at("mail"),
            uid = uid.trim(),
            gid = gid.trim(),
            certificate = at("etc/cert.pem"),
            key = at("etc/key.pem"),
        ))?;
        Ok(this)
    }

    /// A server that passes everything on to another one at a port of this host.
    pub(crate) fn relay(to: u16) -> Result<Self> {
        let this = Self::prepare()?;
        this.start(&format!(
            "mynetworks = 127.0.0.0/8
relayhost = [127.0.0.1]:{to}
smtp_tls_security_level = none
smtpd_recipient_restrictions = permit_mynetworks, reject
"
        ))?;
        Ok(this)
    }

    /// The certificate that those shall trust who send to it.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.join("etc").join("cert.pem")
    }

    /// The Maildir.
    pub(crate) fn maildir(&self) -> PathBuf {
        self.folder.join("mail").join("inbox")
    }

    /// Its version.
    pub(crate) fn version(&self) -> Result<String> {
        let said = process::output(Command::new("postconf").args(["-h", "mail_version"]))?;
        Ok(format!("Postfix {}", said.trim()))
    }

    fn prepare() -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let name = format!("postroom-postfix-{}-{port}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        for name in ["etc", "queue", "data", "mail"] {
            std::fs::create_dir_all(folder.join(name))?;
        }
        let this = Self { folder, port };
        for name in ["data", "mail"] {
            let mut give = as_root("chown")?;
            process::check(give.arg("postfix").arg(this.folder.join(name)))?;
        }
        Ok(this)
    }

    fn start(&self, settings: &str) -> Result<()> {
        let folder = self.folder.display();
        let main = format!(
            "compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
maillog_file_prefixes = {folder}
maillog_file = {folder}/log
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = {DOMAIN}
mydestination =
alias_maps =
alias_database =
local_recipient_maps =
message_size_limit = 67108864
smtpd_client_connection_rate_limit = 0
smtpd_client_connection_count_limit = 0
smtpd_peername_lookup = no
{settings}"
        );
        let etc = self.folder.join("etc");
        std::fs::write(etc.join("main.cf"), main)?;
        let listener = format!("127.0.0.1:{} inet n - n - - smtpd\n", self.port);
        std::fs::write(etc.join("master.cf"), listener + SERVICES)?;
        let mut start = as_root("postfix")?;
        process::check(start.arg("-c").arg(&etc).arg("start").stderr(Stdio::null()))?;
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            ensure!(
                Instant::now() < deadline,
                "Postfix does not listen: {}",
                std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// The process id that it wrote down.
    fn pid(&self) -> Result<u32> {
        let file = self.folder.join("queue").join("pid").join("master.pid");
        let said = process::output(as_root("cat")?.arg(file))?;
        said.trim().parse().context("no process id")
    }

    fn stop(&self) -> Result<()> {
        let pid = self.pid()?;
        process::check(as_root("kill")?.args(["-TERM", &pid.to_string()]))?;
        let deadline = Instant::now() + PATIENCE;
        while Path::new(&format!("/proc/{pid}")).exists() {
            ensure!(Instant::now() < deadline, "Postfix does not end");
            std::thread::sleep(Duration::from_millis(50));
        }
        process::check(as_root("rm")?.arg("-rf").arg(&self.folder))
    }
}

impl Drop for Postfix {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            eprintln!("Postfix at port {}: {error:#}", self.port);
        }
    }
}

/// A command as root: Postfix starts as root and gives its rights up by itself.
fn as_root(program: &str) -> Result<Command> {
    if postgres::is_root()? {
        return Ok(Command::new(program));
    }
    let mut command = Command::new("sudo");
    command.arg(program);
    Ok(command)
}
