//! Words on a picture.

use crate::emit::component::Component;

use super::{
    boxes::{Side, horizontal, number, print, px, side, whole},
    layout::leaves,
    writer::{Style, Writer},
};

pub(super) fn hero(writer: &mut Writer, component: &Component, width: f64) {
    let height = component.attribute("height").unwrap_or("0px");
    let picture = component.attribute("background-url");
    let zero = "line-height:0;font-size:0;mso-line-height-rule:exactly;";
    writer.outlook(|writer| {
        let style = Style::new().set("width", &px(width));
        let tag = writer
            .tag("table")
            .attr("align", "center")
            .table()
            .style(&style);
        tag.attr("width", &whole(width)).open();
        writer.raw("<tr>");
        writer.tag("td").attr("style", zero).open();
        if writer.draws_pictures() {
            drawn(writer, component, width);
        }
    });
    let style = Style::new()
        .set("margin", "0 auto")
        .set("max-width", &px(width));
    writer
        .tag("div")
        .some("class", component.attribute("css-class"))
        .style(&style)
        .open();
    writer
        .tag("table")
        .table()
        .style(&Style::new().set("width", "100%"))
        .open();
    writer.line("<tbody><tr style=\"vertical-align:top;\">");
    let padding = component.attribute("padding").unwrap_or("0px");
    let inner = number(height) - side(Some(padding), Side::Top) - side(Some(padding), Side::Bottom);
    let position = component
        .attribute("background-position")
        .unwrap_or("center center");
    let color = component.attribute("background-color").unwrap_or("#ffffff");
    let ground = match picture {
        Some(url) => format!("{color} url('{url}') no-repeat {position} / cover"),
        None => color.to_owned(),
    };
    // Beside a picture it reads no colour of a style.
    let flat = (!writer.draws_pictures() && picture.is_some()).then_some(color);
    writer
        .tag("td")
        .some("background", picture)
        .some("bgcolor", flat)
        .style(
            &Style::new()
                .set("background", &ground)
                .set("background-position", position)
                .set("background-repeat", "no-repeat")
                .some("border-radius", component.attribute("border-radius"))
                .set("padding", padding)
                .set(
                    "vertical-align",
                    component.attribute("vertical-align").unwrap_or("top"),
                )
                .set("height", &px(inner)),
        )
        .attr("height", &print(inner))
        .open();
    let content = width - horizontal(Some(padding));
    writer.outlook(|writer| {
        let style = Style::new().set("width", &px(content));
        let bare = writer
            .tag("table")
            .attr("border", "0")
            .attr("cellpadding", "0");
        let tag = bare.attr("cellspacing", "0").style(&style);
        tag.attr("width", &whole(content)).open();
        writer.raw("<tr><td>");
    });
    writer.raw("<div class=\"mj-hero-content\" style=\"margin:0px auto;\">");
    let style = Style::new().set("width", "100%").set("margin", "0px");
    writer.tag("table").table().style(&style).open();
    writer.line("<tbody><tr><td>");
    writer.tag("table").table().style(&style).open();
    writer.line("<tbody>");
    leaves(writer, component.children(), content);
    writer.line("</tbody></table></td></tr></tbody></table></div>");
    writer.outlook(|writer| writer.raw("</td></tr></table>"));
    writer.line("</td></tr></tbody></table></div>");
    writer.outlook(|writer| writer.raw("</td></tr></table>"));
}

/// The picture as Outlook draws it, behind what follows.
fn drawn(writer: &mut Writer, component: &Component, width: f64) {
    let style = Style::new()
        .set("border", "0")
        .some("height", component.attribute("background-height"))
        .set("mso-position-horizontal", "center")
        .set("position", "absolute")
        .set("top", "0")
        .set(
            "width",
            component
                .attribute("background-width")
                .unwrap_or(&px(width)),
        )
        .set("z-index", "-3");
    let tag = writer
        .tag("v:image")
        .style(&style)
        .some("src", component.attribute("background-url"));
    tag.attr("xmlns:v", "urn:schemas-microsoft-com:vml").void();
}
