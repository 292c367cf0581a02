-- What claims, sweeps and lists of open work look for, apart from the todos themselves: a todo then
-- changes while none of its indexes does, and PostgreSQL writes it where it stands (a heap-only
-- update). A row is here until its todo is done. rank is the priority turned round; due_at is when
-- something is due although nobody asks; dedup and subject are hashes that are there while they count.

CREATE TABLE open_todos (
    tenant_id {BLOB} NOT NULL,
    id {BLOB} NOT NULL,
    identity_id {BLOB},
    num BIGINT NOT NULL,
    queue TEXT NOT NULL,
    rank BIGINT NOT NULL,
    assignee {BLOB},
    state TEXT NOT NULL,
    due_at BIGINT,
    dedup {BLOB},
    subject {BLOB},
    PRIMARY KEY (tenant_id, id)
) {CLUSTERED};
INSERT INTO open_todos (tenant_id, id, identity_id, num, queue, rank, assignee, state, due_at, dedup, subject)
    SELECT tenant_id, id, identity_id, num, queue, rank, assignee, state, due_at, dedup, subject
    FROM todos WHERE state <> 'done';

CREATE INDEX open_todos_waiting ON open_todos (tenant_id, queue, rank, num)
    WHERE state = 'pending' AND assignee IS NULL;
CREATE INDEX open_todos_waiting_of_identity ON open_todos (identity_id, queue, rank, num)
    WHERE state = 'pending' AND assignee IS NULL AND identity_id IS NOT NULL;
CREATE INDEX open_todos_assigned ON open_todos (assignee, queue, rank, num)
    WHERE state = 'pending' AND assignee IS NOT NULL;
CREATE INDEX open_todos_due ON open_todos (tenant_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX open_todos_in_state ON open_todos (tenant_id, state, id, queue, identity_id);
CREATE UNIQUE INDEX open_todos_by_key ON open_todos (tenant_id, dedup) WHERE dedup IS NOT NULL;
CREATE INDEX open_todos_by_subject ON open_todos (tenant_id, subject) WHERE subject IS NOT NULL;

DROP INDEX todos_waiting;
DROP INDEX todos_waiting_of_identity;
DROP INDEX todos_assigned;
DROP INDEX todos_due;
DROP INDEX todos_open;
DROP INDEX todos_by_key;
DROP INDEX todos_by_subject;
ALTER TABLE todos DROP COLUMN due_at;
ALTER TABLE todos DROP COLUMN dedup;
ALTER TABLE todos DROP COLUMN subject;
-- Room in each page for the next states of its todos, and for their attempts.
{POSTGRES}ALTER TABLE todos SET (fillfactor = 60);
