//! Schemas out of types, published inlined; arguments checked against them.
//!
//! A published schema is a plain object at top level: no `$ref`, no `oneOf`, `anyOf` or `allOf`
//! there. Input schemas refuse what they do not name. Bounds are written on the input types and
//! compared with the contract by a test.

mod check;
mod shape;

use postroom_types::ErrorCode;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::Failure;

pub use check::Checker;
pub(crate) use check::known;

/// The input schema of a type.
pub fn input<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator();
    shape::input(generator.into_root_schema_for::<T>().to_value())
}

/// The output schema of a type.
pub fn output<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .for_serialize()
        .into_generator();
    shape::output(generator.into_root_schema_for::<T>().to_value())
}

/// The output schema of an operation that answers bytes.
pub fn bytes() -> Value {
    Value::Null
}

/// Reads checked arguments into an operation's input.
///
/// # Errors
/// `invalid_request` when the type refuses what the schema let through.
pub fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Failure> {
    serde_json::from_value(arguments)
        .map_err(|_| Failure::invalid("", "the arguments do not fit together"))
}

/// Writes an operation's output as JSON.
///
/// # Errors
/// `internal_error` when the output has no JSON form: a fault of the operation.
pub fn write<T: Serialize>(output: &T) -> Result<Value, Failure> {
    serde_json::to_value(output).map_err(|_| ErrorCode::InternalError.into())
}
