//! Blocks that are for one kind of screen, in the words of others.

use super::keys::told;
use crate::{
    draft::{Node, Object},
    grammar::BlockRow,
    pass::{Pass, plain},
};

/// Flags, by letters in lower case, and where the block is left out when they are set.
const FLAGS: &[(&str, &str)] = &[
    ("hideonmobile", "mobile"),
    ("hidemobile", "mobile"),
    ("hiddenonmobile", "mobile"),
    ("desktoponly", "mobile"),
    ("showondesktop", "mobile"),
    ("hideondesktop", "desktop"),
    ("hidedesktop", "desktop"),
    ("hiddenondesktop", "desktop"),
    ("mobileonly", "desktop"),
    ("showonmobile", "desktop"),
];

/// Keys whose value is the kind of screen that shows the block, and that leaves it out.
const SHOWN: &[&str] = &["showon", "visibleon", "device", "devices", "displayon"];
const HIDDEN: &[&str] = &["hideon", "hiddenon"];

/// Gives the screen that leaves a block out our name.
pub(super) fn hide_on(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    if row.attribute("hideOn").is_none() || object.has("hideOn") {
        return;
    }
    let found = object.0.iter().find_map(|(key, node)| {
        if key == "type" || row.attribute(key).is_some() || row.holds(key).is_some() {
            return None;
        }
        let plain = plain(key);
        let screen = screen(node);
        let left_out = if node.as_bool() == Some(true) {
            FLAGS.iter().find(|(flag, _)| *flag == plain)?.1
        } else if SHOWN.contains(&plain.as_str()) {
            other(screen?)
        } else if HIDDEN.contains(&plain.as_str()) {
            screen?
        } else {
            return None;
        };
        Some((key.clone(), left_out))
    });
    if let Some((key, left_out)) = found
        && let Some(node) = object.remove(&key)
    {
        told(&key, "hideOn", row.name, node.origin, pass);
        object.put("hideOn", Node::string(node.origin, left_out));
    }
}

/// The kind of screen that a value names, alone or in a list.
fn screen(node: &Node) -> Option<&'static str> {
    let node = match node.as_array() {
        Some([one]) => one,
        Some(_) => return None,
        None => node,
    };
    ["mobile", "desktop"].into_iter().find(|screen| {
        node.as_str()
            .is_some_and(|text| text.eq_ignore_ascii_case(screen))
    })
}

fn other(screen: &str) -> &'static str {
    if screen == "mobile" {
        "desktop"
    } else {
        "mobile"
    }
}
