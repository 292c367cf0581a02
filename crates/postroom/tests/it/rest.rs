//! REST, over the operation table.

use postroom_app::operation::{Handler, Route, TABLE};
use postroom_types::{IdentityId, limit};
use serde_json::{Value, json};

use crate::served::{Served, on_both};

/// A route with its parameters filled by ids that are well formed and name nothing.
fn filled(route: &Route, identity: &str) -> String {
    let missing = |prefix: &str| format!("{prefix}_{:026}", 0);
    route
        .path
        .split('/')
        .map(|part| match part {
            "{identity_id}" => identity.to_owned(),
            "{tenant_id}" => missing("ten"),
            "{thread_id}" => missing("thr"),
            "{message_id}" => missing("msg"),
            "{attachment_id}" => missing("att"),
            "{key_id}" => missing("key"),
            "{address_id}" => missing("adr"),
            part if part.starts_with('{') => "1".to_owned(),
            part => part.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("/")
}

#[test]
fn every_route_of_the_table_is_reached_and_answers_in_the_envelope() {
    on_both("serve", async |served| {
        for row in TABLE {
            for route in row.routes {
                let path = filled(route, "idn_00000000000000000000000000");
                let body = (route.method != "GET"
                    && !matches!(row.handler, Handler::BytesIn(_) | Handler::FileIn(_)))
                .then(|| json!({}));
                let nobody = served.ask(route.method, &path, "", body.clone()).await;
                assert_eq!(
                    (nobody.status, nobody.code().as_str()),
                    (401, "unauthenticated"),
                    "{path}"
                );
                assert!(nobody.header("www-authenticate").is_some());
                let reply = served.ask(route.method, &path, served.admin(), body).await;
                assert!(
                    reply
                        .header("request-id")
                        .is_some_and(|id| id.starts_with("req_")),
                    "{path}"
                );
                let limit = if matches!(row.handler, Handler::BytesIn(_)) {
                    "3000"
                } else {
                    "600"
                };
                assert_eq!(reply.header("ratelimit-limit"), Some(limit), "{path}");
                if reply.status >= 400 {
                    let code = reply.code();
                    assert!(
                        !["route_not_found", "method_not_allowed", "internal_error"]
                            .contains(&code.as_str()),
                        "{path}: {reply:?}"
                    );
                }
            }
        }
    });
}

#[test]
fn a_wrong_key_and_no_key_are_told_nothing_apart() {
    on_both("serve", async |served| {
        let unknown = format!("prk_live_{}_{}", "0".repeat(12), "0".repeat(52));
        let mut wrong = served.admin().to_owned();
        wrong.pop();
        wrong.push(if served.admin().ends_with('0') {
            '1'
        } else {
            '0'
        });
        let bodies: Vec<String> = [&unknown, &wrong, &"nonsense".to_owned(), &String::new()]
            .map(async |key: &String| served.ask("GET", "/v1/identities", key, None).await)
            .into_iter()
            .map(|asked| {
                tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(asked))
            })
            .map(|reply| {
                assert_eq!(reply.status, 401);
                reply.without_request_id()
            })
            .collect();
        assert!(
            bodies.windows(2).all(|pair| pair.first() == pair.last()),
            "{bodies:?}"
        );
    });
}

#[test]
fn anothers_mailbox_and_none_are_the_same_bytes() {
    on_both("serve", async |served| {
        let other = served.command(&[
            "tenant", "create", "--slug", "other", "--name", "Other", "--json",
        ]);
        let tenant = other.json()["id"].as_str().expect("an id").to_owned();
        let made = served.command(&[
            "identity",
            "create",
            "--address",
            "theirs@other.example",
            "--tenant-id",
            &tenant,
            "--json",
        ]);
        let theirs = made.json()["id"].as_str().expect("an id").to_owned();
        let missing = IdentityId::from_parts(1, 1).to_string();
        for row in TABLE {
            for route in row
                .routes
                .iter()
                .filter(|route| route.path.contains("{identity_id}"))
            {
                let body = (route.method != "GET"
                    && !matches!(row.handler, Handler::BytesIn(_) | Handler::FileIn(_)))
                .then(|| json!({}));
                for key in [served.admin(), served.key()] {
                    let foreign = served
                        .ask(route.method, &filled(route, &theirs), key, body.clone())
                        .await;
                    let none = served
                        .ask(route.method, &filled(route, &missing), key, body.clone())
                        .await;
                    assert_eq!(
                        foreign.status, none.status,
                        "{} {}",
                        route.method, route.path
                    );
                    assert_eq!(
                        foreign.without_request_id(),
                        none.without_request_id(),
                        "{}",
                        route.path
                    );
                }
            }
        }
    });
}

#[test]
fn bodies_and_methods_that_do_not_fit_are_refused_by_the_table_of_errors() {
    on_both("serve", async |served| {
        let cases = [
            ("DELETE", "/v1/identities", 405, "method_not_allowed"),
            ("GET", "/v1/nothing/here", 404, "route_not_found"),
            ("GET", "/v1/events/%ff", 404, "route_not_found"),
            ("GET", "/v1/identities?limit=0", 400, "invalid_request"),
            ("GET", "/v1/identities?limit=101", 400, "invalid_request"),
            ("GET", "/v1/identities?no_such=1", 400, "invalid_request"),
            (
                "GET",
                "/v1/identities?cursor=c_nonsense",
                400,
                "invalid_request",
            ),
            ("GET", "/v1/events?limit=201", 400, "invalid_argument"),
        ];
        for (method, path, status, code) in cases {
            let reply = served.ask(method, path, served.admin(), None).await;
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (status, code),
                "{path}"
            );
            assert_eq!(reply.header("allow").is_some(), status == 405, "{path}");
        }
        let post = |kind: &'static str, body: Vec<u8>| {
            let request = served
                .http
                .post(format!("{}/v1/identities", served.text("url")))
                .bearer_auth(served.admin());
            async move {
                request
                    .header("content-type", kind)
                    .body(body)
                    .send()
                    .await
                    .expect("an answer")
                    .status()
                    .as_u16()
            }
        };
        assert_eq!(post("text/plain", b"{}".to_vec()).await, 415);
        assert_eq!(post("application/json", b"{".to_vec()).await, 400);
        assert_eq!(
            post(
                "application/json",
                vec![b' '; limit::REQUEST_BODY_BYTES + 1]
            )
            .await,
            413
        );
    });
}

#[test]
fn a_mail_at_the_bound_is_kept_and_one_past_it_is_refused_where_its_sender_sees_it() {
    on_both("serve", async |served| {
        let identity = served.command(&["identity", "list", "--json"]).json()["data"][0]["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        let path = format!("/v1/identities/{identity}/inbound/raw");
        let post = async |url: String, kind: &'static str, length: usize| {
            let mut body = b"From: a@b.example\r\n\r\n".to_vec();
            body.resize(length, b'x');
            let request = served.http.post(url).bearer_auth(served.key());
            let request = request.header("content-type", kind).body(body);
            request.send().await.expect("an answer").status().as_u16()
        };
        let raw = format!("{}{path}", served.text("url"));
        assert_eq!(
            post(raw.clone(), "message/rfc822", limit::RAW_MAIL_BYTES).await,
            202
        );
        assert_eq!(
            post(raw, "message/rfc822", limit::RAW_MAIL_BYTES + 1).await,
            413
        );
        let mcp = served.text("mcp_url").to_owned();
        let past = limit::REQUEST_BODY_BYTES + 1;
        assert_eq!(post(mcp, "application/json", past).await, 413);
    });
}

#[test]
fn only_our_own_names_come_in() {
    on_both("serve", async |served| {
        let asked = |name: &'static str, value: &'static str| {
            let request = served
                .http
                .get(format!("{}/v1/identities", served.text("url")))
                .bearer_auth(served.admin());
            async move {
                request
                    .header(name, value)
                    .send()
                    .await
                    .expect("an answer")
                    .status()
                    .as_u16()
            }
        };
        assert_eq!(asked("host", "evil.example").await, 403);
        assert_eq!(asked("origin", "http://evil.example").await, 403);
        assert_eq!(asked("accept", "*/*").await, 200);
    });
}

#[test]
fn the_owner_link_opens_the_page_once() {
    on_both("serve", async |served| {
        let no_redirects = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .expect("a client");
        let page = format!("{}/", served.text("url"));
        let anonymous = no_redirects.get(&page).send().await.expect("an answer");
        assert!(anonymous.headers().contains_key("content-security-policy"));
        let anonymous = anonymous.text().await.expect("a page");
        assert!(
            anonymous.contains("/mcp") && !anonymous.contains("Messages"),
            "{anonymous}"
        );
        let first = no_redirects
            .get(served.text("owner_link"))
            .send()
            .await
            .expect("an answer");
        assert_eq!(first.status().as_u16(), 303);
        let cookie = first.headers()["set-cookie"]
            .to_str()
            .expect("text")
            .to_owned();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"));
        let session = cookie.split(';').next().expect("a pair").to_owned();
        let signed_in = no_redirects
            .get(&page)
            .header("cookie", &session)
            .send()
            .await
            .expect("an answer");
        assert!(signed_in.text().await.expect("a page").contains("Messages"));
        let again = no_redirects
            .get(served.text("owner_link"))
            .send()
            .await
            .expect("an answer");
        assert_eq!(again.status().as_u16(), 404);
        let left = no_redirects
            .post(format!("{page}leave"))
            .header("cookie", &session)
            .send()
            .await
            .expect("an answer");
        assert_eq!(left.status().as_u16(), 303);
        let after = no_redirects
            .get(&page)
            .header("cookie", &session)
            .send()
            .await
            .expect("an answer");
        assert!(!after.text().await.expect("a page").contains("Messages"));
    });
}

#[test]
fn a_revoked_key_ends_with_its_next_request() {
    on_both("serve", async |served| {
        let made = served
            .command(&[
                "key",
                "create",
                "short",
                "--as",
                "agent@localhost",
                "--json",
            ])
            .json();
        let secret = made["secret"].as_str().expect("a secret");
        assert_eq!(
            served
                .ask("GET", "/v1/identities", secret, None)
                .await
                .status,
            200
        );
        let revoked = served.command(&[
            "key",
            "revoke",
            made["id"].as_str().expect("an id"),
            "--json",
        ]);
        assert_eq!(revoked.exit, 0, "{revoked:?}");
        let reply = served.ask("GET", "/v1/identities", secret, None).await;
        assert_eq!((reply.status, reply.code().as_str()), (401, "key_revoked"));
    });
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the key ends by the clock of the server, which is this machine's"
)]
async fn an_expired_key_is_told_so() {
    let served = Served::configured("rate_key = 1000000\nrate_tenant = 1000000\n");
    let soon = std::time::SystemTime::now() + std::time::Duration::from_secs(1);
    let soon = soon.duration_since(std::time::UNIX_EPOCH).expect("a time");
    let soon = postroom_types::Timestamp::from_ms(i64::try_from(soon.as_millis()).expect("a time"));
    let made = served.command(&[
        "key",
        "create",
        "brief",
        "--as",
        "agent@localhost",
        "--expires-at",
        &soon.to_string(),
        "--json",
    ]);
    let secret = made.json()["secret"].as_str().map(str::to_owned);
    let secret = secret.unwrap_or_else(|| panic!("{made:?}"));
    let mut reply = served.ask("GET", "/v1/identities", &secret, None).await;
    while reply.status == 200 {
        reply = served.ask("GET", "/v1/identities", &secret, None).await;
    }
    assert_eq!((reply.status, reply.code().as_str()), (401, "key_expired"));
    // A key that was never one is told less.
    let wrong = format!("{secret}x");
    let reply = served.ask("GET", "/v1/identities", &wrong, None).await;
    assert_eq!(reply.code(), "unauthenticated");
}

#[test]
fn the_request_after_the_last_allowed_one_is_told_when_to_come_back() {
    on_both("serve", async |served| {
        let made = served
            .command(&["key", "create", "busy", "--as", "agent@localhost", "--json"])
            .json();
        let key = made["secret"].as_str().expect("a secret");
        let mut limited = None;
        // The window may turn once while the test runs.
        for _ in 0..=limit::RATE_KEY_PER_MINUTE * 2 {
            let reply = served.ask("GET", "/v1/identities?limit=1", key, None).await;
            if reply.status == 429 {
                limited = Some(reply);
                break;
            }
            assert_eq!(reply.status, 200);
        }
        let limited = limited.expect("a refusal");
        assert_eq!(limited.code(), "rate_limited");
        assert_eq!(limited.json()["error"]["details"]["bucket"], json!("key"));
        assert!(
            limited.header("retry-after").is_some() && limited.header("ratelimit-reset").is_some()
        );
        assert_eq!(limited.header("ratelimit-limit"), Some("600"));
    });
}

#[test]
fn the_document_describes_every_route() {
    on_both("serve", async |served| {
        let document = served.ask("GET", "/openapi.json", "", None).await.json();
        assert_eq!(document["openapi"], json!("3.1.0"));
        for row in TABLE {
            for route in row.routes {
                let described = document["paths"][route.path].get(route.method.to_lowercase());
                assert!(
                    described.is_some_and(Value::is_object),
                    "{} {}",
                    route.method,
                    route.path
                );
            }
        }
    });
}

#[test]
fn a_body_in_another_charset_and_a_name_that_stands_twice_are_refused() {
    on_both("serve", async |served| {
        let send = |path: &str, kind: &'static str, body: &'static str| {
            let request = served
                .http
                .post(format!("{}{path}", served.text("url")))
                .bearer_auth(served.admin())
                .header("content-type", kind)
                .header("accept", "application/json")
                .header("mcp-protocol-version", "2025-11-25")
                .body(body);
            async move {
                let response = request.send().await.expect("an answer");
                let status = response.status().as_u16();
                (status, response.text().await.expect("a body"))
            }
        };
        let key = r#"{"name":"twice","name":"once","level":"tenant"}"#;
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        for charset in ["iso-8859-1", "utf-16", "\"windows-1252\""] {
            let kind: &'static str = format!("application/json; charset={charset}").leak();
            for (path, body) in [("/v1/keys", key), ("/mcp", ping)] {
                let (status, text) = send(path, kind, body).await;
                assert_eq!(status, 415, "{charset} {path}: {text}");
            }
        }
        let (status, text) = send("/mcp", "application/json; charset=\"UTF-8\"", ping).await;
        assert_eq!(status, 200, "{text}");
        let (status, text) = send("/v1/keys", "application/json;charset=utf-8", key).await;
        assert!(status == 400 && text.contains("invalid_request"), "{text}");
        assert!(
            text.contains("\"name\"") && text.contains("twice"),
            "{text}"
        );
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mail_search",
            "arguments":{"scope":"tenant","q":"a","q":"b"}}}"#;
        let (status, text) = send("/mcp", "application/json", call).await;
        assert!(status == 200 && text.contains("invalid_request"), "{text}");
        assert!(
            text.contains("isError") && text.contains("stands twice"),
            "{text}"
        );
    });
}

#[test]
fn who_sends_a_large_body_still_reads_the_refusal() {
    on_both("serve", async |served| {
        let body = "x".repeat(6 * 1024 * 1024);
        let keys = format!("{}/v1/keys", served.text("url"));
        let nowhere = format!("{}/v1/nowhere", served.text("url"));
        let mcp = served.text("mcp_url");
        for (method, url, key, kind, status) in [
            ("POST", keys.as_str(), "", "application/json", 401),
            ("POST", &keys, "prk_live_wrong", "application/json", 401),
            ("POST", &keys, served.admin(), "text/html", 415),
            ("PUT", &keys, served.admin(), "application/json", 405),
            ("POST", &nowhere, served.admin(), "application/json", 404),
            ("POST", mcp, "", "text/html", 415),
            ("PUT", mcp, "", "application/json", 405),
        ] {
            let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
            let request = served
                .http
                .request(method.clone(), url)
                .bearer_auth(key)
                .header("content-type", kind)
                .body(body.clone());
            let answered = request.send().await.expect("an answer");
            assert_eq!(answered.status().as_u16(), status, "{method} {url} {kind}");
            assert!(!answered.text().await.expect("a body").is_empty());
        }
    });
}

#[test]
fn a_domain_of_another_tenant_says_nothing_of_its_addresses() {
    on_both("serve", async |served| {
        let made = served
            .command(&["tenant", "create", "--slug", "other", "--json"])
            .json();
        let tenant = made["id"].as_str().expect("an id");
        let made = served.command(&[
            "key",
            "create",
            "other",
            "--level",
            "tenant",
            "--tenant-id",
            tenant,
            "--permissions",
            "identities:read,identities:write",
            "--json",
        ]);
        let secret = made.json()["secret"].as_str().map(str::to_owned);
        let key = secret.unwrap_or_else(|| panic!("{made:?}"));
        let first = json!({"address": "ann@shore.example"});
        let reply = served
            .ask("POST", "/v1/identities", served.admin(), Some(first))
            .await;
        assert_eq!(reply.status, 201, "{reply:?}");
        let mut bodies = Vec::new();
        for body in [
            json!({"address": "ann@shore.example"}),
            json!({"address": "nobody@shore.example"}),
            json!({"username": "ann", "domain": "SHORE.example"}),
        ] {
            let reply = served.ask("POST", "/v1/identities", &key, Some(body)).await;
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (409, "domain_unavailable")
            );
            bodies.push(reply.without_request_id());
        }
        assert!(
            bodies.windows(2).all(|pair| pair[0] == pair[1]),
            "{bodies:?}"
        );
        // Under the deployment's own domain a tenant has the names that end with its suffix.
        for address in ["agent@localhost", "nobody@localhost"] {
            let body = json!({"address": address});
            let reply = served.ask("POST", "/v1/identities", &key, Some(body)).await;
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (400, "address_reserved")
            );
        }
        let body = json!({"username": "agent"});
        let reply = served.ask("POST", "/v1/identities", &key, Some(body)).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        let own = json!({"address": "eve@other.example"});
        let reply = served.ask("POST", "/v1/identities", &key, Some(own)).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        let path = format!(
            "/v1/identities/{}/addresses",
            reply.json()["id"].as_str().expect("an id")
        );
        for address in ["ann@shore.example", "nobody@shore.example"] {
            let body = json!({"address": address});
            let reply = served.ask("POST", &path, &key, Some(body)).await;
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (409, "domain_unavailable")
            );
        }
    });
}

#[test]
fn a_thread_is_put_away_and_taken_back() {
    on_both("demo", async |served| {
        let listed = served
            .ask("GET", "/v1/identities?limit=1", served.key(), None)
            .await;
        let identity = listed.json()["data"][0]["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        let threads = format!("/v1/identities/{identity}/threads");
        let listed = served.ask("GET", &threads, served.key(), None).await;
        let thread = listed.json()["data"][0]["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        let path = format!("{threads}/{thread}");
        let away = json!({"archived": true, "labels_add": ["handled"]});
        let reply = served.ask("PATCH", &path, served.key(), Some(away)).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(reply.json()["archived"], json!(true));
        assert!(reply.json()["labels"].to_string().contains("handled"));
        for (query, listed) in [("", false), ("?archived=true", true)] {
            let reply = served
                .ask("GET", &format!("{threads}{query}"), served.key(), None)
                .await;
            assert_eq!(reply.body.contains(&thread), listed, "{query}: {reply:?}");
        }
        let back = json!({"archived": false});
        let reply = served.ask("PATCH", &path, served.key(), Some(back)).await;
        assert_eq!(reply.json()["archived"], json!(false), "{reply:?}");
        let reply = served
            .ask("PATCH", &path, served.key(), Some(json!({})))
            .await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (400, "invalid_request")
        );
    });
}
