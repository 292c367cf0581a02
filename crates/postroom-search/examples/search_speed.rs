//! How fast mails are indexed and found: seeded synthetic mails, one line of figures.
//!
//! `cargo run --release -p postroom-search --example search_speed -- [MAILS] [BATCH] [FOLDER]`
//!
//! Times of queries are processor time of the searching thread, so that other work on the machine
//! does not count. A FOLDER is kept, and not filled again when it holds as many mails.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program to run by hand"
)]

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use jiff::tz::TimeZone;
use postroom_query::{Direction, parse, plan};
use postroom_search::{
    Doc, DocAttachment, Indexes, MessageTexts, SearchRequest, TenantIndex, snippet,
};
use postroom_types::{IdentityId, Mailbox, TenantId, Timestamp};

/// Different words of the made-up language.
const WORDS: u64 = 120_000;

/// A small generator of pseudo-random numbers (splitmix64), seeded.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// A rank by Zipf's law, roughly: half of the words are among the first few hundred.
    fn zipf(&mut self) -> u64 {
        let share = self.below(1_000_000) as f64 / 1_000_000.0;
        ((WORDS as f64).powf(share) - 1.0) as u64
    }
}

fn word(rank: u64) -> String {
    const SYLLABLES: [&str; 16] = [
        "ka", "lo", "mi", "re", "tu", "sa", "ne", "vo", "pi", "du", "ga", "fe", "ri", "ho", "zu",
        "ba",
    ];
    let mut rest = rank.wrapping_mul(2_654_435_761) % (1 << 20);
    let mut word = String::new();
    loop {
        word.push_str(SYLLABLES[(rest % 16) as usize]);
        rest /= 16;
        if rest == 0 {
            return word;
        }
    }
}

fn text(random: &mut Random, words: u64) -> String {
    let mut text = String::new();
    for place in 0..words {
        if place > 0 {
            text.push(if place % 14 == 0 { '\n' } else { ' ' });
        }
        text.push_str(&word(random.zipf()));
    }
    text
}

fn mail(num: u64) -> Doc {
    let mut random = Random(num);
    let person = |random: &mut Random| {
        let number = random.zipf() % 5_000;
        Mailbox {
            address: format!("{}.{number}@{}.example", word(number), word(number % 300)),
            name: format!("{} {}", word(number), word(number + 7)),
        }
    };
    let (from, to) = (person(&mut random), person(&mut random));
    let subject_words = 3 + random.below(6);
    let subject = text(&mut random, subject_words);
    let body_words = 40 + random.below(200);
    let extracted_text = text(&mut random, body_words);
    let quoted_words = random.below(150);
    let quoted = text(&mut random, quoted_words);
    let with_attachment = random.below(6) == 0;
    Doc {
        num,
        identity: IdentityId::from_parts(1, u128::from(random.below(4))),
        direction: if random.below(4) == 0 {
            Direction::Outbound
        } else {
            Direction::Inbound
        },
        date: Timestamp::from_ms(1_600_000_000_000 + num as i64 * 900_000),
        subject,
        from: vec![from],
        to: vec![to],
        text: format!("{extracted_text}\n> {quoted}"),
        extracted_text,
        attachments: with_attachment
            .then(|| DocAttachment {
                filename: Some(format!("{}-{num}.pdf", word(random.zipf()))),
                content_type: "application/pdf".to_owned(),
                inline: false,
                text: None,
            })
            .into_iter()
            .collect(),
    }
}

fn query(number: u64) -> String {
    let mut random = Random(number ^ 0xABCD);
    let source = mail(1 + random.below(5_000));
    let words: Vec<&str> = source.extracted_text.split_whitespace().collect();
    let mut pick = |least: usize| {
        let place = random.below(words.len() as u64) as usize;
        words[place..]
            .iter()
            .find(|word| word.len() >= least)
            .copied()
            .unwrap_or(words[0])
            .to_owned()
    };
    match number % 8 {
        0 => pick(4),
        1 | 2 => format!("{} {}", pick(4), pick(6)),
        3 => format!("{} {} {} has:attachment", pick(2), pick(4), pick(4)),
        4 => format!("{} from:{}", pick(2), source.from[0].address),
        5 => format!("{} after:2020-10-01 in:inbound -{}", pick(2), pick(4)),
        6 => {
            let mut cut = pick(6);
            cut.remove(cut.len() / 2);
            format!("{} {cut}", pick(6))
        }
        _ => format!("{}* OR subject:{}", &pick(4)[..3], pick(4)),
    }
}

fn bytes_under(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        bytes += if meta.is_dir() {
            bytes_under(&entry.path())?
        } else {
            meta.len()
        };
    }
    Ok(bytes)
}

/// Seconds of processor time used and the most memory held, from the kernel.
fn usage() -> (f64, u64) {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or("").split(' ').collect();
    let ticks = |place: usize| {
        fields
            .get(place)
            .and_then(|f| f.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0);
    ((ticks(11) + ticks(12)) / 100.0, peak)
}

/// Milliseconds of processor time that this thread has used.
fn thread_ms() -> f64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let on_cpu = stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok());
    on_cpu.unwrap_or(0.0) / 1e6
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = ((sorted.len() as f64 - 1.0) * share).round() as usize;
    sorted.get(place).copied().unwrap_or(0.0)
}

fn search_all(index: &TenantIndex, shape: Option<u64>, count: u64) -> Result<(), Box<dyn Error>> {
    let zone = TimeZone::UTC;
    let states = BTreeMap::new();
    let now = Timestamp::from_ms(1_700_000_000_000);
    let (mut times, mut hits, mut slowest) = (Vec::new(), 0, (0.0, String::new()));
    for number in 0..count {
        let number = shape.map_or(number, |shape| number * 8 + shape);
        let text = query(number);
        let begun = thread_ms();
        let plan = plan(&parse(&text)?, &zone, now)?;
        let ranked = index.search(&SearchRequest {
            facets: Some(&zone),
            ..SearchRequest::new(&plan, &states)
        })?;
        let mut took = thread_ms() - begun;
        for hit in ranked.hits.iter().take(10) {
            // Making the mail again stands for loading it; only the snippet is ours to measure.
            let doc = mail(hit.num);
            let begun = thread_ms();
            let texts = MessageTexts {
                direction: doc.direction,
                date: doc.date,
                subject: &doc.subject,
                from: &doc.from,
                to: &doc.to,
                extracted_text: &doc.extracted_text,
                text: &doc.text,
                attachments: &doc.attachments,
            };
            let shown = snippet(&plan, hit.how, &texts, 200);
            took += thread_ms() - begun;
            hits += u64::from(!shown.is_empty());
        }
        if took > slowest.0 {
            slowest = (took, text);
        }
        times.push(took);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{:>9} queries {count}  mean {:.2} ms  p50 {:.2} ms  p90 {:.2} ms  p99 {:.2} ms  snippets {hits}  slowest {:.1} ms: {}",
        shape.map_or("all".to_owned(), |shape| format!("shape {shape}")),
        times.iter().sum::<f64>() / times.len().max(1) as f64,
        quantile(&times, 0.5),
        quantile(&times, 0.9),
        quantile(&times, 0.99),
        slowest.0,
        slowest.1
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mails: u64 = arguments.next().map_or(Ok(20_000), |n| n.parse())?;
    let batch: u64 = arguments.next().map_or(Ok(1_000), |n| n.parse())?;
    let temporary = tempfile::tempdir()?;
    let folder = arguments
        .next()
        .map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    let indexes = Indexes::open(&folder)?;
    let index = indexes.tenant(TenantId::from_parts(1, 1))?;
    if index.message_count()? != mails {
        fill(&indexes, &index, mails, batch)?;
        println!("index {:.1} MB", bytes_under(&folder)? as f64 / 1e6);
    }
    indexes.close();
    let indexes = Indexes::open(&folder)?;
    let index = indexes.tenant(TenantId::from_parts(1, 1))?;
    search_all(&index, None, 800)?;
    for shape in 0..8 {
        search_all(&index, Some(shape), 200)?;
    }
    println!("peak {} MB", usage().1 / 1024);
    Ok(())
}

fn fill(
    indexes: &Indexes,
    index: &TenantIndex,
    mails: u64,
    batch: u64,
) -> Result<(), Box<dyn Error>> {
    let (mut making, mut text_bytes) = (0.0, 0);
    let begun = Instant::now();
    let mut first = 1;
    while first <= mails {
        let last = (first + batch - 1).min(mails);
        let (before, _) = usage();
        let docs: Vec<Doc> = (first..=last).map(mail).collect();
        text_bytes += docs
            .iter()
            .map(|doc| doc.text.len() + doc.subject.len())
            .sum::<usize>();
        making += usage().0 - before;
        index.apply(docs, &[], last)?;
        first = last + 1;
    }
    let wall = begun.elapsed().as_secs_f64();
    let (cpu, _) = usage();
    indexes.close();
    let (closed, peak) = usage();
    println!(
        "{mails} mails ({:.1} MB of text) in batches of {batch}: {:.0} mails/s wall, {:.0} mails per CPU second ({:.0} with the merges of closing), peak {} MB",
        text_bytes as f64 / 1e6,
        mails as f64 / wall,
        mails as f64 / (cpu - making),
        mails as f64 / (closed - making),
        peak / 1024,
    );
    Ok(())
}
