//! HTML bodies: the words a reader sees, and a copy that is safe to show.

mod clean;
mod css;
mod pass;
mod slim;
mod text;

pub(crate) use clean::clean;
pub use text::{VisibleText, html_to_text};
