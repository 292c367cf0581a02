//! Resources of the suite.

use postroom_mcp::{Fault, ReadResult, ResourceContents};
use serde_json::json;

use super::catalogue::IMAGE;

/// The one template.
pub(super) const TEMPLATE: &str = "test://template/{id}/data";

/// Reads a resource.
pub(super) fn read(uri: &str) -> Result<ReadResult, Fault> {
    let contents = match uri {
        "test://static-text" => ResourceContents::text(
            uri,
            "text/plain",
            "This is the content of the static text resource.",
        ),
        "test://static-binary" => ResourceContents::blob(uri, "image/png", IMAGE),
        "test://watched-resource" => {
            ResourceContents::text(uri, "text/plain", "Watched resource content")
        }
        _ => templated(uri).ok_or_else(|| Fault::UnknownResource(uri.to_owned()))?,
    };
    Ok(ReadResult::fresh(contents))
}

fn templated(uri: &str) -> Option<ResourceContents> {
    let id = uri
        .strip_prefix("test://template/")?
        .strip_suffix("/data")?;
    if id.is_empty() || id.contains('/') {
        return None;
    }
    let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
    Some(ResourceContents::text(
        uri,
        "application/json",
        data.to_string(),
    ))
}
