//! Resend.

use super::{InboundMailError, InboundMailSource, InboundMessage};
use crate::{Delivery, Provider, Verified, provider};

/// Mail by Resend.
#[derive(Debug, Clone, Copy, Default)]
pub struct ResendInbound;

impl InboundMailSource for ResendInbound {
    fn kind(&self) -> &'static str {
        "resend"
    }

    fn verifier(&self) -> &'static Provider {
        provider::find("resend").unwrap_or(&provider::NONE)
    }

    fn parse(
        &self,
        _delivery: &Verified<Delivery>,
    ) -> Result<Option<InboundMessage>, InboundMailError> {
        Ok(None)
    }
}
