//! From REST requests to arguments.

use postroom_app::operation::{RestRequest, find};
use postroom_types::ErrorCode;
use serde_json::{Value, json};

fn arguments(operation: &str, route: usize, request: RestRequest) -> Result<Value, ErrorCode> {
    let row = find(operation).expect("in the table");
    row.rest_arguments(&row.routes[route], request)
        .map(|call| call.arguments)
        .map_err(|failure| failure.code)
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn parameters_take_the_type_that_the_schema_asks_for() {
    let request = RestRequest {
        path: pairs(&[("identity_id", "idn_1")]),
        query: pairs(&[
            ("limit", "5"),
            ("is_unread", "true"),
            ("needs_reply_gte", "0.5"),
            ("label", "7"),
        ]),
        body: None,
    };
    assert_eq!(
        arguments("mail_list_threads", 0, request),
        Ok(
            json!({"identity": "idn_1", "limit": 5, "is_unread": true, "needs_reply_gte": 0.5, "label": "7"})
        )
    );
}

#[test]
fn what_cannot_be_read_is_left_for_the_check_to_refuse() {
    let request = RestRequest {
        query: pairs(&[("limit", "five"), ("nonsense", "1")]),
        ..RestRequest::default()
    };
    assert_eq!(
        arguments("mail_list_threads", 0, request),
        Ok(json!({"limit": "five", "nonsense": "1"}))
    );
}

#[test]
fn the_body_may_repeat_what_the_path_says_and_not_contradict_it() {
    let request = |identity: &str| RestRequest {
        path: pairs(&[("identity_id", "a@example.com")]),
        query: Vec::new(),
        body: Some(json!({"q": "deposit", "identity": identity})),
    };
    assert!(arguments("mail_search", 0, request("a@example.com")).is_ok());
    assert_eq!(
        arguments("mail_search", 0, request("b@example.com")),
        Err(ErrorCode::InvalidRequest)
    );
}

#[test]
fn a_parameter_given_twice_must_say_the_same() {
    let request = |second: &str| RestRequest {
        query: pairs(&[("limit", "5"), ("limit", second)]),
        ..RestRequest::default()
    };
    assert!(arguments("list_webhook_events", 0, request("5")).is_ok());
    assert_eq!(
        arguments("list_webhook_events", 0, request("6")),
        Err(ErrorCode::InvalidArgument)
    );
}

#[test]
fn a_body_that_is_no_object_is_refused() {
    let request = RestRequest {
        body: Some(json!([1])),
        ..RestRequest::default()
    };
    assert_eq!(
        arguments("mail_search", 0, request),
        Err(ErrorCode::InvalidRequest)
    );
}

#[test]
fn tenant_search_binds_its_scope() {
    let row = find("mail_search").expect("in the table");
    let place = row
        .routes
        .iter()
        .position(|route| route.path == "/v1/tenants/{tenant_id}/search")
        .expect("a route");
    let request = RestRequest {
        path: pairs(&[("tenant_id", "ten_1")]),
        query: Vec::new(),
        body: Some(json!({"q": "x"})),
    };
    assert_eq!(
        arguments("mail_search", place, request),
        Ok(json!({"q": "x", "tenant_id": "ten_1", "scope": "tenant"}))
    );
}
