//! `diff_ir`: what differs between two documents.

use postroom_compose as compose;
use postroom_types::{Dialect, Level, Permission};
use serde_json::{Map, Value};

use super::composing;
use crate::{
    Failure,
    operation::{Annotations, Operation, Route, ScopeRule, Toolset, pure_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "diff_ir",
    title: "Compare two e-mail documents",
    description: "Says what differs between two EmailDocuments, block by block, as changes that patch_ir takes and as a line of words for each. \
        Use it to show a person what an edit changed.",
    toolset: Toolset::Authoring,
    permission: Permission::DocumentsUse,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Nothing,
    bucket: None,
    routes: &[Route::post("/v1/documents/diff")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Events,
    errors: &[],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: pure_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The document as it was: an object or its JSON text.
    before: Value,
    /// The document as it is.
    after: Value,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Whether they say the same.
    equal: bool,
    /// Changes that make the second of the first.
    ops: Vec<Map<String, Value>>,
    /// The same in words, a line per change.
    changes: Vec<String>,
}

fn run(input: Input) -> Result<Output, Failure> {
    let found = compose::diff(
        composing::given(&input.before),
        composing::given(&input.after),
    );
    if !found.ok {
        return Err(composing::unusable("before", found.issues));
    }
    let as_object = |change: &compose::Change| match serde_json::to_value(change) {
        Ok(Value::Object(change)) => Some(change),
        _ => None,
    };
    Ok(Output {
        equal: found.equal,
        ops: found.ops.iter().filter_map(as_object).collect(),
        changes: found.changes,
    })
}
