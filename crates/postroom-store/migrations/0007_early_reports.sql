-- What providers told of mails before their own answer to them was noted. The recipient is empty
-- where all of them are meant; identity_id is sixteen zero bytes where the channel speaks of every
-- mailbox of the tenant.
CREATE TABLE early_reports (
    tenant_id {BLOB} NOT NULL,
    provider_message_id TEXT NOT NULL,
    identity_id {BLOB} NOT NULL,
    recipient TEXT NOT NULL,
    event TEXT NOT NULL,
    smtp_code BIGINT,
    enhanced_code TEXT,
    reason TEXT,
    at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, provider_message_id, identity_id, recipient, event)
) {CLUSTERED};
CREATE INDEX early_reports_by_age ON early_reports (at);
