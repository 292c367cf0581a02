//! Rules of usernames under domains of ours.

use postroom_types::ErrorCode;

/// Names and patterns that no mailbox of a domain of ours may have.
pub fn is_reserved(local: &str) -> bool {
    let _ = local;
    false
}

/// Checks a username with the suffix that follows it in the local part.
///
/// # Errors
/// The code of the first rule it breaks.
pub fn check_username(username: &str, suffix: &str) -> Result<(), ErrorCode> {
    let _ = (username, suffix);
    Ok(())
}
