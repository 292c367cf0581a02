//! Names of keys that tell what stands under them.

use crate::pass::plain;

/// What a key without its own place becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Becomes {
    Heading(u32),
    Text,
    Button,
    Image,
    /// A way to unsubscribe.
    Unsubscribe,
    /// A postal address.
    Address,
    /// Links to profiles.
    Social,
    /// Links beside each other.
    Menu,
    /// Names with their values.
    Facts,
    /// Points below each other.
    List,
}

/// Keys by letters and digits in lower case.
pub(super) const NAMES: &[(&str, Becomes)] = &[
    ("title", Becomes::Heading(2)),
    ("headline", Becomes::Heading(2)),
    ("heading", Becomes::Heading(2)),
    ("subtitle", Becomes::Heading(3)),
    ("subheading", Becomes::Heading(3)),
    ("subheadline", Becomes::Heading(3)),
    ("tagline", Becomes::Text),
    ("eyebrow", Becomes::Text),
    ("kicker", Becomes::Text),
    ("greeting", Becomes::Text),
    ("salutation", Becomes::Text),
    ("lead", Becomes::Text),
    ("closing", Becomes::Text),
    ("signoff", Becomes::Text),
    ("signature", Becomes::Text),
    ("footnote", Becomes::Text),
    ("disclaimer", Becomes::Text),
    ("footer", Becomes::Text),
    ("copyright", Becomes::Text),
    ("legal", Becomes::Text),
    ("company", Becomes::Text),
    ("companyname", Becomes::Text),
    ("price", Becomes::Text),
    ("excerpt", Becomes::Text),
    ("teaser", Becomes::Text),
    ("location", Becomes::Text),
    ("venue", Becomes::Text),
    ("date", Becomes::Text),
    ("time", Becomes::Text),
    ("duration", Becomes::Text),
    ("code", Becomes::Text),
    ("expires", Becomes::Text),
    ("expiry", Becomes::Text),
    ("validuntil", Becomes::Text),
    ("question", Becomes::Heading(3)),
    ("answer", Becomes::Text),
    ("bio", Becomes::Text),
    ("text", Becomes::Text),
    ("content", Becomes::Text),
    ("description", Becomes::Text),
    ("desc", Becomes::Text),
    ("body", Becomes::Text),
    ("copy", Becomes::Text),
    ("caption", Becomes::Text),
    ("paragraph", Becomes::Text),
    ("paragraphs", Becomes::Text),
    ("message", Becomes::Text),
    ("intro", Becomes::Text),
    ("summary", Becomes::Text),
    ("html", Becomes::Text),
    ("markdown", Becomes::Text),
    ("md", Becomes::Text),
    ("button", Becomes::Button),
    ("buttons", Becomes::Button),
    ("cta", Becomes::Button),
    ("ctas", Becomes::Button),
    ("action", Becomes::Button),
    ("buttontext", Becomes::Button),
    ("buttonlabel", Becomes::Button),
    ("ctatext", Becomes::Button),
    ("ctalabel", Becomes::Button),
    ("linktext", Becomes::Button),
    ("readmore", Becomes::Button),
    ("readmoretext", Becomes::Button),
    ("actiontext", Becomes::Button),
    ("actionlabel", Becomes::Button),
    ("image", Becomes::Image),
    ("img", Becomes::Image),
    ("logo", Becomes::Image),
    ("picture", Becomes::Image),
    ("photo", Becomes::Image),
    ("thumbnail", Becomes::Image),
    ("imageurl", Becomes::Image),
    ("imagesrc", Becomes::Image),
    ("logourl", Becomes::Image),
    ("logosrc", Becomes::Image),
    ("bannerimage", Becomes::Image),
    ("heroimage", Becomes::Image),
    ("social", Becomes::Social),
    ("sociallinks", Becomes::Social),
    ("socials", Becomes::Social),
    ("menu", Becomes::Menu),
    ("nav", Becomes::Menu),
    ("navigation", Becomes::Menu),
    ("unsubscribe", Becomes::Unsubscribe),
    ("unsubscribelink", Becomes::Unsubscribe),
    ("unsubscribeurl", Becomes::Unsubscribe),
    ("unsubscribetext", Becomes::Unsubscribe),
    ("unsubscribelabel", Becomes::Unsubscribe),
    ("bullets", Becomes::List),
    ("bulletpoints", Becomes::List),
    ("keypoints", Becomes::List),
    ("highlights", Becomes::List),
    ("details", Becomes::Facts),
    ("facts", Becomes::Facts),
    ("stats", Becomes::Facts),
    ("statistics", Becomes::Facts),
    ("metrics", Becomes::Facts),
    ("kpis", Becomes::Facts),
    ("fields", Becomes::Facts),
    ("specs", Becomes::Facts),
    ("metadata", Becomes::Facts),
    ("address", Becomes::Address),
    ("companyaddress", Becomes::Address),
    ("postaladdress", Becomes::Address),
];

/// Words of a block that come after what it holds.
pub(super) const LAST: &[&str] = &[
    "closing",
    "signoff",
    "signature",
    "footnote",
    "disclaimer",
    "footer",
    "copyright",
    "legal",
    "company",
    "companyname",
];

/// Where a button that is only words leads.
pub(super) const TARGETS: &[&str] = &[
    "button_url",
    "readMoreUrl",
    "read_more_url",
    "cta_url",
    "linkUrl",
    "buttonUrl",
    "buttonHref",
    "buttonLink",
    "ctaUrl",
    "ctaHref",
    "ctaLink",
    "actionUrl",
    "url",
    "href",
    "link",
];

/// Where an unsubscribe that is only words leads.
pub(super) const UNSUBSCRIBE_TARGETS: &[&str] = &[
    "unsubscribeUrl",
    "unsubscribe_url",
    "unsubscribeLink",
    "unsubscribeHref",
];

/// What a picture that is only its address shows.
pub(super) const ALTS: &[&str] = &[
    "alt",
    "altText",
    "alt_text",
    "imageAlt",
    "image_alt",
    "imageAltText",
    "logoAlt",
    "logo_alt",
];

pub(super) fn becomes(key: &str) -> Option<Becomes> {
    let key = plain(key);
    let found = NAMES.iter().find(|(name, _)| *name == key);
    found.map(|(_, becomes)| *becomes)
}

/// Place among the words of one block.
pub(super) fn rank(key: &str) -> u32 {
    match becomes(key) {
        Some(Becomes::Image) => 0,
        Some(Becomes::Heading(level)) => level,
        Some(Becomes::Text) if is_last(key) => 13,
        Some(Becomes::Text) => match plain(key).as_str() {
            "eyebrow" | "kicker" => 1,
            "greeting" | "salutation" => 8,
            "intro" | "lead" => 9,
            _ => 10,
        },
        Some(Becomes::Facts | Becomes::List) | None => 11,
        Some(Becomes::Button) => 12,
        Some(Becomes::Menu) => 2,
        Some(Becomes::Social) => 13,
        Some(Becomes::Address) => 14,
        Some(Becomes::Unsubscribe) if plain(key).ends_with("url") => 16,
        Some(Becomes::Unsubscribe) => 15,
    }
}

/// Whether words under that key come last.
pub(super) fn is_last(key: &str) -> bool {
    LAST.contains(&plain(key).as_str())
}

impl Becomes {
    pub(super) fn block(self) -> &'static str {
        match self {
            Self::Heading(_) => "heading",
            Self::Text => "text",
            Self::Button => "button",
            Self::Image => "image",
            Self::Unsubscribe => "unsubscribe",
            Self::Address => "address",
            Self::Social => "social",
            Self::Menu => "menu",
            Self::Facts => "table",
            Self::List => "list",
        }
    }
}
