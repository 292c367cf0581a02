//! What is known of a system that fills templates in, for engines that are set up like it.

use postroom_compose::{
    dialect::{Dialect, Helper, Host},
    model::{Document, Shape},
};

/// A host with the name that its cases have beside the dialect's.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) dialect: Dialect,
    pub(crate) host: Host,
    /// Text and subject are written for an engine of another set-up.
    pub(crate) html_only: bool,
}

/// The hosts that `document` is compiled for.
pub(crate) fn hosts(document: &Document) -> Vec<Known> {
    let known = |name, dialect, host| Known {
        name,
        dialect,
        host,
        html_only: matches!(name, "liquid, escaping" | "go, html/template"),
    };
    vec![
        known(
            "handlebars, helpers",
            Dialect::Handlebars,
            Host {
                helpers: Helper::NAMES.iter().map(|(_, helper)| *helper).collect(),
                ..Host::default()
            },
        ),
        known(
            "liquid, escaping",
            Dialect::Liquid,
            Host {
                escapes: true,
                ..Host::default()
            },
        ),
        known(
            "go, html/template",
            Dialect::Go,
            Host {
                html_template: true,
                ..Host::default()
            },
        ),
        known(
            "erb, methods",
            Dialect::Erb,
            Host {
                fields_are_methods: true,
                ..Host::default()
            },
        ),
        known(
            "mailchimp, fields",
            Dialect::Mailchimp,
            Host {
                merge_fields: fields(document),
                ..Host::default()
            },
        ),
    ]
}

/// A merge field for every variable that is one value: MMERGE1, MMERGE2 and so on.
fn fields(document: &Document) -> std::collections::BTreeMap<String, String> {
    let mut paths = Vec::new();
    for variable in &document.variables {
        walk(&variable.name, &variable.shape, &mut paths);
    }
    let numbered = paths.into_iter().enumerate();
    numbered
        .map(|(at, path)| (path, format!("MMERGE{}", at + 1)))
        .collect()
}

fn walk(path: &str, shape: &Shape, paths: &mut Vec<String>) {
    match shape {
        Shape::Object(fields) => {
            for (name, shape) in fields {
                walk(&format!("{path}.{name}"), shape, paths);
            }
        }
        Shape::List(_) => {}
        _ => paths.push(path.to_owned()),
    }
}
