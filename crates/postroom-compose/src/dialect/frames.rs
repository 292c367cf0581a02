//! Loops and sections around a place of a template.

/// One loop or section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Frame {
    /// A loop: the name of its element and the list's path as it is written outside.
    Loop { name: String, list: String },
    /// A section that makes paths relative to the value of that path.
    Section(String),
}

/// All of them, innermost last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frames(pub(crate) Vec<Frame>);

/// What a path refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reference<'a> {
    /// A variable of the sender.
    Root(&'a str),
    /// The element of a loop, or with a rest a field of it.
    Item {
        /// Frames between here and inside the loop.
        up: usize,
        name: &'a str,
        rest: &'a str,
    },
    /// Position of the element, from 1.
    Index(Place<'a>),
    /// Whether it is the first.
    First(Place<'a>),
    /// Whether it is the last.
    Last(Place<'a>),
}

/// A loop that a position is asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    pub(crate) name: &'a str,
    /// Loops further in.
    pub(crate) loops_in: usize,
    /// Number among the loops, the outermost 0.
    pub(crate) number: usize,
}

impl Frames {
    /// What `path` refers to here.
    pub(crate) fn reference<'a>(&'a self, path: &'a str) -> Reference<'a> {
        let (head, rest) = path.split_once('.').unwrap_or((path, ""));
        let found = self
            .0
            .iter()
            .enumerate()
            .rev()
            .find_map(|(index, frame)| match frame {
                Frame::Loop { name, .. } if name == head => Some((index, name)),
                _ => None,
            });
        let Some((index, name)) = found else {
            return Reference::Root(path);
        };
        let loops = |frames: &[Frame]| {
            frames
                .iter()
                .filter(|frame| matches!(frame, Frame::Loop { .. }))
                .count()
        };
        let place = Place {
            name,
            loops_in: loops(self.0.get(index + 1..).unwrap_or_default()),
            number: loops(self.0.get(..index).unwrap_or_default()),
        };
        match rest {
            "index" => Reference::Index(place),
            "first" => Reference::First(place),
            "last" => Reference::Last(place),
            rest => Reference::Item {
                up: self.0.len() - index - 1,
                name,
                rest,
            },
        }
    }

    /// The frames outside the loop of that number and the path of its list there.
    pub(crate) fn outside(&self, number: usize) -> Option<(Self, &str)> {
        let mut seen = 0;
        for (index, frame) in self.0.iter().enumerate() {
            if let Frame::Loop { list, .. } = frame {
                if seen == number {
                    let outer = self.0.get(..index).unwrap_or_default().to_vec();
                    return Some((Self(outer), list));
                }
                seen += 1;
            }
        }
        None
    }
}
