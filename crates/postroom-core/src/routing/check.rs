//! Which expressions are allowed: known names, one macro deep, bounded in every direction.
//!
//! The language has no loops but its macros. An expression is refused when it is saved, with the
//! place, so that an evaluation meets only shapes whose cost is known.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
};

use cel::{
    Env,
    common::ast::{
        CallExpr, ComprehensionExpr, Expr, IdedExpr, LiteralValue, SourceInfo, operators,
    },
};
use postroom_types::{
    ErrorCode,
    limit::{
        RULE_ARITHMETIC, RULE_EXPRESSION_BYTES, RULE_EXPRESSION_DEPTH, RULE_MACRO_NODES,
        RULE_MACROS, RULE_PATTERN_BYTES,
    },
};
use regex::{Regex, RegexBuilder};

use super::{
    envelope::{EVENT_FIELDS, ROOTS},
    rule::RuleError,
};

/// Functions that rules may call, beside operators, `has` and the macros.
pub const FUNCTIONS: &[&str] = &[
    "contains",
    "double",
    "endsWith",
    "int",
    "lowerAscii",
    "matches",
    "size",
    "startsWith",
    "string",
];

/// Macros that loop, in every spelling.
const MACROS: &[&str] = &["all", "exists", "existsOne", "exists_one", "filter", "map"];

const OPERATORS: &[&str] = &[
    operators::CONDITIONAL,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    operators::EQUALS,
    operators::NOT_EQUALS,
    operators::GREATER,
    operators::GREATER_EQUALS,
    operators::LESS,
    operators::LESS_EQUALS,
    operators::INDEX,
    operators::IN,
    operators::NOT_STRICTLY_FALSE,
];

const ARITHMETIC: &[&str] = &[
    operators::ADD,
    operators::SUBSTRACT,
    operators::MULTIPLY,
    operators::DIVIDE,
    operators::MODULO,
    operators::NEGATE,
];

/// Brackets open at once, and signs in all, that are handed to the parser: it reads by recursion.
const BRACKETS: usize = 24;
const SIGNS: usize = 400;

/// The patterns of a set of rules, compiled.
pub(super) type Patterns = BTreeMap<String, Regex>;

/// Reads and checks one expression; its patterns are added to `patterns`.
pub(super) fn read(env: &Env, text: &str, patterns: &mut Patterns) -> Result<IdedExpr, RuleError> {
    if text.len() > RULE_EXPRESSION_BYTES {
        let message = format!("an expression is at most {RULE_EXPRESSION_BYTES} bytes");
        return Err(RuleError::expression(None, message));
    }
    screen(text)?;
    // The parser is somebody else's and reads what a tenant wrote.
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        env.parser()
            .max_recursion_depth(u16::try_from(BRACKETS).unwrap_or(u16::MAX))
            .parse_with_source_info(text)
    }));
    let (expression, places) = match parsed {
        Ok(Ok(parsed)) => parsed,
        Ok(Err(errors)) => return Err(unreadable(text, &errors)),
        Err(_) => return Err(RuleError::expression(None, "the expression cannot be read")),
    };
    let mut walk = Walk {
        places: &places,
        patterns,
        macros: 0,
        arithmetic: 0,
        nodes: None,
        variable: None,
    };
    walk.expression(&expression, 0, Place::Value)?;
    Ok(expression)
}

/// A count of what the parser would recurse on.
fn screen(text: &str) -> Result<(), RuleError> {
    let (mut open, mut signs, mut quote) = (0_usize, 0_usize, None);
    let mut previous = ' ';
    for (at, char) in text.chars().enumerate() {
        match (quote, char) {
            (Some(end), _) if char == end && previous != '\\' => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(char),
            (None, '(' | '[' | '{') => open += 1,
            (None, ')' | ']' | '}') => open = open.saturating_sub(1),
            (None, _) if char.is_ascii_punctuation() && char != '_' && char != ',' => signs += 1,
            _ => {}
        }
        if open > BRACKETS || signs > SIGNS {
            return Err(RuleError::expression(
                Some(at),
                "the expression is nested too deeply",
            ));
        }
        previous = if previous == '\\' && char == '\\' {
            ' '
        } else {
            char
        };
    }
    Ok(())
}

fn unreadable(text: &str, errors: &cel::ParseErrors) -> RuleError {
    let Some(first) = errors.errors.first() else {
        return RuleError::expression(None, "the expression cannot be read");
    };
    let (line, column) = first.pos;
    let before: usize = usize::try_from(line.saturating_sub(1)).map_or(0, |lines| {
        text.split_inclusive('\n')
            .take(lines)
            .map(|line| line.chars().count())
            .sum()
    });
    let within = usize::try_from(column.saturating_sub(1)).unwrap_or(0);
    let position = (before + within).min(text.chars().count());
    let message: String = first.msg.chars().take(200).collect();
    RuleError::expression(
        Some(position),
        format!("the expression cannot be read: {message}"),
    )
}

/// Where an expression stands, as far as that allows it more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Anywhere.
    Value,
    /// Where a list may be written: behind `in`, before a macro.
    List,
    /// The step of a macro, which the parser made.
    Step,
}

struct Walk<'a> {
    places: &'a SourceInfo,
    patterns: &'a mut Patterns,
    macros: usize,
    arithmetic: usize,
    /// Counted inside a macro only.
    nodes: Option<usize>,
    /// The variable of the macro.
    variable: Option<&'a str>,
}

impl<'a> Walk<'a> {
    fn refuse(&self, at: &IdedExpr, message: impl Into<String>) -> RuleError {
        let place = self.places.offset_for(at.id);
        RuleError::expression(place.map(|(start, _)| start as usize), message)
    }

    fn expression(
        &mut self,
        at: &'a IdedExpr,
        depth: usize,
        place: Place,
    ) -> Result<(), RuleError> {
        if depth > RULE_EXPRESSION_DEPTH {
            return Err(self.refuse(at, "the expression is nested too deeply"));
        }
        if let Some(nodes) = &mut self.nodes {
            *nodes += 1;
            if *nodes > RULE_MACRO_NODES {
                return Err(self.refuse(at, "too much inside one macro"));
            }
        }
        let depth = depth + 1;
        match &at.expr {
            Expr::Literal(_) => Ok(()),
            Expr::Ident(name) => self.name(at, name),
            Expr::Select(select) => self.expression(&select.operand, depth, Place::Value),
            Expr::Call(call) => self.call(at, call, depth, place),
            Expr::Comprehension(comprehension) => self.comprehension(at, comprehension, depth),
            Expr::List(list) if place != Place::Value => list
                .elements
                .iter()
                .try_for_each(|element| self.expression(element, depth, Place::Value)),
            Expr::List(_) => Err(self.refuse(at, "a list may stand behind `in` or before a macro")),
            Expr::Map(_) | Expr::Struct(_) => Err(self.refuse(at, "maps cannot be written here")),
            Expr::Unspecified => Err(self.refuse(at, "the expression is empty")),
        }
    }

    fn name(&self, at: &IdedExpr, name: &str) -> Result<(), RuleError> {
        let inside = self.nodes.is_some() && name == "@result";
        if inside
            || self.variable == Some(name)
            || ROOTS.contains(&name)
            || EVENT_FIELDS.contains(&name)
        {
            return Ok(());
        }
        Err(self.refuse(
            at,
            format!(
                "unknown name; known are {}, {}",
                ROOTS.join(", "),
                EVENT_FIELDS.join(", ")
            ),
        ))
    }

    fn call(
        &mut self,
        at: &'a IdedExpr,
        call: &'a CallExpr,
        depth: usize,
        place: Place,
    ) -> Result<(), RuleError> {
        let name = call.func_name.as_str();
        if MACROS.contains(&name) || name == operators::HAS {
            return Err(self.refuse(at, format!("`{name}` is not called like this")));
        }
        if ARITHMETIC.contains(&name) {
            // `@result + 1` and `@result + [x]` are how the parser writes macros.
            if place != Place::Step {
                self.arithmetic += 1;
            }
            if self.arithmetic > RULE_ARITHMETIC {
                return Err(self.refuse(at, "too many arithmetic operators"));
            }
        } else if name == "matches" {
            self.pattern(at, call)?;
        } else if !OPERATORS.contains(&name) && !FUNCTIONS.contains(&name) {
            return Err(RuleError {
                code: ErrorCode::ForbiddenFunction,
                ..self.refuse(at, format!("rules may call {}", FUNCTIONS.join(", ")))
            });
        }
        if let Some(target) = &call.target {
            self.expression(target, depth, Place::Value)?;
        }
        for (index, argument) in call.args.iter().enumerate() {
            let place = match place {
                Place::Step => Place::Step,
                _ if name == operators::IN && index == 1 => Place::List,
                _ => Place::Value,
            };
            self.expression(argument, depth, place)?;
        }
        Ok(())
    }

    /// A pattern stands in the rule and is compiled now: what an event says is never a pattern.
    fn pattern(&mut self, at: &IdedExpr, call: &CallExpr) -> Result<(), RuleError> {
        let Some(Expr::Literal(LiteralValue::String(pattern))) =
            call.args.last().map(|argument| &argument.expr)
        else {
            return Err(self.refuse(at, "a pattern is a text that stands in the rule"));
        };
        let pattern = pattern.inner();
        if self.patterns.contains_key(pattern) {
            return Ok(());
        }
        let regex = RegexBuilder::new(pattern)
            .size_limit(RULE_PATTERN_BYTES)
            .dfa_size_limit(RULE_PATTERN_BYTES * 8)
            .nest_limit(16)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => self.refuse(at, "the pattern is too costly"),
                _ => self.refuse(at, "the pattern cannot be read"),
            })?;
        self.patterns.insert(pattern.to_owned(), regex);
        Ok(())
    }

    fn comprehension(
        &mut self,
        at: &'a IdedExpr,
        comprehension: &'a ComprehensionExpr,
        depth: usize,
    ) -> Result<(), RuleError> {
        if self.nodes.is_some() {
            return Err(self.refuse(at, "a macro cannot stand inside another"));
        }
        self.macros += 1;
        if self.macros > RULE_MACROS {
            return Err(self.refuse(at, format!("a rule has at most {RULE_MACROS} macros")));
        }
        let variable = comprehension.iter_var.as_str();
        if ROOTS.contains(&variable) || EVENT_FIELDS.contains(&variable) {
            return Err(self.refuse(at, "the macro's variable has the name of something else"));
        }
        // Of a macro before a macro the inner one is the outer one's range, run once.
        if matches!(comprehension.iter_range.expr, Expr::Comprehension(_)) {
            return Err(self.refuse(at, "a macro cannot stand before another"));
        }
        self.expression(&comprehension.iter_range, depth, Place::List)?;
        self.nodes = Some(0);
        self.variable = Some(variable);
        let inside = self.step(comprehension, depth);
        self.nodes = None;
        self.variable = None;
        inside
    }

    /// What the parser made of the macro's body: `@result || BODY`, `BODY ? @result + [x] : @result`
    /// and the like. Only its outermost operators are the parser's.
    fn step(&mut self, macro_: &'a ComprehensionExpr, depth: usize) -> Result<(), RuleError> {
        let made = |expr: &IdedExpr| {
            matches!(&expr.expr, Expr::Call(call)
                if matches!(call.args.first().map(|first| &first.expr), Some(Expr::Ident(name)) if name == "@result"))
        };
        match &macro_.loop_step.expr {
            Expr::Call(call) if made(&macro_.loop_step) => {
                for argument in call.args.iter().skip(1) {
                    self.element(argument, depth)?;
                }
                Ok(())
            }
            Expr::Call(call) if call.func_name == operators::CONDITIONAL => {
                for argument in &call.args {
                    match &argument.expr {
                        Expr::Call(inner) if made(argument) => {
                            for argument in inner.args.iter().skip(1) {
                                self.element(argument, depth)?;
                            }
                        }
                        _ => self.expression(argument, depth, Place::Value)?,
                    }
                }
                Ok(())
            }
            _ => self.expression(&macro_.loop_step, depth, Place::Value),
        }
    }

    /// The body, or the list of one element that `map` and `filter` append.
    fn element(&mut self, argument: &'a IdedExpr, depth: usize) -> Result<(), RuleError> {
        match &argument.expr {
            Expr::List(list)
                if self.places.offset_for(argument.id).is_none() || list.elements.len() == 1 =>
            {
                list.elements
                    .iter()
                    .try_for_each(|element| self.expression(element, depth, Place::Value))
            }
            _ => self.expression(argument, depth, Place::Value),
        }
    }
}
