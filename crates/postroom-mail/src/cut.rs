//! Texts cut at their limits, never inside a character.

/// The longest start of at most `max` bytes.
pub(crate) fn bytes(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The longest start of at most `max` characters.
pub(crate) fn chars(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    match text.char_indices().nth(max) {
        Some((end, _)) => text.get(..end).unwrap_or_default(),
        None => text,
    }
}
