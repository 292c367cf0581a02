//! Every code with its page: one table for issues, documentation and tests.

use super::Severity::{self, Error, Info, Warning};

/// What is written about a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Stable name, as `color.invalid`.
    pub name: &'static str,
    /// Usual severity.
    pub severity: Severity,
    /// A line.
    pub title: &'static str,
    /// Why it matters.
    pub meaning: &'static str,
    /// How to put it right; the hint of its issues.
    pub hint: &'static str,
}

macro_rules! codes {
    ($($variant:ident $severity:ident $name:literal $title:literal $meaning:literal $hint:literal;)*) => {
        /// A stable name of something that can be wrong. Names never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its page.
            #[must_use]
            pub fn page(self) -> &'static Page {
                match self {
                    $(Self::$variant => const {
                        &Page {
                            name: $name,
                            severity: $severity,
                            title: $title,
                            meaning: $meaning,
                            hint: $hint,
                        }
                    },)*
                }
            }
        }
    };
}

impl Code {
    /// Its stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.page().name
    }

    /// Its usual severity.
    #[must_use]
    pub fn severity(self) -> Severity {
        self.page().severity
    }

    /// The code of that name; of `compat.css-gap` the code `compat`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|code| code.name() == name);
        let family = || name.starts_with("compat.").then_some(Self::Compat);
        found.copied().or_else(family)
    }
}

codes! {
    // What makes a document unusable.
    ParseJson Error "parse.json" "Not JSON."
        "The text is no JSON value, so nothing in it can be checked."
        "Send one JSON object; mind quotes, commas and brackets at the place named.";
    LimitSize Error "limit.size" "The document is too large."
        "A document has at most 1 MiB of JSON."
        "Refer to pictures by address instead of putting them in, and split long mails.";
    LimitDepth Error "limit.depth" "The document is nested too deeply."
        "JSON values nest at most 64 deep; no e-mail needs more than 20."
        "Flatten the nesting; body, section, column, block are the levels there are.";
    LimitNodes Error "limit.nodes" "The document has too many values."
        "A document has at most 5,000 JSON values."
        "Repeat blocks with an each over a list instead of writing them out.";
    // Reading.
    ParseDuplicateKey Warning "parse.duplicate_key" "A key stands twice in one object."
        "Of two values under one key only the last counts, which is rarely what was meant."
        "Keep one of the two.";
    VersionUnsupported Error "version.unsupported" "The document is of a newer version."
        "Its version is higher than any that is known here, so its meaning is not."
        "Write version 2, or update the program that reads it.";
    VersionMigrated Info "version.migrated" "An older document was brought up to date."
        "It was read as its version says and turned into the current form."
        "Store the repaired document to be done with it.";
    VersionAssumed Info "version.assumed" "The document states no version."
        "It is read as the current version."
        "Write \"version\": 2.";
    SchemaMissing Error "schema.missing" "A required value is missing."
        "Without it the block cannot be shown."
        "Add the key that the message names.";
    SchemaType Error "schema.type" "A value has the wrong type."
        "Another kind of value is needed here."
        "Write the value in the form that the message names.";
    SchemaEnum Error "schema.enum" "A value is none of those that are known."
        "The key takes one of a few words."
        "Choose one of the words in the message.";
    SchemaRange Error "schema.range" "A number or list is out of bounds."
        "Sizes have bounds within which mail programs behave."
        "Stay inside the bounds in the message.";
    SchemaUnknownKey Error "schema.unknown_key" "A key is not known here."
        "It would have no effect."
        "Remove it, or use the key that the message proposes.";
    // Structure.
    Grammar Error "grammar" "A block stands where its parent does not take it."
        "Body holds sections, sections hold columns, columns hold blocks."
        "Move the block into a parent that takes it.";
    GrammarEmpty Error "grammar.empty" "A block that must hold something holds nothing."
        "An empty container leaves a gap, or nothing at all."
        "Put something in, or remove it.";
    GrammarCount Error "grammar.count" "A block holds too many children."
        "More do not fit or make the mail too large."
        "Split it, or repeat with an each.";
    BlockUnknown Error "block.unknown" "There is no block of this type."
        "The block cannot be shown."
        "Use a type of the block contract; describe_blocks lists them.";
    IdDuplicate Error "id.duplicate" "An id stands twice."
        "Ids name blocks for issues and patches, so each is there once."
        "Give one of them another id.";
    IdFormat Error "id.format" "An id is not well formed."
        "Ids are a small letter, then up to 39 small letters, digits and hyphens."
        "Write it so, or leave it out.";
    HydrateIds Info "hydrate.ids" "Blocks without ids."
        "Ids are added by type and number when the document is stored."
        "Leave them out while drafting; take the repaired document to patch it later.";
    // Values.
    ColorInvalid Error "color.invalid" "Not a colour of six digits."
        "Mail programs drop names of CSS 4, hsl() and short forms; #rrggbb works everywhere."
        "Write #rrggbb.";
    UrlInvalid Error "url.invalid" "Not an address."
        "The link or picture would lead nowhere."
        "Write an absolute address, as https://example.org/page.";
    UrlScheme Error "url.scheme" "An address of a forbidden scheme."
        "Script, data and file addresses are dangerous or dead in mail."
        "Use https:, mailto: or tel:.";
    UrlRelative Error "url.relative" "A relative address."
        "A mail has no page that the address could be relative to."
        "Write the whole address with https://.";
    // Variables.
    VarSyntax Error "var.syntax" "A variable is written in another notation."
        "Strings take only {{ path | default: \"x\" | filter }}."
        "Write {{ name }}.";
    VarUnknown Error "var.unknown" "A variable is not declared."
        "Only declared variables are filled in."
        "Declare it in variables, or correct its name.";
    VarScope Error "var.scope" "A loop's variable outside its loop."
        "The name that an each gives exists inside that each only."
        "Move the use into the each.";
    VarType Error "var.type" "A variable of the wrong type."
        "Lists and objects are no text, and an each needs a list."
        "Use a field of it, or an each over it.";
    CondInvalid Error "cond.invalid" "A condition that says nothing."
        "Conditions are {var, op, value}, {all}, {any} or {not}."
        "Write for example {\"var\": \"plan\", \"op\": \"eq\", \"value\": \"pro\"}.";
    VarNoSample Warning "var.no_sample" "A variable without a sample."
        "Previews and size checks need a value to show."
        "Add a sample that looks like real data.";
    VarUnused Warning "var.unused" "A declared variable is not used."
        "Senders have to fill it for nothing."
        "Use it or remove the declaration.";
    VarRequiredWithoutDefault Warning "var.required_without_default"
        "A required variable has nothing to fall back on."
        "If the sender leaves it out, the text has a hole."
        "Give the variable or its use a default.";
    VarInferred Info "var.inferred" "Type or fields of a variable were guessed."
        "Its sample or its name told."
        "State type, and for lists item.";
    LoopSizeUnknown Warning "loop.size_unknown" "A list without a sample."
        "How large the mail becomes cannot be told."
        "Give the list a sample of usual length.";
    EachColumns Warning "each.columns" "Repeated columns without a width."
        "Mail programs need the width of a column before they know how many there are."
        "Set columnWidth on the each.";
    // Structure of content.
    ColumnWidthSum Error "column.width_sum" "The columns do not add up to 100 percent."
        "Columns that are too wide break the row, too narrow ones leave a gap."
        "Make widths add up to 100, or leave them all out for equal shares.";
    TableRagged Error "table.ragged" "Rows of different length."
        "Every row of a table has the same number of cells."
        "Fill the missing cells.";
    ImageNoAlt Error "image.no_alt" "An image without a text instead."
        "Many readers see or hear the text only."
        "Say in alt what it shows, or set decorative: true.";
    UnsubscribeMissing Error "unsubscribe.missing" "Advertising without a way to unsubscribe."
        "Law and the large mailbox providers ask for it."
        "Add an unsubscribe block.";
    AddressMissing Error "address.missing" "Advertising without a postal address."
        "Law in many countries asks for it."
        "Add an address block with the sender's postal address.";
    GradientNoFallback Error "gradient.no_fallback" "A gradient without a colour behind it."
        "Outlook shows no gradients, so words on it may vanish."
        "Set bg to a colour near the gradient.";
    RawForbidden Error "raw.forbidden" "Raw HTML is not allowed."
        "The document's policy does not allow raw blocks."
        "Use other blocks; a person may set policy.allowRaw.";
    RawChanged Warning "raw.changed" "Part of the raw HTML is left out."
        "What runs, loads or would leave its place in the mail is taken out of raw HTML, and so is CSS that is not known to be safe."
        "Leave it out yourself, and see that the rest says what it should.";
    RawNoText Error "raw.no_text" "Raw HTML without its text."
        "The text part of the mail would lack it."
        "Say in text what the HTML shows.";
    TextEmpty Warning "text.empty" "A block without words."
        "It leaves a gap and says nothing."
        "Write its text or remove it.";
    TextLost Error "text.lost" "Words or an address that a repair cannot place."
        "Nothing that a draft says is lost in silence: what has no place in the blocks that are known is told, and the repaired document does not have it."
        "Put it into a block that holds it, or leave it out.";
    TextHtml Warning "text.html" "A string with HTML tags."
        "Strings take no tags: readers would see them as they are."
        "Use spans or {\"md\": \"**bold**, [label](https://...)\"}.";
    // Accessibility of the document.
    A11yContrast Warning "a11y.contrast" "Words that are hard to read on their ground."
        "WCAG asks for a contrast of 4.5, for large text 3."
        "Take the colour that the message proposes.";
    A11yHeadingSkip Warning "a11y.heading_skip" "A level of headings is left out."
        "Screen readers navigate by levels."
        "Use the next level down.";
    A11yAltFilename Warning "a11y.alt_filename" "The text of an image is a file name."
        "It tells nothing of what the image shows."
        "Describe what it shows.";
    A11ySmallText Warning "a11y.small_text" "Text below 12 pixels."
        "It is hard to read, and some programs enlarge it."
        "Use 12 pixels or more.";
    A11yLangMissing Warning "a11y.lang_missing" "The document states no language."
        "Screen readers need it to pronounce, mail programs to translate."
        "Set meta.lang, as \"en\".";
    // Links and widths.
    LinkHttp Warning "link.http" "A link without encryption."
        "http:// addresses are warned of or blocked."
        "Use https://.";
    LinkPlaceholder Warning "link.placeholder" "A link that leads nowhere yet."
        "# and example.com are stand-ins."
        "Put in the real address.";
    LinkTooLong Warning "link.too_long" "A very long address."
        "Addresses past 2,000 characters break in some programs."
        "Shorten it.";
    ImageTooWide Warning "image.too_wide" "An image wider than the mail."
        "It makes the mail scroll sideways in some programs."
        "Set width to at most the width of the theme.";
    WidthOverflow Warning "width.overflow" "A block wider than its column."
        "It pushes the column out of the mail."
        "Set a width that fits, or leave it out.";
    // Changes.
    PatchTarget Error "patch.target" "A change names a block that is not there."
        "Changes find their blocks by id."
        "Take the ids of the repaired document.";
    PatchInvalid Error "patch.invalid" "A change that cannot be made."
        "All changes of a patch are made, or none."
        "Correct it as the message says.";
    // Results.
    IssuesTruncated Info "issues.truncated" "Some issues are not listed."
        "At most 200 are."
        "Put right the first ones and check again.";
    // Of compiled mails and mail programs.
    DialectLineEnds Info "dialect.line_ends" "A value in the subject that has to be on one line."
        "A line end in a subject begins another header field, and this language has no means to take it out of a value."
        "Give values without line ends, or take them out of the finished subject before it is sent.";
    DialectUnsupported Error "dialect.unsupported" "The dialect cannot say this."
        "The template language of the target has no such construct."
        "Leave it out or choose another dialect.";
    DialectDefaultUnrepresentable Error "dialect.default_unrepresentable"
        "The dialect cannot write this default."
        "Its strings cannot hold these characters."
        "Use a default without both kinds of quotes.";
    SizeGmailClip Error "size.gmail_clip" "Gmail would cut the mail off."
        "Gmail shows the first 102,400 bytes of HTML and hides the rest."
        "Make the mail shorter.";
    SizeNearClip Warning "size.near_clip" "The mail is close to Gmail's cut."
        "Past 90,000 bytes little data is enough to be cut off at 102,400."
        "Make the mail shorter.";
    SizeLongLine Warning "size.long_line" "A line of the HTML is too long to send as it is."
        "Mail may have lines of 998 bytes; servers cut or refuse longer ones unless the part is encoded, which the target eml does."
        "Shorten the address or word that cannot be broken, or send the part in quoted-printable.";
    A11yGenericLink Warning "a11y.generic_link" "A link whose words say nothing."
        "Screen readers list links without what is around them."
        "Say where the link leads.";
    LinkDuplicateText Warning "link.duplicate_text" "The same words lead to different places."
        "Readers cannot tell them apart."
        "Give them different words.";
    LinkDeceptive Warning "link.deceptive" "A link shows another host than it leads to."
        "Filters treat it as fraud."
        "Show the host that it leads to, or words.";
    LinkShortener Warning "link.shortener" "A link through a shortener."
        "Filters distrust them since they hide where they lead."
        "Use the full address.";
    ImageNoHeight Warning "image.no_height" "An image without a height."
        "The mail jumps while pictures load, and Outlook guesses."
        "Set width and height.";
    ImageGifOutlook Warning "image.gif_outlook" "A moving image."
        "Classic Outlook shows its first frame only."
        "Put what matters into the first frame.";
    ImageFormat Warning "image.format" "A picture format that some programs do not show."
        "SVG, WebP and AVIF are missing in many."
        "Use PNG or JPEG.";
    ImageOnly Warning "image.only" "A mail of pictures alone."
        "Without pictures nothing is left, and filters distrust it."
        "Write what matters as text.";
    ImageRatio Warning "image.ratio" "Many pictures, few words."
        "Filters distrust it."
        "Write more of it as text.";
    ImageWeightUnknown Info "image.weight_unknown" "The size of pictures is not known."
        "Nothing is fetched during a check."
        "Keep pictures below 200 kB.";
    PreheaderMissing Warning "preheader.missing" "No preview line."
        "Mail programs then show the first words they find."
        "Write meta.preheader, 40 to 150 characters.";
    PreheaderShort Warning "preheader.short" "A short preview line."
        "Mail programs fill the rest with what follows."
        "Write 40 characters or more.";
    PreheaderLong Warning "preheader.long" "A long preview line."
        "It is cut after about 150 characters."
        "Say what matters first and stay below 150.";
    PreheaderRepeatsSubject Warning "preheader.repeats_subject" "The preview line is the subject again."
        "It wastes the second line that readers see."
        "Say something more.";
    SubjectMissing Warning "subject.missing" "No subject."
        "Mails without one look broken and are filtered."
        "Write meta.subject.";
    SubjectLong Warning "subject.long" "A long subject."
        "Past 70 characters it is cut."
        "Shorten it.";
    SubjectCaps Warning "subject.caps" "A subject in capitals."
        "Filters and readers take it for shouting."
        "Write it in sentence case.";
    SubjectPunctuation Warning "subject.punctuation" "Too much punctuation in the subject."
        "Filters take it for spam."
        "Use one mark at most.";
    SubjectEmojiMany Warning "subject.emoji_many" "Many emoji in the subject."
        "Filters take it for spam."
        "Use one at most.";
    SubjectSpamWords Warning "subject.spam_words" "Words of spam in the subject."
        "Filters count them."
        "Say it plainly.";
    SpamSigns Warning "spam.signs" "Signs of spam in the text."
        "Filters count them."
        "Say it plainly.";
    DarkNearWhiteHack Warning "dark.near_white_hack" "A colour that is almost white or black."
        "Meant to escape dark mode; some programs turn it vivid."
        "Use #ffffff or #000000 and theme.dark.";
    DarkContrastInverted Warning "dark.contrast_inverted" "Hard to read once colours are inverted."
        "Programs that invert colours leave too little contrast."
        "Choose colours that keep their distance, or set theme.dark.";
    DarkTransparentLogo Warning "dark.transparent_logo" "A transparent logo may vanish in dark mode."
        "Dark marks on a transparent ground are lost."
        "Give darkSrc, or a logo with an outline.";
    OutlookVmlNested Warning "outlook.vml_nested" "A VML shape inside a VML shape."
        "Classic Outlook draws neither."
        "Use outlook: \"padding\" for buttons on a background image.";
    OutlookBgPadding Warning "outlook.bg_padding" "Padding on a background image."
        "Classic Outlook loses the left and doubles the right one."
        "Put the padding on the column or use bg only.";
    OutlookWebfont Warning "outlook.webfont" "A web font."
        "Classic Outlook falls back to Times New Roman unless told otherwise."
        "Keep a web-safe font at the end of the list.";
    OutlookColumns Warning "outlook.columns" "Columns that classic Outlook does not stack."
        "It keeps them beside each other at any width."
        "Use fewer columns.";
    Compat Warning "compat" "Something that some mail programs do not support."
        "By the tests of caniemail.com."
        "See that the mail works without it.";
    CompatPartial Info "compat.partial" "Something that some mail programs support in part."
        "By the tests of caniemail.com."
        "Look at the notes on caniemail.com.";
    SecretSuspected Warning "secret.suspected" "Something that looks like a secret."
        "Keys and tokens written into a document reach every reader and every log."
        "Use a variable.";
    DateHardCoded Warning "date.hard_coded" "A date written out."
        "Documents are used again when the date is past."
        "Use a variable of type date.";
    VarUrlUnchecked Warning "var.url_unchecked" "A whole address from a variable."
        "Its scheme cannot be checked before sending."
        "See that the sender gives https addresses only.";
    BackendFailed Error "backend.failed" "The document could not be turned into HTML."
        "The HTML engine refused what was made for it."
        "Report the document.";
}
