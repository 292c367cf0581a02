//! The passes over a draft, in order. Each reports what it finds and mends what it can.

pub(crate) mod adopt;
pub(crate) mod document;
pub(crate) mod ids;
pub(crate) mod layout;
mod lost;
pub(crate) mod naming;
pub(crate) mod structure;
pub(crate) mod text;
pub(crate) mod values;
pub(crate) mod variables;
pub(crate) mod version;

use std::collections::HashSet;

use crate::{
    draft::{Node, Object, Value},
    findings::Findings,
    model::Color,
    notation::Reading,
};

/// What a caller allows a repair beyond what it always does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RepairOptions {
    /// Lines that begin with "- " in one text become a list.
    pub list_from_text: bool,
}

/// What the passes share.
pub(crate) struct Pass<'f, 'a> {
    pub(crate) findings: &'f mut Findings<'a>,
    /// Names that a plain word in other notations may stand for.
    pub(crate) names: HashSet<String>,
    /// What is only doubtful is mended too; a check leaves it as it is.
    pub(crate) repairing: bool,
    pub(crate) options: RepairOptions,
    /// Colours of the theme by name.
    pub(crate) palette: Vec<(String, Color)>,
}

impl Pass<'_, '_> {
    /// Calls `read` with the reading of ordinary strings.
    pub(crate) fn reading<T>(&self, read: impl FnOnce(Reading<'_>) -> T) -> T {
        read(Reading::All(&|name| self.names.contains(name)))
    }
}

/// Runs every pass over `root`; false when it is no document that can be read.
pub(crate) fn run(
    root: &mut Node,
    findings: &mut Findings<'_>,
    repairing: bool,
    options: RepairOptions,
) -> bool {
    let mut pass = Pass {
        findings,
        names: HashSet::new(),
        repairing,
        options,
        palette: Vec::new(),
    };
    let said = lost::said(root);
    document::unwrap(root, &mut pass);
    if !version::bring_up_to_date(root, &mut pass) {
        return false;
    }
    document::shape(root, &mut pass);
    naming::rename(root, &mut pass);
    document::collect(root, &mut pass);
    structure::settle(root, &mut pass);
    values::document(root, &mut pass);
    layout::arrange(root, &mut pass);
    variables::resolve(root, &mut pass);
    ids::assign(root, &mut pass);
    lost::tell(&said, root, &mut pass);
    true
}

/// Keys of a block that hold blocks.
pub(crate) const CHILD_KEYS: &[&str] = &["children", "then", "else", "empty"];

/// The body of a document.
pub(crate) fn body(root: &mut Node) -> Option<&mut Node> {
    root.as_object_mut()?.find_mut("root")
}

/// Calls `visit` for every object that is a block, parents first.
pub(crate) fn walk_mut(node: &mut Node, visit: &mut dyn FnMut(&mut Node)) {
    if node.as_object().is_none() {
        return;
    }
    visit(node);
    let Some(object) = node.as_object_mut() else {
        return;
    };
    for (key, child) in &mut object.0 {
        if CHILD_KEYS.contains(&key.as_str())
            && let Value::Array(children) = &mut child.value
        {
            for child in children {
                walk_mut(child, visit);
            }
        }
    }
}

/// The same for reading.
pub(crate) fn walk<'n>(node: &'n Node, visit: &mut dyn FnMut(&'n Node, &'n Object)) {
    let Some(object) = node.as_object() else {
        return;
    };
    visit(node, object);
    for (key, child) in &object.0 {
        if CHILD_KEYS.contains(&key.as_str())
            && let Value::Array(children) = &child.value
        {
            for child in children {
                walk(child, visit);
            }
        }
    }
}

/// A key by its letters and digits in lower case, so that its spelling does not count.
pub(crate) fn plain(key: &str) -> String {
    let letters = key.chars().filter(|char| char.is_alphanumeric()).take(60);
    letters.flat_map(char::to_lowercase).collect()
}
