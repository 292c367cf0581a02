//! How the sink behaves.

use std::str::FromStr;

/// A manner: the sink's own, or a recipient's, whose local part begins with its name and may go on
/// with anything behind `-`, `+` or `.`, as in `cut-answer-17@sink.example`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Manner {
    /// It does what it should.
    Well,
    /// `refuse`: 550 to RCPT.
    Refuse,
    /// `defer`: 451 to RCPT.
    Defer,
    /// `greylist`: 451 to the first RCPT for an address, then it takes it.
    Greylist,
    /// `code-NNN`: this code to RCPT.
    Code(u16),
    /// `bye`: 421 to RCPT, and it closes.
    Bye,
    /// `cut-data`: closes right after 354.
    CutData,
    /// `cut-body`: closes within the message.
    CutBody,
    /// `cut-answer`: takes the message and closes without an answer.
    CutAnswer,
    /// `half-answer`: takes the message, says `250 2.` and closes.
    HalfAnswer,
    /// `no-answer`: takes the message and says nothing for as long as it is told to wait.
    NoAnswer,
    /// `early`: says 250 within the message, which it takes as far as it has come, and closes.
    Early,
    /// `delay`: waits before it answers the message.
    Delay,
    /// `soft-fail`: 451 to the message, which it does not take.
    SoftFail,
    /// `hard-fail`: 554 to the message, which it does not take.
    HardFail,
    /// `slow`: answers the message byte by byte.
    Slow,
}

/// What of a transaction a manner is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The answer to a recipient.
    Recipient,
    /// The message and its answer.
    Message,
}

const NAMES: &[(&str, Manner)] = &[
    ("well", Manner::Well),
    ("refuse", Manner::Refuse),
    ("defer", Manner::Defer),
    ("greylist", Manner::Greylist),
    ("bye", Manner::Bye),
    ("cut-data", Manner::CutData),
    ("cut-body", Manner::CutBody),
    ("cut-answer", Manner::CutAnswer),
    ("half-answer", Manner::HalfAnswer),
    ("no-answer", Manner::NoAnswer),
    ("early", Manner::Early),
    ("delay", Manner::Delay),
    ("soft-fail", Manner::SoftFail),
    ("hard-fail", Manner::HardFail),
    ("slow", Manner::Slow),
];

impl Manner {
    /// The manner that a recipient asks for, if one.
    pub fn of_recipient(path: &str) -> Option<Self> {
        let local = path.rsplit_once('@').map_or(path, |(local, _)| local);
        if let Some(rest) = local.strip_prefix("code-") {
            let code = rest.get(..3)?.parse().ok()?;
            return (200..600).contains(&code).then_some(Self::Code(code));
        }
        NAMES.iter().find_map(|(name, manner)| {
            let rest = local.strip_prefix(name)?;
            (rest.is_empty() || rest.starts_with(['-', '+', '.'])).then_some(*manner)
        })
    }

    /// What it is about.
    pub fn turn(self) -> Turn {
        match self {
            Self::Refuse | Self::Defer | Self::Greylist | Self::Code(_) | Self::Bye => {
                Turn::Recipient
            }
            _ => Turn::Message,
        }
    }
}

impl FromStr for Manner {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let whole = NAMES.iter().find(|(name, _)| *name == text);
        let found = whole.map(|(_, manner)| *manner);
        found
            .or_else(|| Self::of_recipient(text).filter(|_| text.starts_with("code-")))
            .ok_or_else(|| {
                let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
                format!("one of {}, code-NNN", names.join(", "))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_part_names_its_manner() {
        for (path, manner) in [
            ("cut-answer@sink.example", Some(Manner::CutAnswer)),
            ("cut-answer-17@sink.example", Some(Manner::CutAnswer)),
            ("cut-data+x@sink.example", Some(Manner::CutData)),
            ("code-452-x@sink.example", Some(Manner::Code(452))),
            ("code-99@sink.example", None),
            ("slowly@sink.example", None),
            ("ann@cut-data.example", None),
        ] {
            assert_eq!(Manner::of_recipient(path), manner, "{path}");
        }
        assert_eq!("early".parse(), Ok(Manner::Early));
        assert_eq!("code-421".parse(), Ok(Manner::Code(421)));
        assert!("earl".parse::<Manner>().is_err());
    }
}
