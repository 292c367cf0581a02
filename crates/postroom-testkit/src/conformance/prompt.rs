//! Prompts of the suite.

use std::collections::BTreeMap;

use postroom_mcp::{
    Call, Content, Fault, InputRequired, Outcome, PromptMessage, PromptResult, ResourceContents,
    Role,
};

use super::catalogue::IMAGE;
use super::{Visiting, rounds};

/// Fills in a prompt.
pub(super) fn fill(
    call: &Call<Visiting>,
    name: &str,
    arguments: &BTreeMap<String, String>,
) -> Result<Outcome<PromptResult>, Fault> {
    let argument = |name: &str| {
        let missing = || Fault::InvalidParams(format!("The argument {name} is missing."));
        arguments.get(name).cloned().ok_or_else(missing)
    };
    let contents = match name {
        "test_simple_prompt" => vec![Content::text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => vec![Content::text(format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1")?,
            argument("arg2")?
        ))],
        "test_prompt_with_embedded_resource" => {
            let text = "Embedded resource content for testing.";
            let resource = ResourceContents::text(&argument("resourceUri")?, "text/plain", text);
            vec![
                Content::Resource { resource },
                Content::text("Please process the embedded resource above."),
            ]
        }
        "test_prompt_with_image" => vec![
            Content::Image {
                data: IMAGE.to_owned(),
                mime_type: "image/png".to_owned(),
            },
            Content::text("Please analyze the image above."),
        ],
        "test_input_required_result_prompt" => match rounds::accepted(call, "user_context") {
            Some(answer) => vec![Content::text(format!(
                "Use this context: {}",
                answer["context"]
            ))],
            None => {
                let question = "What context should the prompt use?";
                let wish = rounds::form("user_context", question, "context", "string");
                return Ok(Outcome::InputRequired(InputRequired {
                    input_requests: BTreeMap::from([wish]),
                    request_state: None,
                }));
            }
        },
        _ => return Err(Fault::UnknownPrompt(name.to_owned())),
    };
    let messages = contents.into_iter().map(|content| PromptMessage {
        role: Role::User,
        content,
    });
    Ok(Outcome::Complete(PromptResult {
        description: None,
        messages: messages.collect(),
    }))
}
