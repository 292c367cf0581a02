//! Routing rules: what may be written, what it decides, what it can never do.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why and ends"
)]

use std::collections::BTreeMap;

use postroom_core::{
    Disposition,
    routing::{
        Action, Delivered, Envelope, Judgement, MailFacts, Matching, RuleError, RuleSet, Rules,
        TrustedActors,
    },
};
use postroom_types::{ErrorCode, limit::RULE_TEXT_BYTES};
use proptest::prelude::*;
use serde_json::{Value, json};

fn rule(expr: &str, queue: &str) -> Value {
    json!({"expr": expr, "action": {"queue": queue}})
}

fn compile(set: &Value) -> Result<Rules, RuleError> {
    Rules::compile(&RuleSet::read(set)?)
}

fn compile_one(expr: &str) -> Result<Rules, RuleError> {
    compile(&json!({"rules": [rule(expr, "matched")]}))
}

/// A delivery of GitHub with an issue in it.
fn delivery() -> Envelope {
    let body = json!({
        "action": "labeled",
        "label": {"name": "agent"},
        "issue": {
            "number": 7, "title": "It breaks", "state": "open", "body": "héllo",
            "html_url": "https://forge.example/o/r/issues/7",
            "user": {"login": "Mallory"}, "labels": [{"name": "agent"}, {"name": "bug"}],
        },
        "repository": {"full_name": "o/r"},
        "sender": {"login": "alice"},
        "count": 3, "ratio": 0.5, "big": 18_446_744_073_709_551_615_u64, "none": null,
        "commits": [
            {"id": "a1", "added": ["src/lib.rs"], "n": 1},
            {"id": "b2", "added": ["docs/x.md"], "n": 2},
        ],
        "text": "Hello World",
    })
    .to_string();
    let headers = BTreeMap::from([("X-GitHub-Event".to_owned(), "issues".to_owned())]);
    let trusted = TrustedActors {
        logins: vec!["Alice".to_owned()],
        ..TrustedActors::default()
    };
    let params = json!({"repos": ["o/r", "o/s"], "limit": 5});
    Envelope::of(&Delivered {
        source: "github",
        kind: "webhook",
        event_type: Some("issues"),
        trust_mode: "signed",
        verified: true,
        content_type: Some("application/json"),
        headers: Some(&headers),
        body: body.as_bytes(),
        trusted_actors: Some(&trusted),
        params: params.as_object(),
        ..Delivered::default()
    })
}

fn judge(expr: &str) -> Judgement {
    compile_one(expr)
        .unwrap_or_else(|error| panic!("{expr}: {error}"))
        .evaluate(&delivery())
}

#[test]
fn expressions_see_the_delivery() {
    for (expr, matches) in [
        ("true", true),
        ("source == 'github' && kind == 'webhook'", true),
        (
            "event.source == 'github' && event.payload.action == payload.action",
            true,
        ),
        ("event_type == 'issues'", true),
        ("trust_mode == 'signed' && verified", true),
        ("content_type == 'application/json' && size > 100", true),
        ("headers['x-github-event'] == 'issues'", true),
        (
            "'x-github-event' in headers && !('x-other' in headers)",
            true,
        ),
        ("has(headers.authorization)", false),
        (
            "payload.action == 'labeled' && payload.label.name == 'agent'",
            true,
        ),
        ("payload['action'] == \"labeled\"", true),
        ("payload.action in ['opened', 'labeled']", true),
        (
            "has(payload.issue.number) && !has(payload.issue.milestone)",
            true,
        ),
        ("payload.none == null && payload != null", true),
        (
            "payload.count == 3 && payload.count < 4 && payload.ratio >= 0.5",
            true,
        ),
        (
            "payload.count + 1 == 4 && payload.count * 2 == 6 && -payload.count == -3",
            true,
        ),
        ("payload.big == 18446744073709551615u", true),
        ("payload.commits.exists(c, c.id == 'b2')", true),
        ("payload.commits.all(c, c.n > 0)", true),
        ("payload.commits.exists_one(c, c.n == 1)", true),
        ("payload.commits.filter(c, c.n > 1).size() == 1", true),
        (
            "payload.commits.map(c, c.id) == payload.commits.map(c, c.id)",
            true,
        ),
        ("payload.commits.map(c, c.n > 1, c.id).size() == 1", true),
        ("size(payload.commits.map(c, c.id)) == 2", true),
        ("payload.commits[1].added[0].startsWith('docs/')", true),
        ("payload.commits.exists(c, 'docs/x.md' in c.added)", true),
        ("headers.exists(name, name == 'x-github-event')", true),
        (
            "size(payload.commits) == 2 && size(payload.text) == 11",
            true,
        ),
        (
            "payload.text.contains('World') && payload.text.endsWith('rld')",
            true,
        ),
        ("payload.text.lowerAscii() == 'hello world'", true),
        ("payload.text.matches('^Hello [A-Z]')", true),
        ("payload.text.matches('(?i)^hello w')", true),
        ("payload.text.matches('^World')", false),
        (
            "string(payload.count) == '3' && int('4') == 4 && double(1) == 1.0",
            true,
        ),
        (
            "issue.repo == 'o/r' && issue.number == 7 && issue.key == 'github:o/r#7'",
            true,
        ),
        (
            "'agent' in issue.labels && issue.label == 'agent' && issue.label_event == 'labeled'",
            true,
        ),
        (
            "issue.author == 'Mallory' && issue.sender == 'alice' && issue.body_size == 6",
            true,
        ),
        (
            "actor.sender == 'alice' && actor.sender_trusted && !actor.author_trusted",
            true,
        ),
        ("actor.trusted", true),
        ("issue.repo in params.repos && params.limit == 5", true),
        ("mail.from == null && mail.labels == null", true),
        (
            "payload.action == 'closed' ? true : payload.count == 3",
            true,
        ),
        ("payload.missing == 1 || true", true),
        (
            "payload.commits == payload.commits && payload.issue == payload.issue",
            true,
        ),
        ("payload.commits == payload.issue", false),
        ("'a' == 1", false),
    ] {
        let judgement = judge(expr);
        assert!(
            judgement.trace.faults.is_empty(),
            "{expr}: {:?}",
            judgement.trace.faults
        );
        assert_eq!(
            judgement.queue.as_deref() == Some("matched"),
            matches,
            "{expr}"
        );
        assert_eq!(judgement.disposition, Disposition::Routed, "{expr}");
    }
}

#[test]
fn a_fault_quarantines_and_no_later_rule_is_asked() {
    for (expr, cause) in [
        ("payload.missing == 1", "missing_key"),
        ("payload.issue.milestone.title == 'x'", "missing_key"),
        ("payload.commits[2].id == 'x'", "missing_key"),
        ("payload.commits[-1].id == 'x'", "missing_key"),
        ("headers['x-none'] == 'x'", "missing_key"),
        ("payload.action > 1", "type_error"),
        ("payload.action.name == 'x'", "type_error"),
        ("payload.none.x == 1", "type_error"),
        ("payload.count.contains('x')", "type_error"),
        ("payload.text + 1 == 'x'", "type_error"),
        ("payload.count.exists(x, true)", "type_error"),
        ("payload.count && true", "type_error"),
        ("!payload.text", "type_error"),
        ("size(payload.count) == 1", "type_error"),
        ("payload.action", "not_boolean"),
        ("payload", "not_boolean"),
        ("null", "not_boolean"),
        ("payload.commits.map(c, c.id)", "not_boolean"),
        ("1 / 0 == 1", "error"),
        ("1 % 0 == 1", "error"),
        ("9223372036854775807 + payload.count > 0", "error"),
        ("int(payload.text) == 1", "error"),
    ] {
        let set = json!({
            "rules": [
                {"id": "never", "expr": "false", "action": {"drop": true}},
                {"id": "bad", "name": "Bad", "expr": expr, "action": {"drop": true}},
                rule("true", "later"),
            ],
            "default": {"queue": "default"},
        });
        let rules = compile(&set).unwrap_or_else(|error| panic!("{expr}: {error}"));
        let judgement = rules.evaluate(&delivery());
        assert_eq!(judgement.disposition, Disposition::Faulted, "{expr}");
        assert_eq!(judgement.queue.as_deref(), Some("quarantine"));
        let trace = serde_json::to_value(&judgement.trace).expect("JSON");
        assert_eq!(trace["faults"][0]["cause"], cause, "{expr}");
        assert_eq!(trace["faults"][0]["rule_index"], 1);
        assert_eq!(trace["faults"][0]["rule_id"], "bad");
        assert_eq!(
            (&trace["stage"], &trace["cause"]),
            (&json!("rule"), &json!("rule_fault"))
        );
        assert_eq!(trace["action"], json!({"quarantine": true}));
        assert!(!trace.to_string().contains("Hello") && !trace.to_string().contains("a1"));
    }
}

#[test]
fn an_expression_of_another_shape_is_refused_where_it_stands() {
    let deep = format!("{}true{}", "(".repeat(200), ")".repeat(200));
    let not = format!("{}true", "!".repeat(4_000));
    let fields = format!("payload{}", ".a".repeat(2_000));
    let sums = format!("{}1 == 1", "1+".repeat(2_000));
    let ors = format!("{}true", "true||".repeat(600));
    let lists = format!("1 in {}{}", "[".repeat(1_000), "]".repeat(1_000));
    let choices = format!("{}true", "true?true:".repeat(400));
    for (expr, code, position) in [
        ("", ErrorCode::InvalidExpression, None),
        ("payload.", ErrorCode::InvalidExpression, None),
        ("payload ==", ErrorCode::InvalidExpression, None),
        ("true true", ErrorCode::InvalidExpression, None),
        ("'open", ErrorCode::InvalidExpression, None),
        ("true && nobody.x", ErrorCode::InvalidExpression, Some(8)),
        ("$params", ErrorCode::InvalidExpression, None),
        ("int == int", ErrorCode::InvalidExpression, Some(0)),
        ("'é' == 'é' && other", ErrorCode::InvalidExpression, None),
        ("true || now() > 1", ErrorCode::ForbiddenFunction, None),
        (
            "timestamp('2026-01-01T00:00:00Z') == payload.x",
            ErrorCode::ForbiddenFunction,
            None,
        ),
        (
            "duration('1s') == duration('1s')",
            ErrorCode::ForbiddenFunction,
            None,
        ),
        ("env('HOME') == ''", ErrorCode::ForbiddenFunction, None),
        ("input == 1", ErrorCode::InvalidExpression, Some(0)),
        (
            "payload.getHours() == 1",
            ErrorCode::ForbiddenFunction,
            None,
        ),
        ("type(payload) == 1", ErrorCode::ForbiddenFunction, None),
        ("dyn(payload) == 1", ErrorCode::ForbiddenFunction, None),
        ("optional.none() == 1", ErrorCode::ForbiddenFunction, None),
        ("payload.?a == 1", ErrorCode::InvalidExpression, None),
        (
            "payload.commits.exists(c, c.added.exists(a, a == 'x'))",
            ErrorCode::InvalidExpression,
            None,
        ),
        (
            "payload.a.map(c, c.b.map(d, d))[0]",
            ErrorCode::InvalidExpression,
            None,
        ),
        (
            "payload.a.filter(c, c).exists(d, d)",
            ErrorCode::InvalidExpression,
            None,
        ),
        (
            "payload.commits.exists(payload, true)",
            ErrorCode::InvalidExpression,
            None,
        ),
        (
            "c.id == 'x' || payload.commits.exists(c, true)",
            ErrorCode::InvalidExpression,
            Some(0),
        ),
        ("@result", ErrorCode::InvalidExpression, None),
        ("[1, 2] == payload.x", ErrorCode::InvalidExpression, None),
        ("payload.x in [[1]]", ErrorCode::InvalidExpression, None),
        ("{'a': 1} == payload", ErrorCode::InvalidExpression, None),
        (
            "Message{a: 1} == payload",
            ErrorCode::InvalidExpression,
            None,
        ),
        (
            "payload.text.matches(payload.text)",
            ErrorCode::InvalidExpression,
            None,
        ),
        (
            "payload.text.matches('(')",
            ErrorCode::InvalidExpression,
            None,
        ),
        (
            "payload.text.matches('(a{1000}){1000}')",
            ErrorCode::InvalidExpression,
            None,
        ),
        (
            "payload.text.matches('((((((((((((((((((((a))))))))))))))))))))')",
            ErrorCode::InvalidExpression,
            None,
        ),
        ("payload.commits.map()", ErrorCode::InvalidExpression, None),
        ("has(payload)", ErrorCode::InvalidExpression, None),
        (&deep, ErrorCode::InvalidExpression, None),
        (&not, ErrorCode::InvalidExpression, None),
        (&fields, ErrorCode::InvalidExpression, None),
        (&sums, ErrorCode::InvalidExpression, None),
        (&ors, ErrorCode::InvalidExpression, None),
        (&lists, ErrorCode::InvalidExpression, None),
        (&choices, ErrorCode::InvalidExpression, None),
    ] {
        let shown: String = expr.chars().take(60).collect();
        let error =
            compile(&json!({"rules": [rule("true", "a"), rule(expr, "b")]})).expect_err(&shown);
        assert_eq!(error.code, code, "{shown}: {error}");
        assert_eq!(error.rule_index, Some(1), "{shown}");
        if position.is_some() {
            assert_eq!(error.position, position, "{shown}: {error}");
        }
        assert!(
            error.position.is_none_or(|at| at <= expr.chars().count()),
            "{shown}"
        );
    }
}

#[test]
fn a_rule_of_another_shape_is_refused() {
    let rules = |count: usize| json!({"rules": vec![rule("true", "q"); count]});
    let expr = |bytes: usize| rule(&format!("'{}' == ''", "a".repeat(bytes - 8)), "q");
    let with = |key: &str, value: Value| {
        let mut rule = rule("true", "q");
        rule[key] = value;
        json!({"rules": [rule]})
    };
    let action = |action: Value| json!({"rules": [{"expr": "true", "action": action}]});
    let macros = |count: usize| {
        let one = "payload.a.exists(c, true)";
        rule(&vec![one; count].join(" || "), "q")
    };
    let sums = |count: usize| rule(&format!("{}1 == 1", "1+".repeat(count)), "q");
    let tags = |count: usize| json!({"queue": "q", "tags": vec!["a"; count]});
    let params = |bytes: usize| json!({"params": {"a": "x".repeat(bytes - 8)}});
    let one = |rule: Value| json!({"rules": [rule]});
    for (set, code) in [
        (json!({}), None),
        (rules(32), None),
        (rules(33), Some(ErrorCode::TooManyRules)),
        (one(expr(4_096)), None),
        (one(expr(4_097)), Some(ErrorCode::InvalidExpression)),
        (with("name", json!("n".repeat(128))), None),
        (
            with("name", json!("n".repeat(129))),
            Some(ErrorCode::InvalidRule),
        ),
        (with("name", json!("a\nb")), Some(ErrorCode::InvalidRule)),
        (with("id", json!("i".repeat(64))), None),
        (
            with("id", json!("i".repeat(65))),
            Some(ErrorCode::InvalidRule),
        ),
        (with("id", json!("")), Some(ErrorCode::InvalidRule)),
        (with("id", json!("a b")), Some(ErrorCode::InvalidRule)),
        (with("other", json!(1)), Some(ErrorCode::InvalidRule)),
        (params(16 * 1_024), None),
        (params(16 * 1_024 + 1), Some(ErrorCode::InvalidRule)),
        (
            json!({"params": {"a": [1, 2], "b": true, "c": [], "d": ["x"]}}),
            None,
        ),
        (
            json!({"params": {"a": {"b": 1}}}),
            Some(ErrorCode::InvalidRule),
        ),
        (
            json!({"params": {"a": [1, "b"]}}),
            Some(ErrorCode::InvalidRule),
        ),
        (
            json!({"params": {"a": [[1]]}}),
            Some(ErrorCode::InvalidRule),
        ),
        (json!({"params": {"a": null}}), Some(ErrorCode::InvalidRule)),
        (json!({"params": 1}), Some(ErrorCode::InvalidRule)),
        (json!({"rules": {}}), Some(ErrorCode::InvalidRule)),
        (one(macros(4)), None),
        (one(macros(5)), Some(ErrorCode::InvalidExpression)),
        (one(sums(16)), None),
        (one(sums(17)), Some(ErrorCode::InvalidExpression)),
        (action(tags(16)), None),
        (action(tags(17)), Some(ErrorCode::InvalidRule)),
        (
            action(json!({"queue": "q", "tags": ["A b"]})),
            Some(ErrorCode::InvalidRule),
        ),
        (
            action(json!({"queue": "q", "priority": 100, "once": true})),
            None,
        ),
        (
            action(json!({"queue": "q", "priority": 101})),
            Some(ErrorCode::InvalidRule),
        ),
        (action(json!({"queue": "Q"})), Some(ErrorCode::InvalidRule)),
        (action(json!({"queue": ""})), Some(ErrorCode::InvalidRule)),
        (
            action(json!({"queue": "quarantine"})),
            Some(ErrorCode::InvalidRule),
        ),
        (action(json!({"drop": true})), None),
        (action(json!({"drop": false})), Some(ErrorCode::InvalidRule)),
        (
            action(json!({"drop": true, "priority": 1})),
            Some(ErrorCode::InvalidRule),
        ),
        (
            action(json!({"drop": true, "quarantine": true})),
            Some(ErrorCode::InvalidRule),
        ),
        (action(json!({"quarantine": true})), None),
        (
            action(json!({"queue": "q", "drop": true})),
            Some(ErrorCode::InvalidRule),
        ),
        (action(json!({})), Some(ErrorCode::InvalidRule)),
        (action(json!("drop")), Some(ErrorCode::InvalidRule)),
        (
            json!({"default": {"queue": "Q"}}),
            Some(ErrorCode::InvalidRule),
        ),
        (
            json!({"rules": [{"expr": "true"}]}),
            Some(ErrorCode::InvalidRule),
        ),
        (
            json!({"rules": [
                {"id": "a", "expr": "true", "action": {"drop": true}},
                {"id": "a", "expr": "true", "action": {"drop": true}},
            ]}),
            Some(ErrorCode::InvalidRule),
        ),
    ] {
        let seen = compile(&set).map(|_| ()).map_err(|error| error.code);
        let shown: String = set.to_string().chars().take(120).collect();
        assert_eq!(seen.err(), code, "{shown}");
    }
}

#[test]
fn the_first_rule_that_matches_decides_and_the_default_when_none_does() {
    let set = |first: &str, second: &str, default: Value| {
        json!({
            "rules": [
                {"id": "one", "name": "First", "expr": first,
                 "action": {"queue": "a", "priority": 3, "once": true, "tags": ["x"]}},
                {"id": "two", "expr": second, "action": {"drop": true}},
            ],
            "default": default,
        })
    };
    let judge = |first, second, default| {
        compile(&set(first, second, default))
            .expect("rules")
            .evaluate(&delivery())
    };
    let first = judge("true", "true", json!({"quarantine": true}));
    assert_eq!(first.queue.as_deref(), Some("a"));
    assert_eq!(
        (first.priority, first.tags.as_slice()),
        (3, &["x".to_owned()][..])
    );
    assert_eq!(first.once.as_deref(), Some("a github:o/r#7"));
    assert_eq!(
        serde_json::to_value(&first.trace).expect("JSON"),
        json!({"stage": "rule", "rule_index": 0, "rule_id": "one", "rule_name": "First",
               "action": {"queue": "a", "priority": 3, "once": true, "tags": ["x"]}})
    );
    let second = judge("false", "true", json!({"quarantine": true}));
    assert_eq!(second.disposition, Disposition::Dropped);
    assert_eq!(second.trace.rule_id.as_deref(), Some("two"));
    let default = judge("false", "false", json!({"quarantine": true}));
    assert_eq!(default.disposition, Disposition::Quarantined);
    assert_eq!(
        serde_json::to_value(&default.trace).expect("JSON"),
        json!({"stage": "default", "cause": "no_match_default", "action": {"quarantine": true}})
    );
    let nothing = compile(&json!({})).expect("rules").evaluate(&delivery());
    assert_eq!(
        (nothing.disposition, nothing.queue),
        (Disposition::Routed, None)
    );
}

#[test]
fn the_envelope_has_one_shape_whatever_arrives() {
    fn shape(value: &Value, path: &str, found: &mut Vec<String>) {
        let deeper = ["/event/payload", "/event/headers", "/issue", "/params"];
        match value {
            Value::Object(map) if !deeper.contains(&path) => {
                map.iter()
                    .for_each(|(key, value)| shape(value, &format!("{path}/{key}"), found));
            }
            _ => found.push(path.to_owned()),
        }
    }
    let to = ["b@x.example".to_owned()];
    let labels = ["inbox".to_owned()];
    let mail = Delivered {
        source: "resend",
        kind: "mail",
        body: b"not JSON",
        mail: Some(MailFacts {
            from: Some("a@x.example"),
            to: &to,
            subject: Some("Hi"),
            verdict: Some("pass"),
            labels: &labels,
            has_attachment: true,
        }),
        ..Delivered::default()
    };
    let mut shapes = Vec::new();
    for envelope in [
        delivery(),
        Envelope::of(&mail),
        Envelope::of(&Delivered::default()),
    ] {
        let mut found = Vec::new();
        shape(envelope.json(), "", &mut found);
        found.sort();
        shapes.push(found);
    }
    assert!(
        shapes.windows(2).all(|pair| pair[0] == pair[1]),
        "{shapes:?}"
    );
    let expr = "mail.from == 'a@x.example' && 'inbox' in mail.labels && mail.has_attachment \
                && mail.to[0].endsWith('@x.example') && payload == null && issue == null";
    let rules = compile_one(expr).expect("rules");
    assert_eq!(
        rules.evaluate(&Envelope::of(&mail)).queue.as_deref(),
        Some("matched")
    );
}

#[test]
fn payloads_that_are_no_json_are_null() {
    let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
    for body in [&b""[..], b"{", b"\xff\xfe", b"a=b&c=d", b"{} {}", &deep] {
        let envelope = Envelope::of(&Delivered {
            body,
            ..Delivered::default()
        });
        assert!(envelope.json()["event"]["payload"].is_null());
        assert_eq!(envelope.json()["event"]["size"], body.len());
    }
}

#[test]
fn an_answer_that_lies_behind_the_thousandth_item_is_a_fault() {
    for items in [1_000_u32, 1_001] {
        let map: serde_json::Map<String, Value> = (1..=items)
            .map(|key| (format!("k{key:04}"), json!(key)))
            .collect();
        let list = (1..=items).collect::<Vec<u32>>();
        let body = json!({"items": list, "same": list, "map": map}).to_string();
        let envelope = Envelope::of(&Delivered {
            body: body.as_bytes(),
            ..Delivered::default()
        });
        let is_long = items > 1_000;
        for (expr, whole, cut) in [
            // What is known without walking to the end is known of the longer list too.
            (
                &*format!("size(payload.items) == {items}"),
                Some(true),
                Some(true),
            ),
            ("payload.items.exists(i, i == 999)", Some(true), Some(true)),
            ("1000 in payload.items", Some(true), Some(true)),
            ("payload.items.all(i, i < 7)", Some(false), Some(false)),
            ("payload.map.k1000 == 1000", Some(true), Some(true)),
            ("has(payload.map.k1001)", Some(false), Some(true)),
            ("payload.items != payload.map.k0001", Some(true), Some(true)),
            (
                "size(payload.items) > 1000 && payload.items[1000] == 1001",
                Some(false),
                Some(true),
            ),
            // What only the end would tell is not told.
            ("payload.items.all(i, i < 1001)", Some(true), None),
            ("!payload.items.exists(i, i == 1001)", Some(true), None),
            ("1001 in payload.items", Some(false), None),
            ("payload.items.exists_one(i, i == 1)", Some(true), None),
            ("size(payload.items.filter(i, i > 0)) > 7", Some(true), None),
            ("payload.items == payload.same", Some(true), None),
            ("payload.map.all(k, k != 'k1001')", Some(true), None),
            // Not even beside something that is so anyhow.
            (
                "payload.items.all(i, i < 1001) || size(payload.items) > 0",
                Some(true),
                None,
            ),
        ] {
            let expected = if is_long { cut } else { whole };
            let judgement = compile_one(expr).expect("rules").evaluate(&envelope);
            let fault = judgement.trace.faults.first().map(|fault| fault.cause);
            match expected {
                Some(matches) => {
                    assert_eq!(fault, None, "{expr} of {items}");
                    assert_eq!(judgement.queue.is_some(), matches, "{expr} of {items}");
                }
                None => assert_eq!(fault, Some("list_too_long"), "{expr} of {items}"),
            }
        }
    }
}

#[test]
fn a_text_that_is_not_seen_whole_is_told_of() {
    for (bytes, is_cut) in [(RULE_TEXT_BYTES, false), (RULE_TEXT_BYTES + 1, true)] {
        let body = json!({"text": "a".repeat(bytes), "other": 1}).to_string();
        let envelope = Envelope::of(&Delivered {
            body: body.as_bytes(),
            ..Delivered::default()
        });
        for (expr, looks) in [
            ("payload.text.contains('b')", true),
            ("payload.other == 2", false),
        ] {
            let trace = compile_one(expr).expect("rules").evaluate(&envelope).trace;
            assert_eq!(trace.truncated, is_cut && looks, "{expr} of {bytes}");
        }
    }
}

#[test]
fn what_rules_look_at_is_known_before_they_are_asked() {
    for (expr, content) in [
        ("event_type == 'a'", false),
        ("event.event_type == 'a' && event.verified", false),
        ("headers['x'] == 'a' && params.a == 1", false),
        ("issue.number == 1 || actor.trusted", false),
        ("params.list.exists(i, i == source)", false),
        ("mail.subject == 'a'", true),
        ("has(mail.from)", true),
        ("payload.a == 1", true),
        ("event.payload.a == 1", true),
        ("has(event.payload)", true),
        ("event['payload'].a == 1", true),
        ("'payload' in event", true),
        ("params.list.exists(i, i == payload.a)", true),
        ("payload.list.exists(i, i == 1)", true),
        ("source in [mail.from]", true),
        (
            "verified || !(trust_mode == 'smtp' && mail.to == null)",
            true,
        ),
    ] {
        assert_eq!(
            compile_one(expr).expect(expr).read_content(),
            content,
            "{expr}"
        );
    }
}

#[test]
fn nobody_is_trusted_whom_the_source_does_not_name_or_who_was_not_verified() {
    let body = json!({"sender": {"login": "alice"}, "comment": {"user": {"login": "bob"}}});
    let body = body.to_string();
    let trusted = |allow_all, logins: &[&str], matching, verified| {
        let trusted = TrustedActors {
            allow_all,
            logins: logins.iter().map(|login| (*login).to_owned()).collect(),
            matching,
        };
        let envelope = Envelope::of(&Delivered {
            source: "github",
            verified,
            body: body.as_bytes(),
            trusted_actors: Some(&trusted),
            ..Delivered::default()
        });
        envelope.json()["actor"]["trusted"] == true
    };
    for (allow_all, logins, matching, verified, expected) in [
        (false, &["ALICE"][..], Matching::Sender, true, true),
        (false, &["alice"], Matching::Author, true, false),
        (false, &["alice"], Matching::Both, true, false),
        (false, &["alice", "bob"], Matching::Both, true, true),
        (false, &["alice", "bob"], Matching::Both, false, false),
        (true, &[], Matching::Both, true, true),
        (true, &[], Matching::Both, false, false),
        (false, &[], Matching::Sender, true, false),
    ] {
        assert_eq!(
            trusted(allow_all, logins, matching, verified),
            expected,
            "{logins:?} {matching:?}"
        );
    }
}

#[test]
fn forges_have_one_shape_of_issue() {
    let hub = delivery();
    let body = json!({
        "object_kind": "issue", "user": {"username": "carol"},
        "project": {"path_with_namespace": "g/p"}, "labels": [{"title": "bug"}],
        "object_attributes": {"iid": 9, "title": "T", "state": "opened", "action": "open",
                              "url": "https://lab.example/g/p/9", "description": "abc"},
    })
    .to_string();
    let lab = Envelope::of(&Delivered {
        source: "gitlab",
        event_type: Some("Issue Hook"),
        body: body.as_bytes(),
        ..Delivered::default()
    });
    let keys = |envelope: &Envelope| -> Vec<String> {
        envelope.json()["issue"]
            .as_object()
            .expect("an issue")
            .keys()
            .cloned()
            .collect()
    };
    assert_eq!(keys(&hub), keys(&lab));
    assert_eq!(lab.subject(), Some("gitlab:g/p#9"));
    assert_eq!(lab.json()["actor"]["sender"], "carol");
    let push = Envelope::of(&Delivered {
        source: "github",
        body: b"{\"ref\":\"x\"}",
        ..Delivered::default()
    });
    assert!(push.json()["issue"].is_null() && push.subject().is_none());
}

#[test]
fn a_rule_that_would_run_away_ends_as_a_fault() {
    // Every item looks at a long text that is not its own: a thousand times 64 KiB a look.
    let body = json!({
        "items": (0..1_000).collect::<Vec<u32>>(),
        "text": "a".repeat(1_000_000),
    })
    .to_string();
    let envelope = Envelope::of(&Delivered {
        body: body.as_bytes(),
        ..Delivered::default()
    });
    let look = ["payload.text.contains('b')"; 8].join(" || ");
    let expr = format!("payload.items.exists(i, {look}) || true");
    let judgement = compile_one(&expr).expect("rules").evaluate(&envelope);
    assert_eq!(judgement.disposition, Disposition::Faulted);
    assert_eq!(judgement.trace.faults[0].cause, "budget_exhausted");
    let pattern = "payload.items.exists(i, payload.text.matches('(a|b|ab)*c'))";
    let judgement = compile_one(pattern).expect("rules").evaluate(&envelope);
    assert_eq!(judgement.trace.faults[0].cause, "budget_exhausted");
}

#[test]
fn rules_are_shared_between_tasks() {
    fn shared<T: Send + Sync>() {}
    shared::<Rules>();
    shared::<Envelope>();
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!("labeled")),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(
                prop_oneof![
                    Just("action".to_owned()),
                    Just("commits".to_owned()),
                    Just("issue".to_owned()),
                    Just("labels".to_owned()),
                    Just("a".to_owned()),
                    ".{0,4}"
                ],
                inner,
                0..6
            )
            .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_expr() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "payload.action == 'labeled'",
        "payload.commits.exists(c, c.a == 1)",
        "payload.commits.all(c, has(c.a))",
        "payload.labels.map(l, l).size() > 1",
        "payload.labels.filter(l, l == 'labeled').size() > 1",
        "'a' in payload",
        "payload == payload",
        "payload in payload.labels",
        "payload.a < payload.action",
        "payload.a + payload.a == payload.action",
        "payload.a.startsWith(payload.action)",
        "payload.a.matches('^[a-z]+$')",
        "size(payload) > 2",
        "string(payload.a) == '1'",
        "int(payload.a) > 0",
        "payload.labels[0] == payload.labels[payload.a]",
        "has(payload.issue) && has(payload.issue.a)",
        "!payload.a",
        "-payload.a > 0",
        "payload.a ? true : payload.action",
        "issue.number > 1",
        "verified",
        "true",
        "false",
    ])
    .prop_map(str::to_owned)
}

fn envelope_of(payload: &Value) -> Envelope {
    let body = payload.to_string();
    Envelope::of(&Delivered {
        source: "github",
        body: body.as_bytes(),
        ..Delivered::default()
    })
}

proptest! {
    #[test]
    fn any_payload_is_judged_and_always_the_same(
        payload in any_json(),
        exprs in prop::collection::vec(any_expr(), 1..6),
    ) {
        let rules: Vec<Value> = exprs.iter().enumerate().map(|(at, expr)| rule(expr, &format!("q{at}"))).collect();
        let rules = compile(&json!({"rules": rules})).expect("rules");
        let envelope = envelope_of(&payload);
        let first = rules.evaluate(&envelope);
        prop_assert_eq!(&first, &rules.evaluate(&envelope));
        prop_assert_eq!(&first, &rules.evaluate(&envelope_of(&payload)));
        // The whole is what its rules are one by one: the first that does not say no decides.
        for (at, expr) in exprs.iter().enumerate() {
            let alone = compile_one(expr).expect("rules").evaluate(&envelope);
            match (alone.disposition, alone.queue) {
                (Disposition::Faulted, _) => {
                    prop_assert_eq!(first.disposition, Disposition::Faulted);
                    prop_assert_eq!(first.trace.rule_index, Some(at));
                    return Ok(());
                }
                (_, Some(_)) => {
                    let queue = format!("q{at}");
                    prop_assert_eq!(first.queue.as_deref(), Some(queue.as_str()));
                    return Ok(());
                }
                (_, None) => {}
            }
        }
        prop_assert_eq!(first.trace.rule_index, None);
    }

    #[test]
    fn any_text_is_an_expression_or_says_where_it_is_none(text in "[a-z0-9 .()\\[\\]{}'\"!&|?:=<>+*/,@\\\\\\n-]{0,80}") {
        if let Err(error) = compile_one(&text) {
            prop_assert!(error.position.is_none_or(|at| at <= text.chars().count()));
        }
    }

    #[test]
    fn actions_read_back_as_they_were_written(priority in -100_i64..=100, once: bool, tags in prop::collection::vec("[a-z]{1,8}", 0..4)) {
        let action = Action::Queue { queue: "q".to_owned(), priority, once, tags };
        let written = serde_json::to_value(&action).expect("JSON");
        prop_assert_eq!(serde_json::from_value::<Action>(written).expect("an action"), action);
    }
}
