//! Declarations: those that are there, those that are missing.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::{Role, Uses};
use crate::{
    dialect,
    draft::{Node, Object, Origin, Value},
    issue::{Code, Severity},
    model::{Shape, Variable, VariableType},
    pass::{Pass, values},
    read,
};

/// The declared variables; one name stands once.
pub(super) fn declarations(root: &mut Node, pass: &mut Pass<'_, '_>) -> Vec<Variable> {
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

/// The type of a variable by how it is used and called.
pub(super) fn guess(path: &str, role: Role) -> VariableType {
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
pub(super) fn judge(declared: &[Variable], uses: &Uses, pass: &mut Pass<'_, '_>) {
    for variable in declared {
        let at = variable.source.order;
        let name = &variable.name;
        let default = variable.default.as_ref().and_then(|value| value.as_str());
        let default = default.filter(|text| variable.kind == VariableType::Url && !text.is_empty());
        if let Some(why) = default.and_then(values::address_fault) {
            let message = format!("The default of {name} is no address for a mail: {why}");
            pass.findings.report(Code::UrlScheme, at, message);
        }
        if let Some(sample) = &variable.sample {
            let mut why = None;
            bad_scheme(variable.kind, &variable.shape, sample, &mut why);
            if let Some(why) = why {
                let message = format!("The sample of {name} is no address for a mail: {why}");
                let source = pass.findings.origins.source(at);
                let issue = crate::Issue::new(Code::UrlScheme, &source, message);
                pass.findings.push(at, issue.severity(Severity::Warning));
            }
        }
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
        if let Some(sample) = &variable.sample {
            let mut wrong = None;
            not_dates(variable.kind, &variable.shape, sample, &mut wrong);
            if let Some(wrong) = wrong {
                let shown: String = wrong.chars().take(60).collect();
                let message = format!("{name} has the sample {shown:?}, which is no date.");
                let hint = "Write a date as 2030-01-31, or a time as 2030-01-31T09:30:00Z.";
                pass.findings
                    .report_with(Code::VarNoSample, at, message, hint);
            }
        }
        if variable.required && *bare && variable.default.is_none() {
            let message = format!("{name} is required and nothing stands in for it.");
            pass.findings
                .report(Code::VarRequiredWithoutDefault, at, message);
        }
    }
}

/// Finds the first text in a sample that stands for a date and is none.
fn not_dates(kind: VariableType, shape: &Shape, sample: &Json, wrong: &mut Option<String>) {
    if wrong.is_some() {
        return;
    }
    match (shape, sample) {
        (Shape::List(item), Json::Array(items)) => {
            for one in items {
                not_dates(VariableType::String, item, one, wrong);
            }
        }
        (Shape::Object(fields), Json::Object(values)) => {
            for (name, shape) in fields {
                if let Some(value) = values.get(name) {
                    not_dates(VariableType::String, shape, value, wrong);
                }
            }
        }
        (shape, Json::String(text)) => {
            let date = kind == VariableType::Date || *shape == Shape::Scalar(VariableType::Date);
            if date && !text.is_empty() && !dialect::is_date(text) {
                *wrong = Some(text.clone());
            }
        }
        _ => {}
    }
}

/// Finds the first address in a sample whose scheme no mail may have.
fn bad_scheme(kind: VariableType, shape: &Shape, sample: &Json, why: &mut Option<String>) {
    if why.is_some() {
        return;
    }
    match (shape, sample) {
        (Shape::List(item), Json::Array(items)) => {
            for one in items {
                bad_scheme(VariableType::String, item, one, why);
            }
        }
        (Shape::Object(fields), Json::Object(values)) => {
            for (name, shape) in fields {
                if let Some(value) = values.get(name) {
                    bad_scheme(VariableType::String, shape, value, why);
                }
            }
        }
        (shape, Json::String(text))
            if kind == VariableType::Url || *shape == Shape::Scalar(VariableType::Url) =>
        {
            *why = values::scheme_fault(text);
        }
        _ => {}
    }
}

/// Adds the declarations that are missing.
pub(super) fn declare(root: &mut Node, uses: Uses, pass: &mut Pass<'_, '_>) {
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

pub(super) fn root_origin(object: &Object) -> Origin {
    object.find("root").map_or(0, |root| root.origin)
}
