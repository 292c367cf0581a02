//! Tools that need input from the client before they can answer (modern era).

use std::collections::BTreeMap;

use postroom_mcp::{Call, Fault, InputRequest, InputRequired, Outcome, ToolResult};
use serde_json::{Value, json};

use super::{Fixtures, Visiting};

type Answer = Result<Outcome<ToolResult>, Fault>;
type Wish = (String, InputRequest);

/// Runs one of them; `None` when the name is not one of theirs.
pub(super) fn run(fixtures: &Fixtures, call: &Call<Visiting>, name: &str) -> Option<Answer> {
    Some(match name.strip_prefix("test_input_required_result_")? {
        "elicitation" => greet(call),
        "sampling" => plain(
            call,
            sampling("capital_question", "What is the capital of France?"),
        ),
        "list_roots" => plain(call, roots("client_roots")),
        "request_state" | "tampered_state" => stateful(fixtures, call, name),
        "multiple_inputs" => several(fixtures, call, name),
        "multi_round" => twice(fixtures, call, name),
        "capabilities" => declared(call),
        _ => return None,
    })
}

/// What a person put into a form, when the form was accepted.
pub(super) fn accepted(call: &Call<Visiting>, key: &str) -> Option<Value> {
    let answer = call.input_response(key)?;
    let content = answer.get("content").filter(|content| content.is_object());
    (answer.get("action").and_then(Value::as_str) == Some("accept"))
        .then(|| content.cloned())
        .flatten()
}

/// A form with one field.
pub(super) fn form(key: &str, message: &str, field: &str, kind: &str) -> Wish {
    let schema = json!({
        "type": "object", "properties": { field: { "type": kind } }, "required": [field],
    });
    let params = json!({ "message": message, "requestedSchema": schema });
    wish(key, "elicitation/create", params)
}

fn sampling(key: &str, question: &str) -> Wish {
    let content = json!({ "type": "text", "text": question });
    let messages = json!([{ "role": "user", "content": content }]);
    let params = json!({ "messages": messages, "maxTokens": 100 });
    wish(key, "sampling/createMessage", params)
}

fn roots(key: &str) -> Wish {
    wish(key, "roots/list", json!({}))
}

fn wish(key: &str, method: &'static str, params: Value) -> Wish {
    (key.to_owned(), InputRequest { method, params })
}

fn ask(wishes: impl IntoIterator<Item = Wish>, state: Option<String>) -> Answer {
    Ok(Outcome::InputRequired(InputRequired {
        input_requests: wishes.into_iter().collect::<BTreeMap<_, _>>(),
        request_state: state,
    }))
}

fn done(text: String) -> Answer {
    Ok(ToolResult::text(text).into())
}

fn greet(call: &Call<Visiting>) -> Answer {
    let name =
        accepted(call, "user_name").and_then(|form| Some(form.get("name")?.as_str()?.to_owned()));
    match name {
        Some(name) => done(format!("Hello, {name}!")),
        None => ask(
            [form("user_name", "What is your name?", "name", "string")],
            None,
        ),
    }
}

fn plain(call: &Call<Visiting>, wish: Wish) -> Answer {
    match call.input_response(&wish.0).filter(Value::is_object) {
        Some(answer) => done(format!("The client answered: {answer}")),
        None => ask([wish], None),
    }
}

fn stateful(fixtures: &Fixtures, call: &Call<Visiting>, name: &str) -> Answer {
    let round = fixtures.round(call, name)?;
    if round == 1 && accepted(call, "confirm").is_some() {
        return done("state-ok".to_owned());
    }
    let state = fixtures.sealed(call, name, 1);
    ask(
        [form("confirm", "Please confirm", "ok", "boolean")],
        Some(state),
    )
}

fn several(fixtures: &Fixtures, call: &Call<Visiting>, name: &str) -> Answer {
    let wishes = [
        form("user_name", "What is your name?", "name", "string"),
        sampling("greeting", "Generate a greeting"),
        roots("client_roots"),
    ];
    let complete = wishes.iter().all(|(key, _)| {
        call.input_response(key)
            .is_some_and(|answer| answer.is_object())
    });
    if fixtures.round(call, name)? == 1 && complete {
        return done("All three answers arrived.".to_owned());
    }
    ask(wishes, Some(fixtures.sealed(call, name, 1)))
}

fn twice(fixtures: &Fixtures, call: &Call<Visiting>, name: &str) -> Answer {
    let round = fixtures.round(call, name)?;
    if round == 2 && accepted(call, "step2").is_some() {
        return done("Both steps are done.".to_owned());
    }
    if round == 2 || (round == 1 && accepted(call, "step1").is_some()) {
        let question = form(
            "step2",
            "Step 2: What is your favorite color?",
            "color",
            "string",
        );
        return ask([question], Some(fixtures.sealed(call, name, 2)));
    }
    let question = form("step1", "Step 1: What is your name?", "name", "string");
    ask([question], Some(fixtures.sealed(call, name, 1)))
}

/// Asks only for what the client declared.
fn declared(call: &Call<Visiting>) -> Answer {
    let mut wishes = Vec::new();
    if call.supports("elicitation") {
        wishes.push(form("user_name", "What is your name?", "name", "string"));
    }
    if call.supports("sampling") {
        wishes.push(sampling(
            "capital_question",
            "What is the capital of France?",
        ));
    }
    if wishes.is_empty() {
        return call
            .require("sampling")
            .map(|()| ToolResult::default().into());
    }
    if wishes
        .iter()
        .all(|(key, _)| call.input_response(key).is_some())
    {
        return done("The client answered.".to_owned());
    }
    ask(wishes, None)
}
