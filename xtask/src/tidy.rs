//! The map of ARCHITECTURE.md is the rule: a dependency edge that it does not name fails, and so does
//! a pure room that reaches for the outside.

mod dependency;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{licences, process};

/// Rooms that do no IO, read no clock and make no randomness.
const PURE: &[&str] = &[
    "postroom-types",
    "postroom-mail",
    "postroom-webhook",
    "postroom-compose",
    "postroom-query",
    "postroom-mcp",
    "postroom-core",
];

/// Crates that a pure room may not depend on directly.
const IMPURE_CRATES: &[&str] = &[
    "async-std",
    "fastrand",
    "getrandom",
    "hyper",
    "hyper-util",
    "mio",
    "rand",
    "reqwest",
    "ring",
    "rustls",
    "socket2",
    "rusqlite",
    "tempfile",
    "tokio",
    "tokio-postgres",
    "tokio-rustls",
    "tokio-util",
    "zstd",
    "zstd-sys",
];

/// Words that a pure room's sources may not hold outside tests.
const IMPURE_WORDS: &[&str] = &[
    "std::fs",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "ToSocketAddrs",
    "std::env",
    "std::process",
    "std::thread::sleep",
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now(",
    "Zoned::now(",
    "tokio::",
    "getrandom",
];

/// Names of files that say nothing about what is in them.
const EMPTY_NAMES: &[&str] = &[
    "utils.rs",
    "util.rs",
    "helpers.rs",
    "helper.rs",
    "common.rs",
    "misc.rs",
    "mod.rs",
];

/// The rooms of the map with the rooms each may use.
fn map() -> BTreeMap<String, BTreeSet<String>> {
    let page =
        std::fs::read_to_string(process::root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    page.lines()
        .filter_map(|line| line.strip_prefix("| `postroom"))
        .filter_map(|rest| {
            let mut cells = rest.split('|');
            let name = cells.next()?.trim().trim_end_matches('`');
            let uses = cells.nth(1)?;
            let uses = uses
                .split(',')
                .map(|word| word.trim().trim_matches('`'))
                .filter(|word| !word.is_empty() && *word != "-");
            Some((
                format!("postroom{name}"),
                uses.map(|word| format!("postroom-{word}")).collect(),
            ))
        })
        .collect()
}

/// Each workspace crate with the direct dependencies it ships with.
fn packages(metadata: &Value) -> BTreeMap<String, Vec<String>> {
    let members: BTreeSet<&str> = metadata["workspace_members"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|package| members.contains(package["id"].as_str().unwrap_or_default()))
        .map(|package| {
            let dependencies = package["dependencies"].as_array().into_iter().flatten();
            // A null kind is an ordinary dependency; dev and build ones do not ship.
            let shipped = dependencies.filter(|dependency| dependency["kind"].is_null());
            let names =
                shipped.filter_map(|dependency| dependency["name"].as_str().map(str::to_owned));
            (
                package["name"].as_str().unwrap_or_default().to_owned(),
                names.collect(),
            )
        })
        .collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn room_sources(room: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    sources(
        &process::root().join("crates").join(room).join("src"),
        &mut found,
    );
    found
}

/// The lines of a source that ship: without comments, declarations of test modules, and the test
/// module that ends a file.
fn product_lines(path: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(path).expect("source");
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if line.starts_with("#[cfg(test)]") {
            match lines.next() {
                Some((_, declared)) if declared.ends_with(';') => continue,
                _ => break,
            }
        }
        if !line.trim_start().starts_with("//") {
            found.push((at + 1, line.to_owned()));
        }
    }
    found
}

/// Rooms whose product lines hold one of `words`, as `path:line: word`.
fn hits(room: &str, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for path in room_sources(room)
        .iter()
        .filter(|path| !path.ends_with("tests.rs"))
    {
        for (at, line) in product_lines(path) {
            found.extend(
                words
                    .iter()
                    .filter(|word| line.contains(**word))
                    .map(|word| format!("{}:{at}: {word}", path.display())),
            );
        }
    }
    found
}

#[test]
fn every_dependency_edge_is_on_the_map() {
    let map = map();
    let packages = packages(&licences::metadata().expect("cargo metadata"));
    let mut faults = Vec::new();
    for (name, dependencies) in packages
        .iter()
        .filter(|(name, _)| name.starts_with("postroom"))
    {
        let Some(allowed) = map.get(name) else {
            faults.push(format!("{name} is not on the map in ARCHITECTURE.md"));
            continue;
        };
        let ours = dependencies
            .iter()
            .filter(|dependency| dependency.starts_with("postroom"));
        faults.extend(
            ours.filter(|used| !allowed.contains(*used))
                .map(|used| format!("{name} -> {used} is not on the map")),
        );
    }
    faults.extend(
        map.keys()
            .filter(|name| !packages.contains_key(*name))
            .map(|name| format!("{name} is on the map and does not exist")),
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn pure_rooms_depend_on_nothing_that_reaches_outside() {
    let packages = packages(&licences::metadata().expect("cargo metadata"));
    for room in PURE {
        let dependencies = packages
            .get(*room)
            .unwrap_or_else(|| panic!("{room} exists"));
        let impure: Vec<_> = dependencies
            .iter()
            .filter(|name| IMPURE_CRATES.contains(&name.as_str()))
            .collect();
        assert!(impure.is_empty(), "{room} depends on {impure:?}");
    }
}

#[test]
fn pure_rooms_hold_no_clock_file_socket_or_randomness() {
    let found: Vec<String> = PURE
        .iter()
        .flat_map(|room| hits(room, IMPURE_WORDS))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn only_the_store_knows_sql() {
    const SQL: &[&str] = &["rusqlite", "tokio-postgres"];
    let packages = packages(&licences::metadata().expect("cargo metadata"));
    for (name, dependencies) in &packages {
        assert!(
            name == "postroom-store"
                || !dependencies
                    .iter()
                    .any(|dependency| SQL.contains(&dependency.as_str())),
            "{name} depends on a database"
        );
    }
}

#[test]
fn only_net_and_the_command_line_open_connections() {
    let rooms = [
        "postroom-store",
        "postroom-search",
        "postroom-app",
        "postroom-api",
    ];
    let found: Vec<String> = rooms
        .iter()
        .flat_map(|room| hits(room, &["TcpStream::connect", "UdpSocket", "reqwest::"]))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn only_the_guard_dials() {
    let outside: Vec<String> = hits("postroom-net", &["TcpStream::connect"])
        .into_iter()
        .filter(|hit| !hit.contains("src/egress"))
        .collect();
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}

#[test]
fn files_are_named_for_what_is_in_them() {
    let packages = packages(&licences::metadata().expect("cargo metadata"));
    let rooms = packages.keys().filter(|name| name.starts_with("postroom"));
    let empty: Vec<PathBuf> = rooms
        .flat_map(|room| room_sources(room))
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| EMPTY_NAMES.contains(&name.to_string_lossy().as_ref()))
        })
        .collect();
    assert!(empty.is_empty(), "{empty:?}");
}
