//! `repair_ir`: a document with everything mended that can be.

use postroom_compose as compose;
use postroom_types::{Dialect, Level, Permission};
use serde_json::Value;

use super::composing::{self, Issue};
use crate::{
    Failure,
    operation::{Annotations, Operation, Route, ScopeRule, Toolset, pure_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "repair_ir",
    title: "Repair an e-mail document",
    description: "Mends what a machine can mend in an EmailDocument without changing its words, links or variables: wrong nesting, missing \
        columns, aliases, types, colours, ids, undeclared variables. Gives the repaired document, what was changed, and the issues that \
        are left for you. Repairing twice changes nothing more.",
    toolset: Toolset::Compose,
    permission: Permission::DocumentsUse,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Nothing,
    bucket: None,
    routes: &[Route::post("/v1/documents/repair")],
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
}

/// One change.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Applied {
    /// Where, in the document as it was given.
    path: String,
    /// Name of the rule.
    code: &'static str,
    /// What became what.
    change: String,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Whether the repaired document has no error.
    ok: bool,
    /// The repaired document, in canonical form.
    document: serde_json::Map<String, Value>,
    /// What was changed, in order.
    applied: Vec<Applied>,
    /// What is left.
    issues: Vec<Issue>,
}

fn run(input: Input) -> Result<Output, Failure> {
    let repaired = compose::repair(composing::given(&input.document));
    let document = match repaired.document {
        Value::Object(document) if !repaired.unusable => document,
        // JSON that is no object is an answer with an issue, as for a check.
        _ if !repaired.unusable => serde_json::Map::new(),
        _ => return Err(composing::unusable("document", repaired.issues)),
    };
    Ok(Output {
        ok: repaired.ok,
        document,
        applied: repaired
            .applied
            .into_iter()
            .map(|change| Applied {
                path: change.path,
                code: change.code,
                change: change.change,
            })
            .collect(),
        issues: composing::shown(repaired.issues),
    })
}
