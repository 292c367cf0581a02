//! The target `mjml`: components printed for npm mjml 5.

use super::{
    component::{Component, Content, Node, Page},
    source::{Output, Spans},
};

/// Prints a page as an MJML file.
pub(super) fn print(page: &Page) -> Output {
    let mut printer = Printer {
        out: String::with_capacity(8 * 1024),
        spans: Spans::default(),
        depth: 0,
    };
    printer.page(page);
    Output {
        spans: printer.spans.finish(&page.blocks),
        text: printer.out,
    }
}

struct Printer {
    out: String,
    spans: Spans,
    depth: usize,
}

impl Printer {
    fn page(&mut self, page: &Page) {
        self.line(&format!(
            "<mjml lang=\"{}\" dir=\"{}\">",
            page.lang, page.dir
        ));
        self.depth += 1;
        self.line("<mj-head>");
        self.depth += 1;
        self.line(&format!("<mj-title>{}</mj-title>", page.title));
        if !page.preview.is_empty() {
            self.line(&format!("<mj-preview>{}</mj-preview>", page.preview));
        }
        for style in &page.styles {
            self.line(&format!("<mj-style>\n{style}\n</mj-style>"));
        }
        for raw in &page.head {
            self.line(&format!("<mj-raw>{raw}</mj-raw>"));
        }
        self.depth -= 1;
        self.line("</mj-head>");
        let class = page
            .class
            .as_ref()
            .map(|class| format!(" css-class=\"{class}\""));
        self.line(&format!(
            "<mj-body width=\"{}px\" background-color=\"{}\"{}>",
            page.width,
            page.background,
            class.unwrap_or_default()
        ));
        self.depth += 1;
        self.nodes(&page.body);
        self.depth -= 1;
        self.line("</mj-body>");
        self.depth -= 1;
        self.line("</mjml>");
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Component(component) => self.component(component),
                Node::Raw(raw) => self.line(&format!("<mj-raw>{raw}</mj-raw>")),
                Node::Begin(block) => self.spans.begin(*block, self.out.len()),
                Node::End(block) => self.spans.end(*block, self.out.len()),
            }
        }
    }

    fn component(&mut self, component: &Component) {
        let tag = component.name.tag();
        let mut start = format!("<{tag}");
        let mut width = start.len();
        for (name, value) in &component.attributes {
            // A long value has a line of its own, so that no line becomes too long to send.
            let blank = if width + value.len() > 700 { '\n' } else { ' ' };
            width = if blank == '\n' {
                value.len()
            } else {
                width + name.len() + value.len() + 4
            };
            start.push(blank);
            start.push_str(name);
            start.push_str("=\"");
            start.push_str(value);
            start.push('"');
        }
        match &component.content {
            Content::Empty => self.line(&format!("{start} />")),
            Content::Html(html) => {
                self.line(&format!("{start}>\n{html}</{tag}>"));
            }
            Content::Nodes(nodes) => {
                self.line(&format!("{start}>"));
                self.depth += 1;
                self.nodes(nodes);
                self.depth -= 1;
                self.line(&format!("</{tag}>"));
            }
        }
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }
}
