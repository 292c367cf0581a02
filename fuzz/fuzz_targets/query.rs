//! Every query reads or says where it cannot, and what is read prints and reads back as itself.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    match postroom_query::parse(text) {
        Ok(query) => {
            let printed = query.to_string();
            let again = postroom_query::parse(&printed).map(|query| query.to_string());
            assert_eq!(again.as_deref(), Ok(printed.as_str()));
        }
        Err(error) => assert!(error.position <= text.chars().count()),
    }
});
