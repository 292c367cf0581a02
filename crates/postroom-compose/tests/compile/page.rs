//! The page of HTML and what comes with it.

use std::collections::BTreeSet;

use postroom_compose::{
    dialect::Dialect,
    emit::{Options, Target, compile},
};

use crate::{
    compiled, documents,
    hostile::{fill, seen},
    named,
};

#[test]
fn no_line_is_too_long_to_send() {
    let long = [
        "word ".repeat(2_000),
        "\u{7121}".repeat(3_000),
        "x".repeat(5_000),
        "&".repeat(2_000),
    ];
    for words in &long {
        let mut document = named("blocks");
        fill(&mut document, words);
        for dialect in [Dialect::None, Dialect::Jinja2, Dialect::Erb] {
            let html = compiled(&document, Target::Html, dialect).code;
            // An address, or one word in an attribute, cannot be broken.
            let unbroken = |line: &&str| {
                ["src=", "href=", "alt=", "aria-label=", "<title>", "url('"]
                    .iter()
                    .any(|name| line.contains(name))
            };
            let breaks = words.contains(' ');
            let lines = html.lines().filter(|line| {
                !unbroken(line) || (breaks && !line.contains("http") && !line.contains("%20"))
            });
            let longest = lines.max_by_key(|line| line.len()).unwrap();
            assert!(
                longest.len() <= 900,
                "{} bytes: {}",
                longest.len(),
                &longest[..100]
            );
        }
    }
    for (name, document) in documents() {
        for (_, dialect) in Dialect::NAMES {
            let html = compiled(document, Target::Html, *dialect).code;
            let worst = html.lines().map(str::len).max().unwrap();
            assert!(worst <= 900, "{worst} bytes in {name}");
        }
    }
}

#[test]
fn the_same_document_gives_the_same_bytes() {
    for (name, document) in documents() {
        for (_, target) in Target::NAMES {
            for (_, dialect) in Dialect::NAMES {
                let one = compiled(document, *target, *dialect);
                assert_eq!(one, compiled(document, *target, *dialect), "{name}");
            }
        }
    }
}

#[test]
fn the_source_map_names_blocks_in_order() {
    let document = named("blocks");
    for target in [Target::Html, Target::Mjml] {
        let made = compiled(&document, target, Dialect::None);
        let ids: BTreeSet<&str> = made
            .source_map
            .iter()
            .map(|span| span.block_id.as_str())
            .collect();
        let mut known = BTreeSet::new();
        document.walk(&mut |block| {
            known.insert(block.id.as_str());
        });
        assert!(ids.is_subset(&known) && ids.len() > 30, "{ids:?}");
        assert!(made.source_map.is_sorted_by_key(|span| span.start));
        for span in &made.source_map {
            assert!(
                span.start <= span.end && made.code.get(span.start..span.end).is_some(),
                "{span:?}"
            );
        }
        let quote = made
            .source_map
            .iter()
            .find(|span| span.block_id.starts_with("quote"))
            .unwrap();
        assert!(made.code[quote.start..quote.end].contains("It just works."));
    }
}

#[test]
fn conditional_comments_are_spelt_as_outlook_reads_them() {
    let html = compiled(&named("blocks"), Target::Html, Dialect::None).code;
    let comments: BTreeSet<&str> = html
        .match_indices("<!--")
        .map(|(at, _)| html[at..].split_inclusive('>').next().unwrap())
        .collect();
    let known = [
        "<!--[if mso | IE]>",
        "<!--[if mso]>",
        "<!--[if !mso]>",
        "<!--<![endif]-->",
        "<!--[if lte mso 11]>",
        "<!-->",
    ];
    assert!(
        comments.iter().all(|comment| known.contains(comment)),
        "{comments:?}"
    );
    assert!(!html.contains("<!--[if !mso]> "));
    let without = compile(
        &named("blocks"),
        &Options {
            mso: false,
            ..Options::default()
        },
    )
    .code;
    assert!(!without.contains("[if mso"), "{without}");
}

#[test]
fn a_fragment_is_what_stands_in_the_body() {
    let fragment = compile(
        &named("blocks"),
        &Options {
            fragment: true,
            ..Options::default()
        },
    )
    .code;
    let seen = seen(&fragment);
    assert!(!seen.tags.iter().any(|tag| {
        ["html ", "head ", "body "]
            .iter()
            .any(|name| tag.starts_with(name))
    }));
    assert!(seen.tags.iter().any(|tag| tag.starts_with("table ")));
}

#[test]
fn language_direction_and_title_stand_on_the_wrapper_too() {
    let html = compiled(&named("rtl"), Target::Html, Dialect::None).code;
    assert!(html.contains("<html lang=\"he\" dir=\"rtl\""));
    let wrapper = "aria-label=\"שלום\" aria-roledescription=\"email\" role=\"article\" lang=\"he\" dir=\"rtl\"";
    assert!(html.contains(wrapper), "{html}");
    assert!(html.contains("text-align:right") && html.contains("direction:rtl"));
}

#[test]
fn tables_that_lay_out_say_so_and_data_tables_do_not() {
    let html = compiled(&named("blocks"), Target::Html, Dialect::None).code;
    let opened = html
        .replace("<!--[if mso | IE]>", "")
        .replace("<![endif]-->", "");
    for (at, _) in opened.match_indices("<table") {
        let tag = opened[at..].split('>').next().unwrap();
        let data = opened[at..]
            .split("</table>")
            .next()
            .unwrap()
            .contains("<th scope=\"col\"");
        let nested = opened[at + 6..]
            .split("</table>")
            .next()
            .unwrap()
            .contains("<table");
        let hero = tag.contains("style=\"width:600px;\"") || tag.contains("style=\"width:552px;\"");
        assert!(
            tag.contains("role=\"presentation\"") != (data && !nested) || hero,
            "{tag}"
        );
    }
}

#[test]
fn the_preview_line_is_filled_up_and_stays_out_of_the_text() {
    let made = compiled(&named("digest"), Target::Html, Dialect::None);
    assert!(made.code.contains("&#847;&zwnj;&nbsp;"));
    assert!(made.code.matches("&#847;").count() < 80);
    assert!(!made.text.unwrap().contains("What your team did"));
    assert_eq!(
        made.preheader,
        "What your team did since you looked the last time."
    );
}
