//! Licences, bans and duplicates, read from `cargo metadata`.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::process;

/// Licences that may be linked into the binary.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates that must not come in, each with the reason.
const BANNED: &[(&str, &str)] = &[
    ("openssl-sys", "TLS is rustls"),
    ("native-tls", "TLS is rustls"),
    ("aws-lc-sys", "one crypto library: ring"),
];

/// `cargo metadata` as JSON.
pub(crate) fn metadata() -> Result<Value> {
    let text = process::output(&mut process::command(
        "cargo",
        &["metadata", "--format-version=1", "--locked"],
    ))?;
    Ok(serde_json::from_str(&text)?)
}

/// Fails on a licence that is not allowed or a banned crate; prints how many versions are doubled.
pub(crate) fn check() -> Result<()> {
    let metadata = metadata()?;
    let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
    let mut faults = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        *versions.entry(name).or_default() += 1;
        let licence = package["license"].as_str().unwrap_or_default();
        if !allowed(licence) {
            faults.push(format!("{name}: licence `{licence}` is not on the list"));
        }
        if let Some((_, reason)) = BANNED.iter().find(|(banned, _)| *banned == name) {
            faults.push(format!("{name}: banned, {reason}"));
        }
    }
    let doubled: Vec<&str> = versions
        .iter()
        .filter(|(_, count)| **count > 1)
        .map(|(name, _)| *name)
        .collect();
    eprintln!(
        "{} crates; in more than one version: {}",
        versions.len(),
        doubled.join(" ")
    );
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(())
}

/// Whether an SPDX expression can be met with allowed licences: one side of each OR, all of each AND.
fn allowed(expression: &str) -> bool {
    let flat = expression.replace(['(', ')'], " ").replace('/', " OR ");
    if flat.trim().is_empty() {
        return false;
    }
    flat.split(" AND ").all(|part| {
        part.split(" OR ")
            .any(|licence| ALLOWED.contains(&licence.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_needs_one_side_and_a_sum_needs_all() {
        assert!(allowed("GPL-3.0 OR MIT"));
        assert!(allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!allowed("MIT AND GPL-3.0"));
        assert!(!allowed(""));
    }

    #[test]
    fn every_dependency_has_an_allowed_licence() {
        check().expect("licences");
    }
}
