//! Rows of pictures, lines and blank height.

use super::key::{BARE_KEYS, HREF_KEYS, LEAF_KEYS, RADIUS, key, known, needed};
use crate::grammar::{
    BlockRow,
    Default::{Bool, None, Number, Text},
    Form, Level, UrlUse,
};

pub(super) const IMAGE: BlockRow = BlockRow {
    name: "image",
    level: Level::Leaf,
    aliases: &["img", "picture", "photo", "logo", "figure"],
    common: LEAF_KEYS,
    attributes: &[
        needed(
            "src",
            Form::Url(UrlUse::Picture),
            &["url", "source"],
            "Address, https.",
        ),
        known(
            key(
                "alt",
                Form::Template,
                None,
                "What it shows; required unless decorative.",
            ),
            &["altText", "alternativeText", "title"],
        ),
        key(
            "decorative",
            Form::Bool,
            Bool(false),
            "It says nothing, so nothing is read.",
        ),
        key(
            "width",
            Form::Integer(1, 2000),
            None,
            "Width; the column's otherwise.",
        ),
        key("height", Form::Integer(1, 3000), None, "Height."),
        known(
            key("href", Form::Url(UrlUse::Link), None, "Target of a click."),
            &["link", "to"],
        ),
        key(
            "darkSrc",
            Form::Url(UrlUse::Picture),
            None,
            "Picture for dark mode.",
        ),
        RADIUS,
        key(
            "fluidOnMobile",
            Form::Bool,
            Bool(true),
            "As wide as the screen on phones.",
        ),
    ],
    children: &[],
    doc: "A picture.",
    example: r#"{"type":"image","src":"https://cdn.acme.test/logo.png","alt":"Acme","width":120,"height":40}"#,
};

pub(super) const DIVIDER: BlockRow = BlockRow {
    name: "divider",
    level: Level::Leaf,
    aliases: &[
        "hr",
        "separator",
        "delimiter",
        "line",
        "rule",
        "horizontalrule",
    ],
    common: LEAF_KEYS,
    attributes: &[
        known(
            key("color", Form::Color, Text("#e5e7eb"), "Colour."),
            &["borderColor"],
        ),
        known(
            key("thickness", Form::Integer(1, 10), Number(1.0), "px."),
            &["height", "borderWidth"],
        ),
        known(
            key(
                "style",
                Form::Enum(&["solid", "dashed", "dotted"]),
                Text("solid"),
                "How it is drawn.",
            ),
            &["borderStyle"],
        ),
        key(
            "width",
            Form::Integer(1, 100),
            Number(100.0),
            "Percent of the column.",
        ),
    ],
    children: &[],
    doc: "A line.",
    example: r#"{"type":"divider"}"#,
};

pub(super) const SPACER: BlockRow = BlockRow {
    name: "spacer",
    level: Level::Leaf,
    aliases: &["gap", "space", "spacing", "br", "linebreak"],
    common: BARE_KEYS,
    attributes: &[known(
        key("height", Form::Integer(1, 200), Number(24.0), "px."),
        &["size"],
    )],
    children: &[],
    doc: "Blank height.",
    example: r#"{"type":"spacer","height":32}"#,
};

pub(super) const VIDEO: BlockRow = BlockRow {
    name: "video",
    level: Level::Leaf,
    aliases: &["film", "youtube"],
    common: LEAF_KEYS,
    attributes: &[
        needed(
            "poster",
            Form::Url(UrlUse::Picture),
            &["src", "thumbnail", "image"],
            "Address of the picture.",
        ),
        needed(
            "href",
            Form::Url(UrlUse::Link),
            HREF_KEYS,
            "Address of the film's page.",
        ),
        needed(
            "alt",
            Form::Template,
            &["altText", "title", "label"],
            "What the film shows.",
        ),
        key(
            "width",
            Form::Integer(1, 2000),
            None,
            "Width; the column's otherwise.",
        ),
    ],
    children: &[],
    doc: "A picture that leads to a film; mails play none.",
    example: r#"{"type":"video","poster":"https://cdn.acme.test/tour.jpg","href":"https://acme.test/tour","alt":"A tour"}"#,
};
