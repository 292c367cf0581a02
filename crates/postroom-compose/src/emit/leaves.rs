//! Blocks of a column as components.

use crate::{
    dialect::Dialect,
    model::{
        Align, Block, BlockKind, Button, ButtonOutlook, ButtonVariant, Code, Color, Divider,
        Heading, Image, ImageAlt, LineStyle, Pad, Piece, Quote, Social, SocialItem, Template, Text,
        Unsubscribe, UnsubscribeStyle, Video,
    },
};

use super::{
    body::{Around, Shared, align, hiding, nodes, padding, px},
    component::{Component, Name, Node},
    escape,
    flow::Flow,
    inline::{self, Html, LinkLook},
    lists,
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
                vml_button(flow, shared, block, button, width, around)
            }
            _ => self::button(flow, shared, block, button, around),
        },
        BlockKind::Image(image) => self::image(flow, shared, block, image, around),
        BlockKind::Divider(divider) => self::divider(flow, shared, block, divider, around),
        BlockKind::Spacer(spacer) => {
            let class = shared.borrow_mut().classes([hiding(block)]);
            Component::new(Name::Spacer)
                .with("height", px(spacer.height))
                .with_some("css-class", class)
        }
        BlockKind::List(list) => lists::list(flow, shared, block, list, around),
        BlockKind::Table(table) => lists::table(flow, shared, block, table, around),
        BlockKind::Menu(_) => menu(flow, shared, block, around),
        BlockKind::Social(social) => self::social(flow, shared, block, social, around),
        BlockKind::Video(video) => self::video(flow, shared, block, video, around),
        BlockKind::Code(code) => self::code(flow, shared, block, code, around),
        BlockKind::Quote(quote) => self::quote(flow, shared, block, quote, around),
        BlockKind::Unsubscribe(node) => unsubscribe(flow, shared, block, node, around),
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

/// Colours of a button: ground, words, border.
fn button_colors(
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

fn button<'a>(
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
fn vml_button<'a>(
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

/// Address, words and size of a picture.
struct Picture {
    src: String,
    alt: String,
    width: u32,
    height: Option<u32>,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "widths are a few hundred pixels"
)]
fn inner_width(block: &Block, around: &Around) -> u32 {
    (around.width - f64::from(block.pad.left + block.pad.right)).max(1.0) as u32
}

fn image<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    image: &'a Image,
    around: &Around,
) -> Component {
    let alt = match &image.alt {
        ImageAlt::Text(alt) => inline::attribute(flow, alt),
        ImageAlt::Decorative | ImageAlt::Missing => String::new(),
    };
    let widest = inner_width(block, around);
    let picture = Picture {
        src: inline::url(flow, &image.src),
        alt,
        width: image.width.unwrap_or(widest).min(widest),
        height: image.height,
    };
    let href = image.href.as_ref().map(|href| inline::url(flow, href));
    if let Some(dark) = &image.dark_src
        && shared.borrow().dark.is_on()
    {
        let dark = inline::url(flow, dark);
        return twin_image(
            flow,
            shared,
            block,
            &picture,
            &dark,
            href.as_deref(),
            around,
        );
    }
    let class = shared.borrow_mut().classes([hiding(block)]);
    let height = picture.height.map_or_else(|| "auto".to_owned(), px);
    Component::new(Name::Image)
        .with("src", picture.src)
        .with("alt", picture.alt)
        .with("width", px(picture.width))
        .with("height", height)
        .with("align", align(flow, block.align))
        .with("padding", padding(block))
        .with_some(
            "border-radius",
            (image.radius > 0).then(|| px(image.radius)),
        )
        .with_some("fluid-on-mobile", image.fluid_on_mobile.then_some("true"))
        .with_some("href", href)
        .with_some(
            "container-background-color",
            block.background.color.map(|color| color.to_string()),
        )
        .with_some("css-class", class)
}

/// A picture with another one for dark mode, which shows only where style sheets are read.
fn twin_image(
    flow: &Flow<'_>,
    shared: Shared<'_>,
    block: &Block,
    picture: &Picture,
    dark: &str,
    href: Option<&str>,
    around: &Around,
) -> Component {
    shared.borrow_mut().classes([Some("pr-li"), Some("pr-di")]);
    let height = picture
        .height
        .map(|height| format!(" height=\"{height}\""))
        .unwrap_or_default();
    let one = |class: &str, src: &str, display: &str| {
        let Picture { alt, width, .. } = picture;
        format!(
            "<img class=\"{class}\" alt=\"{alt}\"\nsrc=\"{src}\"\nwidth=\"{width}\"{height}\n\
             style=\"border:0;display:{display};max-width:100%;height:auto;\" />"
        )
    };
    let light = one("pr-li", &picture.src, "inline-block");
    let dark = format!(
        "\n<!--[if !mso]><!-->\n<div class=\"pr-di\" style=\"display:none;max-height:0;overflow:hidden;\">{}</div>\n\
         <!--<![endif]-->",
        one("pr-dm", dark, "inline-block")
    );
    let linked = |html: String| match href {
        Some(href) => format!("<a href=\"{href}\" target=\"_blank\">{html}</a>"),
        None => html,
    };
    let look = Look::new(flow, shared, None, around, Weight::Normal);
    words(
        flow,
        shared,
        block,
        &look,
        13,
        "1",
        linked(format!("{light}{dark}")),
    )
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

fn menu<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    around: &Around,
) -> Component {
    let BlockKind::Menu(menu) = &block.kind else {
        return Component::new(Name::Navbar);
    };
    let theme = &flow.document.theme;
    let look = Look::new(
        flow,
        shared,
        menu.color.or(around.text).or(Some(theme.link)),
        around,
        Weight::Normal,
    );
    let class = shared.borrow_mut().classes([hiding(block)]);
    let mut out = Vec::new();
    nodes(
        flow,
        shared,
        &mut out,
        &menu.children,
        &|flow, block, out| {
            if let BlockKind::MenuItem(item) = &block.kind {
                let label = inline::html(flow, &item.label, &look.links);
                let href = inline::url(flow, &item.href);
                let link = Component::new(Name::NavbarLink)
                    .with("color", look.color.to_string())
                    .with("font-family", shared.borrow().font.clone())
                    .with("font-size", px(theme.base_size))
                    .with("line-height", "1.5")
                    .with("font-weight", "normal")
                    .with("text-transform", "none")
                    .with("padding", "10px 12px")
                    .with("href", href)
                    .with_some("css-class", look.links.class.clone());
                out.push(Node::Component(link.html(label)));
            }
        },
    );
    Component::new(Name::Navbar)
        .with("align", align(flow, block.align))
        .with("padding", padding(block))
        .with_some("css-class", class)
        .nodes(out)
}

/// Icons when every network has one, else words.
fn social<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    social: &'a Social,
    around: &Around,
) -> Component {
    let mut icons = true;
    block.walk(&mut |child| {
        if let BlockKind::SocialItem(item) = &child.kind {
            icons &= item.src.is_some();
        }
    });
    let look = Look::new(flow, shared, around.text, around, Weight::Normal);
    let class = shared.borrow_mut().classes([hiding(block)]);
    let theme = &flow.document.theme;
    let mut out = Vec::new();
    nodes(
        flow,
        shared,
        &mut out,
        &social.children,
        &|flow, block, out| {
            let BlockKind::SocialItem(item) = &block.kind else {
                return;
            };
            let href = inline::url(flow, &item.href);
            let label = social_label(flow, item, &look.links);
            let element = match &item.src {
                Some(src) if icons => {
                    let src = inline::url(flow, src);
                    Component::new(Name::SocialElement)
                        .with("src", src)
                        .with("alt", label)
                        .with("href", href)
                }
                _ => Component::new(Name::NavbarLink)
                    .with("color", look.links.color.to_string())
                    .with("font-family", shared.borrow().font.clone())
                    .with("font-size", px(theme.base_size))
                    .with("line-height", "1.5")
                    .with("font-weight", "normal")
                    .with("text-transform", "none")
                    .with("padding", "10px 12px")
                    .with("href", href)
                    .with_some("css-class", look.links.class.clone())
                    .html(label),
            };
            out.push(Node::Component(element));
        },
    );
    let component = if icons {
        Component::new(Name::Social)
            .with("mode", "horizontal")
            .with("icon-size", px(social.icon_size))
            .with("border-radius", "0px")
            .with("inner-padding", "8px")
    } else {
        Component::new(Name::Navbar)
    };
    component
        .with("align", align(flow, block.align))
        .with("padding", padding(block))
        .with_some("css-class", class)
        .nodes(out)
}

/// Words for a network's link.
fn social_label<'a>(flow: &mut Flow<'a>, item: &'a SocialItem, links: &LinkLook) -> String {
    match &item.label {
        Some(label) if item.src.is_none() => inline::html(flow, label, links),
        Some(label) => inline::words(flow, label, crate::dialect::Context::Attribute),
        None => escape::text(&network_name(&item.network)),
    }
}

/// A network's name with a capital.
pub(super) fn network_name(network: &str) -> String {
    match network {
        "github" => "GitHub".to_owned(),
        "linkedin" => "LinkedIn".to_owned(),
        "youtube" => "YouTube".to_owned(),
        "tiktok" => "TikTok".to_owned(),
        "x" => "X".to_owned(),
        other => {
            let mut chars = other.chars();
            chars.next().map_or_else(String::new, |first| {
                first.to_uppercase().chain(chars).collect()
            })
        }
    }
}

fn video<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    video: &'a Video,
    around: &Around,
) -> Component {
    let class = shared.borrow_mut().classes([hiding(block)]);
    let widest = inner_width(block, around);
    Component::new(Name::Image)
        .with("src", inline::url(flow, &video.poster))
        .with("alt", inline::attribute(flow, &video.alt))
        .with("width", px(video.width.unwrap_or(widest).min(widest)))
        .with("height", "auto")
        .with("align", align(flow, block.align))
        .with("padding", padding(block))
        .with("fluid-on-mobile", "true")
        .with("href", inline::url(flow, &video.href))
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

fn unsubscribe<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    node: &'a Unsubscribe,
    around: &Around,
) -> Component {
    let look = Look::new(flow, shared, None, around, Weight::Muted);
    let href = unsubscribe_url(flow, node.href.as_ref());
    let label = inline::html(flow, &node.text, &look.links);
    let link = |style: &str, class: Option<&str>| {
        let class = class
            .map(|class| format!(" class=\"{class}\""))
            .unwrap_or_default();
        format!("<a href=\"{href}\" target=\"_blank\"{class}\nstyle=\"{style}\">{label}</a>")
    };
    let color = look.color;
    let html = match node.style {
        UnsubscribeStyle::Link => link(
            &format!("color:{color};text-decoration:underline;"),
            look.links.class.as_deref(),
        ),
        UnsubscribeStyle::Button => {
            let style = format!(
                "display:inline-block;border:1px solid {color};border-radius:4px;padding:10px 16px;color:{color};\
                 text-decoration:none;"
            );
            link(&style, look.links.class.as_deref())
        }
    };
    words(flow, shared, block, &look, 13, "1.5", html)
}

/// Where readers unsubscribe: stated, else the sender's token, else an address for previews.
fn unsubscribe_url<'a>(flow: &mut Flow<'a>, stated: Option<&'a Template>) -> String {
    match (stated, flow.dialect.unsubscribe_token()) {
        (Some(href), _) => inline::url(flow, href),
        (None, Some(token)) => token.to_owned(),
        (None, None) => super::unsubscribe_stand_in(flow, crate::dialect::Context::Url),
    }
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

/// An author's HTML, without anything that runs, loads or leaves the mail's tables.
pub(super) fn sanitised(html: &str) -> String {
    let clean = ammonia::Builder::default()
        .add_generic_attributes(["style", "align", "valign", "width", "height", "bgcolor"])
        .filter_style_properties(
            [
                "color",
                "background-color",
                "font-family",
                "font-size",
                "font-weight",
                "font-style",
                "line-height",
                "text-align",
                "text-decoration",
                "padding",
                "margin",
                "border",
                "border-radius",
                "width",
            ]
            .into(),
        )
        .link_rel(None)
        .clean(html)
        .to_string();
    escape::inert(&clean)
}
