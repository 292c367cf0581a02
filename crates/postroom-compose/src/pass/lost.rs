//! The last guard: words and addresses that a draft had and that stand nowhere afterwards are told.

use std::collections::HashSet;

use super::{Pass, adopt, naming, values};
use crate::{
    draft::{Node, Origin, Value},
    issue::{Code, Issue},
};

/// What a draft said before anything was mended.
pub(crate) struct Said(Vec<(Origin, String, Kind)>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Words,
    Address,
}

/// Parts of a document that readers do not read.
const ASIDE: &[&str] = &[
    "variables",
    "vars",
    "theme",
    "policy",
    "attrs",
    "type",
    "kind",
    "id",
    "in",
    "as",
    "each",
    "var",
    "op",
    "cond",
    "parent",
    "slot",
    "version",
    "filter",
    "arg",
    "sample",
    "samples",
    "fonts",
    "lang",
    "language",
    "locale",
];

/// How many words are looked for inside of others; past that a word counts as gone.
const SEARCHES: usize = 400;

/// What `root` says to readers.
pub(crate) fn said(root: &Node) -> Said {
    let mut said = Vec::new();
    gather(root, "", &mut said);
    Said(said)
}

fn gather(node: &Node, key: &str, said: &mut Vec<(Origin, String, Kind)>) {
    match &node.value {
        // A document as a string.
        Value::String(text) if text.trim_start().starts_with("{\"") => {}
        Value::String(text) => {
            if adopt::leads(key, node) {
                said.push((node.origin, text.clone(), Kind::Address));
            } else if adopt::says_something(key, node) && !naming::is_condition(key, node) {
                said.push((node.origin, text.clone(), Kind::Words));
            }
        }
        Value::Array(items) => {
            for item in items {
                gather(item, key, said);
            }
        }
        Value::Object(object) => {
            let in_meta = key == "meta";
            for (key, inner) in &object.0 {
                if in_meta && !values::is_told(key, inner) {
                    continue;
                }
                let aside = ASIDE.contains(&key.as_str()) || key.starts_with(['_', '$', '@']);
                if !aside && (inner.as_str().is_some() || !adopt::is_look(key)) {
                    gather(inner, key, said);
                }
            }
        }
        _ => {}
    }
}

/// Tells of what was said and stands nowhere in `root`.
pub(crate) fn tell(said: &Said, root: &Node, pass: &mut Pass<'_, '_>) {
    if !pass.findings.has_changes() {
        return;
    }
    let mut all = String::new();
    strings(root, &mut all);
    let known: HashSet<String> = words(&all).collect();
    let lower = all.to_lowercase();
    let mut searches = SEARCHES;
    // Words that were joined to others are parts of words now.
    let mut stands = |word: &str| {
        known.contains(word)
            || searches > 0 && {
                searches -= 1;
                lower.contains(word)
            }
    };
    for (at, text, kind) in &said.0 {
        let gone: Vec<String> = match kind {
            Kind::Words => {
                let bare = bare(text);
                let gone = words(&bare).filter(|word| !stands(word));
                gone.take(20).collect()
            }
            Kind::Address => {
                let address = address(text);
                let found = all.contains(&address) || address.is_empty();
                (!found).then_some(address).into_iter().collect()
            }
        };
        if gone.is_empty() {
            continue;
        }
        let shown: String = gone.join(" ").chars().take(300).collect();
        let message = format!("No place is known for this, and a repair loses it: {shown}.");
        let issue = Issue::new(Code::TextLost, &pass.findings.origins.source(*at), message);
        pass.findings.push(*at, issue);
    }
}

/// Every string, one after the other.
fn strings(node: &Node, out: &mut String) {
    match &node.value {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(object) => {
            for (key, inner) in &object.0 {
                // Names of the elements of an object of samples are kept as keys.
                out.push_str(key);
                out.push('\n');
                strings(inner, out);
            }
        }
        Value::Number(number) => {
            out.push_str(&number.to_string());
            out.push('\n');
        }
        _ => {}
    }
}

/// An address without what a repair may add or take away at its ends.
fn address(text: &str) -> String {
    let text = text.trim_matches(|char: char| char.is_whitespace() || char.is_control());
    let text = text
        .split(['{', '%', '*', '&', '<', '[', '$'])
        .next()
        .unwrap_or_default();
    if text.starts_with("tel:") {
        return text.split_whitespace().collect();
    }
    text.trim_start_matches('/').to_owned()
}

/// Words of a text in lower case: two letters at least.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|char: char| !char.is_alphanumeric())
        .filter(|word| {
            word.starts_with(char::is_alphabetic)
                && word.chars().filter(|char| char.is_alphabetic()).count() > 1
        })
        .map(str::to_lowercase)
}

/// A text without tags of HTML and of template languages, without references to characters and
/// addresses.
fn bare(text: &str) -> String {
    const PAIRS: &[(&str, &str)] = &[
        ("<!--", "-->"),
        ("<style", "</style>"),
        ("<script", "</script>"),
        ("<title", "</title>"),
        ("<%", "%>"),
        ("<", ">"),
        ("{{", "}}"),
        ("{%", "%}"),
        ("${", "}"),
        ("{", "}"),
        ("*|", "|*"),
        ("[[", "]]"),
        ("%", "%"),
        ("](", ")"),
        ("&", ";"),
        ("http", " "),
        ("mailto:", " "),
    ];
    const FIRST: &[char] = &['<', '{', '$', '*', '[', '%', ']', '&', 'h', 'H', 'm', 'M'];
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    // What is not closed from here on is not closed further on either.
    let mut open_ended = [false; PAIRS.len()];
    while let Some(first) = rest.chars().next() {
        if !FIRST.contains(&first) {
            let plain = rest.find(FIRST).unwrap_or(rest.len());
            bare.push_str(rest.get(..plain).unwrap_or_default());
            rest = rest.get(plain..).unwrap_or_default();
            continue;
        }
        let mut taken = None;
        for ((open, close), open_ended) in PAIRS.iter().zip(&mut open_ended) {
            let starts = rest
                .get(..open.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(open));
            if !starts || *open_ended {
                continue;
            }
            let inner = rest.get(open.len()..).unwrap_or_default();
            let most = match *open {
                "&" => 10,
                "%" | "{" => 60,
                _ => usize::MAX,
            };
            let end = inner.floor_char_boundary(most);
            let window = inner.get(..end).unwrap_or_default();
            match window.find(close) {
                Some(at) => taken = Some(open.len() + at + close.len()),
                None if *close == " " => taken = Some(rest.len()),
                None => *open_ended = most == usize::MAX,
            }
            if taken.is_some() {
                break;
            }
        }
        let taken = match taken {
            Some(taken) => {
                bare.push(' ');
                taken
            }
            None => {
                bare.push(first);
                first.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    bare
}
