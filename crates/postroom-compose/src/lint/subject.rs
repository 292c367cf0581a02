//! Subject and preview line.

use crate::{Code, Issue, Source};

use super::words;

/// What is wrong with a subject and a preview line, samples put in.
pub(super) fn check(
    subject: &str,
    preheader: &str,
    subject_at: &Source,
    preheader_at: &Source,
) -> Vec<Issue> {
    let mut issues = self::subject(subject, subject_at);
    let preview = preheader.trim();
    let len = preview.chars().count();
    let mut tell = |code, message: String| issues.push(Issue::new(code, preheader_at, message));
    if preview.is_empty() {
        tell(
            Code::PreheaderMissing,
            "There is no preview line.".to_owned(),
        );
    } else if preview.eq_ignore_ascii_case(subject.trim()) {
        tell(
            Code::PreheaderRepeatsSubject,
            "The preview line is the subject again.".to_owned(),
        );
    } else if len < 40 {
        tell(
            Code::PreheaderShort,
            format!("The preview line has {len} characters."),
        );
    } else if len > 150 {
        tell(
            Code::PreheaderLong,
            format!("The preview line has {len} characters."),
        );
    }
    issues
}

fn subject(subject: &str, at: &Source) -> Vec<Issue> {
    let mut issues = Vec::new();
    let mut tell = |code, message: String| issues.push(Issue::new(code, at, message));
    let text = subject.trim();
    if text.is_empty() {
        tell(Code::SubjectMissing, "There is no subject.".to_owned());
        return issues;
    }
    let len = text.chars().count();
    if len > 70 {
        tell(
            Code::SubjectLong,
            format!("The subject has {len} characters."),
        );
    }
    if words::is_shouted(text) {
        tell(
            Code::SubjectCaps,
            "The subject is written in capitals.".to_owned(),
        );
    }
    let loud = text.chars().filter(|c| matches!(c, '!' | '¡')).count();
    if loud > 1 || text.contains("??") || text.contains("$$") || text.contains("!?") {
        tell(
            Code::SubjectPunctuation,
            "The subject has more marks than one.".to_owned(),
        );
    }
    if words::emoji(text) > 2 {
        tell(
            Code::SubjectEmojiMany,
            format!("The subject has {} emoji.", words::emoji(text)),
        );
    }
    let spam = words::spam(text);
    if !spam.is_empty() {
        tell(
            Code::SubjectSpamWords,
            format!("The subject says \"{}\".", spam.join("\", \"")),
        );
    }
    issues
}
