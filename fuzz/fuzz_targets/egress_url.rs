//! No URL leads to an address that is not public, however it is written, and reading it again from
//! its parts changes nothing.
#![no_main]

use postroom_net::egress::{EgressPolicy, screen};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let closed = EgressPolicy::default();
    let Ok(screened) = screen(text, &closed) else {
        return;
    };
    assert_eq!(screened.port, 443);
    assert!(text.len() <= 2_048 && !text.contains(['\\', '#', '\n', '\t', ' ']));
    match screened.address {
        Some(std::net::IpAddr::V4(v4)) => {
            assert!(!v4.is_private() && !v4.is_loopback() && !v4.is_link_local());
            assert!(!v4.is_unspecified() && !v4.is_multicast() && !v4.is_documentation());
        }
        Some(std::net::IpAddr::V6(v6)) => assert_eq!(v6.to_bits() >> 125, 1),
        None => {
            assert!(screened.host.is_ascii() && screened.host.contains('.'));
            let again = screen(&format!("https://{}/", screened.host), &closed);
            assert_eq!(again.map(|again| again.host), Ok(screened.host));
        }
    }
});
