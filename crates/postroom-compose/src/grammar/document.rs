//! Keys of the document around its blocks.

use super::{Attribute, Default, Form, TextUse};

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

const fn color(name: &'static str, default: &'static str, doc: &'static str) -> Attribute {
    key(name, Form::Color, Default::Text(default), doc)
}

/// Keys of the document; `root` and `version` are read apart.
pub(crate) const DOCUMENT: &[Attribute] = &[
    key(
        "kind",
        Form::Enum(&["transactional", "marketing", "notification", "personal"]),
        Default::Text("transactional"),
        "What it is for. Marketing needs an unsubscribe block and a postal address.",
    ),
    key(
        "meta",
        Form::Object(META),
        Default::None,
        "Subject, preview line, language.",
    ),
    key(
        "theme",
        Form::Object(THEME),
        Default::None,
        "Colours, fonts, width.",
    ),
    key(
        "policy",
        Form::Object(POLICY),
        Default::None,
        "What the document allows itself; set by people.",
    ),
    key(
        "variables",
        Form::Objects(VARIABLE, 200),
        Default::None,
        "Every variable that the document uses.",
    ),
];

/// Keys of `meta`.
const META: &[Attribute] = &[
    key(
        "subject",
        Form::Text(TextUse::Plain),
        Default::None,
        "Subject line, up to 70 characters.",
    ),
    Attribute {
        aliases: &["preview", "previewText", "preheaderText"],
        ..key(
            "preheader",
            Form::Text(TextUse::Plain),
            Default::None,
            "Line shown after the subject in lists of mails, 40 to 150 characters.",
        )
    },
    key(
        "title",
        Form::Line(200),
        Default::None,
        "Title of the HTML page; the subject otherwise.",
    ),
    Attribute {
        aliases: &["language", "locale"],
        ..key(
            "lang",
            Form::Lang,
            Default::None,
            "Language tag, as en or pt-BR.",
        )
    },
    Attribute {
        aliases: &["direction"],
        ..key(
            "dir",
            Form::Enum(&["ltr", "rtl", "auto"]),
            Default::Text("auto"),
            "Direction of writing; auto follows the first letter.",
        )
    },
];

/// Keys of `theme`.
const THEME: &[Attribute] = &[
    key(
        "width",
        Form::Integer(320, 900),
        Default::Number(600.0),
        "Width of the content.",
    ),
    Attribute {
        aliases: &["backgroundColor", "bg"],
        ..color("background", "#f4f4f5", "Around the content.")
    },
    color("surface", "#ffffff", "Under the content."),
    Attribute {
        aliases: &["textColor"],
        ..color("text", "#1f2937", "Words.")
    },
    color("muted", "#6b7280", "Words of less weight."),
    Attribute {
        aliases: &["linkColor"],
        ..color("link", "#2563eb", "Links.")
    },
    Attribute {
        aliases: &["primaryColor", "accent", "brand"],
        ..color("primary", "#2563eb", "Ground of buttons.")
    },
    color("onPrimary", "#ffffff", "Words on buttons."),
    Attribute {
        aliases: &["fontFamily"],
        ..key(
            "font",
            Form::Line(200),
            Default::Text("system-sans"),
            "system-sans, system-serif, system-mono, or families separated by commas.",
        )
    },
    key(
        "headingFont",
        Form::Line(200),
        Default::None,
        "The same for headings.",
    ),
    key(
        "fontUrl",
        Form::Url(super::UrlUse::Picture),
        Default::None,
        "Style sheet of a web font.",
    ),
    Attribute {
        aliases: &["fontSize"],
        ..key(
            "baseSize",
            Form::Integer(12, 24),
            Default::Number(16.0),
            "Size of text.",
        )
    },
    Attribute {
        aliases: &["borderRadius"],
        ..key(
            "radius",
            Form::Integer(0, 40),
            Default::Number(6.0),
            "Radius of buttons.",
        )
    },
    key("dark", Form::Object(DARK), Default::None, "Dark mode."),
];

const DARK: &[Attribute] = &[
    key(
        "mode",
        Form::Enum(&["auto", "authored", "off"]),
        Default::Text("auto"),
        "auto derives colours, authored uses those given, off asks to stay light.",
    ),
    key(
        "background",
        Form::Color,
        Default::None,
        "Around the content.",
    ),
    key("surface", Form::Color, Default::None, "Under the content."),
    key("text", Form::Color, Default::None, "Words."),
    key("muted", Form::Color, Default::None, "Words of less weight."),
    key("link", Form::Color, Default::None, "Links."),
    key("primary", Form::Color, Default::None, "Ground of buttons."),
    key("onPrimary", Form::Color, Default::None, "Words on buttons."),
];

/// Keys of `policy`.
const POLICY: &[Attribute] = &[
    key(
        "allowRaw",
        Form::Bool,
        Default::Bool(false),
        "Raw HTML may be used.",
    ),
    key(
        "defaultLang",
        Form::Lang,
        Default::None,
        "Language of documents that state none.",
    ),
];

/// Names of the types of variables.
const TYPES: &[&str] = &[
    "string", "number", "bool", "date", "url", "html", "list", "object",
];

/// Keys of a variable.
const VARIABLE: &[Attribute] = &[
    Attribute {
        required: true,
        aliases: &["path", "key"],
        ..key(
            "name",
            Form::Path,
            Default::None,
            "Dotted path, as user.name.",
        )
    },
    key(
        "type",
        Form::Enum(TYPES),
        Default::Text("string"),
        "Type of its value; each needs list.",
    ),
    Attribute {
        aliases: &["example"],
        ..key("sample", Form::Any, Default::None, "A value for previews.")
    },
    Attribute {
        aliases: &["fallback"],
        ..key(
            "default",
            Form::Any,
            Default::None,
            "Used when the sender gives none.",
        )
    },
    key(
        "required",
        Form::Bool,
        Default::Bool(false),
        "The sender has to give it.",
    ),
    Attribute {
        aliases: &["items", "fields", "properties"],
        ..key(
            "item",
            Form::Item,
            Default::None,
            "Of a list the type of its elements, of a list of objects or an object the fields: {\"name\": \"string\"}.",
        )
    },
];
