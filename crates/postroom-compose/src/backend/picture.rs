//! Pictures behind sections.

use crate::emit::component::Component;

use super::{
    boxes::{number, print, px},
    writer::{Style, Writer},
};

/// A section's background picture.
pub(super) struct Picture<'a> {
    url: &'a str,
    color: Option<&'a str>,
    position: &'a str,
    size: &'a str,
}

impl<'a> Picture<'a> {
    pub(super) fn of(component: &'a Component) -> Option<Self> {
        Some(Self {
            url: component.attribute("background-url")?,
            color: component.attribute("background-color"),
            position: component
                .attribute("background-position")
                .unwrap_or("top center"),
            size: component.attribute("background-size").unwrap_or("auto"),
        })
    }

    /// Horizontal and vertical position.
    fn axes(&self) -> (&'a str, &'a str) {
        let mut words = self.position.split_ascii_whitespace();
        let one = words.next().unwrap_or("center");
        match words.next() {
            None if matches!(one, "top" | "bottom") => ("center", one),
            None => (one, "center"),
            Some(two) if matches!(one, "top" | "bottom") => (two, one),
            Some(two) if one == "center" && matches!(two, "left" | "right") => (two, one),
            Some(two) => (one, two),
        }
    }

    /// The same for Outlook on Windows, which knows pictures behind text in VML only.
    pub(super) fn vml_open(&self, writer: &mut Writer, width: Option<f64>) {
        let style = match width {
            Some(width) => Style::new().set("width", &px(width)),
            None => Style::new().set("mso-width-percent", "1000"),
        };
        let tag = writer.tag("v:rect").style(&style);
        let tag = tag.attr("xmlns:v", "urn:schemas-microsoft-com:vml");
        tag.attr("fill", "true").attr("stroke", "false").open();
        let (x, y) = self.axes();
        let share = |word: &str, otherwise: f64| match word {
            "left" | "top" => -0.5,
            "center" => 0.0,
            "right" | "bottom" => 0.5,
            other if other.ends_with('%') => number(other) / 100.0 - 0.5,
            _ => otherwise,
        };
        let mut place = format!("{}, {}", print(share(x, 0.0)), print(share(y, -0.5)));
        let (kind, aspect) = match self.size {
            "cover" => ("frame", Some("atleast")),
            "contain" => ("frame", Some("atmost")),
            _ => ("tile", None),
        };
        if kind == "tile" {
            "0.5, 0".clone_into(&mut place);
        }
        let tag = writer
            .tag("v:fill")
            .attr("origin", &place)
            .attr("position", &place);
        let tag = tag
            .attr("src", self.url)
            .some("color", self.color)
            .attr("type", kind);
        let tag = tag
            .some("size", aspect.map(|_| "1,1"))
            .some("aspect", aspect);
        tag.void();
        writer.raw("<v:textbox style=\"mso-fit-shape-to-text:true\" inset=\"0,0,0,0\">");
    }
}

pub(super) fn background(component: &Component, picture: Option<&Picture<'_>>) -> Style {
    let color = component.attribute("background-color");
    let Some(picture) = picture else {
        return Style::new()
            .some("background", color)
            .some("background-color", color);
    };
    let (x, y) = picture.axes();
    let color = color.map(|color| format!("{color} ")).unwrap_or_default();
    let (url, size) = (picture.url, picture.size);
    let short = format!("{color}url('{url}') {x} {y} / {size} no-repeat");
    Style::new()
        .set("background", &short)
        .set("background-position", &format!("{x} {y}"))
        .set("background-repeat", "no-repeat")
        .set("background-size", size)
}
