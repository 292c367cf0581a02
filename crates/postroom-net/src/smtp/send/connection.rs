//! One connection to the relay: pumps bytes through the machine and keeps the time.

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use postroom_mail::smtp::client::{
    Action, Client, ClientOptions, Envelope, Expecting, Fault, Submission,
};
use rustls::ClientConfig;
use tokio::time::{Instant, timeout, timeout_at};

use super::{RelayLimits, RelayOptions, Security, wire::Wire};
use crate::egress::Egress;

/// Bytes read at once.
const READ_BYTES: usize = 4 * 1024;

/// How long a server that closed is listened to for the reason.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    machine: Client,
    wire: Wire,
    host: String,
    tls: Arc<ClientConfig>,
    limits: RelayLimits,
    messages: usize,
}

/// Until when the answer has to be there that is being waited for. Bytes of it that drip in buy no
/// time.
struct Patience {
    expecting: Expecting,
    replies: u64,
    until: Instant,
}

impl Connection {
    /// Connects, with TLS where it comes first; nothing is said yet.
    pub(super) async fn open(
        options: &RelayOptions,
        egress: &Egress,
        tls: &Arc<ClientConfig>,
        deadline: Instant,
    ) -> Result<Self, Fault> {
        let deadline = deadline.min(Instant::now() + options.limits.connect);
        let stream = egress
            .dial_relay(&options.host, options.port, deadline)
            .await?;
        // Commands are small and waited for.
        let _ = stream.set_nodelay(true);
        let mut wire = Wire::Clear(stream);
        let encrypted = options.security == Security::Tls;
        if encrypted {
            timeout_at(deadline, wire.encrypt(&options.host, tls))
                .await
                .map_err(|_| Fault::Tls)?
                .map_err(|error| tls_failed(&options.host, &error))?;
        }
        let credentials = options.credentials.as_ref();
        let machine = Client::new(
            ClientOptions {
                hostname: options.hostname.clone(),
                protocol: options.protocol,
                starttls: options.security == Security::StartTls,
                credentials: credentials
                    .map(|given| (given.username.clone(), given.password.clone())),
            },
            encrypted,
        );
        Ok(Self {
            machine,
            wire,
            host: options.host.clone(),
            tls: Arc::clone(tls),
            limits: options.limits,
            messages: 0,
        })
    }

    /// Hands over one message.
    pub(super) async fn submit(
        &mut self,
        envelope: &Envelope,
        message: Bytes,
        deadline: Instant,
    ) -> Submission {
        let lost =
            || Submission::not_handed_over(envelope.recipients().len(), Fault::ConnectionLost);
        self.messages += 1;
        if !self.machine.submit(envelope.clone(), message) {
            return lost();
        }
        let mut patience = self.patience(deadline);
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let action = self.machine.poll();
            if let Action::Done(submission) = action {
                return *submission;
            }
            let output = self.machine.take_output();
            if !output.is_empty() {
                let until = deadline.min(Instant::now() + self.limits.command);
                match timeout_at(until, self.wire.write(&output)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => {
                        self.hear_last_words(&mut buffer).await;
                        continue;
                    }
                    Err(_) => {
                        self.machine.fail(Fault::Timeout);
                        continue;
                    }
                }
            }
            match action {
                Action::Read => {
                    if patience.is_for_another(&self.machine) {
                        patience = self.patience(deadline);
                    }
                    match timeout_at(patience.until, self.wire.read(&mut buffer)).await {
                        Ok(read) => self.take(read, &buffer),
                        Err(_) => self.machine.fail(Fault::Timeout),
                    }
                }
                Action::Write => {
                    if let Some(read) = self.wire.read_now(&mut buffer) {
                        self.take(read, &buffer);
                    }
                }
                Action::StartTls => self.shake_hands(deadline).await,
                Action::Done(_) => {}
                Action::Idle | Action::Close => return lost(),
            }
        }
    }

    /// Whether the server is still silent, as it has to be between two messages.
    pub(super) fn is_silent(&mut self) -> bool {
        self.wire.read_now(&mut [0; 1]).is_none()
    }

    /// Whether another message may follow.
    pub(super) fn is_ready(&self) -> bool {
        self.machine.is_ready()
    }

    /// Messages so far.
    pub(super) fn messages(&self) -> usize {
        self.messages
    }

    /// Replies of the server so far.
    pub(super) fn replies(&self) -> u64 {
        self.machine.replies()
    }

    /// Takes leave of the server.
    pub(super) async fn close(mut self) {
        self.machine.quit();
        let goodbye = self.machine.take_output();
        let _ = timeout(LAST_WORDS, self.wire.write(&goodbye)).await;
    }

    fn take(&mut self, read: io::Result<usize>, buffer: &[u8]) {
        match read {
            Ok(length) if length > 0 => {
                let bytes = buffer.get(..length).unwrap_or_default();
                self.machine.receive(bytes);
            }
            Ok(_) | Err(_) => self.machine.fail(Fault::ConnectionLost),
        }
    }

    /// Nothing can be written any more; what the server said before it closed may still tell why.
    async fn hear_last_words(&mut self, buffer: &mut [u8]) {
        if let Ok(Ok(length @ 1..)) = timeout(LAST_WORDS, self.wire.read(buffer)).await {
            self.machine
                .receive(buffer.get(..length).unwrap_or_default());
        }
        self.machine.fail(Fault::ConnectionLost);
    }

    async fn shake_hands(&mut self, deadline: Instant) {
        let until = deadline.min(Instant::now() + self.limits.connect);
        match timeout_at(until, self.wire.encrypt(&self.host, &self.tls)).await {
            Ok(Ok(())) => self.machine.tls_established(),
            Ok(Err(error)) => self.machine.fail(tls_failed(&self.host, &error)),
            Err(_) => self.machine.fail(Fault::Tls),
        }
    }

    fn patience(&self, deadline: Instant) -> Patience {
        let expecting = self.machine.expecting();
        let time = match expecting {
            Expecting::Command => self.limits.command,
            Expecting::Message => self.limits.answer,
        };
        Patience {
            expecting,
            replies: self.machine.replies(),
            until: deadline.min(Instant::now() + time),
        }
    }
}

impl Patience {
    /// Whether the machine waits for something else than before.
    fn is_for_another(&self, machine: &Client) -> bool {
        (self.expecting, self.replies) != (machine.expecting(), machine.replies())
    }
}

fn tls_failed(host: &str, error: &io::Error) -> Fault {
    tracing::warn!(host, %error, "no TLS with the relay");
    Fault::Tls
}
