//! Which bytes of a compiled document came from which block.

/// Bytes that one block became.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceSpan {
    /// Id of the block.
    pub block_id: String,
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

/// Text and where it came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// The text.
    pub text: String,
    /// In order of their start; a block inside another comes after it.
    pub spans: Vec<SourceSpan>,
}

/// Collects spans while text is written.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    open: Vec<(usize, usize)>,
    done: Vec<(usize, usize, usize)>,
}

impl Spans {
    /// A block's text begins at this byte.
    pub(crate) fn begin(&mut self, block: usize, at: usize) {
        self.open.push((block, at));
    }

    /// A block's text ends before this byte.
    pub(crate) fn end(&mut self, block: usize, at: usize) {
        let found = self.open.iter().rposition(|(open, _)| *open == block);
        if let Some(index) = found {
            let (block, start) = self.open.remove(index);
            self.done.push((block, start, at));
        }
    }

    /// The text was cut back to `len` bytes.
    pub(crate) fn cut(&mut self, len: usize) {
        for (_, start) in &mut self.open {
            *start = (*start).min(len);
        }
        for (_, start, end) in self.done.iter_mut().rev().take(16) {
            *start = (*start).min(len);
            *end = (*end).min(len);
        }
    }

    /// The spans with the ids of their blocks.
    pub(crate) fn finish(mut self, blocks: &[String]) -> Vec<SourceSpan> {
        self.done
            .sort_by_key(|(_, start, end)| (*start, std::cmp::Reverse(*end)));
        let named = self.done.into_iter().filter_map(|(block, start, end)| {
            Some(SourceSpan {
                block_id: blocks.get(block)?.clone(),
                start,
                end,
            })
        });
        named.collect()
    }
}
