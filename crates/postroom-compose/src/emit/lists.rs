//! Lists and data tables as components.
//!
//! Lists are rows of a table: classic Outlook indents `ul` as it likes and loses its bullets.

use std::collections::{HashMap, HashSet};

use crate::{
    dialect::Context,
    model::{Align, Block, BlockKind, List, ListStyle, Table, Text, VariableUse},
};

use super::{
    body::{Around, Shared, align, hiding, padding, px},
    component::{Component, Name},
    flow::Flow,
    inline::{self, Html},
    leaves::{Look, Weight},
};

/// Writes children of a list or a table with their conditions and loops.
pub(super) fn parts<'a, S: super::flow::Sink>(
    flow: &mut Flow<'a>,
    out: &mut S,
    blocks: &'a [Block],
    write: &dyn Fn(&mut Flow<'a>, &'a Block, &mut S),
) {
    for block in blocks {
        let outer = std::mem::replace(&mut flow.source, &block.source);
        let one = |flow: &mut Flow<'a>, out: &mut S| match &block.kind {
            BlockKind::If(node) => {
                let then = |flow: &mut Flow<'a>, out: &mut S| parts(flow, out, &node.then, write);
                let otherwise =
                    |flow: &mut Flow<'a>, out: &mut S| parts(flow, out, &node.otherwise, write);
                let has_else = !node.otherwise.is_empty();
                flow.branch(
                    out,
                    &node.condition,
                    &then,
                    has_else.then_some(&otherwise as _),
                );
            }
            BlockKind::Each(node) => {
                let body =
                    |flow: &mut Flow<'a>, out: &mut S| parts(flow, out, &node.children, write);
                let empty = |flow: &mut Flow<'a>, out: &mut S| parts(flow, out, &node.empty, write);
                let has_empty = !node.empty.is_empty();
                flow.each(out, node, &body, has_empty.then_some(&empty as _));
            }
            _ => write(flow, block, out),
        };
        match &block.visible_if {
            Some(condition) => flow.branch(out, condition, &one, None),
            None => one(flow, out),
        }
        flow.source = outer;
    }
}

pub(super) fn list<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    list: &'a List,
    around: &Around,
) -> Component {
    let theme = &flow.document.theme;
    let look = Look::new(flow, shared, list.color, around, Weight::Normal);
    let size = list.size.unwrap_or(theme.base_size);
    let start = align(flow, Align::Left);
    let numbers = numbers(&list.children);
    let mut html = Html::default();
    html.raw("<tbody>\n");
    rows_of(
        flow,
        &mut html,
        &list.children,
        None,
        &|flow, html, id, item, loop_name| {
            html.raw("<tr><td valign=\"top\" width=\"24\"\n");
            html.raw(&format!(
                "style=\"width:24px;vertical-align:top;text-align:{start};\">"
            ));
            match (list.style, loop_name) {
                (ListStyle::Disc, _) => html.raw("&#8226;"),
                (ListStyle::Check, _) => html.raw("&#10003;"),
                (ListStyle::None, _) => html.raw("&nbsp;"),
                (ListStyle::Decimal, Some(name)) => {
                    flow.value(html, &position(name), Context::Text);
                    html.raw(".");
                }
                (ListStyle::Decimal, None) => {
                    html.raw(&format!("{}.", numbers.get(id).copied().unwrap_or(1)));
                }
            }
            html.raw(&format!(
                "</td>\n<td valign=\"top\" style=\"vertical-align:top;text-align:{start};\">"
            ));
            inline::text(flow, html, item, &look.links);
            html.raw("</td></tr>\n");
        },
    );
    table_component(flow, shared, block, &look, size)
        .with("role", "presentation")
        .html(html.out + "</tbody>\n")
}

/// Numbers of the items as they are written, whatever of them will show: the same in every dialect.
pub(super) fn numbers(children: &[Block]) -> HashMap<&str, u32> {
    let mut numbers = HashMap::new();
    for child in children {
        child.walk(&mut |block| {
            if matches!(block.kind, BlockKind::Item(_)) {
                let next = u32::try_from(numbers.len()).unwrap_or(0) + 1;
                numbers.insert(block.id.as_str(), next);
            }
        });
    }
    numbers
}

/// The use of a loop's position.
pub(super) fn position(name: &str) -> VariableUse {
    VariableUse {
        path: format!("{name}.index"),
        default: None,
        filter: None,
        marks: crate::model::Marks::default(),
    }
}

/// What writes an item: its id, its words, and the name of the loop that it is in.
pub(super) type WriteItem<'w, 'a, S> =
    &'w dyn Fn(&mut Flow<'a>, &mut S, &'a str, &'a Text, Option<&'a str>);

/// Writes items of a list, each with the name of the loop that it is in.
fn rows_of<'a>(
    flow: &mut Flow<'a>,
    html: &mut Html,
    blocks: &'a [Block],
    loop_name: Option<&'a str>,
    write: WriteItem<'_, 'a, Html>,
) {
    for block in blocks {
        let outer = std::mem::replace(&mut flow.source, &block.source);
        let one = |flow: &mut Flow<'a>, html: &mut Html| match &block.kind {
            BlockKind::If(node) => {
                let then = |flow: &mut Flow<'a>, html: &mut Html| {
                    rows_of(flow, html, &node.then, loop_name, write)
                };
                let otherwise = |flow: &mut Flow<'a>, html: &mut Html| {
                    rows_of(flow, html, &node.otherwise, loop_name, write)
                };
                flow.branch(html, &node.condition, &then, Some(&otherwise));
            }
            BlockKind::Each(node) => {
                let name = Some(node.name.as_str());
                let body = |flow: &mut Flow<'a>, html: &mut Html| {
                    rows_of(flow, html, &node.children, name, write)
                };
                let empty = |flow: &mut Flow<'a>, html: &mut Html| {
                    rows_of(flow, html, &node.empty, loop_name, write)
                };
                flow.each(html, node, &body, Some(&empty));
            }
            BlockKind::Item(item) => write(flow, html, &block.id, &item.text, loop_name),
            _ => {}
        };
        match &block.visible_if {
            Some(condition) => flow.branch(html, condition, &one, None),
            None => one(flow, html),
        }
        flow.source = outer;
    }
}

fn table_component(
    flow: &Flow<'_>,
    shared: Shared<'_>,
    block: &Block,
    look: &Look,
    size: u32,
) -> Component {
    let mut emitter = shared.borrow_mut();
    let class = emitter.classes([look.class.as_deref(), hiding(block)]);
    Component::new(Name::Table)
        .with("align", align(flow, block.align))
        .with("color", look.color.to_string())
        .with("font-family", emitter.font.clone())
        .with("font-size", px(size))
        .with("line-height", "1.5")
        .with("padding", padding(block))
        .with_some(
            "container-background-color",
            block.background.color.map(|color| color.to_string()),
        )
        .with_some("css-class", class)
}

/// Every second row as they are written, headings not counted.
fn shaded(children: &[Block]) -> HashSet<&str> {
    let mut odd = false;
    let mut shaded = HashSet::new();
    for child in children {
        child.walk(&mut |block| {
            if let BlockKind::Row(row) = &block.kind
                && !row.header
            {
                if odd {
                    shaded.insert(block.id.as_str());
                }
                odd = !odd;
            }
        });
    }
    shaded
}

pub(super) fn table<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    table: &'a Table,
    around: &Around,
) -> Component {
    let theme = &flow.document.theme;
    let look = Look::new(flow, shared, None, around, Weight::Normal);
    let size = table.size.unwrap_or(theme.base_size);
    let line = around.ground.mix(look.color, 0.15);
    let stripe = around.ground.mix(look.color, 0.04);
    let (lined, striped) = if around.themed {
        let emitter = shared.borrow();
        (emitter.dark.class("pr-tb"), emitter.dark.class("pr-st"))
    } else {
        (None, None)
    };
    shared.borrow_mut().classes([
        lined.filter(|_| table.border),
        striped.filter(|_| table.striped),
    ]);
    let shaded = shaded(&table.children);
    let mut html = Html::default();
    if let Some(caption) = &table.caption {
        let start = align(flow, Align::Left);
        html.raw(&format!(
            "<caption style=\"text-align:{start};padding:0 0 8px 0;\">"
        ));
        html.text(caption);
        html.raw("</caption>\n");
    }
    html.raw("<tbody>\n");
    parts(flow, &mut html, &table.children, &|flow, block, html| {
        let BlockKind::Row(row) = &block.kind else {
            return;
        };
        let shaded = table.striped && shaded.contains(block.id.as_str());
        let mut class: Vec<&str> = Vec::new();
        class.extend(lined.filter(|_| table.border));
        class.extend(striped.filter(|_| shaded));
        let class = if class.is_empty() {
            String::new()
        } else {
            format!(" class=\"{}\"", class.join(" "))
        };
        let ground = if shaded {
            format!(" style=\"background-color:{stripe};\"")
        } else {
            String::new()
        };
        html.raw(&format!("<tr{class}{ground}>\n"));
        for (index, cell) in row.children.iter().enumerate() {
            let BlockKind::Cell(cell) = &cell.kind else {
                continue;
            };
            let side = align(flow, table.align.get(index).copied().unwrap_or_default());
            let border = if table.border {
                format!("border-bottom:1px solid {line};")
            } else {
                String::new()
            };
            let last = index + 1 == row.children.len();
            let inset = if last { "8px 0" } else { "8px 8px 8px 0" };
            let (tag, scope, weight) = if row.header {
                ("th", " scope=\"col\"", "font-weight:600;")
            } else {
                ("td", "", "")
            };
            html.raw(&format!(
                "<{tag}{scope} align=\"{side}\"\nstyle=\"padding:{inset};text-align:{side};{border}{weight}\">"
            ));
            inline::text(flow, html, &cell.text, &look.links);
            html.raw(&format!("</{tag}>\n"));
        }
        html.raw("</tr>\n");
    });
    html.raw("</tbody>\n");
    table_component(flow, shared, block, &look, size).html(html.out)
}
