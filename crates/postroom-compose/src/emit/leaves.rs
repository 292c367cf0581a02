//! Blocks of a column as components.

use crate::{
    dialect::Dialect,
    model::{
        Align, Block, BlockKind, ButtonOutlook, Code, Color, Divider, Heading, LineStyle, Pad,
        Piece, Quote, Text,
    },
};

use super::{
    body::{Around, Shared, align, hiding, padding, px},
    buttons,
    component::{Component, Name, Node},
    escape,
    flow::Flow,
    inline::{self, Html, LinkLook},
    links, lists, pictures,
};

/// Writes one block.
pub(super) fn leaf<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    out: &mut Vec<Node>,
    around: &Around,
) {
    let theme = &flow.document.theme;
    let component = match &block.kind {
        BlockKind::Heading(heading) => self::heading(flow, shared, block, heading, around),
        BlockKind::Text(text) => {
            let look = Look::new(flow, shared, text.color, around, Weight::Normal);
            let html = inline::html(flow, &text.text, &look.links);
            let size = text.size.unwrap_or(theme.base_size);
            words(
                flow,
                shared,
                block,
                &look,
                size,
                &text.line_height.to_string(),
                html,
            )
        }
        BlockKind::Button(button) => match (button.outlook, button.width, around.on_picture) {
            (ButtonOutlook::Vml, Some(width), false) => {
                buttons::vml_button(flow, shared, block, button, width, around)
            }
            _ => buttons::button(flow, shared, block, button, around),
        },
        BlockKind::Image(image) => pictures::image(flow, shared, block, image, around),
        BlockKind::Divider(divider) => self::divider(flow, shared, block, divider, around),
        BlockKind::Spacer(spacer) => {
            let class = shared.borrow_mut().classes([hiding(block)]);
            Component::new(Name::Spacer)
                .with("height", px(spacer.height))
                .with_some("css-class", class)
        }
        BlockKind::List(list) => lists::list(flow, shared, block, list, around),
        BlockKind::Table(table) => lists::table(flow, shared, block, table, around),
        BlockKind::Menu(_) => links::menu(flow, shared, block, around),
        BlockKind::Social(social) => links::social(flow, shared, block, social, around),
        BlockKind::Video(video) => pictures::video(flow, shared, block, video, around),
        BlockKind::Code(code) => self::code(flow, shared, block, code, around),
        BlockKind::Quote(quote) => self::quote(flow, shared, block, quote, around),
        BlockKind::Unsubscribe(node) => links::unsubscribe(flow, shared, block, node, around),
        BlockKind::Footer(footer) => small(
            flow,
            shared,
            block,
            &footer.lines,
            footer.size,
            footer.color,
            around,
        ),
        BlockKind::Address(address) => small(
            flow,
            shared,
            block,
            &address.lines,
            address.size,
            address.color,
            around,
        ),
        BlockKind::Raw(raw) => {
            let look = Look::new(flow, shared, None, around, Weight::Normal);
            let html = sanitised(&raw.html);
            // It has no padding of its own to state.
            let padded = Block {
                pad: Pad {
                    top: 8,
                    right: 24,
                    bottom: 8,
                    left: 24,
                },
                ..block.clone()
            };
            words(flow, shared, &padded, &look, theme.base_size, "1.5", html)
        }
        _ => return,
    };
    out.push(Node::Component(component));
}

/// Whether words are the theme's text or its muted text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Normal,
    Muted,
}

/// Colours of words and of the links in them, with their classes for dark mode.
pub(super) struct Look {
    pub(super) color: Color,
    pub(super) class: Option<String>,
    pub(super) links: LinkLook,
}

impl Look {
    pub(super) fn new(
        flow: &Flow<'_>,
        shared: Shared<'_>,
        own: Option<Color>,
        around: &Around,
        weight: Weight,
    ) -> Self {
        let theme = &flow.document.theme;
        let mut emitter = shared.borrow_mut();
        let (usual, class, link_class) = match weight {
            Weight::Normal => (theme.text, "pr-tx", "pr-ln"),
            Weight::Muted => (theme.muted, "pr-mt", "pr-ml"),
        };
        let stated = own.or(around.text);
        let color = stated.unwrap_or(usual);
        let class = match stated {
            _ if !around.themed => None,
            Some(color) => emitter.dark.color_class(color),
            None => emitter.dark.class(class).map(str::to_owned),
        };
        let (link, link_class) = match (stated, weight) {
            (Some(color), _) => (color, class.clone()),
            (None, Weight::Muted) => (color, emitter.dark.class(link_class).map(str::to_owned)),
            (None, Weight::Normal) => (
                theme.link,
                emitter.dark.class(link_class).map(str::to_owned),
            ),
        };
        let link_class = link_class.filter(|_| around.themed);
        emitter.classes([class.as_deref(), link_class.as_deref()]);
        Self {
            color,
            class,
            links: LinkLook {
                color: link,
                class: link_class,
                underline: true,
            },
        }
    }
}

/// Any HTML as a text block.
pub(super) fn words(
    flow: &Flow<'_>,
    shared: Shared<'_>,
    block: &Block,
    look: &Look,
    size: u32,
    line_height: &str,
    html: String,
) -> Component {
    let mut emitter = shared.borrow_mut();
    let class = emitter.classes([look.class.as_deref(), hiding(block)]);
    Component::new(Name::Text)
        .with("align", align(flow, block.align))
        .with("color", look.color.to_string())
        .with("font-family", emitter.font.clone())
        .with("font-size", px(size))
        .with("line-height", line_height)
        .with("padding", padding(block))
        .with_some(
            "container-background-color",
            block.background.color.map(|color| color.to_string()),
        )
        .with_some("css-class", class)
        .html(marked(flow, block, html))
}

/// HTML in an element with the attributes that a sender's tools look for.
fn marked(flow: &Flow<'_>, block: &Block, html: String) -> String {
    let mut attributes = String::new();
    for (name, value) in &block.attrs {
        let known = match flow.dialect {
            Dialect::Mailchimp => name == "mc:edit" || name.starts_with("data-"),
            _ => name.starts_with("data-"),
        };
        let named =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | ':');
        if known && name.chars().all(named) {
            attributes.push_str(&format!(" {name}=\"{}\"", escape::attribute(value)));
        }
    }
    if attributes.is_empty() {
        html
    } else {
        format!("<div{attributes}>{html}</div>")
    }
}

fn heading<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    heading: &'a Heading,
    around: &Around,
) -> Component {
    let look = Look::new(flow, shared, heading.color, around, Weight::Normal);
    let inner = inline::html(flow, &heading.text, &look.links);
    let font = shared.borrow().heading_font.clone();
    let (level, size, weight) = (heading.level.clamp(1, 6), heading.size, heading.weight);
    let html = format!(
        "<h{level} style=\"margin:0;padding:0;font-family:{font};font-size:{size}px;font-weight:{weight};\
         line-height:1.3;\">\n{inner}</h{level}>"
    );
    words(flow, shared, block, &look, size, "1.3", html)
}

fn divider(
    flow: &Flow<'_>,
    shared: Shared<'_>,
    block: &Block,
    divider: &Divider,
    around: &Around,
) -> Component {
    let mut emitter = shared.borrow_mut();
    let dark = if around.themed {
        emitter.dark.class("pr-dv")
    } else {
        None
    };
    let class = emitter.classes([dark, hiding(block)]);
    let style = match divider.style {
        LineStyle::Solid => "solid",
        LineStyle::Dashed => "dashed",
        LineStyle::Dotted => "dotted",
    };
    Component::new(Name::Divider)
        .with("border-color", divider.color.to_string())
        .with("border-width", px(divider.thickness))
        .with("border-style", style)
        .with("width", format!("{}%", divider.width))
        .with("align", align(flow, block.align))
        .with("padding", padding(block))
        .with_some("css-class", class)
}

fn code<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    code: &'a Code,
    around: &Around,
) -> Component {
    let theme = &flow.document.theme;
    let ground = block
        .background
        .color
        .unwrap_or_else(|| around.ground.mix(theme.text, 0.06));
    let look = Look::new(flow, shared, None, around, Weight::Normal);
    let class = if around.themed {
        shared.borrow().dark.class("pr-cb")
    } else {
        None
    };
    shared.borrow_mut().classes([class]);
    let mut html = Html::default();
    let class = class
        .map(|class| format!(" class=\"{class}\""))
        .unwrap_or_default();
    // No `pre`: programs that drop its style would let a long line widen the mail.
    html.raw(&format!(
        "<div{class} style=\"background-color:{ground};border-radius:4px;padding:12px 16px;\
         font-family:Consolas,Menlo,'Courier New',monospace;font-size:14px;line-height:1.5;text-align:left;\">\n"
    ));
    for piece in &code.text.0 {
        match piece {
            Piece::Text(text) => code_lines(&mut html, text),
            Piece::Variable(used) => flow.value(&mut html, used, crate::dialect::Context::Text),
        }
    }
    html.raw("</div>");
    let mut block = block.clone();
    block.background.color = None;
    words(flow, shared, &block, &look, 14, "1.5", html.out)
}

/// Lines with their blanks kept.
fn code_lines(html: &mut Html, text: &str) {
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            html.raw("<br />\n");
        }
        let line = line.trim_end_matches('\r');
        let start = line.len() - line.trim_start_matches([' ', '\t']).len();
        for c in line.get(..start).unwrap_or_default().chars() {
            html.raw(if c == '\t' { "&nbsp;&nbsp;" } else { "&nbsp;" });
        }
        html.text(line.get(start..).unwrap_or_default());
    }
}

fn quote<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    quote: &'a Quote,
    around: &Around,
) -> Component {
    let theme = &flow.document.theme;
    let look = Look::new(flow, shared, None, around, Weight::Normal);
    let class = if around.themed {
        shared.borrow().dark.class("pr-qt")
    } else {
        None
    };
    shared.borrow_mut().classes([class]);
    let class = class
        .map(|class| format!(" class=\"{class}\""))
        .unwrap_or_default();
    let line = around.ground.mix(look.color, 0.25);
    let side = align(flow, Align::Left);
    let inner = inline::html(flow, &quote.text, &look.links);
    let mut html = format!(
        "<div{class} style=\"border-{side}:4px solid {line};padding-{side}:16px;font-style:italic;\">\n{inner}"
    );
    if let Some(cite) = &quote.cite {
        let cite = inline::html(flow, cite, &look.links);
        html.push_str(&format!(
            "<br />\n<span style=\"font-style:normal;\">— {cite}</span>"
        ));
    }
    html.push_str("</div>");
    words(flow, shared, block, &look, theme.base_size, "1.5", html)
}

fn small<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    lines: &'a [Text],
    size: u32,
    color: Option<Color>,
    around: &Around,
) -> Component {
    let look = Look::new(flow, shared, color, around, Weight::Muted);
    let lines: Vec<String> = lines
        .iter()
        .map(|line| inline::html(flow, line, &look.links))
        .collect();
    words(
        flow,
        shared,
        block,
        &look,
        size,
        "1.5",
        lines.join("<br />\n"),
    )
}

/// An author's HTML, without anything that runs, loads, leaves the mail's tables or is a tag of a
/// template.
pub(super) fn sanitised(html: &str) -> String {
    escape::inert(&crate::raw::sanitised(html))
}
