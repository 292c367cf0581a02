//! Families of fonts: names of letters, digits and blanks, which mean nothing else to a style sheet.

use crate::{
    draft::{Node, Value},
    issue::Code,
    pass::Pass,
};

/// A list of families without what is no name of one; `None` when nothing is left.
pub(super) fn families(node: &Node, name: &str, pass: &mut Pass<'_, '_>) -> Option<Node> {
    let Value::String(written) = &node.value else {
        return Some(node.clone());
    };
    if written.split(',').all(is_family) {
        return Some(node.clone());
    }
    let kept: Vec<&str> = written
        .split(',')
        .map(|family| family.trim_matches(|c: char| c == ' ' || !is_of_name(c)))
        .filter(|family| !family.is_empty() && family.chars().all(is_of_name))
        .collect();
    let kept = kept.join(", ");
    let change = if kept.is_empty() {
        format!("{} removed", node.excerpt())
    } else {
        format!("{} to {kept:?}", node.excerpt())
    };
    pass.findings.mend(
        Code::SchemaType,
        node.origin,
        format!("{name} has signs that no font family has."),
        "font",
        change,
    );
    (!kept.is_empty()).then(|| Node::string(node.origin, kept))
}

/// Whether it is a family, in quotes or without.
fn is_family(written: &str) -> bool {
    let family = written.trim();
    let quoted = |quote: char| {
        let inside = family.strip_prefix(quote)?;
        inside.strip_suffix(quote)
    };
    let bare = quoted('\'').or_else(|| quoted('"')).unwrap_or(family);
    bare.chars().all(is_of_name)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')
}
