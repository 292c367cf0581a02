//! Words as they are compared: lower case, accents dropped.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Lower case without accents (NFKD, combining marks dropped), runs of white space as one space.
pub fn fold(text: &str) -> String {
    let plain: String = text
        .nfkd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}
