//! What can be told of a whole document: legal needs, accessibility, addresses, widths.

mod contrast;
mod width;

use crate::{
    issue::{Code, Issue, Severity},
    model::{Block, BlockKind, Document, Heading, Image, ImageAlt, Kind, Span, Template, Text},
    read,
};

/// Longest address that all programs take, bytes.
const ADDRESS_BYTES: usize = 2_000;

/// Smallest size of text, px.
const SMALL: u32 = 12;

/// Everything that the document itself tells.
pub(crate) fn document(document: &Document) -> Vec<Issue> {
    let mut issues = Vec::new();
    legal(document, &mut issues);
    if document.lang().is_none() {
        let message = "The document states no language.";
        issues.push(Issue::new(
            Code::A11yLangMissing,
            &document.meta.source,
            message,
        ));
    }
    let mut level = 1;
    document.walk(&mut |block| {
        grounds(block, &mut issues);
        addresses(block, &mut issues);
        sizes(block, &mut issues);
        match &block.kind {
            BlockKind::Image(image) => alternative(document, block, image, &mut issues),
            BlockKind::Heading(heading) => skipped(block, heading, &mut level, &mut issues),
            BlockKind::Raw(raw) => {
                if !document.policy.allow_raw {
                    let message = "The document's policy does not allow raw HTML.";
                    issues.push(Issue::new(Code::RawForbidden, &block.source, message));
                }
                if raw.text.is_blank() {
                    let message = "The raw HTML has no text for the text part of the mail.";
                    issues.push(Issue::new(Code::RawNoText, &block.source, message));
                }
            }
            _ => {}
        }
    });
    contrast::document(document, &mut issues);
    width::document(document, &mut issues);
    issues
}

/// What advertising needs.
fn legal(document: &Document, issues: &mut Vec<Issue>) {
    if document.kind != Kind::Marketing {
        return;
    }
    let (mut unsubscribe, mut address) = (false, false);
    document.walk(&mut |block| match &block.kind {
        BlockKind::Unsubscribe(_) => unsubscribe = true,
        BlockKind::Address(_) => address = true,
        _ => {}
    });
    let source = &document.meta.source;
    if !unsubscribe {
        let message = "A marketing mail has no unsubscribe block.";
        issues.push(Issue::new(Code::UnsubscribeMissing, source, message));
    }
    if !address {
        let message = "A marketing mail has no address block.";
        issues.push(Issue::new(Code::AddressMissing, source, message));
    }
}

/// A gradient needs a colour behind it.
fn grounds(block: &Block, issues: &mut Vec<Issue>) {
    if let (Some(gradient), None) = (block.background.gradient, block.background.color) {
        let middle = gradient.from.mix(gradient.to, 0.5);
        let message = format!("The {} has a gradient and no bg.", block.kind.name());
        let hint = format!("Add \"bg\": \"{middle}\", the colour between the two.");
        issues.push(Issue::new(Code::GradientNoFallback, &block.source, message).hint(hint));
    }
}

fn alternative(document: &Document, block: &Block, image: &Image, issues: &mut Vec<Issue>) {
    match &image.alt {
        ImageAlt::Missing => {
            let personal = document.kind == Kind::Personal;
            let severity = if personal {
                Severity::Warning
            } else {
                Severity::Error
            };
            let message = "The image has neither alt nor decorative: true.";
            issues.push(Issue::new(Code::ImageNoAlt, &block.source, message).severity(severity));
        }
        ImageAlt::Decorative if image.href.is_some() => {
            let message = "The image is a link, so something has to be read for it.";
            issues.push(
                Issue::new(Code::ImageNoAlt, &block.source, message).severity(Severity::Warning),
            );
        }
        ImageAlt::Text(alt) => {
            if let Some(alt) = alt.literal().filter(|alt| is_file_name(alt)) {
                let message = format!("{alt:?} is the name of a file.");
                issues.push(Issue::new(Code::A11yAltFilename, &block.source, message));
            }
        }
        ImageAlt::Decorative => {}
    }
}

/// Whether `text` is what a file is called.
fn is_file_name(text: &str) -> bool {
    let lower = text.trim().to_ascii_lowercase();
    let ends = [".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif"]
        .iter()
        .any(|ending| lower.ends_with(ending));
    let camera = ["img_", "dsc_", "dscn", "image_", "screenshot_"]
        .iter()
        .any(|start| {
            lower.strip_prefix(start).is_some_and(|rest| {
                !rest.is_empty()
                    && rest
                        .bytes()
                        .all(|byte| byte.is_ascii_digit() || byte == b'_')
            })
        });
    !lower.contains(' ') && (ends || camera)
}

fn skipped(block: &Block, heading: &Heading, level: &mut u32, issues: &mut Vec<Issue>) {
    if heading.level > *level + 1 {
        let message = format!(
            "A heading of level {} follows one of level {level}.",
            heading.level
        );
        let hint = format!("Use level {}.", *level + 1);
        issues.push(Issue::new(Code::A11yHeadingSkip, &block.source, message).hint(hint));
    }
    *level = heading.level;
}

fn sizes(block: &Block, issues: &mut Vec<Issue>) {
    let size = match &block.kind {
        BlockKind::Text(node) => node.size,
        BlockKind::Heading(node) => Some(node.size),
        BlockKind::List(node) => node.size,
        BlockKind::Table(node) => node.size,
        BlockKind::Footer(node) => Some(node.size),
        BlockKind::Address(node) => Some(node.size),
        _ => None,
    };
    if let Some(size) = size.filter(|size| *size < SMALL) {
        let message = format!("The text is {size} px high.");
        issues.push(Issue::new(Code::A11ySmallText, &block.source, message));
    }
}

/// Every address of a block, with whether it is followed (and not loaded).
fn addresses(block: &Block, issues: &mut Vec<Issue>) {
    let mut look = |address: &Template| judge(address, block, issues);
    match &block.kind {
        BlockKind::Button(node) => look(&node.href),
        BlockKind::Image(node) => {
            look(&node.src);
            node.href.iter().for_each(&mut look);
            node.dark_src.iter().for_each(&mut look);
        }
        BlockKind::Hero(node) => node.src.iter().for_each(&mut look),
        BlockKind::MenuItem(node) => look(&node.href),
        BlockKind::SocialItem(node) => {
            look(&node.href);
            node.src.iter().for_each(&mut look);
        }
        BlockKind::Video(node) => {
            look(&node.poster);
            look(&node.href);
        }
        BlockKind::Unsubscribe(node) => node.href.iter().for_each(&mut look),
        _ => {}
    }
    if let Some(image) = &block.background.image {
        look(&image.src);
    }
    read::texts(block, &mut |text: &Text| {
        text.walk(&mut |span| {
            if let Span::Link { href, .. } = span {
                judge(href, block, issues);
            }
        });
    });
}

fn judge(address: &Template, block: &Block, issues: &mut Vec<Issue>) {
    let written = address.plain();
    let shown: String = written.chars().take(60).collect();
    let lower = written.to_ascii_lowercase();
    if written.len() > ADDRESS_BYTES {
        let message = format!("{shown}... has {} characters.", written.len());
        issues.push(Issue::new(Code::LinkTooLong, &block.source, message));
    }
    if lower.starts_with("http://") {
        let message = format!("{shown} is not encrypted.");
        issues.push(Issue::new(Code::LinkHttp, &block.source, message));
    }
    if is_placeholder(&lower) {
        let message = format!("{shown} is a stand-in.");
        issues.push(Issue::new(Code::LinkPlaceholder, &block.source, message));
    }
}

/// Whether an address in small letters is one that nobody can follow: `#`, or a host that stands for
/// others (RFC 2606).
fn is_placeholder(address: &str) -> bool {
    if address.starts_with('#') {
        return true;
    }
    let Some((_, rest)) = address.split_once("://") else {
        return address
            .strip_prefix("mailto:")
            .and_then(|mailbox| mailbox.split_once('@'))
            .is_some_and(|(_, host)| is_stand_in(host.split('?').next().unwrap_or(host)));
    };
    let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
    is_stand_in(host)
}

fn is_stand_in(host: &str) -> bool {
    [
        "example.com",
        "example.org",
        "example.net",
        "placeholder.com",
        "yourdomain.com",
        "your-domain.com",
        "yourcompany.com",
        "yoursite.com",
    ]
    .iter()
    .any(|known| {
        host.strip_suffix(known)
            .is_some_and(|before| before.is_empty() || before.ends_with('.'))
    })
}
