//! What is inside a block that stands in its place.

use super::{
    Settled, Settler,
    part::{condition_of, under},
    put, take,
};
use crate::{
    draft::{Node, Object, Origin, Value},
    grammar::{self, BlockRow, Level},
    issue::Code,
    pass::adopt,
};

impl Settler<'_, '_, '_> {
    /// Settles what is inside a block that stands in its place.
    pub(super) fn block(
        &mut self,
        node: Node,
        row: &'static BlockRow,
        parent: &'static BlockRow,
    ) -> Vec<Settled> {
        if row.level == Level::Control {
            return self.control(node, row, parent);
        }
        if row.children.is_empty() {
            return self.leaf(node, row);
        }
        self.container(node, row)
    }

    pub(super) fn control(
        &mut self,
        mut node: Node,
        row: &'static BlockRow,
        parent: &'static BlockRow,
    ) -> Vec<Settled> {
        let mut any = false;
        for (at, holder) in row.children.iter().enumerate() {
            let children = take(&mut node, holder.key);
            let children: Vec<Node> = self
                .fill(parent, children, true)
                .into_iter()
                .map(Settled::node)
                .collect();
            self.count(node.origin, row, holder.key, children.len());
            // What an each shows for an empty list does not make up for what it repeats.
            any |= !children.is_empty() && (at == 0 || row.name == "if");
            if at == 0 || !children.is_empty() {
                put(&mut node, holder.key, children);
            }
        }
        if !any && row.name == "each" && has_blocks(&node, "empty") {
            return self.only_empty(node, parent);
        }
        if !any {
            return self.empty(node, row);
        }
        vec![Settled::Fits(node)]
    }

    /// A loop that repeats nothing and says something for an empty list is a condition.
    fn only_empty(&mut self, mut node: Node, parent: &'static BlockRow) -> Vec<Settled> {
        let at = node.origin;
        self.pass.findings.mend(
            Code::GrammarEmpty,
            at,
            "The each repeats nothing and shows something when its list is empty.",
            "cond",
            "each to an if that the list is empty",
        );
        let then = Node::array(at, take(&mut node, "empty"));
        let list = node.as_object_mut().and_then(|object| object.remove("in"));
        let list = list.unwrap_or_else(|| Node::new(at, Value::Null));
        let op = ("op".to_owned(), Node::string(at, "empty"));
        let cond = Value::Object(Object(vec![("var".to_owned(), list), op]));
        let mut keys = vec![("cond", Node::new(at, cond)), ("then", then)];
        if let Some(id) = node.as_object_mut().and_then(|object| object.remove("id")) {
            keys.push(("id", id));
        }
        let branch = Node::block(at, "if", keys);
        match grammar::block("if") {
            Some(row) => self.control(branch, row, parent),
            None => vec![Settled::Fits(branch)],
        }
    }

    /// Removes a block that holds nothing, unless something under a stray key would be missed.
    pub(super) fn empty(&mut self, node: Node, row: &BlockRow) -> Vec<Settled> {
        let message = format!("The {} holds nothing.", row.name);
        let object = node.as_object();
        let speaks = |(key, node): &(String, Node)| {
            row.holds(key).is_none() && key != "type" && adopt::may_be_read(key, node)
        };
        if object.is_some_and(|object| object.0.iter().any(speaks)) {
            let findings = &mut self.pass.findings;
            findings.report(Code::GrammarEmpty, node.origin, message);
            return vec![Settled::Fits(node)];
        }
        self.pass.findings.mend(
            Code::GrammarEmpty,
            node.origin,
            message,
            "empty.drop",
            format!("{} removed", row.name),
        );
        Vec::new()
    }

    pub(super) fn count(&mut self, at: Origin, row: &BlockRow, key: &str, count: usize) {
        let most = row.holds(key).map_or(usize::MAX, |holder| holder.most);
        if count > most {
            let message = format!("The {} holds {count} blocks; {most} are allowed.", row.name);
            self.pass.findings.report(Code::GrammarCount, at, message);
        }
    }

    pub(super) fn container(&mut self, mut node: Node, row: &'static BlockRow) -> Vec<Settled> {
        let children = take(&mut node, "children");
        let mut pieces: Vec<Settled> = Vec::new();
        let mut group = Vec::new();
        let condition = condition_of(&node);
        let mut shell = Some(node);
        let mut close = |group: &mut Vec<Node>, pieces: &mut Vec<Settled>| {
            if group.is_empty() {
                return;
            }
            let Some(whole) = shell.take() else {
                return;
            };
            let mut again = whole.clone();
            if let Some(object) = again.as_object_mut() {
                object.remove("id");
            }
            shell = Some(again);
            let mut whole = whole;
            put(&mut whole, "children", std::mem::take(group));
            pieces.push(Settled::Fits(whole));
        };
        for settled in self.fill(row, children, false) {
            match settled {
                Settled::Fits(node) => group.push(node),
                Settled::Lifted(node) => {
                    close(&mut group, &mut pieces);
                    pieces.push(Settled::Lifted(under(condition.as_ref(), node)));
                }
            }
        }
        close(&mut group, &mut pieces);
        if pieces.is_empty() {
            return match shell {
                Some(node) => self.empty(node, row),
                None => Vec::new(),
            };
        }
        pieces
            .into_iter()
            .flat_map(|piece| self.bounded(piece, row))
            .collect()
    }

    /// Splits a section with too many columns; tells of other containers that hold too much.
    pub(super) fn bounded(&mut self, piece: Settled, row: &'static BlockRow) -> Vec<Settled> {
        let Settled::Fits(mut node) = piece else {
            return vec![piece];
        };
        let most = row
            .holds("children")
            .map_or(usize::MAX, |holder| holder.most);
        let children = take(&mut node, "children");
        if row.name != "section" || children.len() <= most {
            self.count(node.origin, row, "children", children.len());
            put(&mut node, "children", children);
            return vec![Settled::Fits(node)];
        }
        let bands = children.len().div_ceil(most);
        let each = children.len().div_ceil(bands);
        self.pass.findings.mend(
            Code::GrammarCount,
            node.origin,
            format!(
                "The section holds {} columns; {most} are allowed.",
                children.len()
            ),
            "split.columns",
            format!("split into {bands} sections"),
        );
        let mut sections = Vec::new();
        for (at, band) in children.chunks(each).enumerate() {
            let mut section = node.clone();
            if at > 0
                && let Some(object) = section.as_object_mut()
            {
                object.remove("id");
            }
            put(&mut section, "children", band.to_vec());
            sections.push(Settled::Fits(section));
        }
        sections
    }
}

/// Whether blocks stand under `key`.
fn has_blocks(node: &Node, key: &str) -> bool {
    let list = node.as_object().and_then(|object| object.find(key));
    list.and_then(Node::as_array)
        .is_some_and(|list| !list.is_empty())
}
