//! Posts signed deliveries to a server on this machine, as fast as they are answered.
//!
//! `webhook_load --url http://127.0.0.1:8025/in/TOKEN --secret S --connections 8 --count 10000 --size 2048`
//!
//! Each connection posts one delivery after the other, signed as GitHub signs, every one with an id of
//! its own (`FIRST` up, `--first`). With `--patient` a delivery that is not acknowledged is sent again,
//! on a new connection, until it is or a minute has passed; each one's id is written to standard output
//! once it is acknowledged, before the last line. Ends with one line of JSON:
//! `{"connections","deliveries","size","refused","seconds","deliveries_per_second","p50_ms","p99_ms","max_ms"}`
//! (`size` of one body in bytes), and with status 1 when a delivery was refused.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a tool for the terminal that measures time: its result is its output"
)]

use std::{
    collections::HashMap,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::ExitCode,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Most deliveries of one run.
const COUNT: usize = 10_000_000;
/// How long a patient sender tries to get one delivery through.
const PATIENCE: Duration = Duration::from_secs(60);

struct Load {
    host: String,
    path: String,
    secret: String,
    connections: usize,
    count: usize,
    size: usize,
    first: usize,
    patient: bool,
}

#[derive(Default)]
struct Seen {
    latencies: Vec<Duration>,
    refused: usize,
}

fn main() -> io::Result<ExitCode> {
    let load = Arc::new(Load::from_arguments(std::env::args().skip(1))?);
    let next = Arc::new(AtomicUsize::new(0));
    let all = Arc::new(Mutex::new(Seen::default()));
    let began = Instant::now();
    let threads: Vec<_> = (0..load.connections)
        .map(|_| {
            let (load, next, all) = (Arc::clone(&load), Arc::clone(&next), Arc::clone(&all));
            std::thread::spawn(move || {
                let seen = load.run(&next);
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.latencies.extend(seen.latencies);
                all.refused += seen.refused;
            })
        })
        .collect();
    for thread in threads {
        thread
            .join()
            .map_err(|_| io::Error::other("a sender ended early"))?;
    }
    let seconds = began.elapsed().as_secs_f64();
    let mut seen = all.lock().unwrap_or_else(PoisonError::into_inner);
    seen.latencies.sort_unstable();
    let at = |share: f64| {
        let place = (seen.latencies.len().saturating_sub(1) as f64 * share) as usize;
        seen.latencies
            .get(place)
            .map_or(0.0, |latency| latency.as_secs_f64() * 1e3)
    };
    println!(
        "{{\"connections\":{},\"deliveries\":{},\"size\":{},\"refused\":{},\"seconds\":{seconds:.3},\"deliveries_per_second\":{:.0},\"p50_ms\":{:.2},\"p99_ms\":{:.2},\"max_ms\":{:.2}}}",
        load.connections,
        load.count,
        load.size,
        seen.refused,
        load.count as f64 / seconds,
        at(0.5),
        at(0.99),
        at(1.0),
    );
    Ok(ExitCode::from(u8::from(seen.refused > 0)))
}

impl Load {
    fn from_arguments(arguments: impl Iterator<Item = String>) -> io::Result<Self> {
        let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
        let mut given: HashMap<String, String> = HashMap::new();
        let mut arguments = arguments.peekable();
        while let Some(name) = arguments.next() {
            let value = match name.as_str() {
                "--patient" => String::new(),
                _ => arguments
                    .next()
                    .ok_or_else(|| bad("every option but --patient takes a value"))?,
            };
            given.insert(name, value);
        }
        let number = |name: &str, usual: usize| match given.get(name) {
            None => Ok(usual),
            Some(text) => text.parse().map_err(|_| bad("not a number")),
        };
        let url = given.get("--url").ok_or_else(|| bad("--url is missing"))?;
        let (host, path) = url
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once('/'))
            .ok_or_else(|| bad("--url: expected http://HOST:PORT/PATH"))?;
        Ok(Self {
            host: host.to_owned(),
            path: format!("/{path}"),
            secret: given.get("--secret").cloned().unwrap_or_default(),
            connections: number("--connections", 8)?.clamp(1, 256),
            count: number("--count", 10_000)?.min(COUNT),
            size: number("--size", 2_048)?,
            first: number("--first", 0)?,
            patient: given.contains_key("--patient"),
        })
    }

    fn run(&self, next: &AtomicUsize) -> Seen {
        let mut seen = Seen::default();
        let mut link = None;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= self.count {
                return seen;
            }
            let id = self.first + number;
            let request = self.request(id);
            let began = Instant::now();
            if self.deliver(&mut link, &request, began) {
                seen.latencies.push(began.elapsed());
                if self.patient {
                    println!("{id}");
                }
            } else {
                seen.refused += 1;
            }
        }
    }

    /// Whether the delivery was acknowledged in the end.
    fn deliver(
        &self,
        link: &mut Option<BufReader<TcpStream>>,
        request: &[u8],
        began: Instant,
    ) -> bool {
        loop {
            match self.post(link, request) {
                Ok(status) if (200..300).contains(&status) => return true,
                Ok(status) if !self.patient => {
                    eprintln!("answered {status}");
                    return false;
                }
                Ok(_) => {}
                Err(error) => {
                    *link = None;
                    if !self.patient {
                        eprintln!("{error}");
                        return false;
                    }
                }
            }
            if began.elapsed() > PATIENCE {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn post(&self, link: &mut Option<BufReader<TcpStream>>, request: &[u8]) -> io::Result<u16> {
        let reader = match link {
            Some(reader) => reader,
            None => {
                let stream = TcpStream::connect(&self.host)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(Duration::from_secs(20)))?;
                link.insert(BufReader::new(stream))
            }
        };
        reader.get_mut().write_all(request)?;
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let status = line.split(' ').nth(1).and_then(|text| text.parse().ok());
        let status = status.ok_or_else(|| io::Error::other("no status in the answer"))?;
        let (mut length, mut closes) = (0_u64, false);
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let lower = line.trim_end().to_ascii_lowercase();
            if lower.is_empty() {
                break;
            }
            if let Some(text) = lower.strip_prefix("content-length:") {
                length = text.trim().parse().unwrap_or(0);
            }
            closes |= lower == "connection: close";
        }
        io::copy(&mut reader.by_ref().take(length), &mut io::sink())?;
        if closes {
            *link = None;
        }
        Ok(status)
    }

    /// One whole request.
    fn request(&self, id: usize) -> Vec<u8> {
        let head = format!(
            "{{\"action\":\"opened\",\"number\":{id},\"repository\":{{\"full_name\":\"acme/shop\"}},\"sender\":{{\"login\":\"octocat\"}},\"padding\":\""
        );
        let fill = self.size.saturating_sub(head.len() + 2);
        let body = format!("{head}{}\"}}", "x".repeat(fill));
        let signature = Hmac::<Sha256>::new_from_slice(self.secret.as_bytes())
            .map(|mut mac| {
                mac.update(body.as_bytes());
                hex::encode(mac.finalize().into_bytes())
            })
            .unwrap_or_default();
        let Self { host, path, .. } = self;
        format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nUser-Agent: GitHub-Hookshot/load\r\nX-GitHub-Event: issues\r\nX-GitHub-Delivery: load-{id}\r\nX-Hub-Signature-256: sha256={signature}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }
}
