//! Cloudflare Email Routing: a Worker posts the raw mail and signs envelope, time and mail.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::{InboundMailError, InboundMailSource, InboundMessage};
use crate::{Provider, provider};

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

    fn read(
        &self,
        headers: &BTreeMap<String, String>,
        body: &[u8],
    ) -> Result<Option<InboundMessage>, InboundMailError> {
        let envelope = |name: &str| headers.get(name).cloned().unwrap_or_default();
        let sender = envelope("x-postroom-mail-from");
        let recipient = envelope("x-postroom-rcpt-to");
        if recipient.is_empty() || body.is_empty() {
            return Err(InboundMailError::Malformed(
                "no recipient or no mail".to_owned(),
            ));
        }
        // One id per mail and recipient; the same mail for two mailboxes is two messages.
        let mut digest = Sha256::new();
        digest.update(recipient.as_bytes());
        digest.update(b"\n");
        digest.update(body);
        Ok(Some(InboundMessage {
            id: hex::encode(digest.finalize()),
            from: sender.clone(),
            to: vec![recipient.clone()],
            received_for: vec![recipient],
            envelope_from: Some(sender),
            received_at: envelope("x-postroom-timestamp").trim().parse().ok(),
            raw: Some(body.to_vec()),
            ..InboundMessage::default()
        }))
    }
}
