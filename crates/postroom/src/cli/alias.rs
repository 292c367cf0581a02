//! The one place where the command line knows operations by name: its verbs.
//!
//! A verb names an operation, says which arguments stand without an option and how the answer is
//! shown. Everything else (the options, their help, their types) comes from the operation's schema.

/// One verb.
#[derive(Debug)]
pub(crate) struct Verb {
    /// The words of the verb: `search`, or `key create`.
    pub(crate) words: &'static [&'static str],
    /// One line for the list of commands.
    pub(crate) about: &'static str,
    /// What it calls; several when the kind of id decides.
    pub(crate) calls: &'static [Target],
    /// Arguments that stand without an option, in order.
    pub(crate) positional: &'static [&'static str],
    /// How the answer is shown to a person.
    pub(crate) view: View,
}

/// An operation, and the kind of id that chooses it.
#[derive(Debug)]
pub(crate) struct Target {
    /// The operation.
    pub(crate) operation: &'static str,
    /// The prefix of the first positional argument that chooses this one, and the argument that
    /// takes it; `None` when the positional arguments are the operation's own.
    pub(crate) by_id: Option<(&'static str, &'static str)>,
}

/// How an answer is shown to a person.
#[derive(Debug, Clone, Copy)]
pub(crate) enum View {
    /// The list at a pointer as a table: heading and pointer of each column.
    Table(&'static str, &'static [(&'static str, &'static str)]),
    /// One message: its headers, then its text.
    Message,
    /// A thread: its subject, then each message.
    Thread,
    /// Search hits: date, sender, subject, snippet.
    Hits,
    /// A todo: its line, how far it is, its payload.
    Todo,
    /// An arrival: what is known of it, its headers, its payload.
    Event,
    /// A way in: its address, how it stands, its rules.
    Source,
    /// Name and value, one a line.
    Fields,
}

const fn one(operation: &'static str) -> Target {
    Target {
        operation,
        by_id: None,
    }
}

const fn by_id(prefix: &'static str, operation: &'static str, argument: &'static str) -> Target {
    Target {
        operation,
        by_id: Some((prefix, argument)),
    }
}

const EVENTS: View = View::Table(
    "/events",
    &[
        ("ID", "/id"),
        ("RECEIVED", "/received_at"),
        ("PROVIDER", "/provider"),
        ("TYPE", "/event_type"),
        ("TRUST", "/trust_mode"),
        ("WENT", "/disposition"),
        ("BYTES", "/payload_size"),
    ],
);
const SOURCES: View = View::Table(
    "/sources",
    &[
        ("ID", "/source_id"),
        ("PROVIDER", "/source_type"),
        ("NAME", "/name"),
        ("QUEUE", "/target_queue"),
        ("STATE", "/state"),
        ("TRUST", "/trust_mode"),
        ("TRUSTED", "/trusted_actors"),
        ("EVENTS", "/deliveries"),
        ("LAST", "/last_delivery_at"),
        ("REFUSED", "/last_refusal/reason"),
    ],
);
const IDENTITIES: View = View::Table(
    "/data",
    &[
        ("ID", "/id"),
        ("ADDRESS", "/primary_address"),
        ("NAME", "/display_name"),
        ("PURPOSE", "/purpose"),
        ("STATUS", "/status"),
    ],
);
const KEYS: View = View::Table(
    "/data",
    &[
        ("ID", "/id"),
        ("NAME", "/name"),
        ("LEVEL", "/level"),
        ("IDENTITY", "/identity_id"),
        ("LAST USED", "/last_used_at"),
        ("REVOKED", "/revoked_at"),
    ],
);
const TENANTS: View = View::Table(
    "/data",
    &[
        ("ID", "/id"),
        ("SLUG", "/slug"),
        ("NAME", "/name"),
        ("STATUS", "/status"),
    ],
);
const THREADS: View = View::Table(
    "/data",
    &[
        ("ID", "/id"),
        ("LAST", "/last_at"),
        ("N", "/message_count"),
        ("NEW", "/unread_count"),
        ("SUBJECT", "/subject"),
    ],
);
const TODOS: View = View::Table(
    "/todos",
    &[
        ("ID", "/id"),
        ("CREATED", "/created_at"),
        ("QUEUE", "/queue"),
        ("STATE", "/state"),
        ("TRIES", "/attempt"),
        ("TITLE", "/title"),
    ],
);
const QUEUES: View = View::Table(
    "/queues",
    &[
        ("QUEUE", "/queue"),
        ("WAITING", "/pending"),
        ("CLAIMED", "/claimed"),
        ("PARKED", "/parked"),
        ("DEAD", "/dead_letters"),
        ("DONE", "/done"),
        ("OLDEST", "/oldest_pending_at"),
        ("PAUSED", "/paused"),
        ("AT ONCE", "/max_in_flight"),
    ],
);
const CONTACTS: View = View::Table(
    "/data",
    &[
        ("ADDRESS", "/address"),
        ("NAME", "/name"),
        ("IN", "/inbound_count"),
        ("OUT", "/outbound_count"),
        ("LAST SEEN", "/last_seen_at"),
    ],
);

const IMPORT_FAILURES: View = View::Table(
    "/data",
    &[
        ("ID", "/failure_id"),
        ("AT", "/at"),
        ("BYTES", "/size"),
        ("KEPT", "/kept"),
        ("WHY", "/reason"),
        ("FROM", "/location"),
    ],
);

const OUTBOX: View = View::Table(
    "/data",
    &[
        ("ID", "/message_id"),
        ("QUEUED", "/queued_at"),
        ("STATUS", "/status"),
        ("FROM", "/from/address"),
        ("TO", "/deliveries"),
        ("SUBJECT", "/subject"),
        ("BY", "/transport"),
        ("WHY", "/reason"),
    ],
);

/// Every verb that is an operation.
pub(crate) const VERBS: &[Verb] = &[
    Verb {
        words: &["search"],
        about: "Search mail: words, and operators such as from: has: after:",
        calls: &[one("mail_search")],
        positional: &["q"],
        view: View::Hits,
    },
    Verb {
        words: &["read"],
        about: "Read a message (msg_…) or a thread (thr_…)",
        calls: &[
            by_id("msg_", "mail_get_message", "message_id"),
            by_id("thr_", "mail_get_thread", "thread_id"),
        ],
        positional: &[],
        view: View::Thread,
    },
    Verb {
        words: &["threads"],
        about: "List threads, newest first",
        calls: &[one("mail_list_threads")],
        positional: &[],
        view: THREADS,
    },
    Verb {
        words: &["contacts"],
        about: "Find correspondents by name or address",
        calls: &[one("mail_search_contacts")],
        positional: &["q"],
        view: CONTACTS,
    },
    Verb {
        words: &["related"],
        about: "Find mail about the same thing as a message",
        calls: &[one("mail_find_related")],
        positional: &["message_id"],
        view: View::Hits,
    },
    Verb {
        words: &["wait"],
        about: "Wait for the next mail that fits; exit status 1 when none comes in time",
        calls: &[one("mail_wait")],
        positional: &[],
        view: View::Message,
    },
    Verb {
        words: &["send"],
        about: "Send a mail; --text - reads it from standard input, --text @FILE from a file",
        calls: &[one("mail_send")],
        positional: &[],
        view: View::Message,
    },
    Verb {
        words: &["reply"],
        about: "Answer a message in its thread",
        calls: &[one("mail_reply")],
        positional: &["message_id"],
        view: View::Message,
    },
    Verb {
        words: &["forward"],
        about: "Pass a message on",
        calls: &[one("mail_forward")],
        positional: &["message_id"],
        view: View::Message,
    },
    Verb {
        words: &["outbox"],
        about: "List sent mail and what became of it, newest first; --state bounced shows what came back",
        calls: &[one("outbox_list")],
        positional: &[],
        view: OUTBOX,
    },
    Verb {
        words: &["label"],
        about: "Add or remove labels of a message or thread, mark it read, put a thread away",
        calls: &[
            by_id("msg_", "mail_update_labels", "message_id"),
            by_id("thr_", "thread_update", "thread_id"),
        ],
        positional: &[],
        view: View::Fields,
    },
    Verb {
        words: &["event", "list"],
        about: "List what arrived, newest first",
        calls: &[one("list_webhook_events")],
        positional: &[],
        view: EVENTS,
    },
    Verb {
        words: &["event", "show"],
        about: "Show one arrival",
        calls: &[one("get_webhook_event")],
        positional: &["id"],
        view: View::Event,
    },
    Verb {
        words: &["event", "replay"],
        about: "Have the server send one arrival on, to a public https address",
        calls: &[one("replay_webhook_event")],
        positional: &["id"],
        view: View::Fields,
    },
    Verb {
        words: &["source", "list"],
        about: "List ways in and how they stand",
        calls: &[one("source_list")],
        positional: &[],
        view: SOURCES,
    },
    Verb {
        words: &["source", "show"],
        about: "Show a way in: its address, its rules, what it refused",
        calls: &[by_id("src_", "source_list", "source_id")],
        positional: &[],
        view: View::Source,
    },
    Verb {
        words: &["source", "update"],
        about: "Change a source's name, queue or settings; turn it off and on",
        calls: &[by_id("src_", "source_update", "source_id")],
        positional: &[],
        view: View::Source,
    },
    Verb {
        words: &["source", "rotate"],
        about: "Give a source a new address, and a new secret where we make it",
        calls: &[by_id("src_", "source_rotate", "source_id")],
        positional: &[],
        view: View::Fields,
    },
    Verb {
        words: &["source", "delete"],
        about: "Delete a source; its events and todos stay",
        calls: &[by_id("src_", "source_delete", "source_id")],
        positional: &[],
        view: View::Fields,
    },
    Verb {
        words: &["todo", "list"],
        about: "List todos, newest first",
        calls: &[one("todo_list")],
        positional: &[],
        view: TODOS,
    },
    Verb {
        words: &["todo", "show"],
        about: "Show a todo with its attempts",
        calls: &[one("todo_get")],
        positional: &["id"],
        view: View::Todo,
    },
    Verb {
        words: &["todo", "create"],
        about: "Open a todo",
        calls: &[one("todo_create")],
        positional: &["title"],
        view: View::Todo,
    },
    Verb {
        words: &["todo", "next"],
        about: "Claim the next todo that waits",
        calls: &[one("todo_claim_next")],
        positional: &[],
        view: View::Todo,
    },
    Verb {
        words: &["todo", "claim"],
        about: "Claim one todo",
        calls: &[one("todo_claim")],
        positional: &["id"],
        view: View::Todo,
    },
    Verb {
        words: &["todo", "heartbeat"],
        about: "Keep a claimed todo",
        calls: &[one("todo_heartbeat")],
        positional: &["id"],
        view: View::Todo,
    },
    Verb {
        words: &["todo", "complete"],
        about: "Say that a todo is done",
        calls: &[one("todo_complete")],
        positional: &["id"],
        view: View::Todo,
    },
    Verb {
        words: &["todo", "fail"],
        about: "Say that an attempt did not work",
        calls: &[one("todo_fail")],
        positional: &["id"],
        view: View::Todo,
    },
    Verb {
        words: &["todo", "release"],
        about: "Give a claimed todo back",
        calls: &[one("todo_release")],
        positional: &["id"],
        view: View::Todo,
    },
    Verb {
        words: &["todo", "retry"],
        about: "Give a failed todo all its tries again",
        calls: &[one("todo_retry")],
        positional: &["id"],
        view: View::Todo,
    },
    Verb {
        words: &["queue", "list"],
        about: "List queues and how much is in them",
        calls: &[one("queue_list")],
        positional: &[],
        view: QUEUES,
    },
    Verb {
        words: &["queue", "set"],
        about: "Pause a queue, or bound what is worked on at once",
        calls: &[one("queue_update")],
        positional: &["queue"],
        view: View::Fields,
    },
    Verb {
        words: &["import-failure", "list"],
        about: "List mail that an import could not take in, and why",
        calls: &[one("import_failure_list")],
        positional: &[],
        view: IMPORT_FAILURES,
    },
    Verb {
        words: &["import-failure", "raw"],
        about: "Write the bytes of such mail, if they were kept, to standard output",
        calls: &[one("import_failure_raw")],
        positional: &["failure_id"],
        view: View::Fields,
    },
    Verb {
        words: &["attachment"],
        about: "Write the bytes of a file that a message carries to standard output",
        calls: &[one("attachment_raw")],
        positional: &["message_id", "attachment_id"],
        view: View::Fields,
    },
    Verb {
        words: &["owner-link"],
        about: "Make a link that signs one person in to the page, once",
        calls: &[one("owner_link_create")],
        positional: &[],
        view: View::Fields,
    },
    Verb {
        words: &["identity", "list"],
        about: "List mailboxes",
        calls: &[one("mail_list_identities")],
        positional: &[],
        view: IDENTITIES,
    },
    Verb {
        words: &["identity", "create"],
        about: "Create a mailbox",
        calls: &[one("identity_create")],
        positional: &[],
        view: View::Fields,
    },
    Verb {
        words: &["identity", "update"],
        about: "Change a mailbox",
        calls: &[one("identity_update")],
        positional: &[],
        view: View::Fields,
    },
    Verb {
        words: &["key", "list"],
        about: "List keys",
        calls: &[one("key_list")],
        positional: &[],
        view: KEYS,
    },
    Verb {
        words: &["key", "create"],
        about: "Create a key; its secret is shown once",
        calls: &[one("key_create")],
        positional: &["name"],
        view: View::Fields,
    },
    Verb {
        words: &["key", "revoke"],
        about: "Revoke a key at once",
        calls: &[one("key_revoke")],
        positional: &["key_id"],
        view: View::Fields,
    },
    Verb {
        words: &["key", "rotate"],
        about: "Give a key a new secret; the old one works for a while",
        calls: &[one("key_rotate")],
        positional: &["key_id"],
        view: View::Fields,
    },
    Verb {
        words: &["tenant", "list"],
        about: "List workspaces",
        calls: &[one("tenant_list")],
        positional: &[],
        view: TENANTS,
    },
    Verb {
        words: &["tenant", "create"],
        about: "Create a workspace",
        calls: &[one("tenant_create")],
        positional: &[],
        view: View::Fields,
    },
    Verb {
        words: &["tenant", "update"],
        about: "Suspend or reactivate a workspace, rename it, or give it another time zone",
        calls: &[one("tenant_update")],
        positional: &[],
        view: View::Fields,
    },
];

/// Arguments that may stand without their option too, by verb.
pub(crate) const WORDS: &[(&[&str], &str)] = &[(&["identity", "create"], "address")];

impl Verb {
    /// Whether an argument that stands without an option may be left out.
    pub(crate) fn spares(&self, argument: &str) -> bool {
        SPARED.contains(&(self.words, argument))
    }

    /// The argument that may stand without its option.
    pub(crate) fn word(&self) -> Option<&'static str> {
        let known = WORDS.iter().find(|(words, _)| *words == self.words);
        known.map(|(_, argument)| *argument)
    }
}

/// Arguments that stand without an option and may be left out, by verb.
pub(crate) const SPARED: &[(&[&str], &str)] = &[(&["key", "create"], "name")];

/// Operations that commands of the process use themselves.
pub(crate) mod used {
    /// Lists the mailboxes, to find the only one or the one with an address.
    pub(crate) const LIST_MAILBOXES: &str = "mail_list_identities";
    /// Makes a mailbox for an import, a first start or the demo.
    pub(crate) const CREATE_MAILBOX: &str = "identity_create";
    /// Makes the agent's key of a first start.
    pub(crate) const CREATE_KEY: &str = "key_create";
    /// Shows one mailbox, to see that it is there.
    pub(crate) const SHOW_MAILBOX: &str = "identity_get";
    /// Puts one mail of an archive into a server.
    pub(crate) const PUT_IN_MAIL: &str = "inbound_raw";
    /// Waits for a mail.
    pub(crate) const WAIT: &str = "mail_wait";
    /// Says how the deployment stands.
    pub(crate) const SHOW_STATE: &str = "deployment_get";
    /// Lists what arrived, to follow it.
    pub(crate) const LIST_EVENTS: &str = "list_webhook_events";
    /// Gives one arrival whole.
    pub(crate) const SHOW_EVENT: &str = "get_webhook_event";
    /// Makes a way in.
    pub(crate) const CREATE_SOURCE: &str = "source_create";
    /// Says how a way in stands.
    pub(crate) const LIST_SOURCES: &str = "source_list";
    /// Gives a way in the secret of its provider.
    pub(crate) const SET_SOURCE_SECRET: &str = "source_set_secret";
    /// Saves rules of a file.
    pub(crate) const SET_SOURCE_RULES: &str = "source_set_rules";
    /// Tries rules of a file.
    pub(crate) const TEST_SOURCE_RULES: &str = "source_test_rules";
    /// Opens work of the demo.
    pub(crate) const CREATE_TODO: &str = "todo_create";
    /// Claims work of the demo.
    pub(crate) const CLAIM_TODO: &str = "todo_claim";
    /// Ends work of the demo well.
    pub(crate) const COMPLETE_TODO: &str = "todo_complete";
    /// Ends a try of the demo badly.
    pub(crate) const FAIL_TODO: &str = "todo_fail";
    /// Says how much waits in which queue.
    pub(crate) const LIST_QUEUES: &str = "queue_list";
    /// Finds work of the demo.
    pub(crate) const LIST_TODOS: &str = "todo_list";
    /// Takes a file that a mail is to carry.
    pub(crate) const UPLOAD: &str = "upload_create";
    /// Sends mail of the demo.
    pub(crate) const SEND_MAIL: &str = "mail_send";
    /// Answers mail of the demo.
    pub(crate) const REPLY_TO_MAIL: &str = "mail_reply";
    /// Finds mail of the demo to answer.
    pub(crate) const LIST_THREADS: &str = "mail_list_threads";
    /// Reads it.
    pub(crate) const SHOW_THREAD: &str = "mail_get_thread";
}

/// What the groups of verbs are for.
pub(crate) const GROUPS: &[(&str, &str)] = &[
    ("event", "What arrived, as it was received"),
    ("identity", "Mailboxes"),
    ("import-failure", "Mail that imports could not take in"),
    ("key", "API keys"),
    ("queue", "Queues of work"),
    ("source", "Ways in for events"),
    ("tenant", "Tenants: workspaces apart from each other"),
    ("todo", "Work: claimed under leases, tried again, finished"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_calls_operations_of_the_table_and_names_their_arguments() {
        for verb in VERBS {
            for call in verb.calls {
                let row = postroom_app::operation::find(call.operation);
                let row = row.unwrap_or_else(|| {
                    panic!(
                        "{:?} calls {}, which is not in the table",
                        verb.words, call.operation
                    )
                });
                let known = crate::cli::arguments::properties(row);
                let named = verb
                    .positional
                    .iter()
                    .copied()
                    .chain(call.by_id.map(|(_, argument)| argument))
                    .chain(verb.word());
                for argument in named {
                    assert!(
                        known.iter().any(|property| property.name() == argument),
                        "{:?}: {argument}",
                        verb.words
                    );
                }
            }
        }
    }

    #[test]
    fn what_commands_use_is_in_the_table() {
        for name in [
            used::LIST_MAILBOXES,
            used::CREATE_MAILBOX,
            used::CREATE_KEY,
            used::SHOW_MAILBOX,
            used::PUT_IN_MAIL,
            used::WAIT,
            used::SHOW_STATE,
            used::LIST_EVENTS,
            used::SHOW_EVENT,
            used::CREATE_SOURCE,
            used::LIST_SOURCES,
            used::SET_SOURCE_SECRET,
            used::SET_SOURCE_RULES,
            used::TEST_SOURCE_RULES,
            used::CREATE_TODO,
            used::CLAIM_TODO,
            used::COMPLETE_TODO,
            used::FAIL_TODO,
            used::LIST_TODOS,
            used::LIST_QUEUES,
            used::UPLOAD,
            used::SEND_MAIL,
            used::REPLY_TO_MAIL,
            used::LIST_THREADS,
            used::SHOW_THREAD,
        ] {
            assert!(postroom_app::operation::find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn every_group_has_verbs_and_every_group_is_described() {
        for verb in VERBS.iter().filter(|verb| verb.words.len() == 2) {
            assert!(
                GROUPS
                    .iter()
                    .any(|(group, _)| verb.words.first() == Some(group)),
                "{:?}",
                verb.words
            );
        }
    }
}
