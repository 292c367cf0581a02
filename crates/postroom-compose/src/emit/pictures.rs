//! Pictures as components.

use crate::model::{Block, Image, ImageAlt, Video};

use super::{
    body::{Around, Shared, align, hiding, padding, px},
    component::{Component, Name},
    flow::Flow,
    inline,
    leaves::{Look, Weight, words},
};

/// Address, words and size of a picture.
struct Picture {
    src: String,
    alt: String,
    width: u32,
    height: Option<u32>,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "widths are a few hundred pixels"
)]
fn inner_width(block: &Block, around: &Around) -> u32 {
    (around.width - f64::from(block.pad.left + block.pad.right)).max(1.0) as u32
}

pub(super) fn image<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    image: &'a Image,
    around: &Around,
) -> Component {
    let alt = match &image.alt {
        ImageAlt::Text(alt) => inline::attribute(flow, alt),
        ImageAlt::Decorative | ImageAlt::Missing => String::new(),
    };
    let widest = inner_width(block, around);
    let picture = Picture {
        src: inline::url(flow, &image.src),
        alt,
        width: image.width.unwrap_or(widest).min(widest),
        height: image.height,
    };
    let href = image.href.as_ref().map(|href| inline::url(flow, href));
    if let Some(dark) = &image.dark_src
        && shared.borrow().dark.is_on()
    {
        let dark = inline::url(flow, dark);
        return twin_image(
            flow,
            shared,
            block,
            &picture,
            &dark,
            href.as_deref(),
            around,
        );
    }
    let class = shared.borrow_mut().classes([hiding(block)]);
    let height = picture.height.map_or_else(|| "auto".to_owned(), px);
    Component::new(Name::Image)
        .with("src", picture.src)
        .with("alt", picture.alt)
        .with("width", px(picture.width))
        .with("height", height)
        .with("align", align(flow, block.align))
        .with("padding", padding(block))
        .with_some(
            "border-radius",
            (image.radius > 0).then(|| px(image.radius)),
        )
        .with_some("fluid-on-mobile", image.fluid_on_mobile.then_some("true"))
        .with_some("href", href)
        .with_some(
            "container-background-color",
            block.background.color.map(|color| color.to_string()),
        )
        .with_some("css-class", class)
}

/// A picture with another one for dark mode, which shows only where style sheets are read.
fn twin_image(
    flow: &Flow<'_>,
    shared: Shared<'_>,
    block: &Block,
    picture: &Picture,
    dark: &str,
    href: Option<&str>,
    around: &Around,
) -> Component {
    shared.borrow_mut().classes([Some("pr-li"), Some("pr-di")]);
    let height = picture
        .height
        .map(|height| format!(" height=\"{height}\""))
        .unwrap_or_default();
    let one = |class: &str, src: &str, display: &str| {
        let Picture { alt, width, .. } = picture;
        format!(
            "<img class=\"{class}\" alt=\"{alt}\"\nsrc=\"{src}\"\nwidth=\"{width}\"{height}\n\
             style=\"border:0;display:{display};max-width:100%;height:auto;\" />"
        )
    };
    let light = one("pr-li", &picture.src, "inline-block");
    let dark = format!(
        "\n<!--[if !mso]><!-->\n<div class=\"pr-di\" style=\"display:none;max-height:0;overflow:hidden;\">{}</div>\n\
         <!--<![endif]-->",
        one("pr-dm", dark, "inline-block")
    );
    let linked = |html: String| match href {
        Some(href) => format!("<a href=\"{href}\" target=\"_blank\">{html}</a>"),
        None => html,
    };
    let look = Look::new(flow, shared, None, around, Weight::Normal);
    words(
        flow,
        shared,
        block,
        &look,
        13,
        "1",
        linked(format!("{light}{dark}")),
    )
}

pub(super) fn video<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    video: &'a Video,
    around: &Around,
) -> Component {
    let class = shared.borrow_mut().classes([hiding(block)]);
    let widest = inner_width(block, around);
    Component::new(Name::Image)
        .with("src", inline::url(flow, &video.poster))
        .with("alt", inline::attribute(flow, &video.alt))
        .with("width", px(video.width.unwrap_or(widest).min(widest)))
        .with("height", "auto")
        .with("align", align(flow, block.align))
        .with("padding", padding(block))
        .with("fluid-on-mobile", "true")
        .with("href", inline::url(flow, &video.href))
        .with_some("css-class", class)
}
