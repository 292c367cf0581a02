//! Targets: what a document becomes.
//!
//! A document goes through one emitter whatever the target: blocks become MJML components
//! ([`component`]) whose strings are already escaped and in the dialect, and those are printed as
//! MJML or made into HTML by a [`crate::backend::HtmlBackend`]. Plain text is made from the blocks.

mod aligned;
mod body;
mod budget;
mod buttons;
mod columns;
pub mod component;
mod eml;
mod escape;
mod flow;
mod go_comments;
mod inline;
mod leaves;
mod links;
mod lists;
mod look;
mod mjml;
mod pictures;
mod plain;
mod runs;
mod size;
pub(crate) mod source;
mod stats;

use std::cell::RefCell;

use crate::{
    Issue,
    backend::{HtmlBackend, Tables},
    dialect::{Context, Dialect, Host, UNSUBSCRIBE, sample_data},
    issue,
    model::{BlockKind, Document, Marks, VariableUse},
};

use body::Emitter;
use component::Page;
use flow::Flow;
use inline::Html;

pub use eml::Envelope;
pub(crate) use look::lacks_safe_font;
pub(crate) use size::html_at_most;
pub use source::{Output, SourceSpan};
pub use stats::Stats;

/// Characters that a preview line fills, so that nothing of the mail's text follows it.
const PREVIEW_CHARS: usize = 200;

/// What a document is compiled into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Target {
    /// MJML 5.
    Mjml,
    /// A page of HTML for mail programs.
    #[default]
    Html,
    /// Plain text.
    Text,
    /// The document itself in canonical form.
    Json,
    /// A whole mail with HTML and text (RFC 5322).
    Eml,
}

impl Target {
    /// Every target with its name.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("mjml", Self::Mjml),
        ("html", Self::Html),
        ("text", Self::Text),
        ("json", Self::Json),
        ("eml", Self::Eml),
    ];

    /// The target of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, target)| *target)
    }

    /// Its name, which is also the language of what it gives.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, target)| *target == self);
        found.map_or("html", |(name, _)| name)
    }
}

/// What Outlook on Windows shows behind words that other programs show a picture behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutlookBackground {
    /// The picture, drawn by VML, in which padding comes out otherwise.
    #[default]
    Picture,
    /// The colour only, and padding as it is stated.
    Color,
}

/// How a document is compiled.
#[derive(Debug, Clone)]
pub struct Options {
    /// Into what.
    pub target: Target,
    /// How variables are written.
    pub dialect: Dialect,
    /// What is known of the system that fills the template in.
    pub host: Host,
    /// Of HTML only what stands inside the body.
    pub fragment: bool,
    /// With what only classic Outlook reads.
    pub mso: bool,
    /// What classic Outlook shows behind words of HTML that have a picture behind them. MJML says it
    /// to its own compiler, which draws the picture.
    pub outlook_background: OutlookBackground,
    /// Header fields of the target `eml`.
    pub envelope: Envelope,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            target: Target::Html,
            dialect: Dialect::None,
            host: Host::default(),
            fragment: false,
            mso: true,
            outlook_background: OutlookBackground::Picture,
            envelope: Envelope::default(),
        }
    }
}

/// What a document became.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compiled {
    /// The result; with an error among the issues it lacks what could not be said.
    pub code: String,
    /// Subject line in the dialect.
    pub subject: String,
    /// Preview line in the dialect.
    pub preheader: String,
    /// The same as plain text; for the targets `html`, `mjml` and `eml`.
    pub text: Option<String>,
    /// Figures of the result.
    pub stats: Stats,
    /// Which bytes of `code` came from which block; for `html` and `mjml`.
    pub source_map: Vec<SourceSpan>,
    /// What the dialect cannot say, and what it says otherwise.
    pub issues: Vec<Issue>,
}

impl Compiled {
    /// Whether nothing was left out.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.issues.iter().any(Issue::is_error)
    }
}

/// Compiles a document. The same document and options give the same bytes.
#[must_use]
pub fn compile(document: &Document, options: &Options) -> Compiled {
    compile_with(document, options, &Tables)
}

/// The same with another backend for HTML.
#[must_use]
pub fn compile_with(document: &Document, options: &Options, backend: &dyn HtmlBackend) -> Compiled {
    let data = sample_data(document);
    let syntax = options.dialect.syntax(&options.host);
    let mut flow = Flow::new(document, options.dialect, syntax.as_deref(), &data);
    let subject = plain::line(&mut flow, &document.meta.subject);
    let preheader = plain::line(&mut flow, &document.meta.preheader);
    let trusted = |page: Output| {
        if options.dialect == Dialect::Go && options.host.html_template {
            go_comments::trusted(page)
        } else {
            page
        }
    };
    let html = |flow: &mut Flow<'_>| {
        let page = page(flow, options);
        trusted(if options.fragment {
            backend.fragment(&page)
        } else {
            backend.page(&page)
        })
    };
    let (code, text) = match options.target {
        Target::Html => (html(&mut flow), Some(plain::document(&mut flow))),
        Target::Mjml => (
            mjml::print(&page(&mut flow, options)),
            Some(plain::document(&mut flow)),
        ),
        Target::Text => (bare(plain::document(&mut flow)), None),
        Target::Json => (bare(format!("{:#}\n", document.json())), None),
        Target::Eml => {
            for issue in options.envelope.issues(&document.meta.source) {
                flow.tell(issue);
            }
            let (html, text) = (
                trusted(backend.page(&page(&mut flow, options))),
                plain::document(&mut flow),
            );
            let mail = eml::write(&options.envelope, &subject, &text, &html.text);
            (bare(mail), Some(text))
        }
    };
    let stats = Stats::of(options.target, &code.text, text.as_deref());
    Compiled {
        subject,
        preheader,
        text,
        stats,
        source_map: code.spans,
        code: code.text,
        issues: issue::ordered(flow.issues),
    }
}

fn bare(text: String) -> Output {
    Output {
        text,
        spans: Vec::new(),
    }
}

/// The document as components.
fn page<'a>(flow: &mut Flow<'a>, options: &Options) -> Page {
    let mso = options.mso;
    flow.renew();
    let document = flow.document;
    let shared = RefCell::new(Emitter::new(flow, mso));
    // Classes and widths come from all of the document, so that style sheets are the same in every
    // dialect and for every list.
    let every = chooses(document).then(|| body::body(&mut flow.silent(), &shared));
    let body = body::body(flow, &shared);
    let title = body::title(flow);
    let preview = preview(flow);
    let mut emitter = shared.into_inner();
    let background = emitter.dark.class("pr-bg");
    let class = emitter.classes([background]);
    let used = |name: &str| emitter.classes.contains(name);
    let (mut styles, head) = look::head(document, &emitter.dark, mso, &used);
    styles.extend(look::gradients(&emitter.gradients));
    Page {
        lang: document
            .lang()
            .map_or_else(|| "und".to_owned(), escape::attribute),
        dir: match document.meta.dir {
            crate::model::Direction::Ltr => "ltr",
            crate::model::Direction::Rtl => "rtl",
        },
        title,
        preview,
        styles,
        head,
        width: document.theme.width,
        background: document.theme.background.to_string(),
        class,
        mso,
        vml_pictures: options.outlook_background == OutlookBackground::Picture,
        body,
        every,
        blocks: emitter.blocks,
    }
}

/// Whether some block shows only sometimes, or more than once.
fn chooses(document: &Document) -> bool {
    let mut found = false;
    document.walk(&mut |block| {
        found |= block.visible_if.is_some()
            || matches!(block.kind, BlockKind::If(_) | BlockKind::Each(_));
    });
    found
}

/// The preview line, filled up with blanks of no width so that mail programs show nothing else.
fn preview<'a>(flow: &mut Flow<'a>) -> String {
    let document = flow.document;
    let words = inline::words(flow, &document.meta.preheader, Context::Text);
    if words.is_empty() {
        return words;
    }
    let len = document.meta.preheader.plain().chars().count();
    let mut preview = words;
    for _ in 0..PREVIEW_CHARS.saturating_sub(len).div_ceil(3) {
        preview.push_str("&#847;&zwnj;&nbsp;\n");
    }
    preview
}

/// Where readers unsubscribe when neither the document nor the sender's system says: a variable.
fn unsubscribe_stand_in(flow: &mut Flow<'_>, context: Context) -> String {
    let used = VariableUse {
        path: UNSUBSCRIBE.to_owned(),
        default: None,
        filter: None,
        marks: Marks::default(),
    };
    let mut html = Html::default();
    flow.value(&mut html, &used, context);
    html.out
}
