//! Rows of lists, tables and rows of links, with their parts.

use super::key::{
    ATTRS, BG, COLOR, HIDE_ON, HREF_KEYS, ID, LABEL, LEAF_KEYS, PART_KEYS, SIZE, VISIBLE_IF, WORDS,
    holds, key, known, needed, pad,
};
use crate::grammar::{
    BlockRow,
    Default::{Bool, None, Number, Text},
    Form, Level, UrlUse,
};

pub(super) const LIST: BlockRow = BlockRow {
    name: "list",
    level: Level::Leaf,
    aliases: &[
        "ul",
        "ol",
        "bullets",
        "bulletlist",
        "numberedlist",
        "orderedlist",
        "unorderedlist",
        "steps",
        "timeline",
        "checklist",
        "todolist",
        "faq",
        "faqs",
        "accordion",
        "features",
        "featurelist",
        "highlights",
        "agenda",
        "schedule",
    ],
    common: LEAF_KEYS,
    attributes: &[
        key(
            "style",
            Form::Enum(&["disc", "decimal", "check", "none"]),
            Text("disc"),
            "Markers.",
        ),
        SIZE,
        COLOR,
    ],
    children: &[holds("children", &["item", "if", "each"], 1, 100)],
    doc: "A list.",
    example: r#"{"type":"list","children":[{"type":"item","text":"First"},{"type":"item","text":"Second"}]}"#,
};

pub(super) const ITEM: BlockRow = BlockRow {
    name: "item",
    level: Level::Part,
    aliases: &["li", "listitem", "bullet", "step", "task", "todo"],
    common: PART_KEYS,
    attributes: &[needed(
        "text",
        WORDS,
        &[
            "content", "body", "html", "value", "label", "markdown", "children",
        ],
        "Words.",
    )],
    children: &[],
    doc: "An element of a list.",
    example: r#"{"type":"item","text":"First"}"#,
};

pub(super) const TABLE: BlockRow = BlockRow {
    name: "table",
    level: Level::Leaf,
    aliases: &[
        "datatable",
        "grid",
        "keyvalue",
        "keyvalues",
        "details",
        "detailslist",
        "definitionlist",
        "descriptionlist",
        "dl",
        "facts",
        "factset",
        "specs",
        "specifications",
        "stats",
        "ordersummary",
        "orderdetails",
        "orderitems",
        "lineitems",
        "invoicetable",
        "pricetable",
        "receipt",
        "invoice",
        "orderlist",
    ],
    common: &[ID, pad([8, 24, 8, 24]), BG, HIDE_ON, VISIBLE_IF, ATTRS],
    attributes: &[
        known(
            key(
                "align",
                Form::Enums(&["left", "center", "right"]),
                None,
                "By column; left where it says nothing.",
            ),
            &["alignment", "textAlign"],
        ),
        key(
            "striped",
            Form::Bool,
            Bool(false),
            "Every second row on another ground.",
        ),
        key("border", Form::Bool, Bool(false), "Lines between rows."),
        key(
            "caption",
            Form::Line(200),
            None,
            "What the table shows, for screen readers.",
        ),
        SIZE,
    ],
    children: &[holds("children", &["row", "if", "each"], 1, 200)],
    doc: "A table of data, not of layout.",
    example: r#"{"type":"table","align":["left","right"],"children":[{"type":"row","header":true,"children":[{"type":"cell","text":"Item"},{"type":"cell","text":"Price"}]},{"type":"each","in":"items","as":"item","children":[{"type":"row","children":[{"type":"cell","text":"{{ item.name }}"},{"type":"cell","text":"{{ item.price }}"}]}]}]}"#,
};

pub(super) const ROW: BlockRow = BlockRow {
    name: "row",
    level: Level::Part,
    aliases: &["tr", "tablerow"],
    common: PART_KEYS,
    attributes: &[key(
        "header",
        Form::Bool,
        Bool(false),
        "Its cells are headings; first row only.",
    )],
    children: &[holds("children", &["cell"], 1, 12)],
    doc: "A row of a table; all rows have the same number of cells.",
    example: r#"{"type":"row","children":[{"type":"cell","text":"Tea"},{"type":"cell","text":"3.00"}]}"#,
};

pub(super) const CELL: BlockRow = BlockRow {
    name: "cell",
    level: Level::Part,
    aliases: &["td", "th", "tablecell"],
    common: PART_KEYS,
    attributes: &[needed(
        "text",
        WORDS,
        &[
            "content", "body", "html", "value", "label", "markdown", "children",
        ],
        "Words.",
    )],
    children: &[],
    doc: "A cell of a row.",
    example: r#"{"type":"cell","text":"Tea"}"#,
};

pub(super) const MENU: BlockRow = BlockRow {
    name: "menu",
    level: Level::Leaf,
    aliases: &["nav", "navbar", "navigation"],
    common: LEAF_KEYS,
    attributes: &[COLOR],
    children: &[holds("children", &["menuItem", "if", "each"], 1, 8)],
    doc: "Links beside each other.",
    example: r#"{"type":"menu","children":[{"type":"menuItem","label":"Shop","href":"https://shop.acme.test/"}]}"#,
};

pub(super) const MENU_ITEM: BlockRow = BlockRow {
    name: "menuItem",
    level: Level::Part,
    aliases: &["navlink", "navitem", "menulink"],
    common: PART_KEYS,
    attributes: &[
        needed(
            "label",
            LABEL,
            &["text", "content", "title", "children"],
            "Words.",
        ),
        needed("href", Form::Url(UrlUse::Link), HREF_KEYS, "Target."),
    ],
    children: &[],
    doc: "A link of a menu.",
    example: r#"{"type":"menuItem","label":"Shop","href":"https://shop.acme.test/"}"#,
};

pub(super) const SOCIAL: BlockRow = BlockRow {
    name: "social",
    level: Level::Leaf,
    aliases: &["sociallinks", "socialicons", "socials"],
    common: LEAF_KEYS,
    attributes: &[key(
        "iconSize",
        Form::Integer(12, 64),
        Number(24.0),
        "Side of an icon.",
    )],
    children: &[holds("children", &["socialItem", "if", "each"], 1, 10)],
    doc: "Links to profiles.",
    example: r#"{"type":"social","children":[{"type":"socialItem","network":"mastodon","href":"https://social.acme.test/@acme"}]}"#,
};

pub(super) const SOCIAL_ITEM: BlockRow = BlockRow {
    name: "socialItem",
    level: Level::Part,
    aliases: &["sociallink", "socialelement", "socialicon"],
    common: PART_KEYS,
    attributes: &[
        needed(
            "network",
            Form::Line(40),
            &["name", "platform", "icon"],
            "Name of the network, lower case.",
        ),
        needed("href", Form::Url(UrlUse::Link), HREF_KEYS, "Target."),
        known(
            key("label", LABEL, None, "Words; the network's name otherwise."),
            &["text", "content", "title"],
        ),
        key(
            "src",
            Form::Url(UrlUse::Picture),
            None,
            "Address of an icon; words are shown otherwise.",
        ),
    ],
    children: &[],
    doc: "A link to a profile.",
    example: r#"{"type":"socialItem","network":"mastodon","href":"https://social.acme.test/@acme"}"#,
};
