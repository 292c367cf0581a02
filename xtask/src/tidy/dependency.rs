//! A dependency that no source names is built, licensed and kept up to date for nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{product_lines, sources};
use crate::{licences, process};

/// A direct dependency of a workspace crate.
struct Dependency {
    package: String,
    name: String,
    /// As sources call it.
    library: String,
    /// `None` for an ordinary one.
    kind: Option<String>,
    folder: PathBuf,
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// The library name of each package: `md-5` is called `md5`.
fn libraries(metadata: &Value) -> BTreeMap<&str, String> {
    let kinds = ["lib", "rlib", "proc-macro"];
    list(metadata, "packages")
        .filter_map(|package| {
            let target = list(package, "targets").find(|target| {
                list(target, "kind").any(|kind| kinds.contains(&kind.as_str().unwrap_or_default()))
            })?;
            Some((
                text(package, "name"),
                text(target, "name").replace('-', "_"),
            ))
        })
        .collect()
}

fn dependencies(metadata: &Value) -> Vec<Dependency> {
    let members: BTreeSet<&str> = list(metadata, "workspace_members")
        .filter_map(Value::as_str)
        .collect();
    let libraries = libraries(metadata);
    let mut found = Vec::new();
    for package in list(metadata, "packages").filter(|it| members.contains(text(it, "id"))) {
        let manifest = Path::new(text(package, "manifest_path"));
        for dependency in list(package, "dependencies") {
            let name = text(dependency, "name");
            let renamed = dependency["rename"]
                .as_str()
                .map(|name| name.replace('-', "_"));
            let library = renamed
                .or_else(|| libraries.get(name).cloned())
                .unwrap_or_else(|| name.replace('-', "_"));
            found.push(Dependency {
                package: text(package, "name").to_owned(),
                name: name.to_owned(),
                library,
                kind: dependency["kind"].as_str().map(str::to_owned),
                folder: manifest.parent().unwrap_or(manifest).to_owned(),
            });
        }
    }
    found
}

/// Whether `line` holds the path, import or attribute of a crate, and not a longer word.
fn names(line: &str, library: &str) -> bool {
    line.match_indices(library).any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + library.len()..).unwrap_or_default();
        let starts = !before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let imported = before.trim_end().ends_with("use") && after.starts_with([';', ' ']);
        starts && (after.starts_with("::") || imported)
    })
}

impl Dependency {
    /// Whether a source that is built with it names it. What ships must be named by what ships.
    fn is_named(&self) -> bool {
        let mut paths = Vec::new();
        let shipped = self.kind.is_none();
        match self.kind.as_deref() {
            None => sources(&self.folder.join("src"), &mut paths),
            Some("build") => paths.push(self.folder.join("build.rs")),
            Some(_) => sources(&self.folder, &mut paths),
        }
        paths
            .iter()
            .filter(|path| !(shipped && path.ends_with("tests.rs")))
            .any(|path| {
                if shipped {
                    let mut lines = product_lines(path).into_iter();
                    return lines.any(|(_, line)| names(&line, &self.library));
                }
                let source = std::fs::read_to_string(path).unwrap_or_default();
                source
                    .lines()
                    .filter(|line| !line.trim_start().starts_with("//"))
                    .any(|line| names(line, &self.library))
            })
    }
}

#[test]
fn every_dependency_is_named_by_a_source() {
    let metadata = licences::metadata().expect("cargo metadata");
    let faults: Vec<String> = dependencies(&metadata)
        .iter()
        .filter(|dependency| !dependency.is_named())
        .map(|it| {
            let section = it
                .kind
                .as_ref()
                .map_or_else(String::new, |kind| format!("{kind}-"));
            format!(
                "{}: `{}` stands in [{section}dependencies] and no source of it names `{}`",
                it.package, it.name, it.library
            )
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_dependency_of_the_workspace_is_used_by_a_crate() {
    let manifest = std::fs::read_to_string(process::root().join("Cargo.toml")).expect("manifest");
    let metadata = licences::metadata().expect("cargo metadata");
    let used: BTreeSet<String> = dependencies(&metadata)
        .into_iter()
        .map(|dependency| dependency.name)
        .collect();
    let unused: Vec<&str> = manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Some(line.split_once('=')?.0.trim()))
        .filter(|name| !used.contains(*name))
        .collect();
    assert!(unused.is_empty(), "no crate uses {unused:?}");
}

#[test]
fn a_crate_is_named_by_path_or_import_alone() {
    for line in [
        "use serde::Serialize;",
        "#[derive(serde::Serialize)]",
        "use serde;",
        "pub use serde as model;",
        "    serde::de::Error",
    ] {
        assert!(names(line, "serde"), "{line}");
    }
    for line in [
        "use serde_json::Value;",
        "use toml_serde::x;",
        "let serde = 1;",
        "// ",
    ] {
        assert!(!names(line, "serde"), "{line}");
    }
}
