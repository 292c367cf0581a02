//! `egress check`, as an operator calls it.

use serde_json::json;

use crate::served::run;

fn folder(configuration: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let dns = json!({
        "public.example": {"A": ["93.184.216.34"]},
        "inner.example": {"A": ["10.1.2.3"]},
    });
    std::fs::write(folder.path().join("dns.json"), dns.to_string()).expect("written");
    std::fs::write(folder.path().join("postroom.toml"), configuration).expect("written");
    folder
}

#[test]
fn a_url_is_allowed_refused_or_cannot_be_judged() {
    let strict = folder("[egress]\ndns_file = \"dns.json\"\n");
    let wide = folder(
        "[egress]\ndns_file = \"dns.json\"\nallow_cidrs = [\"10.0.0.0/8\"]\nallow_ports = [8443]\n",
    );
    for (folder, url, exit, class) in [
        (&strict, "https://public.example/x", 0, "public"),
        (&strict, "https://inner.example/", 1, "private"),
        (&strict, "https://nobody.example/", 1, "dns_error"),
        (&strict, "https://0x7f000001/", 1, "loopback"),
        (&strict, "http://public.example/", 1, "scheme"),
        (&strict, "-x", 1, "not_a_url"),
        (&strict, "", 1, "not_a_url"),
        (&wide, "https://inner.example:8443/", 0, "operator"),
        (&wide, "https://127.0.0.1:8443/", 1, "loopback"),
    ] {
        let answer = run(folder.path(), &["egress", "check", "--json", "--", url]);
        assert_eq!(answer.exit, exit, "{url}: {answer:?}");
        let said = answer.json();
        assert_eq!(said["class"], class, "{url}");
        assert_eq!(said["allowed"], exit == 0, "{url}");
        assert_eq!(said["retryable"], class == "dns_error", "{url}");
        assert!(!said.to_string().contains("10.1.2.3"), "{url}");
    }
    let answer = run(
        strict.path(),
        &["egress", "check", "https://inner.example/"],
    );
    assert_eq!(answer.exit, 1);
    assert!(
        !answer.out.contains("10.1.2.3") && answer.out.contains("private"),
        "{answer:?}"
    );
}

#[test]
fn an_allowance_that_cannot_be_used_stops_the_start() {
    for (configuration, words) in [
        ("[egress]\nallow_cidrs = [\"10.0.0.0/99\"]\n", "10.0.0.0/99"),
        ("[egress]\nextra_ca = \"missing.pem\"\n", "missing.pem"),
        ("[egress]\ndns_file = \"postroom.toml\"\n", "dns_file"),
        (
            "[egress]\nprovider_base = { resend = \"https://10.0.0.1\" }\n",
            "resend",
        ),
    ] {
        let folder = folder(configuration);
        for words_of_command in [
            &["egress", "check", "https://public.example/"][..],
            &["serve"],
        ] {
            let answer = run(folder.path(), words_of_command);
            assert_eq!(answer.exit, 2, "{configuration}: {answer:?}");
            assert!(answer.err.contains(words), "{configuration}: {answer:?}");
        }
    }
}
