//! Rows of links, and the way to unsubscribe, as components.

use crate::model::{Block, BlockKind, Social, SocialItem, Template, Unsubscribe, UnsubscribeStyle};

use super::{
    body::{Around, Shared, align, hiding, nodes, padding, px},
    component::{Component, Name, Node},
    escape,
    flow::Flow,
    inline::{self, LinkLook},
    leaves::{Look, Weight, words},
};

pub(super) fn menu<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    around: &Around,
) -> Component {
    let BlockKind::Menu(menu) = &block.kind else {
        return Component::new(Name::Navbar);
    };
    let theme = &flow.document.theme;
    let look = Look::new(
        flow,
        shared,
        menu.color.or(around.text).or(Some(theme.link)),
        around,
        Weight::Normal,
    );
    let class = shared.borrow_mut().classes([hiding(block)]);
    let mut out = Vec::new();
    nodes(
        flow,
        shared,
        &mut out,
        &menu.children,
        &|flow, block, out| {
            if let BlockKind::MenuItem(item) = &block.kind {
                let label = inline::html(flow, &item.label, &look.links);
                let href = inline::url(flow, &item.href);
                let link = Component::new(Name::NavbarLink)
                    .with("color", look.color.to_string())
                    .with("font-family", shared.borrow().font.clone())
                    .with("font-size", px(theme.base_size))
                    .with("line-height", "1.5")
                    .with("font-weight", "normal")
                    .with("text-transform", "none")
                    .with("padding", "10px 12px")
                    .with("href", href)
                    .with_some("css-class", look.links.class.clone());
                out.push(Node::Component(link.html(label)));
            }
        },
    );
    Component::new(Name::Navbar)
        .with("align", align(flow, block.align))
        .with("padding", padding(block))
        .with_some("css-class", class)
        .nodes(out)
}

/// Icons when every network has one, else words.
pub(super) fn social<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    social: &'a Social,
    around: &Around,
) -> Component {
    let mut icons = true;
    block.walk(&mut |child| {
        if let BlockKind::SocialItem(item) = &child.kind {
            icons &= item.src.is_some();
        }
    });
    let look = Look::new(flow, shared, around.text, around, Weight::Normal);
    let class = shared.borrow_mut().classes([hiding(block)]);
    let theme = &flow.document.theme;
    let mut out = Vec::new();
    nodes(
        flow,
        shared,
        &mut out,
        &social.children,
        &|flow, block, out| {
            let BlockKind::SocialItem(item) = &block.kind else {
                return;
            };
            let href = inline::url(flow, &item.href);
            let label = social_label(flow, item, &look.links);
            let element = match &item.src {
                Some(src) if icons => {
                    let src = inline::url(flow, src);
                    Component::new(Name::SocialElement)
                        .with("src", src)
                        .with("alt", label)
                        .with("href", href)
                }
                _ => Component::new(Name::NavbarLink)
                    .with("color", look.links.color.to_string())
                    .with("font-family", shared.borrow().font.clone())
                    .with("font-size", px(theme.base_size))
                    .with("line-height", "1.5")
                    .with("font-weight", "normal")
                    .with("text-transform", "none")
                    .with("padding", "10px 12px")
                    .with("href", href)
                    .with_some("css-class", look.links.class.clone())
                    .html(label),
            };
            out.push(Node::Component(element));
        },
    );
    let component = if icons {
        Component::new(Name::Social)
            .with("mode", "horizontal")
            .with("icon-size", px(social.icon_size))
            .with("border-radius", "0px")
            .with("inner-padding", "8px")
    } else {
        Component::new(Name::Navbar)
    };
    component
        .with("align", align(flow, block.align))
        .with("padding", padding(block))
        .with_some("css-class", class)
        .nodes(out)
}

/// Words for a network's link.
pub(super) fn social_label<'a>(
    flow: &mut Flow<'a>,
    item: &'a SocialItem,
    links: &LinkLook,
) -> String {
    match &item.label {
        Some(label) if item.src.is_none() => inline::html(flow, label, links),
        Some(label) => inline::words(flow, label, crate::dialect::Context::Attribute),
        None => escape::text(&network_name(&item.network)),
    }
}

/// A network's name with a capital.
pub(super) fn network_name(network: &str) -> String {
    match network {
        "github" => "GitHub".to_owned(),
        "linkedin" => "LinkedIn".to_owned(),
        "youtube" => "YouTube".to_owned(),
        "tiktok" => "TikTok".to_owned(),
        "x" => "X".to_owned(),
        other => {
            let mut chars = other.chars();
            chars.next().map_or_else(String::new, |first| {
                first.to_uppercase().chain(chars).collect()
            })
        }
    }
}

pub(super) fn unsubscribe<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    node: &'a Unsubscribe,
    around: &Around,
) -> Component {
    let look = Look::new(flow, shared, None, around, Weight::Muted);
    let href = unsubscribe_url(flow, node.href.as_ref());
    let label = inline::html(flow, &node.text, &look.links);
    let link = |style: &str, class: Option<&str>| {
        let class = class
            .map(|class| format!(" class=\"{class}\""))
            .unwrap_or_default();
        format!("<a href=\"{href}\" target=\"_blank\"{class}\nstyle=\"{style}\">{label}</a>")
    };
    let color = look.color;
    let html = match node.style {
        UnsubscribeStyle::Link => link(
            &format!("color:{color};text-decoration:underline;"),
            look.links.class.as_deref(),
        ),
        UnsubscribeStyle::Button => {
            let style = format!(
                "display:inline-block;border:1px solid {color};border-radius:4px;padding:10px 16px;color:{color};\
                 text-decoration:none;"
            );
            link(&style, look.links.class.as_deref())
        }
    };
    words(flow, shared, block, &look, 13, "1.5", html)
}

/// Where readers unsubscribe: stated, else the sender's token, else an address for previews.
pub(super) fn unsubscribe_url<'a>(flow: &mut Flow<'a>, stated: Option<&'a Template>) -> String {
    match (stated, flow.dialect.unsubscribe_token()) {
        (Some(href), _) => inline::url(flow, href),
        (None, Some(token)) => token.to_owned(),
        (None, None) => super::unsubscribe_stand_in(flow, crate::dialect::Context::Url),
    }
}
