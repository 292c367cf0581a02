//! From a settled draft to the typed model, defaults filled in. What cannot be read is left out:
//! the passes have told of it.

mod block;

pub(crate) use block::texts;

use crate::{
    draft::{Node, Object, Origins, Value},
    model::{
        Color, Condition, DarkMode, DarkTheme, Direction, Document, Kind, Marks, Meta, Operator,
        Piece, Policy, Shape, Span, Template, Text, Theme, Variable, VariableType, VariableUse,
    },
    notation::{self, Part, Reading},
};

/// The document that a settled draft says.
pub(crate) fn document(root: &Node, origins: &Origins<'_>) -> Document {
    let Some(object) = root.as_object() else {
        return Document::default();
    };
    let reader = Reader { origins };
    let body = object.find("root");
    let mut document = Document {
        kind: match object.string("kind") {
            Some("marketing") => Kind::Marketing,
            Some("notification") => Kind::Notification,
            Some("personal") => Kind::Personal,
            _ => Kind::Transactional,
        },
        meta: reader.meta(root, object),
        theme: theme(object),
        policy: policy(object),
        variables: Vec::new(),
        body_id: body
            .and_then(Node::as_object)
            .and_then(|body| body.string("id"))
            .unwrap_or("body-1")
            .to_owned(),
        body: Vec::new(),
        draft: Node::default(),
    };
    let variables = object.find("variables").and_then(Node::as_array);
    document.variables = variables
        .unwrap_or_default()
        .iter()
        .filter_map(|node| declaration(node, origins))
        .collect();
    if let Some(body) = body.and_then(Node::as_object) {
        document.body = reader.children(body, "children");
    }
    let stated = object.find("meta").and_then(Node::as_object);
    document.meta.dir = match stated.and_then(|meta| meta.string("dir")) {
        Some("ltr") => Direction::Ltr,
        Some("rtl") => Direction::Rtl,
        _ => direction(&document),
    };
    document
}

/// Reads blocks.
struct Reader<'r, 'a> {
    origins: &'r Origins<'a>,
}

impl Reader<'_, '_> {
    fn meta(&self, root: &Node, object: &Object) -> Meta {
        let node = object.find("meta");
        let meta = node.and_then(Node::as_object);
        let find = |key: &str| meta.and_then(|meta| meta.find(key));
        let source = self
            .origins
            .source(node.map_or(root.origin, |node| node.origin));
        let place = |key: &str| {
            find(key).map_or_else(|| source.clone(), |node| self.origins.source(node.origin))
        };
        Meta {
            subject: find("subject").map(text).unwrap_or_default(),
            preheader: find("preheader").map(text).unwrap_or_default(),
            title: meta
                .and_then(|meta| meta.string("title"))
                .map(str::to_owned),
            lang: meta.and_then(|meta| meta.string("lang")).map(str::to_owned),
            dir: Direction::Ltr,
            subject_source: place("subject"),
            preheader_source: place("preheader"),
            source,
        }
    }
}

/// The direction of the first letter that has one.
fn direction(document: &Document) -> Direction {
    let mut found = None;
    let mut look = |text: &Text| {
        if found.is_some() {
            return;
        }
        text.walk(&mut |span| {
            if let (None, Span::Text { text, .. }) = (found, span) {
                found = text.chars().find_map(strong);
            }
        });
    };
    look(&document.meta.subject);
    document.walk(&mut |block| block::texts(block, &mut look));
    found.unwrap_or_default()
}

/// The direction of a letter, by the blocks of scripts that run to the left.
fn strong(char: char) -> Option<Direction> {
    match char {
        '\u{590}'..='\u{8ff}'
        | '\u{fb1d}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}' => Some(Direction::Rtl),
        char if char.is_alphabetic() => Some(Direction::Ltr),
        _ => None,
    }
}

fn theme(object: &Object) -> Theme {
    let mut theme = Theme::default();
    let Some(stated) = object.find("theme").and_then(Node::as_object) else {
        return theme;
    };
    let color = |place: &mut Color, key: &str| {
        if let Some(stated) = find_color(stated, key) {
            *place = stated;
        }
    };
    color(&mut theme.background, "background");
    color(&mut theme.surface, "surface");
    color(&mut theme.text, "text");
    color(&mut theme.muted, "muted");
    color(&mut theme.link, "link");
    color(&mut theme.primary, "primary");
    color(&mut theme.on_primary, "onPrimary");
    theme.width = whole(stated, "width").unwrap_or(theme.width);
    theme.base_size = whole(stated, "baseSize").unwrap_or(theme.base_size);
    theme.radius = whole(stated, "radius").unwrap_or(theme.radius);
    if let Some(font) = stated.string("font").filter(|font| !font.trim().is_empty()) {
        font.clone_into(&mut theme.font);
    }
    theme.heading_font = stated.string("headingFont").map(str::to_owned);
    theme.font_url = stated.string("fontUrl").map(str::to_owned);
    if let Some(dark) = stated.find("dark").and_then(Node::as_object) {
        theme.dark = DarkTheme {
            mode: match dark.string("mode") {
                Some("authored") => DarkMode::Authored,
                Some("off") => DarkMode::Off,
                _ => DarkMode::Auto,
            },
            background: find_color(dark, "background"),
            surface: find_color(dark, "surface"),
            text: find_color(dark, "text"),
            muted: find_color(dark, "muted"),
            link: find_color(dark, "link"),
            primary: find_color(dark, "primary"),
            on_primary: find_color(dark, "onPrimary"),
        };
    }
    theme
}

fn policy(object: &Object) -> Policy {
    let stated = object.find("policy").and_then(Node::as_object);
    Policy {
        allow_raw: stated.is_some_and(|policy| flag(policy, "allowRaw", false)),
        default_lang: stated
            .and_then(|policy| policy.string("defaultLang"))
            .map(str::to_owned),
    }
}

/// A declared variable.
pub(crate) fn declaration(node: &Node, origins: &Origins<'_>) -> Option<Variable> {
    let object = node.as_object()?;
    let name = object
        .string("name")
        .filter(|name| notation::is_path(name))?;
    let kind = object.string("type").and_then(VariableType::named);
    let sample = object.find("sample").map(Node::to_json);
    let kind = kind.unwrap_or_default();
    let shape = match object.find("item") {
        Some(item) => match kind {
            VariableType::List => Shape::List(Box::new(item_shape(item))),
            VariableType::Object => item_shape(item),
            kind => Shape::Scalar(kind),
        },
        None => match kind {
            VariableType::List => match sample.as_ref().map(sample_shape) {
                Some(shape @ Shape::List(_)) => shape,
                _ => Shape::List(Box::new(Shape::Unknown)),
            },
            VariableType::Object => match sample.as_ref().map(sample_shape) {
                Some(shape @ Shape::Object(_)) => shape,
                _ => Shape::Unknown,
            },
            kind => Shape::Scalar(kind),
        },
    };
    Some(Variable {
        name: name.to_owned(),
        kind,
        sample,
        default: object.find("default").map(Node::to_json),
        required: flag(object, "required", false),
        shape,
        source: origins.source(node.origin),
    })
}

/// The shape that `item` states.
fn item_shape(node: &Node) -> Shape {
    match &node.value {
        Value::String(kind) => match VariableType::named(kind) {
            Some(VariableType::List) => Shape::List(Box::new(Shape::Unknown)),
            Some(VariableType::Object) | None => Shape::Unknown,
            Some(kind) => Shape::Scalar(kind),
        },
        Value::Object(fields) => {
            let fields = fields.0.iter();
            Shape::Object(
                fields
                    .map(|(name, field)| (name.clone(), item_shape(field)))
                    .collect(),
            )
        }
        Value::Array(items) => {
            Shape::List(Box::new(items.first().map_or(Shape::Unknown, item_shape)))
        }
        _ => Shape::Unknown,
    }
}

/// The shape that a sample has; of a list the shape of its first element, with the fields of all.
fn sample_shape(sample: &serde_json::Value) -> Shape {
    match sample {
        serde_json::Value::Array(items) => {
            let mut fields: Vec<(String, Shape)> = Vec::new();
            for item in items {
                let Shape::Object(more) = sample_shape(item) else {
                    continue;
                };
                for (name, shape) in more {
                    if !fields.iter().any(|(known, _)| *known == name) {
                        fields.push((name, shape));
                    }
                }
            }
            let element = if fields.is_empty() {
                items.first().map_or(Shape::Unknown, sample_shape)
            } else {
                Shape::Object(fields)
            };
            Shape::List(Box::new(element))
        }
        serde_json::Value::Object(fields) => {
            let fields = fields.iter();
            Shape::Object(
                fields
                    .map(|(name, field)| (name.clone(), sample_shape(field)))
                    .collect(),
            )
        }
        serde_json::Value::Number(_) => Shape::Scalar(VariableType::Number),
        serde_json::Value::Bool(_) => Shape::Scalar(VariableType::Bool),
        serde_json::Value::String(_) => Shape::Scalar(VariableType::String),
        serde_json::Value::Null => Shape::Unknown,
    }
}

fn flag(object: &Object, key: &str, default: bool) -> bool {
    object.find(key).and_then(Node::as_bool).unwrap_or(default)
}

fn find_color(object: &Object, key: &str) -> Option<Color> {
    object.string(key).and_then(Color::from_hex)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to what fits"
)]
fn whole(object: &Object, key: &str) -> Option<u32> {
    let number = object.find(key)?.as_f64()?;
    Some(number.round().clamp(0.0, 100_000.0) as u32)
}

fn decimal(object: &Object, key: &str) -> Option<f64> {
    object.find(key)?.as_f64()
}

/// Spans in canonical form.
pub(crate) fn text(node: &Node) -> Text {
    Text(spans(node))
}

fn spans(node: &Node) -> Vec<Span> {
    let nodes = node.as_array().unwrap_or_default();
    nodes.iter().flat_map(span).collect()
}

fn span(node: &Node) -> Vec<Span> {
    let Some(object) = node.as_object() else {
        return Vec::new();
    };
    match object.string("type") {
        Some("text") => words(object),
        Some("var") => variable(object).map(Span::Variable).into_iter().collect(),
        Some("br") => vec![Span::Break],
        Some("link") => {
            let href = object.string("href").map(template).unwrap_or_default();
            let children = object.find("children").map(spans).unwrap_or_default();
            vec![Span::Link { href, children }]
        }
        Some("if") => {
            let list = |key: &str| object.find(key).map(spans).unwrap_or_default();
            let condition = object.find("cond").and_then(condition);
            let condition = condition.map(|condition| Span::If {
                condition,
                then: list("then"),
                otherwise: list("else"),
            });
            condition.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn marks(object: &Object) -> Marks {
    let mut marks = Marks::default();
    for name in object
        .find("marks")
        .and_then(Node::as_array)
        .unwrap_or_default()
    {
        if let Some(mark) = name.as_str().and_then(|name| marks.mark(name)) {
            *mark = true;
        }
    }
    marks
}

/// Words of a text span; what is no variable in it is literal.
fn words(object: &Object) -> Vec<Span> {
    let marks = marks(object);
    let color = find_color(object, "color");
    let text = object.string("text").unwrap_or_default();
    let reading = if marks.code {
        Reading::Ours
    } else {
        Reading::All(&|_| false)
    };
    let parts = notation::parse(text, reading);
    parts
        .into_iter()
        .map(|part| match part {
            Part::Text(text) | Part::Bad(text, _) | Part::Foreign(_, text) => {
                Span::Text { text, marks, color }
            }
            Part::Variable(mut used) => {
                used.marks = marks;
                Span::Variable(used)
            }
        })
        .collect()
}

/// A `var` span.
pub(crate) fn variable(object: &Object) -> Option<VariableUse> {
    let path = object
        .string("name")
        .filter(|path| notation::is_path(path))?;
    let arg = object.find("arg").map(|arg| {
        arg.as_str()
            .map_or_else(|| arg.to_json().to_string(), str::to_owned)
    });
    Some(VariableUse {
        path: path.to_owned(),
        default: object.string("default").map(str::to_owned),
        filter: object
            .string("filter")
            .and_then(|name| notation::filter(name, arg, false)),
        marks: marks(object),
    })
}

/// A string with variables.
fn template(text: &str) -> Template {
    pieces(notation::parse(text, Reading::All(&|_| false)))
}

/// The same where the notations of others are literal.
fn verbatim(text: &str) -> Template {
    pieces(notation::parse(text, Reading::Ours))
}

fn pieces(parts: Vec<Part>) -> Template {
    let pieces = parts.into_iter().map(|part| match part {
        Part::Text(text) | Part::Bad(text, _) | Part::Foreign(_, text) => Piece::Text(text),
        Part::Variable(used) => Piece::Variable(used),
    });
    Template(pieces.collect())
}

/// A condition in canonical form.
pub(crate) fn condition(node: &Node) -> Option<Condition> {
    let object = node.as_object()?;
    if let Some(path) = object.string("var") {
        let operator = Operator::named(object.string("op")?)?;
        let value = object.find("value").map(Node::to_json);
        return Some(Condition::Test {
            variable: path.to_owned(),
            operator,
            value: value.unwrap_or_default(),
        });
    }
    let list = |key: &str| -> Option<Vec<Condition>> {
        object
            .find(key)?
            .as_array()?
            .iter()
            .map(condition)
            .collect()
    };
    if let Some(parts) = list("all") {
        return Some(Condition::All(parts));
    }
    if let Some(parts) = list("any") {
        return Some(Condition::Any(parts));
    }
    let inner = condition(object.find("not")?)?;
    Some(Condition::Not(Box::new(inner)))
}
