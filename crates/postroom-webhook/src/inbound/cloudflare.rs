//! Cloudflare.

use super::{InboundMailError, InboundMailSource, InboundMessage};
use crate::{Delivery, Provider, Verified, provider};

/// Mail by Cloudflare.
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
        _delivery: &Verified<Delivery>,
    ) -> Result<Option<InboundMessage>, InboundMailError> {
        Ok(None)
    }
}
