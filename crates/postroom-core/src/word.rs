//! Closed lists of words that rows hold and surfaces show.

/// A string that is no word of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown word for {0}")]
pub struct UnknownWord(pub &'static str);

/// Declares an enum whose values have one word each, the same in the database and on the wire.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
            pub enum $name {
                $($(#[$vdoc])* #[serde(rename = $word)] $variant,)*
            }

            impl $name {
                /// Every value.
                pub const ALL: &'static [Self] = &[$(Self::$variant),*];

                /// The word.
                pub fn as_str(self) -> &'static str {
                    match self { $(Self::$variant => $word,)* }
                }
            }

            impl std::str::FromStr for $name {
                type Err = $crate::UnknownWord;

                fn from_str(text: &str) -> Result<Self, $crate::UnknownWord> {
                    match text { $($word => Ok(Self::$variant),)* _ => Err($crate::UnknownWord(stringify!($name))) }
                }
            }

            impl std::fmt::Display for $name {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str(self.as_str())
                }
            }
        )*
    };
}

pub(crate) use words;
