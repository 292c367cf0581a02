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
const HIDES: &[&str] = &[
    "hidden",
    "hide",
    "invisible",
    "disabled",
    "skip",
    "omit",
    "deleted",
    "archived",
    "draft",
    "private",
    "internal",
];

/// Names of conditions in forms that nothing here reads.
const UNREAD: &[&str] = &[
    "dependson",
    "conditionalon",
    "guard",
    "predicate",
    "criteria",
    "conditionexpression",
    "datacondition",
    "ngshow",
    "nghide",
    "velse",
    "velseif",
    "memberonly",
    "membersonly",
    "loggedin",
    "loggedinonly",
];

/// Words in the name of a key that make a condition of it: `includeIf`, `if_not`.
const CONDITIONAL: &[&str] = &["if", "when", "unless"];

/// Flags that show a block, and those that it is shown to.
const SHOWS: &[&str] = &[
    "enabled",
    "published",
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
    let words = words(key);
    let has = |some: &[&str]| words.iter().any(|word| some.contains(&word.as_str()));
    let (conditional, inverse) = (has(CONDITIONAL), has(&["not", "unless", "exclude", "skip"]));
    let (key, said) = (plain(key), said.as_str());
    let read = SHOWN.contains(&key.as_str()) || HIDDEN.contains(&key.as_str());
    if conditional && !read && (inverse || !EVERYBODY.contains(&said)) {
        return true;
    }
    if UNREAD.contains(&key.as_str()) && !NOBODY.contains(&said) {
        return true;
    }
    match key.as_str() {
        "display" => matches!(said, "none" | "false") || said.starts_with("none "),
        key if SHOWS.contains(&key) => !EVERYBODY.contains(&said),
        key => (HIDES.contains(&key) || LIMITS.contains(&key)) && !NOBODY.contains(&said),
    }
}

/// The words of a key in lower case: `includeIf`, `include_if` and `include-if` are two.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for char in key.chars().take(60) {
        let apart = !char.is_alphanumeric();
        if apart || char.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| !apart) {
            word.extend(char.to_lowercase());
        }
    }
    words
}
