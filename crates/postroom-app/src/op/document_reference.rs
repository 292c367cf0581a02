//! `document_reference`: schemas, rules, dialects and examples of documents, for reading.

use postroom_compose::{self as compose, SchemaKind};
use postroom_types::{Dialect, Level, Permission};
use serde_json::{Map, Value, json};

use crate::{
    Failure,
    operation::{Annotations, Operation, Route, ScopeRule, Toolset, pure_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "document_reference",
    title: "Read about e-mail documents",
    description: "A JSON Schema of EmailDocuments (schema, schema/ai, schema/ai-flat, schema/all-required), every rule of check_ir with its \
        meaning (rules), the template languages of compile_ir (dialects), or a finished document to begin with (examples, examples/welcome).",
    toolset: Toolset::Authoring,
    permission: Permission::DocumentsUse,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Nothing,
    bucket: None,
    routes: &[Route::get("/v1/documents/reference")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Events,
    errors: &[postroom_types::ErrorCode::NotFound],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: pure_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What to read: schema, schema/ai, schema/ai-flat, schema/all-required, rules, dialects, examples or examples/NAME.
    #[schemars(length(min = 1, max = 64))]
    topic: Option<String>,
    /// The name of an example, instead of a topic.
    #[schemars(length(min = 1, max = 64))]
    example: Option<String>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// What was asked for.
    content: Map<String, Value>,
}

fn run(input: Input) -> Result<Output, Failure> {
    let content = match (input.topic.as_deref(), input.example.as_deref()) {
        (_, Some(name)) => example(name),
        (Some("schema"), None) => Some(compose::schema(SchemaKind::Full)),
        (Some("rules"), None) => Some(compose::rules()),
        (Some("dialects"), None) => Some(json!({"dialects": compose::dialect::facts()})),
        (Some("examples"), None) => Some(examples()),
        (Some(topic), None) => match topic.split_once('/') {
            Some(("schema", kind)) => SchemaKind::named(kind).map(compose::schema),
            Some(("examples", name)) => example(name),
            _ => None,
        },
        (None, None) => {
            return Err(Failure::argument(Dialect::Events, "topic", "is missing"));
        }
    };
    match content {
        Some(Value::Object(content)) => Ok(Output { content }),
        _ => Err(postroom_types::ErrorCode::NotFound.into()),
    }
}

fn example(name: &str) -> Option<Value> {
    serde_json::from_str(compose::starter(name)?.text).ok()
}

fn examples() -> Value {
    let rows: Vec<Value> = compose::STARTERS
        .iter()
        .map(|starter| {
            json!({
                "name": starter.name,
                "title": starter.title,
                "description": starter.description,
                "uri": format!("ir://examples/{}", starter.name),
            })
        })
        .collect();
    json!({ "examples": rows })
}
