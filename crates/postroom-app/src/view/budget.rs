//! Budgets: a cut field ends with `…` and its holder gains `<field>_truncated`; a list that is too
//! long for its answer loses items from the end, and the answer says `truncated`.

use serde::Serialize;
use serde_json::Value;

/// Cuts `text` to `max_chars` characters, the last of which becomes `…`; says whether it was cut.
pub fn cut(text: String, max_chars: usize) -> (String, bool) {
    if text.len() <= max_chars || text.chars().count() <= max_chars {
        return (text, false);
    }
    let mut short: String = text.chars().take(max_chars.saturating_sub(1)).collect();
    short.push('…');
    (short, true)
}

/// Bytes of the compact JSON of `value`.
pub fn json_bytes(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// Drops items from the end until they fit into `max_bytes` of compact JSON beside `fixed_bytes`
/// of everything else; the first item always stays. Says whether any was dropped.
pub fn fit<T: Serialize>(items: &mut Vec<T>, fixed_bytes: usize, max_bytes: usize) -> bool {
    let mut used = fixed_bytes;
    let mut kept = 0;
    for item in items.iter() {
        used += json_bytes(item) + 1;
        if used > max_bytes && kept > 0 {
            break;
        }
        kept += 1;
    }
    let dropped = kept < items.len();
    items.truncate(kept);
    dropped
}

/// Text fields that a last resort may cut further: their holders declare `<field>_truncated`.
const TEXTS: &[&str] = &["text", "extracted_text", "payload"];
/// Lists that a last resort may shorten.
const LISTS: &[&str] = &[
    "attachments",
    "bcc",
    "cc",
    "data",
    "events",
    "headers",
    "hits",
    "messages",
    "pages",
    "participants",
    "refs",
    "reply_to",
    "to",
];

/// The last resort for an answer that is still larger than `max_bytes`: halves its largest text or
/// list again and again, marks each cut holder and sets `truncated` on the answer.
pub fn shrink(answer: &mut Value, max_bytes: usize) {
    // Each round halves something of at least two parts, so the answer's own size bounds the loop.
    while json_bytes(answer) > max_bytes {
        let Some(path) = largest(answer) else { return };
        halve(answer, &path);
        if let Some(object) = answer.as_object_mut() {
            object.insert("truncated".to_owned(), Value::Bool(true));
        }
    }
}

/// The place of the largest field that may be cut: JSON pointers of its holder and its name.
fn largest(answer: &Value) -> Option<(String, String)> {
    let mut best: Option<(usize, (String, String))> = None;
    let mut rest = vec![(String::new(), answer)];
    while let Some((pointer, value)) = rest.pop() {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    let size = weight(name, field);
                    if size > 0 && best.as_ref().is_none_or(|(most, _)| size > *most) {
                        best = Some((size, (pointer.clone(), name.clone())));
                    }
                    rest.push((format!("{pointer}/{name}"), field));
                }
            }
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    rest.push((format!("{pointer}/{place}"), item));
                }
            }
            _ => {}
        }
    }
    best.map(|(_, place)| place)
}

/// What halving a field would save, in bytes; zero when it may not be cut.
fn weight(name: &str, field: &Value) -> usize {
    match field {
        Value::String(text) if TEXTS.contains(&name) && text.len() > 64 => text.len(),
        // A list of one is cut inside its item.
        Value::Array(items) if LISTS.contains(&name) && items.len() > 1 => json_bytes(field),
        _ => 0,
    }
}

fn halve(answer: &mut Value, (pointer, name): &(String, String)) {
    let Some(Value::Object(holder)) = answer.pointer_mut(pointer) else {
        return;
    };
    match holder.get_mut(name) {
        Some(Value::String(text)) => {
            let half = text.chars().count() / 2;
            *text = cut(std::mem::take(text), half).0;
            holder.insert(format!("{name}_truncated"), Value::Bool(true));
        }
        Some(Value::Array(items)) => items.truncate(items.len() / 2),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_text_at_the_budget_stays_and_one_past_it_is_cut_and_marked() {
        assert_eq!(cut("äöü".to_owned(), 3), ("äöü".to_owned(), false));
        assert_eq!(cut("äöüß".to_owned(), 3), ("äö…".to_owned(), true));
    }

    #[test]
    fn items_are_dropped_from_the_end_at_the_byte_budget() {
        let item = "x".repeat(8);
        let mut items = vec![item.clone(), item.clone(), item];
        assert!(!fit(&mut items, 0, 33));
        assert!(fit(&mut items, 0, 32));
        assert_eq!(items.len(), 2);
    }

    proptest! {
        #[test]
        fn any_large_answer_ends_up_within_the_budget(chars in 500usize..4000, to in 2usize..300) {
            let mut answer = json!({
                "message": {
                    "text": "\u{1F600}".repeat(chars),
                    "to": vec![json!({"address": "a@example.com", "name": "n"}); to],
                },
                "truncated": false,
            });
            shrink(&mut answer, 2_000);
            prop_assert!(json_bytes(&answer) <= 2_000);
            prop_assert_eq!(&answer["truncated"], &json!(true));
        }
    }
}
