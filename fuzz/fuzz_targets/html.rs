//! Making text of any HTML never panics.
#![no_main]

libfuzzer_sys::fuzz_target!(|html: &str| {
    let _ = postroom_mail::html_to_text(html);
});
