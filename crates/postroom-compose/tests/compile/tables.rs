//! Data tables as plain text.

use postroom_compose::{dialect::Dialect, emit::Target};
use serde_json::{Value, json};

use crate::{compiled, document};

fn table(rows: &Value, variables: &Value) -> postroom_compose::model::Document {
    document(&json!({"version": 2, "kind": "personal",
        "meta": {"subject": "Plan", "preheader": "Words that stand in a preview line of a mail.", "lang": "en"},
        "variables": variables,
        "root": {"type": "body", "children": [{"type": "section", "children": [{"type": "column", "children": [
            {"type": "table", "align": ["left", "left", "right"], "children": rows}]}]}]}}))
}

fn row(cells: [&str; 3]) -> Value {
    let cells = cells.map(|text| json!({"type": "cell", "text": text}));
    json!({"type": "row", "children": cells})
}

const LONG: [&str; 3] = [
    "Wine from the valley of the river Douro",
    "A red wine of the year two thousand and twenty with a long finish",
    "20.00",
];

#[test]
fn a_table_that_is_too_wide_wraps_its_cells() {
    let rows = json!([
        row(["Item with a long name", "Description", "Cost"]),
        row(LONG)
    ]);
    let text = compiled(&table(&rows, &json!([])), Target::Text, Dialect::None).code;
    let longest = text.lines().map(|line| line.chars().count()).max();
    assert!(longest.is_some_and(|longest| longest <= 78), "{text}");
    // Columns begin at one place, and numbers end at one.
    let lines: Vec<&str> = text.lines().collect();
    let starts = |word: &str| lines.iter().find_map(|line| line.find(word));
    assert_eq!(starts("Description"), starts("A red"), "{text}");
    let ends = |word: &str| {
        lines
            .iter()
            .find(|line| line.ends_with(word))
            .map(|line| line.len())
    };
    assert_eq!(ends("Cost"), ends("20.00"), "{text}");
    for word in LONG.iter().flat_map(|cell| cell.split(' ')) {
        assert!(text.contains(word), "{word} is missing of {text}");
    }
}

#[test]
fn a_table_that_fits_stays_on_its_lines() {
    let rows = json!([
        row(["Tea", "Green", "3.00"]),
        row(["Coffee", "Black", "12.00"])
    ]);
    let text = compiled(&table(&rows, &json!([])), Target::Text, Dialect::None).code;
    assert_eq!(text, "Tea     Green   3.00\nCoffee  Black  12.00\n");
}

/// What wraps does not depend on values: a template filled in reads as a preview does.
#[test]
fn values_wrap_nothing_that_is_beside_them() {
    let rows = json!([
        row(LONG),
        row([
            "{{ name }}",
            "Words beside a value that are long enough to need two lines",
            "1",
        ])
    ]);
    let folded = |dialect, sample: &str| {
        let variables = json!([{"name": "name", "sample": sample}]);
        let text = compiled(&table(&rows, &variables), Target::Text, dialect).code;
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let shown = folded(Dialect::None, "NAME");
    for dialect in [
        Dialect::Jinja2,
        Dialect::Liquid,
        Dialect::Mustache,
        Dialect::Go,
    ] {
        let written = folded(dialect, "NAME");
        let tag = |char| written.find(char);
        let (Some(open), Some(close)) = (tag("{{"), tag("}}")) else {
            panic!("no tag in {written}");
        };
        let end = close
            + written[close..]
                .chars()
                .take_while(|char| *char == '}')
                .count();
        let filled = format!("{}NAME{}", &written[..open], &written[end..]);
        assert_eq!(filled, shown, "{dialect:?}");
    }
    let longer = folded(Dialect::None, &"N".repeat(50));
    assert_eq!(longer.replace(&"N".repeat(50), "NAME"), shown);
}
