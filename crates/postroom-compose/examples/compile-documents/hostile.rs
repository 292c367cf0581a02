//! Documents made at random whose words are halves of template tags, put beside each other in every
//! way that a document has: spans, marks, links, line breaks, branches, loops, blocks.

use serde_json::{Value, json};

use crate::{generated::Dice, halves::HALVES};

/// A document by its number.
pub(crate) fn document(number: u64) -> Value {
    let mut dice = Dice::new(number);
    let rows: Vec<Value> = (0..dice.up_to(5) + 2).map(|_| block(&mut dice)).collect();
    json!({
        "version": 2, "kind": "personal",
        "meta": {"subject": bare(&mut dice, 2), "preheader": bare(&mut dice, 1), "lang": "en"},
        "variables": [
            {"name": "x", "sample": dice.of(&["X", "", "{{ 7*7 }}", "<%= 7 %>", "\"'&<>{%"])},
            {"name": "y", "sample": "Y"},
            {"name": "xs", "type": "list", "item": {"t": "string"}, "sample": [{"t": "a"}, {"t": "}"}]},
        ],
        "root": {"type": "body", "children": [{"type": "section", "children": [{"type": "column", "children": rows}]}]},
    })
}

fn words(dice: &mut Dice) -> Value {
    json!({"type": "text", "text": dice.of(HALVES)})
}

/// Spans without marks or links.
fn bare(dice: &mut Dice, depth: u64) -> Value {
    let mut spans = vec![json!({"type": "text", "text": "s"})];
    for _ in 0..dice.up_to(6) {
        spans.push(match dice.up_to(5) {
            0 => json!({"type": "var", "name": "x"}),
            1 => json!({"type": "var", "name": "x", "default": dice.of(&["D", "{{ d }}", "}", "|\\<%"])}),
            2 if depth > 0 => branch(dice, depth, bare),
            _ => words(dice),
        });
    }
    Value::Array(spans)
}

fn branch(dice: &mut Dice, depth: u64, inside: fn(&mut Dice, u64) -> Value) -> Value {
    let then = inside(dice, depth - 1);
    let mut node =
        json!({"type": "if", "cond": {"var": dice.of(&["x", "y"]), "op": "exists"}, "then": then});
    if dice.one_in(2) {
        node["else"] = inside(dice, depth - 1);
    }
    node
}

fn spans(dice: &mut Dice, depth: u64) -> Value {
    let mut spans = Vec::new();
    for _ in 0..dice.up_to(7) + 1 {
        spans.push(match dice.up_to(8) {
            0 => json!({"type": "var", "name": "x"}),
            1 => json!({"type": "var", "name": "x", "default": dice.of(&["D", "{{ d }}", "}", "|\\<%", "{"])}),
            2 if depth > 0 => branch(dice, depth, self::spans),
            3 => json!({"type": "link", "href": "https://acme.test/", "children": [words(dice)]}),
            4 => {
                let mut bold = words(dice);
                bold["marks"] = json!([dice.of(&["bold", "italic", "code"])]);
                bold
            }
            5 if dice.one_in(2) => json!({"type": "br"}),
            _ => words(dice),
        });
    }
    Value::Array(spans)
}

fn block(dice: &mut Dice) -> Value {
    match dice.up_to(8) {
        0 => json!({"type": "heading", "level": 2, "text": spans(dice, 1)}),
        1 => json!({"type": "button", "label": bare(dice, 0), "href": "https://acme.test/b"}),
        2 => json!({"type": "list", "children": [
            {"type": "each", "in": "xs", "as": "e", "children": [{"type": "item", "text": [words(dice), {"type": "var", "name": "e.t"}, words(dice)]}]},
            {"type": "item", "text": spans(dice, 1)}]}),
        3 => json!({"type": "table", "children": [
            {"type": "row", "children": [{"type": "cell", "text": spans(dice, 1)}, {"type": "cell", "text": spans(dice, 0)}]},
            {"type": "each", "in": "xs", "as": "e", "children": [
                {"type": "row", "children": [{"type": "cell", "text": [words(dice)]}, {"type": "cell", "text": [words(dice), {"type": "var", "name": "e.t"}]}]}]}]}),
        4 => {
            json!({"type": "code", "text": format!("{}\n{{{{ x }}}}{}", escaped(dice), escaped(dice))})
        }
        5 => {
            json!({"type": "image", "src": "https://cdn.acme.test/a.png", "width": 10, "height": 10,
            "alt": format!("a{}{{{{ x }}}}{}", escaped(dice), escaped(dice))})
        }
        6 => {
            json!({"type": "if", "cond": {"var": "x", "op": "exists"}, "then": [{"type": "text", "text": spans(dice, 1)}],
            "else": [{"type": "quote", "text": spans(dice, 1), "cite": bare(dice, 0)}]})
        }
        _ => json!({"type": "text", "text": spans(dice, 2)}),
    }
}

/// Words that a string takes as words.
fn escaped(dice: &mut Dice) -> String {
    let mut out = String::new();
    for _ in 0..dice.up_to(2) {
        out.push_str(dice.of(&[
            "}",
            "%",
            "<",
            "*",
            "|",
            "\\{{",
            "\\{% raw %}",
            "\\<%= 7 %>",
            "\\*|X|*",
            "a",
        ]));
    }
    out
}
