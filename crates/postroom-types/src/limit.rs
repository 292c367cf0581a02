//! Every bound of the product, in one table.
//!
//! A room takes its bound from here and tests at it and one past it; `docs/reference/limits.md` is
//! printed from [`TABLE`].

/// One row of the limits table.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// The name, units last.
    pub name: &'static str,
    /// The largest value allowed.
    pub value: u64,
    /// What happens past it.
    pub past: &'static str,
}

macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $value:expr, $past:literal;)*) => {
        $($(#[$doc])* pub const $name: $type = $value;)*

        /// Every limit, in the order of this page.
        pub const TABLE: &[Limit] = &[
            $(Limit { name: stringify!($name), value: $value as u64, past: $past },)*
        ];
    };
}

limits! {
    /// Body of one MCP or REST request, bytes.
    REQUEST_BODY_BYTES: usize = 7 * 1024 * 1024, "413 payload_too_large";
    /// One raw mail by SMTP, LMTP, inbound/raw or import, bytes.
    RAW_MAIL_BYTES: usize = 26_214_400, "552 5.3.4, 413, or listed as failed by import with the bytes kept";
    /// MIME nesting.
    MIME_DEPTH: usize = 32, "the rest stays in raw, a defect is listed";
    /// MIME parts.
    MIME_PARTS: usize = 500, "the rest stays in raw, a defect is listed";
    /// Nested messages whose text is read.
    NESTED_MESSAGES: usize = 3, "the rest stays in raw, a defect is listed";
    /// Header lines of one message.
    HEADER_LINES: usize = 1_000, "the rest stays in raw, a defect is listed";
    /// Header bytes of one message.
    HEADER_BYTES: usize = 256 * 1024, "the rest stays in raw, a defect is listed";
    /// Subject kept, characters.
    SUBJECT_CHARS: usize = 998, "cut, body_truncated";
    /// Text kept, bytes.
    TEXT_BYTES: usize = 512 * 1024, "cut, body_truncated";
    /// Extracted text kept, bytes.
    EXTRACTED_TEXT_BYTES: usize = 256 * 1024, "cut, body_truncated";
    /// HTML kept, bytes.
    HTML_BYTES: usize = 1024 * 1024, "cut, body_truncated";
    /// Snippet, characters.
    SNIPPET_CHARS: usize = 240, "cut";
    /// Addresses kept per To or Cc.
    ADDRESSES_KEPT: usize = 200, "cut, a defect is listed";
    /// References kept, the newest.
    REFERENCES_KEPT: usize = 200, "cut, a defect is listed";
    /// Display name or file name kept, characters.
    NAME_CHARS: usize = 256, "cut";
    /// A normalised Message-ID, bytes.
    MESSAGE_ID_BYTES: usize = 998, "cut";
    /// Attachments listed per message.
    ATTACHMENTS_KEPT: usize = 500, "the rest stays in raw, a defect is listed";
    /// Text of one attachment, bytes.
    ATTACHMENT_TEXT_BYTES: usize = 2 * 1024 * 1024, "cut, truncated";
    /// Participants kept per thread.
    PARTICIPANTS_KEPT: usize = 50, "the rest is not listed";
    /// Labels of one message.
    LABELS_PER_MESSAGE: usize = 64, "invalid_request";
    /// Search query, characters.
    QUERY_CHARS: usize = 1_024, "invalid_query with position";
    /// Leaves of a search query.
    QUERY_LEAVES: usize = 32, "invalid_query with position";
    /// Nesting of a search query.
    QUERY_DEPTH: usize = 8, "invalid_query with position";
    /// Compact structuredContent of one tool result, bytes.
    TOOL_RESULT_BYTES: usize = 96 * 1024, "items dropped from the end, truncated";
    /// extracted_text and text of one message for an agent, characters each.
    MESSAGE_TEXT_CHARS: usize = 16_000, "cut, text_truncated";
    /// Text of one message inside a thread for an agent, characters.
    THREAD_TEXT_CHARS: usize = 4_000, "cut, text_truncated";
    /// One page of attachment text for an agent, characters.
    ATTACHMENT_PAGE_CHARS: usize = 32_000, "cut, text_truncated";
    /// Search answer by REST, bytes.
    SEARCH_RESPONSE_BYTES: usize = 262_144, "hits dropped from the end, truncated";
    /// Ranked ids kept for paging.
    RANKED_IDS: usize = 1_000, "later hits are not reached by paging";
    /// Candidates that facets count.
    FACET_CANDIDATES: usize = 5_000, "facets count the best candidates only";
    /// Life of a cursor, milliseconds.
    CURSOR_LIFE_MS: u64 = 24 * 60 * 60 * 1_000, "410 cursor_expired";
    /// Identities of one tenant-wide search.
    SEARCH_IDENTITIES: usize = 100, "422 scope_too_large";
    /// Longest mail_wait, seconds.
    WAIT_SECONDS: u64 = 60, "invalid_request";
    /// HTTP connections of the process.
    HTTP_CONNECTIONS: usize = 12_000, "the connection waits to be accepted";
    /// Open streams of one key.
    STREAMS_PER_KEY: usize = 20, "429 rate_limited";
    /// Open streams of the process.
    STREAMS_PER_PROCESS: usize = 10_000, "429 rate_limited";
    /// Messages that wait for a slow reader of one stream.
    STREAM_QUEUE: usize = 16, "progress and log messages are dropped, subscriptions wait";
    /// Longest life of one open stream, milliseconds.
    STREAM_LIFE_MS: u64 = 60 * 60 * 1_000, "the stream ends";
    /// Resources of one subscription.
    SUBSCRIPTION_RESOURCES: usize = 100, "-32602";
    /// Requests per minute and key.
    RATE_KEY_PER_MINUTE: u32 = 600, "429 rate_limited, bucket key";
    /// Requests per minute and tenant.
    RATE_TENANT_PER_MINUTE: u32 = 1_800, "429 rate_limited, bucket tenant";
    /// Searches per minute and key.
    RATE_SEARCH_PER_MINUTE: u32 = 120, "429 rate_limited, bucket search";
    /// Raw mails put in per minute and key, counted apart from other requests.
    RATE_INGEST_PER_MINUTE: u32 = 3_000, "429 rate_limited, bucket ingest";
    /// Active keys of one tenant.
    KEYS_PER_TENANT: usize = 100, "422 key_limit_reached";
    /// Longest overlap of a key rotation, hours.
    KEY_OVERLAP_HOURS: u64 = 168, "invalid_request";
    /// Addresses of one identity.
    ADDRESSES_PER_IDENTITY: usize = 20, "422 address_limit_reached";
    /// SMTP connections of one client address.
    SMTP_CONNECTIONS_PER_IP: usize = 100, "421";
    /// SMTP connections of the process.
    SMTP_CONNECTIONS: usize = 2_000, "421";
    /// Recipients of one SMTP transaction.
    SMTP_RECIPIENTS: usize = 100, "452 4.5.3";
    /// Bad SMTP commands of one connection.
    SMTP_BAD_COMMANDS: usize = 10, "421";
    /// Time for one SMTP command, milliseconds.
    SMTP_COMMAND_MS: u64 = 5 * 60 * 1_000, "421";
    /// One SMTP command line, bytes with CRLF (RFC 5321 section 4.5.3.1.4, room for SMTPUTF8).
    SMTP_LINE_BYTES: usize = 4_096, "500 5.5.2";
    /// Recipients of one SMTP connection that were refused for good.
    SMTP_REFUSED_RECIPIENTS: usize = 100, "421";
    /// SMTP commands in a row that bring no mail.
    SMTP_IDLE_COMMANDS: usize = 1_000, "421";
    /// Time for one message after DATA, milliseconds.
    SMTP_DATA_MS: u64 = 30 * 60 * 1_000, "421";
    /// Bytes of messages that are being received, in the process.
    SMTP_HELD_BYTES: usize = 512 * 1024 * 1024, "452 4.3.1";
    /// Time that a command in progress has when the process ends, milliseconds.
    SMTP_SHUTDOWN_MS: u64 = 10 * 1_000, "the connection is closed";
    /// Commands waiting for the writer.
    WRITER_QUEUE: usize = 4_096, "the caller waits, then 503 unavailable";
    /// Bytes of raw mail waiting for the writer.
    WRITER_QUEUE_BYTES: usize = 128 * 1024 * 1024, "the caller waits, then 503 unavailable";
    /// Time that a caller waits for a place in the writer's queue, milliseconds.
    WRITER_WAIT_MS: u64 = 10_000, "503 unavailable";
    /// Commands that one commit takes.
    COMMIT_BATCH: usize = 512, "the rest waits for the next commit";
    /// Bytes of raw mail that one commit takes before it stops collecting.
    COMMIT_BATCH_BYTES: usize = 32 * 1024 * 1024, "the rest waits for the next commit";
    /// A blob kept inside the database, bytes after compression.
    BLOB_INLINE_BYTES: usize = 256 * 1024, "kept as a file";
    /// Index writers open in the process.
    INDEX_WRITERS: usize = 2, "wait";
    /// Index readers open in the process.
    INDEX_READERS: usize = 64, "the least recently used is closed";
    /// Fresh results: how long a search waits for the index, milliseconds.
    FRESH_WAIT_MS: u64 = 1_000, "index_complete false";
    /// Messages that one commit of an index takes.
    INDEX_COMMIT_DOCS: usize = 4_000, "the rest waits for the next commit";
    /// Documents handed to the index past the store, bytes.
    INDEX_HANDOVER_BYTES: usize = 64 * 1024 * 1024, "loaded from the store";
    /// Mailboxes and tenants whose labels are kept in memory.
    LABEL_SCOPES: usize = 256, "read from the store again";
    /// Result sets kept in memory for paging.
    RESULT_SETS_IN_MEMORY: usize = 256, "older ones are read from the store";
    /// Mails of one batch of an import.
    IMPORT_BATCH_MAILS: usize = 256, "the rest goes into the next batch";
    /// An oversized mail that an import keeps with its failure, bytes.
    IMPORT_KEPT_BYTES: u64 = 256 * 1024 * 1024, "its bytes stay in the source alone";
    /// Events of one page.
    EVENTS_PAGE: usize = 200, "invalid_argument";
    /// Events of the recent resource.
    EVENTS_RECENT: usize = 50, "older ones are not listed";
    /// Prompt argument, characters.
    PROMPT_ARGUMENT_CHARS: usize = 500, "cut";
    /// Metadata entries of an identity.
    METADATA_ENTRIES: usize = 16, "invalid_request";
    /// Bytes of one metadata value.
    METADATA_VALUE_BYTES: usize = 512, "invalid_request";
    /// Calls in progress over stdio.
    STDIO_CALLS: usize = 64, "4290";
    /// Lines of one request over stdio, bytes.
    STDIO_LINE_BYTES: usize = 7 * 1024 * 1024, "-32600";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_says_what_happens_past_it() {
        assert!(
            TABLE
                .iter()
                .all(|row| row.value > 0 && !row.past.is_empty())
        );
    }
}
