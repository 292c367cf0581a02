//! What mail programs support, by the tests of caniemail.com.

use std::{collections::BTreeSet, sync::LazyLock};

use crate::{Code, Issue, Severity, Source};

use super::{
    address,
    css::{Declaration, Rule, Sheet},
    markup::{Element, Markup},
};

/// Reduced by data/reduce.py; licence in data/caniemail-LICENSE.txt.
const TABLE: &str = include_str!("../../data/caniemail.tsv");

/// Families looked at when nobody says for whom.
const USUAL: &[&str] = &["gmail", "outlook", "apple-mail"];

/// Features that every good mail uses and that nobody misses where they are not known: what HTML
/// begins with, what only adds to inline styles, what is for screen readers, and rounding.
const GRACEFUL: &[&str] = &[
    "css-at-media",
    "css-at-media-prefers-color-scheme",
    "css-border-radius",
    "css-border-spacing",
    "css-color-scheme",
    "css-cursor",
    "css-display-none",
    "css-max-height",
    "css-opacity",
    "css-outline",
    "css-overflow",
    "css-overflow-wrap",
    "css-table-layout",
    "css-word-break",
    "css-word-spacing",
    "html-aria-describedby",
    "html-aria-hidden",
    "html-aria-label",
    "html-aria-labelledby",
    "html-body",
    "html-doctype",
    "html-lang",
    "html-meta-color-scheme",
    "html-role",
    "html-style",
    "html-target",
    "html-wbr",
];

fn is_graceful(slug: &str) -> bool {
    GRACEFUL.contains(&slug) || slug.starts_with("css-selector-")
}

struct Feature {
    slug: &'static str,
    title: &'static str,
    /// How it is seen: a kind and its words.
    kind: &'static str,
    words: Vec<&'static str>,
    /// A letter for each of [`CLIENTS`].
    support: &'static [u8],
}

/// Mail programs by family and platform, as `gmail.ios`.
pub static CLIENTS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let line = TABLE
        .lines()
        .find_map(|line| line.strip_prefix("clients\t"));
    line.map(|names| names.split('\t').collect())
        .unwrap_or_default()
});

static FEATURES: LazyLock<Vec<Feature>> = LazyLock::new(|| {
    let rows = TABLE
        .lines()
        .filter(|line| !line.starts_with('#') && !line.starts_with("clients\t"));
    let features = rows.filter_map(|row| {
        let mut fields = row.split('\t');
        let (slug, title, detector, support) = (
            fields.next()?,
            fields.next()?,
            fields.next()?,
            fields.next()?,
        );
        let mut words = detector.split(' ');
        Some(Feature {
            slug,
            title,
            kind: words.next()?,
            words: words.collect(),
            support: support.as_bytes(),
        })
    });
    features.collect()
});

/// The programs that these names mean: programs, families, `all`; the usual ones for none.
/// Unknown names are answered as an error.
///
/// # Errors
///
/// The first name that is no program and no family.
pub fn clients_named(names: &[String]) -> Result<Vec<usize>, String> {
    let mut wanted: BTreeSet<usize> = BTreeSet::new();
    let usual: Vec<String> = USUAL.iter().map(|name| (*name).to_owned()).collect();
    let names = if names.is_empty() {
        usual.as_slice()
    } else {
        names
    };
    for name in names {
        let of = |client: &&str| {
            name == "all"
                || *client == name
                || client
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.starts_with('.'))
        };
        let before = wanted.len();
        let found: Vec<usize> = CLIENTS
            .iter()
            .enumerate()
            .filter(|(_, client)| of(client))
            .map(|(index, _)| index)
            .collect();
        wanted.extend(&found);
        if found.is_empty() && wanted.len() == before {
            return Err(name.clone());
        }
    }
    Ok(wanted.into_iter().collect())
}

/// Features of the table by how they are seen.
struct Seen<'a> {
    markup: &'a Markup,
    sheets: &'a [Sheet],
    inline: &'a [(usize, Vec<Declaration>)],
}

/// Looks for every feature of the table that one of `clients` does not support.
pub(super) fn check(
    markup: &Markup,
    sheets: &[Sheet],
    inline: &[(usize, Vec<Declaration>)],
    clients: &[usize],
    source: &dyn Fn(usize) -> Source,
) -> Vec<Issue> {
    let seen = Seen {
        markup,
        sheets,
        inline,
    };
    let mut issues = Vec::new();
    for feature in FEATURES.iter() {
        let named = |letter: u8| -> Vec<String> {
            let of = |index: &&usize| feature.support.get(**index) == Some(&letter);
            let names = clients
                .iter()
                .filter(of)
                .filter_map(|index| CLIENTS.get(*index));
            names.map(|name| (*name).to_owned()).collect()
        };
        let (missing, partial) = (named(b'n'), named(b'a'));
        if missing.is_empty() && partial.is_empty() {
            continue;
        }
        let Some(offset) = seen.first(feature) else {
            continue;
        };
        let at = source(offset);
        let title = feature.title;
        if !missing.is_empty() {
            let message = format!("{title} is not supported by {}.", missing.join(", "));
            let issue = Issue::new(Code::Compat, &at, message)
                .about(feature.slug)
                .clients(missing);
            issues.push(if is_graceful(feature.slug) {
                issue.severity(Severity::Info)
            } else {
                issue
            });
        } else {
            let message = format!("{title} is supported in part by {}.", partial.join(", "));
            issues.push(Issue::new(Code::CompatPartial, &at, message).clients(partial));
        }
    }
    issues
}

/// Whether a feature that our HTML uses, by its name on caniemail.com, is missing in some of
/// `clients`.
pub(super) fn missing(slug: &str, clients: &[usize]) -> Option<Issue> {
    let feature = FEATURES.iter().find(|feature| feature.slug == slug)?;
    let lacks = |index: &&usize| feature.support.get(**index) == Some(&b'n');
    let names = clients
        .iter()
        .filter(lacks)
        .filter_map(|index| CLIENTS.get(*index));
    let missing: Vec<String> = names.map(|name| (*name).to_owned()).collect();
    if missing.is_empty() {
        return None;
    }
    let message = format!(
        "{} is not supported by {}.",
        feature.title,
        missing.join(", ")
    );
    let issue = Issue::new(Code::Compat, &Source::default(), message)
        .about(feature.slug)
        .clients(missing);
    Some(if is_graceful(slug) {
        issue.severity(Severity::Info)
    } else {
        issue
    })
}

impl Seen<'_> {
    /// Offset of the first place where the feature is used.
    fn first(&self, feature: &Feature) -> Option<usize> {
        let words = feature.words.as_slice();
        match feature.kind {
            "element" => self.element(|element| words.contains(&element.name.as_str())),
            "attribute" => self.element(|element| {
                element
                    .attributes
                    .iter()
                    .any(|(name, _)| words.contains(&name.as_str()))
            }),
            "typed" => self.element(|element| {
                words.first() == Some(&element.name.as_str())
                    && words.get(1).is_some_and(|kind| {
                        element
                            .attribute("type")
                            .unwrap_or("text")
                            .eq_ignore_ascii_case(kind)
                    })
            }),
            "meta" => self.element(|element| {
                element.name == "meta"
                    && element
                        .attribute("name")
                        .is_some_and(|name| words.contains(&name))
            }),
            "anchor" => self.element(|element| {
                element
                    .attribute("href")
                    .is_some_and(|href| href.starts_with('#') && href.len() > 1)
            }),
            "mailto" => self.element(|element| {
                element
                    .attribute("href")
                    .is_some_and(|href| address::scheme(href).as_deref() == Some("mailto"))
            }),
            "image" => self.element(|element| {
                let format = element.attribute("src").and_then(address::picture_format);
                element.name == "img" && format.is_some_and(|format| words.contains(&format))
            }),
            "doctype" => self.markup.doctype,
            "property" => {
                self.declaration(|declaration| words.contains(&declaration.name.as_str()))
            }
            "value" => self.declaration(|declaration| {
                let value = declaration.value.trim_end_matches("!important").trim();
                words.first() == Some(&declaration.name.as_str())
                    && words.get(1).is_some_and(|word| {
                        value
                            .split_whitespace()
                            .any(|part| part == *word || part == format!("inline-{word}"))
                    })
            }),
            "function" => self.declaration(|declaration| {
                words
                    .iter()
                    .any(|word| has_function(&declaration.value, word))
            }),
            "unit" => self.declaration(|declaration| {
                words.iter().any(|unit| has_unit(&declaration.value, unit))
            }),
            "word" => self.declaration(|declaration| {
                declaration
                    .value
                    .split([' ', ','])
                    .any(|part| words.contains(&part.trim()))
            }),
            "important" => self.declaration(|declaration| declaration.value.contains("!important")),
            "comment" => self
                .sheets
                .iter()
                .find(|sheet| sheet.has_comment)
                .map(|sheet| sheet.offset),
            "at" => self.rule(|rule| {
                rule.at
                    .as_ref()
                    .is_some_and(|at| words.contains(&at.name.as_str()))
            }),
            "media" => self.rule(|rule| {
                rule.at.as_ref().is_some_and(|at| {
                    at.name == "media" && words.iter().any(|word| at.prelude.contains(word))
                })
            }),
            "pseudo" => self.rule(|rule| {
                words
                    .iter()
                    .any(|pseudo| has_pseudo(&rule.selector, pseudo))
            }),
            "selector" => self.rule(|rule| {
                words
                    .first()
                    .is_some_and(|sign| has_selector(&rule.selector, sign))
            }),
            _ => None,
        }
    }

    fn element(&self, is: impl Fn(&Element) -> bool) -> Option<usize> {
        self.markup
            .elements
            .iter()
            .find(|element| is(element))
            .map(|element| element.offset)
    }

    fn declaration(&self, is: impl Fn(&Declaration) -> bool) -> Option<usize> {
        let inline = self
            .inline
            .iter()
            .find(|(_, declarations)| declarations.iter().any(&is))
            .map(|(offset, _)| *offset);
        let sheet = self.sheets.iter().find(|sheet| {
            sheet
                .rules
                .iter()
                .any(|rule| rule.declarations.iter().any(&is))
        });
        inline.or_else(|| sheet.map(|sheet| sheet.offset))
    }

    fn rule(&self, is: impl Fn(&Rule) -> bool) -> Option<usize> {
        let sheet = self.sheets.iter().find(|sheet| sheet.rules.iter().any(&is));
        sheet.map(|sheet| sheet.offset)
    }
}

fn has_function(value: &str, name: &str) -> bool {
    value.match_indices(name).any(|(at, _)| {
        let before = value.get(..at).and_then(|text| text.chars().next_back());
        let after = value
            .get(at + name.len()..)
            .is_some_and(|rest| rest.starts_with('('));
        after && !before.is_some_and(|c| c.is_alphanumeric() || c == '-')
    })
}

fn has_unit(value: &str, unit: &str) -> bool {
    value.split([' ', ',', '(', ')', '/']).any(|part| {
        let number = part.trim().strip_suffix(unit);
        number.is_some_and(|number| {
            !number.is_empty()
                && number
                    .chars()
                    .all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))
        })
    })
}

fn has_pseudo(selector: &str, pseudo: &str) -> bool {
    selector.match_indices(pseudo).any(|(at, _)| {
        let before = selector.get(..at).is_some_and(|text| text.ends_with(':'));
        let after = selector
            .get(at + pseudo.len()..)
            .and_then(|rest| rest.chars().next());
        (pseudo.starts_with("::") || !before)
            && !after.is_some_and(|c| c.is_alphanumeric() || c == '-')
    })
}

fn has_selector(selector: &str, sign: &str) -> bool {
    match sign {
        "," | "+" | "~" | ">" | "[" | "*" | "#" | "." => selector.contains(sign),
        "type" => selector
            .split([' ', ',', '>', '+', '~'])
            .any(|part| part.chars().next().is_some_and(char::is_alphabetic)),
        "chain" => selector.split([' ', ',', '>', '+', '~']).any(|part| {
            let more = usize::from(part.starts_with(|c: char| c.is_alphabetic()));
            part.matches(['.', '#']).count() + more > 1
        }),
        "descendant" => {
            let parts = selector
                .split(',')
                .map(|one| one.split_whitespace().collect::<Vec<_>>());
            let combines = |part: &&str| matches!(*part, ">" | "+" | "~");
            parts
                .into_iter()
                .any(|words| words.len() > 1 && !words.iter().any(combines))
        }
        _ => false,
    }
}
