//! Postmark.

use super::{InboundMailError, InboundMailSource, InboundMessage};
use crate::{Delivery, Provider, Verified, provider};

/// Mail by Postmark.
#[derive(Debug, Clone, Copy, Default)]
pub struct PostmarkInbound;

impl InboundMailSource for PostmarkInbound {
    fn kind(&self) -> &'static str {
        "postmark"
    }

    fn verifier(&self) -> &'static Provider {
        provider::find("postmark").unwrap_or(&provider::NONE)
    }

    fn parse(
        &self,
        _delivery: &Verified<Delivery>,
    ) -> Result<Option<InboundMessage>, InboundMailError> {
        Ok(None)
    }
}
