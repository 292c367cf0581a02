//! What must hold of todos for any commands in any order and any clock.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly, as the tests do"
)]

use postroom_core::{
    AttemptOutcome, AttemptRow, Change, ClaimNextTodo, ClaimTodo, Claimed, Command, Context,
    CreateTodo, Decision, EndAttempt, HeartbeatTodo, LeaseTerms, Mode, Needs, Outcome,
    QUARANTINE_QUEUE, QueueRow, Refusal, RetryTodo, SetQueue, State, TenantRow, TenantStatus,
    TodoRow, TodoState, UndoClaim, Work, Worker, decide,
};
use postroom_types::{ErrorCode, KeyId, Reach, TenantId, TenantScope, Timestamp, TodoId, limit};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

const NOON: i64 = 1_796_040_000_000;

/// A database in memory: rows as a store would keep them, loaded by what commands name.
struct Board {
    tenant: TenantRow,
    todos: BTreeMap<TodoId, TodoRow>,
    attempts: BTreeMap<(TodoId, u64), AttemptRow>,
    queues: BTreeMap<String, QueueRow>,
    position: u64,
    random: u128,
    now: Timestamp,
}

impl Board {
    fn new() -> Self {
        let now = Timestamp::from_ms(NOON);
        Self {
            tenant: TenantRow {
                id: TenantId::from_parts(1, 1),
                slug: "acme".to_owned(),
                name: "acme".to_owned(),
                status: TenantStatus::Active,
                mode: Mode::Live,
                timezone: "UTC".to_owned(),
                address_suffix: ".acme".to_owned(),
                created_at: now,
                updated_at: now,
            },
            todos: BTreeMap::new(),
            attempts: BTreeMap::new(),
            queues: BTreeMap::new(),
            position: 0,
            random: 0,
            now,
        }
    }

    fn scope(&self) -> TenantScope {
        TenantScope::granted(self.tenant.id, Reach::Tenant)
    }

    fn worker(&self, key: u8) -> Worker {
        Worker {
            scope: self.scope(),
            key: Some(KeyId::from_parts(1, u128::from(key))),
            queues: None,
            reviews_quarantine: false,
        }
    }

    /// Loads what the commands name, in two steps, as the store does.
    fn load(&self, commands: &[Command]) -> State {
        let mut state = State::default();
        state.tenants.insert(self.tenant.id, self.tenant.clone());
        state.counters.entry(self.tenant.id).or_default().position = self.position;
        let mut needs = Needs::default();
        for command in commands {
            command.needs(&mut needs);
        }
        self.fill(&needs, &mut state);
        let mut more = Needs::default();
        for command in commands {
            command.needs_after(&state, &mut more);
        }
        self.fill(&more, &mut state);
        state
    }

    fn fill(&self, needs: &Needs, state: &mut State) {
        for (_, id) in &needs.todos {
            if let Some(row) = self.todos.get(id) {
                state.load_todo(row.clone());
            }
        }
        for row in self.todos.values() {
            let wanted = |hash: Option<[u8; 16]>, set: &BTreeSet<(TenantId, [u8; 16])>| {
                hash.is_some_and(|hash| set.contains(&(row.tenant_id, hash)))
            };
            if wanted(row.dedup(), &needs.todo_keys) || wanted(row.subject(), &needs.subjects) {
                state.load_todo(row.clone());
            }
        }
        for row in self.attempts.values() {
            if needs.attempts.contains(&(row.tenant_id, row.todo_id)) {
                state.load_attempt(row.clone());
            }
        }
        if needs.queues.contains(&self.tenant.id) {
            for row in self.queues.values() {
                let key = (row.tenant_id, row.name.clone());
                let claimed = self
                    .todos
                    .values()
                    .filter(|todo| todo.state == TodoState::Claimed && todo.queue == row.name);
                state.in_flight.insert(key.clone(), claimed.count() as u64);
                state.queues.insert(key, row.clone());
            }
        }
        for spec in &needs.claims {
            let want = needs.claimants.get(&spec.tenant).copied().unwrap_or(1);
            let mut found: Vec<&TodoRow> = self
                .todos
                .values()
                .filter(|row| spec.takes_queue(&row.queue) && self.is_takeable(row))
                .collect();
            found.sort_by_key(|row| (-row.priority, row.num));
            let whole = found.len() < want;
            found.truncate(want);
            for row in found {
                state.load_todo(row.clone());
            }
            state.claims.insert(spec.clone(), whole);
        }
        for count in needs.sweeps.values() {
            let due = self.todos.values().filter(|row| row.is_due(self.now));
            for row in due.take(*count) {
                state.load_todo(row.clone());
            }
        }
    }

    fn is_takeable(&self, row: &TodoRow) -> bool {
        let spent = row.state == TodoState::Claimed && row.attempt >= row.max_attempts;
        row.is_claimable(self.now) && !spent
    }

    fn is_open(&self, queue: &str) -> bool {
        let Some(row) = self.queues.get(queue) else {
            return true;
        };
        let claimed = self
            .todos
            .values()
            .filter(|todo| todo.state == TodoState::Claimed && todo.queue == queue)
            .count() as u64;
        !row.paused && row.max_in_flight.is_none_or(|most| claimed < most)
    }

    /// One commit for all commands, and more for those that are put off.
    fn transact(&mut self, commands: &[Command]) -> Vec<Result<Outcome, Refusal>> {
        let mut answers: Vec<Option<Result<Outcome, Refusal>>> = vec![None; commands.len()];
        for _ in 0..4 {
            let mut state = self.load(commands);
            for (slot, command) in answers.iter_mut().zip(commands) {
                if slot.is_some() {
                    continue;
                }
                let random = &mut self.random;
                let mut bits = || {
                    *random += 1;
                    random.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
                };
                let mut context = Context {
                    now: self.now,
                    random: &mut bits,
                };
                match decide(command, &state, &mut context) {
                    Ok(Decision { changes, outcome }) => {
                        state.apply(&changes);
                        self.keep(changes);
                        *slot = Some(Ok(outcome));
                    }
                    Err(Refusal::Deferred) => {}
                    Err(refusal) => *slot = Some(Err(refusal)),
                }
            }
        }
        answers
            .into_iter()
            .map(|answer| answer.unwrap_or(Err(Refusal::Deferred)))
            .collect()
    }

    fn one(&mut self, command: Command) -> Result<Outcome, Refusal> {
        self.transact(&[command]).pop().expect("one answer")
    }

    fn keep(&mut self, changes: Vec<Change>) {
        for change in changes {
            match change {
                Change::AddTodo { row, .. } => {
                    assert!(self.todos.insert(row.id, *row).is_none(), "a new id");
                }
                Change::PutTodo { row, .. } => {
                    assert!(self.todos.insert(row.id, *row).is_some(), "a known id");
                }
                Change::PutAttempt(row) => {
                    self.attempts.insert((row.todo_id, row.seq), *row);
                }
                Change::PruneAttempts {
                    todo_id,
                    through_seq,
                    ..
                } => self
                    .attempts
                    .retain(|(todo, seq), _| *todo != todo_id || *seq > through_seq),
                Change::RemoveTodo { id, .. } => {
                    let gone = self.todos.remove(&id).expect("a known id");
                    assert!(!gone.is_live(), "{gone:?}");
                    self.attempts.retain(|(todo, _), _| *todo != id);
                }
                Change::PutQueue(row) => {
                    self.queues.insert(row.name.clone(), row);
                }
                Change::Feed(row) => {
                    assert!(row.position > self.position);
                    self.position = row.position;
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn create(&self, queue: &str, key: Option<&str>, priority: i64) -> Command {
        Command::CreateTodo(Box::new(CreateTodo {
            worker: self.worker(0),
            identity: None,
            work: Work {
                queue: Some(queue.to_owned()),
                title: "work".to_owned(),
                idempotency_key: key.map(ToOwned::to_owned),
                priority,
                max_attempts: Some(3),
                ..Work::default()
            },
            source: None,
            payload: None,
            event_id: None,
        }))
    }

    fn next(&self, key: u8, queues: Option<Vec<String>>) -> Command {
        Command::ClaimNextTodo(ClaimNextTodo {
            worker: self.worker(key),
            queues,
            terms: LeaseTerms {
                require_fence: key.is_multiple_of(2),
                ..LeaseTerms::default()
            },
        })
    }

    fn end(&self, claim: &Held, token: bool) -> EndAttempt {
        EndAttempt {
            worker: self.worker(claim.key),
            todo: claim.todo,
            lease_token: token.then(|| claim.token.clone()),
            result: None,
            summary: Some("said".to_owned()),
            artifact: None,
        }
    }

    fn check(&self, before: &BTreeMap<TodoId, TodoRow>) {
        let mut keys = BTreeSet::new();
        for row in self.todos.values() {
            assert_eq!(row.lease.is_some(), row.state == TodoState::Claimed);
            assert_eq!(
                row.completed_at.is_some(),
                !row.is_live(),
                "an end has its time"
            );
            assert_eq!(row.dead_reason.is_some(), row.is_dead_letter());
            assert!(row.attempt <= row.attempts_total);
            assert!(row.next_retry_at.is_none() || row.state == TodoState::Failed);
            if let Some(key) = row.dedup() {
                assert!(keys.insert(key), "two live todos with one key");
            }
            if let Some(known) = before.get(&row.id) {
                assert!(row.attempts_total >= known.attempts_total);
                assert_eq!((row.num, row.created_at), (known.num, known.created_at));
            }
            if let Some(lease) = &row.lease {
                assert_eq!(lease.seq, row.attempts_total);
                assert!(
                    !self.attempts.contains_key(&(row.id, lease.seq)),
                    "an attempt in progress has not ended"
                );
            }
        }
    }
}

/// A claim as its claimant remembers it.
#[derive(Debug, Clone)]
struct Held {
    todo: TodoId,
    token: String,
    seq: u64,
    key: u8,
}

#[derive(Debug, Clone)]
enum Step {
    Create {
        key: Option<u8>,
        priority: i64,
        queue: u8,
    },
    Next {
        count: usize,
        key: u8,
        queue: Option<u8>,
    },
    Claim {
        which: usize,
        key: u8,
    },
    Heartbeat {
        which: usize,
        token: bool,
    },
    End {
        which: usize,
        word: u8,
        token: bool,
    },
    Undo {
        which: usize,
    },
    Retry {
        which: usize,
    },
    Sweep,
    Clock {
        seconds: i64,
    },
    Queue {
        queue: u8,
        paused: bool,
        bound: Option<u64>,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (prop::option::of(0_u8..3), -1_i64..2, 0_u8..3)
            .prop_map(|(key, priority, queue)| Step::Create { key, priority, queue }),
        5 => (1_usize..4, 0_u8..3, prop::option::of(0_u8..3))
            .prop_map(|(count, key, queue)| Step::Next { count, key, queue }),
        2 => (any::<usize>(), 0_u8..3).prop_map(|(which, key)| Step::Claim { which, key }),
        2 => (any::<usize>(), any::<bool>())
            .prop_map(|(which, token)| Step::Heartbeat { which, token }),
        6 => (any::<usize>(), 0_u8..3, any::<bool>())
            .prop_map(|(which, word, token)| Step::End { which, word, token }),
        1 => any::<usize>().prop_map(|which| Step::Undo { which }),
        1 => any::<usize>().prop_map(|which| Step::Retry { which }),
        2 => Just(Step::Sweep),
        4 => prop_oneof![0_i64..400, -100_i64..0, Just(1_000)]
            .prop_map(|seconds| Step::Clock { seconds }),
        1 => (0_u8..3, any::<bool>(), prop::option::of(1_u64..3))
            .prop_map(|(queue, paused, bound)| Step::Queue { queue, paused, bound }),
    ];
    prop::collection::vec(step, 1..60)
}

fn name(queue: u8) -> String {
    format!("q{queue}")
}

fn pick<T: Clone>(items: &[T], which: usize) -> Option<T> {
    let place = which.checked_rem(items.len())?;
    items.get(place).cloned()
}

/// Takes the steps, and looks at every answer.
fn play(board: &mut Board, steps: &[Step]) {
    let mut claims: Vec<Held> = Vec::new();
    for step in steps {
        let before = board.todos.clone();
        match step {
            Step::Create {
                key,
                priority,
                queue,
            } => {
                let key = key.map(|key| format!("k{key}"));
                let command = board.create(&name(*queue), key.as_deref(), *priority);
                let Ok(Outcome::Todo { row, created }) = board.one(command) else {
                    panic!("created or found");
                };
                assert_eq!(created, !before.contains_key(&row.id));
                assert!(created || before[&row.id].is_live());
            }
            Step::Next { count, key, queue } => {
                let queues = queue.map(|queue| vec![name(queue)]);
                claim_some(board, *count, *key, queues.as_deref(), &mut claims);
            }
            Step::Claim { which, key } => {
                let ids: Vec<TodoId> = board.todos.keys().copied().collect();
                if let Some(todo) = pick(&ids, *which) {
                    claim_one(board, todo, *key, &mut claims);
                }
            }
            Step::Heartbeat { which, token } => {
                if let Some(claim) = pick(&claims, *which) {
                    let holds = holds(board, &claim, *token);
                    let answer = board.one(Command::HeartbeatTodo(HeartbeatTodo {
                        worker: board.worker(claim.key),
                        todo: claim.todo,
                        lease_token: token.then(|| claim.token.clone()),
                        seconds: None,
                        note: None,
                    }));
                    assert_eq!(answer.is_ok(), holds, "{answer:?}");
                }
            }
            Step::End { which, word, token } => {
                if let Some(claim) = pick(&claims, *which) {
                    end_one(board, &claim, *word, *token, &before);
                }
            }
            Step::Undo { which } => {
                if let Some(claim) = pick(&claims, *which) {
                    let answer = board.one(Command::UndoClaim(UndoClaim {
                        scope: board.scope(),
                        todo: claim.todo,
                        seq: claim.seq,
                    }));
                    assert!(answer.is_ok());
                    let (was, is) = (&before[&claim.todo], &board.todos[&claim.todo]);
                    let same = was.lease.as_ref().is_some_and(|l| l.seq == claim.seq);
                    if same {
                        assert_eq!(is.state, TodoState::Pending);
                        assert_eq!(is.attempt + 1, was.attempt);
                    } else {
                        assert_eq!(was, is);
                    }
                }
            }
            Step::Retry { which } => {
                let ids: Vec<TodoId> = board.todos.keys().copied().collect();
                if let Some(todo) = pick(&ids, *which) {
                    let answer = board.one(Command::RetryTodo(RetryTodo {
                        worker: board.worker(0),
                        todo,
                    }));
                    let failed = before[&todo].state == TodoState::Failed;
                    assert!(failed || answer.is_err());
                    if answer.is_ok() {
                        assert_eq!(board.todos[&todo].attempt, 0);
                    }
                }
            }
            Step::Sweep => {
                sweep(board);
                let due = board.todos.values().any(|row| row.is_due(board.now));
                assert!(!due, "a sweep leaves nothing overdue");
            }
            Step::Clock { seconds } => board.now = board.now.plus_ms(seconds * 1_000),
            Step::Queue {
                queue,
                paused,
                bound,
            } => {
                let answer = board.one(Command::SetQueue(SetQueue {
                    scope: board.scope(),
                    queue: name(*queue),
                    paused: Some(*paused),
                    max_in_flight: Some(*bound),
                }));
                assert!(answer.is_ok());
            }
        }
        board.check(&before);
    }
}

fn sweep(board: &mut Board) {
    let tenant = board.tenant.id;
    let answer = board.one(Command::SweepTodos {
        tenant,
        limit: limit::TODO_SWEEP,
    });
    assert!(matches!(answer, Ok(Outcome::Swept(_))));
}

fn remember(claimed: &Claimed, key: u8, claims: &mut Vec<Held>) {
    let lease = claimed.row.lease.as_ref().expect("a lease");
    claims.push(Held {
        todo: claimed.row.id,
        token: claimed.lease_token.0.clone(),
        seq: lease.seq,
        key,
    });
}

/// Several claims in one commit get different todos, each the first that may be taken; "nothing"
/// is said only when there is nothing.
fn claim_some(
    board: &mut Board,
    count: usize,
    key: u8,
    queues: Option<&[String]>,
    claims: &mut Vec<Held>,
) {
    let mut expected: Vec<TodoRow> = board
        .todos
        .values()
        .filter(|row| queues.is_none_or(|queues| queues.contains(&row.queue)))
        .filter(|row| board.is_takeable(row) && board.is_open(&row.queue))
        .cloned()
        .collect();
    expected.sort_by_key(|row| (-row.priority, row.num));
    let bounded = board.queues.values().any(|row| row.max_in_flight.is_some());
    let commands: Vec<Command> = (0..count)
        .map(|_| board.next(key, queues.map(<[String]>::to_vec)))
        .collect();
    let mut seen = BTreeSet::new();
    let mut wanted = expected.iter();
    for answer in board.transact(&commands) {
        match answer {
            Ok(Outcome::Claimed(claimed)) => {
                assert!(seen.insert(claimed.row.id), "handed out twice");
                if !bounded {
                    assert_eq!(Some(claimed.row.id), wanted.next().map(|row| row.id));
                }
                remember(&claimed, key, claims);
            }
            Ok(Outcome::NothingToClaim) => {
                assert!(bounded || wanted.next().is_none());
            }
            other => panic!("{other:?}"),
        }
    }
}

fn claim_one(board: &mut Board, todo: TodoId, key: u8, claims: &mut Vec<Held>) {
    let row = board.todos[&todo].clone();
    let open = row.state == TodoState::Claimed || board.is_open(&row.queue);
    let takeable = board.is_takeable(&row);
    let answer = board.one(Command::ClaimTodo(ClaimTodo {
        worker: board.worker(key),
        todo,
        terms: LeaseTerms::default(),
    }));
    match answer {
        Ok(Outcome::Claimed(claimed)) => {
            assert!(takeable && open);
            remember(&claimed, key, claims);
        }
        Err(refusal) => {
            let code = refusal.code();
            assert!(!takeable && code == ErrorCode::Conflict || !open);
        }
        other => panic!("{other:?}"),
    }
}

/// Whether a word on a claim must be taken now.
fn holds(board: &Board, claim: &Held, token: bool) -> bool {
    let row = &board.todos[&claim.todo];
    let Some(lease) = &row.lease else {
        return false;
    };
    let by_token = !token || lease.seq == claim.seq;
    let by_key = lease.key_id == board.worker(claim.key).key;
    by_token && by_key && (token || !lease.fenced) && board.now < lease.expires_at
}

/// A last word is taken exactly when its lease holds; the same word again changes nothing; a late
/// one is kept beside its attempt.
fn end_one(
    board: &mut Board,
    claim: &Held,
    word: u8,
    token: bool,
    before: &BTreeMap<TodoId, TodoRow>,
) {
    let holds = holds(board, claim, token);
    let end = board.end(claim, token);
    let command = match word {
        0 => Command::CompleteTodo(end),
        1 => Command::FailTodo(end),
        _ => Command::ReleaseTodo(end),
    };
    let answer = board.one(command);
    let (was, is) = (&before[&claim.todo], &board.todos[&claim.todo]);
    match answer {
        Ok(Outcome::Todo { .. }) if holds => {
            let ended = match word {
                0 => is.state == TodoState::Done,
                1 => is.state == TodoState::Failed,
                _ => is.state == TodoState::Pending,
            };
            assert!(ended, "{is:?}");
        }
        Ok(Outcome::Todo { .. }) => assert!(token && was == is, "the same word again"),
        Ok(Outcome::Recorded(refusal)) => {
            assert!(!holds && refusal.code() == ErrorCode::Conflict);
            let late = board
                .attempts
                .values()
                .any(|row| row.todo_id == claim.todo && row.late_at == Some(board.now));
            assert!(late || word == 2);
            assert!(is.state != TodoState::Done || was == is);
        }
        Err(refusal) => {
            assert!(!holds, "{refusal:?}");
            assert_eq!(was, is);
        }
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_commands_under_any_clock_keep_the_board_whole(steps in steps()) {
        let mut board = Board::new();
        play(&mut board, &steps);
        // Nothing stays stuck: once every lease and pause is over, a sweep leaves only what waits
        // and what is finished.
        board.now = board.now.plus_ms(2 * 24 * 3_600_000);
        sweep(&mut board);
        for row in board.todos.values() {
            prop_assert!(row.state == TodoState::Pending || !row.is_live(), "{:?}", row);
        }
    }
}

fn opened(board: &mut Board) -> TodoId {
    match board.one(board.create("q", None, 0)) {
        Ok(Outcome::Todo { row, .. }) => row.id,
        other => panic!("{other:?}"),
    }
}

fn claimed(board: &mut Board, key: u8) -> Held {
    let mut claims = Vec::new();
    claim_some(board, 1, key, None, &mut claims);
    claims.pop().expect("claimed")
}

#[test]
fn pauses_double_from_thirty_seconds_and_the_last_try_makes_a_dead_letter() {
    let mut board = Board::new();
    let id = opened(&mut board);
    if let Some(row) = board.todos.get_mut(&id) {
        row.max_attempts = 7;
    }
    for pause in [30, 60, 120, 240, 480, 900] {
        let claim = claimed(&mut board, 1);
        let end = board.end(&claim, true);
        board.one(Command::FailTodo(end)).expect("failed");
        let due = board.todos[&id].next_retry_at.expect("parked");
        assert_eq!(due.ms() - board.now.ms(), pause * 1_000);
        board.now = Timestamp::from_ms(due.ms() - 1);
        let early = board.one(board.next(1, None));
        assert_eq!(early, Ok(Outcome::NothingToClaim));
        board.now = due;
    }
    let claim = claimed(&mut board, 1);
    let end = board.end(&claim, true);
    board.one(Command::FailTodo(end)).expect("failed");
    assert!(board.todos[&id].is_dead_letter());
    assert_eq!(board.todos[&id].attempt, 7);
}

#[test]
fn held_back_work_is_taken_only_by_who_may_review_it_and_names_its_queue() {
    let mut board = Board::new();
    let id = opened(&mut board);
    if let Some(row) = board.todos.get_mut(&id) {
        row.queue = QUARANTINE_QUEUE.to_owned();
    }
    let named = || Some(vec![QUARANTINE_QUEUE.to_owned()]);
    for (reviews, granted, queues, taken) in [
        (false, None, None, false),
        (false, None, named(), false),
        (true, None, None, false),
        (true, named(), None, false),
        (true, None, named(), true),
    ] {
        let worker = Worker {
            reviews_quarantine: reviews,
            queues: granted,
            ..board.worker(1)
        };
        let claim = Command::ClaimNextTodo(ClaimNextTodo {
            worker,
            queues,
            terms: LeaseTerms::default(),
        });
        let outcome = board.one(claim).expect("decided");
        assert_eq!(matches!(outcome, Outcome::Claimed(_)), taken, "{outcome:?}");
    }
}

#[test]
fn only_what_ended_long_ago_is_removed() {
    let mut board = Board::new();
    let (done, held, waiting) = (opened(&mut board), opened(&mut board), opened(&mut board));
    let claim = claimed(&mut board, 1);
    let end = board.end(&claim, true);
    board.one(Command::CompleteTodo(end)).expect("done");
    claimed(&mut board, 1);
    let prune = |board: &mut Board, before: Timestamp| {
        board.one(Command::PruneTodos {
            tenant: board.tenant.id,
            todos: vec![done, held, waiting],
            ended_before: before,
        })
    };
    let ended = board.now;
    assert_eq!(prune(&mut board, ended), Ok(Outcome::Pruned(0)));
    assert_eq!(prune(&mut board, ended.plus_ms(1)), Ok(Outcome::Pruned(1)));
    assert!(!board.todos.contains_key(&done) && board.todos.len() == 2);
    assert!(board.attempts.is_empty());
}

#[test]
fn at_most_fifty_attempts_are_kept() {
    let mut board = Board::new();
    let id = opened(&mut board);
    for _ in 0..60 {
        let claim = claimed(&mut board, 1);
        let end = board.end(&claim, true);
        board.one(Command::ReleaseTodo(end)).expect("released");
    }
    let kept = board.attempts.keys().filter(|(todo, _)| *todo == id);
    assert_eq!(kept.count() as u64, limit::TODO_ATTEMPTS_KEPT);
    assert_eq!(board.todos[&id].attempts_total, 60);
}

#[test]
fn a_lease_is_refused_past_its_bounds_and_never_cut() {
    let mut board = Board::new();
    let id = opened(&mut board);
    for (seconds, fits) in [(0, false), (86_401, false), (86_400, true)] {
        let answer = board.one(Command::ClaimTodo(ClaimTodo {
            worker: board.worker(1),
            todo: id,
            terms: LeaseTerms {
                seconds: Some(seconds),
                ..LeaseTerms::default()
            },
        }));
        match answer {
            Ok(_) => assert!(fits),
            Err(refusal) => {
                assert_eq!(refusal.code(), ErrorCode::InvalidArgument);
                assert!(!fits);
            }
        }
    }
}

#[test]
fn words_are_checked_and_a_long_summary_is_cut_between_characters() {
    let mut board = Board::new();
    opened(&mut board);
    let claim = claimed(&mut board, 1);
    for artifact in [
        "http://x.example/",
        "file:///etc",
        "https://a b",
        &format!("https://{}", "x".repeat(505)),
    ] {
        let end = EndAttempt {
            artifact: Some(artifact.to_owned()),
            ..board.end(&claim, true)
        };
        let refusal = board.one(Command::CompleteTodo(end)).expect_err("refused");
        assert_eq!(refusal.code(), ErrorCode::InvalidArgument);
    }
    let end = EndAttempt {
        summary: Some(format!("{}é", "x".repeat(limit::TODO_SUMMARY_BYTES - 1))),
        artifact: Some(format!("https://{}", "x".repeat(504))),
        result: Some("1".repeat(limit::TODO_RESULT_BYTES)),
        ..board.end(&claim, true)
    };
    let long = EndAttempt {
        result: Some("1".repeat(limit::TODO_RESULT_BYTES + 1)),
        ..end.clone()
    };
    assert!(board.one(Command::CompleteTodo(long)).is_err());
    board.one(Command::CompleteTodo(end)).expect("done");
    let attempt = board.attempts.values().next().expect("kept");
    assert!(attempt.summary_truncated);
    assert_eq!(
        attempt.summary.as_ref().map(String::len),
        Some(limit::TODO_SUMMARY_BYTES - 1)
    );
    assert_eq!(attempt.outcome, AttemptOutcome::Completed);
}

#[test]
fn a_retry_by_hand_does_not_make_two_live_todos_of_one_key() {
    let mut board = Board::new();
    let first = match board.one(board.create("q", Some("k"), 0)) {
        Ok(Outcome::Todo { row, created: true }) => row.id,
        other => panic!("{other:?}"),
    };
    for _ in 0..3 {
        let claim = claimed(&mut board, 1);
        let end = board.end(&claim, true);
        board.one(Command::FailTodo(end)).expect("failed");
        board.now = board.now.plus_ms(3_600_000);
    }
    assert!(board.todos[&first].is_dead_letter());
    let second = board.one(board.create("q", Some("k"), 0));
    assert!(matches!(second, Ok(Outcome::Todo { created: true, .. })));
    let retry = Command::RetryTodo(RetryTodo {
        worker: board.worker(1),
        todo: first,
    });
    let refusal = board.one(retry).expect_err("refused");
    assert_eq!(refusal.code(), ErrorCode::Conflict);
    let ids: HashMap<TodoId, bool> = board
        .todos
        .values()
        .map(|row| (row.id, row.is_live()))
        .collect();
    assert_eq!(ids.values().filter(|live| **live).count(), 1);
}
