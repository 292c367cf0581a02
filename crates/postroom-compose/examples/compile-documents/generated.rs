//! Documents made at random, the same in every run: blocks of every type with attributes of every
//! kind, conditions and loops at every level.

use serde_json::{Value, json};

/// A document by its number.
pub(crate) fn document(number: u64) -> Value {
    let mut dice = Dice::new(number);
    let rows: Vec<Value> = (0..dice.up_to(4) + 1).map(|_| dice.row(true)).collect();
    json!({
        "version": 2,
        "kind": "personal",
        "meta": {
            "subject": "Made at random for {{ name }}", "lang": "en",
            "preheader": "Whatever may stand in a document stands in one of these.",
            "dir": if dice.one_in(8) { "rtl" } else { "ltr" },
        },
        "theme": {"radius": dice.up_to(20), "width": 560 + 20 * dice.up_to(5), "dark": {"mode": dice.of(&["auto", "off"])}},
        "variables": [
            {"name": "name", "sample": dice.of(&["Ada", "<O'Neil & \"co\">", "Zoë 🎉"])},
            {"name": "plan", "sample": dice.of(&["pro", "free", ""])},
            {"name": "total", "type": "number", "sample": dice.up_to(4)},
            {"name": "link", "type": "url", "sample": "https://acme.test/?a=1&b=2"},
            {"name": "things", "type": "list", "sample": [{"name": "One & all", "on": true}, {"name": "Two", "on": false}]},
        ],
        "root": {"type": "body", "children": rows},
    })
}

/// Numbers that look random (xorshift).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(number: u64) -> Self {
        Self(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn up_to(&mut self, most: u64) -> u64 {
        (self.roll() >> 11) % (most + 1)
    }

    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.up_to(times - 1) == 0
    }

    pub(crate) fn of(&mut self, values: &[&'static str]) -> &'static str {
        let index = self.up_to(values.len() as u64 - 1) as usize;
        values.get(index).copied().unwrap_or_default()
    }

    fn color(&mut self) -> &'static str {
        self.of(&["#ffffff", "#f3f4f6", "#fde68a", "#1f2937", "#0b3a53"])
    }

    /// Adds a key now and then.
    fn maybe(&mut self, block: &mut Value, key: &str, value: impl FnOnce(&mut Self) -> Value) {
        if self.one_in(3) {
            let value = value(self);
            block[key] = value;
        }
    }

    fn pad(&mut self) -> Value {
        if self.one_in(2) {
            return json!(4 * self.up_to(8));
        }
        json!([
            self.up_to(30),
            self.up_to(30),
            self.up_to(30),
            self.up_to(30)
        ])
    }

    fn condition(&mut self) -> Value {
        match self.up_to(4) {
            0 => json!({"var": "plan", "op": "exists"}),
            1 => json!({"var": "plan", "op": "empty"}),
            2 => {
                json!({"all": [{"var": "plan", "op": "exists"}, {"var": "total", "op": "exists"}]})
            }
            3 => json!({"any": [{"var": "plan", "op": "empty"}, {"var": "name", "op": "exists"}]}),
            _ => json!({"not": {"var": "plan", "op": "exists"}}),
        }
    }

    /// One node, or a condition or a loop around some.
    fn around(&mut self, make: impl Fn(&mut Self, bool) -> Value, mut each: Value) -> Value {
        match self.up_to(7) {
            0 => {
                json!({"type": "if", "cond": self.condition(), "then": [make(self, false)], "else": [make(self, false)]})
            }
            1 => json!({"type": "if", "cond": self.condition(), "then": [make(self, false)]}),
            2 => {
                each["type"] = json!("each");
                each["in"] = json!("things");
                each["as"] = json!("thing");
                each["children"] = json!([make(self, true)]);
                each
            }
            _ => make(self, false),
        }
    }

    fn row(&mut self, panels: bool) -> Value {
        self.around(
            |dice, looped| match dice.up_to(6) {
                0 if panels => {
                    let rows: Vec<Value> = (0..dice.up_to(2) + 1).map(|_| dice.row(false)).collect();
                    let mut panel = json!({"type": "panel", "children": rows});
                    dice.maybe(&mut panel, "bg", |dice| json!(dice.color()));
                    dice.maybe(&mut panel, "border", |dice| json!(dice.color()));
                    dice.maybe(&mut panel, "radius", |dice| json!(dice.up_to(20)));
                    dice.maybe(&mut panel, "pad", Self::pad);
                    dice.maybe(&mut panel, "fullWidth", |_| json!(true));
                    panel
                }
                1 => {
                    let mut hero = json!({"type": "hero", "fallbackColor": dice.color(), "children": [
                        {"type": "heading", "text": "Welcome {{ name }}"}, {"type": "button", "label": "Begin with it", "href": "{{ link }}"}]});
                    dice.maybe(&mut hero, "src", |_| json!("https://cdn.acme.test/sea.jpg"));
                    dice.maybe(&mut hero, "height", |dice| json!(50 + dice.up_to(300)));
                    dice.maybe(&mut hero, "valign", |dice| json!(dice.of(&["top", "middle", "bottom"])));
                    dice.maybe(&mut hero, "pad", Self::pad);
                    hero
                }
                _ => dice.section(looped),
            },
            json!({}),
        )
    }

    fn section(&mut self, looped: bool) -> Value {
        let shares: &[u64] = match self.up_to(5) {
            0 => &[50, 50],
            1 => &[30, 70],
            2 => &[0, 0, 0],
            3 => &[25, 25, 25, 25],
            _ => &[0],
        };
        let columns: Vec<Value> = shares
            .iter()
            .map(|share| self.column(*share, looped))
            .collect();
        let mut section = json!({"type": "section", "children": columns});
        self.maybe(&mut section, "bg", |dice| json!(dice.color()));
        if section.get("bg").is_some() {
            self.maybe(&mut section, "bgImage", |dice| json!({
                "src": "https://cdn.acme.test/bg.jpg", "position": dice.of(&["top", "center", "bottom"]),
                "size": dice.of(&["cover", "contain"])}));
            self.maybe(
                &mut section,
                "gradient",
                |_| json!({"from": "#111827", "to": "#1f2937", "angle": 90}),
            );
        }
        self.maybe(&mut section, "fullWidth", |_| json!(true));
        self.maybe(&mut section, "stack", |_| json!(false));
        self.maybe(&mut section, "pad", Self::pad);
        self.maybe(&mut section, "hideOn", |dice| {
            json!(dice.of(&["mobile", "desktop"]))
        });
        section
    }

    fn column(&mut self, share: u64, looped: bool) -> Value {
        let blocks: Vec<Value> = (0..self.up_to(3) + 1).map(|_| self.block(looped)).collect();
        let mut column = json!({"type": "column", "children": blocks});
        if share > 0 {
            column["width"] = json!(share);
        }
        self.maybe(&mut column, "bg", |dice| json!(dice.color()));
        self.maybe(&mut column, "border", |dice| json!(dice.color()));
        self.maybe(&mut column, "radius", |dice| json!(dice.up_to(20)));
        self.maybe(&mut column, "pad", Self::pad);
        self.maybe(&mut column, "valign", |dice| {
            json!(dice.of(&["top", "middle", "bottom"]))
        });
        column
    }

    fn block(&mut self, looped: bool) -> Value {
        if looped {
            return self.leaf(true);
        }
        self.around(Self::leaf, json!({}))
    }

    fn leaf(&mut self, looped: bool) -> Value {
        let name = if looped {
            "{{ thing.name }}"
        } else {
            "{{ name | default: \"you\" }}"
        };
        let mut block = match self.up_to(14) {
            0 => json!({"type": "heading", "level": 2, "text": format!("For {name}")}),
            1 => {
                json!({"type": "button", "label": format!("See it, {name}"), "href": "{{ link }}", "variant": self.of(&["solid", "outline", "link"])})
            }
            2 => {
                json!({"type": "image", "src": "https://cdn.acme.test/a.png", "alt": format!("A chart for {name}"), "width": 20 + self.up_to(700), "height": 20 + self.up_to(200)})
            }
            3 => {
                json!({"type": "divider", "style": self.of(&["solid", "dashed"]), "thickness": 1 + self.up_to(3), "width": 10 + self.up_to(90)})
            }
            4 => json!({"type": "spacer", "height": 1 + self.up_to(60)}),
            5 => {
                json!({"type": "list", "style": self.of(&["disc", "check", "none"]), "children": [{"type": "item", "text": name}, {"type": "item", "text": {"md": "**Two**"}}]})
            }
            6 => {
                json!({"type": "table", "border": self.one_in(2), "striped": self.one_in(2), "align": ["left", "right"], "children": [
                {"type": "row", "header": true, "children": [{"type": "cell", "text": "A"}, {"type": "cell", "text": "B"}]},
                {"type": "row", "children": [{"type": "cell", "text": name}, {"type": "cell", "text": "2"}]}]})
            }
            7 => {
                json!({"type": "menu", "children": [{"type": "menuItem", "label": "Shop", "href": "https://acme.test/s"}, {"type": "menuItem", "label": "Help", "href": "https://acme.test/h"}]})
            }
            8 => {
                json!({"type": "social", "children": [{"type": "socialItem", "network": "github", "href": "https://acme.test/g", "src": "https://cdn.acme.test/g.png"}]})
            }
            9 => {
                json!({"type": "video", "poster": "https://cdn.acme.test/v.jpg", "href": "https://acme.test/v", "alt": "A tour of it"})
            }
            10 => json!({"type": "code", "text": "let x = {{ name }};\n  <b>"}),
            11 => json!({"type": "quote", "text": name, "cite": "Somebody"}),
            12 => {
                json!({"type": "footer", "lines": ["Small", {"md": "[print](https://acme.test/p)"}]})
            }
            _ => {
                json!({"type": "text", "text": {"md": format!("Some **bold** and *slanted* words for {name}, and [a link](https://acme.test/l).")}})
            }
        };
        let kind = block["type"].as_str().unwrap_or_default().to_owned();
        if kind != "spacer" {
            self.maybe(&mut block, "pad", Self::pad);
        }
        if !matches!(kind.as_str(), "spacer" | "table") {
            self.maybe(&mut block, "align", |dice| {
                json!(dice.of(&["left", "center", "right"]))
            });
        }
        if matches!(
            kind.as_str(),
            "heading" | "text" | "quote" | "list" | "image"
        ) {
            self.maybe(&mut block, "bg", |dice| json!(dice.color()));
        }
        if matches!(kind.as_str(), "button" | "image") {
            self.maybe(&mut block, "radius", |dice| json!(dice.up_to(20)));
        }
        if kind == "button" {
            self.maybe(&mut block, "full", |_| json!(true));
            self.maybe(&mut block, "width", |dice| json!(100 + dice.up_to(200)));
        }
        if kind == "image" {
            self.maybe(&mut block, "href", |_| json!("https://acme.test/i"));
            self.maybe(&mut block, "fluidOnMobile", |_| json!(false));
        }
        self.maybe(&mut block, "visibleIf", Self::condition);
        block
    }
}
