-- When somebody last let a paused mailbox send again: what its mail came to before counts no more.

ALTER TABLE identities ADD COLUMN resumed_at BIGINT;
