//! What a server says it can do (RFC 5321 section 4.1.1.1). It may lie: what is offered is used and
//! never trusted.

use super::reply::Reply;

/// The extensions that matter here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Extensions {
    /// RFC 2920.
    pub(super) pipelining: bool,
    /// RFC 6152.
    pub(super) eight_bit: bool,
    /// RFC 6531.
    pub(super) utf8: bool,
    /// RFC 3207.
    pub(super) starttls: bool,
    /// RFC 4954 with RFC 4616.
    pub(super) auth_plain: bool,
    /// AUTH LOGIN, in no standard and in most servers.
    pub(super) auth_login: bool,
    /// RFC 1870.
    pub(super) size: bool,
    /// The largest message, where the server named a size other than 0.
    pub(super) most_bytes: Option<u64>,
}

impl Extensions {
    /// Reads the answer to EHLO or LHLO; its first line is a greeting.
    pub(super) fn read(reply: &Reply) -> Self {
        let mut found = Self::default();
        for line in reply.lines.iter().skip(1) {
            let line = line.to_ascii_uppercase();
            // `AUTH=` is the form of servers before RFC 2554.
            let mut words = line.split([' ', '=']).filter(|word| !word.is_empty());
            match words.next() {
                Some("PIPELINING") => found.pipelining = true,
                Some("8BITMIME") => found.eight_bit = true,
                Some("SMTPUTF8") => found.utf8 = true,
                Some("STARTTLS") => found.starttls = true,
                Some("SIZE") => {
                    found.size = true;
                    let bytes = words.next().and_then(|word| word.parse().ok());
                    found.most_bytes = bytes.filter(|bytes| *bytes > 0);
                }
                Some("AUTH") => {
                    for mechanism in words {
                        found.auth_plain |= mechanism == "PLAIN";
                        found.auth_login |= mechanism == "LOGIN";
                    }
                }
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Extensions {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        Extensions::read(&Reply { code: 250, lines })
    }

    #[test]
    fn keywords_are_read_in_any_case_and_the_greeting_is_none() {
        let found = read(&[
            "pipelining.example STARTTLS",
            "pipelining",
            "SIZE 1000",
            "8BitMime",
            "SMTPUTF8",
            "AUTH CRAM-MD5 login",
            "AUTH=PLAIN",
            "X-WHATEVER STARTTLS",
            "",
        ]);
        let expected = Extensions {
            pipelining: true,
            eight_bit: true,
            utf8: true,
            starttls: false,
            auth_plain: true,
            auth_login: true,
            size: true,
            most_bytes: Some(1000),
        };
        assert_eq!(found, expected);
        assert_eq!(read(&["STARTTLS"]), Extensions::default());
    }

    #[test]
    fn a_size_of_nothing_is_no_bound() {
        for (line, most) in [
            ("SIZE", None),
            ("SIZE 0", None),
            ("SIZE 1", Some(1)),
            ("SIZE -1", None),
            ("SIZE 99999999999999999999999", None),
        ] {
            let found = read(&["x", line]);
            assert!(found.size, "{line}");
            assert_eq!(found.most_bytes, most, "{line}");
        }
    }
}
