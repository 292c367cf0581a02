//! Tools of the suite.

use std::time::Duration;

use postroom_mcp::{Call, Change, Content, Fault, LogLevel, Outcome, ResourceContents, ToolResult};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::catalogue::{AUDIO, IMAGE};
use super::{Fixtures, Visiting, ask, rounds};

/// Between two messages of a tool that reports while it works.
const STEP: Duration = Duration::from_millis(50);
/// The longest that `test_wait` waits, milliseconds.
const WAIT_MS: u64 = 60_000;

/// Runs a tool.
pub(super) async fn run(
    fixtures: &Fixtures,
    call: &Call<Visiting>,
    name: &str,
    arguments: &RawValue,
) -> Result<Outcome<ToolResult>, Fault> {
    if let Some(result) = simple(name) {
        return Ok(result.into());
    }
    if let Some(answer) = rounds::run(fixtures, call, name) {
        return answer;
    }
    let arguments: Value = serde_json::from_str(arguments.get()).unwrap_or_default();
    if let Some(result) = ask::run(call, name, &arguments).await {
        return Ok(result.into());
    }
    let change = match name {
        "test_trigger_tool_change" => Some(Change::Tools),
        "test_trigger_prompt_change" => Some(Change::Prompts),
        "test_trigger_resource_change" => {
            Some(Change::Resource("test://watched-resource".to_owned()))
        }
        _ => None,
    };
    if let Some(change) = change {
        fixtures.announce(change);
        return Ok(ToolResult::text("Announced.").into());
    }
    let result = match name {
        "test_tool_with_progress" => with_progress(call).await,
        "test_tool_with_logging" => with_logging(call).await,
        "test_logging_tool" => {
            call.log(LogLevel::Info, None, &json!("One message."));
            ToolResult::text("Logged.")
        }
        "test_missing_capability" => {
            call.require("sampling")?;
            ToolResult::text("The client can sample.")
        }
        "test_streaming_elicitation" => {
            call.report(1.0, Some(2.0), Some("Working"));
            ToolResult::text("Nothing was asked.")
        }
        "test_custom_header" | "json_schema_2020_12_tool" => {
            ToolResult::text(arguments.to_string())
        }
        "test_structured" => structured(&arguments),
        "test_wait" => wait(call, &arguments).await,
        "test_panic" => panic_inside(),
        _ => return Err(Fault::UnknownTool(name.to_owned())),
    };
    Ok(result.into())
}

fn simple(name: &str) -> Option<ToolResult> {
    let content = match name {
        "test_simple_text" => vec![Content::text("This is a simple text response for testing.")],
        "test_image_content" => vec![image()],
        "test_audio_content" => vec![Content::Audio {
            data: AUDIO.to_owned(),
            mime_type: "audio/wav".to_owned(),
        }],
        "test_embedded_resource" => vec![embedded(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        )],
        "test_multiple_content_types" => vec![
            Content::text("Multiple content types test:"),
            image(),
            embedded(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#,
            ),
        ],
        "test_error_handling" => {
            let text = "This tool intentionally returns an error for testing";
            return Some(ToolResult::error(text));
        }
        _ => return None,
    };
    Some(ToolResult {
        content,
        ..ToolResult::default()
    })
}

fn image() -> Content {
    Content::Image {
        data: IMAGE.to_owned(),
        mime_type: "image/png".to_owned(),
    }
}

fn embedded(uri: &str, mime_type: &str, text: &str) -> Content {
    Content::Resource {
        resource: ResourceContents::text(uri, mime_type, text),
    }
}

async fn with_progress(call: &Call<Visiting>) -> ToolResult {
    for (step, progress) in [0.0, 50.0, 100.0].into_iter().enumerate() {
        if step > 0 {
            sleep(STEP).await;
        }
        let message = format!("Completed step {progress} of 100");
        call.report(progress, Some(100.0), Some(&message));
    }
    ToolResult::text("All steps are done.")
}

async fn with_logging(call: &Call<Visiting>) -> ToolResult {
    let messages = [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ];
    for (step, message) in messages.into_iter().enumerate() {
        if step > 0 {
            sleep(STEP).await;
        }
        call.log(LogLevel::Info, None, &json!(message));
    }
    ToolResult::text("Tool with logging executed successfully")
}

fn structured(arguments: &Value) -> ToolResult {
    let value = json!({ "echo": arguments });
    match serde_json::value::to_raw_value(&value) {
        Ok(json) => ToolResult::structured(json),
        Err(_) => ToolResult::error("The arguments cannot be repeated."),
    }
}

/// Waits until the time is over or the call is told to end, and says which.
async fn wait(call: &Call<Visiting>, arguments: &Value) -> ToolResult {
    let ms = arguments["ms"].as_u64().unwrap_or(WAIT_MS).min(WAIT_MS);
    call.report(0.0, None, Some("Waiting"));
    tokio::select! {
        end = call.ended() => ToolResult::text(format!("Ended early: {end:?}")),
        () = sleep(Duration::from_millis(ms)) => ToolResult::text("Waited."),
    }
}

#[expect(
    clippy::panic,
    reason = "shows that a fault in a tool stays inside its call"
)]
fn panic_inside() -> ToolResult {
    panic!("a tool failed")
}
