//! Rows of blocks of words and links.

use super::key::{
    BUTTON_KEYS, COLOR, GRADIENT_KEYS, HREF_KEYS, LABEL, LEAF_KEYS, LINES, PART_KEYS, SIZE,
    TEXT_KEYS, WORDS, key, known, needed,
};
use crate::grammar::{
    Attribute, BlockRow,
    Default::{Bool, None, Number, Text},
    Form, Level, UrlUse,
};

pub(super) const HEADING: BlockRow = BlockRow {
    name: "heading",
    level: Level::Leaf,
    aliases: &[
        "title",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "headline",
        "subheading",
        "subtitle",
        "headingone",
        "headingtwo",
        "headingthree",
        "headingfour",
        "sectiontitle",
    ],
    common: LEAF_KEYS,
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
};

pub(super) const TEXT: BlockRow = BlockRow {
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
        "mrkdwn",
        "plaintext",
        "badge",
        "tag",
        "pill",
        "chip",
        "label",
        "eyebrow",
        "caption",
        "note",
        "lead",
        "smalltext",
        "smallprinttext",
        "greeting",
        "signature",
        "span",
        "strong",
        "em",
        "small",
        "center",
        "bodytext",
        "viewinbrowser",
        "viewonline",
        "webversion",
    ],
    common: LEAF_KEYS,
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
};

pub(super) const BUTTON: BlockRow = BlockRow {
    name: "button",
    level: Level::Leaf,
    aliases: &[
        "cta",
        "linkbutton",
        "btn",
        "link",
        "a",
        "anchor",
        "calltoaction",
        "actionopenurl",
        "calendarbutton",
        "addtocalendar",
        "ctabutton",
    ],
    common: BUTTON_KEYS,
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
};

pub(super) const CODE: BlockRow = BlockRow {
    name: "code",
    level: Level::Leaf,
    aliases: &[
        "pre",
        "codeblock",
        "otp",
        "otpcode",
        "verificationcode",
        "securitycode",
        "passcode",
    ],
    common: LEAF_KEYS,
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
};

pub(super) const QUOTE: BlockRow = BlockRow {
    name: "quote",
    level: Level::Leaf,
    aliases: &["blockquote", "testimonial"],
    common: LEAF_KEYS,
    attributes: &[
        needed("text", WORDS, TEXT_KEYS, "The words."),
        known(
            key("cite", LABEL, None, "Whose they are."),
            &["author", "source", "attribution", "by", "person", "speaker"],
        ),
    ],
    children: &[],
    doc: "Somebody's words.",
    example: r#"{"type":"quote","text":"It just works.","cite":"A customer"}"#,
};

pub(super) const UNSUBSCRIBE: BlockRow = BlockRow {
    name: "unsubscribe",
    level: Level::Leaf,
    aliases: &["unsubscribelink", "optout"],
    common: LEAF_KEYS,
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
};

pub(super) const FOOTER: BlockRow = BlockRow {
    name: "footer",
    level: Level::Leaf,
    aliases: &["smallprint", "legal", "disclaimer"],
    common: LEAF_KEYS,
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
    example: r#"{"type":"footer","lines":["You bought something."]}"#,
};

pub(super) const ADDRESS: BlockRow = BlockRow {
    name: "address",
    level: Level::Leaf,
    aliases: &["postaladdress", "companyaddress"],
    common: LEAF_KEYS,
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
};

pub(super) const RAW: BlockRow = BlockRow {
    name: "raw",
    level: Level::Leaf,
    aliases: &["html", "customhtml", "rawhtml"],
    common: PART_KEYS,
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
};
