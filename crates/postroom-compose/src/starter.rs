//! Documents to begin with. Each passes every lint, in light and in dark.

/// A document to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Starter {
    /// Name, as in `ir://examples/NAME`.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// The document as JSON text, as an author would draft it.
    pub text: &'static str,
}

/// Every starter; the first eight are for everyday mails, the others show how something is done.
pub const STARTERS: &[Starter] = &[
    Starter {
        name: "welcome",
        title: "Welcome",
        description: "First mail after somebody signed up.",
        text: include_str!("starter/welcome.json"),
    },
    Starter {
        name: "receipt",
        title: "Receipt",
        description: "What somebody bought, as a table.",
        text: include_str!("starter/receipt.json"),
    },
    Starter {
        name: "password-reset",
        title: "Password reset",
        description: "A link and a code that work for a short time.",
        text: include_str!("starter/password-reset.json"),
    },
    Starter {
        name: "invitation",
        title: "Invitation",
        description: "Somebody invites to a team.",
        text: include_str!("starter/invitation.json"),
    },
    Starter {
        name: "digest",
        title: "Digest",
        description: "What happened, as a loop over a list.",
        text: include_str!("starter/digest.json"),
    },
    Starter {
        name: "alert",
        title: "Alert",
        description: "Something needs a person now.",
        text: include_str!("starter/alert.json"),
    },
    Starter {
        name: "invoice",
        title: "Invoice",
        description: "What is to be paid, until when and how.",
        text: include_str!("starter/invoice.json"),
    },
    Starter {
        name: "newsletter",
        title: "Newsletter",
        description: "News with pictures in two columns, with all that marketing needs.",
        text: include_str!("starter/newsletter.json"),
    },
    Starter {
        name: "two-cards",
        title: "Two cards",
        description: "Two offers beside each other, each in its own column.",
        text: include_str!("starter/two-cards.json"),
    },
    Starter {
        name: "digest-loop",
        title: "Loops and conditions",
        description: "Rows of a table, texts and whole sections repeated for lists, some only under a condition.",
        text: include_str!("starter/digest-loop.json"),
    },
    Starter {
        name: "dark",
        title: "Dark mode",
        description: "A colour and a picture for the day and for the night.",
        text: include_str!("starter/dark.json"),
    },
    Starter {
        name: "rtl",
        title: "Right to left",
        description: "A mail in Arabic; everything mirrors.",
        text: include_str!("starter/rtl.json"),
    },
];

/// The starter of that name.
#[must_use]
pub fn starter(name: &str) -> Option<&'static Starter> {
    STARTERS.iter().find(|starter| starter.name == name)
}
