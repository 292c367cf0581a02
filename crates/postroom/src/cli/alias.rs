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
        ("BYTES", "/payload_size"),
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
        about: "Wait for the next mail that fits",
        calls: &[one("mail_wait")],
        positional: &[],
        view: View::Message,
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
];

/// Arguments that may stand without their option too, by verb.
pub(crate) const WORDS: &[(&[&str], &str)] = &[(&["identity", "create"], "address")];

impl Verb {
    /// The argument that may stand without its option.
    pub(crate) fn word(&self) -> Option<&'static str> {
        let known = WORDS.iter().find(|(words, _)| *words == self.words);
        known.map(|(_, argument)| *argument)
    }
}

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
    /// Says how the deployment stands.
    pub(crate) const SHOW_STATE: &str = "deployment_get";
}

/// What the groups of verbs are for.
pub(crate) const GROUPS: &[(&str, &str)] = &[
    ("event", "What arrived, as it was received"),
    ("identity", "Mailboxes"),
    ("key", "API keys"),
    ("tenant", "Workspaces"),
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
            used::SHOW_STATE,
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
