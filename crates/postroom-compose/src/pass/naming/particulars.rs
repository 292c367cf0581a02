//! What a name of a type says besides the type: the level of a heading, the marker of a list, which
//! key of a thing is its title.

use crate::draft::{Node, Object, Origin, Value};

/// A level that is written as a tag, also where the size stands.
pub(super) fn level_words(object: &mut Object) {
    let level = |text: &str| {
        let level = text.trim().to_ascii_lowercase();
        let level = level.strip_prefix('h')?.parse::<u32>().ok()?;
        (1..=6).contains(&level).then_some(level.min(4))
    };
    for key in ["level", "size", "tag", "as", "headingType", "htmlTag"] {
        let Some((at, level)) = object
            .find(key)
            .and_then(|node| Some((node.origin, level(node.as_str()?)?)))
        else {
            continue;
        };
        object.remove(key);
        if !object.has("level") {
            object.put("level", Node::number(at, f64::from(level)));
        }
    }
}

/// What another name says besides the type.
pub(super) fn particulars(object: &mut Object, was: &str, at: Origin) {
    let was = was.to_ascii_lowercase();
    let level = was
        .strip_prefix('h')
        .and_then(|level| level.parse::<u32>().ok());
    if let Some(level) = level
        && !object.has("level")
    {
        object.put("level", Node::number(at, f64::from(level)));
    }
    named_things(object, &was);
    let word = match was.as_str() {
        "headingone" | "heading-one" => Some(1.0),
        "headingthree" | "heading-three" | "subtitle" | "subheading" => Some(3.0),
        "headingfour" | "heading-four" | "h5" | "h6" => Some(4.0),
        _ => None,
    };
    if let Some(level) = word
        && object
            .find("level")
            .is_none_or(|level| level.as_f64().is_some_and(|level| level > 4.0))
    {
        object.put("level", Node::number(at, level));
    }
    let marker = match was.as_str() {
        "steps" => Some("decimal"),
        "checklist" | "todolist" | "todo-list" => Some("check"),
        _ => None,
    };
    if let Some(marker) = marker
        && !object.has("style")
    {
        object.put("style", Node::string(at, marker));
    }
    if matches!(
        was.as_str(),
        "ol" | "orderedlist" | "numberedlist" | "ordered-list" | "numbered-list"
    ) && !object.has("style")
    {
        object.put("style", Node::string(at, "decimal"));
    }
    if was == "signature" {
        signed(object, at);
    }
    if matches!(was.as_str(), "markdown" | "md") {
        let key = ["text", "content", "body", "value", "markdown", "md"]
            .into_iter()
            .find(|key| object.string(key).is_some());
        if let Some(source) = key.and_then(|key| object.remove(key)) {
            let md = Object(vec![("md".to_owned(), source)]);
            object.put("text", Node::new(at, Value::Object(md)));
        }
    }
}

/// Names of things are their titles; of a figure the value is, and its name says what it counts.
fn named_things(object: &mut Object, was: &str) {
    let plain: String = was.chars().filter(|char| char.is_alphanumeric()).collect();
    let pairs: &[(&str, &str)] = match plain.as_str() {
        "product" | "productcard" | "person" | "profile" | "teammember" | "event" => {
            &[("name", "title")]
        }
        "nothing" => {
            let thing = ["price", "description", "bio", "role", "cta", "features"];
            if thing.iter().any(|key| object.has(key)) {
                &[("name", "title")]
            } else {
                &[]
            }
        }
        "avatar" if object.has("title") => &[
            ("title", "subtitle"),
            ("name", "title"),
            ("src", "image"),
            ("url", "image"),
        ],
        "avatar" => &[("name", "title"), ("src", "image"), ("url", "image")],
        "stat" | "metric" => &[("value", "title"), ("label", "text"), ("name", "text")],
        "notification" | "alert" | "callout" | "notice" | "countdown" => &[("label", "title")],
        _ => &[],
    };
    for (other, ours) in pairs {
        if !object.has(ours)
            && let Some(node) = object.remove(other)
        {
            object.put(ours, node);
        }
    }
}

/// Who signs, by parts: a line for each.
fn signed(object: &mut Object, at: Origin) {
    const PARTS: &[&str] = &[
        "closing", "signoff", "name", "title", "role", "position", "company", "email", "phone",
    ];
    let worded = ["text", "content", "html", "value", "body", "md", "children"];
    if worded.iter().any(|key| object.has(key)) {
        return;
    }
    let lines: Vec<Node> = PARTS
        .iter()
        .filter_map(|key| {
            object.string(key)?;
            object.remove(key)
        })
        .collect();
    if lines.is_empty() {
        return;
    }
    let mut spans = Vec::new();
    for (place, line) in lines.into_iter().enumerate() {
        if place > 0 {
            spans.push(Node::block(line.origin, "br", Vec::new()));
        }
        spans.push(line);
    }
    object.put("text", Node::array(at, spans));
}
