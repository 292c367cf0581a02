//! `check_ir`: what is wrong with a document.

use postroom_compose::{self as compose, lint};
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
    name: "check_ir",
    title: "Check an e-mail document",
    description: "Says everything that is wrong with an EmailDocument (schema: resource ir://schema/v2): grammar, types, ids, variables, links, \
        colours, accessibility, dark mode, Outlook, size, subject. Each issue names its place and how to put it right; those with fix \
        `repair_ir` that tool puts right. Check every draft before compile_ir; warnings do not stop it.",
    toolset: Toolset::Compose,
    permission: Permission::DocumentsUse,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Nothing,
    bucket: None,
    routes: &[Route::post("/v1/documents/check")],
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
    /// The EmailDocument: an object or its JSON text; ids may be left out.
    document: Value,
    /// Mail programs whose support is looked up: `gmail`, `outlook.windows`, `all`; Gmail, Outlook and Apple Mail when left out.
    #[schemars(length(max = 48))]
    clients: Option<Vec<String>>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Whether nothing is an error.
    ok: bool,
    /// Errors first, then warnings, then what is worth knowing; at most 200.
    issues: Vec<Issue>,
}

fn run(input: Input) -> Result<Output, Failure> {
    let clients = composing::checked_clients(input.clients)?;
    let checked = compose::check_with(
        composing::given(&input.document),
        &lint::Options { clients },
    );
    if checked.unusable {
        return Err(composing::unusable("document", checked.issues));
    }
    Ok(Output {
        ok: checked.ok,
        issues: composing::shown(checked.issues),
    })
}
