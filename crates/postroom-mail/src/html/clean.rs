//! An HTML body made safe to show: hidden elements gone, nothing remote, an allow-list of tags.

use std::{collections::HashSet, sync::LazyLock};

use html5ever::Attribute;

use super::pass::{self, Visitor};
use crate::cut;

/// Nesting that is kept; the tree builder behind the allow-list costs its depth for every tag.
const DEPTH_KEPT: usize = 128;

/// Attributes that can matter after the allow-list.
const ATTRIBUTES: &[&str] = &[
    "href",
    "src",
    "alt",
    "title",
    "colspan",
    "rowspan",
    "align",
    "valign",
    "width",
    "height",
    "dir",
    "lang",
    "start",
    "type",
    "border",
    "cellpadding",
    "cellspacing",
    "bgcolor",
    "color",
    "size",
    "face",
    "name",
    "summary",
    "scope",
    "headers",
];

/// Sanitises `html`, cut at `max_bytes`. The same input gives the same output, and the output is
/// not changed by a second pass.
pub(crate) fn clean(html: &str, max_bytes: usize) -> (String, bool) {
    let (writer, _) = pass::run(html, Writer::default());
    let safe = ALLOWED.clean(&writer.out).to_string();
    if safe.len() <= max_bytes {
        return (safe, false);
    }
    // Cut in front of a tag and mend the open ones.
    let start = cut::bytes(&safe, max_bytes.saturating_sub(4_096));
    let start = start
        .rfind('<')
        .and_then(|at| start.get(..at))
        .unwrap_or(start);
    (ALLOWED.clean(start).to_string(), true)
}

static ALLOWED: LazyLock<ammonia::Builder<'static>> = LazyLock::new(|| {
    let mut builder = ammonia::Builder::default();
    builder
        .add_tags(["font", "big"])
        .rm_tags(["map", "area"])
        .clean_content_tags(HashSet::from([
            "script", "style", "title", "noscript", "template", "iframe", "frame", "object",
            "embed", "applet", "svg", "math", "select", "textarea", "button",
        ]))
        .add_tag_attributes("td", ["width", "height", "valign", "bgcolor"])
        .add_tag_attributes(
            "table",
            ["width", "border", "cellpadding", "cellspacing", "bgcolor"],
        )
        .add_tag_attributes("font", ["color", "size", "face"])
        .url_schemes(HashSet::from(["http", "https", "mailto", "tel", "cid"]))
        .url_relative(ammonia::UrlRelative::Deny)
        .attribute_filter(|element, attribute, value| {
            // Images come from the mail itself only; links never point into it.
            let is_cid = value
                .get(..4)
                .is_some_and(|scheme| scheme.eq_ignore_ascii_case("cid:"));
            match (element, attribute) {
                ("img", "src") => is_cid.then(|| value.into()),
                (_, "href" | "cite" | "src") if is_cid => None,
                _ => Some(value.into()),
            }
        })
        .link_rel(Some("noopener noreferrer nofollow"))
        .strip_comments(true);
    builder
});

/// Writes the visible part back as balanced HTML.
#[derive(Default)]
struct Writer {
    out: String,
    depth: usize,
}

impl Visitor for Writer {
    const ATTRIBUTES: &'static [&'static str] = ATTRIBUTES;

    fn open(&mut self, tag: &str, attrs: &[Attribute], is_void: bool) {
        if !is_void {
            self.depth += 1;
        }
        if self.depth > DEPTH_KEPT || !is_name(tag) {
            return;
        }
        self.out.push('<');
        self.out.push_str(tag);
        for attr in attrs {
            let name: &str = &attr.name.local;
            if ATTRIBUTES.contains(&name) {
                self.out.push(' ');
                self.out.push_str(name);
                self.out.push_str("=\"");
                escape(&attr.value, &mut self.out);
                self.out.push('"');
            }
        }
        self.out.push('>');
    }

    fn close(&mut self, tag: &str) {
        if self.depth <= DEPTH_KEPT && is_name(tag) {
            self.out.push_str("</");
            self.out.push_str(tag);
            self.out.push('>');
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn text(&mut self, text: &str) {
        escape(&crate::invisible::strip(text).text, &mut self.out);
    }
}

fn is_name(tag: &str) -> bool {
    !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"']) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        out.push_str(match tail.as_bytes().first() {
            Some(b'&') => "&amp;",
            Some(b'<') => "&lt;",
            Some(b'>') => "&gt;",
            _ => "&quot;",
        });
        rest = tail.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
}
