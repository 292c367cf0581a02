//! Reading an address never panics, and what is read reads back as itself.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(address) = postroom_types::Address::parse(text) {
        assert_eq!(postroom_types::Address::parse(address.base()).as_ref().map(|again| again.base()), Ok(address.base()));
    }
});
