//! Shapes that others rely on, as snapshots.

use serde_json::{Map, Value, json};

use crate::served::run;

#[test]
fn help_of_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = String::new();
    for words in [
        &["--help"][..],
        &["serve", "--help"],
        &["import", "--help"],
        &["search", "--help"],
        &["key", "--help"],
        &["mcp", "--help"],
    ] {
        let answer = run(folder.path(), words);
        assert_eq!(answer.exit, 0, "{words:?}");
        text.push_str(&format!("$ postroom {}\n{}\n", words.join(" "), answer.out));
    }
    insta::assert_snapshot!("help", text);
}

#[test]
fn operations_their_routes_and_permissions() {
    let folder = tempfile::tempdir().expect("a folder");
    let listed = run(folder.path(), &["tools", "--json"]).json();
    let tools: Map<String, Value> = listed["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| {
            let inputs: Vec<&String> = tool["inputSchema"]["properties"]
                .as_object()
                .map(|inputs| inputs.keys().collect())
                .unwrap_or_default();
            let outputs: Vec<&String> = tool["outputSchema"]["properties"]
                .as_object()
                .map(|outputs| outputs.keys().collect())
                .unwrap_or_default();
            let shape = json!({
                "toolset": tool["toolset"],
                "permission": tool["permission"],
                "routes": tool["routes"],
                "mcp": tool["mcp"],
                "required": tool["inputSchema"]["required"],
                "inputs": inputs,
                "outputs": outputs,
            });
            (tool["name"].as_str().unwrap_or_default().to_owned(), shape)
        })
        .collect();
    insta::assert_json_snapshot!("operations", tools);
}

#[test]
fn paths_of_the_openapi_document() {
    let folder = tempfile::tempdir().expect("a folder");
    let document = run(folder.path(), &["openapi", "--json"]).json();
    let paths: Map<String, Value> = document["paths"]
        .as_object()
        .expect("paths")
        .iter()
        .map(|(path, methods)| {
            let methods: Map<String, Value> = methods
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(_, described)| described.is_object())
                .map(|(method, described)| {
                    let answers: Vec<&String> = described["responses"]
                        .as_object()
                        .map(|answers| answers.keys().collect())
                        .unwrap_or_default();
                    (
                        method.clone(),
                        json!({"operation": described["operationId"], "answers": answers}),
                    )
                })
                .collect();
            (path.clone(), Value::Object(methods))
        })
        .collect();
    insta::assert_json_snapshot!("openapi", paths);
}
