//! Sends mail over SMTP or LMTP to a listener on this machine, as fast as it is acknowledged.
//!
//! `smtp_load --address 127.0.0.1:2525 --to someone@here.example --connections 8 --mails 10000 --size 6000`
//!
//! Each connection sends one mail after the other; the latency of a mail is the time from its
//! `MAIL FROM` to the reply behind its data. The envelope goes out in one write where the listener
//! offers PIPELINING. Ends with one line of JSON:
//! `{"connections","mails","size","refused","seconds","mails_per_second","p50_ms","p99_ms","max_ms"}`
//! (`size` of one mail in bytes), and with status 1 when a mail was refused.
#![expect(
    clippy::print_stdout,
    reason = "a tool for the terminal: its result is its output"
)]

use std::{
    io,
    net::SocketAddr,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use postroom_types::limit;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    task::JoinSet,
    time::Instant,
};

/// Most mails of one run.
const MAILS: usize = 1_000_000;

/// What to send, and where.
#[derive(Debug, Clone)]
struct Load {
    address: SocketAddr,
    to: String,
    lmtp: bool,
    connections: usize,
    mails: usize,
    bytes: usize,
    /// Goes into every Message-ID, so that two runs send different mails.
    seed: u64,
}

/// What one connection saw.
#[derive(Debug, Default)]
struct Seen {
    latencies: Vec<Duration>,
    refused: usize,
}

#[tokio::main]
async fn main() -> io::Result<ExitCode> {
    let load = Load::from_arguments(std::env::args().skip(1))?;
    let next = Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..load.connections {
        tasks.spawn(send_all(load.clone(), Arc::clone(&next)));
    }
    let mut all = Seen::default();
    while let Some(seen) = tasks.join_next().await {
        let seen = seen.map_err(io::Error::other)??;
        all.latencies.extend(seen.latencies);
        all.refused += seen.refused;
    }
    report(&load, all, started.elapsed())
}

impl Load {
    fn from_arguments(mut arguments: impl Iterator<Item = String>) -> io::Result<Self> {
        let mut load = Self {
            address: SocketAddr::from(([127, 0, 0, 1], 2525)),
            to: String::new(),
            lmtp: false,
            connections: 8,
            mails: 10_000,
            bytes: 6_000,
            seed: u64::from(std::process::id()),
        };
        while let Some(name) = arguments.next() {
            if name == "--lmtp" {
                load.lmtp = true;
                continue;
            }
            let value = arguments.next().ok_or_else(|| usage("a value"))?;
            match name.as_str() {
                "--address" => load.address = value.parse().map_err(|_| usage("IP:PORT"))?,
                "--to" => load.to = value,
                "--connections" => {
                    load.connections = count(&value, limit::SMTP_CONNECTIONS_PER_IP)?;
                }
                "--mails" => load.mails = count(&value, MAILS)?,
                "--size" => load.bytes = count(&value, limit::RAW_MAIL_BYTES)?,
                "--seed" => load.seed = value.parse().map_err(|_| usage("a number"))?,
                _ => {
                    return Err(usage(
                        "--address --to --connections --mails --size --seed --lmtp",
                    ));
                }
            }
        }
        if !load.address.ip().is_loopback() {
            return Err(usage("a loopback address"));
        }
        if load.to.is_empty() {
            return Err(usage("--to ADDRESS"));
        }
        Ok(load)
    }

    /// A mail of the wanted size, different for every number.
    fn mail(&self, number: usize) -> Vec<u8> {
        const WORDS: [&str; 16] = [
            "invoice", "meeting", "the", "of", "please", "your", "order", "van", "Thursday",
            "return", "to", "with", "claim", "we", "confirm", "and",
        ];
        let seed = self.seed;
        let mut mail = format!(
            "Message-ID: <load.{seed}.{number}@load.example>\r\n\
             Date: Mon, 30 Nov 2026 12:00:00 +0000\r\n\
             From: Load <load@load.example>\r\nTo: <{}>\r\n\
             Subject: Load {seed} number {number}\r\n\r\n",
            self.to
        );
        let head = mail.len();
        let mut state = seed ^ (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut column = 0;
        while mail.len() + 2 < self.bytes {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let word = WORDS[(state >> 60) as usize % WORDS.len()];
            mail.push_str(word);
            column += word.len() + 1;
            if column > 70 {
                mail.push_str("\r\n");
                column = 0;
            } else {
                mail.push(' ');
            }
        }
        mail.truncate(self.bytes.saturating_sub(2).max(head));
        if mail.ends_with('\r') {
            mail.pop();
            mail.push('.');
        }
        mail.push_str("\r\n");
        mail.into_bytes()
    }
}

fn usage(expected: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!(
            "expected {expected}: smtp_load --address 127.0.0.1:2525 --to someone@here.example"
        ),
    )
}

fn count(value: &str, most: usize) -> io::Result<usize> {
    let wanted = format!("a number from 1 to {most}");
    match value.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(usage(&wanted)),
    }
}

/// One connection: takes the next number until all are taken.
async fn send_all(load: Load, next: Arc<AtomicUsize>) -> io::Result<Seen> {
    let stream = TcpStream::connect(load.address).await?;
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    expect(&mut stream, 220).await?;
    let hello = if load.lmtp { "LHLO" } else { "EHLO" };
    let hello = format!("{hello} load.example\r\n");
    stream.write_all(hello.as_bytes()).await?;
    let pipelining = expect(&mut stream, 250).await?;
    let mut seen = Seen::default();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= load.mails {
            break;
        }
        let mut data = load.mail(number);
        data.extend_from_slice(b".\r\n");
        let started = Instant::now();
        send_envelope(&mut stream, &load.to, pipelining).await?;
        stream.write_all(&data).await?;
        let (code, _) = reply(&mut stream).await?;
        seen.latencies.push(started.elapsed());
        if code != 250 {
            seen.refused += 1;
        }
    }
    stream.write_all(b"QUIT\r\n").await?;
    expect(&mut stream, 221).await?;
    Ok(seen)
}

async fn send_envelope(
    stream: &mut BufReader<TcpStream>,
    to: &str,
    pipelining: bool,
) -> io::Result<()> {
    let commands = [
        ("MAIL FROM:<load@load.example>\r\n".to_owned(), 250),
        (format!("RCPT TO:<{to}>\r\n"), 250),
        ("DATA\r\n".to_owned(), 354),
    ];
    if pipelining {
        let group: String = commands.iter().map(|(line, _)| line.as_str()).collect();
        stream.write_all(group.as_bytes()).await?;
    }
    for (line, code) in commands {
        if !pipelining {
            stream.write_all(line.as_bytes()).await?;
        }
        expect(stream, code).await?;
    }
    Ok(())
}

/// Reads the next reply, which must have this code; gives whether it offers PIPELINING.
async fn expect(stream: &mut BufReader<TcpStream>, wanted: u16) -> io::Result<bool> {
    match reply(stream).await? {
        (code, pipelining) if code == wanted => Ok(pipelining),
        (code, _) => Err(io::Error::other(format!("{code} instead of {wanted}"))),
    }
}

/// The code of the next reply, and whether it offers PIPELINING.
async fn reply(stream: &mut BufReader<TcpStream>) -> io::Result<(u16, bool)> {
    let mut line = String::new();
    let mut pipelining = false;
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let code = line.get(..3).and_then(|code| code.parse().ok());
        let code = code.ok_or_else(|| io::Error::other("a reply without a code"))?;
        let text = line.get(4..).unwrap_or_default().trim_end();
        pipelining |= text.eq_ignore_ascii_case("PIPELINING");
        if line.as_bytes().get(3) != Some(&b'-') {
            return Ok((code, pipelining));
        }
    }
}

fn report(load: &Load, mut seen: Seen, took: Duration) -> io::Result<ExitCode> {
    seen.latencies.sort_unstable();
    let last = seen.latencies.len().saturating_sub(1);
    let at = |percent: usize| {
        let latency = seen.latencies.get(last * percent / 100).copied();
        latency.unwrap_or_default().as_secs_f64() * 1_000.0
    };
    let seconds = took.as_secs_f64();
    let mails = seen.latencies.len();
    println!(
        "{{\"connections\":{},\"mails\":{mails},\"size\":{},\"refused\":{},\"seconds\":{seconds:.3},\
         \"mails_per_second\":{:.0},\"p50_ms\":{:.2},\"p99_ms\":{:.2},\"max_ms\":{:.2}}}",
        load.connections,
        load.bytes,
        seen.refused,
        mails as f64 / seconds,
        at(50),
        at(99),
        at(100)
    );
    Ok(if seen.refused == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
