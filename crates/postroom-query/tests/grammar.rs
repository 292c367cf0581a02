//! What a query means, how it prints and where it is wrong.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why"
)]

use postroom_query::{Plan, QueryError, State, parse, plan};
use postroom_types::{
    Timestamp,
    limit::{QUERY_CHARS, QUERY_DEPTH, QUERY_LEAVES},
};
use proptest::prelude::*;

#[track_caller]
fn check(text: &str, canonical: &str) {
    let query = parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    assert_eq!(query.to_string(), canonical, "{text}");
    assert_eq!(parse(canonical).as_ref(), Ok(&query), "{canonical}");
}

#[track_caller]
fn refuse(text: &str, position: usize, expected: &str, found: Option<&str>) {
    let error = parse(text).expect_err(text);
    assert_eq!(
        (error.position, error.found.as_deref()),
        (position, found),
        "{text}: {error:?}"
    );
    assert!(error.expected.contains(expected), "{text}: {error:?}");
}

#[test]
fn or_binds_tighter_than_and() {
    check("a b OR c", "a b OR c");
    check("a (b OR c)", "a b OR c");
    check("(a b) OR c", "(a b) OR c");
    check("a OR b c OR d", "a OR b c OR d");
    check("((a)) ((b c))", "a b c");
    check("a OR (b OR c)", "a OR b OR c");
    check("a   b\t\nc", "a b c");
    check("a or b", "a or b");
    check("", "");
    check("  \n ", "");
}

#[test]
fn minus_negates_what_it_touches() {
    check("-a", "-a");
    check("-\"a b\" c", "-\"a b\" c");
    check("-(a b)", "-(a b)");
    check("-(a)", "-a");
    check("-(-a)", "-(-a)");
    check("-(a OR b) OR -c", "-(a OR b) OR -c");
    check("e-mail 2024-01-02", "e-mail 2024-01-02");
    check("-from:jo", "-from:jo");
}

#[test]
fn words_phrases_and_prefixes() {
    check("inv*", "inv*");
    check("inv***", "inv*");
    check("10:30", "10:30");
    check("\"a \\\"b\\\" \\\\ c\"", "\"a \\\"b\\\" \\\\ c\"");
    check("\"a\\b\"", "\"a\\\\b\"");
    check("\"OR\"", "\"OR\"");
    check("\"from:jo\"", "\"from:jo\"");
    check("foo\"bar baz\"qux", "foo \"bar baz\" qux");
    check("請求書 Ärger", "請求書 Ärger");
}

#[test]
fn operators_print_normalised() {
    check("FROM:Jo@Example.ORG", "from:jo@example.org");
    check("from:@Example.org", "from:@example.org");
    check("from:Example.org", "from:example.org");
    check("from:@bücher.example", "from:@xn--bcher-kva.example");
    check("from:\"Jo Li\"", "from:\"jo li\"");
    check("to:\"jo\"", "to:jo");
    check("participant:jo*", "participant:jo");
    check("to:jo+news@example.org", "to:jo+news@example.org");
    check("subject:Invoice", "subject:Invoice");
    check("subject:inv*", "subject:inv*");
    check("subject:\"due date\"", "subject:\"due date\"");
    check("label:VIP", "label:vip");
    check("Has:Attachment", "has:attachment");
    check("filename:\"Q3 Report\"", "filename:\"q3 report\"");
    check("type:DOCX", "type:doc");
    check("type:spreadsheet", "type:sheet");
    check("type:Application/PDF", "type:application/pdf");
    check("after:2024/02/29", "after:2024-02-29");
    check(
        "before:2024-01-01T02:00:00+02:00",
        "before:2024-01-01T00:00:00Z",
    );
    check(
        "before:2024-01-01T00:00:00.250Z",
        "before:2024-01-01T00:00:00.25Z",
    );
    check("newer_than:007D", "newer_than:7d");
    check("older_than:10y", "older_than:10y");
    check("in:INBOUND", "in:inbound");
    check(
        "thread:thr_01HZZZZZZZZZZZZZZZZZZZZZZZ",
        "thread:thr_01HZZZZZZZZZZZZZZZZZZZZZZZ",
    );
    check("is:Unread", "is:unread");
    check(
        "is:needs_reply -category:Billing",
        "is:needs_reply -category:billing",
    );
    check("ref:\"AB12 CDE\"", "ref:\"AB12 CDE\"");
}

#[test]
fn quotes_are_closed() {
    refuse("a \"b c", 2, "closing double quote", Some("\"b c"));
    refuse("subject:\"b", 8, "closing double quote", Some("\"b"));
    refuse("\"a\\\"", 0, "closing double quote", Some("\"a\\\""));
    refuse("a \"\"", 2, "words", Some("\"\""));
}

#[test]
fn unknown_operators_are_refused_with_the_known_ones() {
    refuse("a http://x", 2, "newer_than:", Some("http"));
    refuse("größe:5", 0, "from:", Some("größe"));
    refuse("(foo_bar:1)", 1, "double quotes", Some("foo_bar"));
}

#[test]
fn values_are_not_empty() {
    refuse("from:", 5, "a value for from:", None);
    refuse("from: jo", 5, "a value for from:", Some(" jo"));
    refuse("from:(a b)", 5, "a value for from:", Some("(a"));
    refuse("subject:\"\" a", 8, "a value for subject:", Some("\"\""));
    refuse("from:*", 5, "other than *", Some("*"));
}

#[test]
fn values_are_of_their_kind() {
    refuse("is:read", 3, "one of unread", Some("read"));
    refuse("in:box", 3, "one of inbound, outbound", Some("box"));
    refuse("has:pdf", 4, "attachment", Some("pdf"));
    refuse("type:foo", 5, "one of pdf, doc", Some("foo"));
    refuse("after:2023-02-29", 6, "YYYY-MM-DD", Some("2023-02-29"));
    refuse("after:2023-1-2", 6, "YYYY-MM-DD", Some("2023-1-2"));
    refuse("after:yesterday", 6, "YYYY-MM-DD", Some("yesterday"));
    refuse(
        "before:2024-01-01T00:00Z",
        7,
        "RFC 3339",
        Some("2024-01-01T00:00Z"),
    );
    refuse("newer_than:7", 11, "such as 7d", Some("7"));
    refuse("newer_than:0d", 11, "1 to 3650", Some("0d"));
    refuse("newer_than:3651d", 11, "1 to 3650", Some("3651d"));
    refuse("newer_than:-1d", 11, "such as 7d", Some("-1d"));
    refuse("older_than:11y", 11, "1 to 10 for y", Some("11y"));
    refuse("thread:thr_1", 7, "thr_", Some("thr_1"));
    refuse(
        "thread:msg_01HZZZZZZZZZZZZZZZZZZZZZZZ",
        7,
        "thr_",
        Some("msg_01HZZZZZZZZZZZZZZZZZZZZZZZ"),
    );
    refuse("category:9", 9, "a category", Some("9"));
    refuse("label:-x", 6, "a label", Some("-x"));
    refuse(
        &format!("label:{}", "a".repeat(65)),
        6,
        "a label",
        Some(&"a".repeat(32)),
    );
}

#[test]
fn bounds_of_spans_hold() {
    for (unit, most) in [
        ('h', 87_600),
        ('d', 3_650),
        ('w', 520),
        ('m', 120),
        ('y', 10),
    ] {
        assert!(parse(&format!("newer_than:{most}{unit}")).is_ok());
        assert!(parse(&format!("newer_than:{}{unit}", most + 1)).is_err());
    }
}

#[test]
fn parentheses_match() {
    refuse("a (b", 2, "closing parenthesis", Some("(b"));
    refuse("a (", 2, "closing parenthesis", Some("("));
    refuse("a) b", 1, "no closing parenthesis", Some(")"));
    refuse("a ()", 3, "a condition", Some(")"));
    refuse(")", 0, "", Some(")"));
}

#[test]
fn or_and_minus_do_not_dangle() {
    refuse("OR a", 0, "each side of OR", Some("OR"));
    refuse("a OR", 2, "each side of OR", Some("OR"));
    refuse("a OR OR b", 2, "each side of OR", Some("OR"));
    refuse("(a OR) b", 3, "each side of OR", Some("OR)"));
    refuse("a - b", 2, "right after -", Some("-"));
    refuse("a -", 2, "right after -", Some("-"));
    refuse("--a", 0, "right after -", Some("--a"));
    refuse("(a -)", 3, "right after -", Some("-)"));
    refuse("-OR", 0, "right after -", Some("-OR"));
}

#[test]
fn stars_have_something_before_them() {
    refuse("*", 0, "2 characters", Some("*"));
    refuse("x a*", 2, "2 characters", Some("a*"));
    refuse("subject:a*", 8, "2 characters", Some("a*"));
    assert!(parse("ab*").is_ok());
}

#[test]
fn bounds_hold_at_and_one_past() {
    let long = "a".repeat(QUERY_CHARS);
    assert!(parse(&long).is_ok());
    refuse(
        &format!("{long}b"),
        QUERY_CHARS,
        "at most 1024 characters",
        Some("b"),
    );
    let leaves = vec!["a"; QUERY_LEAVES].join(" ");
    assert!(parse(&leaves).is_ok());
    refuse(
        &format!("{leaves} bc"),
        leaves.len() + 1,
        "at most 32 conditions",
        Some("bc"),
    );
    let deep = |depth| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert!(parse(&deep(QUERY_DEPTH)).is_ok());
    refuse(
        &deep(QUERY_DEPTH + 1),
        QUERY_DEPTH,
        "at most 8 groups",
        Some("(a)))))))))"),
    );
}

#[test]
fn positions_count_characters() {
    refuse("é請 (", 3, "closing parenthesis", Some("("));
}

fn planned(text: &str, zone: &str, now: &str) -> Result<Plan, QueryError> {
    let zone = jiff::tz::TimeZone::get(zone).expect("zone");
    plan(&parse(text).expect(text), &zone, now.parse().expect("now"))
}

#[track_caller]
fn check_moment(text: &str, zone: &str, now: &str, moment: &str) {
    let plan = planned(text, zone, now).expect(text);
    let shown = format!("{plan:?}");
    let moment: Timestamp = moment.parse().expect("moment");
    assert!(shown.contains(&format!("{moment:?}")), "{text}: {shown}");
}

#[test]
fn days_start_in_the_zone_of_the_tenant() {
    let now = "2024-06-15T12:00:00Z";
    check_moment("after:2024-06-01", "UTC", now, "2024-06-01T00:00:00Z");
    check_moment(
        "after:2024-06-01",
        "Europe/Berlin",
        now,
        "2024-05-31T22:00:00Z",
    );
    check_moment(
        "before:2024-06-01",
        "America/New_York",
        now,
        "2024-06-01T04:00:00Z",
    );
    // The clock jumped over midnight in São Paulo: the day starts at the first valid instant.
    check_moment(
        "after:2018-11-04",
        "America/Sao_Paulo",
        now,
        "2018-11-04T03:00:00Z",
    );
    // Midnight came twice in Havana: the earlier one.
    check_moment(
        "after:2023-11-05",
        "America/Havana",
        now,
        "2023-11-05T04:00:00Z",
    );
}

#[test]
fn spans_are_counted_on_the_calendar() {
    check_moment(
        "newer_than:1d",
        "Europe/Berlin",
        "2024-03-31T10:00:00Z",
        "2024-03-30T11:00:00Z",
    );
    check_moment(
        "newer_than:24h",
        "Europe/Berlin",
        "2024-03-31T10:00:00Z",
        "2024-03-30T10:00:00Z",
    );
    check_moment(
        "newer_than:1m",
        "UTC",
        "2024-03-31T10:00:00Z",
        "2024-02-29T10:00:00Z",
    );
    check_moment(
        "older_than:1y",
        "UTC",
        "2024-02-29T00:00:00Z",
        "2023-02-28T00:00:00Z",
    );
    check_moment(
        "newer_than:2w",
        "UTC",
        "2024-03-15T00:00:00Z",
        "2024-03-01T00:00:00Z",
    );
    // 02:30 of the day before did not exist.
    check_moment(
        "newer_than:1d",
        "Europe/Berlin",
        "2024-04-01T00:30:00Z",
        "2024-03-31T01:00:00Z",
    );
}

#[test]
fn what_is_not_there_yet_is_said_at_its_place() {
    for (text, position, found) in [
        ("a ref:INV-1", 2, "ref:INV-1"),
        ("a OR -category:billing", 6, "category:billing"),
        ("(a is:needs_reply)", 3, "is:needs_reply"),
    ] {
        let error = planned(text, "UTC", "2024-01-01T00:00:00Z").expect_err(text);
        assert_eq!(
            error,
            QueryError {
                position,
                expected: "not available yet".into(),
                found: Some(found.into()),
            }
        );
    }
}

#[test]
fn constants_fold_away() {
    let folded = |text| planned(text, "UTC", "2024-01-01T00:00:00Z").expect("plan");
    assert_eq!(folded(""), Plan::All);
    assert_eq!(folded("a is:quarantined"), Plan::Nothing);
    assert_eq!(folded("a OR is:quarantined"), folded("a"));
    assert_eq!(folded("a -is:quarantined"), folded("a"));
    assert_eq!(folded("-(-a)"), folded("a"));
    assert_eq!(
        folded("is:unread label:x -is:unread").states(),
        [State::Label("x".into()), State::Unread]
    );
}

#[test]
fn semantic_text_is_the_positive_free_text() {
    let query = parse("when -ignored \"is it\" from:jo subject:x due*").expect("query");
    assert_eq!(query.free_text(), "when is it due");
    let error = parse("from:jo -x").expect("query").require_free_text();
    assert_eq!(error.map_err(|error| error.position), Err(0));
}

fn fragments() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            Just("(".to_owned()),
            Just(")".to_owned()),
            Just("-".to_owned()),
            Just(" ".to_owned()),
            Just(" OR ".to_owned()),
            Just("\"".to_owned()),
            Just("\\".to_owned()),
            Just("*".to_owned()),
            Just("from:".to_owned()),
            Just("TO:a.b".to_owned()),
            Just("subject:".to_owned()),
            Just("filename:x*".to_owned()),
            Just("type:pdf".to_owned()),
            Just("after:2024-01-01".to_owned()),
            Just("newer_than:7d".to_owned()),
            Just("is:unread".to_owned()),
            Just("label:x".to_owned()),
            Just("@".to_owned()),
            Just(".".to_owned()),
            Just("İſß".to_owned()),
            "[a-zé請ß]{1,5}",
        ],
        0..40,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_024))]

    #[test]
    fn any_text_parses_or_names_a_place_in_it(text in "\\PC{0,80}|.{0,80}") {
        let length = text.chars().count();
        match parse(&text) {
            Ok(query) => prop_assert_eq!(parse(&query.to_string()), Ok(query)),
            Err(error) => {
                prop_assert!(error.position <= length);
                prop_assert!(!error.expected.is_empty());
                prop_assert!(error.found.is_none_or(|found| found.chars().count() <= 32));
            }
        }
    }

    #[test]
    fn printing_then_parsing_gives_the_same_tree(text in fragments()) {
        if let Ok(query) = parse(&text) {
            let canonical = query.to_string();
            prop_assert_eq!(parse(&canonical), Ok(query), "{}", canonical);
            prop_assert_eq!(parse(&canonical).map(|query| query.to_string()), Ok(canonical));
        }
    }

    #[test]
    fn any_query_and_instant_make_a_plan(text in fragments(), ms: i64) {
        if let Ok(query) = parse(&text) {
            let zone = jiff::tz::TimeZone::get("Europe/Berlin").expect("zone");
            let _ = plan(&query, &zone, Timestamp::from_ms(ms));
        }
    }
}
