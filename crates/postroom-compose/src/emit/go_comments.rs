//! Comments that only Outlook reads, for `html/template` of Go, which takes comments out: they go
//! through a function that marks them as HTML to trust.

use super::source::Output;

/// What opens and closes such comments.
const MARKS: &[&str] = &["<!--[if", "<![endif]-->", "<!--<![endif]-->"];

/// `page` with every mark of a comment as a value.
pub(super) fn trusted(page: Output) -> Output {
    let mut text = String::with_capacity(page.text.len());
    // Where what was written so far ends, before and after.
    let mut moved: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while let Some((begin, mark)) = next(&page.text, at) {
        text.push_str(page.text.get(at..begin).unwrap_or_default());
        text.push_str(&format!("{{{{ safeHTML `{mark}` }}}}"));
        at = begin + mark.len();
        moved.push((at, text.len()));
    }
    text.push_str(page.text.get(at..).unwrap_or_default());
    let place = |old: usize| {
        let before = moved.partition_point(|(from, _)| *from <= old);
        let (from, to) = before
            .checked_sub(1)
            .and_then(|before| moved.get(before))
            .copied()
            .unwrap_or((0, 0));
        to + (old - from)
    };
    let mut spans = page.spans;
    for span in &mut spans {
        span.start = place(span.start);
        span.end = place(span.end);
    }
    Output { text, spans }
}

/// The next mark at or after `from`, whole.
fn next(text: &str, from: usize) -> Option<(usize, &str)> {
    let rest = text.get(from..)?;
    let (begin, mark) = MARKS
        .iter()
        .filter_map(|mark| Some((rest.find(mark)?, *mark)))
        .min_by_key(|(begin, mark)| (*begin, std::cmp::Reverse(mark.len())))?;
    let rest = rest.get(begin..)?;
    let len = if mark.ends_with('>') {
        mark.len()
    } else {
        let open = rest.find("]>")? + 2;
        let shown = rest.get(open..)?.starts_with("<!-->");
        open + if shown { 5 } else { 0 }
    };
    Some((from + begin, rest.get(..len)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::SourceSpan;

    #[test]
    fn comments_become_values_and_blocks_keep_their_places() {
        let source = "a<!--[if mso | IE]><td><![endif]-->b<!--[if !mso]><!-->c<!--<![endif]-->d";
        let of = |text: &str, word: &str| text.find(word).unwrap_or_default();
        let span = |text: &str| SourceSpan {
            block_id: "x".to_owned(),
            start: of(text, "b<"),
            end: of(text, "c<") + 1,
        };
        let page = Output {
            text: source.to_owned(),
            spans: vec![span(source)],
        };
        let made = trusted(page);
        assert_eq!(
            made.text,
            "a{{ safeHTML `<!--[if mso | IE]>` }}<td>{{ safeHTML `<![endif]-->` }}b\
             {{ safeHTML `<!--[if !mso]><!-->` }}c{{ safeHTML `<!--<![endif]-->` }}d"
        );
        let begin = of(&made.text, "}}b{{") + 2;
        assert_eq!(made.spans.first().map(|span| span.start), Some(begin));
        let end = of(&made.text, "}}c{{") + 3;
        assert_eq!(made.spans.first().map(|span| span.end), Some(end));
    }
}
