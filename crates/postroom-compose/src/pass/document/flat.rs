//! The flat form, in which each block names its parent.

use std::collections::HashMap;

use crate::draft::{Node, Object, Value};

/// Whether blocks are listed flat: each names its parent.
pub(super) fn is_flat(node: &Node) -> bool {
    let items = node.as_array().unwrap_or_default();
    items.iter().any(|item| {
        item.as_object()
            .is_some_and(|object| object.has("parent") || object.has("props"))
    }) && items.iter().all(|item| {
        item.as_object()
            .is_some_and(|object| object.has("type") && !object.has("children"))
    })
}

/// Turns the flat form `[{id, parent, slot?, type, props}]` into a tree. A block whose parent is
/// not there, or that is its own ancestor, goes into the body.
pub(super) fn nest(object: &mut Object) {
    let Some(list) = object.remove("blocks") else {
        return;
    };
    let at = list.origin;
    let Value::Array(items) = list.value else {
        return;
    };
    let ids: HashMap<String, usize> = items
        .iter()
        .enumerate()
        .rev()
        .filter_map(|(at, item)| Some((item.as_object()?.string("id")?.to_owned(), at)))
        .collect();
    let mut parents: Vec<Option<usize>> = items
        .iter()
        .map(|item| ids.get(item.as_object()?.string("parent")?).copied())
        .collect();
    break_circles(&mut parents);
    let mut blocks: Vec<Option<Node>> = items
        .into_iter()
        .map(|item| Some(flat_block(item)))
        .collect();
    let mut body = None;
    let mut top = Vec::new();
    // From the last to the first, so that children are whole before they move into their parents.
    for order in deepest_first(&parents) {
        let Some(mut block) = blocks.get_mut(order).and_then(Option::take) else {
            continue;
        };
        // Its children came last first.
        for key in crate::pass::CHILD_KEYS {
            let children = block
                .as_object_mut()
                .and_then(|object| object.find_mut(key));
            if let Some(children) = children.and_then(Node::as_array_mut) {
                children.reverse();
            }
        }
        let parent = parents.get(order).copied().flatten();
        let place = parent
            .and_then(|parent| blocks.get_mut(parent))
            .and_then(Option::as_mut);
        match place.and_then(Node::as_object_mut) {
            Some(place) => insert(place, block),
            None if block.kind() == Some("body") && body.is_none() => body = Some(block),
            None => top.push(block),
        }
    }
    top.reverse();
    let mut body = body.unwrap_or_else(|| Node::block(at, "body", Vec::new()));
    if let Some(inner) = body.as_object_mut() {
        let mut children = match inner.remove("children").map(|node| node.value) {
            Some(Value::Array(children)) => children,
            _ => Vec::new(),
        };
        for mut block in top {
            if let Some(block) = block.as_object_mut() {
                block.remove(SLOT);
            }
            children.push(block);
        }
        inner.put("children", Node::array(at, children));
    }
    object.put("root", body);
}

/// Under which key a flat block stands in its parent while the tree is being made.
pub(super) const SLOT: &str = "slot";

/// A flat block as a block.
pub(super) fn flat_block(item: Node) -> Node {
    let at = item.origin;
    let Value::Object(mut object) = item.value else {
        return item;
    };
    object.remove("parent");
    if let Some(Value::Object(props)) = object.remove("props").map(|node| node.value) {
        for (key, node) in props.0 {
            if !object.has(&key) {
                object.put(&key, node);
            }
        }
    }
    Node::new(at, Value::Object(object))
}

pub(super) fn insert(parent: &mut Object, mut block: Node) {
    let slot = block.as_object_mut().and_then(|object| object.remove(SLOT));
    let slot = slot.as_ref().and_then(Node::as_str).unwrap_or_default();
    let key = match (parent.string("type"), slot) {
        (_, key @ ("then" | "else" | "empty" | "children")) => key.to_owned(),
        (Some("if"), _) => "then".to_owned(),
        _ => "children".to_owned(),
    };
    let at = block.origin;
    match parent.find_mut(&key).and_then(Node::as_array_mut) {
        Some(children) => children.push(block),
        None => parent.put(&key, Node::array(at, vec![block])),
    }
}

/// Cuts the parent of every block that is its own ancestor.
pub(super) fn break_circles(parents: &mut [Option<usize>]) {
    let count = parents.len();
    // 0 not looked at, 1 on the way, 2 known to end.
    let mut state = vec![0_u8; count];
    for start in 0..count {
        let mut path = Vec::new();
        let mut at = start;
        loop {
            match state.get(at) {
                Some(0) => {}
                Some(1) => {
                    if let Some(parent) = parents.get_mut(at) {
                        *parent = None;
                    }
                    break;
                }
                _ => break,
            }
            if let Some(place) = state.get_mut(at) {
                *place = 1;
            }
            path.push(at);
            match parents.get(at).copied().flatten() {
                Some(parent) => at = parent,
                None => break,
            }
        }
        for at in path {
            if let Some(place) = state.get_mut(at) {
                *place = 2;
            }
        }
    }
}

/// Blocks by depth, deepest first; of one depth the last first.
pub(super) fn deepest_first(parents: &[Option<usize>]) -> Vec<usize> {
    let mut depths: Vec<Option<usize>> = vec![None; parents.len()];
    for start in 0..parents.len() {
        let mut path = Vec::new();
        let mut at = Some(start);
        let mut depth = 0;
        while let Some(now) = at {
            if let Some(Some(known)) = depths.get(now) {
                depth = known + 1;
                break;
            }
            path.push(now);
            at = parents.get(now).copied().flatten();
        }
        for now in path.into_iter().rev() {
            if let Some(place) = depths.get_mut(now) {
                *place = Some(depth);
            }
            depth += 1;
        }
    }
    let mut order: Vec<usize> = (0..parents.len()).collect();
    order.sort_by_key(|at| {
        let depth = depths.get(*at).copied().flatten().unwrap_or(0);
        (std::cmp::Reverse(depth), std::cmp::Reverse(*at))
    });
    order
}
