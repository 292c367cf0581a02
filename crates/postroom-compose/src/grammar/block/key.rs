//! Keys that blocks of many types have, and how a key is written.

use crate::grammar::{
    Attribute, Children,
    Default::{self, None, Number, Pad, Text},
    Form, TextUse, UrlUse,
};

pub(super) const fn key(
    name: &'static str,
    form: Form,
    default: Default,
    doc: &'static str,
) -> Attribute {
    Attribute {
        name,
        form,
        required: false,
        default,
        aliases: &[],
        doc,
    }
}

pub(super) const fn needed(
    name: &'static str,
    form: Form,
    aliases: &'static [&'static str],
    doc: &'static str,
) -> Attribute {
    Attribute {
        name,
        form,
        required: true,
        default: None,
        aliases,
        doc,
    }
}

pub(super) const fn known(attribute: Attribute, aliases: &'static [&'static str]) -> Attribute {
    Attribute {
        aliases,
        ..attribute
    }
}

pub(super) const fn holds(
    key: &'static str,
    accepts: &'static [&'static str],
    least: usize,
    most: usize,
) -> Children {
    Children {
        key,
        accepts,
        least,
        most,
    }
}

pub(super) const ID: Attribute = key(
    "id",
    Form::Line(40),
    None,
    "Unique name; left out, it is added.",
);
pub(super) const BG: Attribute = known(
    key("bg", Form::Color, None, "Colour behind it."),
    &["backgroundColor", "background", "bgColor"],
);
pub(super) const GRADIENT: Attribute = key(
    "gradient",
    Form::Object(GRADIENT_KEYS),
    None,
    "Gradient over bg, which is required with it.",
);
pub(super) const ALIGN: Attribute = known(
    key(
        "align",
        Form::Enum(&["left", "center", "right"]),
        Text("left"),
        "left is the start of the line, so it mirrors in right-to-left mails.",
    ),
    &["textAlign", "alignment"],
);
pub(super) const HIDE_ON: Attribute = key(
    "hideOn",
    Form::Enum(&["none", "mobile", "desktop"]),
    Text("none"),
    "Where it is left out.",
);
pub(super) const VISIBLE_IF: Attribute = known(
    key(
        "visibleIf",
        Form::Condition,
        None,
        "Shown only when this holds.",
    ),
    &["showIf", "visible", "condition"],
);
pub(super) const ATTRS: Attribute = key(
    "attrs",
    Form::Attrs,
    None,
    "Passed through: mc:edit, mc:label, data-*, as strings.",
);
pub(super) const COLOR: Attribute = known(
    key(
        "color",
        Form::Color,
        None,
        "Colour of the words; the theme's otherwise.",
    ),
    &["textColor", "fontColor"],
);
pub(super) const SIZE: Attribute = known(
    key(
        "size",
        Form::Integer(10, 40),
        None,
        "px; the theme's otherwise.",
    ),
    &["fontSize"],
);

pub(super) const fn pad(default: [u32; 4]) -> Attribute {
    known(
        key(
            "pad",
            Form::Pad,
            Pad(default),
            "Blank space inside its edges, or [top, right, bottom, left].",
        ),
        &["padding"],
    )
}

pub(super) const GRADIENT_KEYS: &[Attribute] = &[
    needed("from", Form::Color, &[], "First colour."),
    needed("to", Form::Color, &[], "Last colour."),
    key(
        "angle",
        Form::Integer(0, 360),
        Number(180.0),
        "Degrees, as in CSS.",
    ),
];

pub(super) const BG_IMAGE_KEYS: &[Attribute] = &[
    needed(
        "src",
        Form::Url(UrlUse::Picture),
        &["url"],
        "Address of the picture.",
    ),
    key(
        "position",
        Form::Enum(&["top", "center", "bottom"]),
        Text("center"),
        "Which part shows.",
    ),
    key(
        "size",
        Form::Enum(&["cover", "contain"]),
        Text("cover"),
        "How it fills the section.",
    ),
];

/// Keys of blocks in a column.
pub(super) const LEAF_KEYS: &[Attribute] = &[
    ID,
    pad([8, 24, 8, 24]),
    BG,
    ALIGN,
    HIDE_ON,
    VISIBLE_IF,
    ATTRS,
];
/// The same for a button, whose `bg` is its own.
pub(super) const BUTTON_KEYS: &[Attribute] =
    &[ID, pad([8, 24, 8, 24]), ALIGN, HIDE_ON, VISIBLE_IF, ATTRS];
/// Keys of blocks without words.
pub(super) const BARE_KEYS: &[Attribute] = &[ID, pad([0, 0, 0, 0]), BG, HIDE_ON, VISIBLE_IF, ATTRS];
/// Keys of a section.
pub(super) const SECTION_KEYS: &[Attribute] = &[
    ID,
    pad([16, 0, 16, 0]),
    BG,
    GRADIENT,
    ALIGN,
    HIDE_ON,
    VISIBLE_IF,
    ATTRS,
];
/// Keys of a panel.
pub(super) const PANEL_KEYS: &[Attribute] = &[
    ID,
    pad([0, 0, 0, 0]),
    BG,
    GRADIENT,
    HIDE_ON,
    VISIBLE_IF,
    ATTRS,
];
/// Keys of a hero.
pub(super) const HERO_KEYS: &[Attribute] =
    &[ID, pad([40, 24, 40, 24]), ALIGN, HIDE_ON, VISIBLE_IF, ATTRS];
/// Keys of a column.
pub(super) const COLUMN_KEYS: &[Attribute] =
    &[ID, pad([0, 0, 0, 0]), BG, ALIGN, HIDE_ON, VISIBLE_IF, ATTRS];
/// Keys of what stands inside one container only.
pub(super) const PART_KEYS: &[Attribute] = &[ID];

/// What a column takes, `if` and `each` aside.
macro_rules! in_column {
    ($($more:literal),*) => {
        &["heading", "text", "button", "image", "divider", "spacer", "list", "table", "menu",
          "social", "video", "code", "quote", "unsubscribe", "footer", "address", "raw" $(, $more)*]
    };
}
pub(super) use in_column;

pub(super) const WORDS: Form = Form::Text(TextUse::Rich);
pub(super) const LABEL: Form = Form::Text(TextUse::Label);
pub(super) const TEXT_KEYS: &[&str] = &[
    "content", "body", "html", "value", "markdown", "children", "spans", "runs", "richText",
];
pub(super) const HREF_KEYS: &[&str] = &["url", "link", "to"];
pub(super) const LINES: Attribute = known(
    key("lines", Form::Texts, None, "Lines of text."),
    &["text", "content", "children"],
);
pub(super) const VALIGN: Attribute = known(
    key(
        "valign",
        Form::Enum(&["top", "middle", "bottom"]),
        Text("top"),
        "Position of the content.",
    ),
    &["verticalAlign"],
);
pub(super) const BORDER: Attribute = known(
    key("border", Form::Color, None, "Colour of a border of 1 px."),
    &["borderColor"],
);
pub(super) const RADIUS: Attribute = known(
    key(
        "radius",
        Form::Integer(0, 40),
        Number(0.0),
        "Radius of the corners.",
    ),
    &["borderRadius"],
);
