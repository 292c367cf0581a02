//! Paragraphs of format=flowed text (RFC 3676) as one line each.

/// Joins flowed lines; `delsp` drops the blank that marked the join.
pub(crate) fn unfold(text: &str, delsp: bool) -> String {
    let mut out = String::with_capacity(text.len());
    // The quote depth of a line that goes on, when the last one did.
    let mut open: Option<usize> = None;
    for line in text.lines() {
        let (depth, line) = depth_of(line);
        // A signature's line joins nothing (section 4.3).
        let is_delimiter = line == "-- ";
        let flows = line.ends_with(' ') && !is_delimiter;
        if open != Some(depth) || is_delimiter {
            if open.is_some() {
                out.push('\n');
            }
            out.extend(std::iter::repeat_n('>', depth));
            if depth > 0 {
                out.push(' ');
            }
        }
        if flows {
            out.push_str(if delsp {
                line.get(..line.len() - 1).unwrap_or(line)
            } else {
                line
            });
            open = Some(depth);
        } else {
            out.push_str(line);
            out.push('\n');
            open = None;
        }
    }
    out
}

/// Quote depth and the text without marks and without the stuffed blank.
fn depth_of(line: &str) -> (usize, &str) {
    let text = line.trim_start_matches('>');
    let depth = line.len() - text.len();
    (depth, text.strip_prefix(' ').unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flowed_lines_are_one_paragraph() {
        assert_eq!(unfold("a \nb\n", false), "a b\n");
        assert_eq!(unfold("日本 \n語\n", true), "日本語\n");
        assert_eq!(
            unfold("> q \n> q\nnew \n-- \nsig\n", false),
            "> q q\nnew \n-- \nsig\n"
        );
        assert_eq!(unfold("> a \n>> b\n", false), "> a \n>> b\n");
        assert_eq!(unfold(" >stuffed\n", false), ">stuffed\n");
    }
}
