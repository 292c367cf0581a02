//! Raw HTML of a document: what is not taken over from it.

use std::collections::BTreeMap;

use super::{css, markup};

/// Names told of one block.
const NAMES: usize = 8;

/// What `clean` lacks of `html`: elements, attributes and declarations, each name once.
pub(super) fn lost(html: &str, clean: &str) -> Vec<String> {
    let (before, after) = (names(html), names(clean));
    let fewer = |(name, count): &(String, usize)| after.get(name).copied().unwrap_or(0) < *count;
    let lost = before.into_iter().filter(fewer);
    lost.map(|(name, _)| name).take(NAMES).collect()
}

/// Elements, attributes and declarations with how often each stands there.
fn names(html: &str) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    let mut count = |name: String| *names.entry(name).or_insert(0) += 1;
    for element in markup::parse(html).elements {
        for (name, value) in &element.attributes {
            if name == "style" {
                for declaration in css::declarations(value) {
                    count(declaration.name);
                }
            } else {
                count(format!("{name}=\"\""));
            }
        }
        count(format!("<{}>", element.name));
    }
    names
}
