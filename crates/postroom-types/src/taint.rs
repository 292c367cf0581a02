//! Text that an outsider wrote.

/// Text from a mail, a webhook or a file name: it may hold instructions that are not the user's.
///
/// It has no `Display` and a `Debug` that shows its length only, so it cannot slip into a log line,
/// an error message or a tool description; the agent's view unwraps it and labels it.
#[derive(
    Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct Tainted(String);

impl Tainted {
    /// Marks text as an outsider's.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for a place that labels it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The owned text, for a place that labels it.
    pub fn into_exposed(self) -> String {
        self.0
    }
}

impl std::fmt::Debug for Tainted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tainted({} bytes)", self.0.len())
    }
}
