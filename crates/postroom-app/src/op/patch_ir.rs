//! `patch_ir`: a document changed block by block.

use postroom_compose::{self as compose, Change};
use postroom_types::{Dialect, Level, Permission};
use serde_json::{Map, Value};

use super::composing::{self, Issue};
use crate::{
    Failure,
    operation::{Annotations, Operation, Route, ScopeRule, Toolset, pure_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "patch_ir",
    title: "Change an e-mail document",
    description: "Changes an EmailDocument by ids of its blocks: {op: set, id, set: {key: value}} or part (meta, theme, policy, document) instead of id, {op: insert, block, before|after|into}, \
        {op: replace, id, block}, {op: move, id, before|after|into}, {op: remove, id}. All changes are made or none. Cheaper than sending \
        the whole document again to change a word.",
    toolset: Toolset::Authoring,
    permission: Permission::DocumentsUse,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Nothing,
    bucket: None,
    routes: &[Route::post("/v1/documents/patch")],
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
    /// The EmailDocument: an object or its JSON text.
    document: Value,
    /// Changes, in order: {op: set, id, set: {key: value}} or with part (meta, theme, policy, document) instead of id;
    /// {op: insert, block, before | after | into, slot?, at?}; {op: replace, id, block}; {op: move, id, before | after | into,
    /// slot?, at?}; {op: remove, id}. Null in set removes a key.
    #[schemars(length(min = 1, max = 500))]
    ops: Vec<Map<String, Value>>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Whether every change was made and the document has no error.
    ok: bool,
    /// The document afterwards; as it was when a change cannot be made.
    document: Map<String, Value>,
    /// What stands against a change (at `ops.N`), else what is wrong with the document.
    issues: Vec<Issue>,
}

fn run(input: Input) -> Result<Output, Failure> {
    let mut changes = Vec::with_capacity(input.ops.len());
    for (at, change) in input.ops.into_iter().enumerate() {
        let op = change.get("op").and_then(Value::as_str).map(str::to_owned);
        let change: Change = serde_json::from_value(Value::Object(change)).map_err(|_| {
            let place = format!("ops.{at}");
            Failure::argument(Dialect::Events, &place, form(op.as_deref()))
        })?;
        changes.push(change);
    }
    let patched = compose::patch(composing::given(&input.document), &changes);
    let document = match patched.document {
        Value::Object(document) if !patched.unusable => document,
        // JSON that is no object is an answer with an issue, as for a check.
        _ if !patched.unusable => serde_json::Map::new(),
        _ => return Err(composing::unusable("document", patched.issues)),
    };
    Ok(Output {
        ok: patched.ok,
        document,
        issues: composing::shown(patched.issues),
    })
}

/// How a change of that kind is written.
fn form(op: Option<&str>) -> &'static str {
    match op {
        Some("set") => {
            "is no change: {op: set, id, set: {key: value}}, or part (meta, theme, policy, document) instead of id"
        }
        Some("insert") => {
            "is no change: {op: insert, block, before | after | into}, with into also slot and at"
        }
        Some("replace") => "is no change: {op: replace, id, block}",
        Some("move") => {
            "is no change: {op: move, id, before | after | into}, with into also slot and at"
        }
        Some("remove") => "is no change: {op: remove, id}",
        _ => "is no change: op is set, insert, replace, move or remove",
    }
}
