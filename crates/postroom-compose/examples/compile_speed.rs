//! Prints what a check and a compilation of a document of 60 blocks take, as JSON:
//! `compile_speed COUNT MJML_FILE` writes the document's MJML to the file beside.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a measurement: it reads the clock and speaks on the terminal"
)]

use std::time::Instant;

use postroom_compose::{
    check,
    dialect::Dialect,
    emit::{Options, Target, compile},
    lint,
    model::BlockKind,
};
use serde_json::{Value, json};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments
        .next()
        .and_then(|count| count.parse().ok())
        .unwrap_or(1_000);
    let text = document().to_string();
    let document = check(&text).document.expect("the document has no errors");
    let mut blocks = 0;
    document.walk(&mut |block| {
        let holds = matches!(block.kind, BlockKind::Section(_) | BlockKind::Column(_));
        blocks += usize::from(!holds);
    });
    let made = |target, dialect| {
        compile(
            &document,
            &Options {
                target,
                dialect,
                ..Options::default()
            },
        )
    };
    if let Some(file) = arguments.next() {
        std::fs::write(file, made(Target::Mjml, Dialect::None).code)
            .expect("the file can be written");
    }
    let figures = json!({
        "blocks": blocks,
        "json_bytes": text.len(),
        "html_bytes": made(Target::Html, Dialect::None).code.len(),
        "check": measure(count, &|| check(&text).issues.len()),
        "lint": measure(count, &|| lint::document(&document, &lint::Options::default()).len()),
        "html": measure(count, &|| made(Target::Html, Dialect::None).code.len()),
        "jinja2": measure(count, &|| made(Target::Html, Dialect::Jinja2).code.len()),
        "mjml": measure(count, &|| made(Target::Mjml, Dialect::None).code.len()),
    });
    println!("{figures}");
}

/// Median and 99th percentile of one run in ms, and runs in a second of CPU time.
fn measure(count: usize, run: &dyn Fn() -> usize) -> Value {
    let before = cpu_seconds();
    let mut times: Vec<f64> = (0..count)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(run());
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    let used = cpu_seconds() - before;
    times.sort_by(f64::total_cmp);
    let at = |per_cent: usize| {
        times
            .get(count * per_cent / 100)
            .copied()
            .unwrap_or_default()
    };
    json!({ "median": at(50), "worst": at(99), "a_second": count as f64 / used })
}

/// What this thread has used of a CPU, which other programs on the machine do not change much.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    let nanoseconds = text
        .split(' ')
        .next()
        .and_then(|number| number.parse::<f64>().ok());
    nanoseconds.expect("a number") / 1e9
}

/// Fifteen sections of one column with four blocks.
fn document() -> Value {
    let sections: Vec<Value> = (0..15)
        .map(|number| {
            json!({"type": "section", "children": [{"type": "column", "children": [
                {"type": "heading", "level": if number == 0 { 1 } else { 2 }, "text": format!("Part {number} for {{{{ user.name | default: \"you\" }}}}")},
                {"type": "text", "text": {"md": "Some **bold** words, a [link to the order](https://shop.acme.test/orders), and words enough that a line has to break somewhere in the middle of it."}},
                {"type": "image", "src": format!("https://cdn.acme.test/{number}.png"), "alt": format!("Picture {number}"), "width": 300, "height": 150},
                {"type": "button", "label": format!("See part {number}"), "href": format!("https://shop.acme.test/parts/{number}")},
            ]}]})
        })
        .collect();
    json!({
        "version": 2,
        "meta": {"subject": "Sixty blocks", "preheader": "A document as long as documents are, and then some more of it.", "lang": "en"},
        "variables": [{"name": "user.name", "sample": "Ada"}],
        "root": {"type": "body", "children": sections},
    })
}
