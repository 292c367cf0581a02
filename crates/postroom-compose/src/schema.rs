//! JSON Schemas (2020-12) of documents, made from the table of the grammar.

mod strict;

use serde_json::{Map, Value, json};

use crate::{
    grammar::{self, Attribute, BLOCKS, BlockRow, Children, Default, Form, Level, TextUse},
    model::{Marks, Operator, VariableType},
    pass::version::VERSION,
};

/// For whom a schema is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SchemaKind {
    /// Documents as they are stored: every block with its id, every text as spans.
    Full,
    /// Documents as they are drafted: ids may be left out, a text may be a string or
    /// `{"md": ...}`.
    Ai,
    /// The same as one list of blocks that name their parents; no recursion.
    AiFlat,
    /// For modes that need every key and no recursion: what is optional is null, texts are strings
    /// or `{"md": ...}`; `if` and `each` stand around sections, around blocks of a column and around
    /// items and rows, once each.
    AllRequired,
}

impl SchemaKind {
    /// Every kind with its name.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("full", Self::Full),
        ("ai", Self::Ai),
        ("ai-flat", Self::AiFlat),
        ("all-required", Self::AllRequired),
    ];

    /// The kind of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, kind)| *kind)
    }

    /// Address of the schema as a resource.
    #[must_use]
    pub fn uri(self) -> &'static str {
        match self {
            Self::Full => "ir://schema/v2",
            Self::Ai => "ir://schema/v2/ai",
            Self::AiFlat => "ir://schema/v2/ai-flat",
            Self::AllRequired => "ir://schema/v2/all-required",
        }
    }
}

/// The schema of that kind.
#[must_use]
pub fn schema(kind: SchemaKind) -> Value {
    match kind {
        SchemaKind::AllRequired => strict::schema(),
        kind => Writer { kind }.schema(),
    }
}

/// Names of definitions that are no blocks.
const RICH: &str = "richText";
const LABEL: &str = "labelText";
const PLAIN: &str = "plainText";
const SHAPE: &str = "shape";

/// A definition by its name.
fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

struct Writer {
    kind: SchemaKind,
}

impl Writer {
    fn schema(&self) -> Value {
        let mut definitions = Map::new();
        definitions.insert("condition".to_owned(), condition());
        definitions.insert(SHAPE.to_owned(), item());
        definitions.insert("span".to_owned(), self.span());
        for name in [RICH, LABEL, PLAIN] {
            definitions.insert(name.to_owned(), self.text());
        }
        let body = if self.kind == SchemaKind::AiFlat {
            self.flat_blocks()
        } else {
            for row in BLOCKS {
                self.define(row, &mut definitions);
            }
            reference("body")
        };
        let mut properties = Map::new();
        properties.insert("$schema".to_owned(), json!({ "type": "string" }));
        properties.insert("version".to_owned(), json!({ "const": VERSION }));
        for attribute in grammar::DOCUMENT {
            properties.insert(attribute.name.to_owned(), self.attribute(attribute));
        }
        let (key, required) = match self.kind {
            SchemaKind::AiFlat => ("blocks", json!(["blocks"])),
            SchemaKind::Full => ("root", json!(["version", "root"])),
            _ => ("root", json!(["root"])),
        };
        properties.insert(key.to_owned(), body);
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": self.kind.uri(),
            "title": "EmailDocument",
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
            "$defs": definitions,
        })
    }

    /// Adds the definition of a type, for `if` and `each` one per parent.
    fn define(&self, row: &BlockRow, definitions: &mut Map<String, Value>) {
        if row.level == Level::Control {
            return;
        }
        definitions.insert(row.name.to_owned(), self.block(row, row));
        for control in BLOCKS
            .iter()
            .filter(|other| other.level == Level::Control && row.accepts().contains(&other.name))
        {
            let name = format!("{}-in-{}", control.name, row.name);
            definitions.insert(name, self.block(control, row));
        }
    }

    /// A block; what it holds is what `holder` takes.
    fn block(&self, row: &BlockRow, holder: &BlockRow) -> Value {
        let mut properties = Map::new();
        properties.insert("type".to_owned(), json!({ "const": row.name }));
        let mut required = vec!["type"];
        for attribute in row.all() {
            properties.insert(attribute.name.to_owned(), self.attribute(attribute));
            if attribute.required || (attribute.name == "id" && self.kind == SchemaKind::Full) {
                required.push(attribute.name);
            }
        }
        for (at, children) in row.children.iter().enumerate() {
            properties.insert(children.key.to_owned(), self.children(children, holder));
            if at == 0 {
                required.push(children.key);
            }
        }
        json!({
            "type": "object",
            "description": row.doc,
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }

    fn children(&self, children: &Children, holder: &BlockRow) -> Value {
        let accepted =
            holder
                .accepts()
                .iter()
                .map(|name| match grammar::block(name).map(|row| row.level) {
                    Some(Level::Control) => reference(&format!("{name}-in-{}", holder.name)),
                    _ => reference(name),
                });
        json!({
            "type": "array",
            "items": { "anyOf": accepted.collect::<Vec<_>>() },
            "minItems": children.least,
            "maxItems": children.most,
        })
    }

    /// The blocks of the flat form.
    fn flat_blocks(&self) -> Value {
        let rows = BLOCKS.iter().map(|row| {
            let mut properties = Map::new();
            let mut required = Vec::new();
            for attribute in row.all().filter(|attribute| attribute.name != "id") {
                properties.insert(attribute.name.to_owned(), self.attribute(attribute));
                if attribute.required {
                    required.push(attribute.name);
                }
            }
            json!({
                "type": "object",
                "description": row.doc,
                "properties": {
                    "id": { "type": "string" },
                    "parent": {
                        "type": ["string", "null"],
                        "description": "Id of the block around it; null for the body's children.",
                    },
                    "slot": {
                        "enum": ["children", "then", "else", "empty"],
                        "description": "Which list of the parent; of if and each only.",
                    },
                    "type": { "const": row.name },
                    "props": {
                        "type": "object",
                        "properties": properties,
                        "required": required,
                        "additionalProperties": false,
                    },
                },
                "required": ["id", "type"],
                "additionalProperties": false,
            })
        });
        json!({ "type": "array", "minItems": 1, "items": { "anyOf": rows.collect::<Vec<_>>() } })
    }

    fn attribute(&self, attribute: &Attribute) -> Value {
        let mut schema = self.form(attribute.form);
        if let Some(object) = schema.as_object_mut() {
            object.insert("description".to_owned(), json!(attribute.doc));
            if let Some(default) = default(attribute.default) {
                object.insert("default".to_owned(), default);
            }
        }
        if attribute.name == "id"
            && let Some(object) = schema.as_object_mut()
        {
            object.insert("pattern".to_owned(), json!("^[a-z][a-z0-9-]{0,39}$"));
        }
        schema
    }

    fn object(&self, rows: &[Attribute]) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for attribute in rows {
            properties.insert(attribute.name.to_owned(), self.attribute(attribute));
            if attribute.required {
                required.push(attribute.name);
            }
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }

    fn form(&self, form: Form) -> Value {
        match form {
            Form::Text(TextUse::Rich) => reference(RICH),
            Form::Text(TextUse::Label) => reference(LABEL),
            Form::Text(TextUse::Plain) => reference(PLAIN),
            Form::Texts => json!({ "type": "array", "items": reference(RICH), "minItems": 1 }),
            Form::Template | Form::Verbatim | Form::Url(_) | Form::Html => {
                json!({ "type": "string" })
            }
            Form::Line(most) => json!({ "type": "string", "maxLength": most }),
            Form::Color => json!({ "type": "string", "pattern": "^#[0-9a-fA-F]{6}$" }),
            Form::Bool => json!({ "type": "boolean" }),
            Form::Integer(least, most) => {
                json!({ "type": "integer", "minimum": least, "maximum": most })
            }
            Form::Decimal(least, most) => {
                json!({ "type": "number", "minimum": least, "maximum": most })
            }
            Form::Percent => json!({ "type": "number", "minimum": 1, "maximum": 100 }),
            Form::Enum(words) => json!({ "enum": words }),
            Form::Enums(words) => json!({ "type": "array", "items": { "enum": words } }),
            Form::Pad => {
                let side = json!({ "type": "integer", "minimum": 0, "maximum": 80 });
                json!({ "anyOf": [
                    side,
                    { "type": "array", "items": side, "minItems": 4, "maxItems": 4 },
                ] })
            }
            Form::Condition => reference("condition"),
            Form::Lang => json!({ "type": "string", "pattern": LANG }),
            Form::Object(rows) => self.object(rows),
            Form::Objects(rows, most) => {
                json!({ "type": "array", "items": self.object(rows), "maxItems": most })
            }
            Form::Attrs => json!({
                "type": "object",
                "patternProperties": { "^(mc:|data-)[a-z0-9-]{1,40}$": { "type": "string" } },
                "additionalProperties": false,
            }),
            Form::Name => json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" }),
            Form::Path => json!({ "type": "string", "pattern": PATH }),
            Form::Item => reference(SHAPE),
            Form::Any => json!({}),
        }
    }

    /// A text: spans, and for drafts a string or Markdown.
    fn text(&self) -> Value {
        let spans = json!({ "type": "array", "items": reference("span") });
        if self.kind == SchemaKind::Full {
            return spans;
        }
        json!({ "anyOf": [
            { "type": "string", "description": "Words and {{ variables }}." },
            spans,
            {
                "type": "object",
                "properties": { "md": { "type": "string", "description": "Words, {{ variables }}, **bold**, *italic*, `code`, [label](address)." } },
                "required": ["md"],
                "additionalProperties": false,
            },
        ] })
    }

    fn span(&self) -> Value {
        let inner = if self.kind == SchemaKind::Full {
            json!({ "type": "array", "items": reference("span") })
        } else {
            reference(RICH)
        };
        let marks = json!({ "type": "array", "items": { "enum": Marks::NAMES } });
        json!({ "anyOf": [
            closed("text", json!({
                "text": { "type": "string" },
                "marks": marks,
                "color": { "type": "string", "pattern": "^#[0-9a-fA-F]{6}$" },
            }), &["text"]),
            closed("var", json!({
                "name": { "type": "string", "pattern": PATH },
                "default": { "type": "string" },
                "filter": { "enum": FILTERS },
                "arg": { "type": ["string", "number"] },
                "marks": marks,
            }), &["name"]),
            closed("link", json!({ "href": { "type": "string" }, "children": inner }), &["href", "children"]),
            closed("br", json!({}), &[]),
            closed("if", json!({
                "cond": reference("condition"),
                "then": inner,
                "else": inner,
            }), &["cond", "then"]),
        ] })
    }
}

/// Names of the filters.
const FILTERS: &[&str] = &[
    "upper",
    "lower",
    "title",
    "trim",
    "date",
    "number",
    "money",
    "truncate",
    "urlencode",
];

/// A dotted path.
const PATH: &str = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$";

/// A language tag by its shape.
const LANG: &str = "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$";

/// A span of that type.
fn closed(kind: &str, mut properties: Value, needed: &[&str]) -> Value {
    if let Some(properties) = properties.as_object_mut() {
        properties.insert("type".to_owned(), json!({ "const": kind }));
    }
    let required: Vec<&str> = std::iter::once("type")
        .chain(needed.iter().copied())
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn condition() -> Value {
    let operators: Vec<&str> = Operator::NAMES.iter().map(|(name, _)| *name).collect();
    let list = json!({ "type": "array", "items": reference("condition"), "minItems": 1 });
    let one = |key: &str, schema: &Value| {
        json!({
            "type": "object",
            "properties": { key: schema },
            "required": [key],
            "additionalProperties": false,
        })
    };
    json!({ "anyOf": [
        {
            "type": "object",
            "properties": {
                "var": { "type": "string", "pattern": PATH },
                "op": { "enum": operators },
                "value": { "type": ["string", "number", "boolean", "array"] },
            },
            "required": ["var"],
            "additionalProperties": false,
        },
        one("all", &list),
        one("any", &list),
        one("not", &reference("condition")),
    ] })
}

fn item() -> Value {
    let types: Vec<&str> = VariableType::NAMES.iter().map(|(name, _)| *name).collect();
    json!({ "anyOf": [
        { "enum": types },
        { "type": "object", "additionalProperties": reference(SHAPE) },
        { "type": "array", "items": reference(SHAPE), "minItems": 1, "maxItems": 1 },
    ] })
}

/// What a missing value means, as JSON.
pub(crate) fn default(default: Default) -> Option<Value> {
    match default {
        Default::None => None,
        Default::Bool(bool) => Some(json!(bool)),
        Default::Number(number) => Some(Value::Number(crate::draft::tidy(number))),
        Default::Text(text) => Some(json!(text)),
        Default::Pad([top, right, bottom, left]) if [right, bottom, left] == [top; 3] => {
            Some(json!(top))
        }
        Default::Pad(sides) => Some(json!(sides)),
    }
}
