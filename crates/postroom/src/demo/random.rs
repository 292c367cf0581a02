//! The dice of the demo world: the same throws every time.

/// A small deterministic generator (SplitMix64). It makes plausible mail, never secrets.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// A number below `bound`; zero when the bound is zero.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        (self.next() % u64::from(bound.max(1))) as u32
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// One of the items; the default when there is none.
    pub(super) fn pick<T: Copy + Default>(&mut self, items: &[T]) -> T {
        let place = self.below(items.len() as u32) as usize;
        items.get(place).copied().unwrap_or_default()
    }
}
