//! The block contract: what there is, what holds what, what it says.

use serde_json::{Map, Value, json};

use crate::{
    grammar::{self, Attribute, BLOCKS, BlockRow, Default, Form, Level, TextUse},
    pass::version::VERSION,
    schema,
};

/// How much is told of each block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, std::default::Default)]
pub enum Detail {
    /// Types and defaults.
    Brief,
    /// With a line on every key.
    #[default]
    Usual,
    /// With an example of every block.
    Examples,
}

impl Detail {
    /// Every detail with its name.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("brief", Self::Brief),
        ("usual", Self::Usual),
        ("examples", Self::Examples),
    ];

    /// The detail of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, detail)| *detail)
    }
}

/// The contract of the blocks in `names`, or of all when there are none, and of the document around
/// them. Names that are no blocks are listed under `unknown`.
#[must_use]
pub fn describe(names: &[&str], detail: Detail) -> Value {
    let mut blocks = Map::new();
    for row in BLOCKS
        .iter()
        .filter(|row| names.is_empty() || names.contains(&row.name))
    {
        blocks.insert(row.name.to_owned(), block(row, detail));
    }
    let unknown: Vec<&&str> = names
        .iter()
        .filter(|name| grammar::block(name).is_none())
        .collect();
    let mut contract = json!({ "version": VERSION, "blocks": blocks });
    let Some(object) = contract.as_object_mut() else {
        return contract;
    };
    if !unknown.is_empty() {
        object.insert("unknown".to_owned(), json!(unknown));
    }
    if names.is_empty() {
        let document = grammar::DOCUMENT;
        object.insert("document".to_owned(), keys(document.iter(), detail));
        object.insert("common".to_owned(), common(detail));
        object.insert("text".to_owned(), text());
        object.insert("condition".to_owned(), json!(
            "{var, op: eq|ne|gt|gte|lt|lte|exists|empty|in|contains, value} or {all: [...]}, {any: [...]}, {not: ...}"
        ));
        object.insert(
            "rules".to_owned(),
            json!([
                "root is a body; body holds sections, a section 1 to 4 columns, a column blocks.",
                "Keys stand in the block itself. Leave out ids and defaults.",
                "Sizes are numbers in px, colours #rrggbb, addresses whole (https, mailto, tel).",
                "Every variable is declared in variables, with a sample.",
                "if and each stand wherever blocks do and hold what stands there.",
                "kind marketing needs an unsubscribe block and an address block.",
                "Set meta.subject, meta.preheader (40 to 150 characters) and meta.lang.",
            ]),
        );
    }
    contract
}

/// Keys that blocks share, described once.
fn common(detail: Detail) -> Value {
    let Some(text) = grammar::block("text") else {
        return Value::Null;
    };
    keys(text.common.iter(), detail)
}

fn text() -> Value {
    json!({
        "string": "\"Hello {{ user.name | default: \\\"friend\\\" }}\": words and variables only; \\\\{{ is literal",
        "md": "{\"md\": \"**bold** *italic* `code` [label](https://...) {{ variable }}\"}",
        "spans": [
            "{type: text, text, marks?: [bold|italic|underline|strike|code|sup|sub], color?}",
            "{type: var, name, default?, filter?, arg?, marks?}",
            "{type: link, href, children: [spans]}",
            "{type: br}",
            "{type: if, cond, then: [spans], else?: [spans]}",
        ],
        "filters": "upper lower title trim urlencode; with arg: date \"d MMMM yyyy\", number \"#,##0.00\", money \"EUR\", truncate 80",
    })
}

fn block(row: &BlockRow, detail: Detail) -> Value {
    let mut told = Map::new();
    if detail != Detail::Brief {
        told.insert("doc".to_owned(), json!(row.doc));
    }
    let own = row.attributes.iter();
    if !row.attributes.is_empty() {
        told.insert("keys".to_owned(), keys(own, detail));
    }
    let shared: Vec<&str> = row.common.iter().map(|attribute| attribute.name).collect();
    if !shared.is_empty() {
        told.insert("common".to_owned(), json!(shared.join(" ")));
    }
    if let Some(pad) = row
        .attribute("pad")
        .and_then(|pad| schema::default(pad.default))
    {
        told.insert("pad".to_owned(), pad);
    }
    for children in row.children {
        let what = if row.level == Level::Control {
            "what its parent holds".to_owned()
        } else {
            children.accepts.join(" ")
        };
        let bounds = format!("{what} ({}-{})", children.least, children.most);
        told.insert(children.key.to_owned(), json!(bounds));
    }
    if detail == Detail::Examples
        && let Ok(example) = serde_json::from_str::<Value>(row.example)
    {
        told.insert("example".to_owned(), example);
    }
    Value::Object(told)
}

/// Keys with their types; required ones end in `*`.
fn keys<'a>(rows: impl Iterator<Item = &'a Attribute>, detail: Detail) -> Value {
    let told = rows.map(|row| {
        let name = if row.required {
            format!("{}*", row.name)
        } else {
            row.name.to_owned()
        };
        let inner = match row.form {
            Form::Object(rows) | Form::Objects(rows, _) => Some(keys(rows.iter(), detail)),
            _ => None,
        };
        if let Some(inner) = inner {
            return (name, inner);
        }
        let mut line = form(row.form);
        if let Some(default) = schema::default(row.default)
            && !matches!(row.default, Default::Pad(_))
        {
            let default = default
                .as_str()
                .map_or_else(|| default.to_string(), str::to_owned);
            line.push_str(&format!(" = {default}"));
        }
        if detail != Detail::Brief {
            line.push_str("; ");
            line.push_str(row.doc);
        }
        (name, json!(line))
    });
    Value::Object(told.collect())
}

fn form(form: Form) -> String {
    match form {
        Form::Text(TextUse::Rich) => "text".to_owned(),
        Form::Text(TextUse::Label) => "text without links".to_owned(),
        Form::Text(TextUse::Plain) => "text without links and marks".to_owned(),
        Form::Texts => "list of texts".to_owned(),
        Form::Template => "string with {{ }}".to_owned(),
        Form::Verbatim => "string with {{ }}, kept as it is".to_owned(),
        Form::Url(_) => "address, may hold {{ }}".to_owned(),
        Form::Line(_) | Form::Html => "string".to_owned(),
        Form::Color => "#rrggbb".to_owned(),
        Form::Bool => "true|false".to_owned(),
        Form::Integer(least, most) => format!("integer {least}-{most}"),
        Form::Decimal(least, most) => format!("number {least}-{most}"),
        Form::Percent => "percent".to_owned(),
        Form::Enum(words) => words.join("|"),
        Form::Enums(words) => format!("list of {}", words.join("|")),
        Form::Pad => "integer 0-80 or [t, r, b, l]".to_owned(),
        Form::Condition => "condition".to_owned(),
        Form::Lang => "language tag".to_owned(),
        Form::Object(_) | Form::Objects(..) => "object".to_owned(),
        Form::Attrs => "object of strings".to_owned(),
        Form::Name => "name".to_owned(),
        Form::Path => "dotted path".to_owned(),
        Form::Item => "type or {field: type}".to_owned(),
        Form::Any => "any value".to_owned(),
    }
}
