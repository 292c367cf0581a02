//! Changes to a document by ids of its blocks, and the changes that lead from one to another.

mod difference;

use postroom_types::limit;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use difference::{Difference, diff};

use crate::{
    Applied, Code, Issue, Source,
    check::{Input, check, repair},
    pass::CHILD_KEYS,
};

/// A change to a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum Change {
    /// Sets keys of a block, or of a part of the document; null removes a key.
    Set {
        /// Id of the block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// `meta`, `theme` or `policy`; or `document` for `kind` and `variables`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<String>,
        /// Keys and their values.
        set: Map<String, Value>,
    },
    /// Puts a new block somewhere.
    Insert {
        /// The block; ids may be left out.
        block: Value,
        /// Before the block of this id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<String>,
        /// After the block of this id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// Into the block of this id, at the end of its list or at `at`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        into: Option<String>,
        /// Which list of `into`: `children`, `then`, `else` or `empty`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slot: Option<String>,
        /// Place in that list, from 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<usize>,
    },
    /// Puts a block in the place of another; it keeps the id if it states none.
    Replace {
        /// Id of the block that goes.
        id: String,
        /// The block that comes.
        block: Value,
    },
    /// Moves a block somewhere else.
    Move {
        /// Id of the block.
        id: String,
        /// Before the block of this id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<String>,
        /// After the block of this id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// Into the block of this id, at the end of its list or at `at`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        into: Option<String>,
        /// Which list of `into`: `children`, `then`, `else` or `empty`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slot: Option<String>,
        /// Place in that list, from 0, counted without the block itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<usize>,
    },
    /// Takes a block out.
    Remove {
        /// Id of the block.
        id: String,
    },
}

/// What a patch made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Patched {
    /// Every change was made and no issue is an error.
    pub ok: bool,
    /// The changed document, in canonical form if it has no errors. When a change cannot be made
    /// none is: the document as it was; null when it is unusable.
    pub document: Value,
    /// What a repair changed before the patch.
    pub applied: Vec<Applied>,
    /// Changes that cannot be made (`patch.*`, at `ops.N`), else issues of the document.
    pub issues: Vec<Issue>,
    /// The document is no JSON, or past a bound.
    #[serde(skip)]
    pub unusable: bool,
}

/// Makes all of `changes`, or none. The document is repaired first, so that every block has its id.
#[must_use]
pub fn patch<'i>(document: impl Into<Input<'i>>, changes: &[Change]) -> Patched {
    let repaired = repair(document);
    let refused = |issues, document, unusable| Patched {
        ok: false,
        document,
        applied: repaired.applied.clone(),
        issues,
        unusable,
    };
    if repaired.unusable {
        return refused(repaired.issues, Value::Null, true);
    }
    if changes.len() > limit::COMPOSE_NODES {
        let message = format!(
            "{} changes; {} are allowed.",
            changes.len(),
            limit::COMPOSE_NODES
        );
        return refused(
            vec![Issue::new(Code::PatchInvalid, &place(0), message)],
            repaired.document,
            false,
        );
    }
    let mut changed = repaired.document.clone();
    for (at, change) in changes.iter().enumerate() {
        if let Err((code, message)) = allowed(change).and_then(|()| apply(&mut changed, change)) {
            let issue = Issue::new(code, &place(at), message);
            return refused(vec![issue], repaired.document, false);
        }
    }
    let checked = check(&changed);
    let document = match checked.document {
        Some(document) => document.json(),
        None => changed,
    };
    Patched {
        ok: checked.ok,
        document,
        applied: repaired.applied,
        issues: checked.issues,
        unusable: checked.unusable,
    }
}

/// Raw HTML is allowed by people, in the document as they write it.
fn allowed(change: &Change) -> Result<(), Refusal> {
    match change {
        Change::Set {
            part: Some(part),
            set,
            ..
        } if part == "policy"
            && !matches!(
                set.get("allowRaw"),
                None | Some(Value::Null | Value::Bool(false))
            ) =>
        {
            let message = "A patch does not allow raw HTML; a person does, in the document itself.";
            Err(invalid(message))
        }
        _ => Ok(()),
    }
}

/// Where a change stands.
fn place(at: usize) -> Source {
    Source {
        path: format!("ops.{at}"),
        pointer: format!("/ops/{at}"),
        ..Source::default()
    }
}

type Refusal = (Code, String);

/// Steps from the body to a block: key of a list and place in it.
type Steps = Vec<(&'static str, usize)>;

fn unknown(id: &str) -> Refusal {
    (
        Code::PatchTarget,
        format!("There is no block with the id {id}."),
    )
}

fn invalid(message: impl Into<String>) -> Refusal {
    (Code::PatchInvalid, message.into())
}

/// The way to the block of that id.
fn way(body: &Value, id: &str) -> Option<Steps> {
    if body.get("id").and_then(Value::as_str) == Some(id) {
        return Some(Vec::new());
    }
    for key in CHILD_KEYS {
        let children = body.get(key).and_then(Value::as_array);
        for (at, child) in children.into_iter().flatten().enumerate() {
            if let Some(mut steps) = way(child, id) {
                steps.insert(0, (key, at));
                return Some(steps);
            }
        }
    }
    None
}

fn follow<'v>(body: &'v mut Value, steps: &[(&'static str, usize)]) -> Option<&'v mut Value> {
    let mut at = body;
    for (key, index) in steps {
        at = at.get_mut(*key)?.get_mut(*index)?;
    }
    Some(at)
}

fn body_of(document: &mut Value) -> Result<&mut Value, Refusal> {
    let body = document.get_mut("root");
    body.ok_or_else(|| invalid("The document has no root."))
}

/// Makes one change.
fn apply(document: &mut Value, change: &Change) -> Result<(), Refusal> {
    match change {
        Change::Set { id, part, set } => match (id, part) {
            (Some(id), None) => set_block(document, id, set),
            (None, Some(part)) => set_part(document, part, set),
            _ => Err(invalid("set takes an id or a part.")),
        },
        Change::Insert {
            block,
            before,
            after,
            into,
            slot,
            at,
        } => {
            let goal = Goal {
                before: before.as_deref(),
                after: after.as_deref(),
                into: into.as_deref(),
                slot: slot.as_deref(),
                at: *at,
            };
            insert(body_of(document)?, block.clone(), &goal)
        }
        Change::Replace { id, block } => replace(document, id, block),
        Change::Move {
            id,
            before,
            after,
            into,
            slot,
            at,
        } => {
            let goal = Goal {
                before: before.as_deref(),
                after: after.as_deref(),
                into: into.as_deref(),
                slot: slot.as_deref(),
                at: *at,
            };
            relocate(body_of(document)?, id, &goal)
        }
        Change::Remove { id } => take(body_of(document)?, id).map(|_| ()),
    }
}

fn set_block(document: &mut Value, id: &str, set: &Map<String, Value>) -> Result<(), Refusal> {
    if let Some(key) = ["id", "type"]
        .into_iter()
        .find(|key| set.contains_key(*key))
    {
        return Err(invalid(format!("set does not change {key}; replace does.")));
    }
    let body = body_of(document)?;
    let steps = way(body, id).ok_or_else(|| unknown(id))?;
    let block = follow(body, &steps).and_then(Value::as_object_mut);
    set_keys(block.ok_or_else(|| unknown(id))?, set);
    Ok(())
}

fn set_keys(object: &mut Map<String, Value>, set: &Map<String, Value>) {
    for (key, value) in set {
        if value.is_null() {
            object.remove(key);
        } else {
            object.insert(key.clone(), value.clone());
        }
    }
}

fn set_part(document: &mut Value, part: &str, set: &Map<String, Value>) -> Result<(), Refusal> {
    let Some(object) = document.as_object_mut() else {
        return Err(invalid("The document is no object."));
    };
    match part {
        "document" => {
            let known = ["kind", "variables"];
            if let Some(key) = set.keys().find(|key| !known.contains(&key.as_str())) {
                return Err(invalid(format!(
                    "The part document has kind and variables, not {key}."
                )));
            }
            set_keys(object, set);
        }
        "meta" | "theme" | "policy" => {
            let place = object.entry(part).or_insert_with(|| json!({}));
            let Some(place) = place.as_object_mut() else {
                return Err(invalid(format!("{part} is no object.")));
            };
            set_keys(place, set);
        }
        _ => return Err(invalid("Parts are meta, theme, policy and document.")),
    }
    Ok(())
}

/// Where a block is put.
struct Goal<'g> {
    before: Option<&'g str>,
    after: Option<&'g str>,
    into: Option<&'g str>,
    slot: Option<&'g str>,
    at: Option<usize>,
}

fn insert(body: &mut Value, block: Value, goal: &Goal<'_>) -> Result<(), Refusal> {
    if !block.is_object() {
        return Err(invalid("A block is an object."));
    }
    let (mut steps, key, at) = match (goal.before, goal.after, goal.into) {
        (Some(id), None, None) | (None, Some(id), None) => {
            let mut steps = way(body, id).ok_or_else(|| unknown(id))?;
            let Some((key, at)) = steps.pop() else {
                return Err(invalid("Nothing stands beside the body."));
            };
            (steps, key, Some(at + usize::from(goal.after.is_some())))
        }
        (None, None, Some(id)) => {
            let steps = way(body, id).ok_or_else(|| unknown(id))?;
            (steps, "", goal.at)
        }
        _ => return Err(invalid("One of before, after and into says where.")),
    };
    let Some(parent) = follow(body, &std::mem::take(&mut steps)) else {
        return Err(invalid("The place is not there."));
    };
    let key = if key.is_empty() {
        slot(parent, goal.slot)?
    } else {
        key
    };
    let Some(parent) = parent.as_object_mut() else {
        return Err(invalid("The place is no block."));
    };
    let list = parent.entry(key).or_insert_with(|| json!([]));
    let Some(list) = list.as_array_mut() else {
        return Err(invalid(format!("{key} is no list.")));
    };
    let at = at.unwrap_or(list.len()).min(list.len());
    list.insert(at, block);
    Ok(())
}

/// The list of a block that `slot` names, or its first.
fn slot(block: &Value, slot: Option<&str>) -> Result<&'static str, Refusal> {
    let kind = block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let Some(row) = crate::grammar::block(kind).filter(|row| !row.children.is_empty()) else {
        return Err(invalid(format!("A {kind} holds no blocks.")));
    };
    let found = match slot {
        Some(slot) => row.holds(slot),
        None => row.children.first(),
    };
    let found = found.map(|children| children.key);
    found.ok_or_else(|| {
        invalid(format!(
            "A {kind} has no list {}.",
            slot.unwrap_or_default()
        ))
    })
}

fn replace(document: &mut Value, id: &str, block: &Value) -> Result<(), Refusal> {
    let body = body_of(document)?;
    let steps = way(body, id).ok_or_else(|| unknown(id))?;
    let mut block = block.clone();
    let Some(object) = block.as_object_mut() else {
        return Err(invalid("A block is an object."));
    };
    if !object.contains_key("id") {
        object.insert("id".to_owned(), json!(id));
    }
    let place = follow(body, &steps).ok_or_else(|| unknown(id))?;
    *place = block;
    Ok(())
}

/// Takes a block out of the body.
fn take(body: &mut Value, id: &str) -> Result<Value, Refusal> {
    let mut steps = way(body, id).ok_or_else(|| unknown(id))?;
    let Some((key, at)) = steps.pop() else {
        return Err(invalid("The body stays where it is."));
    };
    let parent = follow(body, &steps).ok_or_else(|| unknown(id))?;
    let list = parent.get_mut(key).and_then(Value::as_array_mut);
    match list {
        Some(list) if at < list.len() => Ok(list.remove(at)),
        _ => Err(unknown(id)),
    }
}

fn relocate(body: &mut Value, id: &str, goal: &Goal<'_>) -> Result<(), Refusal> {
    let block = take(body, id)?;
    for target in [goal.before, goal.after, goal.into].into_iter().flatten() {
        if way(&block, target).is_some() {
            return Err(invalid(format!("{id} cannot be moved into itself.")));
        }
    }
    insert(body, block, goal)
}
