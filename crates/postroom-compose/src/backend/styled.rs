//! What the style sheets of the head have to name.

use crate::emit::component::{Name, Node};

use super::boxes::{Around, percent, print, whole};

pub(super) fn group_class(share: f64) -> String {
    format!("mj-column-per-{}", whole(share))
}

pub(super) fn column_class(share: f64) -> String {
    format!("mj-column-per-{}", print(share).replacen('.', "-", 1))
}

/// What the style sheets of the head have to name.
#[derive(Debug, Default)]
pub(super) struct Styled {
    /// Classes of columns with their percentage.
    pub(super) widths: Vec<(String, String)>,
    /// A picture is to fill the width of a phone.
    pub(super) has_fluid_image: bool,
}

impl Styled {
    /// Looks through components.
    pub(super) fn of(nodes: &[Node]) -> Self {
        let mut styled = Self::default();
        let around = Around {
            width: 0.0,
            siblings: nodes.len(),
            in_group: false,
        };
        styled.look(nodes, around);
        styled
    }

    fn look(&mut self, nodes: &[Node], around: Around) {
        for node in nodes {
            let Node::Component(component) = node else {
                continue;
            };
            let share = percent(component, around);
            match component.name {
                Name::Column => self.note(column_class(share), share),
                Name::Group => self.note(group_class(share), share),
                Name::Image => {
                    self.has_fluid_image |= component.attribute("fluid-on-mobile").is_some()
                }
                _ => {}
            }
            let siblings = component.components().count();
            self.look(component.children(), Around { siblings, ..around });
        }
    }

    fn note(&mut self, class: String, share: f64) {
        if !self.widths.iter().any(|(known, _)| *known == class) {
            self.widths.push((class, print(share)));
        }
    }
}
