-- Sources, what arrives through them, and the work it opens.

-- Names of granted queues and replay targets, JSON; null for the defaults.
ALTER TABLE api_keys ADD COLUMN grants TEXT;

ALTER TABLE events ADD COLUMN source_id {BLOB};
ALTER TABLE events ADD COLUMN carries_mail BIGINT NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN redeliveries BIGINT NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN last_redelivered_at BIGINT;
ALTER TABLE events ADD COLUMN routing_trace TEXT;
ALTER TABLE events ADD COLUMN todo_id {BLOB};
ALTER TABLE events ADD COLUMN tries BIGINT NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN next_try_at BIGINT;
UPDATE events SET carries_mail = 1 WHERE family = 'mail';

-- What tells a repeated delivery is asked of one source, never across owners.
DROP INDEX events_by_external_key;
CREATE UNIQUE INDEX events_by_source_key ON events (source_id, external_key)
    WHERE source_id IS NOT NULL;
CREATE INDEX events_of_source ON events (source_id, id) WHERE source_id IS NOT NULL;
-- Mail waits for the parser; mail inside a delivery waits for a worker of its own.
DROP INDEX events_pending;
CREATE INDEX events_pending ON events (tenant_id, id) WHERE state = 'pending' AND family = 'mail';
CREATE INDEX events_pending_deliveries ON events (tenant_id, id)
    WHERE state = 'pending' AND family <> 'mail';

CREATE TABLE sources (
    id {BLOB} NOT NULL PRIMARY KEY,
    tenant_id {BLOB} NOT NULL REFERENCES tenants (id),
    identity_id {BLOB} REFERENCES identities (id),
    provider TEXT NOT NULL,
    name TEXT NOT NULL,
    token_hash {BLOB} NOT NULL UNIQUE,
    sealed_token {BLOB} NOT NULL,
    state TEXT NOT NULL,
    trust_mode TEXT NOT NULL,
    secret_origin TEXT NOT NULL,
    secrets TEXT NOT NULL,
    queue TEXT NOT NULL,
    rules TEXT,
    rules_version BIGINT NOT NULL,
    options TEXT,
    trusted_actors TEXT,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    rotated_at BIGINT,
    handshake_at BIGINT
);
CREATE INDEX sources_of_tenant ON sources (tenant_id, id);

-- Apart from the sources, so that counting a delivery does not write rules and secrets again.
CREATE TABLE source_stats (
    source_id {BLOB} NOT NULL PRIMARY KEY,
    deliveries BIGINT NOT NULL,
    redeliveries BIGINT NOT NULL,
    last_delivery_at BIGINT NOT NULL
) {CLUSTERED};

-- Keys that open no second todo.
CREATE TABLE source_once (
    source_id {BLOB} NOT NULL,
    hash {BLOB} NOT NULL,
    tenant_id {BLOB} NOT NULL,
    event_id BIGINT NOT NULL,
    PRIMARY KEY (source_id, hash)
) {CLUSTERED};

-- rank is the priority turned round, so that the next one has the smallest rank and number. due_at
-- is when something is due although nobody asks; dedup and subject are hashes that are there while
-- they count. A finished todo is in no index that claims and sweeps read.
CREATE TABLE todos (
    tenant_id {BLOB} NOT NULL,
    id {BLOB} NOT NULL,
    identity_id {BLOB},
    num BIGINT NOT NULL,
    queue TEXT NOT NULL,
    source_id {BLOB},
    source TEXT,
    kind TEXT,
    title TEXT NOT NULL,
    event_id BIGINT,
    last_event_id BIGINT,
    event_count BIGINT NOT NULL,
    payload_size BIGINT NOT NULL,
    idempotency_key TEXT,
    subject_key TEXT,
    rank BIGINT NOT NULL,
    tags TEXT,
    assignee {BLOB},
    quarantine_reason TEXT,
    routing_trace TEXT,
    max_attempts BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    state TEXT NOT NULL,
    lease_seq BIGINT,
    lease_key {BLOB},
    claimant TEXT,
    claimed_at BIGINT,
    heartbeat_at BIGINT,
    lease_expires_at BIGINT,
    lease_seconds BIGINT,
    lease_hash {BLOB},
    fenced BIGINT,
    note TEXT,
    attempt BIGINT NOT NULL,
    attempts_total BIGINT NOT NULL,
    next_retry_at BIGINT,
    dead_reason TEXT,
    updated_at BIGINT NOT NULL,
    completed_at BIGINT,
    due_at BIGINT,
    dedup {BLOB},
    subject {BLOB},
    result TEXT,
    PRIMARY KEY (tenant_id, id)
) {CLUSTERED};
CREATE INDEX todos_waiting ON todos (tenant_id, queue, rank, num)
    WHERE state = 'pending' AND assignee IS NULL;
CREATE INDEX todos_waiting_of_identity ON todos (identity_id, queue, rank, num)
    WHERE state = 'pending' AND assignee IS NULL AND identity_id IS NOT NULL;
CREATE INDEX todos_assigned ON todos (assignee, queue, rank, num)
    WHERE state = 'pending' AND assignee IS NOT NULL;
CREATE INDEX todos_due ON todos (tenant_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX todos_open ON todos (tenant_id, state, id, queue, identity_id) WHERE state <> 'done';
CREATE INDEX todos_of_queue ON todos (tenant_id, queue, id);
CREATE INDEX todos_of_identity ON todos (identity_id, id) WHERE identity_id IS NOT NULL;
CREATE UNIQUE INDEX todos_by_key ON todos (tenant_id, dedup) WHERE dedup IS NOT NULL;
CREATE INDEX todos_by_subject ON todos (tenant_id, subject) WHERE subject IS NOT NULL;

CREATE TABLE todo_payloads (
    tenant_id {BLOB} NOT NULL,
    todo_id {BLOB} NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (tenant_id, todo_id)
);

-- Attempts that ended; the one in progress stands in its todo.
CREATE TABLE todo_attempts (
    tenant_id {BLOB} NOT NULL,
    todo_id {BLOB} NOT NULL,
    seq BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    key_id {BLOB},
    claimant TEXT,
    claimed_at BIGINT NOT NULL,
    last_heartbeat_at BIGINT,
    lease_expires_at BIGINT NOT NULL,
    token_hash {BLOB} NOT NULL,
    ended_at BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    disposition TEXT NOT NULL,
    summary TEXT,
    summary_truncated BIGINT NOT NULL,
    artifact TEXT,
    note TEXT,
    late_at BIGINT,
    late_outcome TEXT,
    late_result TEXT,
    PRIMARY KEY (tenant_id, todo_id, seq)
) {CLUSTERED};

CREATE TABLE queues (
    tenant_id {BLOB} NOT NULL,
    name TEXT NOT NULL,
    paused BIGINT NOT NULL,
    max_in_flight BIGINT,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, name)
) {CLUSTERED};
