//! Buttons as components.

use crate::model::{Block, Button, ButtonVariant, Color};

use super::{
    body::{Around, Shared, align, hiding, padding, px},
    component::{Component, Name},
    flow::Flow,
    inline::{self, Html, LinkLook},
    leaves::{Look, Weight, words},
};

/// Colours of a button: ground, words, border.
pub(super) fn button_colors(
    flow: &Flow<'_>,
    block: &Block,
    button: &Button,
    around: &Around,
) -> (String, Color, String) {
    let theme = &flow.document.theme;
    let own = block.background.color;
    match button.variant {
        ButtonVariant::Solid => {
            let ground = own.unwrap_or(theme.primary);
            (
                ground.to_string(),
                button.color.unwrap_or(theme.on_primary),
                "none".to_owned(),
            )
        }
        ButtonVariant::Outline => {
            let line = button
                .color
                .or(own)
                .or(around.text)
                .unwrap_or(theme.primary);
            (around.ground.to_string(), line, format!("2px solid {line}"))
        }
        ButtonVariant::Link => {
            let color = button.color.or(around.text).unwrap_or(theme.link);
            (around.ground.to_string(), color, "none".to_owned())
        }
    }
}

pub(super) fn button<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    button: &'a Button,
    around: &Around,
) -> Component {
    let theme = &flow.document.theme;
    let (ground, color, border) = button_colors(flow, block, button, around);
    let plain = button.color.is_none() && block.background.color.is_none() && around.themed;
    let mut emitter = shared.borrow_mut();
    let dark = match button.variant {
        _ if !plain => None,
        ButtonVariant::Solid => emitter.dark.class("pr-bn"),
        ButtonVariant::Outline | ButtonVariant::Link => emitter.dark.class("pr-bo"),
    };
    let gradient = emitter.gradient(block.background.gradient, "pr-b");
    let class = emitter.classes([dark, gradient.as_deref(), hiding(block)]);
    let font = emitter.font.clone();
    drop(emitter);
    let links = LinkLook {
        color,
        class: None,
        underline: false,
    };
    let label = inline::html(flow, &button.label, &links);
    let href = inline::url(flow, &button.href);
    let radius = button.radius.unwrap_or(theme.radius);
    let width = if button.full {
        Some("100%".to_owned())
    } else {
        button.width.map(px)
    };
    let link = button.variant == ButtonVariant::Link;
    Component::new(Name::Button)
        .with("align", align(flow, block.align))
        .with("background-color", ground)
        .with("color", color.to_string())
        .with("border", border)
        .with("border-radius", px(radius))
        .with("font-family", font)
        .with("font-size", px(theme.base_size))
        .with("font-weight", "600")
        .with("line-height", "1.25")
        .with("inner-padding", if link { "12px 0" } else { "12px 24px" })
        .with("text-decoration", if link { "underline" } else { "none" })
        .with("padding", padding(block))
        .with("href", href)
        .with_some("width", width)
        .with_some("css-class", class)
        .html(label)
}

/// A button that classic Outlook draws as a shape with round corners.
pub(super) fn vml_button<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    button: &'a Button,
    width: u32,
    around: &Around,
) -> Component {
    const HEIGHT: u32 = 44;
    let theme = &flow.document.theme;
    let (ground, color, border) = button_colors(flow, block, button, around);
    let links = LinkLook {
        color,
        class: None,
        underline: false,
    };
    let label = inline::html(flow, &button.label, &links);
    let href = inline::url(flow, &button.href);
    let radius = button.radius.unwrap_or(theme.radius);
    let arc = arc_size(radius, width, HEIGHT);
    let font = shared.borrow().font.clone();
    let stroke = if border == "none" {
        "stroke=\"f\"".to_owned()
    } else {
        format!("strokecolor=\"{color}\"")
    };
    let (size, mso) = (theme.base_size, shared.borrow().mso);
    let mut html = Html::default();
    if mso {
        html.raw(&format!(
            "<!--[if mso]>\n<v:roundrect xmlns:v=\"urn:schemas-microsoft-com:vml\" \
             xmlns:w=\"urn:schemas-microsoft-com:office:word\" href=\"{href}\"\n\
             style=\"height:{HEIGHT}px;v-text-anchor:middle;width:{width}px;\" arcsize=\"{arc}%\" {stroke} \
             fillcolor=\"{ground}\"><w:anchorlock/><center style=\"color:{color};font-family:Arial,sans-serif;\
             font-size:{size}px;font-weight:bold;\">\n{label}</center></v:roundrect>\n<![endif]-->\n\
             <!--[if !mso]><!-->\n"
        ));
    }
    html.raw(&format!(
        "<a href=\"{href}\" target=\"_blank\"\nstyle=\"display:inline-block;background:{ground};color:{color};\
         border:{border};border-radius:{radius}px;font-family:{font};font-size:{size}px;font-weight:600;\
         line-height:{HEIGHT}px;text-align:center;text-decoration:none;width:{width}px;\">\n{label}</a>"
    ));
    if mso {
        html.raw("\n<!--<![endif]-->");
    }
    let look = Look::new(flow, shared, None, around, Weight::Normal);
    words(flow, shared, block, &look, size, "1", html.out)
}

/// `arcsize` of VML: the radius in percent of the shorter side, at most half of it.
pub(super) fn arc_size(radius: u32, width: u32, height: u32) -> u32 {
    let side = width.min(height).max(1);
    ((radius * 100 + side / 2) / side).min(50)
}
