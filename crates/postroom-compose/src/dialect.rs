//! Template languages of senders: how a variable, a condition and a loop are written in each.
//!
//! Nothing here sees a document; [`crate::emit`] asks for one tag at a time and says in which place
//! it will stand. What a language cannot say is a [`Refusal`], never silent text.

mod erb;
mod facts;
mod format;
mod frames;
mod go;
mod handlebars;
mod host;
mod jinja;
mod liquid;
mod logic;
mod mailchimp;
mod mustache;
mod sample;

use crate::model::{Filter, VariableType};

pub use facts::{Facts, facts};
pub(crate) use format::{encode, filtered, is_date, is_date_pattern, money};
pub(crate) use frames::{Frame, Frames, Reference};
pub use host::{Helper, Host};
pub(crate) use logic::{Atom, Logic, Test};
pub use sample::sample_data;
pub(crate) use sample::{UNSUBSCRIBE, holds, is_truthy, lookup, print};

/// A template language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// Jinja2, and what is like it.
    Jinja2,
    /// Liquid.
    Liquid,
    /// Handlebars.
    Handlebars,
    /// Dynamic templates of SendGrid.
    SendGrid,
    /// Mustache.
    Mustache,
    /// Templates of Postmark (Mustachio).
    Postmark,
    /// `text/template` of Go.
    Go,
    /// ERB of Ruby.
    Erb,
    /// Merge tags of Mailchimp.
    Mailchimp,
    /// Klaviyo, which is like Django.
    Klaviyo,
    /// None: values are the samples.
    #[default]
    None,
}

impl Dialect {
    /// Every dialect with its name.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("jinja2", Self::Jinja2),
        ("liquid", Self::Liquid),
        ("handlebars", Self::Handlebars),
        ("sendgrid", Self::SendGrid),
        ("mustache", Self::Mustache),
        ("postmark", Self::Postmark),
        ("go", Self::Go),
        ("erb", Self::Erb),
        ("mailchimp", Self::Mailchimp),
        ("klaviyo", Self::Klaviyo),
        ("none", Self::None),
    ];

    /// The dialect of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, dialect)| *dialect)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, dialect)| *dialect == self);
        found.map_or("none", |(name, _)| name)
    }

    /// How it is written for a host; `None` for [`Dialect::None`], which is no language.
    pub(crate) fn syntax(self, host: &Host) -> Option<Box<dyn Syntax>> {
        Some(match self {
            Self::Jinja2 => Box::new(jinja::JINJA),
            Self::Klaviyo => Box::new(jinja::DJANGO),
            Self::Liquid => Box::new(liquid::Liquid::of(host)),
            Self::Handlebars => Box::new(handlebars::Handlebars::of(host)),
            Self::SendGrid => Box::new(handlebars::Handlebars::sendgrid()),
            Self::Mustache => Box::new(mustache::MUSTACHE),
            Self::Postmark => Box::new(mustache::POSTMARK),
            Self::Go => Box::new(go::Go::of(host)),
            Self::Erb => Box::new(erb::Erb::of(host)),
            Self::Mailchimp => Box::new(mailchimp::Mailchimp::of(host)),
            Self::None => return None,
        })
    }

    /// The sender's own token for the address where readers unsubscribe.
    #[must_use]
    pub fn unsubscribe_token(self) -> Option<&'static str> {
        match self {
            Self::SendGrid => Some("<%asm_group_unsubscribe_raw_url%>"),
            Self::Postmark => Some("{{{ pm:unsubscribe }}}"),
            Self::Mailchimp => Some("*|UNSUB|*"),
            Self::Klaviyo => Some("{% unsubscribe_link %}"),
            _ => None,
        }
    }
}

/// What a tag's value will stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Context {
    /// Between HTML tags.
    Text,
    /// In a double-quoted HTML attribute.
    Attribute,
    /// At the start of a URL in such an attribute.
    Url,
    /// Later in such a URL.
    UrlPart,
    /// At the start of a URL in plain text.
    PlainUrl,
    /// Later in such a URL.
    PlainUrlPart,
    /// In plain text, where nothing is escaped.
    Plain,
    /// The same in a subject or preview line, where the line ends of a value become blanks: one in
    /// a header field would begin another.
    Line,
}

impl Context {
    /// Whether HTML is around.
    pub(crate) fn is_html(self) -> bool {
        !matches!(
            self,
            Self::Plain | Self::Line | Self::PlainUrl | Self::PlainUrlPart
        )
    }

    /// Whether values have to be percent-encoded.
    pub(crate) fn is_part(self) -> bool {
        matches!(self, Self::UrlPart | Self::PlainUrlPart)
    }
}

/// A variable to be written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'a> {
    pub(crate) path: &'a str,
    /// `None` when it is not known.
    pub(crate) kind: Option<VariableType>,
    /// Only words that need no escaping anywhere ([`is_simple`]); others become a branch.
    pub(crate) default: Option<&'a str>,
    pub(crate) filter: Option<&'a Filter>,
    pub(crate) context: Context,
    /// It stands in the query of a web address, where `+` means a blank.
    pub(crate) in_query: bool,
}

impl Value<'_> {
    /// What is written before an amount of money, escaped for its place.
    fn sign(&self) -> String {
        match self.filter {
            Some(Filter::Money(currency)) if self.context.is_part() => encode(&money(currency).0),
            Some(Filter::Money(currency)) => money(currency).0,
            _ => String::new(),
        }
    }

    /// Decimals that it is rounded to and whether thousands are set apart, when it is a number to
    /// be written.
    fn decimals(&self) -> Option<(usize, bool)> {
        match self.filter? {
            Filter::Number(pattern) => Some(format::number_pattern(pattern)),
            Filter::Money(currency) => Some((money(currency).1, false)),
            _ => None,
        }
    }

    /// Whether line ends that it may have must become blanks.
    fn is_on_line(&self) -> bool {
        let without = matches!(self.kind, Some(VariableType::Number | VariableType::Bool))
            || matches!(
                self.filter,
                Some(Filter::Number(_) | Filter::Money(_) | Filter::Date(_) | Filter::UrlEncode)
            );
        self.context == Context::Line && !without
    }

    /// Whether it is HTML that the sender trusts, in a place that takes it.
    fn is_trusted(&self) -> bool {
        self.kind == Some(VariableType::Html) && self.context == Context::Text
    }
}

/// The tags of a branch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Branch {
    pub(crate) open: String,
    /// Between the branches.
    pub(crate) middle: String,
    pub(crate) close: String,
    /// What is shown when the condition does not hold comes first.
    pub(crate) swapped: bool,
    /// Another pair of tags is around the second branch, instead of `middle`.
    pub(crate) second: Option<(String, String)>,
    /// Paths inside the first branch are relative to the value tested.
    pub(crate) enters: bool,
}

/// The tags of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) open: String,
    /// Between the body and what shows when the list is empty.
    pub(crate) middle: String,
    /// After that; stands in place of `middle` and itself when nothing shows then.
    pub(crate) close: String,
    /// End of a loop without such a part.
    pub(crate) end: String,
}

/// What a language cannot say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal(pub(crate) String);

/// What stands right beside a text: a tag, or more text and the ends of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Borders {
    /// A tag ends where the text begins.
    pub(crate) after_tag: bool,
    /// A tag begins where the text ends.
    pub(crate) before_tag: bool,
}

/// How a language is written.
pub(crate) trait Syntax: Sync {
    /// A variable's value.
    fn value(&self, value: &Value<'_>, frames: &Frames) -> Result<String, Refusal>;

    /// A condition's tags; `None` when it has to be taken apart first.
    fn branch(&self, logic: &Logic, frames: &Frames) -> Result<Option<Branch>, Refusal>;

    /// Tags of a loop over `list` whose element is called `name`.
    fn each(&self, list: &str, name: &str, frames: &Frames) -> Result<Loop, Refusal>;

    /// Plain text so that nothing of it is a tag, given what stands beside it.
    fn literal(&self, text: &str, borders: Borders) -> String;

    /// What has to stand where a template, a branch or a loop begins with values that are put in
    /// as they are, one right after the other; nothing in most languages.
    fn before_values(&self) -> &'static str {
        ""
    }

    /// Whether a tag that is alone on its line takes the line's end with it.
    fn takes_lines(&self) -> bool {
        false
    }

    /// Whether a default can stand in the tag itself.
    fn takes_default(&self, value: &Value<'_>) -> bool;
}

/// Writes nothing and takes everything: to see all of a document once, whatever would show.
pub(crate) struct Silent;

impl Syntax for Silent {
    fn value(&self, _: &Value<'_>, _: &Frames) -> Result<String, Refusal> {
        Ok(String::new())
    }

    fn branch(&self, _: &Logic, _: &Frames) -> Result<Option<Branch>, Refusal> {
        Ok(Some(Branch::default()))
    }

    fn each(&self, _: &str, _: &str, _: &Frames) -> Result<Loop, Refusal> {
        Ok(Loop {
            open: String::new(),
            middle: String::new(),
            close: String::new(),
            end: String::new(),
        })
    }

    fn literal(&self, text: &str, _: Borders) -> String {
        text.to_owned()
    }

    fn takes_default(&self, _: &Value<'_>) -> bool {
        false
    }
}

/// Refuses a path that begins with a word that the language keeps for itself.
fn refuse_reserved(path: &str, words: &[&str]) -> Result<(), Refusal> {
    let head = path.split('.').next().unwrap_or(path);
    if words.contains(&head) {
        return Err(Refusal(format!(
            "a variable called `{head}`, which is a word of the language"
        )));
    }
    Ok(())
}

/// Whether words need no escaping in any language or place.
pub(crate) fn is_simple(words: &str) -> bool {
    let plain =
        |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | ',' | '-' | '!' | '?' | ':');
    !words.is_empty() && words.chars().all(plain)
}

/// What numbers are multiplied with before they are rounded, so that a half of decimal digits, which
/// is a little less as a double, is one (`2.675`).
const NUDGE: &str = "1.0000000000000004";

/// Keeps two characters apart without being seen (word joiner), in languages that cannot say a
/// brace.
const JOINER: char = '\u{2060}';

/// `text` with every one of `marks` replaced, the first that fits, and before a tag the `end` of the
/// text.
fn guarded(text: &str, marks: &[(&str, &str)], end: (&str, &str), borders: Borders) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        if let Some((mark, safe)) = marks.iter().find(|(mark, _)| rest.starts_with(mark)) {
            out.push_str(safe);
            rest = rest.get(mark.len()..).unwrap_or_default();
        } else if borders.before_tag && rest == end.0 {
            out.push_str(end.1);
            rest = "";
        } else {
            let mut chars = rest.chars();
            out.extend(chars.next());
            rest = chars.as_str();
        }
    }
    out
}

/// The same for languages that have no way to say a brace: no two stand together, and none beside a
/// tag.
fn joined(text: &str, borders: Borders) -> String {
    let mut out = String::with_capacity(text.len());
    if borders.after_tag && text.starts_with('}') {
        out.push(JOINER);
    }
    for c in text.chars() {
        if c == '{' && out.ends_with('{') {
            out.push(JOINER);
        }
        out.push(c);
    }
    if borders.before_tag && out.ends_with('{') {
        out.push(JOINER);
    }
    out
}
