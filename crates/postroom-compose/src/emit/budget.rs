//! How much a document may become, however its loops and conditions multiply it.

use crate::model::{Block, BlockKind, Text};

/// Bytes of words and blocks that loops over samples may repeat, about.
const REPEATED_BYTES: usize = 8 * 1024 * 1024;
/// Conditions that may be taken apart; each repeats what it is about.
const APART: usize = 200;
/// What a block costs beside its words.
const BLOCK_BYTES: usize = 400;

/// What is left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    bytes: usize,
    apart: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            bytes: REPEATED_BYTES,
            apart: APART,
        }
    }
}

impl Budget {
    /// Takes what one round of a loop costs; `false` when there is not that much.
    pub(super) fn round(&mut self, weight: usize) -> bool {
        let left = self.bytes.checked_sub(weight);
        self.bytes = left.unwrap_or(0);
        left.is_some()
    }

    /// Takes one condition to be taken apart.
    pub(super) fn apart(&mut self) -> bool {
        let left = self.apart.checked_sub(1);
        self.apart = left.unwrap_or(0);
        left.is_some()
    }
}

/// What blocks cost each time they are written.
pub(super) fn weight(blocks: &[Block]) -> usize {
    let mut bytes = 0;
    for block in blocks {
        block.walk(&mut |block| bytes += BLOCK_BYTES + words(block));
    }
    bytes
}

fn words(block: &Block) -> usize {
    let of = |text: &Text| text.plain().len();
    match &block.kind {
        BlockKind::Heading(node) => of(&node.text),
        BlockKind::Text(node) => of(&node.text),
        BlockKind::Button(node) => of(&node.label) + node.href.plain().len(),
        BlockKind::Item(node) => of(&node.text),
        BlockKind::Cell(node) => of(&node.text),
        BlockKind::MenuItem(node) => of(&node.label) + node.href.plain().len(),
        BlockKind::Quote(node) => of(&node.text),
        BlockKind::Code(node) => node.text.plain().len(),
        BlockKind::Raw(node) => node.html.len(),
        BlockKind::Footer(node) => node.lines.iter().map(of).sum(),
        BlockKind::Address(node) => node.lines.iter().map(of).sum(),
        _ => 0,
    }
}
