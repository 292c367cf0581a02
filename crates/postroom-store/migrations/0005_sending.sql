-- Sending: what waits to leave, what became of it, and what rules it.

ALTER TABLE identities ADD COLUMN signature TEXT;
ALTER TABLE identities ADD COLUMN send_policy TEXT;
ALTER TABLE threads ADD COLUMN hold TEXT;

-- due_at is there while it waits, claimed_at while somebody has it or had it last; claim_open is
-- claimed_at while somebody has it.
CREATE TABLE sends (
    message_id {BLOB} NOT NULL PRIMARY KEY,
    tenant_id {BLOB} NOT NULL,
    identity_id {BLOB} NOT NULL,
    num BIGINT NOT NULL,
    key_id {BLOB},
    operation TEXT NOT NULL,
    kind TEXT NOT NULL,
    transport TEXT NOT NULL,
    envelope_from TEXT NOT NULL,
    rfc_message_id TEXT NOT NULL,
    sha256 {BLOB} NOT NULL,
    size BIGINT NOT NULL,
    answers {BLOB},
    hop BIGINT NOT NULL,
    idempotency {BLOB} NOT NULL,
    state TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    due_at BIGINT,
    claim {BLOB},
    claim_process {BLOB},
    claimed_at BIGINT,
    provider_message_id TEXT,
    reason TEXT,
    reconciled BIGINT NOT NULL,
    day TEXT NOT NULL,
    metadata TEXT,
    queued_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    claim_open BIGINT
) {CLUSTERED};
CREATE INDEX sends_due ON sends (transport, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX sends_claimed ON sends (claim_open) WHERE claim_open IS NOT NULL;
CREATE INDEX sends_of_tenant ON sends (tenant_id, num);
CREATE INDEX sends_of_identity ON sends (identity_id, num);
CREATE INDEX sends_uncertain ON sends (tenant_id, num) WHERE state = 'uncertain';
CREATE INDEX sends_by_provider ON sends (tenant_id, provider_message_id)
    WHERE provider_message_id IS NOT NULL;

CREATE TABLE deliveries (
    message_id {BLOB} NOT NULL,
    seq BIGINT NOT NULL,
    tenant_id {BLOB} NOT NULL,
    identity_id {BLOB} NOT NULL,
    address TEXT NOT NULL,
    hash {BLOB} NOT NULL,
    field TEXT NOT NULL,
    status TEXT NOT NULL,
    smtp_code BIGINT,
    enhanced_code TEXT,
    bounce_type TEXT,
    reason TEXT,
    attempt BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (message_id, seq)
) {CLUSTERED};

CREATE TABLE idempotency (
    identity_id {BLOB} NOT NULL,
    hash {BLOB} NOT NULL,
    tenant_id {BLOB} NOT NULL,
    fingerprint {BLOB} NOT NULL,
    message_id {BLOB} NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (identity_id, hash)
) {CLUSTERED};
CREATE INDEX idempotency_by_age ON idempotency (at);

CREATE TABLE suppressions (
    tenant_id {BLOB} NOT NULL,
    hash {BLOB} NOT NULL,
    hint TEXT NOT NULL,
    reason TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, hash)
) {CLUSTERED};

CREATE TABLE list_entries (
    tenant_id {BLOB} NOT NULL,
    direction TEXT NOT NULL,
    entry TEXT NOT NULL,
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, direction, entry, kind)
) {CLUSTERED};

CREATE TABLE policies (
    tenant_id {BLOB} NOT NULL PRIMARY KEY,
    own TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- identity_id is sixteen zero bytes for the tenant's sum.
CREATE TABLE usage_days (
    tenant_id {BLOB} NOT NULL,
    identity_id {BLOB} NOT NULL,
    day TEXT NOT NULL,
    sends BIGINT NOT NULL,
    held BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, identity_id, day)
) {CLUSTERED};

CREATE TABLE drafts (
    id {BLOB} NOT NULL PRIMARY KEY,
    tenant_id {BLOB} NOT NULL,
    identity_id {BLOB} NOT NULL,
    document TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX drafts_of_identity ON drafts (identity_id, id);

-- Their bytes stand with them, so that nothing else refers to them when they end.
CREATE TABLE uploads (
    id {BLOB} NOT NULL PRIMARY KEY,
    tenant_id {BLOB} NOT NULL,
    identity_id {BLOB} NOT NULL,
    filename TEXT NOT NULL,
    content_type TEXT NOT NULL,
    sha256 {BLOB} NOT NULL,
    size BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    bytes {BLOB} NOT NULL
);
CREATE INDEX uploads_of_identity ON uploads (identity_id, expires_at);
CREATE INDEX uploads_by_end ON uploads (expires_at);
