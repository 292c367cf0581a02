//! What an index on disk finds, in which order, and how it comes back.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why"
)]

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use postroom_query::{Direction, Filter, Plan, State, parse, plan};
use postroom_search::{
    Doc, DocAttachment, Indexes, Match, MessageTexts, Ranked, RebuildReason, RelatedRequest,
    SearchError, SearchRequest, TenantIndex, attachment_hits, snippet, why,
};
use postroom_types::{
    IdentityId, Mailbox, TenantId, Timestamp,
    limit::{FACET_CANDIDATES, RANKED_IDS},
};
use roaring::RoaringTreemap;

const NOW: &str = "2024-06-15T12:00:00Z";

fn tenant(number: u128) -> TenantId {
    TenantId::from_parts(1, number)
}

fn identity(number: u128) -> IdentityId {
    IdentityId::from_parts(1, number)
}

fn mailbox(name: &str, address: &str) -> Mailbox {
    Mailbox {
        address: address.to_owned(),
        name: name.to_owned(),
    }
}

fn mail(num: u64, subject: &str, text: &str) -> Doc {
    Doc {
        num,
        identity: identity(1),
        direction: Direction::Inbound,
        date: Timestamp::from_ms(1_700_000_000_000 + num as i64 * 3_600_000),
        subject: subject.to_owned(),
        from: vec![mailbox("Ada Byron", "ada@mail.example.org")],
        to: vec![mailbox("", "desk@hire.example")],
        extracted_text: text.to_owned(),
        text: text.to_owned(),
        attachments: Vec::new(),
    }
}

fn attached(filename: &str, content_type: &str, text: &str) -> DocAttachment {
    DocAttachment {
        filename: Some(filename.to_owned()),
        content_type: content_type.to_owned(),
        inline: false,
        text: (!text.is_empty()).then(|| text.to_owned()),
    }
}

struct World {
    _dir: tempfile::TempDir,
    indexes: Indexes,
    index: TenantIndex,
    docs: Vec<Doc>,
}

fn world(docs: Vec<Doc>) -> World {
    let dir = tempfile::tempdir().expect("folder");
    let indexes = Indexes::open(dir.path()).expect("indexes");
    let index = indexes.tenant(tenant(1)).expect("index");
    let position = docs.iter().map(|doc| doc.num).max().unwrap_or(0);
    index.apply(docs.clone(), &[], position).expect("applied");
    World {
        _dir: dir,
        indexes,
        index,
        docs,
    }
}

fn planned(query: &str) -> Plan {
    let query = parse(query).unwrap_or_else(|error| panic!("{query}: {error:?}"));
    plan(&query, &TimeZone::UTC, NOW.parse().expect("now")).expect("plan")
}

impl World {
    fn find(&self, query: &str) -> Ranked {
        let plan = planned(query);
        let request = SearchRequest::new(&plan, const { &BTreeMap::new() });
        self.index.search(&request).expect(query)
    }

    fn texts(&self, num: u64) -> MessageTexts<'_> {
        let doc = self.docs.iter().find(|doc| doc.num == num).expect("doc");
        MessageTexts {
            direction: doc.direction,
            date: doc.date,
            subject: &doc.subject,
            from: &doc.from,
            to: &doc.to,
            extracted_text: &doc.extracted_text,
            text: &doc.text,
            attachments: &doc.attachments,
        }
    }

    /// The set of exact matches.
    #[track_caller]
    fn check(&self, query: &str, expected: &[u64]) {
        let ranked = self.find(query);
        let mut nums: Vec<u64> = ranked
            .hits
            .iter()
            .filter(|hit| hit.how == Match::Exact)
            .map(|hit| hit.num)
            .collect();
        nums.sort_unstable();
        assert_eq!(nums, expected, "{query}");
    }

    /// The first hit, and that it came by the fallback.
    #[track_caller]
    fn check_fuzzy(&self, query: &str, expected: u64) {
        let hit = *self
            .find(query)
            .hits
            .first()
            .unwrap_or_else(|| panic!("{query}"));
        assert_eq!((hit.num, hit.how), (expected, Match::Fuzzy), "{query}");
        assert!(hit.score < 0.5);
    }
}

fn words_world() -> World {
    let mut quoted = mail(6, "Re: meeting", "See you then.");
    quoted.text = "See you then.\n> Bring the turquoise folder".to_owned();
    world(vec![
        mail(1, "Ärger über Café-Rechnung", "Die Straße war naß."),
        mail(
            2,
            "請求書のご案内",
            "東京都の本社より、水曜日にお送りします。",
        ),
        mail(
            3,
            "Booking AB12CDE",
            "Your invoice INV-88213 is due on Friday, don't be late",
        ),
        mail(4, "안녕하세요", "ﾃﾞｰﾀ ｾﾝﾀｰ からのお知らせ"),
        mail(
            5,
            "Quarterly figures",
            "Write to jane.doe+sales@shop.example.co.uk about L'Avion",
        ),
        quoted,
    ])
}

#[test]
fn accents_and_case_do_not_matter() {
    let world = words_world();
    world.check("arger", &[1]);
    world.check("ÄRGER", &[1]);
    world.check("cafe rechnung", &[1]);
    world.check("strasse", &[1]);
    world.check("uber*", &[1]);
}

#[test]
fn words_of_two_and_more_characters_are_found_in_scripts_without_blanks() {
    let world = words_world();
    world.check("東京", &[2]);
    world.check("東京都", &[2]);
    world.check("請求書", &[2]);
    world.check("京都の", &[2]);
    world.check("水曜", &[2]);
    world.check("水", &[2]);
    world.check("京東", &[]);
    world.check("안녕", &[4]);
    world.check("하세", &[4]);
    world.check("データ センター", &[4]);
    world.check("\"東京都の本社\"", &[2]);
}

#[test]
fn references_and_addresses_are_found_whole_and_by_part() {
    let world = words_world();
    world.check("ab12cde", &[3]);
    world.check("INV-88213", &[3]);
    world.check("88213", &[3]);
    world.check("88214", &[]);
    world.check("jane.doe+sales@shop.example.co.uk", &[5]);
    world.check("shop.example", &[5]);
    world.check("doe", &[5]);
    world.check("avion", &[5]);
    world.check("don't", &[3]);
    world.check("turquoise", &[6]);
}

#[test]
fn phrases_keep_their_order() {
    let world = words_world();
    world.check("\"due on friday\"", &[3]);
    world.check("\"on due friday\"", &[]);
    world.check("\"you then bring\"", &[]);
    world.check("subject:\"quarterly figures\"", &[5]);
    world.check("subject:figures", &[5]);
    world.check("subject:jane", &[]);
    world.check("INV-882*", &[3]);
}

#[test]
fn terms_may_stand_in_different_fields() {
    let world = words_world();
    world.check("booking friday byron", &[3]);
    world.check("booking OR quarterly", &[3, 5]);
    world.check("byron -booking -quarterly -meeting", &[1, 2, 4]);
    world.check("-byron", &[]);
    world.check("-(booking OR quarterly) -from:bob", &[1, 2, 4, 6]);
    world.check("booking & friday", &[3]);
    world.check("&", &[]);
    world.check("", &[1, 2, 3, 4, 5, 6]);
}

#[test]
fn words_one_letter_off_or_cut_are_found_by_the_fallback() {
    let world = words_world();
    world.check_fuzzy("quartrly", 5);
    world.check_fuzzy("qaurterly", 5);
    world.check_fuzzy("quaterly figurs", 5);
    world.check_fuzzy("arterl", 5);
    world.check_fuzzy("invoi friday", 3);
    world.check_fuzzy("turquose", 6);
    assert!(world.find("\"quartrly figures\"").hits.is_empty());
    assert!(world.find("-booking quartxyz").hits.is_empty());
    // Another number is another thing.
    assert!(world.find("INV-88214").hits.is_empty());
    let plan = planned("quartrly figures");
    let reasons = why(&plan, Match::Fuzzy, &world.texts(5), &|_| false);
    assert_eq!(
        reasons,
        ["text:\"figures\" (subject)", "fuzzy:\"quartrly\""]
    );
    assert_eq!(
        snippet(&plan, Match::Fuzzy, &world.texts(5), 200),
        "Quarterly figures"
    );
}

#[test]
fn exact_matches_stand_before_fuzzy_ones() {
    let world = world(vec![
        mail(1, "invoces invoces invoces", "invoces"),
        mail(2, "a letter", "about an invoice"),
    ]);
    let ranked = world.find("invoice");
    let nums: Vec<_> = ranked.hits.iter().map(|hit| (hit.num, hit.how)).collect();
    assert_eq!(nums, [(2, Match::Exact)]);
    let ranked = world.find("invoce");
    assert_eq!(ranked.total, 2);
}

fn filter_world() -> World {
    let mut docs: Vec<Doc> = (1..=6).map(|num| mail(num, "note", "text")).collect();
    docs[0].from = vec![mailbox("José Álvarez", "jose@sub.acme.example")];
    docs[1].from = vec![mailbox("jose@sub.acme.example", "thief@evil.example")];
    docs[2].to.push(mailbox("Carla Copy", "carla@acme.example"));
    docs[2].direction = Direction::Outbound;
    docs[3].attachments = vec![attached(
        "Q3 Règlement.PDF",
        "application/octet-stream",
        "grand total",
    )];
    docs[4].attachments = vec![DocAttachment {
        inline: true,
        ..attached("logo.png", "image/png", "")
    }];
    docs[5].from = vec![mailbox("", "john.smith@notacme.example")];
    world(docs)
}

#[test]
fn people_are_found_by_address_domain_and_part() {
    let world = filter_world();
    world.check("from:jose@sub.acme.example", &[1]);
    world.check("from:@acme.example", &[1]);
    world.check("from:acme.example", &[1]);
    world.check("from:@example", &[1, 2, 6]);
    world.check("from:alvarez", &[1]);
    world.check("from:\"josé álv\"", &[1]);
    world.check("from:jose", &[1, 2]);
    world.check("from:john.smith", &[6]);
    world.check("from:notacme", &[6]);
    world.check("to:carla", &[3]);
    world.check("to:acme.example", &[3]);
    world.check("participant:@acme.example", &[1, 3]);
    world.check("-participant:@acme.example", &[2, 4, 5, 6]);
    world.check("from:nobody@nowhere.example", &[]);
}

#[test]
fn attachments_directions_and_dates_filter() {
    let world = filter_world();
    world.check("has:attachment", &[4]);
    world.check("type:pdf", &[4]);
    world.check("type:application/octet-stream", &[4]);
    world.check("type:image", &[5]);
    world.check("filename:reglement", &[4]);
    world.check("filename:\"q3 r\"", &[4]);
    world.check("règlement", &[4]);
    world.check("\"grand total\"", &[4]);
    world.check("in:outbound", &[3]);
    world.check("note in:inbound -has:attachment", &[1, 2, 5, 6]);
    world.check("after:2023-11-14T23:13:20Z", &[1, 2, 3, 4, 5, 6]);
    world.check("after:2023-11-15T03:13:20Z", &[5, 6]);
    world.check("before:2023-11-15T03:13:20Z", &[1, 2, 3, 4]);
    world.check("newer_than:1d", &[]);
    world.check("is:quarantined OR in:outbound", &[3]);
    let hits = attachment_hits(
        &planned("filename:reglement"),
        Match::Exact,
        &world.texts(4),
    );
    assert_eq!(hits, [0]);
}

#[test]
fn filters_alone_score_one_and_order_by_date_then_number() {
    let mut docs: Vec<Doc> = (1..=4).map(|num| mail(num, "note", "text")).collect();
    docs[0].date = Timestamp::from_ms(9);
    docs[1].date = Timestamp::from_ms(7);
    docs[2].date = Timestamp::from_ms(9);
    docs[3].date = Timestamp::from_ms(8);
    let world = world(docs);
    let hits = world.find("in:inbound").hits;
    assert!(hits.iter().all(|hit| hit.score == 1.0));
    let nums: Vec<u64> = hits.iter().map(|hit| hit.num).collect();
    assert_eq!(nums, [3, 1, 4, 2]);
    let scored = world.find("note").hits;
    assert_eq!(
        scored.iter().map(|hit| hit.num).collect::<Vec<_>>(),
        [3, 1, 4, 2]
    );
    assert!(scored.iter().all(|hit| hit.score < 0.7));
}

#[test]
fn the_subject_weighs_more_than_the_body_and_the_body_more_than_quotes() {
    let filler = "lorem ipsum dolor sit amet consectetur";
    let mut quoted = mail(1, "hello", filler);
    quoted.text = format!("{filler}\n> the zebra of old");
    let mut named = mail(4, "hello", filler);
    named.from = vec![mailbox("Zebra", "z@zoo.example")];
    let world = world(vec![
        quoted,
        mail(2, "hello", &format!("{filler} zebra")),
        mail(3, "zebra", filler),
        named,
    ]);
    let nums: Vec<u64> = world.find("zebra").hits.iter().map(|hit| hit.num).collect();
    assert_eq!(nums, [3, 4, 2, 1]);
}

#[test]
fn states_hidden_mail_and_mailboxes_bound_what_is_found() {
    let mut docs: Vec<Doc> = (1..=6).map(|num| mail(num, "note", "text")).collect();
    docs[5].identity = identity(2);
    let world = world(docs);
    let states: BTreeMap<State, RoaringTreemap> = BTreeMap::from([
        (State::Unread, RoaringTreemap::from_iter([2, 3, 5, 99])),
        (
            State::Label("vip".into()),
            RoaringTreemap::from_iter([3, 4]),
        ),
    ]);
    let check = |query: &str, expected: &[u64]| {
        let plan = planned(query);
        let mut nums: Vec<u64> = world
            .index
            .search(&SearchRequest::new(&plan, &states))
            .expect(query)
            .hits
            .iter()
            .map(|hit| hit.num)
            .collect();
        nums.sort_unstable();
        assert_eq!(nums, expected, "{query}");
    };
    check("is:unread", &[2, 3, 5]);
    check("note is:unread label:vip", &[3]);
    check("note is:unread OR label:vip", &[2, 3, 4, 5]);
    check("note -label:vip", &[1, 2, 5, 6]);
    check("-is:unread -label:vip", &[1, 6]);
    check("label:other", &[]);
    check("-label:other is:unread", &[2, 3, 5]);

    let plan = planned("note");
    let hidden = RoaringTreemap::from_iter([1, 2]);
    let identities = BTreeSet::from([identity(1)]);
    let none = BTreeMap::new();
    let ranked = world
        .index
        .search(&SearchRequest {
            hidden: Some(&hidden),
            identities: Some(&identities),
            ..SearchRequest::new(&plan, &none)
        })
        .expect("search");
    assert_eq!(
        ranked.hits.iter().map(|hit| hit.num).collect::<Vec<_>>(),
        [5, 4, 3]
    );
    let nobody = BTreeSet::new();
    let ranked = world
        .index
        .search(&SearchRequest {
            identities: Some(&nobody),
            ..SearchRequest::new(&plan, &none)
        })
        .expect("search");
    assert_eq!((ranked.total, ranked.hits.len()), (0, 0));
}

#[test]
fn mail_that_arrives_later_stays_out_of_a_bounded_search() {
    let world = world((1..=30).map(|num| mail(num, "note", "text")).collect());
    let plan = planned("note");
    let states = BTreeMap::new();
    let request = SearchRequest {
        upto: Some(30),
        limit: 10,
        ..SearchRequest::new(&plan, &states)
    };
    let first = world.index.search(&request).expect("search");
    for num in 31..=40 {
        world
            .index
            .apply(vec![mail(num, "note note note", "note")], &[], num)
            .expect("applied");
        let again = world.index.search(&request).expect("search");
        assert_eq!(again.total, 30);
        let nums = |ranked: &Ranked| ranked.hits.iter().map(|hit| hit.num).collect::<Vec<_>>();
        assert_eq!(nums(&again), nums(&first));
    }
}

#[test]
fn replacing_and_removing_take_effect_once() {
    let world = world((1..=5).map(|num| mail(num, "note", "text")).collect());
    world
        .index
        .apply(
            vec![
                mail(2, "changed", "text"),
                mail(6, "old", "x"),
                mail(6, "new", "x"),
                mail(7, "gone", "x"),
            ],
            &[3, 7],
            8,
        )
        .expect("applied");
    world.check("", &[1, 2, 4, 5, 6]);
    world.check("note", &[1, 4, 5]);
    world.check("changed", &[2]);
    world.check("new", &[6]);
    world.check("old", &[]);
    assert_eq!(world.index.message_count().expect("count"), 5);
    // The same again, as after a crash between the commit and its note.
    world
        .index
        .apply(
            vec![mail(2, "changed", "text"), mail(6, "new", "x")],
            &[3],
            8,
        )
        .expect("applied");
    world.check("", &[1, 2, 4, 5, 6]);
}

#[test]
fn an_index_at_rest_has_few_segments_and_finds_the_same() {
    let world = world(vec![mail(1, "first", "note")]);
    let mut num = 1;
    // Of two sizes, and so few of each that the engine merges none by itself.
    for size in [700, 700, 700, 1, 1, 1, 1, 1, 1] {
        let docs =
            (num + 1..=num + size).map(|num| mail(num, "more", &format!("note number{num}")));
        num += size;
        world
            .index
            .apply(docs.collect(), &[], num)
            .expect("applied");
    }
    let before = world.find("note");
    assert!(world.index.settle().expect("merged"));
    let after = world.find("note");
    assert_eq!((after.total, after.hits), (before.total, before.hits));
    assert_eq!(world.index.position(), num);
    assert!(!world.index.settle().expect("nothing to do"));
}

#[test]
fn the_position_comes_back_from_the_commit() {
    let dir = tempfile::tempdir().expect("folder");
    let indexes = Indexes::open(dir.path()).expect("indexes");
    let index = indexes.tenant(tenant(1)).expect("index");
    assert_eq!(index.position(), 0);
    index
        .apply(vec![mail(3, "a", "b")], &[], 5)
        .expect("applied");
    index.apply(Vec::new(), &[], 9).expect("moved");
    assert_eq!(index.position(), 9);
    drop((index, indexes));
    // What moved without a commit is lost; replaying from there changes nothing.
    let indexes = Indexes::open(dir.path()).expect("indexes");
    let index = indexes.tenant(tenant(1)).expect("index");
    assert_eq!(
        (index.position(), index.message_count().expect("count")),
        (5, 1)
    );
    index
        .apply(vec![mail(3, "a", "b"), mail(6, "c", "d")], &[], 9)
        .expect("applied");
    assert_eq!(
        (index.position(), index.message_count().expect("count")),
        (9, 2)
    );
    indexes.close();
    assert!(matches!(
        index.apply(vec![mail(9, "x", "y")], &[], 10),
        Err(SearchError::Closed)
    ));
    assert!(matches!(
        indexes.tenant(tenant(1)),
        Err(SearchError::Closed)
    ));
}

#[test]
fn damage_and_other_shapes_are_reported_and_reset_heals() {
    let dir = tempfile::tempdir().expect("folder");
    let folder = dir.path().join(tenant(1).to_string());
    let fill = || {
        let indexes = Indexes::open(dir.path()).expect("indexes");
        let index = indexes.reset(tenant(1)).expect("reset");
        assert_eq!(
            (index.position(), index.message_count().expect("count")),
            (0, 0)
        );
        index
            .apply(vec![mail(1, "a", "b")], &[], 1)
            .expect("applied");
        index.verify().expect("sound");
        indexes.close();
    };
    let reopened = || {
        Indexes::open(dir.path())
            .expect("indexes")
            .tenant(tenant(1))
    };
    let damaged = |result| {
        matches!(
            result,
            Err(SearchError::Rebuild {
                reason: RebuildReason::Damaged(_),
                ..
            })
        )
    };
    fill();
    assert!(reopened().is_ok());
    std::fs::write(folder.join("meta.json"), "{").expect("written");
    assert!(damaged(reopened()));

    fill();
    for file in std::fs::read_dir(&folder).expect("folder") {
        let path = file.expect("file").path();
        if path.extension().is_some_and(|ending| ending == "term") {
            std::fs::remove_file(path).expect("removed");
        }
    }
    assert!(damaged(reopened()));

    // Too short for the engine, which panics at some of it.
    for bytes in [&b""[..], b"junk", b"junk that is long enough for a footer"] {
        fill();
        for file in std::fs::read_dir(&folder).expect("folder") {
            let path = file.expect("file").path();
            if path.extension().is_some_and(|ending| ending == "store") {
                std::fs::write(path, bytes).expect("written");
            }
        }
        assert!(damaged(reopened()), "{bytes:?}");
    }

    fill();
    std::fs::remove_dir_all(&folder).expect("removed");
    std::fs::write(&folder, "no folder").expect("written");
    assert!(damaged(reopened()));

    fill();
    let meta = std::fs::read_to_string(folder.join("meta.json")).expect("read");
    let other = meta.replace(r#"{\"shape\":1"#, r#"{\"shape\":0"#);
    assert_ne!(meta, other);
    std::fs::write(folder.join("meta.json"), other).expect("written");
    assert!(matches!(
        reopened(),
        Err(SearchError::Rebuild {
            reason: RebuildReason::OtherShape,
            ..
        })
    ));
    fill();
    assert!(reopened().is_ok());
}

#[test]
fn a_reset_index_refuses_its_old_handles() {
    let world = world(vec![mail(1, "a", "b")]);
    let fresh = world.indexes.reset(tenant(1)).expect("reset");
    assert!(matches!(
        world.index.apply(vec![mail(2, "c", "d")], &[], 2),
        Err(SearchError::Closed)
    ));
    assert!(world.index.message_count().is_err());
    assert_eq!(fresh.message_count().expect("count"), 0);
    fresh
        .apply(vec![mail(1, "a", "b")], &[], 1)
        .expect("applied");
    assert_eq!(fresh.message_count().expect("count"), 1);
}

#[test]
fn more_tenants_than_writers_and_readers_all_get_their_turn() {
    let dir = tempfile::tempdir().expect("folder");
    let indexes = Indexes::open_bounded(dir.path(), 2, 3).expect("indexes");
    std::thread::scope(|scope| {
        for thread in 0..4_u128 {
            let indexes = indexes.clone();
            scope.spawn(move || {
                for round in 1..=2_u64 {
                    for number in 0..4_u128 {
                        let index = indexes.tenant(tenant(number + thread % 2)).expect("index");
                        let num = round * 10 + thread as u64;
                        index
                            .apply(vec![mail(num, "note", "text")], &[], num)
                            .expect("applied");
                    }
                }
            });
        }
    });
    for number in 1..4 {
        let index = indexes.tenant(tenant(number)).expect("index");
        assert_eq!(index.message_count().expect("count"), 8);
    }
}

#[test]
fn another_tenants_mail_is_not_found() {
    let world = world(vec![mail(1, "note", "canary")]);
    let other = world.indexes.tenant(tenant(2)).expect("index");
    other
        .apply(vec![mail(1, "note", "text")], &[], 1)
        .expect("applied");
    let plan = planned("canary");
    let states = BTreeMap::new();
    assert_eq!(
        other
            .search(&SearchRequest::new(&plan, &states))
            .expect("search")
            .total,
        0
    );
}

#[test]
fn facets_count_senders_domains_months_and_types() {
    let mut docs: Vec<Doc> = (1..=25).map(|num| mail(num, "note", "text")).collect();
    for (place, doc) in docs.iter_mut().enumerate() {
        doc.from = vec![mailbox(
            "",
            &format!("p{:02}@d{}.example", place % 12, place % 2),
        )];
        doc.date = format!("2023-{:02}-28T23:30:00Z", place % 3 + 1)
            .parse()
            .expect("date");
    }
    docs[0].attachments = vec![
        attached("a.pdf", "application/pdf", ""),
        attached("b.pdf", "application/pdf", ""),
    ];
    docs[1].attachments = vec![attached("c.zip", "application/zip", "")];
    let world = world(docs);
    let plan = planned("note");
    let states = BTreeMap::new();
    let zone = TimeZone::get("Europe/Berlin").expect("zone");
    let ranked = world
        .index
        .search(&SearchRequest {
            facets: Some(&zone),
            limit: 2,
            ..SearchRequest::new(&plan, &states)
        })
        .expect("search");
    assert_eq!(
        (ranked.hits.len(), ranked.total, ranked.candidates.len()),
        (2, 25, 25)
    );
    let facets = ranked.facets.expect("facets");
    assert_eq!(facets.sender.len(), 10);
    assert_eq!(facets.sender[0], ("p00@d0.example".to_owned(), 3));
    assert_eq!(facets.sender[1], ("p01@d1.example".to_owned(), 2));
    assert_eq!(
        facets.sender_domain,
        [("d0.example".to_owned(), 13), ("d1.example".to_owned(), 12)]
    );
    // Half past eleven in the evening of the last of February is March in Berlin.
    let months = [("2023-03", 16), ("2023-01", 9)].map(|(month, count)| (month.to_owned(), count));
    assert_eq!(facets.month, months);
    assert_eq!(
        facets.attachment_type,
        [("archive".to_owned(), 1), ("pdf".to_owned(), 1)]
    );
}

#[test]
fn ranked_messages_and_facet_candidates_are_bounded() {
    let most = FACET_CANDIDATES as u64;
    let docs = |upto: u64| (1..=upto).map(|num| mail(num, "note", "text")).collect();
    let world = world(docs(most));
    let states = BTreeMap::new();
    let counted = |query: &str| {
        let plan = planned(query);
        let request = SearchRequest {
            facets: Some(&TimeZone::UTC),
            limit: usize::MAX,
            ..SearchRequest::new(&plan, &states)
        };
        let ranked = world.index.search(&request).expect("search");
        let senders: u64 = ranked
            .facets
            .iter()
            .flat_map(|facets| &facets.sender)
            .map(|(_, count)| count)
            .sum();
        assert_eq!(ranked.candidates.len(), senders);
        (ranked.hits.len(), ranked.total, senders)
    };
    assert_eq!(counted("note"), (RANKED_IDS, most, most));
    world
        .index
        .apply(vec![mail(most + 1, "note", "text")], &[], most + 1)
        .expect("applied");
    for query in ["note", "in:inbound"] {
        assert_eq!(counted(query), (RANKED_IDS, most + 1, most));
    }
    let newest = world.find("in:inbound").hits;
    assert_eq!(newest.first().map(|hit| hit.num), Some(most + 1));
    assert!(newest.windows(2).all(|pair| pair[0].num > pair[1].num));
}

#[test]
fn relaxed_searches_find_messages_with_some_of_the_words() {
    let mut docs: Vec<Doc> = (1..=20)
        .map(|num| mail(num, "weekly note", "the text of the week"))
        .collect();
    docs.push(mail(
        21,
        "Flight confirmation",
        "Your flight to Berlin leaves at nine",
    ));
    let world = world(docs);
    let plan = planned("when does the flight to berlin leave in:inbound");
    let states = BTreeMap::new();
    let relaxed = |relaxed| {
        let request = SearchRequest {
            relaxed,
            ..SearchRequest::new(&plan, &states)
        };
        world.index.search(&request).expect("search")
    };
    assert_eq!(relaxed(false).total, 0);
    let ranked = relaxed(true);
    assert_eq!(
        ranked.hits.first().map(|hit| (hit.num, hit.how)),
        Some((21, Match::Relaxed))
    );
    // The words that every note has say nothing.
    assert_eq!(ranked.total, 1);
}

#[test]
fn a_question_ranks_all_of_its_words_above_some_of_them() {
    let mut docs: Vec<Doc> = (1..=20)
        .map(|num| mail(num, "weekly note", "the text of the week"))
        .collect();
    docs.push(mail(21, "note", "gearbox quote"));
    docs.push(mail(
        22,
        "note",
        "what is the gearbox quote of the garage in leeds",
    ));
    docs.push(mail(23, "note", "garage"));
    let world = world(docs);
    let states = BTreeMap::new();
    let asked = |query: &str| {
        let plan = planned(query);
        let request = SearchRequest {
            relaxed: true,
            ..SearchRequest::new(&plan, &states)
        };
        let hits = world.index.search(&request).expect("search").hits;
        hits.iter()
            .map(|hit| (hit.num, hit.how))
            .collect::<Vec<_>>()
    };
    let all = asked("what is the gearbox quote of the garage");
    assert_eq!(all[0], (22, Match::Exact));
    assert_eq!(all[1], (21, Match::Relaxed));
    let misspelt = asked("who is it that has the gearbux quotte");
    assert!(misspelt.contains(&(21, Match::Relaxed)));
    // A few words are no question: each is asked for.
    assert_eq!(asked("gearbox quote leeds"), [(22, Match::Exact)]);
    assert_eq!(asked("garage zzz"), []);
    // What was meant as it says holds in a question too.
    assert_eq!(asked("what is the gearbox quote subject:nowhere"), []);
    assert_eq!(
        asked("what is the gearbox quote \"nowhere to be found\""),
        []
    );
}

#[test]
fn related_mail_shares_distinctive_words() {
    let mut docs: Vec<Doc> = (1..=40)
        .map(|num| mail(num, "weekly note", "the usual text"))
        .collect();
    docs.push(mail(
        50,
        "Gearbox of the van",
        "The gearbox of XY70ABC whines in third gear",
    ));
    docs.push(mail(
        51,
        "Repair quote",
        "A new gearbox for XY70ABC would be 900",
    ));
    docs.push(mail(52, "Re: Gearbox of the van", "whines"));
    let world = world(docs);
    let exclude = RoaringTreemap::from_iter([50, 52]);
    let related = world
        .index
        .related(&RelatedRequest {
            subject: "Gearbox of the van",
            extracted_text: "The gearbox of XY70ABC whines in third gear",
            identities: None,
            exclude: &exclude,
            upto: None,
            limit: 5,
        })
        .expect("related");
    assert_eq!(related.hits.first().map(|hit| hit.num), Some(51));
    assert!(related.words.contains(&"gearbox".to_owned()));
    assert!(!related.words.contains(&"the".to_owned()));
}

#[test]
fn snippets_show_the_densest_place_and_reasons_say_why() {
    let filler = "word ".repeat(60);
    let mut doc = mail(
        1,
        "Delivery",
        &format!("{filler}the parcel with   the\nkettle came today {filler}"),
    );
    doc.attachments = vec![attached("note.txt", "text/plain", "kettle manual")];
    let world = world(vec![doc]);
    let texts = world.texts(1);
    let plan = planned("kettle parcel subject:delivery from:ada -nothing is:unread");
    let shown = snippet(&plan, Match::Exact, &texts, 60);
    assert!(shown.contains("parcel with the kettle"), "{shown}");
    assert!(
        shown.starts_with('…') && shown.ends_with('…') && shown.chars().count() <= 60,
        "{shown}"
    );
    assert_eq!(
        why(&plan, Match::Exact, &texts, &|state| *state
            == State::Unread),
        [
            "text:\"kettle\" (body)",
            "text:\"parcel\" (body)",
            "text:\"delivery\" (subject)",
            "from:ada",
            "is:unread"
        ]
    );
    assert_eq!(
        snippet(&planned("delivery"), Match::Exact, &texts, 60),
        "Delivery"
    );
    assert_eq!(
        snippet(&planned("\"kettle manual\""), Match::Exact, &texts, 60),
        "kettle manual"
    );
    assert_eq!(attachment_hits(&plan, Match::Exact, &texts), [0]);
    let start = snippet(&planned("in:inbound"), Match::Exact, &texts, 40);
    assert!(
        start.starts_with("word word") && start.ends_with('…'),
        "{start}"
    );
    let unasked = Plan::all_of([
        planned("kettle"),
        Plan::filter(Filter::In(Direction::Inbound)),
    ]);
    assert_eq!(
        why(&unasked, Match::Exact, &texts, &|_| false),
        ["text:\"kettle\" (body)"]
    );
}

#[test]
fn beginnings_may_stand_for_so_much_and_no_more() {
    let docs = (1..=40).map(|num| {
        let word = format!("in{num}");
        mail(num, &word, &format!("{word} invoice"))
    });
    let world = world(docs.collect());
    let ask = |query: &str, beginnings: u64| {
        let plan = planned(query);
        let request = SearchRequest {
            beginnings,
            ..SearchRequest::new(&plan, const { &BTreeMap::new() })
        };
        world.index.search(&request)
    };
    // Each message has one word of its own in the subject and the text, and one that all have.
    let most = (1..=1_000)
        .find(|most| ask("in*", *most).is_ok())
        .expect("some number is enough");
    assert!((40..=200).contains(&most), "{most}");
    assert_eq!(ask("in*", most).expect("enough").total, 40);
    assert!(matches!(ask("in*", most - 1), Err(SearchError::TooWide)));
    // The budget is that of the whole query.
    assert!(matches!(
        ask("in* OR inv*", most),
        Err(SearchError::TooWide)
    ));
    assert_eq!(
        SearchError::TooWide.code(),
        postroom_types::ErrorCode::InvalidQuery
    );
    assert_eq!(ask("invoice", 0).expect("no beginning").total, 40);
}

#[test]
fn damage_that_only_a_search_meets_is_reported_as_damage() {
    let dir = tempfile::tempdir().expect("folder");
    let folder = dir.path().join(tenant(1).to_string());
    let mut met = 0;
    for ending in ["idx", "pos", "term", "fast", "fieldnorm"] {
        let indexes = Indexes::open(dir.path()).expect("indexes");
        let index = indexes.reset(tenant(1)).expect("reset");
        let docs = (1..=200).map(|num| mail(num, "words in a row", &format!("word{num} in a row")));
        index.apply(docs.collect(), &[], 200).expect("applied");
        indexes.close();
        for file in std::fs::read_dir(&folder).expect("folder") {
            let path = file.expect("file").path();
            if path.extension().is_some_and(|found| found == ending) {
                let mut bytes = std::fs::read(&path).expect("read");
                // The footer stays, by which the engine tells a file from none.
                let end = bytes.len().saturating_sub(200);
                bytes[..end].fill(0xff);
                std::fs::write(&path, bytes).expect("written");
            }
        }
        let indexes = Indexes::open(dir.path()).expect("indexes");
        let Ok(index) = indexes.tenant(tenant(1)) else {
            continue;
        };
        for query in [
            "words",
            "\"in a row\"",
            "wor*",
            "word7",
            "from:ann",
            "after:2020-01-01",
        ] {
            let plan = planned(query);
            let request = SearchRequest::new(&plan, const { &BTreeMap::new() });
            match index.search(&request) {
                Ok(_) => {}
                Err(SearchError::Rebuild { .. }) => met += 1,
                Err(other) => panic!("{ending} {query}: {other}"),
            }
        }
        indexes.reset(tenant(1)).expect("reset heals");
        indexes.close();
    }
    assert!(met > 0, "nothing of it was damage to a search");
}
