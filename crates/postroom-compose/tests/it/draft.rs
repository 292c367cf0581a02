//! Drafts as hasty writers make them: right in substance, wrong in form.

use serde_json::{Map, Value, json};

/// A draft and what must not get lost of it.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) document: Value,
    /// Words that readers see.
    pub(crate) words: Vec<String>,
    /// Targets of links.
    pub(crate) targets: Vec<String>,
    /// Names of variables.
    pub(crate) variables: Vec<String>,
    /// Ids that stand once and are well formed, of blocks that hold words.
    pub(crate) ids: Vec<String>,
}

/// Makes a draft out of bytes: each byte is a choice, so that fewer bytes are a simpler draft.
pub(crate) fn draft(bytes: &[u8]) -> Draft {
    let mut writer = Writer {
        bytes,
        at: 0,
        words: Vec::new(),
        targets: Vec::new(),
        variables: Vec::new(),
        ids: Vec::new(),
        loops: 0,
    };
    let document = writer.document();
    Draft {
        document,
        words: writer.words,
        targets: writer.targets,
        variables: writer.variables,
        ids: writer.ids,
    }
}

struct Writer<'b> {
    bytes: &'b [u8],
    at: usize,
    words: Vec<String>,
    targets: Vec<String>,
    variables: Vec<String>,
    ids: Vec<String>,
    loops: usize,
}

impl Writer<'_> {
    /// A number below `most`; 0 once the bytes are used up.
    fn below(&mut self, most: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % most
    }

    fn one<'w>(&mut self, words: &[&'w str]) -> &'w str {
        let at = self.below(words.len());
        words[at]
    }

    fn done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn document(&mut self) -> Value {
        let mut document = Map::new();
        if self.below(3) > 0 {
            document.insert("version".to_owned(), json!(2));
        }
        let subject = self.string();
        match self.below(3) {
            0 => document.insert(
                "meta".to_owned(),
                json!({ "subject": subject, "lang": "en" }),
            ),
            1 => document.insert("subject".to_owned(), json!(subject)),
            _ => document.insert("meta".to_owned(), json!({ "subject": { "md": subject } })),
        };
        if self.below(3) == 0 {
            let color = self.color();
            document.insert(
                "theme".to_owned(),
                json!({ "primary": color, "fontFamily": "Arial", "width": "600px" }),
            );
        }
        let children = self.list(0, 6);
        let body = match self.below(4) {
            0 => json!({ "type": "body", "children": children }),
            1 => json!({ "type": "mj-body", "blocks": children }),
            2 => json!({ "type": "body", "sections": children }),
            _ => Value::Array(children),
        };
        let key = self.one(&["root", "root", "body", "content"]);
        document.insert(key.to_owned(), body);
        Value::Object(document)
    }

    fn list(&mut self, depth: usize, most: usize) -> Vec<Value> {
        let mut list = Vec::new();
        let count = 1 + self.below(most);
        for _ in 0..count {
            list.push(self.block(depth));
            if self.done() {
                break;
            }
        }
        list
    }

    fn block(&mut self, depth: usize) -> Value {
        let container = depth < 4 && self.below(3) > 0;
        let kind = if container {
            self.below(9)
        } else {
            9 + self.below(14)
        };
        let mut block = match kind {
            0..=2 => self.holder(
                &[
                    "section",
                    "section",
                    "row",
                    "mj-section",
                    "panel",
                    "wrapper",
                    "columns",
                ],
                depth,
            ),
            3 | 4 => self.holder(&["column", "col", "mj-column"], depth),
            5 => {
                let children = self.list(depth + 1, 3);
                let cond = self.condition();
                match self.below(3) {
                    0 => json!({ "type": "if", "cond": cond, "then": children }),
                    1 => json!({ "type": "if", "condition": cond, "children": children }),
                    _ => {
                        json!({ "type": "conditional", "cond": cond, "then": children, "else": self.list(depth + 1, 2) })
                    }
                }
            }
            6 => {
                self.loops += 1;
                let name = format!("it{}", self.loops);
                let list = format!("list.l{}", self.loops);
                self.variables.push(list.clone());
                let children = self.list(depth + 1, 3);
                match self.below(2) {
                    0 => json!({ "type": "each", "in": list, "as": name, "children": children }),
                    _ => {
                        json!({ "type": "loop", "list": format!("{{{{ {list} }}}}"), "item": name, "blocks": children })
                    }
                }
            }
            7 => self.list_block(),
            8 => self.table_block(),
            _ => self.leaf(kind),
        };
        self.common(&mut block, !container);
        block
    }

    fn holder(&mut self, kinds: &[&str], depth: usize) -> Value {
        let kind = self.one(kinds);
        let children = self.list(depth + 1, 5);
        let key = self.one(&["children", "children", "blocks", "content", "items"]);
        let mut block = Map::new();
        block.insert("type".to_owned(), json!(kind));
        block.insert(key.to_owned(), Value::Array(children));
        if self.below(4) == 0 {
            let width = match self.below(4) {
                0 => json!(30),
                1 => json!("50%"),
                2 => json!("1/3"),
                _ => json!(0.5),
            };
            block.insert("width".to_owned(), width);
        }
        Value::Object(block)
    }

    fn list_block(&mut self) -> Value {
        let kind = self.one(&["list", "ul", "ol"]);
        let count = 1 + self.below(3);
        let items: Vec<Value> = (0..count)
            .map(|_| match self.below(3) {
                0 => json!(self.string()),
                1 => json!({ "type": "item", "text": self.text() }),
                _ => json!({ "type": "text", "text": self.text() }),
            })
            .collect();
        let key = self.one(&["children", "items"]);
        json!({ "type": kind, key: items })
    }

    fn table_block(&mut self) -> Value {
        let rows = 1 + self.below(3);
        let rows: Vec<Value> = (0..rows)
            .map(|_| {
                let cells = 1 + self.below(3);
                let cells: Vec<Value> = (0..cells).map(|_| json!(self.string())).collect();
                match self.below(2) {
                    0 => Value::Array(cells),
                    _ => json!({ "type": "row", "children": cells }),
                }
            })
            .collect();
        let key = self.one(&["rows", "children"]);
        json!({ "type": "table", key: rows })
    }

    fn leaf(&mut self, kind: usize) -> Value {
        match kind {
            9..=11 => {
                let kind = self.one(&["text", "paragraph", "mj-text"]);
                let key = self.one(&["text", "content", "body"]);
                json!({ "type": kind, key: self.text() })
            }
            12 => {
                json!({ "type": "text", "text": [self.word(), { "type": "button", "label": self.word(), "href": self.target() }, self.word()] })
            }
            13 | 14 => {
                let kind = self.one(&["heading", "h1", "h2", "title"]);
                json!({ "type": kind, "text": self.string(), "size": "28px" })
            }
            15 | 16 => {
                let (kind, label, href) = (
                    self.one(&["button", "cta", "link-button"]),
                    self.one(&["label", "text"]),
                    self.one(&["href", "url", "link"]),
                );
                json!({ "type": kind, label: self.string(), href: self.target(), "backgroundColor": self.color() })
            }
            17 => {
                json!({ "type": "img", "src": self.target(), "altText": self.word(), "width": "100%" })
            }
            18 => json!({ "type": self.one(&["hr", "divider"]), "thickness": "2px" }),
            19 => json!({ "type": "gap", "height": "500px" }),
            20 => json!(self.string()),
            21 => json!({ "type": "footer", "lines": self.string() }),
            _ => json!({ "type": "quote", "text": self.text(), "author": self.word() }),
        }
    }

    /// Keys that every block may have, and some that none has.
    fn common(&mut self, block: &mut Value, leaf: bool) {
        let Some(object) = block.as_object_mut() else {
            return;
        };
        match self.below(8) {
            1 => {
                let id = format!("own-{}", self.ids.len() + self.at);
                object.insert("id".to_owned(), json!(id));
                if leaf {
                    self.ids.push(id);
                }
            }
            2 => {
                object.insert("id".to_owned(), json!("same"));
            }
            3 => {
                object.insert("id".to_owned(), json!("Not An Id!"));
            }
            _ => {}
        }
        match self.below(10) {
            1 => {
                object.insert("padding".to_owned(), json!("10px 20px"));
            }
            2 => {
                object.insert("padding-top".to_owned(), json!("900px"));
            }
            3 => {
                object.insert("textAlign".to_owned(), json!("Middle"));
            }
            4 => {
                object.insert("bogus".to_owned(), json!({ "a": 1 }));
            }
            5 => {
                object.insert("visibleIf".to_owned(), self.condition());
            }
            6 => {
                object.insert("background_color".to_owned(), self.color());
            }
            _ => {}
        }
    }

    fn word(&mut self) -> String {
        let word = format!("w{}x", self.words.len());
        self.words.push(word.clone());
        word
    }

    fn target(&mut self) -> String {
        let target = format!("acme.test/l{}x", self.targets.len());
        self.targets.push(target.clone());
        match self.below(4) {
            0 => target,
            1 => format!(" https://{target}\n"),
            2 => format!("//{target}"),
            _ => format!("https://{target}"),
        }
    }

    fn color(&mut self) -> Value {
        json!(self.one(&[
            "#ff0000",
            "red",
            "#F00",
            "rgb(1, 2, 3)",
            "hsl(10 50% 50%)",
            "transparent",
            "primary",
            "#11223344"
        ]))
    }

    /// A variable in one of the notations that writers use.
    fn variable(&mut self) -> String {
        let name = format!("var.n{}x", self.variables.len());
        self.variables.push(name.clone());
        match self.below(12) {
            0 => format!("{{{{ {name} }}}}"),
            1 => format!("{{{{{name}}}}}"),
            2 => format!("{{{name}}}"),
            3 => format!("%{name}%"),
            4 => format!("*|{name}|*"),
            5 => format!("<%= {name} %>"),
            6 => format!("${{{name}}}"),
            7 => format!("[[{name}]]"),
            8 => format!("{{{{{{{name}}}}}}}"),
            9 => format!("{{{{ {name} | upcase }}}}"),
            10 => format!("{{{{ {name} | default('x', true) }}}}"),
            _ => format!("{{{{ .{name} || \"y\" }}}}"),
        }
    }

    /// A string with words and perhaps a variable or tags.
    fn string(&mut self) -> String {
        match self.below(6) {
            0 => format!("{} {}", self.word(), self.variable()),
            1 => format!(
                "<b>{}</b> &amp; {}<br>{}",
                self.word(),
                self.word(),
                self.word()
            ),
            2 => format!(
                "{}\n{} 100% {{ \\ < > & \" ' --> ]]>",
                self.word(),
                self.word()
            ),
            _ => self.word(),
        }
    }

    fn text(&mut self) -> Value {
        match self.below(6) {
            0 => {
                json!({ "md": format!("**{}** and [{}](https://{}) `{}`", self.word(), self.word(), self.plain_target(), self.word()) })
            }
            1 => {
                json!([self.word(), { "type": "strong", "text": self.word() }, { "text": self.word(), "bold": true }])
            }
            2 => {
                json!([{ "type": "a", "url": format!("https://{}", self.plain_target()), "text": self.word() }, { "type": "br" }, { "type": "text", "text": self.string(), "marks": "Italic" }])
            }
            3 => json!({ "type": "text", "text": self.word(), "color": "red" }),
            _ => json!(self.string()),
        }
    }

    fn plain_target(&mut self) -> String {
        let target = format!("acme.test/l{}x", self.targets.len());
        self.targets.push(target.clone());
        target
    }

    fn condition(&mut self) -> Value {
        let name = format!("var.n{}x", self.variables.len());
        self.variables.push(name.clone());
        match self.below(5) {
            0 => json!({ "var": name, "op": "eq", "value": "a" }),
            1 => json!({ "variable": name, "operator": "==", "value": 1 }),
            2 => json!(format!("{name} == 'pro'")),
            3 => json!({ "not": { "var": name } }),
            _ => json!({ "and": [{ "var": name, "op": "isset" }] }),
        }
    }
}

#[test]
fn the_default_of_an_address_is_an_address() {
    let with = |href: &str, declared: &str| {
        format!(
            r#"{{"version": 2, "meta": {{"subject": "S", "preheader": "P", "lang": "en"}},
            "variables": [{{"name": "u", "type": "url", "sample": "https://acme.test/"{declared}}}],
            "root": {{"type": "body", "children": [{{"type": "section", "children": [{{"type": "column", "children": [
            {{"type": "button", "label": "See it", "href": "{href}"}}]}}]}}]}}}}"#
        )
    };
    for (href, declared, good) in [
        ("{{ u }}", "", true),
        (r#"{{ u | default: \"https://acme.test/x\" }}"#, "", true),
        ("{{ u }}/path?x=1", "", true),
        ("{{ u }}", r#", "default": "https://acme.test/""#, true),
        (r#"{{ u | default: \"javascript:alert(1)\" }}"#, "", false),
        (r#"{{ u | default: \"data:text/html,x\" }}"#, "", false),
        (r#"{{ u | default: \"java\" }}script:alert(1)"#, "", false),
        (r#"{{ u | default: \"/rel\" }}"#, "", false),
        (r#"{{ u | default: \"x y\" }}"#, "", false),
        ("{{ u }}:alert(1)", "", false),
        ("{{ u }}", r#", "default": "javascript:alert(1)""#, false),
    ] {
        let draft = with(href, declared);
        let checked = postroom_compose::check(&draft);
        let errors: Vec<_> = checked
            .issues
            .iter()
            .filter(|issue| issue.is_error())
            .collect();
        assert_eq!(errors.is_empty(), good, "{href} {declared}: {errors:?}");
    }
}
