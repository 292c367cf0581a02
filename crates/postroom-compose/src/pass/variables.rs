//! Variables: what is used is declared, in scope and of the right type.

mod declared;

use std::collections::HashMap;

use declared::{declarations, declare, guess, judge};

use super::Pass;
use crate::{
    draft::{Node, Object, Origin},
    grammar,
    issue::Code,
    model::{Filter, VariableType},
    notation::{self, Part, Reading},
    read,
    scope::{Found, Scope},
};

/// Checks every use of a variable; declares those that are not.
pub(crate) fn resolve(root: &mut Node, pass: &mut Pass<'_, '_>) {
    let declared = declarations(root, pass);
    let Some(object) = root.as_object() else {
        return;
    };
    let list = object.find("variables");
    let mut uses = Uses {
        may_declare: list.is_none_or(|list| list.as_array().is_some()),
        ..Uses::default()
    };
    if let Some(body) = object.find("root") {
        super::walk(body, &mut |node, object| {
            if node.kind() == Some("each")
                && let Some(name) = object.string("as")
            {
                uses.loops.push(name.to_owned());
            }
        });
    }
    let mut walker = Walker {
        scope: Scope::new(&declared, uses.loops.clone()),
        uses,
        pass,
    };
    if let Some(meta) = object.find("meta").and_then(Node::as_object) {
        for key in ["subject", "preheader"] {
            if let Some(text) = meta.find(key) {
                walker.spans(text);
            }
        }
    }
    if let Some(body) = object.find("root") {
        walker.block(body);
    }
    let uses = walker.uses;
    judge(&declared, &uses, pass);
    declare(root, uses, pass);
}

/// What was used, and what has to be declared.
#[derive(Default)]
struct Uses {
    /// Names that loops give.
    loops: Vec<String>,
    /// Declared names that are used; whether some use has no default of its own.
    used: HashMap<String, bool>,
    /// Declarations can be added.
    may_declare: bool,
    /// Names to declare, in order.
    missing: Vec<Missing>,
}

struct Missing {
    name: String,
    at: Origin,
    kind: VariableType,
}

struct Walker<'w, 'f, 'a> {
    scope: Scope,
    uses: Uses,
    pass: &'w mut Pass<'f, 'a>,
}

/// How a variable is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Text,
    Address,
    Condition,
    List,
}

impl Walker<'_, '_, '_> {
    fn block(&mut self, node: &Node) {
        let Some(object) = node.as_object() else {
            return;
        };
        let row = node.kind().and_then(grammar::block);
        for (key, value) in &object.0 {
            let form = row
                .and_then(|row| row.attribute(key))
                .map(|attribute| attribute.form);
            match form {
                Some(grammar::Form::Text(_)) => self.spans(value),
                Some(grammar::Form::Texts) => {
                    for line in value.as_array().unwrap_or_default() {
                        self.spans(line);
                    }
                }
                Some(grammar::Form::Template) => self.template(value, Role::Text, false),
                Some(grammar::Form::Verbatim) => self.template(value, Role::Text, true),
                Some(grammar::Form::Url(_)) => self.template(value, Role::Address, false),
                Some(grammar::Form::Condition) => self.condition(value),
                Some(grammar::Form::Object(_)) => {
                    // A background's address.
                    if let Some(src) = value.as_object().and_then(|object| object.find("src")) {
                        self.template(src, Role::Address, false);
                    }
                }
                _ => {}
            }
        }
        if node.kind() == Some("each") {
            return self.each(object);
        }
        for key in super::CHILD_KEYS {
            let children = object.find(key).and_then(Node::as_array);
            for child in children.unwrap_or_default() {
                self.block(child);
            }
        }
    }

    fn each(&mut self, object: &Object) {
        let children = |key: &str| {
            object
                .find(key)
                .and_then(Node::as_array)
                .unwrap_or_default()
        };
        for child in children("empty") {
            self.block(child);
        }
        let list = object
            .find("in")
            .filter(|node| node.as_str().is_some_and(notation::is_path));
        let name = object.string("as").unwrap_or_default();
        if let Some(node) = list {
            self.path(
                node.as_str().unwrap_or_default(),
                node.origin,
                Role::List,
                false,
            );
        }
        let path = list.and_then(Node::as_str).unwrap_or_default();
        self.scope.enter_loop(name, path);
        for child in children("children") {
            self.block(child);
        }
        self.scope.leave();
    }

    fn spans(&mut self, node: &Node) {
        for span in node.as_array().unwrap_or_default() {
            let Some(object) = span.as_object() else {
                continue;
            };
            match span.kind() {
                Some("var") => {
                    if let Some(used) = read::variable(object) {
                        let at = object.find("name").map_or(span.origin, |name| name.origin);
                        self.shown(&used, at, Role::Text);
                    }
                }
                Some("link") => {
                    if let Some(href) = object.find("href") {
                        self.template(href, Role::Address, false);
                    }
                    if let Some(children) = object.find("children") {
                        self.spans(children);
                    }
                }
                Some("if") => {
                    if let Some(cond) = object.find("cond") {
                        self.condition(cond);
                    }
                    for key in ["then", "else"] {
                        if let Some(children) = object.find(key) {
                            self.spans(children);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn template(&mut self, node: &Node, role: Role, verbatim: bool) {
        let Some(text) = node.as_str() else {
            return;
        };
        let parts = if verbatim {
            notation::parse(text, Reading::Ours)
        } else {
            self.pass.reading(|reading| notation::parse(text, reading))
        };
        for part in parts {
            if let Part::Variable(used) = part {
                self.shown(&used, node.origin, role);
            }
        }
    }

    fn shown(&mut self, used: &crate::model::VariableUse, at: Origin, role: Role) {
        let role = match used.filter {
            Some(Filter::UrlEncode) if role == Role::Address => Role::Text,
            _ => role,
        };
        self.path(&used.path, at, role, used.default.is_none());
    }

    fn condition(&mut self, node: &Node) {
        let Some(object) = node.as_object() else {
            return;
        };
        if let Some(variable) = object.find("var")
            && let Some(path) = variable.as_str().filter(|path| notation::is_path(path))
        {
            self.path(path, variable.origin, Role::Condition, false);
        }
        for key in ["all", "any"] {
            for part in object
                .find(key)
                .and_then(Node::as_array)
                .unwrap_or_default()
            {
                self.condition(part);
            }
        }
        if let Some(inner) = object.find("not") {
            self.condition(inner);
        }
    }

    fn path(&mut self, path: &str, at: Origin, role: Role, bare: bool) {
        let found = self.scope.find(path);
        if self.scope.loop_of(path).is_none()
            && let Some(name) = self.declared_name(path)
        {
            *self.uses.used.entry(name).or_insert(false) |= bare;
        }
        match found {
            Found::Value(shape) => self.typed(path, &shape, at, role),
            Found::OutOfScope => {
                let message = format!("{path} belongs to an each that this place is not in.");
                self.pass.findings.report(Code::VarScope, at, message);
            }
            Found::Unknown => self.unknown(path, at, role),
        }
    }

    /// The declared name that `path` is, or is inside.
    fn declared_name(&self, path: &str) -> Option<String> {
        let names = self.scope.declared();
        let found = names.filter(|name| {
            path.strip_prefix(*name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        found.max_by_key(|name| name.len()).map(str::to_owned)
    }

    fn typed(&mut self, path: &str, shape: &crate::model::Shape, at: Origin, role: Role) {
        use crate::model::Shape;
        let message = match (role, shape) {
            (Role::Text | Role::Address, Shape::List(_)) => {
                format!("{path} is a list, which is no text.")
            }
            (Role::Text | Role::Address, Shape::Object(_)) => {
                format!("{path} is an object, which is no text.")
            }
            (Role::List, Shape::Scalar(kind)) => {
                format!(
                    "{path} is of type {}, and an each needs a list.",
                    kind.name()
                )
            }
            (Role::List, Shape::Object(_)) => {
                format!("{path} is an object, and an each needs a list.")
            }
            _ => return,
        };
        self.pass.findings.report(Code::VarType, at, message);
    }

    fn unknown(&mut self, path: &str, at: Origin, role: Role) {
        if self.scope.loop_of(path).is_some() {
            let message = format!("The elements of the list have no field {path}.");
            let hint = "Add the field to item of the list's declaration, or correct its name.";
            self.pass
                .findings
                .report_with(Code::VarUnknown, at, message, hint);
            return;
        }
        if let Some(name) = self.declared_name(path) {
            let message = format!("{name} is declared and has no field {path}.");
            let hint = "Add the field to item of its declaration, or correct its name.";
            self.pass
                .findings
                .report_with(Code::VarUnknown, at, message, hint);
            return;
        }
        let near = grammar::nearest(path, self.scope.names());
        let near = near.map_or_else(String::new, |near| format!(" Did you mean {near}?"));
        let message = format!("{path} is not declared.{near}");
        if !self.uses.may_declare {
            self.pass.findings.report(Code::VarUnknown, at, message);
            return;
        }
        let kind = guess(path, role);
        let change = format!("{path} declared as {}", kind.name());
        self.pass
            .findings
            .mend(Code::VarUnknown, at, message, "var.declare", change);
        match self
            .uses
            .missing
            .iter_mut()
            .find(|missing| missing.name == path)
        {
            Some(missing) if kind == VariableType::List => missing.kind = kind,
            Some(missing) if missing.kind == VariableType::Bool && role != Role::Condition => {
                missing.kind = kind;
            }
            Some(_) => {}
            None => self.uses.missing.push(Missing {
                name: path.to_owned(),
                at,
                kind,
            }),
        }
    }
}
