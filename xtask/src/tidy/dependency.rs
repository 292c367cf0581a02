//! A dependency that no source names is built, licensed and kept up to date for nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

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

/// Words of a line that can name a crate: what stands before `::`, and what is imported whole.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let paths = line.match_indices("::").filter_map(|(at, _)| {
        let before = line.get(..at)?;
        before.rsplit(|last: char| !is_of_word(last)).next()
    });
    let imported = line.trim_start().trim_start_matches("pub ");
    let imported = imported.strip_prefix("use ").and_then(|rest| {
        let end = rest.find(|next: char| !is_of_word(next))?;
        let (word, rest) = rest.split_at(end);
        (rest == ";" || rest.starts_with(" as ")).then_some(word)
    });
    paths.chain(imported).filter(|word| !word.is_empty())
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// What the sources of a crate name.
struct Named {
    /// By what ships.
    shipped: BTreeSet<String>,
    /// By tests, examples and all else too.
    anywhere: BTreeSet<String>,
}

impl Named {
    fn read(folder: &Path) -> Self {
        let all = |lines: Vec<String>| -> BTreeSet<String> {
            lines
                .iter()
                .flat_map(|line| names(line))
                .map(str::to_owned)
                .collect()
        };
        let mut paths = Vec::new();
        sources(&folder.join("src"), &mut paths);
        let shipped = paths
            .iter()
            .filter(|path| !path.ends_with("tests.rs"))
            .flat_map(|path| product_lines(path))
            .map(|(_, line)| line);
        let shipped = all(shipped.collect());
        let mut paths = Vec::new();
        sources(folder, &mut paths);
        let anywhere = paths.iter().flat_map(|path| {
            let source = std::fs::read_to_string(path).unwrap_or_default();
            let lines = source
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        });
        Self {
            shipped,
            anywhere: all(anywhere.collect()),
        }
    }
}

/// Dependencies that no source names, each with a sentence.
fn faults(metadata: &Value) -> Vec<String> {
    let mut read: BTreeMap<PathBuf, Named> = BTreeMap::new();
    dependencies(metadata)
        .iter()
        .filter(|it| {
            let named = read
                .entry(it.folder.clone())
                .or_insert_with(|| Named::read(&it.folder));
            // What ships must be named by what ships.
            let by = match it.kind {
                None => &named.shipped,
                Some(_) => &named.anywhere,
            };
            !by.contains(&it.library)
        })
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
        .collect()
}

#[test]
fn every_dependency_is_named_by_a_source() {
    let faults = faults(&licences::metadata().expect("cargo metadata"));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_dependency_that_nothing_names_is_a_fault() {
    let metadata = json!({"workspace_members": ["x"], "packages": [{
        "id": "x", "name": "x", "targets": [],
        "manifest_path": process::root().join("xtask").join("Cargo.toml"),
        "dependencies": [{"name": "serde_json"}, {"name": "never-named", "kind": "dev"}],
    }]});
    let faults = faults(&metadata);
    let [fault] = faults.as_slice() else {
        panic!("{faults:?}")
    };
    assert!(
        fault.contains("x: `never-named` stands in [dev-dependencies]"),
        "{fault}"
    );
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
    for (line, named) in [
        ("use serde::Serialize;", vec!["serde"]),
        ("#[derive(serde::Serialize)]", vec!["serde"]),
        ("    serde::de::Error", vec!["serde", "de"]),
        ("use serde;", vec!["serde"]),
        ("pub use serde as model;", vec!["serde"]),
        ("use serde_json::Value;", vec!["serde_json"]),
        ("let serde = 1; // use serde", vec![]),
        ("::<Vec<_>>()", vec![]),
    ] {
        assert_eq!(names(line).collect::<Vec<_>>(), named, "{line}");
    }
}
