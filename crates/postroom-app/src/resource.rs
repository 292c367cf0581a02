//! Resources of the protocol: addresses under which an operation's answer can be read, and the
//! changes that make it worth reading again.
//!
//! A row names an operation, so that a surface knows none: reading a resource calls it with the
//! row's arguments, and the permission is the operation's.

use postroom_core::FeedKind;
use postroom_store::read;
use postroom_types::TenantScope;
use serde_json::{Map, Value, json};

use crate::{Actor, Failure, Operation, Room, authorise, op::working::worker_of, operation};

/// One resource, or a family of them with a part of the address to fill in.
#[derive(Debug)]
pub struct Resource {
    /// The address; a part in braces at its end is filled in, and is the argument of that name.
    pub uri: &'static str,
    /// Other addresses under which the same is answered.
    pub aliases: &'static [&'static str],
    /// A short name.
    pub name: &'static str,
    /// A few words for a list.
    pub title: &'static str,
    /// What it holds and when it is worth reading.
    pub description: &'static str,
    /// The operation whose answer it is.
    pub operation: &'static str,
    /// Arguments of the operation: name and JSON text.
    pub arguments: &'static [(&'static str, &'static str)],
    /// The field of the answer that is the resource; the whole answer without one.
    field: Option<&'static str>,
    /// Fields of the answer that are no part of the resource.
    without: &'static [&'static str],
    /// Changes of the feed after which it reads differently.
    changes: &'static [FeedKind],
}

/// Every resource.
pub const RESOURCES: &[Resource] = &[
    Resource {
        uri: "postroom://events/recent",
        aliases: &["switchboard://events/recent"],
        name: "recent-events",
        title: "Recent arrivals",
        description: "The newest arrivals, newest first, without payloads. Subscribe to hear when something arrives.",
        operation: "list_webhook_events",
        arguments: &[("limit", "50")],
        field: None,
        without: &["next_cursor"],
        changes: &[
            FeedKind::EventReceived,
            FeedKind::MessageReceived,
            FeedKind::MessageImported,
        ],
    },
    Resource {
        uri: "postroom://mail/{identity}",
        aliases: &[],
        name: "mailbox",
        title: "Newest threads of a mailbox",
        description: "The newest threads of one mailbox, by identity id or address. Subscribe to hear when its mail changes.",
        operation: "mail_list_threads",
        arguments: &[],
        field: None,
        without: &[],
        changes: &[
            FeedKind::MessageReceived,
            FeedKind::MessageImported,
            FeedKind::MessageChanged,
            FeedKind::MessageQueued,
            FeedKind::MessageSent,
            FeedKind::MessageDelivered,
            FeedKind::MessageDeferred,
            FeedKind::MessageBounced,
            FeedKind::MessageComplained,
            FeedKind::MessageRejected,
            FeedKind::MessageFailed,
            FeedKind::MessageUncertain,
            FeedKind::MessageReconciled,
            FeedKind::MessageSuppressed,
            FeedKind::MessageCanceled,
            FeedKind::SendChanged,
        ],
    },
    Resource {
        uri: "postroom://todos/{queue}",
        aliases: &[],
        name: "queue",
        title: "Newest todos of a queue",
        description: "The newest todos of one queue, without payloads. Subscribe to hear when work comes in or is done.",
        operation: "todo_list",
        arguments: &[("limit", "50")],
        field: None,
        without: &[],
        changes: &[FeedKind::TodoCreated, FeedKind::TodoChanged],
    },
    Resource {
        uri: "ir://contract",
        aliases: &[],
        name: "document-contract",
        title: "Block contract",
        description: "What EmailDocuments may hold: blocks, keys, nesting, defaults.",
        operation: "describe_blocks",
        arguments: &[("verbosity", "\"examples\"")],
        field: None,
        without: &[],
        changes: &[],
    },
    Resource {
        uri: "ir://schema/v2",
        aliases: &[],
        name: "document-schema",
        title: "Schema of documents",
        description: "JSON Schema of EmailDocuments as they are stored.",
        operation: "document_reference",
        arguments: &[("topic", "\"schema\"")],
        field: Some("content"),
        without: &[],
        changes: &[],
    },
    Resource {
        uri: "ir://schema/v2/ai",
        aliases: &[],
        name: "document-schema-ai",
        title: "Schema of drafts",
        description: "JSON Schema of EmailDocuments as they are drafted: without ids, texts as strings.",
        operation: "document_reference",
        arguments: &[("topic", "\"schema/ai\"")],
        field: Some("content"),
        without: &[],
        changes: &[],
    },
    Resource {
        uri: "ir://schema/v2/ai-flat",
        aliases: &[],
        name: "document-schema-ai-flat",
        title: "Flat schema of drafts",
        description: "The same as one list of blocks that name their parents.",
        operation: "document_reference",
        arguments: &[("topic", "\"schema/ai-flat\"")],
        field: Some("content"),
        without: &[],
        changes: &[],
    },
    Resource {
        uri: "ir://schema/v2/all-required",
        aliases: &[],
        name: "document-schema-all-required",
        title: "Strict schema of drafts",
        description: "The same for modes that need every key and no recursion.",
        operation: "document_reference",
        arguments: &[("topic", "\"schema/all-required\"")],
        field: Some("content"),
        without: &[],
        changes: &[],
    },
    Resource {
        uri: "ir://rules",
        aliases: &[],
        name: "document-rules",
        title: "Rules of documents",
        description: "Every code of check_ir with its meaning and how to put it right.",
        operation: "document_reference",
        arguments: &[("topic", "\"rules\"")],
        field: Some("content"),
        without: &[],
        changes: &[],
    },
    Resource {
        uri: "ir://dialects",
        aliases: &[],
        name: "document-dialects",
        title: "Template languages",
        description: "The template languages of compile_ir.",
        operation: "document_reference",
        arguments: &[("topic", "\"dialects\"")],
        field: Some("content"),
        without: &[],
        changes: &[],
    },
    Resource {
        uri: "ir://examples/two-cards",
        aliases: &[],
        name: "example-two-cards",
        title: "Two cards",
        description: "A finished document with two columns.",
        operation: "document_reference",
        arguments: &[("topic", "\"examples/two-cards\"")],
        field: Some("content"),
        without: &[],
        changes: &[],
    },
    Resource {
        uri: "ir://examples/{example}",
        aliases: &[],
        name: "example",
        title: "A finished document",
        description: "A document to begin with: welcome, receipt, password-reset, invitation, digest, alert, invoice, newsletter.",
        operation: "document_reference",
        arguments: &[],
        field: Some("content"),
        without: &[],
        changes: &[],
    },
];

/// A resource with the part of its address filled in.
#[derive(Debug, Clone)]
pub struct Located {
    /// The row.
    pub resource: &'static Resource,
    /// The argument that the address fills in, and its value.
    pub filled: Option<(&'static str, String)>,
}

/// The resource at an address.
pub fn locate(uri: &str) -> Option<Located> {
    RESOURCES.iter().find_map(|resource| {
        let mut addresses = std::iter::once(&resource.uri).chain(resource.aliases);
        addresses.find_map(|address| match template(address) {
            Some((before, name)) => {
                let value = uri
                    .strip_prefix(before)
                    .filter(|rest| !rest.is_empty() && !rest.contains('/'))?;
                Some(Located {
                    resource,
                    filled: Some((name, decoded(value))),
                })
            }
            None => (*address == uri).then_some(Located {
                resource,
                filled: None,
            }),
        })
    })
}

/// What stands before the part that is filled in, and the name of that part.
fn template(address: &'static str) -> Option<(&'static str, &'static str)> {
    address.strip_suffix('}')?.split_once('{')
}

/// A part of an address with its percent escapes resolved (`%40` in an address is common).
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        let escape = after
            .get(..2)
            .and_then(|pair| std::str::from_utf8(pair).ok());
        match (
            first,
            escape.and_then(|pair| u8::from_str_radix(pair, 16).ok()),
        ) {
            (b'%', Some(byte)) => {
                out.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl Resource {
    /// The resource out of the operation's answer.
    pub fn body(&self, mut answer: Value) -> Value {
        if let Some(field) = self.field {
            return answer.get_mut(field).map(Value::take).unwrap_or_default();
        }
        if let Value::Object(object) = &mut answer {
            object.retain(|name, _| !self.without.contains(&name.as_str()));
        }
        answer
    }

    /// Whether a part of the address is to be filled in.
    pub fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    /// The operation whose answer it is; `None` when the caller may not use it.
    pub fn operation_for(&self, actor: &Actor) -> Option<&'static Operation> {
        operation::find(self.operation).filter(|row| actor.may_call(row))
    }

    pub(crate) fn changes_with(&self, kind: FeedKind) -> bool {
        self.changes.contains(&kind)
    }
}

impl Located {
    /// The value of the part `name`, when the address has it.
    pub(crate) fn part(&self, name: &str) -> Option<&str> {
        self.filled
            .as_ref()
            .filter(|(known, _)| *known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The arguments of the operation.
    pub fn arguments(&self) -> Value {
        let mut arguments: Map<String, Value> = self
            .resource
            .arguments
            .iter()
            .filter_map(|(name, text)| Some(((*name).to_owned(), serde_json::from_str(text).ok()?)))
            .collect();
        if let Some((name, value)) = &self.filled {
            arguments.insert((*name).to_owned(), value.as_str().into());
        }
        Value::Object(arguments)
    }
}

/// Addresses that a completion suggests at most.
const SUGGESTIONS: usize = 100;

impl Room {
    /// What an argument of a resource's address may be and begins with what was typed, as far as
    /// the caller may list it.
    ///
    /// # Errors
    /// What listing it would answer.
    pub async fn completions(
        &self,
        actor: &Actor,
        argument: &str,
        typed: &str,
    ) -> Result<Vec<String>, Failure> {
        match argument {
            "identity" => self.addresses_starting(actor, typed).await,
            "queue" => self.queues_starting(actor, typed).await,
            _ => Ok(Vec::new()),
        }
    }

    async fn queues_starting(&self, actor: &Actor, typed: &str) -> Result<Vec<String>, Failure> {
        let Some(scope) = self.listing_scope(actor, "todo_list").await? else {
            return Ok(Vec::new());
        };
        let worker = worker_of(actor, scope);
        let counts = read::queue_counts(self.store(), &worker).await?;
        let names = counts.into_keys().filter(|name| name.starts_with(typed));
        Ok(names.take(SUGGESTIONS).collect())
    }

    /// What a list reaches for the caller; `None` when it may not list.
    async fn listing_scope(
        &self,
        actor: &Actor,
        list: &str,
    ) -> Result<Option<TenantScope>, Failure> {
        let Some(row) = operation::find(list).filter(|row| actor.may_call(row)) else {
            return Ok(None);
        };
        let granted = authorise::authorise(self, actor, row, &json!({})).await?;
        Ok(granted.scope)
    }

    async fn addresses_starting(&self, actor: &Actor, typed: &str) -> Result<Vec<String>, Failure> {
        let Some(scope) = self.listing_scope(actor, "mail_list_identities").await? else {
            return Ok(Vec::new());
        };
        let filter = read::IdentityFilter {
            limit: SUGGESTIONS,
            ..Default::default()
        };
        let identities = read::identities(self.store(), &scope, &filter).await?;
        let addresses = identities
            .iter()
            .filter_map(|identity| identity.primary_address());
        let addresses = addresses.map(|row| row.address.clone());
        Ok(addresses
            .filter(|address| address.starts_with(&typed.to_lowercase()))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_an_operation_of_the_table() {
        for resource in RESOURCES {
            assert!(
                operation::find(resource.operation).is_some(),
                "{}",
                resource.operation
            );
        }
    }

    #[test]
    fn an_address_is_located_by_its_own_and_its_other_name() {
        for uri in ["postroom://events/recent", "switchboard://events/recent"] {
            assert_eq!(
                locate(uri).map(|located| located.resource.name),
                Some("recent-events")
            );
        }
        let mailbox = locate("postroom://mail/a%40b.example").expect("located");
        assert_eq!(
            mailbox.arguments(),
            serde_json::json!({"identity": "a@b.example"})
        );
        let queue = locate("postroom://todos/billing").expect("located");
        assert_eq!(
            queue.arguments(),
            serde_json::json!({"limit": 50, "queue": "billing"})
        );
        for uri in [
            "postroom://mail/",
            "postroom://mail/a/b",
            "postroom://events",
            "file:///etc/passwd",
            "",
        ] {
            assert!(locate(uri).is_none(), "{uri}");
        }
    }
}
