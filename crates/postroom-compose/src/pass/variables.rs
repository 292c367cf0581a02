//! Variables: what is used is declared, in scope and of the right type.

use std::collections::{HashMap, HashSet};

use super::{Pass, values};
use crate::{
    draft::{Node, Object, Origin, Value},
    grammar,
    issue::Code,
    model::{Filter, Variable, VariableType},
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

/// The declared variables; one name stands once.
fn declarations(root: &mut Node, pass: &mut Pass<'_, '_>) -> Vec<Variable> {
    let list = root
        .as_object_mut()
        .and_then(|object| object.find_mut("variables"))
        .and_then(Node::as_array_mut);
    let Some(list) = list else {
        return Vec::new();
    };
    let mut seen = HashSet::new();
    list.retain(|node| {
        let name = node.as_object().and_then(|object| object.string("name"));
        let Some(name) = name else {
            return true;
        };
        let fresh = seen.insert(name.to_owned());
        if !fresh {
            pass.findings.mend(
                Code::IdDuplicate,
                node.origin,
                format!("The variable {name} is declared twice."),
                "key.drop",
                format!("second declaration of {name} removed"),
            );
        }
        fresh
    });
    for object in list.iter_mut().filter_map(Node::as_object_mut) {
        if matches!(object.string("type"), Some("list" | "object"))
            && let Some(sample) = object.find_mut("sample")
        {
            *sample = values::sample(sample);
        }
    }
    let origins = &pass.findings.origins;
    list.iter()
        .filter_map(|node| read::declaration(node, origins))
        .collect()
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

/// The type of a variable by how it is used and called.
fn guess(path: &str, role: Role) -> VariableType {
    let last = path.rsplit('.').next().unwrap_or(path);
    let lower = last.to_ascii_lowercase();
    match role {
        Role::List => VariableType::List,
        Role::Address => VariableType::Url,
        _ if lower.ends_with("url") || lower.ends_with("link") || lower.ends_with("href") => {
            VariableType::Url
        }
        _ if lower.ends_with("date") || lower.ends_with("_at") || last.ends_with("At") => {
            VariableType::Date
        }
        Role::Condition
            if ["is_", "has_", "is", "has", "can_"]
                .iter()
                .any(|start| last.starts_with(start)) =>
        {
            VariableType::Bool
        }
        _ => VariableType::String,
    }
}

/// Tells of declarations that are not used, or lack what previews need.
fn judge(declared: &[Variable], uses: &Uses, pass: &mut Pass<'_, '_>) {
    for variable in declared {
        let at = variable.source.order;
        let name = &variable.name;
        let Some(bare) = uses.used.get(name) else {
            let message = format!("{name} is declared and not used.");
            pass.findings.report(Code::VarUnused, at, message);
            continue;
        };
        if variable.sample.is_none() && variable.default.is_none() {
            let (code, message) = if variable.kind == VariableType::List {
                let message = format!("{name} has no sample, so the mail's size is unknown.");
                (Code::LoopSizeUnknown, message)
            } else {
                (Code::VarNoSample, format!("{name} has no sample."))
            };
            pass.findings.report(code, at, message);
        }
        if variable.required && *bare && variable.default.is_none() {
            let message = format!("{name} is required and nothing stands in for it.");
            pass.findings
                .report(Code::VarRequiredWithoutDefault, at, message);
        }
    }
}

/// Adds the declarations that are missing.
fn declare(root: &mut Node, uses: Uses, pass: &mut Pass<'_, '_>) {
    let Some(object) = root.as_object_mut() else {
        return;
    };
    if uses.missing.is_empty() {
        return;
    }
    let at = root_origin(object);
    if !object.has("variables") {
        object.put("variables", Node::array(at, Vec::new()));
    }
    let Some(list) = object.find_mut("variables").and_then(Node::as_array_mut) else {
        return;
    };
    for missing in uses.missing {
        let at = missing.at;
        let mut declared = Object::default();
        declared.put("name", Node::string(at, missing.name.as_str()));
        if missing.kind != VariableType::String {
            declared.put("type", Node::string(at, missing.kind.name()));
        }
        let sample = match missing.kind {
            VariableType::List => None,
            VariableType::Bool => Some(Node::bool(at, true)),
            VariableType::Url => Some(Node::string(
                at,
                format!("https://example.org/{}", missing.name),
            )),
            VariableType::Date => Some(Node::string(at, "2030-01-31")),
            _ => Some(Node::string(at, format!("[{}]", missing.name))),
        };
        if let Some(sample) = sample {
            declared.put("sample", sample);
        }
        list.push(Node::new(at, Value::Object(declared)));
        pass.findings.push(
            at,
            crate::Issue::new(
                Code::VarInferred,
                &pass.findings.origins.source(at),
                format!(
                    "The type of {} is guessed: {}.",
                    missing.name,
                    missing.kind.name()
                ),
            ),
        );
    }
}

fn root_origin(object: &Object) -> Origin {
    object.find("root").map_or(0, |root| root.origin)
}
