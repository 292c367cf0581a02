//! What the log says of calls, at its most talkative.

use std::sync::{Arc, Mutex};

use postroom_app::operation::{Surface, TABLE};
use postroom_types::Level;
use serde_json::json;

use crate::world::{CANARY, World, arguments, at_level};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("lock").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_argument_no_secret_and_nothing_out_of_mail_reaches_the_log() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    // With a single subscriber in the process, `tracing` asks the thread that meets a line first
    // whether it wants it, and threads of other tests do not; a second one makes it ask all.
    let _second = tracing::Dispatch::new(
        tracing_subscriber::fmt()
            .with_writer(std::io::sink)
            .finish(),
    );
    let _guard = tracing::subscriber::set_default(subscriber);
    let world = World::new().await;
    for row in TABLE.iter().filter(|row| row.annotations.read_only) {
        for level in [Level::Identity, Level::Tenant] {
            let actor = at_level(&world, level);
            let arguments = arguments(row.name, &world.own);
            let _ = world
                .call(&actor, row.name, arguments, Surface::Tool)
                .await
                .is_ok();
        }
    }
    let refused = json!({"q": "from:((sesame", "labels": ["opensesame"]});
    let _ = world
        .call(&world.agent, "mail_search", refused, Surface::Tool)
        .await
        .is_ok();
    let log = String::from_utf8(lines.0.lock().expect("lock").clone()).expect("text");
    let secret = world.agent_token.rsplit('_').next().expect("a secret");
    for silent in [CANARY, "deposit", "sesame", "terms.txt", "Mia Lund", secret] {
        let line = log.lines().find(|line| line.contains(silent));
        assert!(line.is_none(), "{silent}: {line:?}");
    }
    let search = log
        .lines()
        .find(|line| line.contains("operation=\"mail_search\""))
        .unwrap_or_else(|| panic!("no line in {log}"));
    for said in [
        "method=\"tools/call\"",
        "key=",
        "identity=",
        "query_hash=",
        "duration_ms=",
        "outcome=\"ok\"",
    ] {
        assert!(search.contains(said), "{said} in {search}");
    }
}
