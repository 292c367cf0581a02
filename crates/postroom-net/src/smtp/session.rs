//! One connection: pumps bytes through the machine and does what it asks for.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::future::join_all;
use postroom_mail::smtp::{
    Action, Incoming, MessageAnswer, Protocol, Recipient, Server, ServerOptions, server::Expecting,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::{
    Arrival, MailSink, RecipientQuery, SmtpOptions,
    bounds::{Held, Room},
};

/// Bytes read at once.
const READ_BYTES: usize = 16 * 1024;

/// How long to wait for a client to close once it was told goodbye; closing at once with unread
/// bytes would throw away the last reply on its way.
const LINGER: Duration = Duration::from_secs(1);

/// What all connections of a listener have in common.
pub(super) struct Shared<S> {
    pub(super) options: SmtpOptions,
    pub(super) sink: Arc<S>,
    pub(super) room: Arc<Room>,
    /// Cancelled when the listener stops: who is between two commands is told goodbye.
    pub(super) shutdown: CancellationToken,
    /// Cancelled a while later: everybody is.
    pub(super) overtime: CancellationToken,
}

/// One connection.
pub(super) struct Session<S> {
    shared: Arc<Shared<S>>,
    client: SocketAddr,
    machine: Server,
    held: Held,
}

/// How a conversation ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Closed,
    StartTls,
}

/// Until when the client has to have sent the command or message that it is at.
struct Patience {
    expecting: Expecting,
    steps: u64,
    until: Instant,
}

impl<S: MailSink> Session<S> {
    pub(super) fn new(shared: Arc<Shared<S>>, client: SocketAddr) -> Self {
        let SmtpOptions {
            hostname,
            protocol,
            tls,
            limits,
        } = &shared.options;
        let machine = Server::new(ServerOptions {
            hostname: hostname.clone(),
            protocol: *protocol,
            starttls: tls.is_some(),
            message_bytes: limits.message_bytes,
            recipients: limits.recipients,
            bad_commands: limits.bad_commands,
            refused_recipients: limits.refused_recipients,
            idle_commands: limits.idle_commands,
        });
        Self {
            client: SocketAddr::new(client.ip().to_canonical(), client.port()),
            machine,
            held: shared.room.hold(),
            shared,
        }
    }

    /// Serves the connection to its end.
    pub(super) async fn run(mut self, stream: TcpStream) {
        // Replies are small and waited for.
        let _ = stream.set_nodelay(true);
        if let Err(error) = self.serve(stream).await {
            debug!(client = %self.client.ip(), %error, "SMTP connection broke");
        }
    }

    /// Serves any stream: in the clear, and encrypted once the client asks for it.
    async fn serve<IO>(&mut self, mut stream: IO) -> io::Result<()>
    where
        IO: AsyncRead + AsyncWrite + Send + Unpin,
    {
        if self.converse(&mut stream).await? == End::Closed {
            return Ok(());
        }
        let Some(config) = self.shared.options.tls.clone() else {
            return Ok(());
        };
        let handshake = TlsAcceptor::from(config).accept(stream);
        let mut stream = self.in_time(handshake).await?;
        self.machine.tls_established();
        self.converse(&mut stream).await.map(drop)
    }

    async fn converse<IO>(&mut self, stream: &mut IO) -> io::Result<End>
    where
        IO: AsyncRead + AsyncWrite + Send + Unpin,
    {
        let mut buffer = vec![0; READ_BYTES];
        let mut patience = self.patience();
        loop {
            let action = self.machine.poll();
            // A recipient is looked up at once; everything else may take time, and what was
            // answered so far should not wait for it.
            if !matches!(action, Action::Recipient(_)) {
                let output = self.machine.take_output();
                self.in_time(write(stream, &output)).await?;
            }
            match action {
                Action::Read => {
                    self.account();
                    self.renew(&mut patience);
                    if !self.read(stream, &mut buffer, &patience).await? {
                        return Ok(End::Closed);
                    }
                }
                Action::Recipient(recipient) => {
                    let query = RecipientQuery {
                        recipient,
                        protocol: self.shared.options.protocol,
                        client: self.client,
                    };
                    let answer = self.shared.sink.recipient(&query).await;
                    self.machine.answer_recipient(answer);
                }
                Action::Message(incoming) => self.store(*incoming).await,
                Action::StartTls => return Ok(End::StartTls),
                Action::Close => {
                    say_goodbye(stream, &mut buffer).await?;
                    return Ok(End::Closed);
                }
            }
        }
    }

    /// Reads once into the machine; false when the client has closed. Time that runs out and the
    /// end of the process are told to the machine, which then says goodbye.
    async fn read<IO>(
        &mut self,
        stream: &mut IO,
        buffer: &mut [u8],
        patience: &Patience,
    ) -> io::Result<bool>
    where
        IO: AsyncRead + Unpin,
    {
        let pause = Instant::now() + self.shared.options.limits.command_time;
        let read = tokio::select! {
            biased;
            () = self.shared.overtime.cancelled() => {
                self.machine.shut_down();
                return Ok(true);
            }
            () = self.shared.shutdown.cancelled(), if self.machine.is_between_commands() => {
                self.machine.shut_down();
                return Ok(true);
            }
            read = timeout_at(patience.until.min(pause), stream.read(buffer)) => read,
        };
        match read {
            Err(_) => self.machine.time_out(),
            Ok(Ok(0)) => return Ok(false),
            Ok(Ok(length)) => self
                .machine
                .receive(buffer.get(..length).unwrap_or_default()),
            Ok(Err(error)) => return Err(error),
        }
        Ok(true)
    }

    /// Hands a message to the sink: whole with SMTP, recipient by recipient with LMTP.
    async fn store(&mut self, incoming: Incoming) {
        let Incoming { envelope, raw } = incoming;
        // The last bytes came in with the end of the data; a buffer's worth is no reason to refuse.
        let _ = self.held.resize(raw.len());
        let arrival = Arrival {
            envelope,
            client: self.client,
            raw: Bytes::from(raw),
        };
        debug!(
            client = %self.client.ip(),
            protocol = self.shared.options.protocol.as_str(),
            bytes = arrival.raw.len(),
            recipients = arrival.envelope.recipients.len(),
            "mail received"
        );
        let sink = &self.shared.sink;
        let answers: Vec<MessageAnswer> = match arrival.envelope.protocol {
            Protocol::Smtp => vec![sink.receive(arrival).await],
            Protocol::Lmtp => {
                let parts = split(arrival).into_iter().map(|part| sink.receive(part));
                join_all(parts).await
            }
        };
        self.held.resize(0);
        self.machine.answer_message(&answers);
    }

    /// Takes room for what has come of a message, or lets the message go when there is none.
    fn account(&mut self) {
        if !self.held.resize(self.machine.held_bytes()) {
            self.machine.refuse_for_space();
            self.held.resize(0);
        }
    }

    fn patience(&self) -> Patience {
        let limits = &self.shared.options.limits;
        let expecting = self.machine.expecting();
        let time = match expecting {
            Expecting::Command => limits.command_time,
            Expecting::Data => limits.data_time,
        };
        Patience {
            expecting,
            steps: self.machine.steps(),
            until: Instant::now() + time,
        }
    }

    /// Starts the clock again when the client got a whole step further; single bytes do not count.
    fn renew(&self, patience: &mut Patience) {
        let further = self.machine.steps() != patience.steps
            || self.machine.expecting() != patience.expecting;
        if further {
            *patience = self.patience();
        }
    }

    /// Waits for a client that has to take our bytes or to shake hands.
    async fn in_time<T>(&self, io: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        tokio::select! {
            biased;
            () = self.shared.overtime.cancelled() => Err(io::ErrorKind::ConnectionAborted.into()),
            done = timeout(self.shared.options.limits.command_time, io) => done?,
        }
    }
}

async fn write<IO: AsyncWrite + Unpin>(stream: &mut IO, output: &[u8]) -> io::Result<()> {
    if output.is_empty() {
        return Ok(());
    }
    stream.write_all(output).await?;
    stream.flush().await
}

/// Closes our side and waits a moment for the client's.
async fn say_goodbye<IO>(stream: &mut IO, buffer: &mut [u8]) -> io::Result<()>
where
    IO: AsyncRead + AsyncWrite + Unpin,
{
    let closing = async {
        stream.shutdown().await?;
        while stream.read(buffer).await? > 0 {}
        Ok(())
    };
    timeout(LINGER, closing).await.unwrap_or(Ok(()))
}

/// One arrival for each recipient, all with the same bytes.
fn split(arrival: Arrival) -> Vec<Arrival> {
    let recipients = &arrival.envelope.recipients;
    let part = |recipient: &Recipient| {
        let mut part = arrival.clone();
        part.envelope.recipients = vec![recipient.clone()];
        part
    };
    recipients.iter().map(part).collect()
}

#[cfg(test)]
mod tests;
