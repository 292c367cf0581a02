//! What of a draft readers would miss.

use super::names::{Becomes, becomes};
use crate::{
    draft::{Node, Value},
    pass::plain,
};

/// Parts of the names of keys whose values nobody reads.
const LOOKS: &[&str] = &[
    "font",
    "style",
    "class",
    "border",
    "background",
    "shadow",
    "align",
    "transition",
    "margin",
    "padding",
    "position",
    "display",
    "color",
    "colour",
    "width",
    "height",
    "target",
    "role",
    "aria",
    "name",
    "cursor",
    "transform",
    "src",
    "url",
    "href",
    "schema",
    "animation",
    "gradient",
    "filter",
    "layout",
    "tracking",
    "platform",
    "media",
];

/// Keys whose one word says how something looks or works.
const TECHNICAL: &[&str] = &[
    "appearance",
    "as",
    "charset",
    "component",
    "currency",
    "density",
    "dir",
    "direction",
    "element",
    "emphasis",
    "encoding",
    "fit",
    "format",
    "hideon",
    "icon",
    "in",
    "intent",
    "justify",
    "key",
    "kind",
    "lang",
    "language",
    "level",
    "locale",
    "mode",
    "model",
    "operator",
    "provider",
    "ratio",
    "rounded",
    "scope",
    "severity",
    "size",
    "slot",
    "spacing",
    "tag",
    "tagname",
    "theme",
    "tone",
    "type",
    "valign",
    "variant",
    "version",
    "weight",
    "wrap",
];

pub(super) fn has_words_in(text: &str) -> bool {
    text.chars()
        .any(|char| !char.is_whitespace() && !char.is_control())
}

/// Whether readers would miss what stands under `key`.
pub(crate) fn says_something(key: &str, node: &Node) -> bool {
    let words = match becomes(key) {
        Some(
            Becomes::Image
            | Becomes::Unsubscribe
            | Becomes::Social
            | Becomes::Menu
            | Becomes::Facts,
        )
        | None => 2,
        Some(_) => 1,
    };
    let plain = plain(key);
    let looks = words == 2
        && (plain == "id" || plain == "rel" || LOOKS.iter().any(|part| plain.contains(part)));
    let moment = matches!(node.value, Value::Number(_))
        && matches!(plain.as_str(), "time" | "date" | "duration");
    if looks || moment || is_aside(key) {
        return false;
    }
    let alone = !TECHNICAL.contains(&plain.as_str()) && node.as_str().is_some_and(is_spoken);
    alone || speaks(node, words)
}

/// The same where one word is enough.
pub(crate) fn may_be_read(key: &str, node: &Node) -> bool {
    let plain = plain(key);
    let looks = becomes(key).is_none()
        && (plain == "id"
            || plain == "rel"
            || TECHNICAL.contains(&plain.as_str())
            || LOOKS.iter().any(|part| plain.contains(part)));
    says_something(key, node) || !looks && !is_aside(key) && speaks(node, 1)
}

/// Whether a key is a comment of the writer.
fn is_aside(key: &str) -> bool {
    key.starts_with(['_', '$', '@', '#', '/'])
}

/// Whether one word looks as words for readers do: with a capital, or an amount of money.
fn is_spoken(text: &str) -> bool {
    let text = text.trim();
    let mut chars = text.chars();
    let capital = chars.next().is_some_and(char::is_uppercase)
        && chars.clone().count() >= 2
        && chars.all(|char| char.is_lowercase() || matches!(char, '.' | '!' | '?' | ','));
    // A date, a place with its number.
    let several = text.split_whitespace().count() > 1
        && text
            .split_whitespace()
            .any(|word| word.starts_with(char::is_uppercase) && word.chars().count() > 2);
    // A number of an order, which is no colour.
    let number = text.chars().count() >= 4
        && !text.starts_with('#')
        && text.chars().any(|char| char.is_ascii_digit())
        && text.chars().any(char::is_uppercase);
    let foreign = text
        .chars()
        .any(|char| char.is_alphabetic() && !char.is_ascii());
    let money = text
        .chars()
        .any(|char| matches!(char, '$' | '€' | '£' | '¥' | '₹'))
        && text.chars().any(|char| char.is_ascii_digit());
    capital || several || number || foreign || money
}

/// Whether a value is an address that can be followed.
pub(crate) fn is_address(node: &Node) -> bool {
    node.as_str().is_some_and(|text| {
        let text = text.trim();
        ["https://", "http://", "mailto:", "tel:", "{{"]
            .iter()
            .any(|start| text.starts_with(start))
    })
}

/// Whether a value under `key` is the address of a target or of a picture.
pub(crate) fn leads(key: &str, node: &Node) -> bool {
    let picture = [
        "src",
        "image",
        "img",
        "logo",
        "photo",
        "picture",
        "avatar",
        "banner",
        "poster",
        "thumbnail",
    ];
    let key_of = plain(key);
    let named = picture.iter().any(|part| key_of == *part) || is_target(key, node);
    named && is_address(node) && !node.as_str().is_some_and(|text| text.starts_with("{{"))
}

/// Whether what stands under `key` says how something looks.
pub(crate) fn is_look(key: &str) -> bool {
    let plain = plain(key);
    becomes(key).is_none() && LOOKS.iter().any(|part| plain.contains(part))
}

/// Whether a value under `key` leads somewhere.
pub(crate) fn is_target(key: &str, node: &Node) -> bool {
    const NAMED: &[&str] = &[
        "href",
        "url",
        "link",
        "to",
        "buttonurl",
        "ctaurl",
        "actionurl",
        "linkurl",
        "ctalink",
        "ctahref",
        "buttonlink",
        "buttonhref",
        "readmoreurl",
    ];
    let plain = plain(key);
    let whole = node.as_str().is_some_and(|text| {
        let text = text.trim_start();
        ["https://", "http://", "mailto:", "tel:"]
            .iter()
            .any(|start| text.starts_with(start))
            && !text.contains(char::is_whitespace)
    });
    let picture = ["icon", "xmlns", "font", "schema", "background", "style"];
    let other = picture.iter().any(|part| plain.contains(part)) || is_aside(key);
    is_address(node) && NAMED.contains(&plain.as_str()) || whole && !other
}

/// Whether a value holds at least so many words; of lists and objects, whether they hold blocks.
pub(super) fn speaks(node: &Node, words: usize) -> bool {
    match &node.value {
        Value::String(text) => {
            let found = text
                .split_whitespace()
                .filter(|word| word.chars().filter(|char| char.is_alphabetic()).count() > 1);
            words == 1 && has_words_in(text) || found.count() >= words
        }
        Value::Number(_) => words == 1,
        Value::Array(items) => items.iter().any(|item| match &item.value {
            Value::String(_) => speaks(item, words),
            Value::Number(_) => false,
            _ => speaks(item, 2),
        }),
        Value::Object(object) => object
            .0
            .iter()
            .any(|(key, inner)| says_something(key, inner)),
        _ => false,
    }
}
