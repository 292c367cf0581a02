//! A document as MJML components, before it becomes MJML or HTML.
//!
//! Every string in here is final: escaped for its place and already in the dialect's syntax. So
//! neither the printer nor a backend can tell what an author wrote from what stands around it, and
//! neither has to.

/// Components of MJML 5 that documents are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// A row of columns.
    Section,
    /// A box around sections.
    Wrapper,
    /// Columns that stay side by side on a phone.
    Group,
    /// A column.
    Column,
    /// Content on a picture.
    Hero,
    /// Any inline HTML.
    Text,
    /// A link that looks like a button.
    Button,
    /// A picture.
    Image,
    /// A line.
    Divider,
    /// Empty height.
    Spacer,
    /// Rows of a table.
    Table,
    /// A row of links to social networks.
    Social,
    /// One of those links.
    SocialElement,
    /// A row of links.
    Navbar,
    /// One of those links.
    NavbarLink,
}

impl Name {
    /// The component's tag.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::Section => "mj-section",
            Self::Wrapper => "mj-wrapper",
            Self::Group => "mj-group",
            Self::Column => "mj-column",
            Self::Hero => "mj-hero",
            Self::Text => "mj-text",
            Self::Button => "mj-button",
            Self::Image => "mj-image",
            Self::Divider => "mj-divider",
            Self::Spacer => "mj-spacer",
            Self::Table => "mj-table",
            Self::Social => "mj-social",
            Self::SocialElement => "mj-social-element",
            Self::Navbar => "mj-navbar",
            Self::NavbarLink => "mj-navbar-link",
        }
    }
}

/// One component.
#[derive(Debug, Clone)]
pub struct Component {
    /// Which.
    pub name: Name,
    /// Attributes by name, values escaped for a double-quoted attribute.
    pub attributes: Vec<(&'static str, String)>,
    /// What is inside.
    pub content: Content,
}

/// What is inside a component.
#[derive(Debug, Clone)]
pub enum Content {
    /// Components and what stands between them.
    Nodes(Vec<Node>),
    /// Inline HTML.
    Html(String),
    /// Nothing.
    Empty,
}

/// Something inside a component.
#[derive(Debug, Clone)]
pub enum Node {
    /// A component.
    Component(Component),
    /// A template tag or HTML between components (`mj-raw`).
    Raw(String),
    /// From here on everything belongs to a block, by its number in [`Page::blocks`].
    Begin(usize),
    /// Until here.
    End(usize),
}

impl Component {
    /// A component without attributes and content.
    #[must_use]
    pub fn new(name: Name) -> Self {
        Self {
            name,
            attributes: Vec::new(),
            content: Content::Empty,
        }
    }

    /// With an attribute; the value is escaped already.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    /// With an attribute if there is a value.
    #[must_use]
    pub fn with_some(self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// With inline HTML inside.
    #[must_use]
    pub fn html(mut self, html: impl Into<String>) -> Self {
        self.content = Content::Html(html.into());
        self
    }

    /// With nodes inside.
    #[must_use]
    pub fn nodes(mut self, nodes: Vec<Node>) -> Self {
        self.content = Content::Nodes(nodes);
        self
    }

    /// An attribute's value.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The components directly inside.
    pub fn components(&self) -> impl Iterator<Item = &Component> {
        self.children().iter().filter_map(|node| match node {
            Node::Component(component) => Some(component),
            _ => None,
        })
    }

    /// Everything directly inside.
    #[must_use]
    pub fn children(&self) -> &[Node] {
        match &self.content {
            Content::Nodes(nodes) => nodes,
            _ => &[],
        }
    }

    /// The inline HTML inside.
    #[must_use]
    pub fn inline(&self) -> &str {
        match &self.content {
            Content::Html(html) => html,
            _ => "",
        }
    }
}

/// A whole e-mail as components.
#[derive(Debug, Clone)]
pub struct Page {
    /// Language tag; `und` when the document states none.
    pub lang: String,
    /// `ltr` or `rtl`.
    pub dir: &'static str,
    /// Title, escaped.
    pub title: String,
    /// What mail programs show after the subject, as HTML; empty when there is none.
    pub preview: String,
    /// Style sheets in the head, without their tag.
    pub styles: Vec<String>,
    /// Other elements of the head.
    pub head: Vec<String>,
    /// Width of the content, px.
    pub width: u32,
    /// Colour around the content.
    pub background: String,
    /// Class of the body.
    pub class: Option<String>,
    /// What Outlook on Windows reads is left in.
    pub mso: bool,
    /// It draws pictures behind words.
    pub vml_pictures: bool,
    /// Sections, wrappers, heroes.
    pub body: Vec<Node>,
    /// The same with every branch and every loop once, for style sheets; `None` when it is the same.
    pub every: Option<Vec<Node>>,
    /// Ids of the blocks that [`Node::Begin`] counts.
    pub blocks: Vec<String>,
}
