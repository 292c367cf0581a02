//! One command line taken apart.

use super::{
    path::{self, Path},
    reply::{self, Reply},
};

/// A command with its argument.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command<'a> {
    Data,
    Ehlo(&'a str),
    Helo(&'a str),
    Help,
    Lhlo(&'a str),
    Mail(Path<'a>, &'a str),
    Noop,
    Quit,
    Rcpt(Path<'a>, &'a str),
    Rset,
    StartTls,
    Vrfy,
}

/// The verbs with which a browser that was sent here begins; what follows would be the page's words
/// read as commands.
const HTTP_METHODS: &[&str] = &[
    "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
];

/// Commands of RFC 5321 and its extensions that are known and not offered here.
const NOT_OFFERED: &[&str] = &[
    "ATRN", "AUTH", "BDAT", "BURL", "ETRN", "EXPN", "SAML", "SEND", "SOML", "TURN", "XCLIENT",
    "XFORWARD",
];

/// Reads a line without its CRLF.
pub(super) fn parse(line: &[u8]) -> Result<Command<'_>, Reply> {
    let text = std::str::from_utf8(line).map_err(|_| reply::NOT_TEXT)?;
    if text.chars().any(|c| c.is_control() && c != '\t') {
        return Err(reply::NOT_TEXT);
    }
    // Trailing white space is to be tolerated (RFC 5321 section 4.1.1).
    let text = text.trim_end_matches([' ', '\t']);
    let (verb, argument) = text.split_once(' ').unwrap_or((text, ""));
    let verb = verb.to_ascii_uppercase();
    match verb.as_str() {
        "DATA" => alone(argument, Command::Data),
        "EHLO" => Ok(Command::Ehlo(client_name(argument)?)),
        "HELO" => Ok(Command::Helo(client_name(argument)?)),
        "HELP" => Ok(Command::Help),
        "LHLO" => Ok(Command::Lhlo(client_name(argument)?)),
        "MAIL" => {
            let (path, rest) = keyword_path(argument, "FROM:").ok_or(reply::BAD_SENDER)?;
            Ok(Command::Mail(path, rest))
        }
        "NOOP" => Ok(Command::Noop),
        "QUIT" => alone(argument, Command::Quit),
        "RCPT" => {
            let (path, rest) = keyword_path(argument, "TO:").ok_or(reply::BAD_RECIPIENT)?;
            Ok(Command::Rcpt(path, rest))
        }
        "RSET" => alone(argument, Command::Rset),
        "STARTTLS" => alone(argument, Command::StartTls),
        "VRFY" if argument.is_empty() => Err(reply::ARGUMENT_MISSING),
        "VRFY" => Ok(Command::Vrfy),
        other if HTTP_METHODS.contains(&other) => Err(reply::NOT_HTTP),
        other if NOT_OFFERED.contains(&other) => Err(reply::NOT_OFFERED),
        _ => Err(reply::NOT_A_COMMAND),
    }
}

fn alone<'a>(argument: &str, command: Command<'a>) -> Result<Command<'a>, Reply> {
    if argument.is_empty() {
        Ok(command)
    } else {
        Err(reply::NO_ARGUMENT)
    }
}

/// What follows EHLO: clients write many things there, so any one word up to 255 bytes will do.
fn client_name(argument: &str) -> Result<&str, Reply> {
    let is_name = !argument.is_empty()
        && argument.len() <= 255
        && argument.bytes().all(|byte| byte.is_ascii_graphic());
    if is_name {
        Ok(argument)
    } else {
        Err(reply::BAD_HELO)
    }
}

/// Reads `FROM:<path>` and gives the path and what follows it. Spaces around the colon's word are
/// not in the grammar, and many clients put one there.
fn keyword_path<'a>(argument: &'a str, keyword: &str) -> Option<(Path<'a>, &'a str)> {
    let (word, rest) = argument
        .trim_start_matches(' ')
        .split_at_checked(keyword.len())?;
    if !word.eq_ignore_ascii_case(keyword) {
        return None;
    }
    path::parse(rest.trim_start_matches(' ')).ok()
}

/// What the parameters of `MAIL FROM` say.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct MailParameters {
    /// The size the client declares (RFC 1870).
    pub(super) size: Option<u64>,
    /// `BODY` was given (RFC 6152); both of its values are taken alike.
    body: bool,
    /// Internationalised mail (RFC 6531).
    pub(super) smtputf8: bool,
}

/// Reads the parameters of `MAIL FROM`.
pub(super) fn mail_parameters(text: &str) -> Result<MailParameters, Reply> {
    let mut parameters = MailParameters::default();
    for (keyword, value) in split_parameters(text)? {
        match (keyword.to_ascii_uppercase().as_str(), value) {
            ("SIZE", Some(value)) if parameters.size.is_none() => {
                let is_size = value.len() <= 20 && value.bytes().all(|byte| byte.is_ascii_digit());
                if !is_size {
                    return Err(reply::BAD_PARAMETER);
                }
                // Twenty digits may be more than fits, and are too much in any case.
                parameters.size = Some(value.parse().unwrap_or(u64::MAX));
            }
            ("BODY", Some(value)) if !parameters.body => {
                if !["7BIT", "8BITMIME"].contains(&value.to_ascii_uppercase().as_str()) {
                    return Err(reply::PARAMETER_UNKNOWN);
                }
                parameters.body = true;
            }
            ("SMTPUTF8", None) if !parameters.smtputf8 => parameters.smtputf8 = true,
            ("SIZE" | "BODY" | "SMTPUTF8", _) => return Err(reply::BAD_PARAMETER),
            _ => return Err(reply::PARAMETER_UNKNOWN),
        }
    }
    Ok(parameters)
}

/// Reads the parameters of `RCPT TO`: none is offered.
pub(super) fn no_parameters(text: &str) -> Result<(), Reply> {
    if split_parameters(text)?.is_empty() {
        Ok(())
    } else {
        Err(reply::PARAMETER_UNKNOWN)
    }
}

/// `esmtp-param` of RFC 5321 section 4.1.2: keywords with values that have no space and no `=`.
fn split_parameters(text: &str) -> Result<Vec<(&str, Option<&str>)>, Reply> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    if !text.starts_with(' ') {
        return Err(reply::BAD_PARAMETER);
    }
    text.split(' ')
        .filter(|word| !word.is_empty())
        .map(|word| {
            let (keyword, value) = match word.split_once('=') {
                Some((keyword, value)) => (keyword, Some(value)),
                None => (word, None),
            };
            let is_keyword = keyword.starts_with(|c: char| c.is_ascii_alphanumeric())
                && keyword
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            let is_value = value.is_none_or(|value| {
                !value.is_empty() && !value.contains(['=', '\t']) && !value.contains(' ')
            });
            if is_keyword && is_value {
                Ok((keyword, value))
            } else {
                Err(reply::BAD_PARAMETER)
            }
        })
        .collect()
}
