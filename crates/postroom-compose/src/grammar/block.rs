//! The rows of blocks.

use super::{
    Attribute, BlockRow, Children,
    Default::{self, Bool, None, Number, Pad, Text},
    Form, Level, TextUse, UrlUse,
};

const fn key(name: &'static str, form: Form, default: Default, doc: &'static str) -> Attribute {
    Attribute {
        name,
        form,
        required: false,
        default,
        aliases: &[],
        doc,
    }
}

const fn needed(
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

const fn known(attribute: Attribute, aliases: &'static [&'static str]) -> Attribute {
    Attribute {
        aliases,
        ..attribute
    }
}

const fn holds(
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

const ID: Attribute = key(
    "id",
    Form::Line(40),
    None,
    "Unique name; left out, it is added.",
);
const BG: Attribute = known(
    key("bg", Form::Color, None, "Colour behind it."),
    &["backgroundColor", "background", "bgColor"],
);
const GRADIENT: Attribute = key(
    "gradient",
    Form::Object(GRADIENT_KEYS),
    None,
    "Gradient over bg, which is required with it.",
);
const ALIGN: Attribute = known(
    key(
        "align",
        Form::Enum(&["left", "center", "right"]),
        Text("left"),
        "left is the start of the line, so it mirrors in right-to-left mails.",
    ),
    &["textAlign", "alignment"],
);
const HIDE_ON: Attribute = key(
    "hideOn",
    Form::Enum(&["none", "mobile", "desktop"]),
    Text("none"),
    "Where it is left out.",
);
const VISIBLE_IF: Attribute = known(
    key(
        "visibleIf",
        Form::Condition,
        None,
        "Shown only when this holds.",
    ),
    &["showIf", "visible", "condition"],
);
const ATTRS: Attribute = key(
    "attrs",
    Form::Attrs,
    None,
    "Passed through: mc:edit, mc:label, data-*, as strings.",
);
const COLOR: Attribute = known(
    key(
        "color",
        Form::Color,
        None,
        "Colour of the words; the theme's otherwise.",
    ),
    &["textColor", "fontColor"],
);
const SIZE: Attribute = known(
    key(
        "size",
        Form::Integer(10, 40),
        None,
        "px; the theme's otherwise.",
    ),
    &["fontSize"],
);

const fn pad(default: [u32; 4]) -> Attribute {
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

const GRADIENT_KEYS: &[Attribute] = &[
    needed("from", Form::Color, &[], "First colour."),
    needed("to", Form::Color, &[], "Last colour."),
    key(
        "angle",
        Form::Integer(0, 360),
        Number(180.0),
        "Degrees, as in CSS.",
    ),
];

const BG_IMAGE_KEYS: &[Attribute] = &[
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
const LEAF: &[Attribute] = &[
    ID,
    pad([8, 24, 8, 24]),
    BG,
    ALIGN,
    HIDE_ON,
    VISIBLE_IF,
    ATTRS,
];
/// The same for a button, whose `bg` is its own.
const BUTTON: &[Attribute] = &[ID, pad([8, 24, 8, 24]), ALIGN, HIDE_ON, VISIBLE_IF, ATTRS];
/// Keys of blocks without words.
const BARE: &[Attribute] = &[ID, pad([0, 0, 0, 0]), BG, HIDE_ON, VISIBLE_IF, ATTRS];
/// Keys of a section.
const SECTION: &[Attribute] = &[
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
const PANEL: &[Attribute] = &[
    ID,
    pad([0, 0, 0, 0]),
    BG,
    GRADIENT,
    HIDE_ON,
    VISIBLE_IF,
    ATTRS,
];
/// Keys of a hero.
const HERO: &[Attribute] = &[ID, pad([40, 24, 40, 24]), ALIGN, HIDE_ON, VISIBLE_IF, ATTRS];
/// Keys of a column.
const COLUMN: &[Attribute] = &[ID, pad([0, 0, 0, 0]), BG, ALIGN, HIDE_ON, VISIBLE_IF, ATTRS];
/// Keys of what stands inside one container only.
const PART: &[Attribute] = &[ID];

/// What a column takes, `if` and `each` aside.
macro_rules! in_column {
    ($($more:literal),*) => {
        &["heading", "text", "button", "image", "divider", "spacer", "list", "table", "menu",
          "social", "video", "code", "quote", "unsubscribe", "footer", "address", "raw" $(, $more)*]
    };
}

const WORDS: Form = Form::Text(TextUse::Rich);
const LABEL: Form = Form::Text(TextUse::Label);
const TEXT_KEYS: &[&str] = &["content", "body", "html", "value", "markdown", "children"];
const HREF_KEYS: &[&str] = &["url", "link", "to"];
const LINES: Attribute = known(
    key("lines", Form::Texts, None, "Lines of text."),
    &["text", "content", "children"],
);
const VALIGN: Attribute = known(
    key(
        "valign",
        Form::Enum(&["top", "middle", "bottom"]),
        Text("top"),
        "Position of the content.",
    ),
    &["verticalAlign"],
);
const BORDER: Attribute = known(
    key("border", Form::Color, None, "Colour of a border of 1 px."),
    &["borderColor"],
);
const RADIUS: Attribute = known(
    key(
        "radius",
        Form::Integer(0, 40),
        Number(0.0),
        "Radius of the corners.",
    ),
    &["borderRadius"],
);

/// Every type of block, containers first.
pub(crate) const BLOCKS: &[BlockRow] = &[
    BlockRow {
        name: "body",
        level: Level::Body,
        aliases: &["email", "root"],
        common: PART,
        attributes: &[],
        children: &[holds(
            "children",
            &["section", "panel", "hero", "if", "each", "raw"],
            1,
            200,
        )],
        doc: "The whole mail, from top to bottom.",
        example: r#"{"type":"body","children":[{"type":"section","children":[{"type":"column","children":[{"type":"text","text":"Hello"}]}]}]}"#,
    },
    BlockRow {
        name: "panel",
        level: Level::Band,
        aliases: &["wrapper", "card", "box"],
        common: PANEL,
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
    },
    BlockRow {
        name: "section",
        level: Level::Band,
        aliases: &[
            "band",
            "container",
            "columns",
            "strip",
            "group",
            "columnscontainer",
        ],
        common: SECTION,
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
    },
    BlockRow {
        name: "hero",
        level: Level::Band,
        aliases: &["banner", "masthead"],
        common: HERO,
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
    },
    BlockRow {
        name: "column",
        level: Level::Column,
        aliases: &["col"],
        common: COLUMN,
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
    },
    BlockRow {
        name: "if",
        level: Level::Control,
        aliases: &["conditional", "condition", "showif"],
        common: PART,
        attributes: &[needed(
            "cond",
            Form::Condition,
            &["condition", "when", "test", "if"],
            "{var, op, value}, {all}, {any} or {not}.",
        )],
        children: &[holds("then", &[], 0, 200), holds("else", &[], 0, 200)],
        doc: "Shows then or else; both hold what the parent holds.",
        example: r#"{"type":"if","cond":{"var":"plan","op":"eq","value":"pro"},"then":[{"type":"text","text":"Thank you for being with Pro."}],"else":[{"type":"text","text":"Try Pro."}]}"#,
    },
    BlockRow {
        name: "each",
        level: Level::Control,
        aliases: &["loop", "repeat", "foreach", "for"],
        common: PART,
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
    },
    BlockRow {
        name: "heading",
        level: Level::Leaf,
        aliases: &["title", "h1", "h2", "h3", "h4", "headline", "subheading"],
        common: LEAF,
        attributes: &[
            needed("text", WORDS, TEXT_KEYS, "Words."),
            key(
                "level",
                Form::Integer(1, 4),
                Number(2.0),
                "1 is the title of the mail; leave out no level.",
            ),
            known(
                key(
                    "size",
                    Form::Integer(12, 60),
                    None,
                    "px; by level 28, 22, 18, 16.",
                ),
                &["fontSize"],
            ),
            COLOR,
            known(
                key(
                    "weight",
                    Form::Integer(100, 900),
                    Number(700.0),
                    "Font weight, in hundreds.",
                ),
                &["fontWeight"],
            ),
        ],
        children: &[],
        doc: "A heading.",
        example: r#"{"type":"heading","level":1,"text":"Your receipt"}"#,
    },
    BlockRow {
        name: "text",
        level: Level::Leaf,
        aliases: &[
            "paragraph",
            "p",
            "richtext",
            "textblock",
            "markdown",
            "md",
            "copy",
        ],
        common: LEAF,
        attributes: &[
            needed(
                "text",
                WORDS,
                TEXT_KEYS,
                "Words: a string with {{ variables }}, spans, or {\"md\": \"**bold**, [label](https://...)\"}.",
            ),
            SIZE,
            key(
                "lineHeight",
                Form::Decimal(1.0, 2.5),
                Number(1.5),
                "Height of a line by size.",
            ),
            COLOR,
        ],
        children: &[],
        doc: "A paragraph.",
        example: r#"{"type":"text","text":{"md":"Hello {{ user.name | default: \"friend\" }}, your order is **on its way**."}}"#,
    },
    BlockRow {
        name: "button",
        level: Level::Leaf,
        aliases: &["cta", "linkbutton", "btn", "link", "a", "calltoaction"],
        common: BUTTON,
        attributes: &[
            needed(
                "label",
                LABEL,
                &["text", "content", "title", "value", "children"],
                "Words; say what happens.",
            ),
            needed("href", Form::Url(UrlUse::Link), HREF_KEYS, "Target."),
            key(
                "variant",
                Form::Enum(&["solid", "outline", "link"]),
                Text("solid"),
                "Look.",
            ),
            known(
                key(
                    "bg",
                    Form::Color,
                    None,
                    "Ground; the theme's primary colour otherwise.",
                ),
                &["backgroundColor", "background", "bgColor"],
            ),
            key(
                "gradient",
                Form::Object(GRADIENT_KEYS),
                None,
                "Gradient over bg, which is required with it.",
            ),
            COLOR,
            known(
                key(
                    "radius",
                    Form::Integer(0, 40),
                    None,
                    "Radius; the theme's otherwise.",
                ),
                &["borderRadius"],
            ),
            known(
                key("full", Form::Bool, Bool(false), "As wide as its column."),
                &["fullWidth", "block"],
            ),
            key(
                "outlook",
                Form::Enum(&["padding", "vml"]),
                Text("padding"),
                "vml has round corners in classic Outlook and needs width.",
            ),
            key("width", Form::Integer(40, 600), None, "Width."),
        ],
        children: &[],
        doc: "A button.",
        example: r#"{"type":"button","label":"See your order","href":"https://shop.acme.test/orders/{{ order.id | urlencode }}"}"#,
    },
    BlockRow {
        name: "image",
        level: Level::Leaf,
        aliases: &["img", "picture", "photo", "logo", "figure"],
        common: LEAF,
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
                &["altText", "alternativeText"],
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
    },
    BlockRow {
        name: "divider",
        level: Level::Leaf,
        aliases: &["hr", "separator", "line", "rule", "horizontalrule"],
        common: LEAF,
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
    },
    BlockRow {
        name: "spacer",
        level: Level::Leaf,
        aliases: &["gap", "space", "spacing"],
        common: BARE,
        attributes: &[known(
            key("height", Form::Integer(1, 200), Number(24.0), "px."),
            &["size"],
        )],
        children: &[],
        doc: "Blank height.",
        example: r#"{"type":"spacer","height":32}"#,
    },
    BlockRow {
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
        ],
        common: LEAF,
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
    },
    BlockRow {
        name: "item",
        level: Level::Part,
        aliases: &["li", "listitem", "bullet"],
        common: PART,
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
    },
    BlockRow {
        name: "table",
        level: Level::Leaf,
        aliases: &["datatable", "grid"],
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
    },
    BlockRow {
        name: "row",
        level: Level::Part,
        aliases: &["tr", "tablerow"],
        common: PART,
        attributes: &[key(
            "header",
            Form::Bool,
            Bool(false),
            "Its cells are headings; first row only.",
        )],
        children: &[holds("children", &["cell"], 1, 12)],
        doc: "A row of a table; all rows have the same number of cells.",
        example: r#"{"type":"row","children":[{"type":"cell","text":"Tea"},{"type":"cell","text":"3.00"}]}"#,
    },
    BlockRow {
        name: "cell",
        level: Level::Part,
        aliases: &["td", "th", "tablecell"],
        common: PART,
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
    },
    BlockRow {
        name: "menu",
        level: Level::Leaf,
        aliases: &["nav", "navbar", "navigation"],
        common: LEAF,
        attributes: &[COLOR],
        children: &[holds("children", &["menuItem", "if", "each"], 1, 8)],
        doc: "Links beside each other.",
        example: r#"{"type":"menu","children":[{"type":"menuItem","label":"Shop","href":"https://shop.acme.test/"}]}"#,
    },
    BlockRow {
        name: "menuItem",
        level: Level::Part,
        aliases: &["navlink", "navitem", "menulink"],
        common: PART,
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
    },
    BlockRow {
        name: "social",
        level: Level::Leaf,
        aliases: &["sociallinks", "socialicons", "socials"],
        common: LEAF,
        attributes: &[key(
            "iconSize",
            Form::Integer(12, 64),
            Number(24.0),
            "Side of an icon.",
        )],
        children: &[holds("children", &["socialItem", "if", "each"], 1, 10)],
        doc: "Links to profiles.",
        example: r#"{"type":"social","children":[{"type":"socialItem","network":"mastodon","href":"https://social.acme.test/@acme"}]}"#,
    },
    BlockRow {
        name: "socialItem",
        level: Level::Part,
        aliases: &["sociallink", "socialelement", "socialicon"],
        common: PART,
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
    },
    BlockRow {
        name: "video",
        level: Level::Leaf,
        aliases: &["film", "youtube"],
        common: LEAF,
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
            needed("alt", Form::Template, &["altText"], "What the film shows."),
            key(
                "width",
                Form::Integer(1, 2000),
                None,
                "Width; the column's otherwise.",
            ),
        ],
        children: &[],
        doc: "A picture that leads to a film; mails play none.",
        example: r#"{"type":"video","poster":"https://cdn.acme.test/tour.jpg","href":"https://acme.test/tour","alt":"A tour of the new editor"}"#,
    },
    BlockRow {
        name: "code",
        level: Level::Leaf,
        aliases: &["pre", "codeblock"],
        common: LEAF,
        attributes: &[
            needed(
                "text",
                Form::Verbatim,
                &["content", "body", "code", "value"],
                "Text of fixed width; line breaks stay.",
            ),
            known(
                key("lang", Form::Line(40), None, "Language of programming."),
                &["language"],
            ),
        ],
        children: &[],
        doc: "Code, or a code to type in.",
        example: r#"{"type":"code","text":"{{ code }}"}"#,
    },
    BlockRow {
        name: "quote",
        level: Level::Leaf,
        aliases: &["blockquote", "testimonial"],
        common: LEAF,
        attributes: &[
            needed("text", WORDS, TEXT_KEYS, "The words."),
            known(
                key("cite", LABEL, None, "Whose they are."),
                &["author", "source", "attribution"],
            ),
        ],
        children: &[],
        doc: "Somebody's words.",
        example: r#"{"type":"quote","text":"It just works.","cite":"A customer"}"#,
    },
    BlockRow {
        name: "unsubscribe",
        level: Level::Leaf,
        aliases: &["unsubscribelink", "optout"],
        common: LEAF,
        attributes: &[
            known(
                key("text", LABEL, Text("Unsubscribe"), "Words of the link."),
                &["label", "content", "title"],
            ),
            key(
                "style",
                Form::Enum(&["link", "button"]),
                Text("link"),
                "Look.",
            ),
            known(
                key(
                    "href",
                    Form::Url(UrlUse::Link),
                    None,
                    "Target; the sending service's own otherwise.",
                ),
                &["url", "link", "to"],
            ),
        ],
        children: &[],
        doc: "The way to unsubscribe; each dialect has its address.",
        example: r#"{"type":"unsubscribe","text":"Unsubscribe"}"#,
    },
    BlockRow {
        name: "footer",
        level: Level::Leaf,
        aliases: &["smallprint", "legal", "disclaimer"],
        common: LEAF,
        attributes: &[
            Attribute {
                required: true,
                ..LINES
            },
            known(
                key("size", Form::Integer(10, 40), Number(12.0), "px."),
                &["fontSize"],
            ),
            COLOR,
        ],
        children: &[],
        doc: "Small print.",
        example: r#"{"type":"footer","lines":["You get this mail because you bought something."]}"#,
    },
    BlockRow {
        name: "address",
        level: Level::Leaf,
        aliases: &["postaladdress", "companyaddress"],
        common: LEAF,
        attributes: &[
            Attribute {
                required: true,
                ..LINES
            },
            known(
                key("size", Form::Integer(10, 40), Number(12.0), "px."),
                &["fontSize"],
            ),
            COLOR,
        ],
        children: &[],
        doc: "A postal address; marketing needs one.",
        example: r#"{"type":"address","lines":["Acme Ltd","1 Harbour Road, Porto"]}"#,
    },
    BlockRow {
        name: "raw",
        level: Level::Leaf,
        aliases: &["html", "customhtml", "rawhtml"],
        common: PART,
        attributes: &[
            needed(
                "html",
                Form::Html,
                &["content", "body", "value"],
                "HTML; only if policy.allowRaw, sanitised, without variables.",
            ),
            known(
                key(
                    "text",
                    WORDS,
                    None,
                    "The same in words, for the text part; required.",
                ),
                &["alt"],
            ),
        ],
        children: &[],
        doc: "HTML as it is.",
        example: r#"{"type":"raw","html":"<p>Seal of approval</p>","text":"Seal of approval"}"#,
    },
];
