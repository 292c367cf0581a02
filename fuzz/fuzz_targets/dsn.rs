//! Reading any bytes as a delivery report never panics and gives the same twice.
#![no_main]

libfuzzer_sys::fuzz_target!(|raw: &[u8]| {
    let report = postroom_mail::dsn::read(raw);
    assert_eq!(report, postroom_mail::dsn::read(raw));
    for recipient in report.iter().flat_map(|report| &report.recipients) {
        assert!(recipient.address.contains('@'));
        let _ = recipient.fate();
    }
});
