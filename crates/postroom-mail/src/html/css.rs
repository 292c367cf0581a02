//! As much of CSS as decides whether a reader sees a text: inline declarations and the simple
//! selectors of `<style>` (`tag`, `.class`, `#id` and one compound of them).

use std::collections::HashMap;

/// Rules taken from all style sheets of one mail.
const RULES_MAX: usize = 4_000;
/// Compound rules under one key; more of them say nothing new.
const COMPOUNDS_PER_KEY: usize = 16;
/// Declarations read of one block.
const DECLARATIONS_MAX: usize = 100;

/// A colour without its alpha; alpha decides [`Declaration::Colour`]'s `None`.
pub(super) type Rgb = [u8; 3];

/// What a declaration says about being seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Declaration {
    DisplayNone(bool),
    VisibilityHidden(bool),
    OpacityZero(bool),
    /// Pixels.
    FontSize(f32),
    /// A share of the parent's size.
    FontScale(f32),
    /// `None`: transparent.
    Colour(Option<Rgb>),
    /// `None`: an image or something unknown, so that no colour can be compared with it.
    Background(Option<Rgb>),
    /// A box without extent; hides with `overflow: hidden`.
    Empty(bool),
    OverflowHidden(bool),
    Positioned(bool),
    /// An offset of at least 999 pixels; hides a positioned box.
    FarAway(bool),
    /// Hides by itself: clipped to nothing, or indented out of sight.
    Clipped(bool),
}

/// The style sheets of one mail.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    /// By tag, `.class` or `#id`.
    simple: HashMap<String, Vec<Declaration>>,
    compound: HashMap<String, Vec<(Compound, Vec<Declaration>)>>,
    rules: usize,
}

#[derive(Debug, PartialEq, Eq)]
struct Compound {
    tag: String,
    id: String,
    classes: Vec<String>,
}

impl Sheet {
    pub(super) fn is_empty(&self) -> bool {
        self.rules == 0
    }

    /// Adds one `<style>` element's text.
    pub(super) fn add(&mut self, css: &str) {
        let css = without_comments(css);
        let mut rest = css.as_str();
        while let Some(open) = rest.find('{') {
            let (selector, tail) = rest.split_at(open);
            let tail = tail.get(1..).unwrap_or_default();
            let selector = selector
                .rsplit([';', '}'])
                .next()
                .unwrap_or_default()
                .trim();
            if selector.starts_with('@') {
                // Rules for one medium or width do not say what every reader sees.
                rest = skip_block(tail);
                continue;
            }
            let close = tail.find('}').unwrap_or(tail.len());
            let (body, after) = tail.split_at(close);
            rest = after.get(1..).unwrap_or_default();
            let declarations = declarations(body);
            if !declarations.is_empty() {
                for one in selector.split(',') {
                    self.add_rule(one.trim(), &declarations);
                }
            }
        }
    }

    fn add_rule(&mut self, selector: &str, declarations: &[Declaration]) {
        if self.rules >= RULES_MAX || selector.is_empty() {
            return;
        }
        self.rules += 1;
        let is_complex = selector.contains(|c: char| {
            c.is_whitespace() || matches!(c, '>' | '+' | '~' | ':' | '[' | '*')
        });
        if is_complex {
            self.add_unknown_background(selector, declarations);
            return;
        }
        let compound = compound(selector);
        let parts = usize::from(!compound.tag.is_empty())
            + usize::from(!compound.id.is_empty())
            + compound.classes.len();
        let Some(key) = compound.key() else {
            return;
        };
        if parts == 1 {
            self.simple.entry(key).or_default().extend(declarations);
        } else {
            let rules = self.compound.entry(key).or_default();
            if rules.len() < COMPOUNDS_PER_KEY {
                rules.push((compound, declarations.to_vec()));
            }
        }
    }

    /// A selector that is not evaluated may still colour the background of what it ends in; text
    /// there must not be taken for hidden.
    fn add_unknown_background(&mut self, selector: &str, declarations: &[Declaration]) {
        let colours = declarations
            .iter()
            .any(|one| matches!(one, Declaration::Background(_)));
        let last = selector
            .rsplit(|c: char| c.is_whitespace() || matches!(c, '>' | '+' | '~'))
            .next()
            .and_then(|last| last.split([':', '[', '*']).next())
            .unwrap_or_default();
        if let Some(key) = compound(last).key().filter(|_| colours) {
            let known = self.simple.entry(key).or_default();
            if !known.contains(&Declaration::Background(None)) {
                known.push(Declaration::Background(None));
            }
        }
    }

    /// Calls `apply` with what the rules say of an element, the weakest first.
    pub(super) fn apply(
        &self,
        tag: &str,
        id: Option<&str>,
        classes: Option<&str>,
        mut apply: impl FnMut(Declaration),
    ) {
        if self.is_empty() {
            return;
        }
        let classes: Vec<String> = classes
            .unwrap_or_default()
            .split_ascii_whitespace()
            .take(32)
            .map(|class| format!(".{}", class.to_ascii_lowercase()))
            .collect();
        let id = id.map(|id| format!("#{}", id.trim().to_ascii_lowercase()));
        let keys = || {
            std::iter::once(tag)
                .chain(classes.iter().map(String::as_str))
                .chain(id.as_deref())
        };
        for key in keys() {
            self.simple
                .get(key)
                .into_iter()
                .flatten()
                .for_each(|one| apply(*one));
        }
        for key in keys() {
            for (compound, declarations) in self.compound.get(key).into_iter().flatten() {
                if compound.matches(tag, id.as_deref(), &classes) {
                    declarations.iter().for_each(|one| apply(*one));
                }
            }
        }
    }
}

impl Compound {
    /// The most telling part, under which the rule is found.
    fn key(&self) -> Option<String> {
        if !self.id.is_empty() {
            Some(self.id.clone())
        } else if let Some(class) = self.classes.first() {
            Some(class.clone())
        } else {
            (!self.tag.is_empty()).then(|| self.tag.clone())
        }
    }

    fn matches(&self, tag: &str, id: Option<&str>, classes: &[String]) -> bool {
        (self.tag.is_empty() || self.tag == tag)
            && (self.id.is_empty() || Some(self.id.as_str()) == id)
            && self.classes.iter().all(|class| classes.contains(class))
    }
}

/// `tag#id.class`, in lower case, with `.` and `#` kept in front of the names.
fn compound(selector: &str) -> Compound {
    let selector = selector.to_ascii_lowercase();
    let mut compound = Compound {
        tag: String::new(),
        id: String::new(),
        classes: Vec::new(),
    };
    let mut rest = selector.as_str();
    while !rest.is_empty() {
        let body = rest.get(1..).unwrap_or_default();
        let end = body.find(['.', '#']).map_or(rest.len(), |at| at + 1);
        let (part, tail) = rest.split_at(end);
        match part.as_bytes().first() {
            Some(b'.') => compound.classes.push(part.to_owned()),
            Some(b'#') => compound.id = part.to_owned(),
            _ => compound.tag = part.to_owned(),
        }
        rest = tail;
    }
    compound
}

fn without_comments(css: &str) -> String {
    let css = css.replace("<!--", "").replace("-->", "");
    let mut out = String::with_capacity(css.len());
    let mut rest = css.as_str();
    while let Some((before, tail)) = rest.split_once("/*") {
        out.push_str(before);
        rest = tail.split_once("*/").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

/// What follows the block whose `{` was just passed.
fn skip_block(text: &str) -> &str {
    let mut depth = 1usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(at + 1..).unwrap_or_default();
        }
    }
    ""
}

/// What a block or a `style` attribute says about being seen.
pub(super) fn declarations(block: &str) -> Vec<Declaration> {
    let mut found = Vec::new();
    for one in block.split(';').take(DECLARATIONS_MAX) {
        if let Some((name, value)) = one.split_once(':') {
            declaration(name.trim(), value, &mut found);
        }
    }
    found
}

/// Properties that decide whether a text is seen.
const NAMES: [&str; 24] = [
    "display",
    "visibility",
    "opacity",
    "font-size",
    "font",
    "color",
    "background",
    "background-color",
    "background-image",
    "width",
    "height",
    "max-width",
    "max-height",
    "overflow",
    "overflow-x",
    "overflow-y",
    "position",
    "left",
    "top",
    "right",
    "bottom",
    "clip",
    "clip-path",
    "text-indent",
];

fn declaration(name: &str, value: &str, found: &mut Vec<Declaration>) {
    let Some(name) = NAMES.iter().find(|known| name.eq_ignore_ascii_case(known)) else {
        return;
    };
    let lower = value.to_ascii_lowercase();
    let value = lower.split('!').next().unwrap_or_default().trim();
    match *name {
        "display" => found.push(Declaration::DisplayNone(value == "none")),
        "visibility" => found.push(Declaration::VisibilityHidden(matches!(
            value,
            "hidden" | "collapse"
        ))),
        "opacity" => {
            let percent = value
                .strip_suffix('%')
                .and_then(|share| share.parse::<f32>().ok());
            let opacity = percent
                .map(|share| share / 100.0)
                .or_else(|| value.parse().ok());
            found.extend(opacity.map(|share: f32| Declaration::OpacityZero(share <= 0.05)));
        }
        "font-size" => found.extend(font_size(value)),
        "font" => found.extend(
            value
                .split_ascii_whitespace()
                .find(|word| word.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
                .and_then(|word| font_size(word.split('/').next().unwrap_or_default())),
        ),
        "color" => found.extend(colour(value).map(Declaration::Colour)),
        "background" | "background-color" | "background-image" => {
            found.extend(background(value).map(Declaration::Background));
        }
        "width" | "height" | "max-width" | "max-height" => {
            let zero = pixels(value).is_some_and(|size| size <= 0.0);
            if zero || !name.starts_with("max") {
                found.push(Declaration::Empty(zero));
            }
        }
        "overflow" | "overflow-x" | "overflow-y" => {
            found.push(Declaration::OverflowHidden(matches!(
                value,
                "hidden" | "clip"
            )));
        }
        "position" => found.push(Declaration::Positioned(matches!(
            value,
            "absolute" | "fixed" | "relative"
        ))),
        "left" | "top" | "right" | "bottom" => {
            if pixels(value).is_some_and(|offset| offset.abs() >= 999.0) {
                found.push(Declaration::FarAway(true));
            }
        }
        "text-indent" => found.push(Declaration::Clipped(
            pixels(value).is_some_and(|offset| offset <= -999.0),
        )),
        _ => found.push(Declaration::Clipped(is_clipped(value))),
    }
}

fn number(value: &str) -> Option<(f32, &str)> {
    let value = value.trim();
    let end = value
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')))
        .unwrap_or(value.len());
    let (number, unit) = value.split_at(end);
    Some((number.parse().ok()?, unit.trim()))
}

/// A length in pixels; lengths that depend on something else are none, except zero.
fn pixels(value: &str) -> Option<f32> {
    let (number, unit) = number(value)?;
    let scale = match unit {
        "px" | "" => 1.0,
        "pt" => 4.0 / 3.0,
        "em" | "rem" => 16.0,
        "in" => 96.0,
        "cm" => 37.8,
        _ if number == 0.0 => 1.0,
        _ => return None,
    };
    Some(number * scale)
}

fn font_size(value: &str) -> Option<Declaration> {
    let Some((number, unit)) = number(value) else {
        // Named sizes are all readable.
        return matches!(
            value,
            "medium"
                | "small"
                | "large"
                | "x-small"
                | "xx-small"
                | "x-large"
                | "xx-large"
                | "smaller"
                | "larger"
                | "initial"
        )
        .then_some(Declaration::FontSize(16.0));
    };
    match unit {
        "em" => Some(Declaration::FontScale(number)),
        "%" => Some(Declaration::FontScale(number / 100.0)),
        // One point is as unreadable as one pixel.
        "pt" if number <= 1.0 => Some(Declaration::FontSize(number)),
        "vw" | "vh" if number > 0.0 => Some(Declaration::FontSize(16.0)),
        _ => pixels(value).map(Declaration::FontSize),
    }
}

/// A colour: `None` when it is no colour, `Some(None)` when it is transparent.
pub(super) fn colour(value: &str) -> Option<Option<Rgb>> {
    let value = value.trim();
    if value == "transparent" {
        return Some(None);
    }
    if let Some(hex) = value.strip_prefix('#') {
        return hex_colour(hex);
    }
    if let Some(arguments) = value.strip_prefix("rgb") {
        return rgb_colour(arguments);
    }
    let named: Rgb = match value {
        "white" => [255, 255, 255],
        "black" => [0, 0, 0],
        "red" => [255, 0, 0],
        "green" => [0, 128, 0],
        "blue" => [0, 0, 255],
        "yellow" => [255, 255, 0],
        "gray" | "grey" => [128, 128, 128],
        "silver" => [192, 192, 192],
        "snow" => [255, 250, 250],
        "ivory" => [255, 255, 240],
        "whitesmoke" => [245, 245, 245],
        "ghostwhite" => [248, 248, 255],
        "orange" => [255, 165, 0],
        "navy" => [0, 0, 128],
        "purple" => [128, 0, 128],
        _ => return None,
    };
    Some(Some(named))
}

fn hex_colour(hex: &str) -> Option<Option<Rgb>> {
    let digits: Vec<u8> = hex
        .chars()
        .map_while(|c| c.to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    let (rgb, alpha): (Rgb, u8) = match digits.as_slice() {
        [r, g, b] => ([r * 17, g * 17, b * 17], 255),
        [r, g, b, a] => ([r * 17, g * 17, b * 17], a * 17),
        [a, b, c, d, e, f] => ([a * 16 + b, c * 16 + d, e * 16 + f], 255),
        [a, b, c, d, e, f, g, h] => ([a * 16 + b, c * 16 + d, e * 16 + f], g * 16 + h),
        _ => return None,
    };
    Some((alpha > 12).then_some(rgb))
}

fn rgb_colour(arguments: &str) -> Option<Option<Rgb>> {
    let inner = arguments.split_once('(')?.1.split(')').next()?;
    let mut numbers = inner
        .split(|c: char| c == ',' || c == '/' || c.is_whitespace())
        .filter(|part| !part.is_empty())
        .map(|part| match part.strip_suffix('%') {
            Some(share) => share.parse::<f32>().map(|share| share * 2.55).ok(),
            None => part.parse::<f32>().ok(),
        });
    let mut channel = || {
        numbers
            .next()
            .flatten()
            .map(|value| value.clamp(0.0, 255.0) as u8)
    };
    let rgb = [channel()?, channel()?, channel()?];
    let alpha = numbers.next().flatten().unwrap_or(1.0);
    Some((alpha > 0.05).then_some(rgb))
}

/// `None`: says nothing. `Some(None)`: an image, a gradient or something unknown.
fn background(value: &str) -> Option<Option<Rgb>> {
    if matches!(value, "transparent" | "none" | "inherit" | "initial" | "") {
        return None;
    }
    if value.contains("url(") || value.contains("gradient") {
        return Some(None);
    }
    if value.starts_with("rgb") {
        return colour(value);
    }
    let found = value.split_ascii_whitespace().find_map(colour);
    Some(found.flatten())
}

fn is_clipped(value: &str) -> bool {
    let Some((function, arguments)) = value.split_once('(') else {
        return false;
    };
    let mut sizes = arguments
        .trim_end_matches(')')
        .split(|c: char| c == ',' || c.is_whitespace())
        .filter(|part| !part.is_empty())
        .map(number);
    match function.trim() {
        "rect" => {
            let sizes: Vec<f32> = sizes
                .map(|size| size.map_or(f32::MAX, |(n, _)| n))
                .collect();
            matches!(sizes.as_slice(), [top, right, bottom, left]
                if bottom - top <= 1.0 && right - left <= 1.0)
        }
        "inset" => sizes
            .next()
            .flatten()
            .is_some_and(|(share, unit)| unit == "%" && share >= 50.0),
        _ => false,
    }
}
