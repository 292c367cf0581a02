//! Rules of usernames under domains of ours.

use postroom_types::ErrorCode;

/// Names that no mailbox of a domain of ours may have: those of RFC 2142 and of mail software.
const RESERVED: &[&str] = &[
    "abuse",
    "admin",
    "administrator",
    "bounce",
    "bounces",
    "daemon",
    "devnull",
    "dmarc",
    "do-not-reply",
    "donotreply",
    "journal",
    "listserv",
    "mailer-daemon",
    "mailer.daemon",
    "mailer_daemon",
    "mailerdaemon",
    "majordomo",
    "no-reply",
    "nobody",
    "noreply",
    "null",
    "postmaster",
    "root",
    "sysadmin",
    "system",
    "unsubscribe",
];

/// Longest username.
const USERNAME_CHARS: usize = 24;
/// Longest username with its suffix.
const LOCAL_PART_CHARS: usize = 40;

/// Whether no mailbox of a domain of ours may have this local part.
pub fn is_reserved(local: &str) -> bool {
    RESERVED.binary_search(&local).is_ok()
        || local.starts_with("owner-")
        || local.starts_with("pm-")
        || local.ends_with("-request")
}

/// Checks a username with the suffix that follows it in the local part.
///
/// # Errors
/// The code of the first rule it breaks.
pub fn check_username(username: &str, suffix: &str) -> Result<(), ErrorCode> {
    let folded = crate::fold(username);
    if is_reserved(&folded) {
        return Err(ErrorCode::AddressReserved);
    }
    if !username.is_ascii() {
        return Err(ErrorCode::AddressUnsupported);
    }
    let head = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let well_formed = username.as_bytes().first().is_some_and(head)
        && username.len() <= USERNAME_CHARS
        && username
            .bytes()
            .all(|byte| head(&byte) || b"._-".contains(&byte))
        && !username.contains("..")
        && !username.ends_with('.');
    if !well_formed {
        return Err(ErrorCode::AddressInvalid);
    }
    if username.len() + suffix.len() > LOCAL_PART_CHARS {
        return Err(ErrorCode::LocalPartTooLong);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_names_are_sorted_for_the_search() {
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn each_rule_has_its_code() {
        for (username, suffix, expected) in [
            ("sales.desk", ".acme", Ok(())),
            ("postmaster", "", Err(ErrorCode::AddressReserved)),
            ("Postmáster", "", Err(ErrorCode::AddressReserved)),
            ("owner-x", "", Err(ErrorCode::AddressReserved)),
            ("list-request", "", Err(ErrorCode::AddressReserved)),
            ("jürgen", "", Err(ErrorCode::AddressUnsupported)),
            ("Sales", "", Err(ErrorCode::AddressInvalid)),
            (".sales", "", Err(ErrorCode::AddressInvalid)),
            ("sales.", "", Err(ErrorCode::AddressInvalid)),
            ("a..b", "", Err(ErrorCode::AddressInvalid)),
            ("", "", Err(ErrorCode::AddressInvalid)),
            ("abcdefghijklmnopqrstuvwx", "", Ok(())),
            (
                "abcdefghijklmnopqrstuvwxy",
                "",
                Err(ErrorCode::AddressInvalid),
            ),
            ("abcdefghijklmnopqrstuvwx", ".123456789012345", Ok(())),
            (
                "abcdefghijklmnopqrstuvwx",
                ".1234567890123456",
                Err(ErrorCode::LocalPartTooLong),
            ),
        ] {
            assert_eq!(check_username(username, suffix), expected, "{username:?}");
        }
    }
}
