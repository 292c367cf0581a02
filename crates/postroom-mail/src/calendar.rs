//! What a text/calendar part (RFC 5545) says in short.

use postroom_types::limit;

use crate::{Calendar, cut};

/// Lines looked at; the first event stands well before.
const LINES_MAX: usize = 2_000;

/// Reads the first event (or task) of an invitation. `method` is the part's own parameter.
pub(crate) fn read(text: &str, method: Option<&str>) -> Calendar {
    let mut calendar = Calendar {
        method: method.map(|method| kept(&method.to_ascii_uppercase())),
        ..Calendar::default()
    };
    // Nested components (alarms, time zones) have fields of the same names.
    let mut components: Vec<String> = Vec::new();
    let mut events = 0;
    for line in unfolded(text) {
        let Some((name, params, value)) = split(&line) else {
            continue;
        };
        match name.as_str() {
            "BEGIN" => {
                let component = value.trim().to_ascii_uppercase();
                events += usize::from(is_event(&component));
                if events > 1 || components.len() > 16 {
                    break;
                }
                components.push(component);
            }
            "END" => {
                components.pop();
            }
            "METHOD" => calendar.method = Some(kept(&value.trim().to_ascii_uppercase())),
            _ if components.last().is_some_and(|inner| is_event(inner)) => {
                set(&mut calendar, &name, &params, &value);
            }
            _ => {}
        }
    }
    calendar
}

fn is_event(component: &str) -> bool {
    matches!(component, "VEVENT" | "VTODO")
}

fn set(calendar: &mut Calendar, name: &str, params: &str, value: &str) {
    let slot = match name {
        "SUMMARY" => &mut calendar.summary,
        "LOCATION" => &mut calendar.location,
        "DTSTART" => &mut calendar.dtstart,
        "DTEND" | "DUE" => &mut calendar.dtend,
        "ORGANIZER" => &mut calendar.organizer,
        _ => return,
    };
    if slot.is_some() {
        return;
    }
    let value = value.trim();
    let text = match name {
        "SUMMARY" | "LOCATION" => unescaped(value),
        "ORGANIZER" => {
            let is_mailto = value
                .get(..7)
                .is_some_and(|s| s.eq_ignore_ascii_case("mailto:"));
            let address = if is_mailto {
                value.get(7..).unwrap_or(value)
            } else {
                value
            };
            address.to_lowercase()
        }
        // The zone belongs to the time.
        _ => match zone(params) {
            Some(zone) => format!("TZID={zone}:{value}"),
            None => value.to_owned(),
        },
    };
    if !text.is_empty() {
        *slot = Some(kept(&text));
    }
}

fn zone(params: &str) -> Option<&str> {
    params.split(';').find_map(|param| {
        let (name, value) = param.split_once('=')?;
        name.eq_ignore_ascii_case("TZID")
            .then(|| value.trim_matches('"'))
    })
}

fn kept(text: &str) -> String {
    let text = crate::invisible::strip(text).text;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut::chars(&text, limit::NAME_CHARS).to_owned()
}

/// Content lines with their continuations joined (RFC 5545 section 3.1).
fn unfolded(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().take(LINES_MAX) {
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(more), Some(last)) => last.push_str(more.trim_end_matches('\r')),
            _ => lines.push(line.trim_end_matches('\r').to_owned()),
        }
    }
    lines
}

/// Name, parameters and value; a colon within quotes does not split.
fn split(line: &str) -> Option<(String, String, String)> {
    let mut quoted = false;
    let colon = line.char_indices().find_map(|(at, c)| {
        quoted ^= c == '"';
        (c == ':' && !quoted).then_some(at)
    })?;
    let (head, value) = line.split_at(colon);
    let (name, params) = head.split_once(';').unwrap_or((head, ""));
    Some((
        name.trim().to_ascii_uppercase(),
        params.to_owned(),
        value.get(1..).unwrap_or_default().to_owned(),
    ))
}

/// RFC 5545 section 3.3.11.
fn unescaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n' | 'N') => out.push(' '),
                Some(other) => out.push(other),
                None => {}
            },
            _ => out.push(c),
        }
    }
    out
}
