//! Where something stands in a document.

/// A place in the text of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Bytes from the beginning.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Where a value stands in what the author wrote. A value that a repair made has the source of what
/// it was made from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Source {
    /// Dotted, as `root.children.0`; empty for the document itself.
    pub path: String,
    /// The same as RFC 6901 has it.
    pub pointer: String,
    /// Place in the text; `None` when the document was no text.
    pub position: Option<Position>,
    /// Rank in document order.
    pub order: u32,
    /// Id of the nearest block around it.
    pub block_id: Option<String>,
}
