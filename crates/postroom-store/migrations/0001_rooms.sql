-- Words in braces differ by database: bytes are BLOB or BYTEA, small tables are clustered by their
-- key on SQLite. Ids are 16 bytes (the ULID), instants milliseconds since 1970, flags 0 or 1.
CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

-- The last feed position and received_at of each tenant. Every writer locks its tenants' rows
-- first, which makes the order of positions the order of commits.
CREATE TABLE counters (
    tenant_id {BLOB} NOT NULL PRIMARY KEY,
    position BIGINT NOT NULL,
    last_at BIGINT NOT NULL
) {CLUSTERED};

-- Names of recent commits, to find out what became of one whose answer was lost.
CREATE TABLE commits (
    id {BLOB} NOT NULL PRIMARY KEY,
    committed_at BIGINT NOT NULL
) {CLUSTERED};

CREATE TABLE tenants (
    id {BLOB} NOT NULL PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    mode TEXT NOT NULL,
    timezone TEXT NOT NULL,
    address_suffix TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- tenant_id is sixteen zero bytes for a domain of the deployment.
CREATE TABLE domains (
    id {BLOB} NOT NULL PRIMARY KEY,
    tenant_id {BLOB} NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (tenant_id, name)
);

CREATE TABLE identities (
    id {BLOB} NOT NULL PRIMARY KEY,
    tenant_id {BLOB} NOT NULL REFERENCES tenants (id),
    username TEXT NOT NULL,
    display_name TEXT NOT NULL,
    purpose TEXT,
    status TEXT NOT NULL,
    pause_reason TEXT,
    owner TEXT,
    metadata TEXT NOT NULL,
    client_id TEXT,
    client_digest {BLOB},
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (tenant_id, username),
    UNIQUE (tenant_id, client_id)
);

-- An address is never given out a second time, not even a retired one.
CREATE TABLE addresses (
    id {BLOB} NOT NULL PRIMARY KEY,
    tenant_id {BLOB} NOT NULL REFERENCES tenants (id),
    identity_id {BLOB} NOT NULL REFERENCES identities (id),
    address TEXT NOT NULL UNIQUE,
    domain_id {BLOB} NOT NULL REFERENCES domains (id),
    role TEXT NOT NULL,
    status TEXT NOT NULL,
    retire_at BIGINT,
    retired_at BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX addresses_of_identity ON addresses (identity_id);

CREATE TABLE api_keys (
    id {BLOB} NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    level TEXT NOT NULL,
    mode TEXT NOT NULL,
    tenant_id {BLOB} REFERENCES tenants (id),
    identity_id {BLOB} REFERENCES identities (id),
    permissions TEXT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    last_used_at BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX api_keys_of_tenant ON api_keys (tenant_id, id);

CREATE TABLE key_secrets (
    lookup TEXT NOT NULL PRIMARY KEY,
    key_id {BLOB} NOT NULL REFERENCES api_keys (id),
    hash {BLOB} NOT NULL,
    valid_until BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX key_secrets_of_key ON key_secrets (key_id);

CREATE TABLE owner_links (
    hash {BLOB} NOT NULL PRIMARY KEY,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);

CREATE TABLE sessions (
    hash {BLOB} NOT NULL PRIMARY KEY,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE TABLE feed (
    tenant_id {BLOB} NOT NULL,
    position BIGINT NOT NULL,
    kind TEXT NOT NULL,
    identity_id {BLOB},
    subject {BLOB},
    num BIGINT,
    at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, position)
) {CLUSTERED};

CREATE TABLE events (
    tenant_id {BLOB} NOT NULL,
    id BIGINT NOT NULL,
    identity_id {BLOB},
    provider TEXT NOT NULL,
    family TEXT NOT NULL,
    event_type TEXT,
    external_key TEXT,
    trust_mode TEXT NOT NULL,
    verified BIGINT NOT NULL,
    verify_detail TEXT,
    content_type TEXT,
    headers TEXT,
    sha256 {BLOB} NOT NULL,
    payload_size BIGINT NOT NULL,
    source_ip TEXT,
    mail_from TEXT,
    delivered_to TEXT,
    received_at BIGINT NOT NULL,
    occurred_at BIGINT,
    disposition TEXT NOT NULL,
    state TEXT NOT NULL,
    message_id {BLOB},
    detail TEXT,
    PRIMARY KEY (tenant_id, id)
) {CLUSTERED};
-- The very bytes once per mailbox: the external id of a mail is the digest of its bytes.
CREATE UNIQUE INDEX events_by_digest ON events (identity_id, sha256) WHERE family = 'mail';
CREATE UNIQUE INDEX events_by_external_key ON events (tenant_id, provider, external_key)
    WHERE external_key IS NOT NULL;
CREATE INDEX events_of_identity ON events (identity_id, id);
CREATE INDEX events_pending ON events (tenant_id, id) WHERE state = 'pending';

CREATE TABLE blobs (
    tenant_id {BLOB} NOT NULL,
    sha256 {BLOB} NOT NULL,
    size BIGINT NOT NULL,
    place TEXT NOT NULL,
    bytes {BLOB},
    PRIMARY KEY (tenant_id, sha256)
);

CREATE TABLE messages (
    id {BLOB} NOT NULL PRIMARY KEY,
    tenant_id {BLOB} NOT NULL,
    identity_id {BLOB} NOT NULL,
    num BIGINT NOT NULL,
    thread_id {BLOB} NOT NULL,
    event_id BIGINT,
    direction TEXT NOT NULL,
    status TEXT NOT NULL,
    kind TEXT NOT NULL,
    rfc_message_id TEXT NOT NULL,
    from_address TEXT,
    sent_at BIGINT,
    received_at BIGINT NOT NULL,
    sort_at BIGINT NOT NULL,
    unread BIGINT NOT NULL,
    id_conflict BIGINT NOT NULL,
    sha256 {BLOB} NOT NULL,
    size BIGINT NOT NULL,
    doc {BLOB} NOT NULL,
    UNIQUE (tenant_id, num)
);
CREATE INDEX messages_of_thread ON messages (thread_id, sort_at, num);
CREATE INDEX messages_unread ON messages (tenant_id, identity_id, num) WHERE unread = 1;

CREATE TABLE message_labels (
    identity_id {BLOB} NOT NULL,
    label TEXT NOT NULL,
    num BIGINT NOT NULL,
    tenant_id {BLOB} NOT NULL,
    thread_id {BLOB} NOT NULL,
    PRIMARY KEY (identity_id, label, num)
) {CLUSTERED};
CREATE INDEX message_labels_of_message ON message_labels (num, tenant_id);
CREATE INDEX message_labels_of_thread ON message_labels (thread_id, label);

CREATE TABLE threads (
    id {BLOB} NOT NULL PRIMARY KEY,
    tenant_id {BLOB} NOT NULL,
    identity_id {BLOB} NOT NULL,
    subject TEXT,
    first_at BIGINT NOT NULL,
    first_num BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    last_num BIGINT NOT NULL,
    last_direction TEXT NOT NULL,
    last_inbound_at BIGINT,
    snippet TEXT NOT NULL,
    message_count BIGINT NOT NULL,
    unread_count BIGINT NOT NULL,
    participants TEXT NOT NULL,
    archived BIGINT NOT NULL
);
CREATE INDEX threads_of_identity ON threads (identity_id, archived, last_at, id);

-- A merged thread's id; it points at the thread that is alive, in one step.
CREATE TABLE thread_aliases (
    alias {BLOB} NOT NULL PRIMARY KEY,
    thread_id {BLOB} NOT NULL,
    tenant_id {BLOB} NOT NULL,
    identity_id {BLOB} NOT NULL
) {CLUSTERED};
CREATE INDEX thread_aliases_of_thread ON thread_aliases (thread_id);

-- thread_id may be an alias: a merge does not touch the keys.
CREATE TABLE thread_keys (
    identity_id {BLOB} NOT NULL,
    hash {BLOB} NOT NULL,
    thread_id {BLOB} NOT NULL,
    holder BIGINT,
    PRIMARY KEY (identity_id, hash)
) {CLUSTERED};

CREATE TABLE contacts (
    identity_id {BLOB} NOT NULL,
    address TEXT NOT NULL,
    tenant_id {BLOB} NOT NULL,
    name TEXT,
    folded TEXT NOT NULL,
    domain TEXT NOT NULL,
    first_seen_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    inbound_count BIGINT NOT NULL,
    outbound_count BIGINT NOT NULL,
    last_thread_id {BLOB},
    PRIMARY KEY (identity_id, address)
) {CLUSTERED};

CREATE TABLE result_sets (
    id TEXT NOT NULL PRIMARY KEY,
    tenant_id {BLOB} NOT NULL,
    key_id {BLOB},
    payload {BLOB} NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX result_sets_by_end ON result_sets (expires_at);

CREATE TABLE import_failures (
    tenant_id {BLOB} NOT NULL,
    id BIGINT NOT NULL,
    identity_id {BLOB} NOT NULL,
    location TEXT NOT NULL,
    reason TEXT NOT NULL,
    sha256 {BLOB},
    size BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (identity_id, sha256)
) {CLUSTERED};
