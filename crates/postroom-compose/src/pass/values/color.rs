//! Colours, also as CSS writes them (CSS Color 4), as six digits.

use crate::{
    draft::{Node, Value},
    issue::Code,
    model::Color,
    pass::{Pass, adopt},
};

/// A colour in six digits; `None` where none is meant. What is no colour stays as it is.
pub(crate) fn color(node: &Node, pass: &mut Pass<'_, '_>) -> Option<Node> {
    // `{"color": "#fff"}`; what leads to a picture is more than a colour.
    if let Value::Object(object) = &node.value
        && let Some(inner) = object
            .find("color")
            .filter(|inner| inner.as_str().is_some())
        && !object.0.iter().any(|(_, other)| adopt::is_address(other))
    {
        pass.findings.mend(
            Code::SchemaType,
            node.origin,
            format!("A colour is #rrggbb, not {}.", node.what()),
            "color",
            format!("{} to {}", node.excerpt(), inner.excerpt()),
        );
        return color(inner, pass);
    }
    let Value::String(text) = &node.value else {
        let message = format!("A colour is #rrggbb, not {}.", node.what());
        pass.findings.report(Code::SchemaType, node.origin, message);
        return Some(node.clone());
    };
    if let Some(color) = Color::from_hex(text) {
        return Some(Node::string(node.origin, color.to_string()));
    }
    let message = format!("{} is no colour of six digits.", node.excerpt());
    let lower = text.trim().to_ascii_lowercase();
    if matches!(
        lower.as_str(),
        "transparent" | "none" | "inherit" | "initial" | "unset" | "currentcolor"
    ) {
        let change = format!("{} removed", node.excerpt());
        pass.findings
            .mend(Code::ColorInvalid, node.origin, message, "color", change);
        return None;
    }
    let palette = |name: &str| {
        let found = pass
            .palette
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, color)| *color)
    };
    let surface = palette("surface").unwrap_or(Color::WHITE);
    // Names of the theme, also as CSS and classes have them: `var(--primary)`, `text-muted`.
    let theme = ["theme.", "var(--", "text-", "bg-"]
        .iter()
        .find_map(|start| lower.strip_prefix(start))
        .unwrap_or(&lower)
        .trim_end_matches(')');
    let read = read(&lower, surface).or_else(|| palette(theme));
    let read = read.or_else(|| among(&lower, surface));
    match read {
        Some(color) => {
            let change = format!("{} to {color}", node.excerpt());
            pass.findings
                .mend(Code::ColorInvalid, node.origin, message, "color", change);
            Some(Node::string(node.origin, color.to_string()))
        }
        None => {
            pass.findings
                .report(Code::ColorInvalid, node.origin, message);
            Some(node.clone())
        }
    }
}

/// The one colour among words of CSS, as in `1px solid #ddd` and `#fff url(https://…)`.
fn among(text: &str, surface: Color) -> Option<Color> {
    const WORDS: &[&str] = &[
        "solid",
        "dashed",
        "dotted",
        "double",
        "thin",
        "medium",
        "thick",
        "no-repeat",
        "repeat",
        "center",
        "top",
        "bottom",
        "left",
        "right",
        "cover",
        "contain",
        "fixed",
        "scroll",
        "!important",
    ];
    let mut colors = Vec::new();
    for word in text.split_whitespace() {
        let measure = word.starts_with(|char: char| char.is_ascii_digit());
        if WORDS.contains(&word) || word.starts_with("url(") || measure || word == "/" {
            continue;
        }
        colors.push(read(word, surface)?);
    }
    match colors.as_slice() {
        [color] if text.contains(char::is_whitespace) => Some(*color),
        _ => None,
    }
}

/// Reads any notation; what is see-through is laid over `surface`.
pub(super) fn read(text: &str, surface: Color) -> Option<Color> {
    if let Some(digits) = text.strip_prefix('#') {
        return hex(digits, surface);
    }
    if let Some((name, rest)) = text.split_once('(') {
        let values = rest.strip_suffix(')')?;
        return function(name.trim(), values, surface);
    }
    let named = NAMES.iter().find(|(name, _)| *name == text);
    if let Some((_, value)) = named {
        let [_, red, green, blue] = value.to_be_bytes();
        return Some(Color::rgb(red, green, blue));
    }
    (text.len() == 6).then(|| hex(text, surface)).flatten()
}

fn hex(digits: &str, surface: Color) -> Option<Color> {
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let digits: String = match digits.len() {
        3 | 4 => digits.chars().flat_map(|digit| [digit, digit]).collect(),
        6 | 8 => digits.to_owned(),
        _ => return None,
    };
    let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let color = Color::rgb(part(0)?, part(2)?, part(4)?);
    match digits.len() {
        8 => Some(surface.mix(color, f64::from(part(6)?) / 255.0)),
        _ => Some(color),
    }
}

/// `rgb()`, `rgba()`, `hsl()` and `hsla()`, with commas or blanks.
fn function(name: &str, values: &str, surface: Color) -> Option<Color> {
    let values: Vec<&str> = values
        .split([',', ' ', '/'])
        .filter(|value| !value.is_empty())
        .collect();
    let (parts, alpha) = match values.as_slice() {
        [one, two, three] => ([*one, *two, *three], 1.0),
        [one, two, three, alpha] => ([*one, *two, *three], share(alpha)?),
        _ => return None,
    };
    let [one, two, three] = parts;
    let color = match name {
        "rgb" | "rgba" => Color::rgb(channel(one)?, channel(two)?, channel(three)?),
        "hsl" | "hsla" => {
            let hue: f64 = one.trim_end_matches("deg").parse().ok()?;
            hsl(hue, share(two)?, share(three)?)?
        }
        _ => return None,
    };
    Some(surface.mix(color, alpha))
}

/// `50%`, or a number up to 1.
fn share(text: &str) -> Option<f64> {
    let share: f64 = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    share.is_finite().then_some(share.clamp(0.0, 1.0))
}

fn channel(text: &str) -> Option<u8> {
    let value: f64 = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok()? * 2.55,
        None => text.parse().ok()?,
    };
    byte(value)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to a byte"
)]
fn byte(value: f64) -> Option<u8> {
    value
        .is_finite()
        .then(|| value.round().clamp(0.0, 255.0) as u8)
}

fn hsl(hue: f64, saturation: f64, lightness: f64) -> Option<Color> {
    let hue = hue.rem_euclid(360.0);
    let amount = saturation * lightness.min(1.0 - lightness);
    let part = |offset: f64| {
        let at = (offset + hue / 30.0).rem_euclid(12.0);
        byte((lightness - amount * (at - 3.0).min(9.0 - at).clamp(-1.0, 1.0)) * 255.0)
    };
    Some(Color::rgb(part(0.0)?, part(8.0)?, part(4.0)?))
}

/// Names of CSS that writers use.
const NAMES: &[(&str, u32)] = &[
    ("aliceblue", 0xf0_f8ff),
    ("antiquewhite", 0xfa_ebd7),
    ("aqua", 0x00_ffff),
    ("aquamarine", 0x7f_ffd4),
    ("azure", 0xf0_ffff),
    ("beige", 0xf5_f5dc),
    ("bisque", 0xff_e4c4),
    ("black", 0x00_0000),
    ("blanchedalmond", 0xff_ebcd),
    ("blue", 0x00_00ff),
    ("blueviolet", 0x8a_2be2),
    ("brown", 0xa5_2a2a),
    ("burlywood", 0xde_b887),
    ("cadetblue", 0x5f_9ea0),
    ("chartreuse", 0x7f_ff00),
    ("chocolate", 0xd2_691e),
    ("coral", 0xff_7f50),
    ("cornflowerblue", 0x64_95ed),
    ("cornsilk", 0xff_f8dc),
    ("crimson", 0xdc_143c),
    ("cyan", 0x00_ffff),
    ("darkblue", 0x00_008b),
    ("darkcyan", 0x00_8b8b),
    ("darkgoldenrod", 0xb8_860b),
    ("darkgray", 0xa9_a9a9),
    ("darkgreen", 0x00_6400),
    ("darkgrey", 0xa9_a9a9),
    ("darkkhaki", 0xbd_b76b),
    ("darkmagenta", 0x8b_008b),
    ("darkolivegreen", 0x55_6b2f),
    ("darkorange", 0xff_8c00),
    ("darkorchid", 0x99_32cc),
    ("darkred", 0x8b_0000),
    ("darksalmon", 0xe9_967a),
    ("darkseagreen", 0x8f_bc8f),
    ("darkslateblue", 0x48_3d8b),
    ("darkslategray", 0x2f_4f4f),
    ("darkslategrey", 0x2f_4f4f),
    ("darkturquoise", 0x00_ced1),
    ("darkviolet", 0x94_00d3),
    ("deeppink", 0xff_1493),
    ("deepskyblue", 0x00_bfff),
    ("dimgray", 0x69_6969),
    ("dimgrey", 0x69_6969),
    ("dodgerblue", 0x1e_90ff),
    ("firebrick", 0xb2_2222),
    ("floralwhite", 0xff_faf0),
    ("forestgreen", 0x22_8b22),
    ("fuchsia", 0xff_00ff),
    ("gainsboro", 0xdc_dcdc),
    ("ghostwhite", 0xf8_f8ff),
    ("gold", 0xff_d700),
    ("goldenrod", 0xda_a520),
    ("gray", 0x80_8080),
    ("green", 0x00_8000),
    ("greenyellow", 0xad_ff2f),
    ("grey", 0x80_8080),
    ("honeydew", 0xf0_fff0),
    ("hotpink", 0xff_69b4),
    ("indianred", 0xcd_5c5c),
    ("indigo", 0x4b_0082),
    ("ivory", 0xff_fff0),
    ("khaki", 0xf0_e68c),
    ("lavender", 0xe6_e6fa),
    ("lavenderblush", 0xff_f0f5),
    ("lawngreen", 0x7c_fc00),
    ("lemonchiffon", 0xff_facd),
    ("lightblue", 0xad_d8e6),
    ("lightcoral", 0xf0_8080),
    ("lightcyan", 0xe0_ffff),
    ("lightgoldenrodyellow", 0xfa_fad2),
    ("lightgray", 0xd3_d3d3),
    ("lightgreen", 0x90_ee90),
    ("lightgrey", 0xd3_d3d3),
    ("lightpink", 0xff_b6c1),
    ("lightsalmon", 0xff_a07a),
    ("lightseagreen", 0x20_b2aa),
    ("lightskyblue", 0x87_cefa),
    ("lightslategray", 0x77_8899),
    ("lightslategrey", 0x77_8899),
    ("lightsteelblue", 0xb0_c4de),
    ("lightyellow", 0xff_ffe0),
    ("lime", 0x00_ff00),
    ("limegreen", 0x32_cd32),
    ("linen", 0xfa_f0e6),
    ("magenta", 0xff_00ff),
    ("maroon", 0x80_0000),
    ("mediumaquamarine", 0x66_cdaa),
    ("mediumblue", 0x00_00cd),
    ("mediumorchid", 0xba_55d3),
    ("mediumpurple", 0x93_70db),
    ("mediumseagreen", 0x3c_b371),
    ("mediumslateblue", 0x7b_68ee),
    ("mediumspringgreen", 0x00_fa9a),
    ("mediumturquoise", 0x48_d1cc),
    ("mediumvioletred", 0xc7_1585),
    ("midnightblue", 0x19_1970),
    ("mintcream", 0xf5_fffa),
    ("mistyrose", 0xff_e4e1),
    ("moccasin", 0xff_e4b5),
    ("navajowhite", 0xff_dead),
    ("navy", 0x00_0080),
    ("oldlace", 0xfd_f5e6),
    ("olive", 0x80_8000),
    ("olivedrab", 0x6b_8e23),
    ("orange", 0xff_a500),
    ("orangered", 0xff_4500),
    ("orchid", 0xda_70d6),
    ("palegoldenrod", 0xee_e8aa),
    ("palegreen", 0x98_fb98),
    ("paleturquoise", 0xaf_eeee),
    ("palevioletred", 0xdb_7093),
    ("papayawhip", 0xff_efd5),
    ("peachpuff", 0xff_dab9),
    ("peru", 0xcd_853f),
    ("pink", 0xff_c0cb),
    ("plum", 0xdd_a0dd),
    ("powderblue", 0xb0_e0e6),
    ("purple", 0x80_0080),
    ("rebeccapurple", 0x66_3399),
    ("red", 0xff_0000),
    ("rosybrown", 0xbc_8f8f),
    ("royalblue", 0x41_69e1),
    ("saddlebrown", 0x8b_4513),
    ("salmon", 0xfa_8072),
    ("sandybrown", 0xf4_a460),
    ("seagreen", 0x2e_8b57),
    ("seashell", 0xff_f5ee),
    ("sienna", 0xa0_522d),
    ("silver", 0xc0_c0c0),
    ("skyblue", 0x87_ceeb),
    ("slateblue", 0x6a_5acd),
    ("slategray", 0x70_8090),
    ("slategrey", 0x70_8090),
    ("snow", 0xff_fafa),
    ("springgreen", 0x00_ff7f),
    ("steelblue", 0x46_82b4),
    ("tan", 0xd2_b48c),
    ("teal", 0x00_8080),
    ("thistle", 0xd8_bfd8),
    ("tomato", 0xff_6347),
    ("turquoise", 0x40_e0d0),
    ("violet", 0xee_82ee),
    ("wheat", 0xf5_deb3),
    ("white", 0xff_ffff),
    ("whitesmoke", 0xf5_f5f5),
    ("yellow", 0xff_ff00),
    ("yellowgreen", 0x9a_cd32),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations_of_css_are_read() {
        for (text, hex) in [
            ("#f00", "#ff0000"),
            ("#ff000080", "#ff7f7f"),
            ("rgb(255, 0, 0)", "#ff0000"),
            ("rgb(100% 0% 0%)", "#ff0000"),
            ("rgba(255,0,0,0)", "#ffffff"),
            ("hsl(120, 100%, 25%)", "#008000"),
            ("hsl(0 0% 50% / 1)", "#808080"),
            ("rebeccapurple", "#663399"),
            ("2563eb", "#2563eb"),
        ] {
            let found = read(text, Color::WHITE).map(|color| color.to_string());
            assert_eq!(found.as_deref(), Some(hex), "{text}");
        }
        for text in [
            "#ff",
            "rgb(1,2)",
            "linear-gradient(red, blue)",
            "bluish",
            "hsl(a,b,c)",
            "rgb(inf,0,0)",
        ] {
            assert_eq!(read(text, Color::WHITE), None, "{text}");
        }
    }
}
