//! Sections, panels, heroes and columns as components.

use crate::{
    dialect::Context,
    model::{Align, Block, BlockKind, Color, Direction, Gradient, HideOn, Section, VerticalAlign},
};

use super::{
    columns,
    component::{Component, Name, Node},
    flow::{Flow, Sink},
    inline, leaves,
    look::{Dark, font_stack},
};

impl Sink for Vec<Node> {
    fn tag(&mut self, tag: &str) {
        if !tag.is_empty() {
            self.push(Node::Raw(tag.to_owned()));
        }
    }

    fn literal(&mut self, words: &str) {
        self.tag(words);
    }

    fn seam(&mut self) {
        self.push(Node::Raw(String::new()));
    }

    fn empty(&self) -> Self {
        Self::new()
    }

    fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    fn append(&mut self, mut other: Self) {
        Self::append(self, &mut other);
    }
}

/// What blocks find around them.
#[derive(Debug, Clone)]
pub(super) struct Around {
    /// Colour behind them.
    pub(super) ground: Color,
    /// That colour is the theme's surface, which changes in dark mode.
    pub(super) themed: bool,
    /// Colour of words, if not the theme's.
    pub(super) text: Option<Color>,
    /// Width that blocks may fill, px.
    pub(super) width: f64,
    /// A picture is behind them, in which Outlook cannot draw shapes.
    pub(super) on_picture: bool,
}

/// What the emitter keeps while it goes through a document.
pub(super) struct Emitter {
    pub(super) dark: Dark,
    pub(super) font: String,
    pub(super) heading_font: String,
    /// Ids of blocks in the order in which they are met.
    pub(super) blocks: Vec<String>,
    /// Classes that were given.
    pub(super) classes: std::collections::BTreeSet<String>,
    pub(super) mso: bool,
    /// Gradients with a class each.
    pub(super) gradients: Vec<Gradient>,
}

impl Emitter {
    pub(super) fn new(flow: &Flow<'_>, mso: bool) -> Self {
        let theme = &flow.document.theme;
        let font = font_stack(&theme.font);
        Self {
            dark: Dark::of(theme),
            heading_font: theme
                .heading_font
                .as_deref()
                .map_or_else(|| font.clone(), font_stack),
            font,
            blocks: Vec::new(),
            classes: std::collections::BTreeSet::new(),
            mso,
            gradients: Vec::new(),
        }
    }

    /// Class of a gradient, `prefix` telling a box (`pr-g`) from a button (`pr-b`).
    pub(super) fn gradient(&mut self, gradient: Option<Gradient>, prefix: &str) -> Option<String> {
        let gradient = gradient?;
        let known = self.gradients.iter().position(|known| *known == gradient);
        let index = known.unwrap_or_else(|| {
            self.gradients.push(gradient);
            self.gradients.len() - 1
        });
        Some(format!("{prefix}{index}"))
    }

    /// Notes classes and joins them.
    pub(super) fn classes<'c>(
        &mut self,
        classes: impl IntoIterator<Item = Option<&'c str>>,
    ) -> Option<String> {
        let kept: Vec<&str> = classes.into_iter().flatten().collect();
        for class in &kept {
            if !self.classes.contains(*class) {
                self.classes.insert((*class).to_owned());
            }
        }
        (!kept.is_empty()).then(|| kept.join(" "))
    }

    /// Number of a block for [`Node::Begin`].
    fn number(&mut self, id: &str) -> usize {
        let known = self.blocks.iter().rposition(|known| known == id);
        known.unwrap_or_else(|| {
            self.blocks.push(id.to_owned());
            self.blocks.len() - 1
        })
    }
}

/// The emitter behind closures that may be called more than once.
pub(super) type Shared<'e> = &'e std::cell::RefCell<Emitter>;

/// Writes `blocks`, each by `write`, with their conditions and loops.
pub(super) fn nodes<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    out: &mut Vec<Node>,
    blocks: &'a [Block],
    write: &dyn Fn(&mut Flow<'a>, &'a Block, &mut Vec<Node>),
) {
    for block in blocks {
        let outer = std::mem::replace(&mut flow.source, &block.source);
        let one = |flow: &mut Flow<'a>, out: &mut Vec<Node>| {
            let inner = std::mem::replace(&mut flow.source, &block.source);
            let number = shared.borrow_mut().number(&block.id);
            out.push(Node::Begin(number));
            match &block.kind {
                BlockKind::If(node) => {
                    let then = |flow: &mut Flow<'a>, out: &mut Vec<Node>| {
                        nodes(flow, shared, out, &node.then, write)
                    };
                    let otherwise = |flow: &mut Flow<'a>, out: &mut Vec<Node>| {
                        nodes(flow, shared, out, &node.otherwise, write)
                    };
                    let has_else = !node.otherwise.is_empty();
                    flow.branch(
                        out,
                        &node.condition,
                        &then,
                        has_else.then_some(&otherwise as _),
                    );
                }
                BlockKind::Each(node) => {
                    let body = |flow: &mut Flow<'a>, out: &mut Vec<Node>| {
                        nodes(flow, shared, out, &node.children, write)
                    };
                    let empty = |flow: &mut Flow<'a>, out: &mut Vec<Node>| {
                        nodes(flow, shared, out, &node.empty, write)
                    };
                    let has_empty = !node.empty.is_empty();
                    flow.each(out, node, &body, has_empty.then_some(&empty as _));
                }
                _ => write(flow, block, out),
            }
            out.push(Node::End(number));
            flow.source = inner;
        };
        match &block.visible_if {
            Some(condition) => flow.branch(out, condition, &one, None),
            None => one(flow, out),
        }
        flow.source = outer;
    }
}

/// The body.
pub(super) fn body<'a>(flow: &mut Flow<'a>, shared: Shared<'_>) -> Vec<Node> {
    let theme = &flow.document.theme;
    let around = Around {
        ground: theme.surface,
        themed: true,
        text: None,
        width: f64::from(theme.width),
        on_picture: false,
    };
    let mut out = Vec::new();
    let document = flow.document;
    nodes(
        flow,
        shared,
        &mut out,
        &document.body,
        &|flow, block, out| {
            row(flow, shared, block, out, &around);
        },
    );
    out
}

/// A block of the body or of a panel.
fn row<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    out: &mut Vec<Node>,
    around: &Around,
) {
    match &block.kind {
        BlockKind::Section(section) => out.push(Node::Component(self::section(
            flow, shared, block, section, around,
        ))),
        BlockKind::Panel(panel) => {
            let (mut component, mut inside) = boxed(flow, shared, block, Name::Wrapper, around);
            let edges = panel.border.map_or(0.0, |_| 2.0);
            inside.width -= edges;
            component = component
                .with_some(
                    "border",
                    panel.border.map(|color| format!("1px solid {color}")),
                )
                .with_some(
                    "border-radius",
                    (panel.radius > 0).then(|| px(panel.radius)),
                )
                .with_some("full-width", panel.full_width.then_some("full-width"));
            let mut nodes_inside = Vec::new();
            nodes(
                flow,
                shared,
                &mut nodes_inside,
                &panel.children,
                &|flow, block, out| {
                    row(flow, shared, block, out, &inside);
                },
            );
            out.push(Node::Component(component.nodes(nodes_inside)));
        }
        BlockKind::Hero(_) => out.push(Node::Component(hero(flow, shared, block, around))),
        BlockKind::Raw(raw) => out.push(Node::Raw(leaves::sanitised(&raw.html))),
        _ => {}
    }
}

pub(super) fn px(value: u32) -> String {
    format!("{value}px")
}

pub(super) fn padding(block: &Block) -> String {
    let pad = block.pad;
    format!(
        "{}px {}px {}px {}px",
        pad.top, pad.right, pad.bottom, pad.left
    )
}

/// Classes that hide a block.
pub(super) fn hiding(block: &Block) -> Option<&'static str> {
    match block.hide_on {
        HideOn::None => None,
        HideOn::Mobile => Some("pr-hm"),
        HideOn::Desktop => Some("pr-hd"),
    }
}

pub(super) fn direction(flow: &Flow<'_>, own: Option<Direction>) -> &'static str {
    match own.unwrap_or(flow.document.meta.dir) {
        Direction::Ltr => "ltr",
        Direction::Rtl => "rtl",
    }
}

/// A section or wrapper with its background, and what blocks find inside.
fn boxed<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    name: Name,
    around: &Around,
) -> (Component, Around) {
    let background = &block.background;
    // Stating the theme's own colour means the theme.
    let own = background
        .color
        .filter(|color| *color != flow.document.theme.surface);
    let ground = own.unwrap_or(if background.color.is_some() {
        flow.document.theme.surface
    } else {
        around.ground
    });
    let themed = own.is_none()
        && background.image.is_none()
        && (around.themed || background.color.is_some());
    let mut emitter = shared.borrow_mut();
    let surface = if themed {
        emitter.dark.class("pr-sf")
    } else {
        None
    };
    let gradient = emitter.gradient(background.gradient, "pr-g");
    let class = emitter.classes([surface, gradient.as_deref(), hiding(block)]);
    drop(emitter);
    let mut component = Component::new(name)
        .with("background-color", ground.to_string())
        .with("padding", padding(block))
        .with("text-align", "center")
        .with_some("css-class", class);
    if let Some(image) = &background.image {
        let position = match image.position {
            VerticalAlign::Top => "center top",
            VerticalAlign::Middle => "center center",
            VerticalAlign::Bottom => "center bottom",
        };
        let url = inline::url(flow, &image.src);
        component = component
            .with("background-url", url)
            .with("background-repeat", "no-repeat")
            .with("background-position", position)
            .with(
                "background-size",
                if image.cover { "cover" } else { "contain" },
            );
    }
    let inside = Around {
        ground,
        themed,
        text: around.text,
        width: around.width - f64::from(block.pad.left + block.pad.right),
        on_picture: around.on_picture || background.image.is_some(),
    };
    (component, inside)
}

fn section<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    section: &'a Section,
    around: &Around,
) -> Component {
    let (component, inside) = boxed(flow, shared, block, Name::Section, around);
    let dir = direction(flow, section.dir);
    let component = component
        .with("direction", dir)
        .with_some("full-width", section.full_width.then_some("full-width"));
    let shares = columns::Shares::of(&section.children);
    let mut inside_columns = Vec::new();
    nodes(
        flow,
        shared,
        &mut inside_columns,
        &section.children,
        &|flow, block, out| {
            if let BlockKind::Column(column) = &block.kind {
                out.push(Node::Component(columns::column(
                    flow, shared, block, column, &inside, &shares,
                )));
            }
        },
    );
    if section.stack {
        return component.nodes(inside_columns);
    }
    let group = Component::new(Name::Group)
        .with("width", "100%")
        .with("direction", dir)
        .nodes(inside_columns);
    component.nodes(vec![Node::Component(group)])
}

fn hero<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    around: &Around,
) -> Component {
    let BlockKind::Hero(hero) = &block.kind else {
        return Component::new(Name::Hero);
    };
    let ground = hero.fallback_color;
    let white = Color::WHITE.contrast(ground) >= Color::BLACK.contrast(ground);
    let inside = Around {
        ground,
        themed: false,
        text: Some(if white {
            Color::WHITE
        } else {
            Color::rgb(0x11, 0x18, 0x27)
        }),
        width: around.width - f64::from(block.pad.left + block.pad.right),
        on_picture: true,
    };
    let class = shared.borrow_mut().classes([hiding(block)]);
    let valign = match hero.valign {
        VerticalAlign::Top => "top",
        VerticalAlign::Middle => "middle",
        VerticalAlign::Bottom => "bottom",
    };
    let height = px(hero.height.unwrap_or(0));
    let url = hero.src.as_ref().map(|src| inline::url(flow, src));
    let component = Component::new(Name::Hero)
        .with("mode", "fixed-height")
        .with("height", height.clone())
        .with("background-color", ground.to_string())
        .with("background-position", "center center")
        .with("background-width", format!("{}px", around.width.trunc()))
        .with("background-height", height)
        .with_some("background-url", url)
        .with("padding", padding(block))
        .with("vertical-align", valign)
        .with_some("css-class", class);
    let mut out = Vec::new();
    nodes(
        flow,
        shared,
        &mut out,
        &hero.children,
        &|flow, block, out| {
            leaves::leaf(flow, shared, block, out, &inside);
        },
    );
    component.nodes(out)
}

/// Alignment of a block; its start is on the right in right-to-left documents.
pub(super) fn align(flow: &Flow<'_>, align: Align) -> &'static str {
    match (align, flow.document.meta.dir) {
        (Align::Center, _) => "center",
        (Align::Left, Direction::Ltr) | (Align::Right, Direction::Rtl) => "left",
        (Align::Right, Direction::Ltr) | (Align::Left, Direction::Rtl) => "right",
    }
}

/// The title of the page.
pub(super) fn title<'a>(flow: &mut Flow<'a>) -> String {
    let document = flow.document;
    match &document.meta.title {
        Some(title) => inline::bare(title),
        None => inline::words(flow, &document.meta.subject, Context::Attribute),
    }
}
