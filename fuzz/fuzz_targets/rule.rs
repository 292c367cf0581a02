//! Every expression is a rule or says where it is none; every payload is judged by every rule.
#![no_main]

use postroom_core::routing::{Action, Delivered, Envelope, Rule, RuleSet, Rules};

libfuzzer_sys::fuzz_target!(|input: (&str, &[u8])| {
    let (expr, body) = input;
    let set = RuleSet {
        rules: vec![Rule {
            id: None,
            name: None,
            expr: expr.to_owned(),
            action: Action::Drop,
        }],
        ..RuleSet::default()
    };
    let envelope = Envelope::of(&Delivered {
        source: "github",
        body,
        ..Delivered::default()
    });
    match Rules::compile(&set) {
        Ok(rules) => assert_eq!(rules.evaluate(&envelope), rules.evaluate(&envelope)),
        Err(error) => assert!(error.position.is_none_or(|at| at <= expr.chars().count())),
    }
});
