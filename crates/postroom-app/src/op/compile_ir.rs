//! `compile_ir`: a document becomes HTML, MJML, text or a whole mail.

use postroom_compose::{
    self as compose,
    emit::{Envelope, Options},
};
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
    name: "compile_ir",
    title: "Compile an e-mail document",
    description: "Turns an EmailDocument into HTML that mail programs show well, into MJML, plain text, canonical JSON or a whole mail. \
        `variables` says how the sending system writes variables (liquid, handlebars, jinja2 and others); without it the samples of the \
        document stand in. With errors it gives no code: check_ir and repair_ir first.",
    toolset: Toolset::Compose,
    permission: Permission::DocumentsUse,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Nothing,
    bucket: None,
    routes: &[Route::post("/v1/documents/compile")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Events,
    errors: &[],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: pure_handler!(run),
};

/// What a document is compiled into.
#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Target {
    Mjml,
    #[default]
    Html,
    Text,
    Json,
    Eml,
}

impl Target {
    fn name(&self) -> &'static str {
        match self {
            Self::Mjml => "mjml",
            Self::Html => "html",
            Self::Text => "text",
            Self::Json => "json",
            Self::Eml => "eml",
        }
    }
}

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The EmailDocument: an object or its JSON text.
    document: Value,
    /// What it becomes.
    #[serde(default)]
    target: Target,
    /// The template language of the sending system: jinja2, liquid, handlebars, sendgrid, mustache, postmark, go, erb, mailchimp, klaviyo, or
    /// none.
    #[schemars(regex(
        pattern = r"^(jinja2|liquid|handlebars|sendgrid|mustache|postmark|go|erb|mailchimp|klaviyo|none)$"
    ))]
    variables: Option<String>,
    /// Of HTML only what stands inside the body.
    #[serde(default)]
    fragment: bool,
    /// Leave out what only classic Outlook reads.
    #[serde(default)]
    without_mso: bool,
    /// Compile the repaired copy although errors stand.
    #[serde(default)]
    force: bool,
    /// `From` of a whole mail.
    #[schemars(length(max = 998))]
    from: Option<String>,
    /// `To` of a whole mail.
    #[schemars(length(max = 998))]
    to: Option<String>,
}

/// Figures of a result.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct Stats {
    /// Bytes of the result.
    bytes: usize,
    /// How much of what Gmail shows it takes up, in percent.
    clip_percent: usize,
    /// Pictures in it.
    images: usize,
    /// Links in it.
    links: usize,
    /// Words that a reader sees.
    words: usize,
}

/// Which bytes came from which block.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct SourceSpan {
    /// Id of the block.
    block_id: String,
    /// First byte.
    start: usize,
    /// Byte after the last.
    end: usize,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Whether the code is whole.
    ok: bool,
    /// What the code is written in: the target's name.
    language: &'static str,
    /// The result; empty while an error stands.
    code: String,
    /// Errors first, then warnings, then what is worth knowing.
    issues: Vec<Issue>,
    /// Subject line, in the dialect.
    subject: String,
    /// Preview line, in the dialect.
    preheader: String,
    /// The same as plain text, beside html, mjml and eml.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Figures of the result.
    stats: Stats,
    /// Which bytes of the code came from which block.
    source_map: Vec<SourceSpan>,
}

fn run(input: Input) -> Result<Output, Failure> {
    let target = composing::target(input.target.name())?;
    let options = Options {
        target,
        dialect: composing::dialect(input.variables.as_deref())?,
        fragment: input.fragment,
        mso: !input.without_mso,
        envelope: Envelope {
            from: input.from,
            to: input.to,
            ..Envelope::default()
        },
        ..Options::default()
    };
    let made = compose::compile(composing::given(&input.document), &options, input.force);
    if made.unusable {
        return Err(composing::unusable("document", made.issues));
    }
    let result = made.compiled;
    Ok(Output {
        ok: made.ok,
        language: target.name(),
        code: result.code,
        issues: composing::shown(made.issues),
        subject: result.subject,
        preheader: result.preheader,
        text: result.text,
        stats: Stats {
            bytes: result.stats.bytes,
            clip_percent: result.stats.clip_percent,
            images: result.stats.images,
            links: result.stats.links,
            words: result.stats.words,
        },
        source_map: result
            .source_map
            .into_iter()
            .map(|span| SourceSpan {
                block_id: span.block_id,
                start: span.start,
                end: span.end,
            })
            .collect(),
    })
}
