//! Reads every file under a folder and prints how many mails one CPU second parses, text, quotes
//! and thread keys included: `cargo run --release --example parse_speed -- FOLDER [ROUNDS]`. With
//! `--hostile` instead of a folder, prints what a doubling of each hostile family costs.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::expect_used)]

use std::{fs, path::Path, time::Instant};

/// The allocator of the product's binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().expect("a folder of mails");
    if folder == "--hostile" {
        return hostile();
    }
    let rounds: usize = args.next().and_then(|text| text.parse().ok()).unwrap_or(5);
    let mut mails = Vec::new();
    collect(Path::new(&folder), &mut mails);
    let bytes: usize = mails.iter().map(Vec::len).sum();
    let (mut keys, mut words) = (0usize, 0usize);
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    for _ in 0..rounds {
        for mail in &mails {
            let parsed = postroom_mail::parse(mail);
            keys += postroom_mail::thread_keys(&parsed).len();
            words += parsed.extracted_text.map_or(0, |text| text.len());
        }
    }
    let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
    let count = (mails.len() * rounds) as f64;
    println!(
        "{} mails, {:.1} MB, {rounds} rounds",
        mails.len(),
        bytes as f64 / 1e6
    );
    println!(
        "{:.0} mails per CPU second, {:.1} MB per CPU second",
        count / cpu,
        bytes as f64 * rounds as f64 / 1e6 / cpu
    );
    println!("cpu {cpu:.2} s, wall {wall:.2} s, {keys} keys, {words} bytes of new text");
}

fn collect(path: &Path, mails: &mut Vec<Vec<u8>>) {
    if path.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path)
            .expect("a readable folder")
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .collect();
        entries.sort();
        entries.iter().for_each(|entry| collect(entry, mails));
    } else if let Ok(bytes) = fs::read(path) {
        mails.push(bytes);
    }
}

/// User and system time of this process, from `/proc/self/stat` in ticks of 10 ms.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum();
    ticks as f64 / 100.0
}

type Family = (&'static str, fn(usize) -> String);

/// Mails made to be expensive, by the number of their pieces.
const FAMILIES: &[Family] = &[
    ("nested multiparts", |n| {
        let open: String = (0..n)
            .map(|k| format!("Content-Type: multipart/mixed; boundary=b{k}\n\n--b{k}\n"))
            .collect();
        open + "\nx"
    }),
    ("multiparts without their boundary", |n| {
        "Content-Type: multipart/mixed; boundary=b\n\n".to_owned()
            + &"--b\nContent-Type: multipart/mixed; boundary=never\n\nx\n".repeat(n)
    }),
    ("almost boundaries", |n| {
        "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n".to_owned() + &"--bb\n".repeat(n)
    }),
    ("headers", |n| "X-A: b\n".repeat(n) + "\nx"),
    ("one long header of words", |n| {
        format!("Subject: {}\n\nx", "=?utf-8?Q?=".repeat(n))
    }),
    ("encoded words", |n| {
        format!("Subject: {}\n\nx", "=?utf-8?Q?a?= ".repeat(n))
    }),
    ("comments in addresses", |n| {
        format!("To: {}\n\nx", "(".repeat(n))
    }),
    ("references", |n| {
        format!("References: {}\n\nx", "<a@b> ".repeat(n))
    }),
    ("parameters", |n| {
        format!("Content-Type: text/plain{}\n\nx", "; a*0=b".repeat(n))
    }),
    ("nested messages", |n| {
        "Content-Type: message/rfc822\n\n".repeat(n) + "\nx"
    }),
    ("quoted lines", |n| format!("A: b\n\n{}", "> x\n".repeat(n))),
    ("attributions", |n| {
        format!("A: b\n\nx\n{}", "On 1 May 2026 10:00, A wrote:\n".repeat(n))
    }),
    ("header blocks", |n| {
        format!("A: b\n\nx\n{}", "From: a\nTo: b\nDate:\n".repeat(n))
    }),
    ("nearly attributions", |n| {
        format!("A: b\n\nx\n{}", "On 1 May 2026 10:00, A\n".repeat(n))
    }),
    ("nested HTML", |n| {
        format!("Content-Type: text/html\n\n{}", "<div>".repeat(n))
    }),
    ("stray end tags", |n| {
        let open = "<i>".repeat(n / 2);
        format!("Content-Type: text/html\n\n{open}{}", "</b>".repeat(n / 2))
    }),
    ("end tags behind cells", |n| {
        let open = "<div><td>".repeat(n / 2);
        format!(
            "Content-Type: text/html\n\n{open}{}",
            "</div>".repeat(n / 2)
        )
    }),
    ("style rules", |n| {
        let rules: String = (0..n).map(|k| format!("a.b{k}{{color:#fff}}")).collect();
        format!(
            "Content-Type: text/html\n\n<style>{rules}</style>{}",
            "<a class=b1>x".repeat(n)
        )
    }),
    ("attributes", |n| {
        let attributes: String = (0..n).map(|k| format!(" a{k}=b")).collect();
        format!("Content-Type: text/html\n\n<p{attributes}>x")
    }),
    ("comments", |n| {
        format!("Content-Type: text/html\n\n{}", "<!--".repeat(n))
    }),
    ("links", |n| {
        format!(
            "Content-Type: text/html\n\n{}",
            "<a href=http://x>".repeat(n)
        )
    }),
    ("invisible characters", |n| {
        format!("A: b\n\n{}", "\u{200b}\u{e0041}".repeat(n))
    }),
];

fn hostile() {
    for (name, make) in FAMILIES {
        print!("{name:34}");
        let mut before = 0.0;
        for pieces in [10_000, 20_000, 40_000, 80_000, 160_000] {
            let mail = make(pieces).into_bytes();
            let start = Instant::now();
            let parsed = postroom_mail::parse(&mail);
            let html = postroom_mail::html(&mail).map_or(0, |html| html.len());
            let ms = start.elapsed().as_secs_f64() * 1e3;
            assert!(parsed.size > 0 && html < usize::MAX);
            let ratio = if before > 0.0 { ms / before } else { 1.0 };
            print!(" {ms:8.2} ms x{ratio:4.1}");
            before = ms;
        }
        println!();
    }
}
