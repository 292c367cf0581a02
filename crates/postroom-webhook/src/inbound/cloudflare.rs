//! Cloudflare Email Routing: a Worker posts the raw mail and signs envelope, time and mail.

use sha2::{Digest as _, Sha256};

use super::{InboundMailError, InboundMailSource, InboundMessage};
use crate::{Delivery, Provider, Verified, provider};

/// Mail by Cloudflare Email Routing.
#[derive(Debug, Clone, Copy, Default)]
pub struct CloudflareInbound;

impl InboundMailSource for CloudflareInbound {
    fn kind(&self) -> &'static str {
        "cloudflare-email"
    }

    fn verifier(&self) -> &'static Provider {
        provider::find("cloudflare-email").unwrap_or(&provider::NONE)
    }

    fn parse(
        &self,
        delivery: &Verified<Delivery>,
    ) -> Result<Option<InboundMessage>, InboundMailError> {
        let envelope = |name: &str| delivery.headers.get(name).cloned().unwrap_or_default();
        let sender = envelope("x-postroom-mail-from");
        let recipient = envelope("x-postroom-rcpt-to");
        if recipient.is_empty() || delivery.body.is_empty() {
            return Err(InboundMailError::Malformed(
                "no recipient or no mail".to_owned(),
            ));
        }
        // One id per mail and recipient; the same mail for two mailboxes is two messages.
        let mut digest = Sha256::new();
        digest.update(recipient.as_bytes());
        digest.update(b"\n");
        digest.update(&delivery.body);
        Ok(Some(InboundMessage {
            id: hex::encode(digest.finalize()),
            from: sender.clone(),
            to: vec![recipient.clone()],
            received_for: vec![recipient],
            envelope_from: Some(sender),
            received_at: delivery.occurred_at.map(|instant| instant.ms() / 1000),
            raw: Some(delivery.body.to_vec()),
            ..InboundMessage::default()
        }))
    }
}
