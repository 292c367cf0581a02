//! The changes that make one document of another.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Change, apply, body_of, way};
use crate::{
    Applied, Issue,
    check::{Input, repair},
    pass::CHILD_KEYS,
};

/// How two documents differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Both could be read.
    pub ok: bool,
    /// They say the same.
    pub equal: bool,
    /// Changes that make the second of the first, as [`super::patch`] takes them.
    pub ops: Vec<Change>,
    /// The same in words, a line per change.
    pub changes: Vec<String>,
    /// Why one of them could not be read.
    pub issues: Vec<Issue>,
}

/// Compares two documents by ids, both repaired first.
#[must_use]
pub fn diff<'a, 'b>(before: impl Into<Input<'a>>, after: impl Into<Input<'b>>) -> Difference {
    let (before, after) = (repair(before), repair(after));
    if before.unusable || after.unusable {
        let issues = if before.unusable {
            before.issues
        } else {
            after.issues
        };
        return Difference {
            ok: false,
            equal: false,
            ops: Vec::new(),
            changes: Vec::new(),
            issues,
        };
    }
    let mut differ = Differ {
        now: before.document.clone(),
        ops: Vec::new(),
        changes: Vec::new(),
    };
    differ.parts(&after.document);
    differ.blocks(&after.document);
    // Somebody who misses a block has to see that it was there and did not survive the repair.
    let (first, second) = (repairs(&before.applied), repairs(&after.applied));
    let equal = differ.ops.is_empty() && first == second;
    if first != second {
        for (which, repairs) in [("first", &first), ("second", &second)] {
            let lines = repairs.iter().map(|(place, change)| {
                format!("the {which} document was repaired first, at {place}: {change}")
            });
            differ.changes.extend(lines);
        }
    }
    Difference {
        ok: true,
        equal,
        ops: differ.ops,
        changes: differ.changes,
        issues: Vec::new(),
    }
}

/// Place and change of everything that was repaired, ids aside.
fn repairs(applied: &[Applied]) -> Vec<(&str, &str)> {
    let told = applied
        .iter()
        .filter(|one| !matches!(one.code, "id.assign" | "version.assumed"));
    told.map(|one| {
        let place = if one.path.is_empty() {
            "the document"
        } else {
            &one.path
        };
        (place, one.change.as_str())
    })
    .collect()
}

struct Differ {
    /// The first document with the changes so far.
    now: Value,
    ops: Vec<Change>,
    changes: Vec<String>,
}

/// Keys of an object that differ, null for those that go.
fn changed(before: Option<&Value>, after: Option<&Value>, skip: &[&str]) -> Map<String, Value> {
    let empty = Map::new();
    let before = before.and_then(Value::as_object).unwrap_or(&empty);
    let after = after.and_then(Value::as_object).unwrap_or(&empty);
    let mut set = Map::new();
    for (key, value) in after {
        if !skip.contains(&key.as_str()) && before.get(key) != Some(value) {
            set.insert(key.clone(), value.clone());
        }
    }
    for key in before.keys() {
        if !skip.contains(&key.as_str()) && !after.contains_key(key) {
            set.insert(key.clone(), Value::Null);
        }
    }
    set
}

fn id_of(block: &Value) -> Option<&str> {
    block.get("id").and_then(Value::as_str)
}

fn kind_of(block: &Value) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or("block")
}

/// Ids of a block and of all inside it, with their types.
fn ids<'v>(block: &'v Value, found: &mut HashMap<&'v str, &'v str>) {
    if let Some(id) = id_of(block) {
        found.insert(id, kind_of(block));
    }
    for child in CHILD_KEYS.iter().filter_map(|key| block.get(key)) {
        for child in child.as_array().into_iter().flatten() {
            ids(child, found);
        }
    }
}

impl Differ {
    fn make(&mut self, change: Change, words: String) {
        if apply(&mut self.now, &change).is_ok() {
            self.ops.push(change);
            self.changes.push(words);
        }
    }

    fn parts(&mut self, after: &Value) {
        for part in ["meta", "theme", "policy"] {
            let set = changed(self.now.get(part), after.get(part), &[]);
            if !set.is_empty() {
                let keys: Vec<&str> = set.keys().map(String::as_str).collect();
                let words = format!("{part}: {} changed", keys.join(", "));
                let change = Change::Set {
                    id: None,
                    part: Some(part.to_owned()),
                    set,
                };
                self.make(change, words);
            }
        }
        let mut set = Map::new();
        for key in ["kind", "variables"] {
            let value = after.get(key).cloned().unwrap_or(Value::Null);
            if self.now.get(key).cloned().unwrap_or(Value::Null) != value {
                set.insert(key.to_owned(), value);
            }
        }
        if !set.is_empty() {
            let keys: Vec<&str> = set.keys().map(String::as_str).collect();
            let words = format!("{} changed", keys.join(", "));
            let change = Change::Set {
                id: None,
                part: Some("document".to_owned()),
                set,
            };
            self.make(change, words);
        }
    }

    fn blocks(&mut self, after: &Value) {
        let Some(goal) = after.get("root") else {
            return;
        };
        let Some(root) = self.now.get("root") else {
            return;
        };
        if id_of(root) != id_of(goal) || kind_of(root) != kind_of(goal) {
            let id = id_of(root).unwrap_or_default().to_owned();
            let change = Change::Replace {
                id,
                block: goal.clone(),
            };
            self.make(change, "the body is another".to_owned());
            return;
        }
        let mut wanted = HashMap::new();
        ids(goal, &mut wanted);
        let mut had = HashMap::new();
        ids(root, &mut had);
        // A block of another type is another block, whatever its id.
        let kept: HashSet<String> = had
            .iter()
            .filter(|(id, kind)| wanted.get(*id) == Some(*kind))
            .map(|(id, _)| (*id).to_owned())
            .collect();
        let changed_kind: Vec<String> = had
            .keys()
            .filter(|id| wanted.contains_key(*id) && !kept.contains(**id))
            .map(|id| (*id).to_owned())
            .collect();
        // Their ids are needed for those that come; what they hold is placed anew.
        let mut sorted = changed_kind;
        sorted.sort_unstable();
        for id in sorted {
            self.rescue(&id, &kept);
            let words = format!("{id} removed");
            self.make(Change::Remove { id }, words);
        }
        self.place(goal, &kept);
        self.remove_rest(&wanted);
    }

    /// Moves what stays out of a block that goes, to the end of the body.
    fn rescue(&mut self, id: &str, kept: &HashSet<String>) {
        let Some(root) = self.now.get("root") else {
            return;
        };
        let body = id_of(root).unwrap_or_default().to_owned();
        let Some(steps) = way(root, id) else {
            return;
        };
        let mut inside = HashMap::new();
        if let Some(block) = super::follow(&mut root.clone(), &steps) {
            ids(block, &mut inside);
            let mut inside: Vec<String> = inside
                .keys()
                .filter(|inner| kept.contains(**inner))
                .map(|inner| (*inner).to_owned())
                .collect();
            inside.sort_unstable();
            for inner in inside {
                let change = Change::Move {
                    id: inner.clone(),
                    before: None,
                    after: None,
                    into: Some(body.clone()),
                    slot: None,
                    at: None,
                };
                self.make(change, format!("{inner} moved out of {id}"));
            }
        }
    }

    /// Brings the blocks inside `goal` into place, and their keys.
    fn place(&mut self, goal: &Value, kept: &HashSet<String>) {
        let Some(id) = id_of(goal) else {
            return;
        };
        for key in CHILD_KEYS {
            let mut last: Option<String> = None;
            for child in goal
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                let Some(child_id) = id_of(child) else {
                    continue;
                };
                self.bring(child, child_id, id, key, last.as_deref(), kept);
                last = Some(child_id.to_owned());
            }
        }
        for key in CHILD_KEYS {
            for child in goal
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                self.keys(child, kept);
                self.place(child, kept);
            }
        }
    }

    /// Puts one block after `last` in the list `key` of `parent`.
    fn bring(
        &mut self,
        block: &Value,
        id: &str,
        parent: &str,
        key: &str,
        last: Option<&str>,
        kept: &HashSet<String>,
    ) {
        let (after, into, slot, at) = match last {
            Some(last) => (Some(last.to_owned()), None, None, None),
            None => (None, Some(parent.to_owned()), Some(key.to_owned()), Some(0)),
        };
        if !kept.contains(id) {
            let mut inside = HashMap::new();
            ids(block, &mut inside);
            let whole = inside.keys().all(|inner| !kept.contains(*inner));
            let shell = if whole { block.clone() } else { shell(block) };
            let words = format!("{} {id} added", kind_of(block));
            let change = Change::Insert {
                block: shell,
                before: None,
                after,
                into,
                slot,
                at,
            };
            // What stands in it already has its id now and is not looked for again.
            if way(self.now.get("root").unwrap_or(&Value::Null), id).is_none() {
                self.make(change, words);
            }
            return;
        }
        if self.stands(id, parent, key, last, kept) {
            return;
        }
        let words = format!("{id} moved");
        let change = Change::Move {
            id: id.to_owned(),
            before: None,
            after,
            into,
            slot,
            at,
        };
        self.make(change, words);
    }

    /// Whether the block stands in that list of `parent` right after `last`, not counting blocks
    /// that go.
    fn stands(
        &self,
        id: &str,
        parent: &str,
        key: &str,
        last: Option<&str>,
        kept: &HashSet<String>,
    ) -> bool {
        let Some(root) = self.now.get("root") else {
            return false;
        };
        let Some(mut steps) = way(root, id) else {
            return false;
        };
        let Some((found, at)) = steps.pop() else {
            return false;
        };
        let holder = steps
            .iter()
            .try_fold(root, |at, (key, index)| at.get(key)?.get(*index));
        let Some(holder) = holder.filter(|holder| id_of(holder) == Some(parent) && found == key)
        else {
            return false;
        };
        let list = holder.get(key).and_then(Value::as_array);
        let before = list.into_iter().flatten().take(at).filter_map(id_of);
        let stays = |id: &&str| kept.contains(*id) || Some(*id) == last;
        before.filter(stays).last() == last
    }

    /// Sets the keys of a block that stays.
    fn keys(&mut self, goal: &Value, kept: &HashSet<String>) {
        let Some(id) = id_of(goal).filter(|id| kept.contains(*id)) else {
            return;
        };
        let mut root = self.now.get("root").cloned().unwrap_or(Value::Null);
        let Some(steps) = way(&root, id) else {
            return;
        };
        let now = super::follow(&mut root, &steps).map(|block| block.clone());
        let set = changed(now.as_ref(), Some(goal), CHILD_KEYS);
        if !set.is_empty() {
            let keys: Vec<&str> = set.keys().map(String::as_str).collect();
            let words = format!("{} {id}: {} changed", kind_of(goal), keys.join(", "));
            let change = Change::Set {
                id: Some(id.to_owned()),
                part: None,
                set,
            };
            self.make(change, words);
        }
    }

    /// Takes out every block that the second document does not have.
    fn remove_rest(&mut self, wanted: &HashMap<&str, &str>) {
        loop {
            let Ok(root) = body_of(&mut self.now) else {
                return;
            };
            let mut had = HashMap::new();
            ids(root, &mut had);
            let mut gone: Vec<&str> = had
                .keys()
                .copied()
                .filter(|id| !wanted.contains_key(id))
                .collect();
            gone.sort_unstable();
            // The outermost first: what is inside goes with it.
            let outer = gone
                .iter()
                .min_by_key(|id| way(root, id).map_or(usize::MAX, |steps| steps.len()));
            let Some(id) = outer.map(|id| (*id).to_owned()) else {
                return;
            };
            let before = self.ops.len();
            self.make(Change::Remove { id: id.clone() }, format!("{id} removed"));
            if self.ops.len() == before {
                return;
            }
        }
    }
}

/// A block without what it holds.
fn shell(block: &Value) -> Value {
    let mut shell = block.clone();
    if let Some(object) = shell.as_object_mut() {
        for key in CHILD_KEYS {
            if object.contains_key(*key) {
                object.insert((*key).to_owned(), json!([]));
            }
        }
    }
    shell
}
