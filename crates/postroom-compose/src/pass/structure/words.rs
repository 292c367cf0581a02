//! Texts: blocks among their spans are lifted out, those without words go.

use super::{
    Settled, Settler,
    part::{condition_of, is_blank, renamed, under},
    put, take,
};
use crate::{
    draft::Node,
    grammar::{BlockRow, Form},
    issue::Code,
    pass::text,
};

impl Settler<'_, '_, '_> {
    /// Lifts blocks out of the text of a leaf; drops a text without words.
    pub(super) fn leaf(&mut self, node: Node, row: &'static BlockRow) -> Vec<Settled> {
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
        let leads = node
            .as_object()
            .is_some_and(|object| object.find("href").is_some_and(|href| !href.is_null()));
        if leads
            && spans
                .iter()
                .all(|span| text::is_block(span) || is_blank(span))
        {
            // Without words of its own its target would go with it.
            let message = format!("The {} has blocks for words.", row.name);
            let findings = &mut self.pass.findings;
            findings.report(Code::Grammar, node.origin, message);
            return vec![Settled::Fits(node)];
        }
        self.split(node, key, row)
    }

    pub(super) fn blank(&mut self, node: Node, row: &BlockRow) -> Vec<Settled> {
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

    pub(super) fn split(&mut self, mut node: Node, key: &str, row: &BlockRow) -> Vec<Settled> {
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
    pub(super) fn list_from_text(&mut self, node: Node, row: &BlockRow) -> Vec<Settled> {
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
