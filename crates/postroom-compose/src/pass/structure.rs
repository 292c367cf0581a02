//! The grammar: what stands where its parent does not take it is wrapped, unwrapped or lifted out.

use std::collections::{HashSet, VecDeque};

use super::{Pass, adopt, text};
use crate::{
    draft::{Node, Object, Origin, Value},
    grammar::{self, BlockRow, Form, Level},
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

/// The type of a block; of `if` and `each` the first type inside.
fn content_kind(node: &Node) -> Option<&'static str> {
    let row = grammar::block(node.kind()?)?;
    if row.level != Level::Control {
        return Some(row.name);
    }
    let object = node.as_object()?;
    let lists = row
        .children
        .iter()
        .filter_map(|holder| object.find(holder.key));
    lists
        .filter_map(Node::as_array)
        .flatten()
        .find_map(content_kind)
}

/// Containers that have to be put around a block of type `kind` inside `parent`, outermost first.
fn wrappers(parent: &'static BlockRow, kind: &str) -> Option<Vec<&'static str>> {
    let own: &[&'static str] = match kind {
        "item" => &["list"],
        "row" => &["table"],
        "cell" => &["table", "row"],
        "menuItem" => &["menu"],
        "socialItem" => &["social"],
        _ => &[],
    };
    let outer: &[&'static str] = match parent.name {
        "body" | "panel" if kind == "column" => &["section"],
        "body" | "panel" => &["section", "column"],
        "section" => &["column"],
        "column" => &[],
        "table" if kind == "cell" => return Some(vec!["row"]),
        _ => return None,
    };
    let chain: Vec<&'static str> = outer.iter().chain(own).copied().collect();
    let inner = chain.last().copied().map_or(Some(parent), grammar::block)?;
    (!chain.is_empty() && inner.accepts().contains(&kind)).then_some(chain)
}

/// The type that a block takes on inside a container of parts.
fn converted(parent: &BlockRow, kind: &str) -> Option<&'static str> {
    match (parent.name, kind) {
        ("list", "text" | "heading") => Some("item"),
        ("row", "text" | "heading" | "item") => Some("cell"),
        ("menu", "button") => Some("menuItem"),
        _ => None,
    }
}

/// Neighbours that go into the same new containers, named outermost first.
type Run = (Vec<&'static str>, Vec<Node>);

/// What becomes of a block inside a parent.
enum Fate {
    Fits,
    /// Takes on another type.
    Converts(&'static str),
    /// Goes into new containers, outermost first.
    Wrap(Vec<&'static str>),
    /// Gives way to what it holds.
    Dissolves,
    /// Goes to what is around the parent.
    Lifts,
    /// Stays, and is wrong.
    Stuck,
}

fn fate(parent: &'static BlockRow, row: &'static BlockRow, node: &Node, held: bool) -> Fate {
    let control = row.level == Level::Control;
    let kind = content_kind(node).unwrap_or(row.name);
    if let Some(other) = converted(parent, kind).filter(|_| !control) {
        return Fate::Converts(other);
    }
    let takes = |name: &str| parent.accepts().contains(&name);
    let empty = control && kind == row.name;
    if takes(row.name) && (empty || takes(kind)) {
        return Fate::Fits;
    }
    if let Some(chain) = wrappers(parent, kind) {
        return Fate::Wrap(chain);
    }
    if control && !takes(row.name) {
        return Fate::Stuck;
    }
    if control && held {
        // Its condition or loop has to stay; what it holds gives way instead.
        return Fate::Fits;
    }
    // Columns in columns and lists in lists only add depth; bands stand under each other.
    let doubled = row.name == parent.name && row.level != Level::Band;
    let said = node
        .as_object()
        .is_some_and(|object| adopt::has_words_left(object, row));
    if said && (doubled || row.name == "body" || held) {
        return Fate::Stuck;
    }
    if doubled || row.name == "body" || (held && !row.children.is_empty()) {
        return Fate::Dissolves;
    }
    if held || parent.name == "body" {
        return Fate::Stuck;
    }
    Fate::Lifts
}

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

    /// Settles what is inside a block that stands in its place.
    fn block(
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

    fn control(
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
        if !any {
            return self.empty(node, row);
        }
        vec![Settled::Fits(node)]
    }

    /// Removes a block that holds nothing, unless something under a stray key would be missed.
    fn empty(&mut self, node: Node, row: &BlockRow) -> Vec<Settled> {
        let message = format!("The {} holds nothing.", row.name);
        let object = node.as_object();
        let speaks = |(key, node): &(String, Node)| {
            row.holds(key).is_none() && key != "type" && adopt::says_something(key, node)
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

    fn count(&mut self, at: Origin, row: &BlockRow, key: &str, count: usize) {
        let most = row.holds(key).map_or(usize::MAX, |holder| holder.most);
        if count > most {
            let message = format!("The {} holds {count} blocks; {most} are allowed.", row.name);
            self.pass.findings.report(Code::GrammarCount, at, message);
        }
    }

    fn container(&mut self, mut node: Node, row: &'static BlockRow) -> Vec<Settled> {
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
    fn bounded(&mut self, piece: Settled, row: &'static BlockRow) -> Vec<Settled> {
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

    /// Lifts blocks out of the text of a leaf; drops a text without words.
    fn leaf(&mut self, node: Node, row: &'static BlockRow) -> Vec<Settled> {
        let key = row
            .attributes
            .iter()
            .find(|attribute| matches!(attribute.form, Form::Text(_)))
            .map(|attribute| attribute.name);
        let Some(key) = key else {
            return vec![Settled::Fits(node)];
        };
        let text = node.as_object().and_then(|object| object.find(key));
        if matches!(row.name, "text" | "heading" | "quote") && text.is_some_and(is_blank) {
            return self.blank(node, row);
        }
        let spans = text.and_then(Node::as_array).unwrap_or_default();
        if !spans.iter().any(text::is_block) {
            return self.list_from_text(node, row);
        }
        self.split(node, key, row)
    }

    fn blank(&mut self, node: Node, row: &BlockRow) -> Vec<Settled> {
        let message = format!("The {} has no words.", row.name);
        let named = node.as_object().is_some_and(|object| object.has("id"));
        let source = self.pass.findings.origins.source(node.origin);
        let issue = crate::Issue::new(Code::TextEmpty, &source, message);
        if named {
            self.pass.findings.push(node.origin, issue);
            return vec![Settled::Fits(node)];
        }
        self.pass.findings.push(node.origin, issue.fixable());
        if !self.pass.repairing {
            return vec![Settled::Fits(node)];
        }
        let change = format!("{} removed", row.name);
        self.pass.findings.change(node.origin, "empty.drop", change);
        Vec::new()
    }

    fn split(&mut self, mut node: Node, key: &str, row: &BlockRow) -> Vec<Settled> {
        let spans = take(&mut node, key);
        let condition = condition_of(&node);
        let mut shell = node;
        let mut pieces = Vec::new();
        let mut words: Vec<Node> = Vec::new();
        let mut close = |words: &mut Vec<Node>, pieces: &mut Vec<Settled>| {
            if words.iter().all(is_blank) {
                words.clear();
                return;
            }
            let mut whole = shell.clone();
            put(&mut whole, key, std::mem::take(words));
            if let Some(object) = shell.as_object_mut() {
                object.remove("id");
            }
            pieces.push(Settled::Fits(whole));
        };
        for span in spans {
            if !text::is_block(&span) {
                words.push(span);
                continue;
            }
            close(&mut words, &mut pieces);
            let kind = span.kind().unwrap_or_default().to_owned();
            if self.told.insert(span.origin) {
                self.pass.findings.mend(
                    Code::Grammar,
                    span.origin,
                    format!(
                        "A {kind} stands inside a {}, which takes spans only.",
                        row.name
                    ),
                    "lift",
                    format!("{kind} lifted out, the text split around it"),
                );
                self.pass.findings.reject(span.origin);
            }
            let block = under(condition.as_ref(), renamed(span, self.pass));
            pieces.push(Settled::Lifted(block));
        }
        close(&mut words, &mut pieces);
        pieces
    }

    /// Lines that begin with "- " become a list, where the caller asks for it.
    fn list_from_text(&mut self, node: Node, row: &BlockRow) -> Vec<Settled> {
        let text = node.as_object().and_then(|object| object.string("text"));
        let listed = |text: &str| text.lines().filter(|line| line.starts_with("- ")).count() >= 2;
        let text = match text {
            Some(text)
                if self.pass.options.list_from_text
                    && self.pass.repairing
                    && row.name == "text"
                    && listed(text) =>
            {
                text.to_owned()
            }
            _ => return vec![Settled::Fits(node)],
        };
        let at = node.origin;
        self.pass
            .findings
            .change(at, "list.from_text", "lines with \"- \" to a list");
        let mut pieces = Vec::new();
        let (mut items, mut words): (Vec<Node>, Vec<&str>) = (Vec::new(), Vec::new());
        let condition = condition_of(&node);
        let flush_items = |items: &mut Vec<Node>, pieces: &mut Vec<Settled>| {
            if !items.is_empty() {
                let children = Node::array(at, std::mem::take(items));
                let list = Node::block(at, "list", vec![("children", children)]);
                pieces.push(Settled::Lifted(under(condition.as_ref(), list)));
            }
        };
        let mut shell = node;
        let mut flush_words = |words: &mut Vec<&str>, pieces: &mut Vec<Settled>| {
            let text = std::mem::take(words).join("\n");
            if text.trim().is_empty() {
                return;
            }
            let mut whole = shell.clone();
            if let Some(object) = whole.as_object_mut() {
                object.put("text", Node::string(at, text.trim_matches('\n')));
            }
            if let Some(object) = shell.as_object_mut() {
                object.remove("id");
            }
            pieces.push(Settled::Fits(whole));
        };
        for line in text.lines() {
            match line.strip_prefix("- ") {
                Some(item) => {
                    flush_words(&mut words, &mut pieces);
                    items.push(Node::block(
                        at,
                        "item",
                        vec![("text", Node::string(at, item.trim()))],
                    ));
                }
                None => {
                    if !line.trim().is_empty() {
                        flush_items(&mut items, &mut pieces);
                    }
                    words.push(line);
                }
            }
        }
        flush_items(&mut items, &mut pieces);
        flush_words(&mut words, &mut pieces);
        pieces
    }
}

/// The condition that a block has of its own.
fn condition_of(node: &Node) -> Option<Node> {
    let condition = node.as_object()?.find("visibleIf")?;
    (!condition.is_null()).then(|| condition.clone())
}

/// `node` in an `if` when what it is lifted out of had a condition.
fn under(condition: Option<&Node>, node: Node) -> Node {
    let Some(condition) = condition else {
        return node;
    };
    let at = node.origin;
    let then = Node::array(at, vec![node]);
    Node::block(at, "if", vec![("cond", condition.clone()), ("then", then)])
}

/// What a block holds, without the block; a condition of its own goes on to hold.
fn dissolved(mut node: Node, row: &BlockRow) -> Vec<Node> {
    let at = node.origin;
    let condition = condition_of(&node);
    let children: Vec<Node> = row
        .children
        .iter()
        .flat_map(|holder| take(&mut node, holder.key))
        .collect();
    match condition {
        Some(condition) if !children.is_empty() => {
            let then = Node::array(at, children);
            vec![Node::block(
                at,
                "if",
                vec![("cond", condition), ("then", then)],
            )]
        }
        _ => children,
    }
}

/// The block as one of another type, with the keys that both know; in an `if` when it had a
/// condition that the other type has not.
fn convert(mut node: Node, kind: &'static str) -> Node {
    let condition = condition_of(&node).filter(|_| kind != "cell");
    let ours: Vec<&str> = grammar::block(kind)
        .map(|row| row.all().map(|attribute| attribute.name).collect())
        .unwrap_or_default();
    if let Some(object) = node.as_object_mut() {
        object.0.retain(|(key, node)| {
            key == "type" || ours.contains(&key.as_str()) || adopt::says_something(key, node)
        });
        if let Some(node) = object.find_mut("type") {
            node.value = Value::String(kind.to_owned());
        }
    }
    under(condition.as_ref(), node)
}

/// A block that stood among spans, with our names of type and keys.
fn renamed(span: Node, pass: &mut Pass<'_, '_>) -> Node {
    let at = span.origin;
    let body = Node::block(at, "body", vec![("children", Node::array(at, vec![span]))]);
    let mut root = Node::new(at, Value::Object(Object(vec![("root".to_owned(), body)])));
    super::naming::rename(&mut root, pass);
    let body = super::body(&mut root);
    let found = body.map(|body| take(body, "children")).unwrap_or_default();
    found
        .into_iter()
        .next()
        .unwrap_or_else(|| Node::new(at, Value::Null))
}

/// Whether a text, or one of its spans, holds no words.
fn is_blank(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(spans) => spans.iter().all(is_blank),
        Value::Object(object) => match object.find("md") {
            Some(md) => is_blank(md),
            None => {
                object.string("type") == Some("text") && object.find("text").is_some_and(is_blank)
                    || object.string("type") == Some("br")
            }
        },
        _ => false,
    }
}

fn misplaced(node: &Node, parent: &BlockRow) -> String {
    let kind = node.kind().unwrap_or("block");
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "An"
    } else {
        "A"
    };
    format!(
        "{article} {kind} stands in a {}, which takes {}.",
        parent.name,
        parent.accepts().join(", ")
    )
}
