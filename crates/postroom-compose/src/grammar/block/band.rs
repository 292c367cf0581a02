//! Rows of what the body holds, and of conditions and loops.

use super::key::{
    BG_IMAGE_KEYS, BORDER, COLUMN_KEYS, HERO_KEYS, PANEL_KEYS, PART_KEYS, RADIUS, SECTION_KEYS,
    VALIGN, holds, in_column, key, known, needed,
};
use crate::grammar::{
    BlockRow,
    Default::{Bool, None},
    Form, Level, UrlUse,
};

pub(super) const BODY: BlockRow = BlockRow {
    name: "body",
    level: Level::Body,
    aliases: &["email", "root"],
    common: PART_KEYS,
    attributes: &[],
    children: &[holds(
        "children",
        &["section", "panel", "hero", "if", "each", "raw"],
        1,
        200,
    )],
    doc: "The whole mail, from top to bottom.",
    example: r#"{"type":"body","children":[{"type":"section","children":[{"type":"column","children":[{"type":"text","text":"Hello"}]}]}]}"#,
};

pub(super) const PANEL: BlockRow = BlockRow {
    name: "panel",
    level: Level::Band,
    aliases: &[
        "wrapper",
        "card",
        "box",
        "alert",
        "callout",
        "notice",
        "infobox",
        "notification",
        "highlight",
        "feature",
        "product",
        "productcard",
        "featurecard",
        "tile",
        "promo",
        "stat",
        "metric",
        "event",
        "profile",
        "person",
        "teammember",
        "countdown",
    ],
    common: PANEL_KEYS,
    attributes: &[
        BORDER,
        RADIUS,
        key(
            "fullWidth",
            Form::Bool,
            Bool(false),
            "The background goes to the edges of the window.",
        ),
    ],
    children: &[holds("children", &["section", "hero", "if", "each"], 1, 20)],
    doc: "Sections on one background or in one border.",
    example: r##"{"type":"panel","bg":"#ffffff","children":[{"type":"section","children":[{"type":"column","children":[{"type":"text","text":"In a box"}]}]}]}"##,
};

pub(super) const SECTION: BlockRow = BlockRow {
    name: "section",
    level: Level::Band,
    aliases: &[
        "band",
        "container",
        "columns",
        "strip",
        "group",
        "columnscontainer",
        "header",
        "cards",
        "products",
        "gallery",
        "actions",
        "buttons",
        "buttongroup",
        "buttonrow",
        "context",
        "twocolumn",
        "twocolumns",
        "threecolumn",
        "threecolumns",
        "multicolumn",
        "columnlayout",
        "splitcontent",
        "stack",
        "main",
        "emaillayout",
        "div",
        "fragment",
        "article",
        "pricing",
        "plans",
        "testimonials",
        "team",
        "stories",
        "articles",
        "newsfeed",
    ],
    common: SECTION_KEYS,
    attributes: &[
        known(
            key(
                "bgImage",
                Form::Object(BG_IMAGE_KEYS),
                None,
                "Picture over bg.",
            ),
            &["backgroundImage"],
        ),
        key(
            "fullWidth",
            Form::Bool,
            Bool(false),
            "The background goes to the edges of the window.",
        ),
        known(
            key(
                "dir",
                Form::Enum(&["ltr", "rtl"]),
                None,
                "Order of the columns; the document's otherwise.",
            ),
            &["direction"],
        ),
        key(
            "stack",
            Form::Bool,
            Bool(true),
            "Columns go under each other on phones.",
        ),
    ],
    children: &[holds("children", &["column", "if", "each"], 1, 4)],
    doc: "A band across the mail with 1 to 4 columns.",
    example: r#"{"type":"section","children":[{"type":"column","width":50,"children":[{"type":"text","text":"Left"}]},{"type":"column","width":50,"children":[{"type":"text","text":"Right"}]}]}"#,
};

pub(super) const HERO: BlockRow = BlockRow {
    name: "hero",
    level: Level::Band,
    aliases: &["banner", "masthead"],
    common: HERO_KEYS,
    attributes: &[
        known(
            key(
                "src",
                Form::Url(UrlUse::Picture),
                None,
                "Address of the picture.",
            ),
            &["url", "image", "backgroundImage"],
        ),
        needed(
            "fallbackColor",
            Form::Color,
            &["bg", "background", "backgroundColor"],
            "Colour where the picture does not show.",
        ),
        key("height", Form::Integer(50, 1200), None, "Least height."),
        VALIGN,
    ],
    children: &[holds(
        "children",
        &["heading", "text", "button", "spacer", "image", "if", "each"],
        1,
        10,
    )],
    doc: "A picture with words on it.",
    example: r##"{"type":"hero","src":"https://cdn.acme.test/sea.jpg","fallbackColor":"#0b3a53","height":300,"children":[{"type":"heading","text":"Welcome aboard","color":"#ffffff"}]}"##,
};

pub(super) const COLUMN: BlockRow = BlockRow {
    name: "column",
    level: Level::Column,
    aliases: &["col"],
    common: COLUMN_KEYS,
    attributes: &[
        key(
            "width",
            Form::Percent,
            None,
            "Percent; all columns of a section add up to 100, or none says.",
        ),
        VALIGN,
        BORDER,
        RADIUS,
    ],
    children: &[holds("children", in_column!("if", "each"), 1, 50)],
    doc: "A column of a section.",
    example: r#"{"type":"column","children":[{"type":"text","text":"Hello"}]}"#,
};

pub(super) const IF: BlockRow = BlockRow {
    name: "if",
    level: Level::Control,
    aliases: &["conditional", "condition", "showif"],
    common: PART_KEYS,
    attributes: &[needed(
        "cond",
        Form::Condition,
        &["condition", "when", "test", "if"],
        "{var, op, value}, {all}, {any} or {not}.",
    )],
    children: &[holds("then", &[], 0, 200), holds("else", &[], 0, 200)],
    doc: "Shows then or else; both hold what the parent holds.",
    example: r#"{"type":"if","cond":{"var":"plan","op":"eq","value":"pro"},"then":[{"type":"text","text":"Thanks."}],"else":[{"type":"text","text":"Try Pro."}]}"#,
};

pub(super) const EACH: BlockRow = BlockRow {
    name: "each",
    level: Level::Control,
    aliases: &["loop", "repeat", "foreach", "for"],
    common: PART_KEYS,
    attributes: &[
        needed(
            "in",
            Form::Path,
            &["list", "of", "over", "collection", "items", "data"],
            "Path of a list.",
        ),
        needed(
            "as",
            Form::Name,
            &["item", "var", "itemName", "name"],
            "Name of the element inside; NAME.index counts from 1, NAME.first and NAME.last tell the ends.",
        ),
        key(
            "columnWidth",
            Form::Percent,
            None,
            "Width of each column, when it repeats columns.",
        ),
    ],
    children: &[holds("children", &[], 1, 50), holds("empty", &[], 0, 50)],
    doc: "Repeats its children, which are what the parent holds, for every element of a list.",
    example: r#"{"type":"each","in":"items","as":"item","children":[{"type":"text","text":"{{ item.index }}. {{ item.name }}"}],"empty":[{"type":"text","text":"Nothing new."}]}"#,
};
