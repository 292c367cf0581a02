//! What documents compile to where more is known of the system that fills templates in.

#![expect(clippy::panic, reason = "a test that cannot go on says why")]

use postroom_compose::{
    check,
    dialect::{Dialect, Helper, Host},
    emit::{Compiled, Options, OutlookBackground, Target, compile},
    model::Document,
};
use serde_json::{Value, json};

/// A document of one text block.
fn with_text(text: &Value) -> Document {
    let checked = check(&json!({
        "version": 2,
        "meta": {"subject": "Plan of {{ user.name }}", "preheader": "Words that stand in a preview line of a mail.", "lang": "en"},
        "variables": [
            {"name": "user.name", "sample": "Ada"},
            {"name": "user.city_of_birth", "sample": "Paris"},
            {"name": "plan", "sample": "pro"},
            {"name": "eq", "sample": "same"},
            {"name": "count", "type": "number", "sample": 3},
            {"name": "note", "type": "html", "sample": "<b>x</b>"},
            {"name": "go", "type": "url", "sample": "https://acme.test/a"},
            {"name": "items", "type": "list", "sample": [{"title": "Tea", "of": {"size": 2}}]}
        ],
        "root": {"type": "body", "children": [{"type": "section", "children": [{"type": "column", "children": [
            {"type": "text", "text": text},
            {"type": "each", "in": "items", "as": "item", "children": [{"type": "text", "text": "{{ item.title }}: {{ item.of.size }}"}]}
        ]}]}]}
    }));
    checked
        .document
        .unwrap_or_else(|| panic!("{:#?}", checked.issues))
}

fn compiled(text: &Value, target: Target, dialect: Dialect, host: &Host) -> Compiled {
    let options = Options {
        target,
        dialect,
        host: host.clone(),
        ..Options::default()
    };
    compile(&with_text(text), &options)
}

fn refusals(made: &Compiled) -> Vec<&str> {
    let mut found: Vec<&str> = made
        .issues
        .iter()
        .filter(|issue| issue.code == "dialect.unsupported")
        .map(|issue| issue.message.as_str())
        .collect();
    found.sort_unstable();
    found
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text that shows `yes` under a condition, else `no`.
fn choice(variable: &str, operator: &str, value: Value) -> Value {
    json!([{"type": "if", "cond": {"var": variable, "op": operator, "value": value},
        "then": [{"type": "text", "text": "yes"}], "else": [{"type": "text", "text": "no"}]}])
}

#[test]
fn handlebars_compares_with_the_helpers_of_the_host() {
    let all = Host {
        helpers: Helper::NAMES.iter().map(|(_, helper)| *helper).collect(),
        ..Host::default()
    };
    for (variable, operator, value, expected) in [
        (
            "plan",
            "eq",
            json!("pro"),
            "{{#if (eq plan 'pro')}}yes{{else}}no{{/if}}",
        ),
        (
            "plan",
            "ne",
            json!("pro"),
            "{{#if (eq plan 'pro')}}no{{else}}yes{{/if}}",
        ),
        (
            "count",
            "gt",
            json!(2),
            "{{#if (gt count 2)}}yes{{else}}no{{/if}}",
        ),
        (
            "count",
            "gte",
            json!(2),
            "{{#if (gte count 2)}}yes{{else}}no{{/if}}",
        ),
        (
            "count",
            "lt",
            json!(2.5),
            "{{#if (lt count 2.5)}}yes{{else}}no{{/if}}",
        ),
        (
            "count",
            "lte",
            json!(2),
            "{{#if (lte count 2)}}yes{{else}}no{{/if}}",
        ),
    ] {
        let text = choice(variable, operator, value);
        let made = compiled(&text, Target::Html, Dialect::Handlebars, &all);
        assert!(refusals(&made).is_empty(), "{operator}: {:?}", made.issues);
        let html = folded(&made.code);
        assert!(html.contains(expected), "{expected} is not in {html}");
        // Without that helper the same is refused, and SendGrid has its own.
        let none = compiled(&text, Target::Html, Dialect::Handlebars, &Host::default());
        assert_eq!(refusals(&none).len(), 1, "{operator}");
        let sendgrid = compiled(&text, Target::Html, Dialect::SendGrid, &all);
        let own = compiled(&text, Target::Html, Dialect::SendGrid, &Host::default());
        assert_eq!(sendgrid, own, "{operator}");
    }
    // One helper is not another, and quotes stay out of tags.
    let equal = Host {
        helpers: [Helper::Eq].into(),
        ..Host::default()
    };
    for text in [
        choice("count", "gt", json!(2)),
        choice("plan", "eq", json!("a'b")),
        // A helper comes before a variable of its name.
        json!("{{ eq }}"),
    ] {
        let made = compiled(&text, Target::Html, Dialect::Handlebars, &equal);
        assert_eq!(refusals(&made).len(), 1, "{text}");
    }
    assert!(
        refusals(&compiled(
            &json!("{{ eq }}"),
            Target::Html,
            Dialect::Handlebars,
            &Host::default()
        ))
        .is_empty()
    );
}

#[test]
fn liquid_leaves_escaping_to_a_host_that_does_it() {
    let host = Host {
        escapes: true,
        ..Host::default()
    };
    let text = json!([
        {"type": "text", "text": "Hi {{ user.name }} in {{ user.city_of_birth | upper | default: \"town\" }}"},
        {"type": "link", "href": "https://acme.test/?q={{ user.name }}", "children": [{"type": "text", "text": "go"}]},
        {"type": "link", "href": "{{ go }}", "children": [{"type": "text", "text": "on"}]}
    ]);
    let made = compiled(&text, Target::Html, Dialect::Liquid, &host);
    assert!(made.is_whole(), "{:?}", made.issues);
    let html = folded(&made.code);
    assert!(html.contains("Hi {{ user.name }} in "), "{html}");
    assert!(html.contains("href=\"{{ go }}\""), "{html}");
    assert!(!html.contains("| escape }}"), "{html}");
    let plain = compiled(&text, Target::Html, Dialect::Liquid, &Host::default());
    assert!(folded(&plain.code).contains("Hi {{ user.name | escape }} in "));
    assert_eq!(made.text, plain.text);
    assert_eq!(made.subject, plain.subject);
    // It has no word that every engine knows for HTML that is trusted.
    let trusted = compiled(&json!("{{ note }}"), Target::Html, Dialect::Liquid, &host);
    assert_eq!(
        refusals(&trusted),
        ["liquid cannot say this: trusted HTML where the engine escapes every value."]
    );
}

#[test]
fn erb_calls_fields_that_are_methods() {
    let host = Host {
        fields_are_methods: true,
        ..Host::default()
    };
    let text = json!([
        {"type": "text", "text": "Hi {{ user.name }}"},
        {"type": "if", "cond": {"var": "user.city_of_birth", "op": "exists"}, "then": [{"type": "text", "text": "from somewhere"}], "else": []}
    ]);
    let made = compiled(&text, Target::Html, Dialect::Erb, &host);
    assert!(made.is_whole(), "{:?}", made.issues);
    let html = folded(&made.code);
    for expected in [
        "Hi <%= ERB::Util.h(user.name) %>",
        ".include?(user.city_of_birth) %>",
        "<%= ERB::Util.h(item.of.size) %>",
    ] {
        assert!(html.contains(expected), "{expected} is not in {html}");
    }
    assert!(!html.contains("[:"), "{html}");
    assert!(made.subject.contains("(user.name)"), "{}", made.subject);
    let plain = compiled(&text, Target::Html, Dialect::Erb, &Host::default());
    assert!(folded(&plain.code).contains("<%= ERB::Util.h(item[:of][:size]) %>"));
}

#[test]
fn mailchimp_fields_are_those_of_the_audience() {
    let fields = |name: &str| Host {
        merge_fields: [("user.city_of_birth".to_owned(), name.to_owned())].into(),
        ..Host::default()
    };
    // No loops, so only what the text has to say.
    let refused = |host: &Host| {
        let text = json!("{{ user.name }} of {{ user.city_of_birth }}");
        let made = compiled(&text, Target::Html, Dialect::Mailchimp, host);
        let mut found = refusals(&made);
        found.retain(|message| !message.contains("loops"));
        (
            found.join("\n"),
            made.code.contains("*|NAME|* of *|MMERGE7|*"),
        )
    };
    let (issue, _) = refused(&Host::default());
    assert!(issue.contains("`CITY_OF_BIRTH`"), "{issue}");
    assert_eq!(refused(&fields("MMERGE7")), (String::new(), true));
    for bad in ["", "city", "A|*", "ELEVEN_LONG", "Ä"] {
        let (issue, _) = refused(&fields(bad));
        assert!(issue.contains("a merge field called"), "{bad}: {issue}");
    }
    assert_eq!(refused(&fields("TEN_LETTER")).0, "");
}

#[test]
fn helpers_have_names() {
    for (name, helper) in Helper::NAMES {
        assert_eq!(Helper::named(name), Some(*helper));
        assert_eq!(helper.name(), *name);
    }
    assert_eq!(Helper::named("ne"), None);
}

/// A document with pictures behind a section, a section of full width and a hero.
fn pictures() -> Document {
    let words = json!([{"type": "text", "text": "Words on it"}]);
    let column = json!([{"type": "column", "children": words}]);
    let behind = json!({"src": "https://cdn.acme.test/sky.png"});
    let checked = check(&json!({
        "version": 2,
        "meta": {"subject": "Sky", "preheader": "Words that stand in a preview line of a mail.", "lang": "en"},
        "root": {"type": "body", "children": [
            {"type": "section", "bg": "#112233", "bgImage": behind, "pad": 24, "children": column},
            {"type": "section", "bg": "#223344", "bgImage": behind, "fullWidth": true, "children": column},
            {"type": "hero", "src": "https://cdn.acme.test/sea.png", "fallbackColor": "#445566", "height": 240, "children": words}
        ]}
    }));
    checked
        .document
        .unwrap_or_else(|| panic!("{:#?}", checked.issues))
}

/// What stands outside of the comments that only Outlook reads.
fn for_others(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once("<!--[if mso") {
        out.push_str(before);
        rest = after
            .split_once("<![endif]-->")
            .map_or("", |(_, after)| after);
    }
    folded(&(out + rest)).replace("> <", "><")
}

#[test]
fn outlook_shows_a_colour_in_place_of_pictures() {
    let document = pictures();
    let made = |outlook_background, target| {
        let options = Options {
            outlook_background,
            target,
            ..Options::default()
        };
        compile(&document, &options).code
    };
    let drawn = made(OutlookBackground::Picture, Target::Html);
    let flat = made(OutlookBackground::Color, Target::Html);
    for (tag, count) in [
        ("<v:rect", 2),
        ("</v:rect>", 2),
        ("<v:fill", 2),
        ("<v:image", 1),
    ] {
        assert_eq!(drawn.matches(tag).count(), count, "{tag}");
        assert!(!flat.contains(tag), "{tag}: {flat}");
    }
    assert!(!flat.contains("v:textbox"), "{flat}");
    for color in ["#112233", "#223344", "#445566"] {
        let ground = format!("bgcolor=\"{color}\"");
        assert!(flat.contains(&ground), "{color}: {flat}");
    }
    assert_eq!(
        flat.matches("<!--[if mso").count(),
        flat.matches("<![endif]-->").count()
            - flat.matches("<!--<![endif]-->").count()
            - flat.matches("<!--[if lte").count()
    );
    // Nobody else sees a difference but the colour that stands behind the hero's picture.
    let others = for_others(&flat).replacen(" bgcolor=\"#445566\"", "", 1);
    assert_eq!(for_others(&drawn), others);
    // MJML leaves it to its own compiler.
    assert_eq!(
        made(OutlookBackground::Picture, Target::Mjml),
        made(OutlookBackground::Color, Target::Mjml)
    );
}

#[test]
fn padding_is_no_finding_where_no_picture_is_drawn() {
    let document = pictures();
    let finds = |outlook_background| {
        let options = Options {
            outlook_background,
            ..Options::default()
        };
        let made = postroom_compose::compile(&document.json(), &options, false);
        let mut issues = made.issues.iter();
        issues.any(|issue| issue.code == "outlook.bg_padding")
    };
    assert!(finds(OutlookBackground::Picture));
    assert!(!finds(OutlookBackground::Color));
}

#[test]
fn go_keeps_comments_in_a_template_that_takes_them_out() {
    let host = Host {
        html_template: true,
        ..Host::default()
    };
    let text = json!([
        {"type": "text", "text": "Hi {{ user.name }}: {{ note }}"},
        {"type": "link", "href": "https://acme.test/?q={{ user.name }}", "children": [{"type": "text", "text": "go"}]}
    ]);
    let made = compiled(&text, Target::Html, Dialect::Go, &host);
    assert!(made.is_whole(), "{:?}", made.issues);
    let bare = made.code.replace("{{ safeHTML `<!--[if", "");
    assert!(!bare.contains("<!--[if"), "{bare}");
    let ends = made.code.matches("<![endif]-->").count();
    let trusted = made.code.matches("{{ safeHTML `<![endif]-->` }}").count()
        + made
            .code
            .matches("{{ safeHTML `<!--<![endif]-->` }}")
            .count();
    assert_eq!(ends, trusted);
    // The engine escapes by place; what it is told to trust it does not.
    let html = folded(&made.code);
    assert!(
        html.contains("Hi {{ or $.user.name `` }}: {{ or $.note `` | safeHTML }}"),
        "{html}"
    );
    assert!(html.contains("?q={{ or $.user.name `` }}\""), "{html}");
    let plain = compiled(&text, Target::Html, Dialect::Go, &Host::default());
    assert!(plain.code.contains("<!--[if mso"));
    assert_eq!(made.text, plain.text);
    assert_eq!(made.subject, plain.subject);
}

#[test]
fn erb_marks_trusted_html_where_the_rest_is_escaped() {
    let host = Host {
        escapes: true,
        ..Host::default()
    };
    let text = json!("{{ user.name }} {{ note }}");
    let made = compiled(&text, Target::Html, Dialect::Erb, &host);
    let html = folded(&made.code);
    assert!(
        html.contains("<%= ERB::Util.h(user[:name]) %> <%== note %>"),
        "{html}"
    );
    let plain = compiled(&text, Target::Html, Dialect::Erb, &Host::default());
    assert!(folded(&plain.code).contains("<%= note %>"));
    assert_eq!(made.text, plain.text);
}
