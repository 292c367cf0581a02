//! Checks and repairs documents, and measures it.
//!
//! * `compose_load check FILE`, `compose_load repair FILE`: the result as JSON.
//! * `compose_load time FILE N`: milliseconds of one check, the mean of N.
//! * `compose_load reference`: the page on codes and rules.
//! * `compose_load random N SEED`: checks and repairs N random JSON documents and ends with status 1 if
//!   one takes 50 ms of CPU time or more for a check; prints `{"documents","slowest_ms","issues"}`.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::exit,
    clippy::disallowed_methods,
    reason = "a tool for the terminal that measures time: its result is its output"
)]

use std::time::Instant;

use postroom_compose::{check, repair};
use serde_json::{Map, Value, json};

/// Longest that one check may take, milliseconds of CPU time.
const MOST_MS: f64 = 50.0;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["check", file] => {
            let text = std::fs::read_to_string(file).expect("a file");
            print(&serde_json::to_value(check(&text)).expect("JSON"));
        }
        ["repair", file] => {
            let text = std::fs::read_to_string(file).expect("a file");
            print(&serde_json::to_value(repair(&text)).expect("JSON"));
        }
        ["time", file, count] => {
            let text = std::fs::read_to_string(file).expect("a file");
            let count: u32 = count.parse().expect("a number");
            let start = Instant::now();
            for _ in 0..count {
                std::hint::black_box(check(&text));
            }
            let each = start.elapsed().as_secs_f64() * 1_000.0 / f64::from(count);
            print(&json!({"check_ms": each}));
        }
        ["reference"] => print!("{}", postroom_compose::reference()),
        ["random", count, seed] => {
            let count = count.parse().expect("a number");
            random(count, seed.parse().expect("a number"));
        }
        _ => print(&json!({"error": "see the top of the source"})),
    }
}

fn print(value: &Value) {
    println!("{value:#}");
}

/// What this thread has used of a CPU, which other programs on the machine do not change.
fn cpu_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    let nanoseconds = text
        .split(' ')
        .next()
        .and_then(|number| number.parse::<f64>().ok());
    nanoseconds.expect("a number") / 1e6
}

fn random(count: u32, seed: u64) {
    let mut dice = Dice(seed | 1);
    let (mut slowest, mut issues) = (0.0_f64, 0);
    for _ in 0..count {
        let value = dice.document();
        let text = value.to_string();
        let start = cpu_ms();
        let checked = check(&text);
        slowest = slowest.max(cpu_ms() - start);
        issues += checked.issues.len();
        let repaired = repair(&value);
        let again = repair(&repaired.document);
        if !repaired.unusable && (again.document != repaired.document || !again.applied.is_empty())
        {
            let more = repaired.applied.len();
            print(&json!({"not_idempotent": value, "applied": more, "again": again.applied}));
            std::process::exit(1);
        }
    }
    print(&json!({"documents": count, "slowest_ms": slowest, "issues": issues}));
    if slowest >= MOST_MS {
        std::process::exit(1);
    }
}

/// A generator of numbers (xorshift), so that a run can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(most).expect("small")).expect("small")
    }

    fn one<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words
            .get(self.below(words.len()))
            .copied()
            .unwrap_or_default()
    }

    fn document(&mut self) -> Value {
        if self.below(10) == 0 {
            return self.value(6);
        }
        let mut document = Map::new();
        for key in [
            "version",
            "kind",
            "meta",
            "theme",
            "variables",
            "policy",
            "root",
            "blocks",
            "subject",
        ] {
            if self.below(3) > 0 {
                let value = match key {
                    "version" => json!(self.below(4)),
                    "root" => self.block(7),
                    _ => self.value(4),
                };
                document.insert(key.to_owned(), value);
            }
        }
        Value::Object(document)
    }

    fn block(&mut self, depth: usize) -> Value {
        const KINDS: &[&str] = &[
            "body",
            "section",
            "panel",
            "hero",
            "column",
            "if",
            "each",
            "heading",
            "text",
            "button",
            "image",
            "divider",
            "spacer",
            "list",
            "item",
            "table",
            "row",
            "cell",
            "menu",
            "menuItem",
            "social",
            "socialItem",
            "video",
            "code",
            "quote",
            "unsubscribe",
            "footer",
            "address",
            "raw",
            "cta",
            "img",
            "paragraph",
            "carousel",
            "mj-text",
            "row",
        ];
        const KEYS: &[&str] = &[
            "id",
            "text",
            "label",
            "href",
            "src",
            "alt",
            "width",
            "height",
            "color",
            "bg",
            "pad",
            "padding-top",
            "size",
            "level",
            "align",
            "cond",
            "in",
            "as",
            "lines",
            "items",
            "rows",
            "visibleIf",
            "style",
            "props",
            "content",
            "url",
            "gradient",
            "attrs",
            "poster",
            "repeat",
            "elseif",
            "showOn",
            "ordered",
            "span",
            "variant",
            "hasHeader",
            "spans",
            "button_text",
            "background",
        ];
        let mut block = Map::new();
        if self.below(12) > 0 {
            block.insert("type".to_owned(), json!(self.one(KINDS)));
        }
        for _ in 0..self.below(5) {
            let key = self.one(KEYS).to_owned();
            let value = self.value(2);
            block.insert(key, value);
        }
        if depth > 0 {
            for key in ["children", "then", "else", "empty"] {
                if self.below(if key == "children" { 2 } else { 6 }) == 0 {
                    let children = (0..self.below(5)).map(|_| self.block(depth - 1)).collect();
                    block.insert(key.to_owned(), Value::Array(children));
                }
            }
        }
        Value::Object(block)
    }

    fn value(&mut self, depth: usize) -> Value {
        const WORDS: &[&str] = &[
            "",
            "Hello {{ user.name }}",
            "{name}",
            "%a.b%",
            "*|FNAME|*",
            "<%= a.b %>",
            "{% if %}",
            "<b>bold</b>",
            "#fff",
            "red",
            "rgb(1,2,3)",
            "16px",
            "50%",
            "true",
            "center",
            "middle",
            "https://acme.test/{{ id | urlencode }}",
            "javascript:alert(1)",
            "acme.test/x",
            "\\{{ a }}",
            "**bold** [x](https://acme.test)",
            "{{",
            "}}",
            "\u{2028}",
            "]]>",
            "-->",
            "</style>",
            "\"'<>&",
            "plan == 'pro'",
            "!plan",
            "a",
            "a.b.c",
            "item.index",
            "\\",
            "{{{ a }}}",
            "\\\\{{ a }}",
            "{{#if a}}x{{else}}y{{/if}}",
            "a && !b or c.length > 0",
            "x in a.b",
            "color: red; font-size: 14px",
        ];
        match self.below(if depth == 0 { 6 } else { 9 }) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(self.below(2_000)),
            3 => json!(f64::from(u32::try_from(self.below(100_000)).expect("small")) / 7.0 - 50.0),
            4 | 5 => {
                let (one, two) = (self.one(WORDS), self.one(WORDS));
                json!(if self.below(2) == 0 {
                    one.to_owned()
                } else {
                    format!("{one}{two}")
                })
            }
            6 => (0..self.below(5)).map(|_| self.value(depth - 1)).collect(),
            7 => {
                let mut object = Map::new();
                for _ in 0..self.below(5) {
                    let key = self.one(&[
                        "type", "text", "name", "href", "children", "marks", "cond", "then", "var",
                        "op", "value", "md", "default", "filter", "arg", "all", "not", "from",
                        "to", "subject", "lang", "mode", "sample", "item", "width", "dark",
                    ]);
                    object.insert(key.to_owned(), self.value(depth - 1));
                }
                Value::Object(object)
            }
            _ => {
                let kind =
                    self.one(&["text", "var", "link", "br", "if", "button", "image", "bold"]);
                json!({"type": kind, "text": self.value(0), "name": self.value(0), "href": self.value(0)})
            }
        }
    }
}
