//! The bytes of one connection, in the clear or encrypted.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

/// One connection's bytes.
#[derive(Debug)]
pub(super) enum Wire {
    Clear(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
    /// A handshake failed and took the stream with it.
    Gone,
}

impl Wire {
    /// Encrypts what follows; the certificate has to be that of the host.
    pub(super) async fn encrypt(&mut self, host: &str, tls: &Arc<ClientConfig>) -> io::Result<()> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let Self::Clear(stream) = std::mem::replace(self, Self::Gone) else {
            return Err(gone());
        };
        let stream = TlsConnector::from(Arc::clone(tls))
            .connect(name, stream)
            .await?;
        *self = Self::Encrypted(Box::new(stream));
        Ok(())
    }

    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Clear(stream) => stream.read(buffer).await,
            Self::Encrypted(stream) => stream.read(buffer).await,
            Self::Gone => Err(gone()),
        }
    }

    /// Writes all of it, to the system.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Clear(stream) => stream.write_all(bytes).await,
            Self::Encrypted(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
            Self::Gone => Err(gone()),
        }
    }

    /// Reads what is there already: `None` when that is nothing, an empty read when it has ended.
    pub(super) fn read_now(&mut self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        let mut read = ReadBuf::new(buffer);
        let mut context = Context::from_waker(Waker::noop());
        let polled = match self {
            Self::Clear(stream) => Pin::new(stream).poll_read(&mut context, &mut read),
            Self::Encrypted(stream) => Pin::new(stream).poll_read(&mut context, &mut read),
            Self::Gone => Poll::Ready(Err(gone())),
        };
        match polled {
            Poll::Pending => None,
            Poll::Ready(done) => Some(done.map(|()| read.filled().len())),
        }
    }
}

fn gone() -> io::Error {
    io::ErrorKind::NotConnected.into()
}
