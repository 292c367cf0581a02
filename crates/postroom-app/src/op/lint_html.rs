//! `lint_html`: what mail programs will make of HTML that was written elsewhere.

use postroom_compose::{
    lint::{self, Foreign, Options},
    model::Kind,
};
use postroom_types::{Dialect, Level, Permission};

use super::composing::{self, Issue};
use crate::{
    Failure,
    operation::{Annotations, Operation, Route, ScopeRule, Toolset, pure_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "lint_html",
    title: "Check HTML of a mail",
    description: "Says what mail programs, filters and readers will make of HTML that was not compiled here: accessibility, dark mode, Outlook, \
        size, links, pictures, what clients do not support. Nothing is fetched. The codes are those of check_ir.",
    toolset: Toolset::Authoring,
    permission: Permission::DocumentsUse,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Nothing,
    bucket: None,
    routes: &[Route::post("/v1/documents/lint")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Events,
    errors: &[],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: pure_handler!(run),
};

/// What a mail is for.
#[derive(Debug, Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Purpose {
    Transactional,
    Marketing,
    Notification,
    Personal,
}

impl From<Purpose> for Kind {
    fn from(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Transactional => Self::Transactional,
            Purpose::Marketing => Self::Marketing,
            Purpose::Notification => Self::Notification,
            Purpose::Personal => Self::Personal,
        }
    }
}

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The HTML.
    #[schemars(length(max = 1_048_576))]
    html: String,
    /// Its subject, when it is known.
    #[schemars(length(max = 998))]
    subject: Option<String>,
    /// Its preview line, when it is known.
    #[schemars(length(max = 998))]
    preheader: Option<String>,
    /// What it is for; marketing needs a way to unsubscribe.
    kind: Option<Purpose>,
    /// Mail programs whose support is looked up; Gmail, Outlook and Apple Mail when left out.
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
    let mail = Foreign {
        html: &input.html,
        subject: input.subject.as_deref(),
        preheader: input.preheader.as_deref(),
        kind: input.kind.map(Kind::from),
    };
    let issues = lint::html(&mail, &Options { clients });
    Ok(Output {
        ok: !issues.iter().any(postroom_compose::Issue::is_error),
        issues: composing::shown(issues),
    })
}
