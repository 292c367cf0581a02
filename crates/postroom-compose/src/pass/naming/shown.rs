//! Keys that say when, where and to whom a block is shown.

use crate::{
    draft::{Node, Value},
    pass::plain,
};

/// Names of the condition under which a block is shown, by letters in lower case.
const SHOWN: &[&str] = &[
    "visibleif",
    "showif",
    "condition",
    "conditions",
    "cond",
    "if",
    "when",
    "showwhen",
    "visiblewhen",
    "displayif",
    "displaywhen",
    "renderif",
    "renderwhen",
    "onlyif",
    "vif",
    "vshow",
    "dataif",
    "ngif",
    "xif",
    "xshow",
];

/// Names of the condition under which a block is left out.
const HIDDEN: &[&str] = &[
    "unless",
    "hideif",
    "hiddenif",
    "hidewhen",
    "hiddenwhen",
    "showunless",
    "skipif",
];

/// Flags that leave a block out.
const HIDES: &[&str] = &["hidden", "hide", "invisible", "disabled", "skip", "omit"];

/// Flags that show a block, and those that it is shown to.
const SHOWS: &[&str] = &[
    "enabled",
    "show",
    "shown",
    "render",
    "visible",
    "visibility",
    "audience",
    "audiences",
    "segment",
    "segments",
    "showto",
    "showfor",
    "visibleto",
    "visiblefor",
    "onlyfor",
];

/// Flags that limit a block to one kind of screen, and those that it is hidden from.
const LIMITS: &[&str] = &[
    "mobileonly",
    "desktoponly",
    "hidefrom",
    "hidefor",
    "hiddenfrom",
    "hiddenfor",
    "excludefrom",
];

/// Whether a condition under that key says when a block is left out.
pub(super) fn is_inverse(key: &str) -> bool {
    HIDDEN.contains(&plain(key).as_str())
}

/// Whether a value under that key says when a block is shown.
pub(crate) fn is_condition(key: &str, node: &Node) -> bool {
    let plain = plain(key);
    let inverse = HIDDEN.contains(&plain.as_str());
    let says = match &node.value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Object(object) => !object.0.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Bool(flag) => *flag == inverse,
        Value::Number(_) => true,
        Value::Null => false,
    };
    says && (inverse || SHOWN.contains(&plain.as_str()))
}

/// Whether a key shows a block to fewer readers without being a condition: `hidden`, `audience`.
pub(crate) fn restricts(key: &str, node: &Node) -> bool {
    const EVERYBODY: &[&str] = &[
        "", "true", "yes", "1", "always", "all", "everyone", "visible",
    ];
    const NOBODY: &[&str] = &["", "false", "no", "0", "never", "none"];
    let said = match &node.value {
        Value::Null => return false,
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_lowercase(),
        Value::Array(items) if items.is_empty() => return false,
        Value::Object(object) if object.0.is_empty() => return false,
        Value::Array(_) | Value::Object(_) => "some".to_owned(),
    };
    let (key, said) = (plain(key), said.as_str());
    match key.as_str() {
        "display" => matches!(said, "none" | "false") || said.starts_with("none "),
        key if SHOWS.contains(&key) => !EVERYBODY.contains(&said),
        key => (HIDES.contains(&key) || LIMITS.contains(&key)) && !NOBODY.contains(&said),
    }
}
