//! What rules cost: compiling a full set, and judging small and large deliveries by it.
//!
//! `cargo run --release -p postroom-core --example rules_cost`
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program that measures"
)]

use std::time::Instant;

use postroom_core::routing::{Delivered, Envelope, RuleSet, Rules};
use serde_json::{Value, json};

fn rules(expr: &str) -> Rules {
    let rule = json!({"expr": expr, "action": {"queue": "q"}});
    let set = json!({"rules": vec![rule; 32]});
    Rules::compile(&RuleSet::read(&set).expect("a set")).expect("rules")
}

fn measure(what: &str, rounds: u32, mut work: impl FnMut() -> String) {
    let start = Instant::now();
    let mut said = String::new();
    for _ in 0..rounds {
        said = work();
    }
    let each = start.elapsed() / rounds;
    println!("{what:<62} {each:>12.1?}  {said}");
}

fn main() {
    let usual = "event_type == 'issues' && payload.action == 'x' && 'agent' in payload.labels";
    measure("compile 32 usual rules", 20, || {
        format!("{:?}", rules(usual))
    });

    let small = json!({"action": "labeled", "labels": ["bug", "agent"]}).to_string();
    let items: Vec<Value> = (0..1_000)
        .map(|at| json!({"id": at, "text": "word ".repeat(1_000)}))
        .collect();
    let large = json!({"items": items, "text": "a".repeat(100_000)}).to_string();
    println!("large payload: {} bytes", large.len());

    for (what, body, exprs) in [
        ("small", &small, vec![usual]),
        (
            "5 MiB",
            &large,
            vec![
                "payload.items.exists(i, i.text.contains('nothing'))",
                "payload.items.exists(i, i.text == 'nothing')",
                "payload.items.all(i, i.id >= 0 && i.id < 500)",
                "payload.text.matches('(a|aa|b)*c')",
                "payload.items.exists(i, payload.text.matches('(a|aa|b)*c'))",
                "payload.items.exists(i, payload.text == payload.text && i.id < 0)",
                "payload.items == payload.items && false",
                "payload.items.map(i, i.text + i.text + i.text + i.text).size() < 0",
                "size(payload.items.filter(i, i in payload.items)) < 0",
            ],
        ),
    ] {
        let envelope = || {
            Envelope::of(&Delivered {
                source: "github",
                event_type: Some("issues"),
                body: body.as_bytes(),
                ..Delivered::default()
            })
        };
        measure(&format!("{what}: lay out"), 5, || {
            envelope().subject().unwrap_or_default().to_owned()
        });
        let envelope = envelope();
        for expr in exprs {
            let rules = rules(expr);
            measure(&format!("{what}: 32 x {expr}"), 3, || {
                let judgement = rules.evaluate(&envelope);
                let faults = judgement.trace.faults;
                let fault = faults.first().map_or("", |fault| fault.cause);
                format!("{:?} {fault}", judgement.disposition)
            });
        }
    }
}
