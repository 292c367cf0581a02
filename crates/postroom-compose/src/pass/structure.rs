//! The grammar: what stands where its parent does not take it is wrapped, unwrapped or lifted out.

mod fate;
mod inside;
mod part;
mod words;

use std::collections::HashSet;
use std::collections::VecDeque;

use fate::{Fate, fate, misplaced};
use part::{convert, dissolved};

use super::Pass;
use crate::{
    draft::{Node, Origin, Value},
    grammar::{self, BlockRow},
    issue::Code,
};

/// Brings the body into the form of the grammar.
pub(crate) fn settle(root: &mut Node, pass: &mut Pass<'_, '_>) {
    let Some(body) = super::body(root) else {
        return;
    };
    let Some(row) = body.kind().and_then(grammar::block) else {
        return;
    };
    let children = take(body, "children");
    let mut settler = Settler {
        pass,
        told: HashSet::new(),
    };
    let settled = settler.fill(row, children, false);
    let children: Vec<Node> = settled.into_iter().map(Settled::node).collect();
    if children.is_empty() {
        let message = "The body holds nothing.";
        settler
            .pass
            .findings
            .report(Code::GrammarEmpty, body.origin, message);
    }
    settler.count(body.origin, row, "children", children.len());
    put(body, "children", children);
}

/// The list under `key`, taken out.
fn take(node: &mut Node, key: &str) -> Vec<Node> {
    let list = node.as_object_mut().and_then(|object| object.remove(key));
    match list.map(|list| list.value) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

fn put(node: &mut Node, key: &str, children: Vec<Node>) {
    let at = node.origin;
    if let Some(object) = node.as_object_mut() {
        object.put(key, Node::array(at, children));
    }
}

/// A block after its turn: in its place, or to be placed further out.
enum Settled {
    Fits(Node),
    Lifted(Node),
}

impl Settled {
    fn node(self) -> Node {
        match self {
            Self::Fits(node) | Self::Lifted(node) => node,
        }
    }
}

/// Neighbours that go into the same new containers, named outermost first.
type Run = (Vec<&'static str>, Vec<Node>);

struct Settler<'p, 'f, 'a> {
    pass: &'p mut Pass<'f, 'a>,
    /// Blocks whose place was told of.
    told: HashSet<Origin>,
}

impl Settler<'_, '_, '_> {
    /// Tells once that a block stands where `parent` does not take it.
    fn misplaced(&mut self, node: &Node, parent: &BlockRow, rule: &'static str, change: String) {
        let message = misplaced(node, parent);
        if self.told.insert(node.origin) {
            self.pass
                .findings
                .mend(Code::Grammar, node.origin, message, rule, change);
            self.pass.findings.reject(node.origin);
        }
    }

    fn stuck(&mut self, node: &Node, parent: &BlockRow) {
        if self.told.insert(node.origin) {
            let message = misplaced(node, parent);
            self.pass
                .findings
                .report(Code::Grammar, node.origin, message);
            self.pass.findings.reject(node.origin);
        }
    }

    /// Puts `children` into `parent`. Inside `if` and `each` (`held`) nothing can be lifted out.
    fn fill(&mut self, parent: &'static BlockRow, children: Vec<Node>, held: bool) -> Vec<Settled> {
        let mut settled = Vec::new();
        let mut run: Option<Run> = None;
        let mut queue: VecDeque<Node> = children.into();
        while let Some(node) = queue.pop_front() {
            if node.is_null() {
                continue;
            }
            let Some(row) = self.known(&node) else {
                self.wrap(parent, run.take(), held, &mut settled);
                settled.push(Settled::Fits(node));
                continue;
            };
            let fate = fate(parent, row, &node, held);
            if let Fate::Wrap(chain) = fate {
                let change = format!("put into a new {}", chain.join(" and "));
                let rule = if parent.name == "section" {
                    "column.insert"
                } else {
                    "wrap"
                };
                self.misplaced(&node, parent, rule, change);
                match &mut run {
                    Some((same, nodes)) if *same == chain => nodes.push(node),
                    _ => {
                        self.wrap(parent, run.take(), held, &mut settled);
                        run = Some((chain, vec![node]));
                    }
                }
                continue;
            }
            self.wrap(parent, run.take(), held, &mut settled);
            match fate {
                Fate::Fits | Fate::Wrap(_) => {
                    let pieces = self.block(node, row, parent);
                    self.place(parent, pieces, held, &mut settled);
                }
                Fate::Converts(kind) => {
                    let change = format!("{} to {kind}", row.name);
                    self.misplaced(&node, parent, "alias", change);
                    queue.push_front(convert(node, kind));
                }
                Fate::Dissolves => {
                    let change = format!("{} dissolved, what it held stays", row.name);
                    self.misplaced(&node, parent, "unwrap", change);
                    for child in dissolved(node, row).into_iter().rev() {
                        queue.push_front(child);
                    }
                }
                Fate::Stuck => {
                    self.stuck(&node, parent);
                    settled.push(Settled::Fits(node));
                }
                Fate::Lifts => {
                    let rule = if row.children.is_empty() {
                        "lift"
                    } else {
                        "unwrap"
                    };
                    let change = format!("{} lifted out of the {}", row.name, parent.name);
                    self.misplaced(&node, parent, rule, change);
                    settled.push(Settled::Lifted(node));
                }
            }
        }
        self.wrap(parent, run.take(), held, &mut settled);
        settled
    }

    /// Puts the pieces of a block in place; neighbours that were lifted out of it go together.
    fn place(
        &mut self,
        parent: &'static BlockRow,
        pieces: Vec<Settled>,
        held: bool,
        settled: &mut Vec<Settled>,
    ) {
        let mut lifted = Vec::new();
        for piece in pieces {
            match piece {
                Settled::Lifted(node) => lifted.push(node),
                Settled::Fits(node) => {
                    settled.extend(self.fill(parent, std::mem::take(&mut lifted), held));
                    settled.push(Settled::Fits(node));
                }
            }
        }
        if !lifted.is_empty() {
            settled.extend(self.fill(parent, lifted, held));
        }
    }

    /// Wraps a run of neighbours and puts what comes of it in place.
    fn wrap(
        &mut self,
        parent: &'static BlockRow,
        run: Option<Run>,
        held: bool,
        settled: &mut Vec<Settled>,
    ) {
        let Some((chain, nodes)) = run else {
            return;
        };
        let Some(at) = nodes.first().map(|node| node.origin) else {
            return;
        };
        let mut inner = nodes;
        for kind in chain.iter().rev() {
            let children = Node::array(at, inner);
            inner = vec![Node::block(at, kind, vec![("children", children)])];
        }
        let pieces = self.fill(parent, inner, held);
        settled.extend(pieces);
    }

    /// The row of a block; tells of one that has none.
    fn known(&mut self, node: &Node) -> Option<&'static BlockRow> {
        if node.as_object().is_none() {
            if self.told.insert(node.origin) {
                let message = format!("A block is an object, not {}.", node.what());
                self.pass
                    .findings
                    .report(Code::SchemaType, node.origin, message);
            }
            return None;
        }
        let kind = node.kind()?;
        let row = grammar::block(kind);
        if row.is_none() && self.told.insert(node.origin) {
            let names = grammar::BLOCKS.iter().map(|row| row.name);
            let near = grammar::nearest(kind, names);
            let near = near.map_or_else(String::new, |near| format!(" Did you mean {near}?"));
            let shown: String = kind.chars().take(40).collect();
            let message = format!("There is no block of type {shown:?}.{near}");
            self.pass
                .findings
                .report(Code::BlockUnknown, node.origin, message);
            self.pass.findings.reject(node.origin);
        }
        row
    }
}
