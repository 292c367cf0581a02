//! The only writer.
//!
//! Commands wait in a bounded queue. The writer takes all that wait, up to the limits of one
//! commit; loads what they name; decides them in order, each seeing what the ones before it did;
//! writes the changes set-based; commits, which syncs; and only then answers and publishes.
//!
//! It is a thread of its own: a caller that goes away stops nothing, and nobody but the callers
//! waits for a sync. A panic inside a decision is
//! the answer of that command alone. A constraint that refuses a row rolls the batch back and runs
//! its commands one by one. Any other error fails the batch, and the connection is opened again
//! and checked before the next: a failed sync is never tried again as if it had not happened.

mod payload;

use crate::{
    StoreError,
    blob::PackedBlob,
    connect::Target,
    feed::{CHANNEL, Feed, FeedPosition, Stirred},
    load::{self, LoadError},
    sql::{self, Conn, Fault, Rows},
    store::Clock,
    write::Writes,
};
use postroom_core::{Command, Context, Needs, Outcome, Refusal, State, decide};
use postroom_types::{ErrorCode, TenantId, Timestamp, limit};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

/// Rounds that a command may be put off before it is answered as unavailable.
const DEFERRALS: usize = 4;
/// Rounds that two nodes may get in each other's way.
const SERIALIZATION_TRIES: usize = 8;
/// Times a lost connection is opened again before the batch fails.
const REOPEN_TRIES: usize = 5;
/// Pause between them.
const REOPEN_PAUSE: Duration = Duration::from_millis(200);
/// After twice so many commands plans are made again for the first time.
const FIRST_PLANS: usize = 32;
/// How long the name of a commit is kept to be asked for.
const COMMIT_NAME_MS: i64 = 3_600_000;

/// A command with its bytes as they will be kept.
pub(crate) struct Packed {
    pub(crate) command: Command,
    pub(crate) blob: Option<PackedBlob>,
    pub(crate) doc: Vec<u8>,
}

impl Packed {
    pub(crate) fn weight(&self) -> usize {
        self.blob.as_ref().map_or(0, PackedBlob::weight) + self.doc.len()
    }
}

/// The answers of a job, one for each of its commands.
pub(crate) type Answers = Vec<Result<Outcome, Refusal>>;

/// Commands that are answered together.
pub(crate) struct Job {
    pub(crate) commands: Vec<Packed>,
    pub(crate) reply: oneshot::Sender<Result<Answers, StoreError>>,
    /// Its share of the bytes that may wait; given back when the job ends.
    pub(crate) _room: OwnedSemaphorePermit,
}

/// Why a round came to nothing.
enum Failure {
    /// A row was refused.
    Constraint,
    /// Two nodes met.
    Serialization,
    /// The commit was sent and its answer never came; what it will have come to if it is there.
    UnknownCommit(Done),
    /// The database cannot go on.
    Broken,
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Sql(error) => error.into(),
            LoadError::Store(error) => {
                tracing::error!(%error, "the writer cannot read what is stored");
                Self::Constraint
            }
        }
    }
}

impl From<sql::Error> for Failure {
    fn from(error: sql::Error) -> Self {
        match error.fault() {
            Fault::Constraint => Self::Constraint,
            Fault::Serialization => Self::Serialization,
            Fault::Other => {
                // Logs the error's kind and code.
                let _answer = StoreError::from(error);
                Self::Broken
            }
        }
    }
}

pub(crate) struct Writer {
    pub(crate) target: Target,
    /// `None` after an error, until it is opened again.
    pub(crate) conn: Option<Conn>,
    pub(crate) plans: Plans,
    pub(crate) feed: Arc<Feed>,
    pub(crate) clock: Clock,
    pub(crate) random: Randomness,
    /// What this node is called by those that share the database.
    pub(crate) node: String,
}

/// PostgreSQL plans a statement once, for tables as they are then, and keeps the plan until it has
/// counted their rows anew: of a first burst into empty tables it would read all, for every commit.
/// So plans are made again whenever as many commands as before have come.
#[derive(Debug)]
pub(crate) struct Plans {
    commands: usize,
    renewed_at: usize,
}

impl Default for Plans {
    fn default() -> Self {
        Self {
            commands: 0,
            renewed_at: FIRST_PLANS,
        }
    }
}

impl Plans {
    /// Counts commands; whether there are twice as many as when plans were made.
    fn are_outgrown(&mut self, commands: usize) -> bool {
        self.commands = self.commands.saturating_add(commands);
        let outgrown = self.commands >= self.renewed_at.saturating_mul(2);
        if outgrown {
            self.renewed_at = self.commands;
        }
        outgrown
    }
}

impl Writer {
    /// Works until the last sender of the queue is gone, and everything queued is answered.
    pub(crate) async fn run(mut self, mut queue: mpsc::Receiver<Job>) {
        while let Some(first) = queue.recv().await {
            let mut commands = first.commands.len();
            let mut bytes: usize = first.commands.iter().map(Packed::weight).sum();
            let mut jobs = vec![first];
            while commands < limit::COMMIT_BATCH && bytes < limit::COMMIT_BATCH_BYTES {
                let Ok(job) = queue.try_recv() else { break };
                commands += job.commands.len();
                bytes += job.commands.iter().map(Packed::weight).sum::<usize>();
                jobs.push(job);
            }
            self.serve(jobs).await;
        }
        if let Some(conn) = self.conn.take() {
            // Everything was committed; closing can only fail to tidy up.
            conn.close().await;
        }
    }

    async fn serve(&mut self, jobs: Vec<Job>) {
        let items: Vec<&Packed> = jobs.iter().flat_map(|job| &job.commands).collect();
        let result = self.answer(&items).await;
        let mut answers = match result {
            Ok(answers) => answers.into_iter(),
            Err(_) => {
                for job in jobs {
                    let _gone = job.reply.send(Err(StoreError::Unavailable));
                }
                return;
            }
        };
        for job in jobs {
            let own: Answers = answers.by_ref().take(job.commands.len()).collect();
            // A caller that went away does not hear; what was asked for is done all the same.
            let _gone = job.reply.send(Ok(own));
        }
    }

    /// Answers for `items`, in order. Commands that must be decided on freshly loaded state go
    /// into the next rounds.
    async fn answer(&mut self, items: &[&Packed]) -> Result<Answers, StoreError> {
        let mut answers: Vec<Option<Result<Outcome, Refusal>>> = vec![None; items.len()];
        let mut open: Vec<usize> = (0..items.len()).collect();
        for _ in 0..DEFERRALS {
            let batch: Vec<&Packed> = open
                .iter()
                .filter_map(|place| items.get(*place).copied())
                .collect();
            let round = self.commit(&batch).await?;
            let mut deferred = Vec::new();
            for (place, answer) in open.iter().zip(round) {
                match answer {
                    Err(Refusal::Deferred) => deferred.push(*place),
                    answer => {
                        if let Some(slot) = answers.get_mut(*place) {
                            // Written down, and not done.
                            *slot = Some(match answer {
                                Ok(Outcome::Recorded(refusal)) => Err(refusal),
                                answer => answer,
                            });
                        }
                    }
                }
            }
            open = deferred;
            if open.is_empty() {
                break;
            }
        }
        Ok(answers
            .into_iter()
            .map(|answer| answer.unwrap_or(Err(Refusal::Deferred)))
            .collect())
    }

    /// Commits a batch whole; or, where a row was refused, each of its commands alone.
    async fn commit(&mut self, batch: &[&Packed]) -> Result<Answers, StoreError> {
        match self.commit_whole(batch).await? {
            Some(answers) => Ok(answers),
            None if batch.len() == 1 => Ok(vec![Err(broken_rule())]),
            None => {
                let mut answers = Vec::with_capacity(batch.len());
                for item in batch {
                    let alone = self.commit_whole(std::slice::from_ref(item)).await?;
                    answers.extend(alone.unwrap_or_else(|| vec![Err(broken_rule())]));
                }
                Ok(answers)
            }
        }
    }

    /// `None` when a constraint refused a row.
    async fn commit_whole(&mut self, batch: &[&Packed]) -> Result<Option<Answers>, StoreError> {
        for _ in 0..SERIALIZATION_TRIES {
            let name = self.random.next();
            match self.round(batch, name).await {
                Ok(answers) => return Ok(Some(answers)),
                Err(Failure::Serialization) => {}
                Err(Failure::Constraint) => return Ok(None),
                Err(Failure::UnknownCommit(done)) => {
                    if self.is_committed(batch, name).await? {
                        self.feed.publish(done.positions, done.stirred);
                        return Ok(Some(done.answers));
                    }
                }
                Err(Failure::Broken) => {
                    self.reopen().await;
                    return Err(StoreError::Unavailable);
                }
            }
        }
        Err(StoreError::Unavailable)
    }

    /// One transaction. After an error the connection is either rolled back or given up.
    async fn round(&mut self, batch: &[&Packed], name: u128) -> Result<Answers, Failure> {
        let now = (self.clock)();
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None => self.target.writer().await.map_err(|error| {
                tracing::error!(%error, "the database cannot be opened");
                Failure::Broken
            })?,
        };
        if conn.is_postgres() && self.plans.are_outgrown(batch.len()) {
            conn.batch("DISCARD PLANS").await?;
        }
        let result = transaction(&conn, batch, (name, &self.node), now, &mut self.random).await;
        let done = match result {
            Ok(done) => done,
            Err(failure) => {
                let usable = matches!(failure, Failure::Constraint | Failure::Serialization);
                // An error while rolling back means that the connection is not worth keeping.
                if usable && conn.rollback().await.is_ok() {
                    self.conn = Some(conn);
                }
                return Err(failure);
            }
        };
        self.conn = Some(conn);
        self.feed.publish(done.positions, done.stirred);
        Ok(done.answers)
    }

    /// Opens the connection again; the settings are asserted as at the start. When it cannot be
    /// opened the next round tries again.
    async fn reopen(&mut self) {
        self.conn = None;
        match self.target.writer().await {
            Ok(conn) => self.conn = Some(conn),
            Err(error) => tracing::error!(%error, "the database cannot be opened again"),
        }
    }

    /// Finds out by its name whether a commit whose answer was lost is there. When it is not, the
    /// batch is run again.
    async fn is_committed(&mut self, batch: &[&Packed], name: u128) -> Result<bool, StoreError> {
        for _ in 0..REOPEN_TRIES {
            self.reopen().await;
            let Some(conn) = self.conn.as_ref() else {
                tokio::time::sleep(REOPEN_PAUSE).await;
                continue;
            };
            match committed(conn, batch, name).await {
                Ok(found) => {
                    tracing::warn!(found, "the answer to a commit was lost");
                    return Ok(found);
                }
                Err(_) => self.conn = None,
            }
        }
        Err(StoreError::Unavailable)
    }
}

/// Whether the commit called `name` is there. Takes the tenants' locks first: the lost transaction
/// either has ended or is waited for.
async fn committed(conn: &Conn, batch: &[&Packed], name: u128) -> Result<bool, Failure> {
    conn.begin()?;
    let mut needs = Needs::default();
    for item in batch {
        item.command.needs(&mut needs);
    }
    let mut state = State::default();
    load::lock_counters(conn, &needs.counters, &mut state).await?;
    let found = conn
        .fetch("SELECT 1 FROM commits WHERE id = $1", vec![name.into()])
        .await?;
    conn.rollback().await?;
    Ok(!found.is_empty())
}

/// What a commit came to: its answers, and what is told of it.
struct Done {
    answers: Answers,
    positions: Vec<(TenantId, FeedPosition)>,
    stirred: Stirred,
}

async fn transaction(
    conn: &Conn,
    batch: &[&Packed],
    (name, node): (u128, &str),
    now: Timestamp,
    random: &mut Randomness,
) -> Result<Done, Failure> {
    conn.begin()?;
    let mut state = load_state(conn, batch, now).await?;
    let (answers, writes) = decide_all(batch, &mut state, now, random);
    if writes.is_empty() {
        conn.rollback().await?;
        return Ok(Done {
            answers,
            positions: Vec::new(),
            stirred: Stirred::default(),
        });
    }
    let mut done = Done {
        answers,
        positions: writes.told(),
        stirred: writes.stirred(),
    };
    let mut rest = writes.write(conn).await?;
    if conn.is_postgres() {
        rest.push(name_commit(conn, name, now).await?);
        // Told when the transaction commits. Alone it would be a transaction with a sync of its own.
        rest.push(Rows {
            sql: "SELECT pg_notify(column1, column2) FROM (VALUES {}) AS new",
            width: 2,
            values: vec![CHANNEL.into(), node.into()],
        });
    }
    conn.insert_together(rest).await?;
    let payloads = payload::ask(conn, &done.answers).await?;
    let (payloads, committed) = tokio::join!(payloads.rows(), conn.commit());
    if let Err(error) = committed {
        let lost = error.is_lost();
        return Err(match Failure::from(error) {
            Failure::Broken if lost => Failure::UnknownCommit(done),
            failure => failure,
        });
    }
    // What is committed stands; a payload that did not come is read by its claimant.
    if let Ok(found) = payloads {
        let _unread = payload::give(&mut done.answers, &found);
    }
    Ok(done)
}

/// The commit's name, to be left with it; drops names that nobody will ask for.
async fn name_commit(conn: &Conn, name: u128, now: Timestamp) -> Result<Rows, Failure> {
    // One commit in 64 tidies up.
    if name.is_multiple_of(64) {
        conn.execute(
            "DELETE FROM commits WHERE committed_at < $1",
            vec![now.plus_ms(-COMMIT_NAME_MS).ms().into()],
        )
        .await?;
    }
    Ok(Rows {
        sql: "INSERT INTO commits (id, committed_at) VALUES {}",
        width: 2,
        values: vec![name.into(), now.ms().into()],
    })
}

async fn load_state(conn: &Conn, batch: &[&Packed], now: Timestamp) -> Result<State, Failure> {
    let mut state = State::default();
    let mut needs = Needs::default();
    for item in batch {
        item.command.needs(&mut needs);
    }
    load::locked(conn, &needs, &mut state, now).await?;
    let mut more = Needs::default();
    for item in batch {
        item.command.needs_after(&state, &mut more);
    }
    if more != Needs::default() {
        load::load(conn, &more, &mut state, now).await?;
    }
    Ok(state)
}

fn decide_all(
    batch: &[&Packed],
    state: &mut State,
    now: Timestamp,
    random: &mut Randomness,
) -> (Answers, Writes) {
    let mut writes = Writes::default();
    let mut answers = Vec::with_capacity(batch.len());
    for item in batch {
        let mut bits = || random.next();
        let mut context = Context {
            now,
            random: &mut bits,
        };
        // Deciding reads the state and never changes it, so a panic leaves it as it was.
        let decided = catch_unwind(AssertUnwindSafe(|| {
            decide(&item.command, state, &mut context)
        }));
        answers.push(match decided {
            Ok(Ok(decision)) => {
                state.apply(&decision.changes);
                writes.absorb(decision.changes, item.blob.as_ref(), &item.doc);
                Ok(decision.outcome)
            }
            Ok(Err(refusal)) => Err(refusal),
            Err(_) => {
                tracing::error!("a decision panicked; its command was refused");
                Err(broken_rule())
            }
        });
    }
    (answers, writes)
}

/// The answer to a command that the database or a fault of ours stopped, when no rule of ours did.
fn broken_rule() -> Refusal {
    Refusal::Code {
        code: ErrorCode::InternalError,
        reason: "the change could not be stored",
        path: None,
    }
}

/// Random bits for ids: SHA-256 over a seed of the system and a counter.
pub(crate) struct Randomness {
    seed: [u8; 32],
    count: u64,
}

impl Randomness {
    pub(crate) fn new() -> Result<Self, StoreError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| StoreError::Open {
            what: "the system's randomness".to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Self { seed, count: 0 })
    }

    pub(crate) fn next(&mut self) -> u128 {
        use sha2::Digest as _;
        self.count += 1;
        let mut hash = sha2::Sha256::new();
        hash.update(self.seed);
        hash.update(self.count.to_be_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        digest
            .first_chunk::<16>()
            .map_or(0, |bytes| u128::from_be_bytes(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_made_again_each_time_the_tables_have_doubled() {
        let mut plans = Plans::default();
        let renewed: Vec<usize> = (1..=1_000).filter(|_| plans.are_outgrown(1)).collect();
        assert_eq!(renewed, [64, 128, 256, 512]);
        assert!(plans.are_outgrown(24));
    }
}
