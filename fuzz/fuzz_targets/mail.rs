//! Reading any bytes as mail never panics and gives the same twice.
#![no_main]

libfuzzer_sys::fuzz_target!(|raw: &[u8]| {
    let parsed = postroom_mail::parse(raw);
    assert_eq!(parsed, postroom_mail::parse(raw));
    let _ = (postroom_mail::html(raw), postroom_mail::thread_keys(&parsed));
    for index in 0..parsed.attachments.len().min(8) {
        let _ = (postroom_mail::attachment(raw, index), postroom_mail::attachment_text(raw, index));
    }
});
