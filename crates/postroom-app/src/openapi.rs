//! The OpenAPI 3.1 document, made from the operation table.

use std::collections::BTreeMap;

use postroom_types::ErrorCode;
use serde_json::{Map, Value, json};

use crate::operation::{DRY_RUN, Handler, Operation, Route, TABLE};

/// Codes that every operation may answer, beside those of its row.
pub(crate) const COMMON_ERRORS: &[ErrorCode] = &[
    ErrorCode::Unauthenticated,
    ErrorCode::KeyExpired,
    ErrorCode::KeyRevoked,
    ErrorCode::PermissionDenied,
    ErrorCode::ScopeDenied,
    ErrorCode::TenantSuspended,
    ErrorCode::RateLimited,
    ErrorCode::InternalError,
    ErrorCode::Unavailable,
];

/// The document of the REST surface at `server_url`.
pub fn openapi(server_url: &str) -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for row in TABLE {
        for (place, route) in row.routes.iter().enumerate() {
            let methods = paths.entry(route.path).or_default();
            // Where rows share a route, the first one documents it.
            methods
                .entry(route.method.to_ascii_lowercase())
                .or_insert_with(|| entry(row, route, place));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Postroom",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "The mail and event room for AI agents.",
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
        },
        "servers": [{"url": server_url}],
        "security": [{"key": []}],
        "tags": crate::operation::Toolset::names().map(|name| json!({"name": name})).collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "An API key."}},
            "schemas": {"Error": error_schema()},
        },
    })
}

fn entry(row: &Operation, route: &Route, place: usize) -> Value {
    let operation_id = match place {
        0 => row.name.to_owned(),
        _ => format!("{}_{}", row.name, place + 1),
    };
    let mut out = json!({
        "operationId": operation_id,
        "summary": row.title,
        "description": row.description,
        "tags": [row.toolset.as_str()],
        "parameters": parameters(row, route),
        "responses": responses(row, route),
        "x-permission": row.permission.as_str(),
        "x-levels": row.levels.iter().map(|level| level.as_str()).collect::<Vec<_>>(),
    });
    if let (Some(body), Some(object)) = (request_body(row, route), out.as_object_mut()) {
        object.insert("requestBody".to_owned(), body);
    }
    out
}

/// Names of the parameters in a path.
fn path_parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn properties(row: &Operation) -> Map<String, Value> {
    match row.input_schema().get("properties") {
        Some(Value::Object(properties)) => properties.clone(),
        _ => Map::new(),
    }
}

/// What of the input neither the path nor the route itself says.
fn remaining(row: &Operation, route: &Route) -> Map<String, Value> {
    let mut properties = properties(row);
    for parameter in path_parameters(route.path) {
        properties.remove(route.argument(parameter));
    }
    for (name, _) in route.binds {
        properties.remove(*name);
    }
    properties
}

fn required(row: &Operation) -> Vec<&str> {
    let list = row.input_schema().get("required").and_then(Value::as_array);
    list.map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

fn has_json_body(row: &Operation, route: &Route) -> bool {
    row.is_tool() && matches!(route.method, "POST" | "PATCH" | "PUT")
}

fn parameters(row: &Operation, route: &Route) -> Vec<Value> {
    let known = properties(row);
    let mut out: Vec<Value> = path_parameters(route.path)
        .map(|parameter| {
            let schema = known.get(route.argument(parameter));
            json!({
                "name": parameter,
                "in": "path",
                "required": true,
                "schema": schema.cloned().unwrap_or_else(|| json!({"type": "string"})),
            })
        })
        .collect();
    if !has_json_body(row, route) {
        let required = required(row);
        for (name, schema) in remaining(row, route) {
            out.push(json!({
                "name": name,
                "in": "query",
                "required": required.contains(&name.as_str()),
                "schema": schema,
            }));
        }
    }
    if row.include.contains(&DRY_RUN) {
        out.push(json!({
            "name": DRY_RUN,
            "in": "query",
            "required": false,
            "description": "Say what would become of it and send nothing: the answer is 200 with would_send and recipients.",
            "schema": {"type": "boolean"},
        }));
    }
    let include: Vec<&str> = row
        .include
        .iter()
        .copied()
        .filter(|value| *value != DRY_RUN)
        .collect();
    if !include.is_empty() {
        out.push(json!({
            "name": "include",
            "in": "query",
            "required": false,
            "explode": false,
            "schema": {"type": "array", "items": {"type": "string", "enum": include}},
        }));
    }
    out
}

fn request_body(row: &Operation, route: &Route) -> Option<Value> {
    if matches!(row.handler, Handler::FileIn(_)) {
        return Some(json!({"required": true, "content": {"*/*": {}}}));
    }
    if matches!(row.handler, Handler::BytesIn(_)) {
        return Some(json!({
            "required": true,
            "content": {"message/rfc822": {}, "application/octet-stream": {}},
        }));
    }
    let properties = remaining(row, route);
    if !has_json_body(row, route) || properties.is_empty() {
        return None;
    }
    let required: Vec<&str> = required(row)
        .into_iter()
        .filter(|name| properties.contains_key(*name))
        .collect();
    Some(json!({
        "required": !required.is_empty(),
        "content": {"application/json": {"schema": {
            "type": "object",
            "additionalProperties": false,
            "required": required,
            "properties": properties,
        }}},
    }))
}

fn responses(row: &Operation, route: &Route) -> Value {
    let mut out = Map::new();
    let content = match row.handler {
        Handler::BytesOut(_) => json!({"message/rfc822": {}}),
        _ => json!({"application/json": {"schema": row.output_schema()}}),
    };
    out.insert(
        route.status.to_string(),
        json!({"description": "Done.", "content": content}),
    );
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in errors(row) {
        by_status
            .entry(code.http_status())
            .or_default()
            .push(code.as_str());
    }
    for (status, codes) in by_status {
        out.insert(
            status.to_string(),
            json!({
                "description": codes.join(", "),
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            }),
        );
    }
    Value::Object(out)
}

/// Every code that an operation may answer, each once.
pub(crate) fn errors(row: &Operation) -> Vec<ErrorCode> {
    let bad_argument = match row.dialect {
        postroom_types::Dialect::Mail => ErrorCode::InvalidRequest,
        postroom_types::Dialect::Events => ErrorCode::InvalidArgument,
    };
    let mut out: Vec<ErrorCode> = std::iter::once(&bad_argument)
        .chain(COMMON_ERRORS)
        .chain(row.errors)
        .copied()
        .collect();
    out.sort_unstable_by_key(|code| code.as_str());
    out.dedup();
    out
}

fn error_schema() -> Value {
    let codes: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {"error": {
            "type": "object",
            "required": ["code", "message", "retryable", "fix", "request_id"],
            "properties": {
                "code": {"type": "string", "enum": codes},
                "message": {"type": "string"},
                "retryable": {"type": "boolean"},
                "fix": {"type": "string"},
                "request_id": {"type": "string"},
                "details": {"type": "object"},
            },
        }},
    })
}
