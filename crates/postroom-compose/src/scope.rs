//! Which variables a place of the document can see.

use crate::model::{Document, Each, Shape, Variable, VariableType};

/// What a path means at some place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A value of that shape.
    Value(Shape),
    /// The name belongs to an `each` that this place is not in.
    OutOfScope,
    /// Nothing of that name is declared.
    Unknown,
}

/// Declared variables and the loops around a place, innermost last.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    declared: Vec<(String, Shape)>,
    loops: Vec<(String, Shape)>,
    /// Names that an `each` somewhere in the document gives.
    loop_names: Vec<String>,
}

impl Scope {
    /// The scope of the body.
    #[must_use]
    pub fn of(document: &Document) -> Self {
        let mut names = Vec::new();
        document.walk(&mut |block| {
            if let crate::model::BlockKind::Each(each) = &block.kind {
                names.push(each.name.clone());
            }
        });
        Self::new(&document.variables, names)
    }

    /// The scope outside all loops, given the names that loops use.
    #[must_use]
    pub fn new(variables: &[Variable], loop_names: Vec<String>) -> Self {
        let declared = variables
            .iter()
            .map(|variable| (variable.name.clone(), variable.shape.clone()))
            .collect();
        Self {
            declared,
            loops: Vec::new(),
            loop_names,
        }
    }

    /// The scope inside `each`.
    pub fn enter(&mut self, each: &Each) {
        self.enter_loop(&each.name, &each.list);
    }

    /// The scope inside a loop over `list` that calls its element `name`.
    pub fn enter_loop(&mut self, name: &str, list: &str) {
        let element = match self.find(list) {
            Found::Value(Shape::List(element)) => *element,
            _ => Shape::Unknown,
        };
        self.loops.push((name.to_owned(), element));
    }

    /// Back outside the innermost loop.
    pub fn leave(&mut self) {
        self.loops.pop();
    }

    /// How many loops are around the place.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.loops.len()
    }

    /// The loop that `path` begins with, counted from the outermost (0), if it does.
    #[must_use]
    pub fn loop_of(&self, path: &str) -> Option<usize> {
        let head = path.split('.').next().unwrap_or(path);
        self.loops.iter().rposition(|(name, _)| name == head)
    }

    /// Name of the loop at that depth, from the outermost (0).
    #[must_use]
    pub fn loop_name(&self, depth: usize) -> Option<&str> {
        self.loops.get(depth).map(|(name, _)| name.as_str())
    }

    /// What `path` means here. Innermost loops win over outer ones, those over declarations.
    #[must_use]
    pub fn find(&self, path: &str) -> Found {
        let (head, rest) = path.split_once('.').unwrap_or((path, ""));
        if let Some((_, shape)) = self.loops.iter().rev().find(|(name, _)| name == head) {
            return match rest {
                "index" => Found::Value(Shape::Scalar(VariableType::Number)),
                "first" | "last" => Found::Value(Shape::Scalar(VariableType::Bool)),
                rest => inside(shape, rest).map_or(Found::Unknown, Found::Value),
            };
        }
        // The longest declared name that is the path or a parent of it.
        let declared = self
            .declared
            .iter()
            .filter_map(|(name, shape)| {
                let rest = path.strip_prefix(name.as_str())?;
                match rest.strip_prefix('.') {
                    Some(rest) => Some((name.len(), shape, rest)),
                    None => rest.is_empty().then_some((name.len(), shape, "")),
                }
            })
            .max_by_key(|(length, ..)| *length);
        if let Some((_, shape, rest)) = declared {
            return inside(shape, rest).map_or(Found::Unknown, Found::Value);
        }
        if self.loop_names.iter().any(|name| name == head) {
            Found::OutOfScope
        } else {
            Found::Unknown
        }
    }

    /// Type of the value at `path`; `None` when it is unknown or not declared.
    #[must_use]
    pub fn kind(&self, path: &str) -> Option<VariableType> {
        match self.find(path) {
            Found::Value(Shape::Scalar(kind)) => Some(kind),
            Found::Value(Shape::List(_)) => Some(VariableType::List),
            Found::Value(Shape::Object(_)) => Some(VariableType::Object),
            _ => None,
        }
    }

    /// Whether a variable is declared whose name is `head` or begins with it and a dot.
    pub(crate) fn declares(&self, head: &str) -> bool {
        let begins = |name: &String| name.split('.').next() == Some(head);
        self.declared.iter().any(|(name, _)| begins(name))
    }

    /// Declared names, loops' names left out.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &str> {
        self.declared.iter().map(|(name, _)| name.as_str())
    }

    /// Names that could be meant, loops' names included.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let loops = self.loops.iter().map(|(name, _)| name.as_str());
        loops.chain(self.declared.iter().map(|(name, _)| name.as_str()))
    }
}

/// The shape at `rest` inside `shape`; `None` when there is no such field.
fn inside(shape: &Shape, rest: &str) -> Option<Shape> {
    if rest.is_empty() {
        return Some(shape.clone());
    }
    let (head, rest) = rest.split_once('.').unwrap_or((rest, ""));
    match shape {
        Shape::Unknown => Some(Shape::Unknown),
        Shape::Object(fields) => {
            let (_, field) = fields.iter().find(|(name, _)| name == head)?;
            inside(field, rest)
        }
        Shape::Scalar(_) | Shape::List(_) => None,
    }
}
