//! Values, in a dialect or as the samples have them.

use serde_json::Value as Json;

use super::{Flow, Sink};
use crate::{
    Code, Issue,
    dialect::{self, Context, Logic, Syntax, UNSUBSCRIBE, Value, filtered, is_simple, is_truthy},
    emit::escape,
    model::{Filter, VariableType, VariableUse},
};

impl Flow<'_> {
    /// Writes a variable's value.
    pub(in crate::emit) fn value<S: Sink>(
        &mut self,
        sink: &mut S,
        used: &VariableUse,
        context: Context,
    ) {
        let kind = self.scope.kind(&used.path);
        let Some(syntax) = self.syntax else {
            let text = self.sample(used, kind, context);
            sink.tag(&text);
            return;
        };
        let mut value = Value {
            path: &used.path,
            kind,
            default: None,
            filter: used.filter.as_ref(),
            context,
            in_query: self.in_query,
        };
        let default = used
            .default
            .as_deref()
            .filter(|default| !default.is_empty());
        let Some(default) = default else {
            self.tag_of(sink, syntax, &value);
            return;
        };
        if is_simple(default) && syntax.takes_default(&value) {
            value.default = Some(default);
            self.tag_of(sink, syntax, &value);
            return;
        }
        let stand_in = default_text(default, used.filter.as_ref());
        let stand_in = placed(&stand_in, context);
        self.when(
            sink,
            &Logic::exists(&used.path),
            &|flow, sink| flow.tag_of(sink, syntax, &value),
            Some(&|_, sink: &mut S| sink.literal(&stand_in)),
        );
    }

    fn tag_of<S: Sink>(&mut self, sink: &mut S, syntax: &dyn Syntax, value: &Value<'_>) {
        if matches!(value.context, Context::Url | Context::PlainUrl) {
            self.unchecked(value.path);
        }
        if value.context == Context::Line {
            self.line_ends(syntax, value);
        }
        let written = match self.shadowed(value.path) {
            Some(refusal) => Err(refusal),
            None => syntax.value(value, &self.frames),
        };
        match written {
            Ok(tag) => sink.tag(&tag),
            Err(refusal) => self.refuse(&refusal),
        }
    }

    /// Tells of a value in the subject or preview line whose line ends the language cannot take out.
    fn line_ends(&mut self, syntax: &dyn Syntax, value: &Value<'_>) {
        let plain = Value {
            context: Context::Plain,
            ..*value
        };
        let one_word = matches!(
            value.kind,
            Some(VariableType::Number | VariableType::Bool | VariableType::Date)
        );
        let same = syntax.value(value, &self.frames) == syntax.value(&plain, &self.frames);
        if one_word || !same {
            return;
        }
        let message = format!(
            "{} cannot take line ends out of `{}` in the subject or preview line: the sender has to give a value on one line.",
            self.dialect.name(),
            value.path
        );
        self.tell(Issue::new(Code::DialectLineEnds, self.source, message));
    }

    /// Tells of an address that begins with a variable, and of the one for unsubscribing that the
    /// document leaves to the sender.
    fn unchecked(&mut self, path: &str) {
        let mut declared = self.document.variables.iter();
        let message = if path == UNSUBSCRIBE && !declared.any(|variable| variable.name == path) {
            format!(
                "Where readers unsubscribe is the variable `{path}`, which the document does not declare: the sender has to give an address."
            )
        } else {
            format!("`{path}` begins an address, and its scheme is whatever the sender puts in.")
        };
        self.tell(Issue::new(Code::VarUrlUnchecked, self.source, message));
    }

    fn sample(&self, used: &VariableUse, kind: Option<VariableType>, context: Context) -> String {
        let value = self.find(&used.path);
        if let (false, Some(default)) = (is_truthy(value.as_ref()), &used.default) {
            return placed(&default_text(default, used.filter.as_ref()), context);
        }
        let text = dialect::print(value.as_ref());
        let text = match &value {
            Some(value) => filtered(&text, value, used.filter.as_ref()),
            None => text,
        };
        if kind == Some(VariableType::Html) && context == Context::Text {
            return text;
        }
        if context == Context::Url && !escape::is_safe_url(&text) {
            return "#".to_owned();
        }
        let already = matches!(used.filter, Some(Filter::UrlEncode));
        if already && context.is_part() {
            text
        } else {
            placed(&text, context)
        }
    }
}

/// A default after the filters that work on any text.
fn default_text(default: &str, filter: Option<&Filter>) -> String {
    match filter {
        Some(Filter::Date(_) | Filter::Number(_) | Filter::Money(_) | Filter::UrlEncode) | None => {
            default.to_owned()
        }
        filter => filtered(default, &Json::from(default), filter),
    }
}

/// Text escaped for its place.
fn placed(text: &str, context: Context) -> String {
    match context {
        Context::Text => escape::text(text),
        Context::Attribute | Context::Url => escape::attribute(text),
        Context::UrlPart | Context::PlainUrlPart => dialect::encode(text),
        Context::Plain | Context::PlainUrl => text.to_owned(),
        Context::Line => text.replace("\r\n", " ").replace(['\r', '\n'], " "),
    }
}
