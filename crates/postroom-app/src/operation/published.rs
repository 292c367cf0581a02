//! What the rows publish: schemas, made once.

use std::sync::LazyLock;

use serde_json::Value;

use super::{Operation, TABLE};
use crate::schema::Checker;

struct Published {
    name: &'static str,
    input: Value,
    output: Value,
    checker: Checker,
}

static PUBLISHED: LazyLock<Vec<Published>> = LazyLock::new(|| {
    TABLE
        .iter()
        .map(|row| {
            let input = (row.input)();
            Published {
                name: row.name,
                checker: Checker::new(&input),
                output: (row.output)(),
                input,
            }
        })
        .collect()
});

static NOTHING: Value = Value::Null;

impl Operation {
    /// The input schema: a plain object that refuses arguments it does not name.
    pub fn input_schema(&self) -> &'static Value {
        published(self).map_or(&NOTHING, |found| &found.input)
    }

    /// The output schema; null for an operation that answers bytes.
    pub fn output_schema(&self) -> &'static Value {
        published(self).map_or(&NOTHING, |found| &found.output)
    }

    /// The compiled input schema.
    pub(crate) fn checker(&self) -> Option<&'static Checker> {
        published(self).map(|found| &found.checker)
    }
}

fn published(row: &Operation) -> Option<&'static Published> {
    PUBLISHED.iter().find(|found| found.name == row.name)
}
