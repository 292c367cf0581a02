//! Values bound to statements.

/// One value bound to a statement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// An integer, an instant or a flag.
    Int(i64),
    /// The same, or null.
    OptInt(Option<i64>),
    /// Text.
    Text(String),
    /// Text, or null.
    OptText(Option<String>),
    /// An id or a short digest.
    Id([u8; 16]),
    /// The same, or null.
    OptId(Option<[u8; 16]>),
    /// Bytes.
    Blob(Vec<u8>),
    /// Bytes, or null.
    OptBlob(Option<Vec<u8>>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Int(signed(value))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<u128> for Value {
    fn from(value: u128) -> Self {
        Self::Id(value.to_be_bytes())
    }
}

impl From<[u8; 16]> for Value {
    fn from(value: [u8; 16]) -> Self {
        Self::Id(value)
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Blob(value.to_vec())
    }
}

/// Numbers of rows and positions never reach 2^63.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// PostgreSQL has no NUL in text, and SQLite's functions stop at one: neither gets any.
pub(super) fn without_nul(text: String) -> String {
    if text.contains('\0') {
        text.replace('\0', "")
    } else {
        text
    }
}

/// What PostgreSQL is given for a placeholder: a value, or the values of a column.
#[derive(Debug)]
pub(super) enum Param {
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
    Ints(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
    BytesList(Vec<Option<Vec<u8>>>),
}

impl From<Value> for Param {
    fn from(value: Value) -> Self {
        match value {
            Value::Int(value) => Self::Int(Some(value)),
            Value::OptInt(value) => Self::Int(value),
            Value::Text(value) => Self::Text(Some(without_nul(value))),
            Value::OptText(value) => Self::Text(value.map(without_nul)),
            Value::Id(value) => Self::Bytes(Some(value.to_vec())),
            Value::OptId(value) => Self::Bytes(value.map(|value| value.to_vec())),
            Value::Blob(value) => Self::Bytes(Some(value)),
            Value::OptBlob(value) => Self::Bytes(value),
        }
    }
}

/// Rows of `width` values each as columns. All values of a column are of one type.
pub(super) fn columns(width: usize, values: Vec<Value>) -> Vec<Param> {
    let rows = values.len() / width.max(1);
    let mut columns: Vec<Param> = Vec::with_capacity(width);
    for (place, value) in values.into_iter().enumerate() {
        let param = Param::from(value);
        let column = place % width.max(1);
        match (columns.get_mut(column), param) {
            (Some(Param::Ints(list)), Param::Int(value)) => list.push(value),
            (Some(Param::Texts(list)), Param::Text(value)) => list.push(value),
            (Some(Param::BytesList(list)), Param::Bytes(value)) => list.push(value),
            // Of the first row. A value of another type than those above it, which no row of ours
            // has, makes a column too many, and the server refuses the statement.
            (_, param) => columns.push(begun(param, rows)),
        }
    }
    columns
}

fn begun(param: Param, rows: usize) -> Param {
    fn list<T>(value: T, rows: usize) -> Vec<T> {
        let mut list = Vec::with_capacity(rows);
        list.push(value);
        list
    }
    match param {
        Param::Int(value) => Param::Ints(list(value, rows)),
        Param::Text(value) => Param::Texts(list(value, rows)),
        Param::Bytes(value) => Param::BytesList(list(value, rows)),
        list => list,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let values = vec![
            Value::Int(1),
            Value::OptText(None),
            Value::Int(2),
            Value::OptText(Some("a\0b".to_owned())),
        ];
        let columns = columns(2, values);
        let [Param::Ints(ints), Param::Texts(texts)] = columns.as_slice() else {
            panic!("{columns:?}");
        };
        assert_eq!(ints.as_slice(), [Some(1), Some(2)]);
        assert_eq!(texts.as_slice(), [None, Some("ab".to_owned())]);
    }
}
