//! Versions: a document without one is of the current one, an older one is brought up to date.

use super::{Pass, naming, text, walk_mut};
use crate::{
    draft::{Node, Object, Value},
    findings::Findings,
    grammar::{self, Form, TextUse},
    issue::{Code, Issue},
};

/// The current version.
pub(crate) const VERSION: u32 = 2;

/// Brings the document to the current version; false when it cannot be read at all.
pub(crate) fn bring_up_to_date(root: &mut Node, pass: &mut Pass<'_, '_>) -> bool {
    let at = root.origin;
    let Some(object) = root.as_object_mut() else {
        let message = format!("A document is an object, not {}.", root.what());
        pass.findings.report(Code::SchemaType, at, message);
        return false;
    };
    foreign_version(object, pass);
    let Some(node) = object.find("version") else {
        let source = pass.findings.origins.source(at);
        let issue = Issue::new(
            Code::VersionAssumed,
            &source,
            "The document states no version; it is read as version 2.",
        );
        pass.findings.push(at, issue.fixable());
        pass.findings
            .change(at, "version.assumed", "version 2 added");
        object.put("version", Node::number(at, f64::from(VERSION)));
        return true;
    };
    let origin = node.origin;
    let written = node.as_f64().or_else(|| node.as_str()?.trim().parse().ok());
    if node.as_str().is_some() && written.is_some() {
        let change = format!("{} to a number", node.excerpt());
        pass.findings.mend(
            Code::SchemaType,
            origin,
            "version is a number.",
            "coerce.px",
            change,
        );
    }
    match written {
        Some(version) if version == f64::from(VERSION) => {
            object.put("version", Node::number(origin, version));
            true
        }
        Some(1.0) => {
            let changes = migrate_1(root, pass);
            let message = format!(
                "Version 1 was read and turned into version 2: {}.",
                changes.join(", ")
            );
            let source = pass.findings.origins.source(origin);
            let issue = Issue::new(Code::VersionMigrated, &source, message);
            pass.findings.push(origin, issue.fixable());
            let change = format!("from 1 to 2: {}", changes.join(", "));
            pass.findings.change(origin, "version.migrated", change);
            true
        }
        Some(version) if version > f64::from(VERSION) => {
            let message =
                format!("Version {version} is newer than {VERSION}, the newest known here.");
            pass.findings
                .report(Code::VersionUnsupported, origin, message);
            false
        }
        _ => {
            let message = format!("version is 1 or 2, not {}.", node.excerpt());
            pass.findings
                .report(Code::VersionUnsupported, origin, message);
            false
        }
    }
}

/// A version of another program, as 2.29 or "1.4.0", says nothing of ours.
fn foreign_version(object: &mut Object, pass: &mut Pass<'_, '_>) {
    let foreign = object
        .find("version")
        .is_some_and(|node| match &node.value {
            Value::Number(_) => node.as_f64().is_some_and(|version| version.fract() != 0.0),
            Value::String(text) => {
                let text = text.trim();
                let whole = text
                    .parse::<f64>()
                    .is_ok_and(|version| version.fract() == 0.0);
                !whole
                    && text.contains('.')
                    && text.split('.').all(|part| part.parse::<u32>().is_ok())
            }
            _ => false,
        });
    if !foreign {
        return;
    }
    if let Some(node) = object.remove("version") {
        pass.findings.mend(
            Code::VersionAssumed,
            node.origin,
            format!("{} is no version of documents.", node.excerpt()),
            "version.assumed",
            format!("{} removed", node.excerpt()),
        );
    }
}

/// Version 1 had subject and preview line at the top, the body as `body` or `blocks`, attributes
/// in `props`, texts as strings of simple HTML in `content`, colours in `theme.colors` and
/// variables as an object of samples. Its names are taken silently.
fn migrate_1(root: &mut Node, pass: &mut Pass<'_, '_>) -> Vec<&'static str> {
    let at = root.origin;
    let mut changes = vec!["version"];
    let Some(object) = root.as_object_mut() else {
        return changes;
    };
    object.put("version", Node::number(at, f64::from(VERSION)));
    let mut meta = Object::default();
    for (old, new) in [
        ("subject", "subject"),
        ("preheader", "preheader"),
        ("preview", "preheader"),
        ("title", "title"),
        ("lang", "lang"),
        ("dir", "dir"),
    ] {
        if let Some(node) = object.remove(old) {
            meta.put(new, node);
        }
    }
    if !meta.0.is_empty() && !object.has("meta") {
        object.put("meta", Node::new(at, Value::Object(meta)));
        changes.push("meta");
    }
    if !object.has("root")
        && let Some(body) = ["body", "blocks"]
            .into_iter()
            .find_map(|key| object.remove(key))
    {
        let body = match body.value {
            Value::Array(_) => Node::block(at, "body", vec![("children", body)]),
            _ => body,
        };
        object.put("root", body);
        changes.push("root");
    }
    if let Some(theme) = object.find_mut("theme").and_then(Node::as_object_mut)
        && let Some(Value::Object(colors)) = theme.remove("colors").map(|node| node.value)
    {
        for (name, color) in colors.0 {
            theme.put(&name, color);
        }
        changes.push("theme");
    }
    // What version 1 called otherwise is not worth an issue each.
    let mut silent = Findings::new(crate::draft::Origins::default());
    let mut quiet = Pass {
        findings: &mut silent,
        names: std::mem::take(&mut pass.names),
        repairing: true,
        options: pass.options,
        palette: Vec::new(),
    };
    super::document::variables_list(object, &mut quiet);
    naming::rename(root, &mut quiet);
    if let Some(body) = super::body(root) {
        walk_mut(body, &mut |node| rich_text(node, &mut quiet));
    }
    if silent.has_changes() {
        changes.push("names");
    }
    changes
}

/// Strings of simple HTML as spans.
fn rich_text(node: &mut Node, pass: &mut Pass<'_, '_>) {
    let Some(row) = node.kind().and_then(grammar::block) else {
        return;
    };
    let Some(object) = node.as_object_mut() else {
        return;
    };
    for attribute in row.attributes {
        if let Form::Text(TextUse::Rich) = attribute.form
            && let Some(text) = object.find_mut(attribute.name)
            && text.as_str().is_some_and(text::has_tags)
            && let Some(spans) = text::read(text, TextUse::Rich, pass)
        {
            *text = spans;
        }
    }
}
