//! The operator's relay: a host of the configuration, dialled here so that nothing else dials.
//!
//! Its address may be any, this host's own too: most relays stand beside the process or in a
//! network of one's own, and no tenant can name one. What stays refused is a listener of this very
//! process, where mail would go round for ever.

use std::{net::IpAddr, sync::Arc};

use postroom_mail::smtp::client::Fault;
use postroom_types::limit::EGRESS_ADDRESSES_TRIED;
use rustls::ClientConfig;
use tokio::{
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};

use super::{Egress, address};

impl Egress {
    /// Whether the operator allows a port beside the usual ones.
    pub fn allows_port(&self, port: u16) -> bool {
        let allowed = &self.policy.allow_ports;
        allowed.iter().any(|ports| ports.contains(port))
    }

    /// TLS for the relay, which trusts as for URLs and speaks another protocol above.
    pub(crate) fn relay_tls(&self) -> Arc<ClientConfig> {
        let mut config = ClientConfig::clone(&self.tls);
        config.alpn_protocols.clear();
        Arc::new(config)
    }

    /// Connects to the relay.
    ///
    /// # Errors
    /// [`Fault::NotResolved`], [`Fault::NotAllowed`] or [`Fault::Unreachable`].
    pub(crate) async fn dial_relay(
        &self,
        host: &str,
        port: u16,
        deadline: Instant,
    ) -> Result<TcpStream, Fault> {
        let refuse = |fault: Fault, detail: &dyn std::fmt::Display| {
            tracing::warn!(host, port, reason = fault.as_str(), %detail, "relay not dialled");
            fault
        };
        let addresses = match host.parse::<IpAddr>() {
            Ok(literal) => vec![literal],
            Err(_) => timeout_at(deadline, self.resolve(host))
                .await
                .map_err(|_| refuse(Fault::NotResolved, &"timeout"))?
                .map_err(|error| refuse(Fault::NotResolved, &error))?,
        };
        let tried = addresses.len().min(EGRESS_ADDRESSES_TRIED);
        for (at, given) in addresses.iter().take(tried).enumerate() {
            let address = address::unmapped(*given);
            if self.is_own(address, port) {
                return Err(refuse(Fault::NotAllowed, &"a listener of this process"));
            }
            // Each address that is left has its share of the time.
            let left = deadline.saturating_duration_since(Instant::now());
            let share = left / u32::try_from(tried - at).unwrap_or(1);
            match timeout(share, TcpStream::connect((address, port))).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => {
                    refuse(Fault::Unreachable, &error);
                }
                Err(_) => {
                    refuse(Fault::Unreachable, &"timeout");
                }
            }
        }
        Err(Fault::Unreachable)
    }
}
