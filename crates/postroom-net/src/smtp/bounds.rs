//! Bounds of a listener, and the counters that hold them.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use postroom_types::limit;

/// The bounds of one listener.
#[derive(Debug, Clone)]
pub struct SmtpLimits {
    /// Open connections ([`limit::SMTP_CONNECTIONS`]).
    pub connections: usize,
    /// Open connections of one client address, an IPv6 client counting as its /64
    /// ([`limit::SMTP_CONNECTIONS_PER_IP`]).
    pub connections_per_ip: usize,
    /// Largest message, bytes ([`limit::RAW_MAIL_BYTES`]).
    pub message_bytes: usize,
    /// Bytes of messages being received on all connections together ([`limit::SMTP_HELD_BYTES`]).
    pub held_bytes: usize,
    /// Recipients of one transaction ([`limit::SMTP_RECIPIENTS`]).
    pub recipients: usize,
    /// Refused commands of one connection ([`limit::SMTP_BAD_COMMANDS`]).
    pub bad_commands: usize,
    /// Refused recipients of one connection ([`limit::SMTP_REFUSED_RECIPIENTS`]).
    pub refused_recipients: usize,
    /// Commands in a row that bring no mail ([`limit::SMTP_IDLE_COMMANDS`]).
    pub idle_commands: usize,
    /// Time for one whole command line, for a pause inside a message, for taking our replies and
    /// for a TLS handshake ([`limit::SMTP_COMMAND_MS`]).
    pub command_time: Duration,
    /// Time for one whole message ([`limit::SMTP_DATA_MS`]).
    pub data_time: Duration,
    /// Time a command in progress has when the listener stops ([`limit::SMTP_SHUTDOWN_MS`]).
    pub shutdown_time: Duration,
}

impl Default for SmtpLimits {
    fn default() -> Self {
        Self {
            connections: limit::SMTP_CONNECTIONS,
            connections_per_ip: limit::SMTP_CONNECTIONS_PER_IP,
            message_bytes: limit::RAW_MAIL_BYTES,
            held_bytes: limit::SMTP_HELD_BYTES,
            recipients: limit::SMTP_RECIPIENTS,
            bad_commands: limit::SMTP_BAD_COMMANDS,
            refused_recipients: limit::SMTP_REFUSED_RECIPIENTS,
            idle_commands: limit::SMTP_IDLE_COMMANDS,
            command_time: Duration::from_millis(limit::SMTP_COMMAND_MS),
            data_time: Duration::from_millis(limit::SMTP_DATA_MS),
            shutdown_time: Duration::from_millis(limit::SMTP_SHUTDOWN_MS),
        }
    }
}

/// Counts open connections, all and by client address.
#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    most_per_ip: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    by_ip: HashMap<IpAddr, usize>,
}

/// One counted connection; dropping it counts down.
#[derive(Debug)]
pub(super) struct Connection {
    connections: Arc<Connections>,
    ip: IpAddr,
}

impl Connections {
    pub(super) fn new(limits: &SmtpLimits) -> Arc<Self> {
        Arc::new(Self {
            most: limits.connections,
            most_per_ip: limits.connections_per_ip,
            open: Mutex::default(),
        })
    }

    /// Counts a connection, unless there are as many as there may be.
    pub(super) fn admit(self: &Arc<Self>, ip: IpAddr) -> Option<Connection> {
        let ip = counted_as(ip);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let of_ip = open.by_ip.get(&ip).copied().unwrap_or(0);
        if open.all >= self.most || of_ip >= self.most_per_ip {
            return None;
        }
        open.all += 1;
        open.by_ip.insert(ip, of_ip + 1);
        drop(open);
        Some(Connection {
            connections: Arc::clone(self),
            ip,
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let open = &self.connections.open;
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all = open.all.saturating_sub(1);
        if let Some(count) = open.by_ip.get_mut(&self.ip) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                open.by_ip.remove(&self.ip);
            }
        }
    }
}

/// One IPv6 customer has a whole /64; counting single addresses would count nobody.
fn counted_as(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX))),
        ip => ip,
    }
}

/// The memory that messages in progress may take, on all connections together.
#[derive(Debug)]
pub(super) struct Room {
    free: AtomicUsize,
}

/// A part of the room; dropping it gives it back.
#[derive(Debug)]
pub(super) struct Held {
    room: Arc<Room>,
    bytes: usize,
}

impl Room {
    pub(super) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            free: AtomicUsize::new(bytes),
        })
    }

    /// An empty part, to grow.
    pub(super) fn hold(self: &Arc<Self>) -> Held {
        Held {
            room: Arc::clone(self),
            bytes: 0,
        }
    }
}

impl Held {
    /// Makes this part exactly `bytes` large; false, and unchanged, when there is not that much.
    pub(super) fn resize(&mut self, bytes: usize) -> bool {
        if bytes <= self.bytes {
            let back = self.bytes - bytes;
            self.room.free.fetch_add(back, Ordering::AcqRel);
            self.bytes = bytes;
            return true;
        }
        let more = bytes - self.bytes;
        let taken = self
            .room
            .free
            .try_update(Ordering::AcqRel, Ordering::Acquire, |free| {
                free.checked_sub(more)
            });
        if taken.is_ok() {
            self.bytes = bytes;
        }
        taken.is_ok()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_by_address_and_together() {
        let limits = SmtpLimits {
            connections: 3,
            connections_per_ip: 2,
            ..SmtpLimits::default()
        };
        let connections = Connections::new(&limits);
        let ip = |text: &str| text.parse::<IpAddr>().expect("address");
        let first = connections.admit(ip("192.0.2.1")).expect("first");
        let _second = connections.admit(ip("::ffff:192.0.2.1")).expect("second");
        assert!(connections.admit(ip("192.0.2.1")).is_none());
        let _third = connections.admit(ip("2001:db8::1")).expect("third");
        assert!(connections.admit(ip("2001:db8::2")).is_none());
        drop(first);
        let _fourth = connections.admit(ip("2001:db8::ffff")).expect("room again");
        assert!(connections.admit(ip("192.0.2.9")).is_none());
    }

    #[test]
    fn an_ipv6_client_counts_as_its_network() {
        let limits = SmtpLimits {
            connections_per_ip: 1,
            ..SmtpLimits::default()
        };
        let connections = Connections::new(&limits);
        let ip = |text: &str| text.parse::<IpAddr>().expect("address");
        let _first = connections.admit(ip("2001:db8::1")).expect("first");
        assert!(connections.admit(ip("2001:db8::abcd:1")).is_none());
        assert!(connections.admit(ip("2001:db8:0:1::1")).is_some());
    }

    #[test]
    fn held_bytes_never_pass_the_room() {
        let room = Room::new(10);
        let mut one = room.hold();
        let mut two = room.hold();
        assert!(one.resize(6) && two.resize(4));
        assert!(!two.resize(5));
        drop(one);
        assert!(two.resize(10) && !two.resize(11));
    }
}
