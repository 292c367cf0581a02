//! Time, with a clock that jumps: the clients here do nothing, or nearly nothing.

use postroom_mail::smtp::RecipientAnswer;
use tokio::{
    io::{DuplexStream, duplex},
    task::JoinHandle,
    time::sleep,
};

use super::*;
use crate::smtp::SmtpLimits;

/// Takes everything.
struct Everything;

impl MailSink for Everything {
    async fn recipient(&self, _: &RecipientQuery) -> RecipientAnswer {
        RecipientAnswer::Accepted
    }

    async fn receive(&self, _: Arrival) -> MessageAnswer {
        MessageAnswer::Stored
    }
}

struct World {
    client: DuplexStream,
    shared: Arc<Shared<Everything>>,
    session: JoinHandle<io::Result<()>>,
}

/// A connection with the times of the limits table over a pipe of `pipe` bytes.
fn connect(pipe: usize) -> World {
    let options = SmtpOptions::new("mail.example", Protocol::Smtp);
    let shared = Arc::new(Shared {
        room: Room::new(options.limits.held_bytes),
        options,
        sink: Arc::new(Everything),
        shutdown: CancellationToken::new(),
        overtime: CancellationToken::new(),
    });
    let (client, server) = duplex(pipe);
    let address = "192.0.2.1:25".parse().expect("address");
    let mut session = Session::new(Arc::clone(&shared), address);
    let session = tokio::spawn(async move { session.serve(server).await });
    World {
        client,
        shared,
        session,
    }
}

impl World {
    async fn send(&mut self, text: &str) {
        self.client.write_all(text.as_bytes()).await.expect("write");
    }

    /// All replies until the server closes.
    async fn rest(&mut self) -> String {
        let mut text = String::new();
        self.client.read_to_string(&mut text).await.expect("text");
        text
    }
}

const BEFORE_DATA: &str =
    "HELO c.example\r\nMAIL FROM:<a@sender.example>\r\nRCPT TO:<b@here.example>\r\nDATA\r\n";

fn command_time() -> Duration {
    SmtpLimits::default().command_time
}

#[tokio::test(start_paused = true)]
async fn a_client_that_says_nothing_hears_421_after_the_time_for_a_command() {
    let started = Instant::now();
    let mut world = connect(4_096);
    let replies = world.rest().await;
    assert!(replies.ends_with("421 4.4.2 Timed out; closing\r\n"));
    assert_eq!(started.elapsed(), command_time());
}

#[tokio::test(start_paused = true)]
async fn single_bytes_do_not_buy_time_for_a_command() {
    let started = Instant::now();
    let mut world = connect(4_096);
    for _ in 0..4 {
        world.send("N").await;
        sleep(Duration::from_secs(60)).await;
    }
    assert!(
        world
            .rest()
            .await
            .ends_with("421 4.4.2 Timed out; closing\r\n")
    );
    assert_eq!(started.elapsed(), command_time());
}

#[tokio::test(start_paused = true)]
async fn whole_commands_do() {
    let started = Instant::now();
    let mut world = connect(4_096);
    for _ in 0..4 {
        sleep(command_time() - Duration::from_secs(1)).await;
        world.send("NOOP\r\n").await;
    }
    world.send("QUIT\r\n").await;
    assert!(world.rest().await.ends_with("221 2.0.0 Bye\r\n"));
    assert!(started.elapsed() > command_time() * 3);
}

#[tokio::test(start_paused = true)]
async fn a_message_may_take_longer_than_a_command_but_not_for_ever() {
    let started = Instant::now();
    let mut world = connect(4_096);
    world.send(BEFORE_DATA).await;
    // A byte each four minutes: alive by each pause, too slow by the whole.
    let slow = async {
        let (mut reader, mut writer) = tokio::io::split(&mut world.client);
        let trickle = async {
            while writer.write_all(b"x").await.is_ok() {
                sleep(Duration::from_secs(240)).await;
            }
        };
        let mut text = String::new();
        tokio::select! {
            () = trickle => {}
            read = reader.read_to_string(&mut text) => { read.expect("text"); }
        }
        text
    };
    assert!(slow.await.ends_with("421 4.4.2 Timed out; closing\r\n"));
    assert_eq!(started.elapsed(), SmtpLimits::default().data_time);
}

#[tokio::test(start_paused = true)]
async fn a_pause_inside_a_message_is_bounded_too() {
    let started = Instant::now();
    let mut world = connect(4_096);
    world.send(BEFORE_DATA).await;
    world.send("Subject: x\r\n").await;
    assert!(
        world
            .rest()
            .await
            .ends_with("421 4.4.2 Timed out; closing\r\n")
    );
    assert_eq!(started.elapsed(), command_time());
}

#[tokio::test(start_paused = true)]
async fn who_takes_no_replies_is_dropped() {
    let started = Instant::now();
    let mut world = connect(64);
    world.send("HELO c.example\r\n").await;
    world.send("HELP\r\nHELP\r\nHELP\r\n").await;
    let ended = (&mut world.session).await.expect("task");
    assert_eq!(ended.expect_err("broke").kind(), io::ErrorKind::TimedOut);
    assert_eq!(started.elapsed(), command_time());
}

#[tokio::test(start_paused = true)]
async fn when_the_listener_stops_a_half_message_has_a_while_to_end() {
    let mut world = connect(4_096);
    world.send(BEFORE_DATA).await;
    world.send("Subject: x\r\n").await;
    sleep(Duration::from_secs(1)).await;
    world.shared.shutdown.cancel();
    sleep(Duration::from_secs(1)).await;
    world.send(".\r\n").await;
    let replies = world.rest().await;
    assert!(
        replies.ends_with("250 2.0.0 Stored\r\n421 4.3.2 Shutting down; try again later\r\n"),
        "{replies}"
    );
}

#[tokio::test(start_paused = true)]
async fn overtime_ends_whatever_is_half_done() {
    let mut world = connect(4_096);
    world.send(BEFORE_DATA).await;
    world.send("Subject: x\r\n").await;
    world.shared.shutdown.cancel();
    sleep(Duration::from_secs(1)).await;
    assert!(!world.session.is_finished());
    world.shared.overtime.cancel();
    let replies = world.rest().await;
    assert!(replies.ends_with("421 4.3.2 Shutting down; try again later\r\n"));
}
