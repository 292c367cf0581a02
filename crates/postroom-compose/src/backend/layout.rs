//! Sections, wrappers, groups, columns and heroes.

use crate::emit::component::{Component, Name, Node};

use super::{
    boxes::{Around, borders, horizontal, percent, px, whole},
    hero, leaf,
    picture::{Picture, background},
    styled::{column_class, group_class},
    writer::{Style, Writer},
};

/// Writes what stands in the body or in a wrapper.
pub(super) fn rows(writer: &mut Writer, nodes: &[Node], width: f64, wrapper: Option<f64>) {
    for node in nodes {
        match node {
            Node::Component(component) => {
                if let Some(outer) = wrapper {
                    writer.outlook(|writer| {
                        writer.raw("<tr>");
                        let tag = writer.tag("td");
                        let class = outlook_class(component).unwrap_or_default();
                        tag.attr("class", &class).attr("width", &px(outer)).open();
                    });
                }
                match component.name {
                    Name::Hero => hero::hero(writer, component, width),
                    _ => section(writer, component, width),
                }
                if wrapper.is_some() {
                    writer.outlook(|writer| writer.raw("</td></tr>"));
                }
            }
            other => between(writer, other),
        }
    }
}

/// Writes what stands between components.
pub(super) fn between(writer: &mut Writer, node: &Node) {
    match node {
        Node::Raw(raw) => {
            writer.newline();
            writer.line(raw);
            writer.seam();
        }
        Node::Begin(block) => writer.begin(*block),
        Node::End(block) => writer.end(*block),
        Node::Component(_) => {}
    }
}

/// A section or a wrapper.
fn section(writer: &mut Writer, component: &Component, width: f64) {
    let picture = Picture::of(component);
    if component.attribute("full-width").is_some() {
        full_width(writer, component, width, picture.as_ref());
        return;
    }
    before(writer, component, width);
    let drawn = picture.as_ref().filter(|_| writer.draws_pictures());
    if let Some(picture) = drawn {
        writer.outlook(|writer| picture.vml_open(writer, Some(width)));
    }
    body(writer, component, width, picture.as_ref());
    if drawn.is_some() {
        writer.outlook(|writer| writer.raw("</v:textbox></v:rect>"));
    }
    writer.outlook(|writer| writer.raw("</td></tr></table>"));
}

fn full_width(
    writer: &mut Writer,
    component: &Component,
    width: f64,
    picture: Option<&Picture<'_>>,
) {
    writer
        .tag("table")
        .attr("align", "center")
        .some("class", component.attribute("css-class"))
        .some("background", component.attribute("background-url"))
        .table()
        .style(&background(component, picture).set("width", "100%"))
        .open();
    writer.line("<tbody><tr><td>");
    let drawn = picture.filter(|_| writer.draws_pictures());
    if let Some(picture) = drawn {
        writer.outlook(|writer| picture.vml_open(writer, None));
    }
    before(writer, component, width);
    body(writer, component, width, picture);
    writer.outlook(|writer| writer.raw("</td></tr></table>"));
    if drawn.is_some() {
        writer.outlook(|writer| writer.raw("</v:textbox></v:rect>"));
    }
    writer.line("</td></tr></tbody></table>");
}

fn before(writer: &mut Writer, component: &Component, width: f64) {
    writer.outlook(|writer| {
        writer
            .tag("table")
            .attr("align", "center")
            .attr("class", &outlook_class(component).unwrap_or_default())
            .table()
            .style(&Style::new().set("width", &px(width)))
            .attr("width", &whole(width))
            .some("bgcolor", component.attribute("background-color"))
            .open();
        writer.raw("<tr>");
        let exact = "line-height:0px;font-size:0px;mso-line-height-rule:exactly;";
        writer.tag("td").attr("style", exact).open();
    });
}

/// The part of a section that every mail program reads.
fn body(writer: &mut Writer, component: &Component, width: f64, picture: Option<&Picture<'_>>) {
    let full = component.attribute("full-width").is_some();
    let radius = component.attribute("border-radius");
    let ground = if full {
        Style::new()
    } else {
        background(component, picture)
    };
    let rounded = radius.map(|_| "hidden");
    writer
        .tag("div")
        .some("class", component.attribute("css-class").filter(|_| !full))
        .style(
            &ground
                .clone()
                .set("margin", "0px auto")
                .set("max-width", &px(width))
                .some("border-radius", radius)
                .some("overflow", rounded),
        )
        .open();
    if picture.is_some() {
        writer.raw("<div style=\"line-height:0;font-size:0;\">");
    }
    writer
        .tag("table")
        .attr("align", "center")
        .some(
            "background",
            component.attribute("background-url").filter(|_| !full),
        )
        .table()
        .style(
            &ground
                .set("width", "100%")
                .some("border-collapse", radius.map(|_| "separate")),
        )
        .open();
    writer.line("<tbody><tr>");
    cell(writer, component);
    let inner = width - horizontal(component.attribute("padding")) - borders(component, "");
    let table = "<table role=\"presentation\" border=\"0\" cellpadding=\"0\" cellspacing=\"0\">";
    writer.outlook(|writer| writer.raw(table));
    if component.name == Name::Wrapper {
        rows(writer, component.children(), inner, Some(width));
    } else {
        writer.outlook(|writer| writer.raw("<tr>"));
        columns(writer, component, inner);
        writer.outlook(|writer| writer.raw("</tr>"));
    }
    writer.outlook(|writer| writer.raw("</table>"));
    writer.line("</td></tr></tbody></table>");
    writer.line(if picture.is_some() {
        "</div></div>"
    } else {
        "</div>"
    });
}

fn cell(writer: &mut Writer, component: &Component) {
    let direction = component.attribute("direction").unwrap_or("ltr");
    let padding = component.attribute("padding").unwrap_or("20px 0");
    writer
        .tag("td")
        .style(
            &Style::new()
                .some("border", component.attribute("border"))
                .some("border-radius", component.attribute("border-radius"))
                .set("direction", direction)
                .set("font-size", "0px")
                .set("padding", padding)
                .set(
                    "text-align",
                    component.attribute("text-align").unwrap_or("center"),
                ),
        )
        .open();
}

/// Columns and groups of a section.
fn columns(writer: &mut Writer, section: &Component, width: f64) {
    let around = Around {
        width,
        siblings: section.components().count(),
        in_group: false,
    };
    for node in section.children() {
        let Node::Component(component) = node else {
            between(writer, node);
            continue;
        };
        writer.outlook(|writer| {
            let share = px((width * percent(component, around) / 100.0).round());
            writer
                .tag("td")
                .some("align", component.attribute("align"))
                .attr("class", &outlook_class(component).unwrap_or_default())
                .style(
                    &Style::new()
                        .some("vertical-align", vertical(component))
                        .set("width", &share),
                )
                .open();
        });
        match component.name {
            Name::Group => group(writer, component, around),
            _ => column(writer, component, around),
        }
        writer.outlook(|writer| writer.raw("</td>"));
    }
}

fn vertical(component: &Component) -> Option<&str> {
    let stated = component.attribute("vertical-align");
    stated.or((component.name == Name::Column).then_some("top"))
}

fn group(writer: &mut Writer, component: &Component, around: Around) {
    let share = percent(component, around);
    let class = group_class(share);
    writer
        .tag("div")
        .attr(
            "class",
            &with_class(&format!("{class} mj-outlook-group-fix"), component),
        )
        .style(
            &Style::new()
                .set("font-size", "0")
                .set("line-height", "0")
                .set("text-align", "left")
                .set("display", "inline-block")
                .set("width", "100%")
                .set(
                    "direction",
                    component.attribute("direction").unwrap_or("ltr"),
                )
                .some("vertical-align", component.attribute("vertical-align"))
                .some("background-color", component.attribute("background-color")),
        )
        .open();
    writer.outlook(|writer| {
        let tag = writer.tag("table");
        tag.some("bgcolor", component.attribute("background-color"))
            .table()
            .open();
        writer.raw("<tr>");
    });
    let inside = Around {
        width: around.width * share / 100.0,
        siblings: component.components().count(),
        in_group: true,
    };
    for node in component.children() {
        let Node::Component(child) = node else {
            between(writer, node);
            continue;
        };
        writer.outlook(|writer| {
            let width = px((inside.width * percent(child, inside) / 100.0).round());
            let style = Style::new()
                .some("vertical-align", vertical(child))
                .set("width", &width);
            writer.tag("td").style(&style).open();
        });
        column(writer, child, inside);
        writer.outlook(|writer| writer.raw("</td>"));
    }
    writer.outlook(|writer| writer.raw("</tr></table>"));
    writer.line("</div>");
}

fn column(writer: &mut Writer, component: &Component, around: Around) {
    let share = percent(component, around);
    let class = column_class(share);
    let valign = vertical(component).unwrap_or("top");
    let narrow = if around.in_group {
        component
            .attribute("width")
            .map_or_else(|| format!("{}%", whole(share)), str::to_owned)
    } else {
        "100%".to_owned()
    };
    writer
        .tag("div")
        .attr(
            "class",
            &with_class(&format!("{class} mj-outlook-group-fix"), component),
        )
        .style(
            &Style::new()
                .set("font-size", "0px")
                .set("text-align", "left")
                .set(
                    "direction",
                    component.attribute("direction").unwrap_or("ltr"),
                )
                .set("display", "inline-block")
                .set("vertical-align", valign)
                .set("width", &narrow),
        )
        .open();
    let radius = component.attribute("border-radius");
    let look = Style::new()
        .some("background-color", component.attribute("background-color"))
        .some("border", component.attribute("border"))
        .some("border-radius", radius)
        .set("vertical-align", valign)
        .some("border-collapse", radius.map(|_| "separate"));
    let padding = component.attribute("padding");
    let width = around.width * share / 100.0 - horizontal(padding) - borders(component, "");
    if let Some(padding) = padding {
        let separate = Style::new().some("border-collapse", radius.map(|_| "separate"));
        writer
            .tag("table")
            .table()
            .attr("width", "100%")
            .style(&separate)
            .open();
        writer.raw("<tbody><tr>");
        writer
            .tag("td")
            .style(&look.and(&Style::new().set("padding", padding)))
            .open();
        writer.newline();
        leaves_table(writer, component, &Style::new(), width);
        writer.line("</td></tr></tbody></table>");
    } else {
        leaves_table(writer, component, &look, width);
    }
    writer.line("</div>");
}

fn leaves_table(writer: &mut Writer, component: &Component, style: &Style, width: f64) {
    writer
        .tag("table")
        .table()
        .style(style)
        .attr("width", "100%")
        .open();
    writer.line("<tbody>");
    leaves(writer, component.children(), width);
    writer.line("</tbody></table>");
}

/// Blocks of a column or a hero, each a row.
pub(super) fn leaves(writer: &mut Writer, nodes: &[Node], width: f64) {
    for node in nodes {
        match node {
            Node::Component(component) => leaf::row(writer, component, width),
            other => between(writer, other),
        }
    }
}

fn outlook_class(component: &Component) -> Option<String> {
    let classes = component.attribute("css-class")?;
    let suffixed: Vec<String> = classes
        .split_ascii_whitespace()
        .map(|class| format!("{class}-outlook"))
        .collect();
    Some(suffixed.join(" "))
}

fn with_class(class: &str, component: &Component) -> String {
    match component.attribute("css-class") {
        Some(own) => format!("{class} {own}"),
        None => class.to_owned(),
    }
}
