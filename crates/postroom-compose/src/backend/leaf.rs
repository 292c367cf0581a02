//! Blocks of a column, each a row of its table.

use crate::emit::component::{Component, Name, Node};

use super::{
    boxes::{borders, horizontal, number, px, whole},
    writer::{Style, Writer},
};

/// Writes one block as a table row.
pub(super) fn row(writer: &mut Writer, component: &Component, width: f64) {
    let ground = component.attribute("container-background-color");
    writer.raw("<tr>");
    writer
        .tag("td")
        .some("align", component.attribute("align"))
        .some("class", component.attribute("css-class"))
        .style(
            &Style::new()
                .some("background", ground)
                .set("font-size", "0px")
                .some("padding", component.attribute("padding"))
                .set("word-break", "break-word"),
        )
        .open();
    writer.newline();
    let inside = width - horizontal(component.attribute("padding"));
    match component.name {
        Name::Button => button(writer, component),
        Name::Image => image(writer, component, inside),
        Name::Divider => divider(writer, component, width),
        Name::Spacer => spacer(writer, component),
        Name::Table => table(writer, component),
        Name::Social => social(writer, component),
        Name::Navbar => navbar(writer, component),
        _ => text(writer, component),
    }
    writer.newline();
    writer.line("</td></tr>");
}

/// Font, size and colour, which most blocks have.
fn font(component: &Component) -> Style {
    Style::new()
        .some("color", component.attribute("color"))
        .some("font-family", component.attribute("font-family"))
        .some("font-size", component.attribute("font-size"))
        .some("font-style", component.attribute("font-style"))
        .some("font-weight", component.attribute("font-weight"))
        .some("line-height", component.attribute("line-height"))
}

fn text(writer: &mut Writer, component: &Component) {
    let align = component.attribute("align").unwrap_or("left");
    let style = font(component)
        .set("text-align", align)
        .some("text-decoration", component.attribute("text-decoration"));
    writer.tag("div").style(&style).open();
    writer.inline(component.inline());
    writer.raw("</div>");
}

fn button(writer: &mut Writer, component: &Component) {
    let width = component.attribute("width");
    let color = component.attribute("background-color").unwrap_or("#414141");
    let border = component.attribute("border").unwrap_or("none");
    let radius = component.attribute("border-radius").unwrap_or("3px");
    let padding = component.attribute("inner-padding").unwrap_or("10px 25px");
    writer
        .tag("table")
        .table()
        .style(
            &Style::new()
                .set("border-collapse", "separate")
                .some("width", width)
                .set("line-height", "100%"),
        )
        .open();
    writer.raw("<tbody><tr>");
    writer
        .tag("td")
        .attr("align", "center")
        .some("bgcolor", (color != "none").then_some(color))
        .attr("role", "presentation")
        .style(
            &Style::new()
                .set("border", border)
                .set("border-radius", radius)
                .set("cursor", "auto")
                .some("height", component.attribute("height"))
                .set("mso-padding-alt", padding)
                .some("text-align", component.attribute("text-align"))
                .set("background", color),
        )
        .attr(
            "valign",
            component.attribute("vertical-align").unwrap_or("middle"),
        )
        .open();
    writer.newline();
    let fixed = width
        .filter(|width| width.ends_with("px"))
        .map(|width| px(number(width) - horizontal(Some(padding)) - borders(component, "")));
    let href = component.attribute("href");
    let name = if href.is_some() { "a" } else { "p" };
    writer
        .tag(name)
        .some("href", href)
        .some("title", component.attribute("title"))
        .style(
            &Style::new()
                .set("display", "inline-block")
                .some("width", fixed.as_deref())
                .set("background", color)
                .and(&font(component))
                .set("margin", "0")
                .set(
                    "text-decoration",
                    component.attribute("text-decoration").unwrap_or("none"),
                )
                .set("text-transform", "none")
                .set("padding", padding)
                .set("mso-padding-alt", "0px")
                .set("border-radius", radius),
        )
        .some("target", href.map(|_| "_blank"))
        .open();
    writer.newline();
    writer.inline(component.inline());
    writer.newline();
    writer.raw("</");
    writer.raw(name);
    writer.line("></td></tr></tbody></table>");
}

fn image(writer: &mut Writer, component: &Component, inside: f64) {
    let stated = component.attribute("width").map(number);
    let width = stated.map_or(inside, |stated| stated.min(inside));
    let fluid = component
        .attribute("fluid-on-mobile")
        .map(|_| "mj-full-width-mobile");
    let collapse = Style::new()
        .set("border-collapse", "collapse")
        .set("border-spacing", "0px");
    writer
        .tag("table")
        .table()
        .style(&collapse)
        .some("class", fluid)
        .open();
    writer.raw("<tbody><tr>");
    let narrow = Style::new().set("width", &format!("{}px", whole(width)));
    writer.tag("td").style(&narrow).some("class", fluid).open();
    writer.newline();
    let href = component.attribute("href");
    if href.is_some() {
        writer
            .tag("a")
            .some("href", href)
            .attr("target", "_blank")
            .open();
    }
    let height = component.attribute("height").unwrap_or("auto");
    writer
        .tag("img")
        .attr("alt", component.attribute("alt").unwrap_or_default())
        .some("src", component.attribute("src"))
        .style(
            &Style::new()
                .set("border", "0")
                .some("border-radius", component.attribute("border-radius"))
                .set("display", "block")
                .set("outline", "none")
                .set("text-decoration", "none")
                .set("height", height)
                .set("width", "100%")
                .set(
                    "font-size",
                    component.attribute("font-size").unwrap_or("13px"),
                ),
        )
        .attr("width", &whole(width))
        .attr("height", height.trim_end_matches("px"))
        .void();
    if href.is_some() {
        writer.raw("</a>");
    }
    writer.line("</td></tr></tbody></table>");
}

fn divider(writer: &mut Writer, component: &Component, width_around: f64) {
    let part = |name: &str, otherwise: &'static str| -> String {
        component.attribute(name).unwrap_or(otherwise).to_owned()
    };
    let line = format!(
        "{} {} {}",
        part("border-style", "solid"),
        part("border-width", "4px"),
        part("border-color", "#000000")
    );
    let margin = match component.attribute("align") {
        Some("left") => "0px",
        Some("right") => "0px 0px 0px auto",
        _ => "0px auto",
    };
    let width = component.attribute("width").unwrap_or("100%");
    let look = |width: &str| {
        let look = Style::new()
            .set("border-top", &line)
            .set("font-size", "1px");
        look.set("margin", margin).set("width", width)
    };
    writer.tag("p").style(&look(width)).open();
    writer.line("</p>");
    let fixed = if width.ends_with('%') {
        let inside = width_around.trunc() - horizontal(component.attribute("padding"));
        px(inside * (number(width).trunc() / 100.0))
    } else {
        width.to_owned()
    };
    writer.outlook(|writer| {
        let align = component.attribute("align").unwrap_or("center");
        let tag = writer.tag("table").attr("align", align).table();
        tag.style(&look(&fixed)).attr("width", &fixed).open();
        writer.raw("<tr><td style=\"height:0;line-height:0;\">&nbsp;</td></tr></table>");
    });
}

fn spacer(writer: &mut Writer, component: &Component) {
    let height = component.attribute("height").unwrap_or("20px");
    let style = Style::new()
        .set("height", height)
        .set("line-height", height);
    writer.tag("div").style(&style).open();
    writer.raw("&#8202;</div>");
}

fn table(writer: &mut Writer, component: &Component) {
    let width = component.attribute("width").unwrap_or("100%");
    let layout = component.attribute("table-layout").unwrap_or("auto");
    writer
        .tag("table")
        .attr("cellpadding", "0")
        .attr("cellspacing", "0")
        .some("role", component.attribute("role"))
        .attr("width", width.trim_end_matches("px"))
        .attr("border", "0")
        .style(
            &font(component)
                .set("table-layout", layout)
                .set("width", width)
                .set("border", component.attribute("border").unwrap_or("none")),
        )
        .open();
    writer.newline();
    writer.inline(component.inline());
    writer.newline();
    writer.raw("</table>");
}

fn social(writer: &mut Writer, component: &Component) {
    let align = component.attribute("align").unwrap_or("center");
    writer.outlook(|writer| {
        writer.tag("table").attr("align", align).table().open();
        writer.raw("<tr>");
    });
    for node in component.children() {
        let Node::Component(element) = node else {
            super::layout::between(writer, node);
            continue;
        };
        writer.outlook(|writer| writer.raw("<td>"));
        let inline = Style::new()
            .set("float", "none")
            .set("display", "inline-table");
        writer
            .tag("table")
            .attr("align", align)
            .table()
            .style(&inline)
            .open();
        writer.raw("<tbody>");
        social_element(writer, component, element);
        writer.line("</tbody></table>");
        writer.outlook(|writer| writer.raw("</td>"));
    }
    writer.outlook(|writer| writer.raw("</tr></table>"));
}

fn social_element(writer: &mut Writer, social: &Component, element: &Component) {
    let own = |name: &str| element.attribute(name).or_else(|| social.attribute(name));
    let size = own("icon-size").unwrap_or("20px");
    let href = element.attribute("href");
    let padding = own("inner-padding").unwrap_or("4px");
    writer.raw("<tr>");
    let style = Style::new()
        .set("padding", padding)
        .set("vertical-align", "middle");
    writer.tag("td").style(&style).open();
    let radius = own("border-radius").unwrap_or("3px");
    let style = Style::new().set("border-radius", radius).set("width", size);
    writer.tag("table").table().style(&style).open();
    writer.raw("<tbody><tr>");
    let style = Style::new().set("font-size", "0").set("height", size);
    let style = style.set("vertical-align", "middle").set("width", size);
    writer.tag("td").style(&style).open();
    writer.newline();
    writer
        .tag("a")
        .some("href", href)
        .attr("target", "_blank")
        .open();
    let style = Style::new()
        .set("border", "0")
        .set("border-radius", radius)
        .set("display", "block");
    writer
        .tag("img")
        .attr("alt", element.attribute("alt").unwrap_or_default())
        .some("src", element.attribute("src"))
        .style(&style)
        .attr("width", &whole(number(size)))
        .void();
    writer.line("</a></td></tr></tbody></table></td>");
    if !element.inline().is_empty() {
        let style = Style::new()
            .set("vertical-align", "middle")
            .set("padding", "4px 4px 4px 0");
        writer
            .tag("td")
            .style(&style.set("text-align", "left"))
            .open();
        let style = font(social).set("text-decoration", "none");
        writer
            .tag("a")
            .some("href", href)
            .style(&style)
            .attr("target", "_blank")
            .open();
        writer.inline(element.inline());
        writer.raw("</a></td>");
    }
    writer.line("</tr>");
}

fn navbar(writer: &mut Writer, component: &Component) {
    let align = component.attribute("align").unwrap_or("center");
    writer.line("<div class=\"mj-inline-links\">");
    writer.outlook(|writer| {
        let table = "<table role=\"presentation\" border=\"0\" cellpadding=\"0\" cellspacing=\"0\"";
        writer.raw(table);
        writer.raw(&format!(" align=\"{align}\"><tr>"));
    });
    for node in component.children() {
        let Node::Component(link) = node else {
            super::layout::between(writer, node);
            continue;
        };
        let padding = link.attribute("padding").unwrap_or("15px 10px");
        let class = link
            .attribute("css-class")
            .map(|class| format!("{class}-outlook"));
        writer.outlook(|writer| {
            let style = Style::new().set("padding", padding);
            writer
                .tag("td")
                .style(&style)
                .attr("class", &class.unwrap_or_default())
                .open();
        });
        let class = match link.attribute("css-class") {
            Some(class) => format!("mj-link {class}"),
            None => "mj-link".to_owned(),
        };
        let style = Style::new().set("display", "inline-block").and(&font(link));
        let style = style
            .set(
                "text-decoration",
                link.attribute("text-decoration").unwrap_or("none"),
            )
            .set(
                "text-transform",
                link.attribute("text-transform").unwrap_or("uppercase"),
            );
        writer
            .tag("a")
            .attr("class", &class)
            .some("href", link.attribute("href"))
            .attr("target", "_blank")
            .style(&style.set("padding", padding))
            .open();
        writer.newline();
        writer.inline(link.inline());
        writer.newline();
        writer.line("</a>");
        writer.outlook(|writer| writer.raw("</td>"));
    }
    writer.outlook(|writer| writer.raw("</tr></table>"));
    writer.raw("</div>");
}
