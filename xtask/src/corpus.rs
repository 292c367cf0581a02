//! A Maildir of made-up mails: the same bytes for the same count, with words as frequent as in
//! language (Zipf), threads, quotes, HTML, attachments and newsletters.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Result;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many mails.
    #[arg(long, default_value_t = 20_000)]
    count: usize,
    /// The folder to make; must not exist yet.
    #[arg(long)]
    out: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let bytes = maildir(&options.out, options.count)?;
    println!(
        "{} mails, {:.1} MB in {}",
        options.count,
        bytes as f64 / 1e6,
        options.out.display()
    );
    Ok(())
}

/// Writes a Maildir of `count` mails and returns the bytes of all of them.
pub(crate) fn maildir(folder: &Path, count: usize) -> Result<u64> {
    anyhow::ensure!(!folder.exists(), "{} exists already", folder.display());
    for part in ["cur", "new", "tmp"] {
        std::fs::create_dir_all(folder.join(part))?;
    }
    let mut bytes = 0;
    for index in 0..count {
        let mail = mail(index);
        bytes += mail.len() as u64;
        let flags = if index % 3 == 0 { "" } else { "S" };
        std::fs::write(
            folder
                .join("cur")
                .join(format!("17000{index:08}.M{index}.made:2,{flags}")),
            mail,
        )?;
    }
    Ok(bytes)
}

/// One mail; the same bytes for the same index.
pub(crate) fn mail(index: usize) -> String {
    let mut random = Random::new(index as u64);
    let thread = index / 4;
    let place = index % 4;
    let from = person(&mut Random::new((thread * 7 + place % 2) as u64));
    let to = person(&mut Random::new((thread * 7 + 1 - place % 2) as u64));
    let subject = words(&mut Random::new(thread as u64 + 1_000_000), 5);
    let day = 1 + (index / 600) % 28;
    let month = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ][(index / 17_000) % 12];
    let mut mail = String::with_capacity(4_096);
    let _ = write!(
        mail,
        "Return-Path: <{from_address}>\r\nReceived: from relay.example by mx.example with ESMTPS id {index:x}; {day} {month} 2025 {hour:02}:{minute:02}:09 +0000\r\n\
         From: {from_name} <{from_address}>\r\nTo: {to_name} <{to_address}>\r\nSubject: {re}{subject}\r\nDate: {day} {month} 2025 {hour:02}:{minute:02}:07 +0000\r\n\
         Message-ID: <{index}.made@mail.example>\r\nMIME-Version: 1.0\r\n",
        from_name = from.0,
        from_address = from.1,
        to_name = to.0,
        to_address = to.1,
        re = if place > 0 { "Re: " } else { "" },
        hour = index % 24,
        minute = index % 60,
    );
    if place > 0 {
        let root = thread * 4;
        let _ = write!(
            mail,
            "In-Reply-To: <{}.made@mail.example>\r\nReferences: <{root}.made@mail.example>",
            index - 1
        );
        for earlier in root + 1..index {
            let _ = write!(mail, "\r\n <{earlier}.made@mail.example>");
        }
        mail.push_str("\r\n");
    }
    let body = paragraphs(&mut random, index, place);
    match index % 10 {
        0 | 1 => html_mail(&mut mail, &body, index),
        2 => attachment_mail(&mut mail, &body, &mut random, index),
        _ => {
            mail.push_str("Content-Type: text/plain; charset=utf-8\r\n\r\n");
            mail.push_str(&body);
        }
    }
    mail
}

fn paragraphs(random: &mut Random, index: usize, place: usize) -> String {
    let mut body = String::new();
    for _ in 0..2 + random.below(5) {
        let count = 20 + random.below(50);
        let line = words(random, count);
        for chunk in line.split(' ').collect::<Vec<_>>().chunks(11) {
            body.push_str(&chunk.join(" "));
            body.push_str("\r\n");
        }
        body.push_str("\r\n");
    }
    let _ = write!(
        body,
        "Reference INV-{:05} and booking BK{:06}.\r\n",
        10_000 + index,
        index * 13 % 1_000_000
    );
    if place > 0 {
        body.push_str("\r\nOn Tue, 3 Jun 2025 at 10:12, a colleague wrote:\r\n");
        for _ in 0..6 {
            let _ = write!(body, "> {}\r\n", words(random, 10));
        }
    }
    body
}

fn html_mail(mail: &mut String, body: &str, index: usize) {
    let boundary = format!("made-{index}");
    let _ = write!(
        mail,
        "Content-Type: multipart/alternative; boundary=\"{boundary}\"\r\n\r\n--{boundary}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{body}\r\n\
         --{boundary}\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html><head><style>.x {{ color: #333 }}</style></head><body><table><tr><td class=\"x\">{}</td></tr></table></body></html>\r\n--{boundary}--\r\n",
        body.replace("\r\n\r\n", "</p><p>"),
    );
}

fn attachment_mail(mail: &mut String, body: &str, random: &mut Random, index: usize) {
    let boundary = format!("made-{index}");
    let _ = write!(
        mail,
        "Content-Type: multipart/mixed; boundary=\"{boundary}\"\r\n\r\n--{boundary}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{body}\r\n\
         --{boundary}\r\nContent-Type: text/csv; name=\"list-{index}.csv\"\r\nContent-Disposition: attachment; filename=\"list-{index}.csv\"\r\n\r\nname,amount\r\n",
    );
    for _ in 0..20 {
        let _ = write!(mail, "{},{}\r\n", words(random, 2), random.below(10_000));
    }
    let _ = write!(mail, "--{boundary}--\r\n");
}

/// A name and an address out of a few thousand.
fn person(random: &mut Random) -> (String, String) {
    let first = word(random.below(400));
    let last = word(400 + random.below(900));
    let domain = word(random.below(120));
    (
        format!("{} {}", capital(&first), capital(&last)),
        format!("{first}.{last}@{domain}.example"),
    )
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

fn words(random: &mut Random, count: usize) -> String {
    (0..count)
        .map(|_| word(random.zipf(30_000)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The word of a rank: short for frequent ranks, longer for rare ones.
fn word(rank: usize) -> String {
    const SYLLABLES: [&str; 32] = [
        "ka", "lo", "mi", "ter", "an", "so", "ve", "ru", "ni", "pal", "do", "sha", "en", "bri",
        "co", "tu", "gar", "fel", "im", "ost", "ya", "qui", "per", "mon", "wil", "zed", "hu",
        "jor", "ax", "lin", "dra", "ple",
    ];
    let mut rest = rank + 32;
    let mut word = String::new();
    while rest > 0 {
        word.push_str(SYLLABLES[rest % 32]);
        rest /= 32;
    }
    word
}

/// A small deterministic generator (SplitMix64).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A rank below `bound`, about 1/rank as frequent.
    fn zipf(&mut self, bound: usize) -> usize {
        let share = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((bound as f64).powf(share) - 1.0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_index_gives_the_same_mail() {
        assert_eq!(mail(17), mail(17));
        assert_ne!(mail(17), mail(18));
    }
}
