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
    /// One raw mail by SMTP, LMTP, inbound/raw or import, bytes; a mail from a mailbox here has SENT_MAIL_BYTES.
    RAW_MAIL_BYTES: usize = 26_214_400, "552 5.3.4, 413, or listed as failed by import with the bytes kept";
    /// MIME nesting.
    MIME_DEPTH: usize = 32, "the rest stays in raw, a defect is listed";
    /// MIME parts.
    MIME_PARTS: usize = 500, "the rest stays in raw, a defect is listed";
    /// Nested messages whose text is read.
    NESTED_MESSAGES: usize = 3, "the rest stays in raw, a defect is listed";
    /// S/MIME signatures around one another that are opened.
    SIGNED_LAYERS: usize = 3, "the rest stays an attachment";
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
    /// Addresses of senders that one tenant's index keeps in memory.
    SENDERS_KEPT: usize = 200_000, "facets read the further ones from the index each time";
    /// Names that one tenant's index keeps in memory to find parts of them, bytes.
    TERMS_KEPT_BYTES: usize = 16 * 1_024 * 1_024, "searches for parts of names read the further ones from the index each time";
    /// Candidates that facets count.
    FACET_CANDIDATES: usize = 5_000, "facets count the best candidates only";
    /// Life of a cursor, milliseconds.
    CURSOR_LIFE_MS: u64 = 24 * 60 * 60 * 1_000, "410 cursor_expired";
    /// Identities of one tenant-wide search.
    SEARCH_IDENTITIES: usize = 100, "422 scope_too_large";
    /// Places of words that the beginnings in one search may stand for, all of them together.
    SEARCH_BEGINNINGS: u64 = 20_000_000, "400 invalid_query: write longer beginnings";
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
    /// One mail that is sent, bytes as they leave, also to mailboxes here; a relay's own limit may be smaller.
    SENT_MAIL_BYTES: usize = 30 * 1024 * 1024, "413 message_too_large";
    /// Attachments that one call of a sending operation names.
    SEND_ATTACHMENTS: usize = 10, "invalid_request";
    /// Files of one mail that is sent, those of a forwarded mail among them.
    SENT_FILES: usize = 32, "invalid_request";
    /// Value of one header field that a caller sets, bytes.
    SEND_HEADER_VALUE_BYTES: usize = 2_048, "invalid_request";
    /// Header fields that a caller sets, bytes.
    SEND_HEADERS_BYTES: usize = 16 * 1024, "invalid_request";
    /// References of one composed mail.
    REFERENCES_SENT: usize = 20, "the first and the newest are kept";
    /// A Message-ID that a composed mail refers to, bytes.
    MESSAGE_ID_SENT_BYTES: usize = 900, "left out";
    /// Recipients read of one delivery report.
    REPORT_RECIPIENTS: usize = 200, "the rest is not read";
    /// Words of one delivery report's diagnostic, characters.
    REPORT_DIAGNOSTIC_CHARS: usize = 500, "cut";
    /// Time to connect to the relay, milliseconds.
    RELAY_CONNECT_MS: u64 = 10 * 1_000, "nothing was handed over, retry";
    /// Time for the relay's answer to one command, milliseconds.
    RELAY_COMMAND_MS: u64 = 30 * 1_000, "nothing was handed over, retry";
    /// Time for the relay's answer to the end of a message, milliseconds.
    RELAY_ANSWER_MS: u64 = 60 * 1_000, "uncertain, transport_timeout";
    /// Time for one message through the relay, milliseconds.
    RELAY_TOTAL_MS: u64 = 4 * 60 * 1_000, "retry, or uncertain once handed over";
    /// Connections to the relay.
    RELAY_CONNECTIONS: usize = 8, "the message waits inside its own time";
    /// Time that a connection to the relay is kept without a message, milliseconds.
    RELAY_IDLE_MS: u64 = 20 * 1_000, "it is closed";
    /// Messages of one connection to the relay.
    RELAY_MESSAGES: usize = 1_000, "a new connection is made";
    /// Lines of one answer of the relay.
    RELAY_REPLY_LINES: usize = 128, "the connection is given up";
    /// One answer line of the relay, bytes with its line end.
    RELAY_LINE_BYTES: usize = 4_096, "the connection is given up";
    /// Words of one answer of the relay that are kept, characters.
    RELAY_ANSWER_CHARS: usize = 500, "cut";
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
    /// Age of a file that no row names before it is removed at a start, milliseconds.
    BLOB_UNNAMED_MS: u64 = 60 * 60 * 1_000, "a younger file stays until a later start";
    /// Files of large bytes that a start looks at for ones that no row names.
    BLOB_SWEEP_FILES: usize = 10_000, "the others are looked at by a later start";
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
    /// Requests to given URLs in progress.
    EGRESS_EXCHANGES: usize = 256, "the request waits inside its own time";
    /// Host names being resolved at once by the system.
    EGRESS_LOOKUPS: usize = 64, "the look-up waits inside its own time";
    /// Addresses of one host name.
    EGRESS_ADDRESSES: usize = 64, "refused";
    /// Addresses of one host name that are tried.
    EGRESS_ADDRESSES_TRIED: usize = 4, "the rest is not tried";
    /// Time to resolve a host name, milliseconds.
    EGRESS_RESOLVE_MS: u64 = 3_000, "refused, may be tried again";
    /// Time to connect, milliseconds.
    EGRESS_CONNECT_MS: u64 = 3_000, "replay_failed, retry";
    /// Time for one replay or fetch, milliseconds.
    EGRESS_TOTAL_MS: u64 = 10_000, "replay_failed, retry";
    /// Time for one outgoing hook, milliseconds.
    EGRESS_HOOK_TOTAL_MS: u64 = 15_000, "retry";
    /// Answer to a replay that is read, bytes.
    EGRESS_RESPONSE_BYTES: usize = 64 * 1024, "the rest is not read";
    /// Answer to an outgoing hook that is read, bytes.
    EGRESS_HOOK_RESPONSE_BYTES: usize = 4 * 1024, "the rest is not read";
    /// Answer of a provider's interface that is read, bytes.
    EGRESS_PROVIDER_RESPONSE_BYTES: usize = 32 * 1024 * 1024, "the fetch fails";
    /// Header lines of an answer.
    EGRESS_RESPONSE_HEADERS: usize = 100, "replay_failed, retry";
    /// Address ranges and ports that the operator may allow, each.
    EGRESS_ALLOWANCES: usize = 256, "the process does not start";
    /// Rules of one source.
    RULES_PER_SOURCE: usize = 32, "too_many_rules";
    /// Expression of one rule, bytes.
    RULE_EXPRESSION_BYTES: usize = 4_096, "invalid_expression";
    /// Name of one rule, bytes.
    RULE_NAME_BYTES: usize = 128, "invalid_rule";
    /// Parameters of a source's rules, bytes of JSON.
    RULE_PARAMS_BYTES: usize = 16 * 1024, "invalid_rule";
    /// Id of a rule, bytes.
    RULE_ID_BYTES: usize = 64, "invalid_rule";
    /// Nesting of an expression: operators, calls and fields.
    RULE_EXPRESSION_DEPTH: usize = 64, "invalid_expression";
    /// Macros that loop (all, exists, exists_one, map, filter) in one rule, none inside another.
    RULE_MACROS: usize = 4, "invalid_expression";
    /// Operators, calls and values inside one macro.
    RULE_MACRO_NODES: usize = 64, "invalid_expression";
    /// Arithmetic operators of one rule.
    RULE_ARITHMETIC: usize = 16, "invalid_expression";
    /// Compiled form of one pattern, bytes.
    RULE_PATTERN_BYTES: usize = 32 * 1024, "invalid_expression";
    /// Text of one value that a rule sees, bytes.
    RULE_TEXT_BYTES: usize = 64 * 1024, "cut, `truncated` in the trace";
    /// Steps that the rules of a source may take for one event: values looked at, and bytes of
    /// text by 64 (by 1 for patterns).
    RULE_STEPS: u64 = 4_000_000, "the rule faults, budget_exhausted";
    /// Signatures in one webhook header.
    WEBHOOK_SIGNATURES: usize = 32, "malformed_signature";
    /// Secrets of one source that are tried.
    WEBHOOK_SECRETS: usize = 8, "the rest is not tried";
    /// Parameters of one webhook that sign or are signed.
    WEBHOOK_PARAMS: usize = 1_000, "malformed_signature";
    /// Delivery id, bytes.
    WEBHOOK_ID_BYTES: usize = 256, "the next rule, at last the body's hash";
    /// Events in one webhook body.
    WEBHOOK_PARTS: usize = 5_000, "the body stays one event, `verify_detail` says so";
    /// Token that signs a webhook, bytes.
    WEBHOOK_TOKEN_BYTES: usize = 16 * 1024, "malformed_signature";
    /// Events of one page.
    EVENTS_PAGE: usize = 200, "invalid_argument";
    /// Events of the recent resource.
    EVENTS_RECENT: usize = 50, "older ones are not listed";
    /// Body of one webhook delivery, bytes, unless its provider's row says more.
    WEBHOOK_BODY_BYTES: usize = 5 * 1024 * 1024, "413 before hashing or parsing";
    /// Body of one webhook delivery that a provider's row may allow, bytes.
    WEBHOOK_BODY_MOST_BYTES: usize = 25 * 1024 * 1024, "413 before hashing or parsing";
    /// Bodies of webhook deliveries that are being taken in, bytes, in the process.
    WEBHOOK_HELD_BYTES: usize = 512 * 1024 * 1024, "503, the provider tries again";
    /// Of these, those of one source: two of the largest and some small ones.
    WEBHOOK_SOURCE_HELD_BYTES: usize = 64 * 1024 * 1024, "503, the provider tries again";
    /// A compressed webhook body once decompressed, as a multiple of its body limit.
    WEBHOOK_INFLATED_FACTOR: usize = 4, "413";
    /// Header of a delivery that is kept as its id, bytes.
    DELIVERY_ID_BYTES: usize = 256, "ignored, the digest of the body stands in";
    /// Tenants whose status is kept in memory.
    TENANTS_REMEMBERED: usize = 10_000, "looked up again";
    /// Sources whose rules and refusals are kept in memory.
    SOURCES_IN_MEMORY: usize = 1_024, "read and compiled again";
    /// Refused deliveries of one source that are remembered until a restart.
    REFUSALS_PER_SOURCE: usize = 10, "the oldest is forgotten";
    /// Signing keys behind URLs that are kept in memory.
    FETCHED_KEYS: usize = 64, "fetched again";
    /// Life of a signing key that was fetched, milliseconds.
    FETCHED_KEY_LIFE_MS: u64 = 60 * 60 * 1_000, "fetched again";
    /// Times that the body of a mail is asked for at its provider.
    BODY_FETCH_TRIES: u64 = 10, "the event fails, its payload stays";
    /// Sources of one tenant.
    SOURCES_PER_TENANT: usize = 200, "409 ceiling_exceeded";
    /// Secrets that one source checks at once, during rotations.
    SOURCE_SECRETS: usize = 4, "the oldest ends at once";
    /// Overlap of two secrets of a source, milliseconds.
    SECRET_OVERLAP_MS: u64 = 24 * 60 * 60 * 1_000, "invalid_argument";
    /// Shortest secret that a provider issued, bytes.
    SOURCE_SECRET_MIN_BYTES: usize = 16, "shorter ones are refused with invalid_argument";
    /// A secret that a provider issued, bytes.
    SOURCE_SECRET_BYTES: usize = 512, "invalid_argument";
    /// Rules, options and trusted actors of one source, bytes of JSON each.
    SOURCE_DOCUMENT_BYTES: usize = 256 * 1024, "invalid_argument";
    /// Trusted actors of one source.
    TRUSTED_ACTORS: usize = 256, "invalid_argument";
    /// Name of one trusted actor, bytes.
    TRUSTED_ACTOR_BYTES: usize = 128, "invalid_argument";
    /// Items of a list in the envelope that rules see.
    RULE_LIST_ITEMS: usize = 1_000, "a rule whose answer lies behind faults";
    /// Events that new rules are tried on before they are saved.
    RULE_DRY_RUN_EVENTS: usize = 50, "older ones are not tried";
    /// Trace of a routing decision, bytes of JSON.
    ROUTING_TRACE_BYTES: usize = 16 * 1024, "invalid_argument";
    /// Deliveries per second and source.
    RATE_SOURCE_PER_SECOND: u32 = 50, "429 rate_limited, bucket source";
    /// Deliveries of a source at once.
    RATE_SOURCE_BURST: u32 = 100, "429 rate_limited, bucket source";
    /// Replays per second and key.
    RATE_REPLAY_PER_SECOND: u32 = 5, "429 rate_limited, bucket replay";
    /// Replays of a key at once.
    RATE_REPLAY_BURST: u32 = 20, "429 rate_limited, bucket replay";
    /// Replay targets granted to one key.
    REPLAY_TARGETS_PER_KEY: usize = 16, "invalid_request";
    /// Queues granted to one key.
    QUEUES_PER_KEY: usize = 64, "invalid_request";
    /// A URL that is given to us, bytes.
    URL_BYTES: usize = 2_048, "invalid_argument";
    /// Queues of one tenant with settings of their own.
    QUEUES_PER_TENANT: usize = 256, "409 ceiling_exceeded; waiting work of more queues is found by name only";
    /// Name of a queue, characters.
    QUEUE_NAME_CHARS: usize = 64, "invalid_argument";
    /// Claims of one queue in flight that a setting may allow.
    QUEUE_IN_FLIGHT: u64 = 100_000, "invalid_argument";
    /// Lease of a claim unless told otherwise, seconds.
    TODO_LEASE_SECONDS: u64 = 300, "the default; a claim may ask for another";
    /// Longest lease, seconds.
    TODO_LEASE_MOST_SECONDS: u64 = 24 * 60 * 60, "invalid_argument";
    /// Attempts of one todo unless told otherwise.
    TODO_ATTEMPTS: u64 = 5, "dead letter";
    /// Attempts that a todo may be given.
    TODO_ATTEMPTS_MOST: u64 = 100, "invalid_argument";
    /// Pause after the first failed attempt, doubled by each one after, milliseconds.
    TODO_BACKOFF_MS: u64 = 30 * 1_000, "the first pause";
    /// Longest pause between two attempts, milliseconds.
    TODO_BACKOFF_MOST_MS: u64 = 15 * 60 * 1_000, "the pause stays at it";
    /// Attempts kept of one todo, the newest.
    TODO_ATTEMPTS_KEPT: u64 = 50, "older ones are dropped";
    /// Title of a todo, characters.
    TODO_TITLE_CHARS: usize = 200, "cut";
    /// Payload of a todo that carries its own, bytes of JSON.
    TODO_PAYLOAD_BYTES: usize = 64 * 1024, "invalid_argument";
    /// Result of an attempt, bytes of JSON.
    TODO_RESULT_BYTES: usize = 64 * 1024, "invalid_argument";
    /// Summary of an attempt, bytes.
    TODO_SUMMARY_BYTES: usize = 2_048, "cut, summary_truncated";
    /// Artifact of an attempt, bytes.
    TODO_ARTIFACT_BYTES: usize = 512, "invalid_argument";
    /// Note of a heartbeat, bytes.
    TODO_NOTE_BYTES: usize = 512, "invalid_argument";
    /// Name that a claimant gives itself, bytes.
    TODO_CLAIMANT_BYTES: usize = 128, "invalid_argument";
    /// Key against doubles, and subject, of a todo, bytes.
    TODO_KEY_BYTES: usize = 512, "invalid_argument";
    /// Tags of a todo.
    TODO_TAGS: usize = 16, "invalid_argument";
    /// Priority of a todo, upwards and downwards.
    TODO_PRIORITY: i64 = 100, "invalid_argument";
    /// Todos of one page.
    TODOS_PAGE: usize = 200, "invalid_argument";
    /// Todos that one sweep puts back or gives up.
    TODO_SWEEP: usize = 500, "the rest waits for the next sweep";
    /// Days that a todo is kept after it was done or became a dead letter.
    TODO_KEPT_DAYS: u64 = 30, "it is removed with its attempts";
    /// Todos of one tenant that are kept although they have ended, the newest.
    TODOS_KEPT: usize = 500_000, "older ones are removed with their attempts";
    /// Days that a delivery is kept, unless it carries mail, waits or has a todo.
    EVENT_KEPT_DAYS: u64 = 30, "it is removed with its payload";
    /// Deliveries of one tenant that are kept, the newest.
    EVENTS_KEPT: usize = 500_000, "older ones are removed with their payloads";
    /// Deliveries that are looked at together when old ones are removed.
    EVENT_LOOK: usize = 4_000, "the rest follows";
    /// Deliveries that one commit removes.
    EVENT_SWEEP: usize = 200, "the rest waits for the next commit";
    /// JSON text of one e-mail document, bytes.
    COMPOSE_BYTES: usize = 1024 * 1024, "limit.size";
    /// Nesting of JSON values in an e-mail document.
    COMPOSE_DEPTH: usize = 64, "limit.depth";
    /// JSON values in an e-mail document.
    COMPOSE_NODES: usize = 5_000, "limit.nodes";
    /// Issues of one e-mail document.
    COMPOSE_ISSUES: usize = 200, "issues.truncated";
    /// Elements of a sample list that a preview shows.
    COMPOSE_SAMPLE_ITEMS: usize = 500, "the rest is not shown";
    /// Key against doubles of a send, printable ASCII bytes.
    IDEMPOTENCY_KEY_BYTES: usize = 255, "invalid_idempotency_key";
    /// Time that a send's key against doubles is known, milliseconds.
    IDEMPOTENCY_LIFE_MS: u64 = 30 * 24 * 60 * 60 * 1_000_u64, "the same key sends anew";
    /// Recipients of one mail that is sent, whatever the policy says.
    SENT_RECIPIENTS: usize = 49, "400 too_many_recipients";
    /// Hop of a mail that is sent: mails that answered each other, this one counted.
    SENT_HOPS: u64 = 10, "409 loop_detected";
    /// Mails of a mailbox that came back, among the latest recipients that it wrote to.
    BOUNCES: usize = 10, "the mailbox is paused: abuse_threshold";
    /// Of those, the most that count of one domain: whoever holds a domain can make up as many as they like.
    BOUNCES_OF_DOMAIN: usize = 3, "further ones of the domain do not count";
    /// Recipients among which those are counted.
    BOUNCES_LOOKED_AT: usize = 200, "older ones do not count";
    /// Mails of a mailbox that were called spam, among the latest recipients that it wrote to.
    COMPLAINTS: usize = 3, "the mailbox is paused: abuse_threshold";
    /// Recipients among which those are counted.
    COMPLAINTS_LOOKED_AT: usize = 1_000, "older ones do not count";
    /// Addresses with a token that is not signed, of one sender to one mailbox in an hour, until a signed one
    /// of theirs counts in that hour only where they take part in its thread.
    FORGED_TOKENS_PER_SENDER: u64 = 10, "filed by its header, thread_join_unverified";
    /// The same from all senders to one mailbox.
    FORGED_TOKENS_PER_MAILBOX: u64 = 100, "filed by its header, thread_join_unverified";
    /// Senders of such addresses that are counted each in an hour.
    FORGED_TOKEN_SENDERS: usize = 10_000, "counted for the mailbox alone";
    /// Sends of one mailbox and of one tenant per day that a policy may allow.
    SENT_PER_DAY: u64 = 1_000_000, "invalid_request";
    /// Mails that the sandbox or a provider is handed at the same time.
    SEND_AT_ONCE: usize = 8, "the next is claimed when there is room";
    /// How long after a send was queued a provider's event settles it by author, recipients and subject,
    /// where the provider's answer was lost.
    RECONCILE_MS: u64 = 30 * 60 * 1_000, "it stays uncertain";
    /// Uncertain sends among which that one is looked for, the newest first.
    RECONCILE_SENDS: usize = 64, "older ones stay uncertain";
    /// Sends that one command claims or records.
    SEND_BATCH: usize = 256, "the rest waits for the next command";
    /// Age at which a claim without outcome is given up, milliseconds.
    SEND_CLAIM_MS: u64 = 5 * 60 * 1_000, "uncertain, never sent again";
    /// Reports of providers that are kept for mails whose outcome is not noted yet, for each tenant.
    EARLY_REPORTS: usize = 1_000, "the report is let go";
    /// Time for which such a report is kept, milliseconds.
    EARLY_REPORT_MS: u64 = 24 * 60 * 60 * 1_000, "the report is let go";
    /// Age from which a send is asked again of suppressions and lists when it is claimed, milliseconds.
    SEND_ASKED_AGAIN_MS: u64 = 10_000, "whoever may not be written to by now is left out";
    /// Time for which a send that was put off is tried again, milliseconds.
    SEND_RETRY_MS: u64 = 24 * 60 * 60 * 1_000, "failed, quota_exhausted";
    /// Words of a transport that are kept of one delivery, characters.
    SEND_REASON_CHARS: usize = 200, "cut";
    /// Sends per minute and identity.
    RATE_SEND_PER_MINUTE: u32 = 120, "429 rate_limited, bucket send";
    /// One uploaded file, bytes.
    UPLOAD_BYTES: u64 = 20 * 1024 * 1024, "413 payload_too_large";
    /// Uploaded files of one mailbox.
    UPLOADS_PER_IDENTITY: usize = 100, "409 ceiling_exceeded";
    /// Life of an uploaded file, milliseconds.
    UPLOAD_LIFE_MS: u64 = 24 * 60 * 60 * 1_000, "404 upload_not_found";
    /// Drafts of one mailbox.
    DRAFTS_PER_IDENTITY: usize = 1_000, "409 ceiling_exceeded";
    /// One draft, bytes of JSON.
    DRAFT_BYTES: usize = 1024 * 1024, "invalid_request";
    /// Documents worked on in one tenant.
    DOCUMENT_SESSIONS_PER_TENANT: usize = 10_000, "409 ceiling_exceeded";
    /// Older states that are kept of one of them.
    DOCUMENT_STATES: usize = 50, "the oldest goes";
    /// Name of one of them, characters.
    DOCUMENT_NAME_CHARS: usize = 120, "invalid_argument";
    /// Allow and block entries of one tenant.
    LIST_ENTRIES_PER_TENANT: usize = 10_000, "409 ceiling_exceeded";
    /// Text and HTML of a signature, bytes each.
    SIGNATURE_BYTES: usize = 16 * 1024, "invalid_request";
    /// Words that say a program wrote a mail, characters.
    DISCLOSURE_CHARS: usize = 500, "invalid_request";
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
