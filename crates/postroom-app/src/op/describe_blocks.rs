//! `describe_blocks`: what a document may hold.

use postroom_compose::{self as compose, Detail};
use postroom_types::{Dialect, Level, Permission};
use serde_json::{Map, Value};

use crate::{
    Failure,
    operation::{Annotations, Operation, Route, ScopeRule, Toolset, pure_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "describe_blocks",
    title: "Describe document blocks",
    description: "The contract of EmailDocuments: which blocks exist, what may stand in what, their keys, types and defaults. Read it once before \
        you write a document; with `names` only those blocks.",
    toolset: Toolset::Compose,
    permission: Permission::DocumentsUse,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Nothing,
    bucket: None,
    routes: &[Route::get("/v1/documents/blocks")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Events,
    errors: &[],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: pure_handler!(run),
};

/// How much is told of each block.
#[derive(Debug, Default, Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Verbosity {
    Brief,
    #[default]
    Usual,
    Examples,
}

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Kinds of blocks; all when left out.
    #[schemars(length(max = 64))]
    names: Option<Vec<String>>,
    /// Types and defaults (brief), a line on every key (usual), an example of every block (examples).
    #[serde(default)]
    verbosity: Verbosity,
}

/// The answer.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Output {
    /// Version of documents.
    version: u64,
    /// Blocks by name: keys (required ones end in `*`), what they hold, how many.
    blocks: Map<String, Value>,
    /// Keys of the document around the blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document: Option<Map<String, Value>>,
    /// Keys that blocks share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    common: Option<Map<String, Value>>,
    /// How texts are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<Map<String, Value>>,
    /// How conditions are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    /// What holds for every document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rules: Option<Vec<String>>,
    /// Names that are no blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unknown: Option<Vec<String>>,
}

fn run(input: Input) -> Result<Output, Failure> {
    let names = input.names.unwrap_or_default();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let detail = match input.verbosity {
        Verbosity::Brief => Detail::Brief,
        Verbosity::Usual => Detail::Usual,
        Verbosity::Examples => Detail::Examples,
    };
    schema::read(compose::describe(&names, detail))
}
