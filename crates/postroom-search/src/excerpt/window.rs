//! The window of a text that a snippet shows.

use super::Span;

/// What stands where text was cut.
const CUT: char = '…';

/// A text as one line: blanks collapsed, control characters gone.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(1 << 16));
    let mut blank = false;
    for next in text.chars() {
        if next.is_whitespace() || next.is_control() {
            blank = true;
            continue;
        }
        if blank && !line.is_empty() {
            line.push(' ');
        }
        blank = false;
        line.push(next);
    }
    line
}

/// At most `max_chars` of a line: the window with the most different leaves and the most places, cut
/// between words.
pub(super) fn best(line: &str, spans: &[Span], max_chars: usize) -> String {
    // Byte offset of each character; a window is counted in characters.
    let offsets: Vec<usize> = line
        .char_indices()
        .map(|(offset, _)| offset)
        .chain([line.len()])
        .collect();
    let length = offsets.len() - 1;
    if length <= max_chars {
        return line.to_owned();
    }
    // Room for a cut mark on both sides.
    let room = max_chars.saturating_sub(2).max(1);
    let (from, to) = densest(&offsets, spans, room);
    let spare = room.saturating_sub(to - from);
    let mut start = from.saturating_sub(spare / 3);
    let mut end = (start + room).min(length);
    start = end.saturating_sub(room).min(start);
    // A window that begins or ends inside a word gives up that word, unless it is what was found.
    let chars: Vec<char> = slice(line, &offsets, start, end).chars().collect();
    let inside = |at: usize| {
        at > 0
            && at < length
            && char_at(line, &offsets, at - 1).is_some_and(char::is_alphanumeric)
            && char_at(line, &offsets, at).is_some_and(char::is_alphanumeric)
    };
    if inside(start) {
        let limit = from.saturating_sub(start);
        let skip = chars.iter().take(limit).position(|c| c.is_whitespace());
        start += skip.map_or(0, |skip| skip + 1);
    }
    if inside(end) {
        let keep = end.saturating_sub(to.max(start));
        let back = chars
            .iter()
            .rev()
            .take(keep)
            .position(|c| c.is_whitespace());
        end -= back.map_or(0, |back| back + 1);
    }
    let shown = slice(line, &offsets, start, end).trim();
    let mut out = String::with_capacity(shown.len() + 6);
    if start > 0 {
        out.push(CUT);
    }
    out.push_str(shown);
    if end < length && max_chars > 1 {
        out.push(CUT);
    }
    out
}

fn slice<'a>(line: &'a str, offsets: &[usize], from: usize, to: usize) -> &'a str {
    let at = |place: usize| offsets.get(place).copied().unwrap_or(line.len());
    line.get(at(from)..at(to)).unwrap_or_default()
}

fn char_at(line: &str, offsets: &[usize], place: usize) -> Option<char> {
    slice(line, offsets, place, place + 1).chars().next()
}

/// The characters from the first to the last place of the window that is worth most: ten for each
/// different leaf and one for each place.
fn densest(offsets: &[usize], spans: &[Span], room: usize) -> (usize, usize) {
    let places: Vec<(usize, usize, usize)> = spans
        .iter()
        .map(|span| {
            let char_of = |byte| offsets.partition_point(|offset| *offset < byte);
            (span.leaf, char_of(span.from), char_of(span.to))
        })
        .collect();
    let leaves = places.iter().map(|(leaf, _, _)| leaf + 1).max();
    // For each leaf the window that counted it last.
    let mut counted = vec![usize::MAX; leaves.unwrap_or(0)];
    let mut best = (0, 0, 0);
    for (first, (_, from, to)) in places.iter().enumerate() {
        let mut worth = 0;
        // A place longer than the window is shown from its beginning.
        let mut end = (*to).min(from + room);
        for (leaf, _, to) in places
            .iter()
            .skip(first)
            .take_while(|(_, at, _)| *at <= from + room)
        {
            if *to <= from + room {
                let is_new = counted
                    .get_mut(*leaf)
                    .is_some_and(|window| std::mem::replace(window, first) != first);
                worth += if is_new { 11 } else { 1 };
                end = end.max(*to);
            }
        }
        if worth > best.0 || best.2 == 0 {
            best = (worth, *from, end);
        }
    }
    (best.1, best.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span(leaf: usize, line: &str, word: &str) -> Span {
        let from = line.find(word).expect("the word");
        Span {
            leaf,
            from,
            to: from + word.len(),
        }
    }

    #[test]
    fn the_window_with_the_most_different_leaves_wins() {
        let line = format!(
            "red red red {} red blue {}",
            "x ".repeat(60),
            "y ".repeat(60)
        );
        let mut spans: Vec<Span> = line
            .match_indices("red")
            .map(|(from, _)| Span {
                leaf: 0,
                from,
                to: from + 3,
            })
            .collect();
        spans.push(span(1, &line, "blue"));
        assert!(best(&line, &spans, 40).contains("red blue"));
    }

    #[test]
    fn a_short_line_is_shown_whole() {
        assert_eq!(best("all of it", &[], 9), "all of it");
        assert_eq!(best("all of it", &[], 8), "all of…");
        assert_eq!(one_line(" a\r\n\tb\u{7}c  "), "a b c");
    }

    proptest! {
        #[test]
        fn a_window_fits_and_is_part_of_the_line(
            line in "[a-zé請 ]{0,200}",
            places in prop::collection::vec((0_usize..5, 0_usize..200, 1_usize..30), 0..20),
            max_chars in 3_usize..120,
        ) {
            let line = one_line(&line);
            let offsets: Vec<usize> = line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
            let at = |place: usize| offsets[place.min(offsets.len() - 1)];
            let mut spans: Vec<Span> = places
                .into_iter()
                .map(|(leaf, from, length)| Span { leaf, from: at(from), to: at(from + length) })
                .filter(|span| span.from < span.to)
                .collect();
            spans.sort_by_key(|span| (span.from, span.to));
            let shown = best(&line, &spans, max_chars);
            prop_assert!(shown.chars().count() <= max_chars);
            prop_assert!(line.contains(shown.trim_matches(CUT)));
        }
    }
}
