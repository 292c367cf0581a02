//! Values, conditions and loops, written in a dialect or carried out on the samples.

mod shadow;

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::{
    Code, Issue, Source,
    dialect::{
        self, Atom, Context, Dialect, Frame, Frames, Logic, Refusal, Syntax, Test, UNSUBSCRIBE,
        Value, filtered, is_simple, is_truthy, lookup,
    },
    model::{Condition, Document, Each, Filter, VariableType, VariableUse},
    scope::Scope,
};

use super::{
    budget::{Budget, weight},
    escape,
    runs::Runs,
};

/// Tests of a condition that is taken apart for a language without `and` and `or`; its branches are
/// repeated, at worst once for each.
const APART_MAX: usize = 6;

/// What tags are written into.
pub(super) trait Sink {
    /// Writes a template tag.
    fn tag(&mut self, tag: &str);

    /// Writes words that are escaped for their place, of which nothing may become a tag.
    fn literal(&mut self, words: &str);

    /// Marks a place where another dialect writes a tag, so that what is around it comes out alike.
    fn seam(&mut self) {}

    /// An empty sink of the same kind.
    fn empty(&self) -> Self
    where
        Self: Sized;

    /// Whether nothing was written.
    fn is_empty(&self) -> bool;

    /// Writes what another was written.
    fn append(&mut self, other: Self)
    where
        Self: Sized;
}

/// What is written inside a branch or a loop.
type Body<'f, 'a, S> = &'f dyn Fn(&mut Flow<'a>, &mut S);

/// A loop being carried out.
struct Round<'a> {
    name: &'a str,
    item: &'a Json,
    index: usize,
    len: usize,
}

/// Writes values, conditions and loops.
pub(super) struct Flow<'a> {
    pub(super) document: &'a Document,
    pub(super) dialect: Dialect,
    syntax: Option<&'a dyn Syntax>,
    data: &'a Json,
    rounds: Vec<Round<'a>>,
    frames: Frames,
    scope: Scope,
    /// Where the block being written stands.
    pub(super) source: &'a Source,
    pub(super) issues: Vec<Issue>,
    told: BTreeSet<(String, String)>,
    budget: Budget,
    /// What is written stands in the query of a web address.
    pub(super) in_query: bool,
}

impl<'a> Flow<'a> {
    /// `syntax` is how `dialect` is written.
    pub(super) fn new(
        document: &'a Document,
        dialect: Dialect,
        syntax: Option<&'a dyn Syntax>,
        data: &'a Json,
    ) -> Self {
        Self {
            document,
            dialect,
            syntax,
            data,
            rounds: Vec::new(),
            frames: Frames::default(),
            scope: Scope::of(document),
            source: &document.meta.source,
            issues: Vec::new(),
            told: BTreeSet::new(),
            budget: Budget::default(),
            in_query: false,
        }
    }

    /// The same document, all of it once and without tags.
    pub(super) fn silent(&self) -> Self {
        Self::new(
            self.document,
            Dialect::None,
            Some(&dialect::Silent),
            self.data,
        )
    }

    /// Begins another result of the same document.
    pub(super) fn renew(&mut self) {
        self.budget = Budget::default();
    }

    /// Tells of something once for each place.
    pub(super) fn tell(&mut self, issue: Issue) {
        if self
            .told
            .insert((issue.path.clone(), issue.message.clone()))
        {
            self.issues.push(issue);
        }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        let message = format!("{} cannot say this: {}.", self.dialect.name(), refusal.0);
        self.tell(Issue::new(Code::DialectUnsupported, self.source, message));
    }

    /// Plain text as the dialect has to have it.
    pub(super) fn written(&self, runs: Runs) -> String {
        runs.written(self.syntax)
    }

    fn find(&self, path: &str) -> Option<Json> {
        let (head, rest) = path.split_once('.').unwrap_or((path, ""));
        let Some(round) = self.rounds.iter().rev().find(|round| round.name == head) else {
            return lookup(self.data, path).cloned();
        };
        match rest {
            "index" => Some(Json::from(round.index + 1)),
            "first" => Some(Json::from(round.index == 0)),
            "last" => Some(Json::from(round.index + 1 == round.len)),
            rest => lookup(round.item, rest).cloned(),
        }
    }

    /// Writes a variable's value.
    pub(super) fn value<S: Sink>(&mut self, sink: &mut S, used: &VariableUse, context: Context) {
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
        let written = match self.shadowed(value.path) {
            Some(refusal) => Err(refusal),
            None => syntax.value(value, &self.frames),
        };
        match written {
            Ok(tag) => sink.tag(&tag),
            Err(refusal) => self.refuse(&refusal),
        }
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

    /// Writes what depends on a condition.
    pub(super) fn branch<S: Sink>(
        &mut self,
        sink: &mut S,
        condition: &Condition,
        then: Body<'_, 'a, S>,
        otherwise: Option<Body<'_, 'a, S>>,
    ) {
        self.when(sink, &Logic::of(condition), then, otherwise);
    }

    fn when<S: Sink>(
        &mut self,
        sink: &mut S,
        logic: &Logic,
        then: Body<'_, 'a, S>,
        otherwise: Option<Body<'_, 'a, S>>,
    ) {
        let known = match logic {
            Logic::Constant(value) => Some(*value),
            logic if self.syntax.is_none() => Some(dialect::holds(logic, &|path| self.find(path))),
            _ => None,
        };
        if let Some(holds) = known {
            let has_tags = !matches!(logic, Logic::Constant(_));
            if has_tags {
                sink.seam();
            }
            if holds {
                then(self, sink);
            } else if let Some(otherwise) = otherwise {
                otherwise(self, sink);
            }
            if has_tags {
                sink.seam();
            }
            return;
        }
        let Some(syntax) = self.syntax else { return };
        if let Logic::Atom(atom) = logic
            && let Some(refusal) = self.shadowed(&atom.path)
        {
            self.refuse(&refusal);
            return;
        }
        match syntax.branch(logic, &self.frames) {
            Ok(Some(tags)) => self.tagged(sink, logic, &tags, then, otherwise),
            Ok(None) if logic.len() <= APART_MAX && self.budget.apart() => {
                self.apart(sink, logic, then, otherwise);
            }
            Ok(None) => {
                let message = format!(
                    "a condition of more than {APART_MAX} parts, or more of them than can be taken apart"
                );
                self.refuse(&Refusal(message));
            }
            Err(refusal) => self.refuse(&refusal),
        }
    }

    /// A condition that the language has tags for.
    fn tagged<S: Sink>(
        &mut self,
        sink: &mut S,
        logic: &Logic,
        tags: &dialect::Branch,
        then: Body<'_, 'a, S>,
        otherwise: Option<Body<'_, 'a, S>>,
    ) {
        let nothing: Body<'_, 'a, S> = &|_, _| {};
        let otherwise = otherwise.unwrap_or(nothing);
        let (first, second) = if tags.swapped {
            (otherwise, then)
        } else {
            (then, otherwise)
        };
        let mut inside = sink.empty();
        let entered = match logic {
            Logic::Atom(atom) if tags.enters => Some(Frame::Section(atom.path.clone())),
            _ => None,
        };
        let enters = entered.is_some();
        self.frames.0.extend(entered);
        first(self, &mut inside);
        if enters {
            self.frames.0.pop();
        }
        let mut outside = sink.empty();
        second(self, &mut outside);
        if let Some((open, close)) = &tags.second {
            if !inside.is_empty() {
                if self.is_list(logic) {
                    let list = "whether a list holds something (what follows would be repeated)";
                    self.refuse(&Refusal(list.to_owned()));
                }
                sink.tag(&tags.open);
                sink.append(inside);
                sink.tag(&tags.close);
            }
            if !outside.is_empty() {
                sink.tag(open);
                sink.append(outside);
                sink.tag(close);
            }
            return;
        }
        sink.tag(&tags.open);
        sink.append(inside);
        if !outside.is_empty() {
            sink.tag(&tags.middle);
            sink.append(outside);
        }
        sink.tag(&tags.close);
    }

    fn is_list(&self, logic: &Logic) -> bool {
        match logic {
            Logic::Atom(Atom {
                path,
                test: Test::Exists | Test::Empty,
            }) => self.scope.kind(path) == Some(VariableType::List),
            _ => false,
        }
    }

    /// A condition that the language has no tags for, as one branch inside another.
    fn apart<S: Sink>(
        &mut self,
        sink: &mut S,
        logic: &Logic,
        then: Body<'_, 'a, S>,
        otherwise: Option<Body<'_, 'a, S>>,
    ) {
        let (parts, all) = match logic {
            Logic::All(parts) => (parts, true),
            Logic::Any(parts) => (parts, false),
            Logic::Atom(_) | Logic::Constant(_) => {
                self.refuse(&Refusal("this condition".to_owned()));
                return;
            }
        };
        let Some((first, rest)) = parts.split_first() else {
            return;
        };
        let rest = match (rest, all) {
            ([], value) => Logic::Constant(value),
            ([one], _) => one.clone(),
            (more, true) => Logic::All(more.to_vec()),
            (more, false) => Logic::Any(more.to_vec()),
        };
        let next: Body<'_, 'a, S> = &|flow, sink| flow.when(sink, &rest, then, otherwise);
        if all {
            self.when(sink, first, next, otherwise);
        } else {
            self.when(sink, first, then, Some(next));
        }
    }

    /// Writes what is repeated for a list.
    pub(super) fn each<S: Sink>(
        &mut self,
        sink: &mut S,
        each: &'a Each,
        body: Body<'_, 'a, S>,
        empty: Option<Body<'_, 'a, S>>,
    ) {
        let Some(syntax) = self.syntax else {
            self.rounds_of(sink, each, body, empty);
            return;
        };
        let tags = match self
            .shadowed(&each.list)
            .map_or_else(|| syntax.each(&each.list, &each.name, &self.frames), Err)
        {
            Ok(tags) => tags,
            Err(refusal) => {
                self.refuse(&refusal);
                return;
            }
        };
        sink.tag(&tags.open);
        self.frames.0.push(Frame::Loop {
            name: each.name.clone(),
            list: each.list.clone(),
        });
        self.scope.enter(each);
        body(self, sink);
        self.scope.leave();
        self.frames.0.pop();
        let mut nothing = sink.empty();
        if let Some(empty) = empty {
            empty(self, &mut nothing);
        }
        if nothing.is_empty() {
            sink.tag(&tags.end);
        } else {
            sink.tag(&tags.middle);
            sink.append(nothing);
            sink.tag(&tags.close);
        }
    }

    fn rounds_of<S: Sink>(
        &mut self,
        sink: &mut S,
        each: &'a Each,
        body: Body<'_, 'a, S>,
        empty: Option<Body<'_, 'a, S>>,
    ) {
        let items = self.list(&each.list);
        sink.seam();
        if items.is_empty() {
            if let Some(empty) = empty {
                empty(self, sink);
                sink.seam();
            }
            return;
        }
        self.scope.enter(each);
        let weight = weight(&each.children);
        for (index, item) in items.iter().enumerate() {
            if !self.budget.round(weight) {
                let message =
                    "The samples repeat more than a mail can hold; the rest is not shown.";
                self.tell(Issue::new(Code::LoopSizeUnknown, self.source, message));
                break;
            }
            self.rounds.push(Round {
                name: &each.name,
                item,
                index,
                len: items.len(),
            });
            body(self, sink);
            sink.seam();
            self.rounds.pop();
        }
        self.scope.leave();
    }

    fn list(&self, path: &str) -> &'a [Json] {
        let (head, rest) = path.split_once('.').unwrap_or((path, ""));
        let found = match self.rounds.iter().rev().find(|round| round.name == head) {
            Some(round) => lookup(round.item, rest),
            None => lookup(self.data, path),
        };
        let items = found.and_then(Json::as_array).map(Vec::as_slice);
        let items = items.unwrap_or_default();
        items
            .get(..items.len().min(postroom_types::limit::COMPOSE_SAMPLE_ITEMS))
            .unwrap_or_default()
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
