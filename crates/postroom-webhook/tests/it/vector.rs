//! One recorded request and what must become of it.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use postroom_types::Timestamp;
use postroom_webhook::{
    Candidate, Options, Provider, Received, Rejection, Request, provider, receive,
};
use serde_json::Value;

/// A request with its secrets, clock and settings.
#[derive(Debug, Clone)]
pub(crate) struct Vector {
    pub(crate) id: String,
    pub(crate) provider: String,
    pub(crate) secrets: Vec<String>,
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
    pub(crate) options: Options,
    pub(crate) valid: bool,
    pub(crate) response: Option<Value>,
    pub(crate) expected: BTreeMap<String, Value>,
}

impl Vector {
    pub(crate) fn read(value: &Value) -> Self {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let secrets = match value.get("secret") {
            Some(Value::Array(list)) => list
                .iter()
                .map(|secret| secret.as_str().expect("secret").to_owned())
                .collect(),
            _ => text("secret").into_iter().collect(),
        };
        let headers = value["headers"].as_object().into_iter().flatten();
        let headers = headers.flat_map(|(name, value)| match value {
            Value::Array(list) => list
                .iter()
                .map(|value| (name.clone(), value.as_str().expect("text").into()))
                .collect::<Vec<_>>(),
            value => vec![(name.clone(), value.as_str().expect("text").into())],
        });
        let body = match text("body_base64") {
            Some(encoded) => STANDARD.decode(encoded).expect("Base64"),
            None => text("body").unwrap_or_default().into_bytes(),
        };
        let mut url = text("url").unwrap_or_else(|| "https://postroom.example/in/abc".to_owned());
        if let Some(params) = value.get("params").and_then(Value::as_object) {
            let query = form_urlencoded::Serializer::new(String::new())
                .extend_pairs(
                    params
                        .iter()
                        .map(|(key, value)| (key, value.as_str().expect("text"))),
                )
                .finish();
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(&query);
        }
        Self {
            id: text("id").expect("id"),
            provider: text("provider").expect("provider"),
            secrets,
            method: text("method").unwrap_or_else(|| "POST".to_owned()),
            url,
            headers: headers.collect(),
            body,
            options: Options {
                now: Timestamp::from_ms(value["timestamp"].as_i64().unwrap_or(0) * 1000),
                tolerance_s: value
                    .get("tolerance_s")
                    .and_then(Value::as_u64)
                    .map(|tolerance| u32::try_from(tolerance).expect("small")),
                audience: text("expected_audience"),
                email: text("expected_email"),
                topic_arn: text("topic_arn"),
                webhook_id: text("webhook_id"),
                scheme: text("only_scheme"),
                recorded: value["recorded"].as_bool().unwrap_or(false),
                ..Options::default()
            },
            valid: value["valid"].as_bool().expect("valid"),
            response: value.get("expected_response").cloned(),
            expected: value
                .get("expected")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        }
    }

    pub(crate) fn row(&self) -> &'static Provider {
        provider::find(&self.provider).unwrap_or_else(|| panic!("no row {}", self.provider))
    }

    pub(crate) fn candidates(&self) -> Vec<Candidate> {
        let labels = ["current", "previous"]
            .into_iter()
            .chain(std::iter::repeat("older"));
        self.secrets
            .iter()
            .zip(labels)
            .map(|(secret, label)| Candidate::new(label, secret))
            .collect()
    }

    pub(crate) fn run(&self) -> Result<Received, Rejection> {
        let request = Request {
            method: &self.method,
            url: &self.url,
            headers: &self.headers,
            body: Bytes::from(self.body.clone()),
        };
        receive(self.row(), &self.candidates(), &request, &self.options)
    }
}
