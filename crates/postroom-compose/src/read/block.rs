//! Blocks.

use super::{Reader, condition, decimal, find_color, flag, template, text, verbatim, whole};
use crate::{
    draft::{Node, Object, Value},
    grammar::{self, BlockRow, Default},
    model::{
        Address, Align, Background, BackgroundImage, Block, BlockKind, Button, ButtonOutlook,
        ButtonVariant, Cell, Code, Color, Column, Direction, Divider, Each, Footer, Gradient,
        Heading, Hero, HideOn, If, Image, ImageAlt, Item, LineStyle, List, ListStyle, Menu,
        MenuItem, Pad, Panel, Quote, Raw, Row, Section, Social, SocialItem, Spacer, Table,
        Template, Text, TextBlock, Unsubscribe, UnsubscribeStyle, VerticalAlign, Video,
    },
};

/// Calls `look` for every text of a block.
pub(crate) fn texts<'b>(block: &'b Block, look: &mut dyn FnMut(&'b Text)) {
    match &block.kind {
        BlockKind::Heading(node) => look(&node.text),
        BlockKind::Text(node) => look(&node.text),
        BlockKind::Button(node) => look(&node.label),
        BlockKind::Item(node) => look(&node.text),
        BlockKind::Cell(node) => look(&node.text),
        BlockKind::MenuItem(node) => look(&node.label),
        BlockKind::SocialItem(node) => node.label.iter().for_each(look),
        BlockKind::Quote(node) => {
            look(&node.text);
            node.cite.iter().for_each(look);
        }
        BlockKind::Unsubscribe(node) => look(&node.text),
        BlockKind::Footer(node) => node.lines.iter().for_each(look),
        BlockKind::Address(node) => node.lines.iter().for_each(look),
        BlockKind::Raw(node) => look(&node.text),
        _ => {}
    }
}

impl Reader<'_, '_> {
    /// The blocks under `key`; what is none is left out.
    pub(super) fn children(&self, object: &Object, key: &str) -> Vec<Block> {
        let nodes = object.find(key).and_then(Node::as_array);
        let nodes = nodes.unwrap_or_default().iter();
        nodes.filter_map(|node| self.block(node)).collect()
    }

    fn block(&self, node: &Node) -> Option<Block> {
        let object = node.as_object()?;
        let row = grammar::block(node.kind()?)?;
        let kind = self.kind(row.name, object)?;
        let id = object.string("id").unwrap_or_default().to_owned();
        let mut source = self.origins.source(node.origin);
        source.block_id = Some(id.clone()).filter(|id| !id.is_empty());
        Some(Block {
            id,
            source,
            pad: pad(object, row),
            background: background(object),
            align: align(object.string("align")),
            hide_on: match object.string("hideOn") {
                Some("mobile") => HideOn::Mobile,
                Some("desktop") => HideOn::Desktop,
                _ => HideOn::None,
            },
            visible_if: object.find("visibleIf").and_then(condition),
            attrs: attrs(object),
            kind,
        })
    }

    fn kind(&self, name: &str, object: &Object) -> Option<BlockKind> {
        let children = || self.children(object, "children");
        Some(match name {
            "section" => BlockKind::Section(Section {
                children: children(),
                full_width: flag(object, "fullWidth", false),
                dir: direction(object.string("dir")),
                stack: flag(object, "stack", true),
            }),
            "panel" => BlockKind::Panel(Panel {
                children: children(),
                border: find_color(object, "border"),
                radius: whole(object, "radius").unwrap_or(0),
                full_width: flag(object, "fullWidth", false),
            }),
            "hero" => BlockKind::Hero(Hero {
                children: children(),
                src: address(object, "src"),
                fallback_color: find_color(object, "fallbackColor")?,
                height: whole(object, "height"),
                valign: valign(object),
            }),
            "column" => BlockKind::Column(Column {
                children: children(),
                width: decimal(object, "width"),
                valign: valign(object),
                border: find_color(object, "border"),
                radius: whole(object, "radius").unwrap_or(0),
            }),
            "if" => BlockKind::If(If {
                condition: object.find("cond").and_then(condition)?,
                then: self.children(object, "then"),
                otherwise: self.children(object, "else"),
            }),
            "each" => BlockKind::Each(Each {
                list: object.string("in")?.to_owned(),
                name: object.string("as")?.to_owned(),
                children: children(),
                empty: self.children(object, "empty"),
                column_width: decimal(object, "columnWidth"),
            }),
            "list" => BlockKind::List(List {
                children: children(),
                style: match object.string("style") {
                    Some("decimal") => ListStyle::Decimal,
                    Some("check") => ListStyle::Check,
                    Some("none") => ListStyle::None,
                    _ => ListStyle::Disc,
                },
                size: whole(object, "size"),
                color: find_color(object, "color"),
            }),
            "table" => BlockKind::Table(table(object, children())),
            "row" => BlockKind::Row(Row {
                children: children(),
                header: flag(object, "header", false),
            }),
            "menu" => BlockKind::Menu(Menu {
                children: children(),
                color: find_color(object, "color"),
            }),
            "social" => BlockKind::Social(Social {
                children: children(),
                icon_size: whole(object, "iconSize").unwrap_or(24),
            }),
            _ => leaf(name, object)?,
        })
    }
}

fn leaf(name: &str, object: &Object) -> Option<BlockKind> {
    let words = |key: &str| object.find(key).map(text);
    let color = find_color(object, "color");
    Some(match name {
        "heading" => BlockKind::Heading(heading(object, words("text")?)),
        "text" => BlockKind::Text(TextBlock {
            text: words("text")?,
            size: whole(object, "size"),
            line_height: decimal(object, "lineHeight").unwrap_or(1.5),
            color,
        }),
        "button" => BlockKind::Button(button(object, words("label")?)?),
        "image" => BlockKind::Image(image(object)?),
        "divider" => BlockKind::Divider(divider(object)),
        "spacer" => BlockKind::Spacer(Spacer {
            height: whole(object, "height").unwrap_or(24),
        }),
        "item" => BlockKind::Item(Item {
            text: words("text")?,
        }),
        "cell" => BlockKind::Cell(Cell {
            text: words("text")?,
        }),
        "menuItem" => BlockKind::MenuItem(MenuItem {
            label: words("label")?,
            href: address(object, "href")?,
        }),
        "socialItem" => BlockKind::SocialItem(SocialItem {
            network: object.string("network")?.to_owned(),
            href: address(object, "href")?,
            label: words("label"),
            src: address(object, "src"),
        }),
        "video" => BlockKind::Video(Video {
            poster: address(object, "poster")?,
            href: address(object, "href")?,
            alt: address(object, "alt").unwrap_or_default(),
            width: whole(object, "width"),
        }),
        "code" => BlockKind::Code(Code {
            text: verbatim(object.string("text")?),
            lang: object.string("lang").map(str::to_owned),
        }),
        "quote" => BlockKind::Quote(Quote {
            text: words("text")?,
            cite: words("cite"),
        }),
        "unsubscribe" => BlockKind::Unsubscribe(unsubscribe(object, words("text"))),
        "footer" => BlockKind::Footer(Footer {
            lines: lines(object),
            size: whole(object, "size").unwrap_or(12),
            color,
        }),
        "address" => BlockKind::Address(Address {
            lines: lines(object),
            size: whole(object, "size").unwrap_or(12),
            color,
        }),
        "raw" => BlockKind::Raw(Raw {
            html: object.string("html")?.to_owned(),
            text: words("text").unwrap_or_default(),
        }),
        _ => return None,
    })
}

fn heading(object: &Object, text: Text) -> Heading {
    let level = whole(object, "level").unwrap_or(2).clamp(1, 4);
    let usual = match level {
        1 => 28,
        2 => 22,
        3 => 18,
        _ => 16,
    };
    Heading {
        text,
        level,
        size: whole(object, "size").unwrap_or(usual),
        color: find_color(object, "color"),
        weight: whole(object, "weight").unwrap_or(700),
    }
}

fn button(object: &Object, label: Text) -> Option<Button> {
    Some(Button {
        label,
        href: address(object, "href")?,
        variant: match object.string("variant") {
            Some("outline") => ButtonVariant::Outline,
            Some("link") => ButtonVariant::Link,
            _ => ButtonVariant::Solid,
        },
        color: find_color(object, "color"),
        radius: whole(object, "radius"),
        full: flag(object, "full", false),
        outlook: match object.string("outlook") {
            Some("vml") => ButtonOutlook::Vml,
            _ => ButtonOutlook::Padding,
        },
        width: whole(object, "width"),
    })
}

fn image(object: &Object) -> Option<Image> {
    let alt = object.string("alt").map(template);
    let alt = match alt {
        _ if flag(object, "decorative", false) => ImageAlt::Decorative,
        Some(alt) if !alt.plain().trim().is_empty() => ImageAlt::Text(alt),
        _ => ImageAlt::Missing,
    };
    Some(Image {
        src: address(object, "src")?,
        alt,
        width: whole(object, "width"),
        height: whole(object, "height"),
        href: address(object, "href"),
        dark_src: address(object, "darkSrc"),
        radius: whole(object, "radius").unwrap_or(0),
        fluid_on_mobile: flag(object, "fluidOnMobile", true),
    })
}

fn divider(object: &Object) -> Divider {
    Divider {
        color: find_color(object, "color").unwrap_or(Color::rgb(0xe5, 0xe7, 0xeb)),
        thickness: whole(object, "thickness").unwrap_or(1),
        style: match object.string("style") {
            Some("dashed") => LineStyle::Dashed,
            Some("dotted") => LineStyle::Dotted,
            _ => LineStyle::Solid,
        },
        width: whole(object, "width").unwrap_or(100),
    }
}

fn table(object: &Object, children: Vec<Block>) -> Table {
    let columns = object.find("align").and_then(Node::as_array);
    let columns = columns.unwrap_or_default().iter();
    Table {
        children,
        align: columns.map(|column| align(column.as_str())).collect(),
        striped: flag(object, "striped", false),
        border: flag(object, "border", false),
        caption: object.string("caption").map(str::to_owned),
        size: whole(object, "size"),
    }
}

fn unsubscribe(object: &Object, text: Option<Text>) -> Unsubscribe {
    let usual = || {
        Text(vec![crate::model::Span::Text {
            text: "Unsubscribe".to_owned(),
            marks: crate::model::Marks::default(),
            color: None,
        }])
    };
    Unsubscribe {
        text: text.unwrap_or_else(usual),
        style: match object.string("style") {
            Some("button") => UnsubscribeStyle::Button,
            _ => UnsubscribeStyle::Link,
        },
        href: address(object, "href"),
    }
}

fn lines(object: &Object) -> Vec<Text> {
    let lines = object.find("lines").and_then(Node::as_array);
    lines.unwrap_or_default().iter().map(text).collect()
}

fn address(object: &Object, key: &str) -> Option<Template> {
    object.string(key).map(template)
}

fn align(word: Option<&str>) -> Align {
    match word {
        Some("center") => Align::Center,
        Some("right") => Align::Right,
        _ => Align::Left,
    }
}

fn valign(object: &Object) -> VerticalAlign {
    match object.string("valign") {
        Some("middle") => VerticalAlign::Middle,
        Some("bottom") => VerticalAlign::Bottom,
        _ => VerticalAlign::Top,
    }
}

fn direction(word: Option<&str>) -> Option<Direction> {
    match word {
        Some("ltr") => Some(Direction::Ltr),
        Some("rtl") => Some(Direction::Rtl),
        _ => None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to what a pad may be"
)]
fn pad(object: &Object, row: &BlockRow) -> Pad {
    let stated = object.find("pad").and_then(crate::pass::values::sides);
    let usual = row.attribute("pad").map(|attribute| attribute.default);
    let [top, right, bottom, left] = match (stated, usual) {
        (Some(sides), _) => sides.map(|side| side.clamp(0.0, 80.0) as u32),
        (None, Some(Default::Pad(usual))) => usual,
        _ => [0; 4],
    };
    Pad {
        top,
        right,
        bottom,
        left,
    }
}

fn background(object: &Object) -> Background {
    let gradient = object.find("gradient").and_then(Node::as_object);
    let image = object.find("bgImage").and_then(Node::as_object);
    Background {
        color: find_color(object, "bg"),
        gradient: gradient.and_then(|gradient| {
            Some(Gradient {
                from: find_color(gradient, "from")?,
                to: find_color(gradient, "to")?,
                angle: whole(gradient, "angle").unwrap_or(180),
            })
        }),
        image: image.and_then(|image| {
            Some(BackgroundImage {
                src: address(image, "src")?,
                position: match image.string("position") {
                    Some("top") => VerticalAlign::Top,
                    Some("bottom") => VerticalAlign::Bottom,
                    _ => VerticalAlign::Middle,
                },
                cover: image.string("size") != Some("contain"),
            })
        }),
    }
}

fn attrs(object: &Object) -> Vec<(String, String)> {
    let Some(attrs) = object.find("attrs").and_then(Node::as_object) else {
        return Vec::new();
    };
    let mut attrs: Vec<(String, String)> = attrs
        .0
        .iter()
        .filter_map(|(name, node)| match &node.value {
            Value::String(text) => Some((name.clone(), text.clone())),
            _ => None,
        })
        .collect();
    attrs.sort();
    attrs
}
