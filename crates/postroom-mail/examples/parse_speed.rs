//! Reads every file under a folder and prints how many mails one CPU second parses, text, quotes
//! and thread keys included: `cargo run --release --example parse_speed -- FOLDER [ROUNDS]`.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::expect_used)]

use std::{fs, path::Path, time::Instant};

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().expect("a folder of mails");
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
