//! How text of an element looks, as far as styles on elements say.

use crate::model::Color;

use super::{
    css::{self, Declaration},
    markup::Element,
};

/// How text of an element looks, as far as styles on elements say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) color: Option<Color>,
    pub(super) ground: Option<Color>,
    pub(super) size: Option<f64>,
    pub(super) bold: bool,
    pub(super) hidden: bool,
}

pub(super) fn look(element: &Element, declared: &[Declaration], parent: Option<Look>) -> Look {
    let inherited = parent.unwrap_or(Look {
        color: Some(Color::BLACK),
        ground: Some(Color::WHITE),
        size: None,
        bold: false,
        hidden: false,
    });
    let mut look = inherited;
    let find = |name: &str| {
        declared
            .iter()
            .rev()
            .find(|one| one.name == name)
            .map(|one| one.value.as_str())
    };
    if let Some(value) = find("color") {
        look.color = if value.starts_with("inherit") {
            inherited.color
        } else {
            css::color(value)
        };
    } else if element.name == "a" {
        look.color = Some(Color::rgb(0, 0, 238));
    }
    if let Some(color) = element.attribute("bgcolor") {
        look.ground = css::color(&color.to_ascii_lowercase());
    }
    for name in ["background", "background-color"] {
        if let Some(value) = find(name)
            && !matches!(value, "none" | "transparent" | "inherit")
        {
            let picture = value.contains("url(") || value.contains("gradient(");
            look.ground = if picture { None } else { css::color(value) };
        }
    }
    if find("background-image").is_some_and(|value| value != "none")
        || element.attribute("background").is_some()
    {
        look.ground = None;
    }
    if let Some(value) = find("font-size") {
        look.size = css::px(value);
    }
    if let Some(value) = find("font-weight") {
        look.bold = value == "bold" || value.parse::<u32>().is_ok_and(|weight| weight >= 600);
    } else if matches!(
        element.name.as_str(),
        "b" | "strong" | "h1" | "h2" | "h3" | "h4" | "th"
    ) {
        look.bold = true;
    }
    let gone = find("display").is_some_and(|value| value.starts_with("none"))
        || find("visibility").is_some_and(|value| value.starts_with("hidden"))
        || find("mso-hide").is_some_and(|value| value.starts_with("all"))
        || element.attribute("hidden").is_some();
    let head = matches!(
        element.name.as_str(),
        "head" | "title" | "style" | "script" | "noscript"
    );
    look.hidden |= gone || head;
    look
}
