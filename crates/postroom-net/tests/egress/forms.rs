//! URLs as data: what each is, before anything is dialled.

use std::{collections::BTreeMap, net::IpAddr};

use postroom_net::egress::{Class, Egress, EgressPolicy, Purpose, screen};
use proptest::prelude::*;

use crate::world::{Table, dns_file, egress};

const URLS: &str = include_str!("../../test_data/egress/urls.txt");

fn written(text: &str) -> String {
    [
        ("<TAB>", "\t"),
        ("<LF>", "\n"),
        ("<CR>", "\r"),
        ("<NUL>", "\0"),
        ("<SP>", " "),
    ]
    .iter()
    .fold(text.to_owned(), |text, (name, char)| {
        text.replace(name, char)
    })
}

#[tokio::test]
async fn every_written_form_is_what_the_table_says() {
    let egress = egress(EgressPolicy::default(), dns_file());
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in URLS.lines().filter(|line| !line.starts_with('#')) {
        let (class, url) = line.split_once('\t').expect("class and URL");
        let verdict = egress.check(&written(url), Purpose::Replay).await;
        count += 1;
        if verdict.class.as_str() != class || verdict.allowed != (class == "public") {
            wrong.push(format!(
                "{url}: {} instead of {class}",
                verdict.class.as_str()
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(count > 200);
}

#[test]
fn a_url_that_is_refused_without_its_addresses_is_refused_when_it_is_saved() {
    let policy = EgressPolicy::default();
    for line in URLS.lines().filter(|line| !line.starts_with('#')) {
        let (class, url) = line.split_once('\t').expect("class and URL");
        match screen(&written(url), &policy) {
            Err(refused) => assert_eq!(refused.as_str(), class, "{url}"),
            Ok(screened) if screened.address.is_some() => assert_eq!(class, "public", "{url}"),
            Ok(_) => {}
        }
    }
}

/// Further tables of the same shape, when a folder of them is named.
#[tokio::test]
#[allow(clippy::disallowed_methods)]
async fn given_cases_agree() {
    let Some(folder) = std::env::var_os("POSTROOM_VECTORS") else {
        return;
    };
    let path = std::path::Path::new(&folder).join("ssrf-cases.json");
    let text = std::fs::read_to_string(path).expect("the cases");
    let cases: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let literals = cases["literals"].as_array().expect("literals");
    let mut wrong = Vec::new();
    for case in literals {
        let url = case["input"].as_str().expect("input");
        let answer: Vec<IpAddr> = case["resolver_answer"]
            .as_str()
            .unwrap_or("93.184.216.34")
            .split(',')
            .map(|text| text.trim().parse().expect("an address"))
            .collect();
        let egress = egress(EgressPolicy::default(), Table::always(answer));
        let verdict = egress.check(url, Purpose::Replay).await;
        if verdict.allowed != (case["expect"] == "allow_if_dns_public") {
            wrong.push(format!("{url}: {}", verdict.class.as_str()));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        literals.len(),
        wrong.join("\n")
    );
    println!("{} given literals agree", literals.len());
}

#[tokio::test]
async fn two_private_targets_cannot_be_told_apart() {
    let egress = egress(EgressPolicy::default(), dns_file());
    let mut seen = Vec::new();
    for url in [
        "https://10.0.0.1/",
        "https://192.168.77.9/",
        "https://alias.example/",
        "https://other-private.example/",
        "https://mixed.example/",
    ] {
        let verdict = egress.check(url, Purpose::Replay).await;
        seen.push((verdict, verdict.class.message()));
    }
    seen.dedup();
    assert_eq!(seen.len(), 1);
    for class in Class::ALL {
        assert!(
            !class.message().contains(|char: char| char.is_ascii_digit())
                || matches!(class, Class::Port | Class::TooLong | Class::Translation),
            "{class:?}"
        );
    }
}

#[tokio::test]
async fn the_bound_of_a_url_is_2048_bytes() {
    let egress = egress(EgressPolicy::default(), dns_file());
    let head = "https://public.example/";
    for (bytes, class) in [(2_048, Class::Public), (2_049, Class::TooLong)] {
        let url = format!("{head}{}", "a".repeat(bytes - head.len()));
        assert_eq!(egress.check(&url, Purpose::Replay).await.class, class);
    }
}

#[tokio::test]
async fn a_host_has_at_most_64_addresses() {
    for (count, class) in [(64, Class::Public), (65, Class::DnsError)] {
        let answers = (1..=count)
            .map(|last| IpAddr::from([93, 184, 216, last]))
            .collect();
        let egress = egress(EgressPolicy::default(), Table::always(answers));
        let verdict = egress
            .check("https://public.example/", Purpose::Replay)
            .await;
        assert_eq!(verdict.class, class);
    }
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_never_answers_is_a_failure_that_may_pass() {
    let egress = egress(EgressPolicy::default(), Table::silent());
    let verdict = egress
        .check("https://public.example/", Purpose::Replay)
        .await;
    assert_eq!(verdict.class, Class::DnsError);
    assert!(verdict.class.is_retryable() && !verdict.allowed);
}

#[tokio::test]
async fn the_operator_allows_ports_ranges_and_plain_http() {
    let policy = EgressPolicy {
        allow_cidrs: vec!["10.0.0.0/8".parse().expect("a range")],
        allow_ports: vec!["8000-8999".parse().expect("ports")],
        allow_http: true,
        ..EgressPolicy::default()
    };
    let egress = egress(policy, dns_file());
    for (url, class) in [
        ("https://10.0.0.5/", Class::Operator),
        ("https://alias.example/", Class::Operator),
        ("https://mixed.example/", Class::Operator),
        ("https://other-private.example/", Class::Private),
        ("http://public.example/", Class::Public),
        ("http://public.example:8080/", Class::Public),
        ("https://public.example:8999/", Class::Public),
        ("https://public.example:9000/", Class::Port),
        ("https://public.example:80/", Class::Port),
        ("http://public.example:443/", Class::Port),
        ("http://127.0.0.1:8080/", Class::Loopback),
        ("http://localhost:8080/", Class::LocalName),
        ("https://user@10.0.0.5/", Class::Userinfo),
        ("ftp://10.0.0.5/", Class::Scheme),
    ] {
        assert_eq!(
            egress.check(url, Purpose::Replay).await.class,
            class,
            "{url}"
        );
    }
}

#[tokio::test]
async fn this_server_itself_is_refused_whatever_is_allowed() {
    let policy = EgressPolicy {
        allow_cidrs: vec![
            "127.0.0.0/8".parse().expect("a range"),
            "::1".parse().expect("one"),
        ],
        allow_ports: vec!["1-65535".parse().expect("ports")],
        own_listeners: vec!["127.0.0.1:8025".parse().expect("an address")],
        own_hosts: vec![("public.example".to_owned(), 443)],
        ..EgressPolicy::default()
    };
    let egress = egress(policy, dns_file());
    egress.listens_at("[::]:2525".parse().expect("an address"));
    for (url, class) in [
        ("https://127.0.0.1:8025/", Class::OwnListener),
        ("https://good.example:8025/", Class::OwnListener),
        ("https://127.0.0.2:8025/", Class::Operator),
        ("https://127.0.0.1:8026/", Class::Operator),
        ("https://127.0.0.1:2525/", Class::OwnListener),
        ("https://127.9.9.9:2525/", Class::OwnListener),
        ("https://[::1]:2525/", Class::OwnListener),
        ("https://public.example/x", Class::OwnListener),
        ("https://public.example:8443/x", Class::Public),
    ] {
        assert_eq!(
            egress.check(url, Purpose::Replay).await.class,
            class,
            "{url}"
        );
    }
}

#[test]
fn what_the_operator_wrote_wrong_stops_the_start() {
    let base = |base: &str| EgressPolicy {
        provider_base: BTreeMap::from([("resend".to_owned(), base.to_owned())]),
        ..EgressPolicy::default()
    };
    let nowhere = || Some("/nonexistent/file".into());
    let many = |count| EgressPolicy {
        allow_cidrs: vec!["10.0.0.0/8".parse().expect("a range"); count],
        ..EgressPolicy::default()
    };
    for (policy, message) in [
        (
            base("http://fake.example"),
            "resend cannot be dialled: the URL must use https",
        ),
        (base("https://127.0.0.1:9"), "resend cannot be dialled"),
        (base("https://10.0.0.1"), "private address"),
        (
            base("https://fake.example/?a=b"),
            "not an absolute https URL",
        ),
        (
            EgressPolicy {
                extra_ca: nowhere(),
                ..EgressPolicy::default()
            },
            "extra_ca",
        ),
        (
            EgressPolicy {
                dns_file: nowhere(),
                ..EgressPolicy::default()
            },
            "dns_file",
        ),
        (many(257), "more than 256 entries"),
    ] {
        let error = Egress::new(policy).expect_err("refused").to_string();
        assert!(error.contains(message), "{error}");
    }
    assert!(Egress::new(many(256)).is_ok());
    let egress = Egress::new(base("https://fake.example/v1/")).expect("taken");
    assert_eq!(
        egress.provider_base("resend"),
        Some("https://fake.example/v1")
    );
    assert_eq!(egress.provider_base("postmark"), None);
}

proptest! {
    #[test]
    fn no_spelling_of_a_host_leads_to_an_address_that_is_not_public(
        text in "(https|HTTPS|http)?(://|:|:/|:\\\\)?[a-z0-9A-F%.:@\\[\\]x/\\\\#?。．１２①-]{0,40}",
    ) {
        if let Ok(screened) = screen(&text, &EgressPolicy::default()) {
            prop_assert_eq!(screened.port, 443);
            match screened.address {
                Some(IpAddr::V4(v4)) => prop_assert!(
                    !v4.is_private() && !v4.is_loopback() && !v4.is_link_local()
                        && !v4.is_unspecified() && !v4.is_multicast() && !v4.is_broadcast()
                ),
                Some(IpAddr::V6(v6)) => prop_assert_eq!(v6.to_bits() >> 125, 1),
                None => prop_assert!(screened.host.contains('.')),
            }
        }
    }

    #[test]
    fn every_spelling_of_an_ipv4_address_is_that_address(bits: u32, form in 0..6_usize) {
        let [a, b, c, d] = bits.to_be_bytes();
        let host = match form {
            0 => format!("{a}.{b}.{c}.{d}"),
            1 => format!("{bits}"),
            2 => format!("{bits:#x}"),
            3 => format!("0{bits:o}"),
            4 => format!("{a:#x}.0{b:o}.{}", u32::from(c) * 256 + u32::from(d)),
            _ => format!("{a}。{b}．{c}.%3{}", d % 10),
        };
        let last = if form == 5 { d % 10 } else { d };
        let plain = screen(&format!("https://{a}.{b}.{c}.{last}/"), &EgressPolicy::default());
        let spelt = screen(&format!("https://{host}/"), &EgressPolicy::default());
        prop_assert_eq!(spelt, plain);
    }
}
