//! Other programs join what we send into one thread. Says so when one of them is not installed.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use postroom_mail::compose::{
    Outgoing, Parent, compose, forward, forward_references, references_for, reply_subject,
};
use postroom_types::Timestamp;

use super::{NOW_MS, mailbox, outgoing};

/// A folder of the test's own, removed when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        for sub in ["mail/cur", "mail/new", "mail/tmp"] {
            fs::create_dir_all(path.join(sub)).expect("a folder");
        }
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An outsider's mail, two answers of ours with one of his between, and a forward; and a mail with
/// the same subject that belongs to nobody's thread.
fn exchange() -> Vec<Vec<u8>> {
    let question = b"Message-ID: <DB7PR08@DB7.EURPRD08.Prod.Outlook.COM>\r\n\
        Date: Mon, 30 Nov 2026 08:00:00 +0000\r\nFrom: Ann <ann@shop.example>\r\n\
        To: desk@agents.example\r\nSubject: AW: Offer\r\n\r\nWhen?\r\n"
        .to_vec();
    let ours = |parent: &[u8], id: &str, hour: i64| -> Vec<u8> {
        let parent = Parent::read(parent);
        let mut mail = outgoing();
        mail.message_id = format!("{id}@agents.example");
        mail.date = Timestamp::from_ms(NOW_MS + hour * 3_600_000);
        mail.references = references_for(&parent);
        mail.content.subject = reply_subject(parent.subject.as_deref());
        compose(&mail).expect("composed").bytes
    };
    let first = ours(&question, "First", 0);
    // His program knows In-Reply-To alone.
    let back = b"Message-ID: <Back@Shop.Example>\r\nIn-Reply-To: <First@agents.example>\r\n\
        Date: Mon, 30 Nov 2026 13:00:00 +0000\r\nFrom: Ann <ann@shop.example>\r\n\
        To: desk@agents.example\r\nSubject: Svar: other words\r\n\r\nGood.\r\n"
        .to_vec();
    let second = ours(&back, "second", 2);
    let passed_on = {
        let mut mail: Outgoing = outgoing();
        mail.message_id = "third@agents.example".into();
        mail.to = vec![mailbox("boss@agents.example", "")];
        mail.content = forward(&second, Some("see"), true, |_| false);
        mail.references = forward_references(&Parent::read(&second));
        compose(&mail).expect("composed").bytes
    };
    let stranger =
        b"Message-ID: <stranger@other.example>\r\nDate: Mon, 30 Nov 2026 14:00:00 +0000\r\n\
        From: Bo <bo@other.example>\r\nTo: desk@agents.example\r\nSubject: AW: Offer\r\n\r\nHi\r\n"
            .to_vec();
    vec![question, first, back, second, passed_on, stranger]
}

fn maildir(name: &str) -> Folder {
    let folder = Folder::new(name);
    for (n, raw) in exchange().iter().enumerate() {
        fs::write(folder.0.join(format!("mail/cur/{n}.test:2,S")), raw).expect("written");
    }
    folder
}

/// What a program says; `None`, with a line about it, when it is not installed.
fn say<S: AsRef<OsStr>>(program: &str, arguments: &[S], home: &Path) -> Option<String> {
    let run = Command::new(program)
        .args(arguments)
        .env("HOME", home)
        .env("XDG_CACHE_HOME", home)
        .env("NOTMUCH_CONFIG", home.join("notmuch-config"))
        .stdin(Stdio::null())
        .output();
    let output = match run {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            println!("SKIPPED: {program} is not installed");
            return None;
        }
        run => run.expect("started"),
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {said}{complained}");
    Some(said)
}

#[test]
fn notmuch_sees_one_thread() {
    let folder = maildir("notmuch");
    let config = format!(
        "[database]\npath={}\n[user]\nname=Desk\nprimary_email=desk@agents.example\n",
        folder.0.join("mail").display()
    );
    fs::write(folder.0.join("notmuch-config"), config).expect("written");
    if say("notmuch", &["new", "--quiet"], &folder.0).is_none() {
        return;
    }
    let count = |query: &str| -> String {
        let arguments = ["count", "--output=threads", query];
        say("notmuch", &arguments, &folder.0)
            .expect("installed")
            .trim()
            .to_owned()
    };
    assert_eq!(count("*"), "2");
    assert_eq!(count("not from:bo@other.example"), "1");
    let messages = say(
        "notmuch",
        &["count", "thread:{id:First@agents.example}"],
        &folder.0,
    );
    assert_eq!(messages.as_deref().map(str::trim), Some("5"));
}

#[test]
fn mu_sees_one_thread() {
    let folder = maildir("mu");
    let (home, mail) = (folder.0.join("mu"), folder.0.join("mail"));
    let muhome = format!("--muhome={}", home.display());
    let init = ["init", &muhome, &format!("--maildir={}", mail.display())];
    if say("mu", &init, &folder.0).is_none() {
        return;
    }
    say("mu", &["index", &muhome, "--quiet"], &folder.0);
    let arguments = ["find", &muhome, "--threads", "--fields=i", "maildir:/"];
    let found = say("mu", &arguments, &folder.0).expect("installed");
    // What hangs below another mail is indented.
    let roots: Vec<&str> = found
        .lines()
        .filter(|line| !line.starts_with([' ', '\\']))
        .collect();
    assert_eq!(found.lines().count(), 6, "{found}");
    assert_eq!(
        roots,
        [
            "DB7PR08@DB7.EURPRD08.Prod.Outlook.COM",
            "stranger@other.example"
        ],
        "{found}"
    );
}

#[test]
fn mutt_sees_one_thread() {
    let folder = maildir("mutt");
    let copies = folder.0.join("copies");
    for sub in ["cur", "new", "tmp"] {
        fs::create_dir_all(copies.join(sub)).expect("a folder");
    }
    if say("mutt", &["-v"], &folder.0).is_none() {
        return;
    }
    // Copies the thread of one mail elsewhere; a terminal is needed, and never more than its time.
    let settings = "set folder=/tmp strict_threads=yes sort=threads sleep_time=0 confirmappend=no \
        confirmcreate=no quit=yes";
    let keys = format!(
        "push \"<tag-pattern>~(~i second@agents.example)<enter><tag-prefix><copy-message>{}<enter><exit>\"",
        copies.display()
    );
    let mutt = format!(
        "TERM=xterm mutt -n -F /dev/null -R -e '{settings}' \
         -e '{keys}' -f {}",
        folder.0.join("mail").display()
    );
    let arguments = ["20", "script", "-qec", &mutt, "/dev/null"];
    if say("timeout", &arguments, &folder.0).is_none() {
        return;
    }
    let count: usize = ["cur", "new"]
        .iter()
        .map(|sub| fs::read_dir(copies.join(sub)).expect("a folder").count())
        .sum();
    assert_eq!(count, 5);
}
