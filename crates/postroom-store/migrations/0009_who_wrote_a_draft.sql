-- Of whom a draft is and to whom it may be sent; and the hash of a recipient without its detail, null
-- where it has none.

ALTER TABLE drafts ADD COLUMN saved_by {BLOB};
ALTER TABLE drafts ADD COLUMN scope TEXT NOT NULL DEFAULT 'anyone';
ALTER TABLE deliveries ADD COLUMN base_hash {BLOB};
