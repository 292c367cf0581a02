//! The envelope as values of the expression language: nothing is copied, and every look is counted.
//!
//! Lists and maps are views of the JSON; texts borrow it. What an evaluation may look at in all is
//! bounded by a [`Meter`], so that no expression runs away however large the payload is. An answer that
//! would need more of a list than is walked is no answer, and the meter says so.

use std::{
    fmt,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use cel::{
    ExecutionError,
    common::{
        traits::{Container, Indexer, Iterable, Iterator as Items, Sizer},
        types::{
            CelBool, CelDouble, CelInt, CelNull, CelString, CelUInt, Kind, LIST_TYPE, MAP_TYPE,
            Type,
        },
        value::{CowVal, Val},
    },
};
use postroom_types::limit::{RULE_LIST_ITEMS, RULE_STEPS, RULE_TEXT_BYTES};
use serde_json::{Map, Value};

/// Bytes of text that one step looks at.
const TEXT_PER_STEP: u64 = 64;

/// How much one event's rules may still look at.
#[derive(Debug)]
pub(super) struct Meter {
    left: AtomicU64,
    exhausted: AtomicU64,
    /// A list or map was walked to the end of what is seen of it, and there is more.
    cut_list: AtomicU64,
    /// A text is longer than what is seen of it.
    cut_text: AtomicU64,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            left: AtomicU64::new(RULE_STEPS),
            exhausted: AtomicU64::new(0),
            cut_list: AtomicU64::new(0),
            cut_text: AtomicU64::new(0),
        }
    }
}

impl Meter {
    /// Takes steps; an error when there are not so many left.
    pub(super) fn take(&self, steps: u64) -> Result<(), ExecutionError> {
        let less = |left: u64| left.checked_sub(steps);
        match self.left.fetch_update(Relaxed, Relaxed, less) {
            Ok(_) => Ok(()),
            Err(_) => {
                self.exhausted.store(1, Relaxed);
                Err(ExecutionError::InternalError("budget".to_owned()))
            }
        }
    }

    /// Whether something asked for more than was left: then no result counts, whatever an
    /// operator that forgives errors made of it.
    pub(super) fn is_exhausted(&self) -> bool {
        self.exhausted.load(Relaxed) != 0
    }

    /// Whether something asked for items past those that are seen: then no result counts either, for
    /// what "all" and "none" say of a part is not so of the whole.
    pub(super) fn wanted_more_items(&self) -> bool {
        self.cut_list.load(Relaxed) != 0
    }

    /// Whether a text was looked at that is longer than what is seen of it.
    pub(super) fn has_cut_text(&self) -> bool {
        self.cut_text.load(Relaxed) != 0
    }
}

/// A value of the envelope.
pub(super) fn of<'a>(
    value: &'a Value,
    meter: &'a Meter,
) -> Result<Box<dyn Val + 'a>, ExecutionError> {
    let text_steps = match value {
        Value::String(text) => text.len().min(RULE_TEXT_BYTES) as u64 / TEXT_PER_STEP,
        _ => 0,
    };
    meter.take(1 + text_steps)?;
    Ok(match value {
        Value::Null => Box::new(CelNull),
        Value::Bool(bool) => Box::new(CelBool::from(*bool)),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => Box::new(CelInt::from(int)),
            (None, Some(uint)) => Box::new(CelUInt::from(uint)),
            (None, None) => Box::new(CelDouble::from(number.as_f64().unwrap_or(f64::NAN))),
        },
        Value::String(text) => {
            if text.len() > RULE_TEXT_BYTES {
                meter.cut_text.store(1, Relaxed);
            }
            Box::new(CelString::from(cut(text)))
        }
        Value::Array(items) => Box::new(ListView {
            items,
            meter,
            values: OnceLock::new(),
        }),
        Value::Object(map) => Box::new(MapView {
            map,
            meter,
            keys: OnceLock::new(),
        }),
    })
}

/// The text up to the bound, at a character's end.
fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(RULE_TEXT_BYTES))
        .unwrap_or(text)
}

/// A list. Its length is known and every item can be asked for; the first items can be walked.
struct ListView<'a> {
    items: &'a [Value],
    meter: &'a Meter,
    values: OnceLock<Vec<Box<dyn Val + 'a>>>,
}

/// An object. Every key can be looked up; the first keys can be walked.
struct MapView<'a> {
    map: &'a Map<String, Value>,
    meter: &'a Meter,
    keys: OnceLock<Vec<Box<dyn Val + 'a>>>,
}

impl<'a> ListView<'a> {
    fn shown(&self) -> &'a [Value] {
        self.items.get(..RULE_LIST_ITEMS).unwrap_or(self.items)
    }

    /// The items as values. Past the budget some are missing, and nothing counts any more.
    fn values(&self) -> &[Box<dyn Val + 'a>] {
        self.values.get_or_init(|| {
            let values = self.shown().iter().map(|item| of(item, self.meter));
            values.map_while(Result::ok).collect()
        })
    }
}

impl<'a> MapView<'a> {
    fn keys(&self) -> &[Box<dyn Val + 'a>] {
        self.keys.get_or_init(|| {
            let keys = self.map.keys().take(RULE_LIST_ITEMS);
            let counted = keys.map_while(|key| self.meter.take(1).is_ok().then_some(key));
            counted
                .map(|key| Box::new(CelString::from(cut(key))) as Box<dyn Val + 'a>)
                .collect()
        })
    }

    fn find(&self, key: &dyn Val) -> Option<&'a Value> {
        let key = key.downcast_ref::<CelString<'_>>()?;
        self.map.get(key.inner())
    }
}

// What an outsider wrote is not for an error's text.
impl fmt::Debug for ListView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "list of {}", self.items.len())
    }
}

impl fmt::Debug for MapView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "map of {}", self.map.len())
    }
}

struct Walk<'b, 'a> {
    rest: std::slice::Iter<'b, Box<dyn Val + 'a>>,
    /// There are more behind these.
    is_cut: bool,
    meter: &'a Meter,
}

impl<'b, 'a: 'v, 'v> Items<'b, 'v> for Walk<'b, 'a> {
    fn next(&mut self) -> Option<&'b (dyn Val + 'v)> {
        let next = self.rest.next();
        if next.is_none() && self.is_cut {
            self.meter.cut_list.store(1, Relaxed);
        }
        next.map(|item| item.as_ref() as &'b (dyn Val + 'v))
    }
}

impl Val for ListView<'_> {
    fn get_type(&self) -> &Type {
        Self::cel_type()
    }

    fn cel_type() -> &'static Type {
        &LIST_TYPE
    }

    fn as_container(&self) -> Option<&dyn Container> {
        Some(self)
    }

    fn as_indexer<'b, 'v>(&'b self) -> Option<&'b (dyn Indexer + 'v)>
    where
        Self: 'v,
    {
        Some(self)
    }

    fn as_iterable<'b, 'v>(&'b self) -> Option<&'b (dyn Iterable + 'v)>
    where
        Self: 'v,
    {
        Some(self)
    }

    fn as_sizer(&self) -> Option<&dyn Sizer> {
        Some(self)
    }

    fn equals(&self, other: &dyn Val) -> bool {
        if other.get_type().kind() != Kind::List {
            return false;
        }
        let (Some(size), Some(iterable)) = (other.as_sizer(), other.as_iterable()) else {
            return false;
        };
        if size.size().inner() != self.size().inner() {
            return false;
        }
        let (mut own, mut others) = (self.iter(), iterable.iter());
        while let Some(item) = own.next() {
            if !others.next().is_some_and(|other| item.equals(other)) {
                return false;
            }
        }
        true
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v>
    where
        Self: 'v,
    {
        Box::new(ListView {
            items: self.items,
            meter: self.meter,
            values: OnceLock::new(),
        })
    }
}

impl Container for ListView<'_> {
    fn contains(&self, value: &dyn Val) -> Result<bool, ExecutionError> {
        let mut items = self.iter();
        while let Some(item) = items.next() {
            if item.equals(value) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Indexer for ListView<'_> {
    fn get<'b, 'v>(&'b self, index: &dyn Val) -> Result<CowVal<'b, 'v>, ExecutionError>
    where
        Self: 'v,
    {
        let unexpected = || ExecutionError::UnexpectedType {
            got: index.get_type().name().to_owned(),
            want: "int".to_owned(),
        };
        let index = index.downcast_ref::<CelInt>().ok_or_else(unexpected)?;
        let item = usize::try_from(*index.inner())
            .ok()
            .and_then(|index| self.items.get(index))
            .ok_or_else(|| ExecutionError::IndexOutOfBounds(cel::Value::Int(*index.inner())))?;
        of(item, self.meter).map(CowVal::Owned)
    }

    fn steal<'v>(self: Box<Self>, index: &dyn Val) -> Result<Box<dyn Val + 'v>, ExecutionError>
    where
        Self: 'v,
    {
        Ok(self.get(index)?.into_owned())
    }
}

impl Iterable for ListView<'_> {
    fn iter<'b, 'v>(&'b self) -> Box<dyn Items<'b, 'v> + 'b>
    where
        Self: 'v,
    {
        Box::new(Walk {
            rest: self.values().iter(),
            is_cut: self.items.len() > RULE_LIST_ITEMS,
            meter: self.meter,
        })
    }
}

impl Sizer for ListView<'_> {
    fn size(&self) -> CelInt {
        CelInt::from(i64::try_from(self.items.len()).unwrap_or(i64::MAX))
    }
}

impl Val for MapView<'_> {
    fn get_type(&self) -> &Type {
        Self::cel_type()
    }

    fn cel_type() -> &'static Type {
        &MAP_TYPE
    }

    fn as_container(&self) -> Option<&dyn Container> {
        Some(self)
    }

    fn as_indexer<'b, 'v>(&'b self) -> Option<&'b (dyn Indexer + 'v)>
    where
        Self: 'v,
    {
        Some(self)
    }

    fn as_iterable<'b, 'v>(&'b self) -> Option<&'b (dyn Iterable + 'v)>
    where
        Self: 'v,
    {
        Some(self)
    }

    fn as_sizer(&self) -> Option<&dyn Sizer> {
        Some(self)
    }

    fn equals(&self, other: &dyn Val) -> bool {
        if other.get_type().kind() != Kind::Map {
            return false;
        }
        let (Some(size), Some(indexer)) = (other.as_sizer(), other.as_indexer()) else {
            return false;
        };
        size.size().inner() == self.size().inner()
            && self.map.iter().all(|(key, value)| {
                let same = |value: Box<dyn Val + '_>| {
                    let other = indexer.get(&CelString::from(key.as_str()));
                    other.is_ok_and(|other| value.equals(other.as_ref()))
                };
                of(value, self.meter).is_ok_and(same)
            })
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v>
    where
        Self: 'v,
    {
        Box::new(MapView {
            map: self.map,
            meter: self.meter,
            keys: OnceLock::new(),
        })
    }
}

impl Container for MapView<'_> {
    fn contains(&self, key: &dyn Val) -> Result<bool, ExecutionError> {
        self.meter.take(1)?;
        Ok(self.find(key).is_some())
    }
}

impl Indexer for MapView<'_> {
    fn get<'b, 'v>(&'b self, key: &dyn Val) -> Result<CowVal<'b, 'v>, ExecutionError>
    where
        Self: 'v,
    {
        let Some(value) = self.find(key) else {
            self.meter.take(1)?;
            return Err(ExecutionError::no_such_key(""));
        };
        of(value, self.meter).map(CowVal::Owned)
    }

    fn steal<'v>(self: Box<Self>, key: &dyn Val) -> Result<Box<dyn Val + 'v>, ExecutionError>
    where
        Self: 'v,
    {
        Ok(self.get(key)?.into_owned())
    }
}

impl Iterable for MapView<'_> {
    fn iter<'b, 'v>(&'b self) -> Box<dyn Items<'b, 'v> + 'b>
    where
        Self: 'v,
    {
        Box::new(Walk {
            rest: self.keys().iter(),
            is_cut: self.map.len() > RULE_LIST_ITEMS,
            meter: self.meter,
        })
    }
}

impl Sizer for MapView<'_> {
    fn size(&self) -> CelInt {
        CelInt::from(i64::try_from(self.map.len()).unwrap_or(i64::MAX))
    }
}
