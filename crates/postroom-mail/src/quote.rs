//! The new words of a mail apart from quoted history and signature.
//!
//! Works on lines, each looked at a bounded number of times. What introduces history is recognised
//! by its shape (a date, a person, a verb, a colon at the end) with the words of many languages in
//! [`words`], so that an unknown language is missed and not mangled.

mod header;
mod signature;
mod words;

use header::Header;

/// A body split into what was written now and the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Split {
    /// The new words; never empty when the body has any.
    pub extracted: String,
    /// Whether history was found.
    pub has_quotes: bool,
    /// Whether a signature was cut.
    pub has_signature: bool,
}

/// Splits a plain text body.
///
/// ```
/// let split = postroom_mail::split_quotes("Yes.\n\nOn 1 May 2026, Ann wrote:\n> Shall we?\n");
/// assert_eq!(split.extracted, "Yes.");
/// ```
pub fn split_quotes(text: &str) -> Split {
    split(text, None)
}

/// As [`split_quotes`], with the first line of history as the HTML body shows it, when that is
/// known.
pub(crate) fn split(text: &str, history: Option<&str>) -> Split {
    let lines: Vec<&str> = text.lines().collect();
    let hint = history.and_then(|first| find_line(&lines, first));
    let mut kept = keep_new(&lines, hint);
    let has_signature = signature::cut(&mut kept.lines);
    let extracted = joined(&kept.lines);
    if !extracted.is_empty() {
        return Split {
            extracted,
            has_quotes: kept.has_quotes,
            has_signature,
        };
    }
    // Nothing new: a mail passed on without a word keeps what was passed on; else everything but
    // the signature stays.
    let from = kept.forward_at.unwrap_or(0);
    let mut rest: Vec<&str> = lines.get(from..).unwrap_or_default().to_vec();
    let has_signature = kept.forward_at.is_none() && signature::cut(&mut rest);
    let extracted = match joined(&rest) {
        empty if empty.is_empty() => text.trim().to_owned(),
        some => some,
    };
    Split {
        extracted,
        has_quotes: kept.has_quotes,
        has_signature,
    }
}

#[derive(Default)]
struct Kept<'a> {
    lines: Vec<&'a str>,
    has_quotes: bool,
    /// Where a mail that was passed on begins.
    forward_at: Option<usize>,
}

/// The lines that are not history: quoted lines and their attribution go, answers between them
/// stay; history without marks goes with everything behind it.
fn keep_new<'a>(lines: &[&'a str], hint: Option<usize>) -> Kept<'a> {
    let mut kept = Kept::default();
    let mut has_words = false;
    let mut at = 0;
    while let Some(&line) = lines.get(at) {
        if is_quoted(line) {
            kept.has_quotes = true;
            at += 1 + wrapped_tail(lines, at);
            continue;
        }
        if let Some(skip) = signature::armour(lines, at) {
            at += skip;
            continue;
        }
        let header = match header::at(lines, at) {
            None if hint == Some(at) => Some(Header::plain(hinted_lines(lines, at))),
            header => header,
        };
        let Some(header) = header else {
            has_words = has_words || !line.trim().is_empty();
            kept.lines.push(line);
            at += 1;
            continue;
        };
        let after = next_words(lines, at + header.lines);
        let goes_on_quoted = after.is_some_and(|next| is_quoted(lines.get(next).unwrap_or(&"")));
        if goes_on_quoted && !header.is_forward {
            kept.has_quotes = true;
            at += header.lines;
        } else if has_words {
            kept.has_quotes = true;
            break;
        } else if header.is_forward {
            // Passed on without a word: from here on is all there is.
            kept.forward_at = Some(at);
            break;
        } else {
            // The first line never begins history.
            for line in lines.get(at..at + header.lines).unwrap_or_default() {
                has_words = true;
                kept.lines.push(line);
            }
            at += header.lines;
        }
    }
    trim_separators(&mut kept);
    kept
}

fn is_quoted(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

fn next_words(lines: &[&str], from: usize) -> Option<usize> {
    (from..lines.len().min(from + 12)).find(|at| !lines.get(*at).unwrap_or(&"").trim().is_empty())
}

/// Lines that a program broke off a long quoted line: one or two without a mark between two with.
fn wrapped_tail(lines: &[&str], quoted: usize) -> usize {
    let long = |at: usize| lines.get(at).is_some_and(|line| line.len() >= 60);
    let plain = |at: usize| {
        lines
            .get(at)
            .is_some_and(|line| !is_quoted(line) && !line.trim().is_empty())
    };
    let marked = |at: usize| lines.get(at).is_some_and(|line| is_quoted(line));
    if !long(quoted) || !plain(quoted + 1) {
        0
    } else if marked(quoted + 2) {
        1
    } else if plain(quoted + 2) && long(quoted + 1) && marked(quoted + 3) {
        2
    } else {
        0
    }
}

/// Lines of an introduction that only the HTML told of: up to one that ends in a colon.
fn hinted_lines(lines: &[&str], at: usize) -> usize {
    (0..4)
        .find(|more| {
            lines
                .get(at + more)
                .is_some_and(|line| line.trim_end().ends_with([':', '：']))
        })
        .map_or(1, |more| more + 1)
}

/// Rules and empty lines that stood between the new words and the history.
fn trim_separators(kept: &mut Kept<'_>) {
    if !kept.has_quotes {
        return;
    }
    while let Some(last) = kept.lines.last() {
        let bare = last.trim();
        let is_rule = bare.len() >= 5
            && bare
                .chars()
                .all(|c| matches!(c, '_' | '-' | '=' | '*' | ' ' | '—' | '―'));
        if !(bare.is_empty() || is_rule) {
            break;
        }
        kept.lines.pop();
    }
}

/// One text: no empty lines at the ends, at most two between.
fn joined(lines: &[&str]) -> String {
    let mut out = String::new();
    let mut empty = 0;
    for line in lines {
        let line = line.trim_end();
        if line.is_empty() {
            empty += 1;
            continue;
        }
        if !out.is_empty() {
            let breaks = 1 + empty.min(2);
            out.extend(std::iter::repeat_n('\n', breaks));
        }
        empty = 0;
        out.push_str(if out.is_empty() {
            line.trim_start()
        } else {
            line
        });
    }
    out
}

/// The line of a plain text that is the same as `first`, give or take spaces and wrapping.
fn find_line(lines: &[&str], first: &str) -> Option<usize> {
    const COMPARED: usize = 24;
    let squeeze = |text: &str| -> Vec<char> {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .take(COMPARED)
            .collect()
    };
    let wanted = squeeze(first);
    if wanted.len() < 8 {
        return None;
    }
    lines.iter().position(|line| {
        let found = squeeze(line);
        found.len() >= 8 && (wanted.starts_with(&found) || found.starts_with(&wanted))
    })
}
