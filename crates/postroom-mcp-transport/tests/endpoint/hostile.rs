//! Whatever is sent, the answer is a valid message and nothing panics.

use postroom_mcp::envelope::parse;
use postroom_mcp::{Field, Head, Revision, Server, Wire};
use postroom_testkit::conformance::Fixtures;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{MODERN, NOVEMBER, validate};

/// Values that look like what the protocol expects, often enough to get deep.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!(MODERN)),
        Just(json!(NOVEMBER)),
        Just(json!("test_simple_text")),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let name = prop_oneof![
            Just("name".to_owned()),
            Just("uri".to_owned()),
            Just("_meta".to_owned()),
            Just("arguments".to_owned()),
            Just("progressToken".to_owned()),
            Just("protocolVersion".to_owned()),
            Just("io.modelcontextprotocol/protocolVersion".to_owned()),
            Just("io.modelcontextprotocol/clientCapabilities".to_owned()),
            ".{0,6}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(name, inner, 0..5).prop_map(|map| json!(map)),
        ]
    })
}

fn method() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!("initialize")),
        Just(json!("tools/call")),
        Just(json!("tools/list")),
        Just(json!("subscriptions/listen")),
        Just(json!("completion/complete")),
        value(),
    ]
}

/// Takes the bytes as far as they come; a refusal must be a valid message.
fn take(server: &Server<Fixtures>, bytes: &[u8], version: &[u8], name: &[u8]) {
    let none = |_: &str| Field::Absent;
    let head = Head {
        version: Field::Value(version),
        method: Field::Absent,
        name: Field::Value(name),
        parameter: &none,
    };
    for wire in [
        Wire::Http(head),
        Wire::Stdio(None),
        Wire::Stdio(Some(Revision::June2025)),
    ] {
        let refusal = match parse(bytes) {
            Err(rejection) => rejection,
            Ok(message) => {
                let postroom_mcp::envelope::Message::Request(request) = message else {
                    continue;
                };
                match server.prepare(&request, &wire) {
                    Ok(_) => continue,
                    Err(rejection) => rejection,
                }
            }
        };
        let message: Value = serde_json::from_str(&refusal.to_message()).unwrap();
        validate(Revision::November2025, &message);
        assert!((200..600).contains(&refusal.status));
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        version in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        take(&Server::new(Fixtures::default()), &bytes, &version, &bytes);
    }

    #[test]
    fn arbitrary_messages_never_panic(
        id in value(), method in method(), params in value(), modern in any::<bool>(),
    ) {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let version = if modern { MODERN } else { NOVEMBER };
        let server = Server::new(Fixtures::default());
        take(&server, message.to_string().as_bytes(), version.as_bytes(), b"test_simple_text");
    }

    #[test]
    fn an_id_comes_back_byte_for_byte(id in prop_oneof![
        any::<i64>().prop_map(|id| id.to_string()),
        ".{0,20}".prop_map(|id| json!(id).to_string()),
    ]) {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"nonsense"}}"#);
        let message = parse(body.as_bytes()).unwrap();
        prop_assert_eq!(message.request_id().unwrap().get(), id);
    }
}
