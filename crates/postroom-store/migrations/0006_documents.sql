-- Documents that are worked on in rounds. identity_id is null for one of the whole tenant.
CREATE TABLE document_sessions (
    id {BLOB} NOT NULL PRIMARY KEY,
    tenant_id {BLOB} NOT NULL,
    identity_id {BLOB},
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX document_sessions_of_tenant ON document_sessions (tenant_id, id);

CREATE TABLE document_states (
    session_id {BLOB} NOT NULL,
    version BIGINT NOT NULL,
    document TEXT NOT NULL,
    at BIGINT NOT NULL,
    key_id {BLOB},
    PRIMARY KEY (session_id, version)
);
