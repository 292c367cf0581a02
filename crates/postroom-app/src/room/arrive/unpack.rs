//! Bodies that came compressed.
//!
//! Senders sign what they wrote, and something on the way may have compressed it; or they sign what
//! they compressed. Both are tried, the decompressed one first, and what was verified is what is kept.

use std::io::Read;

use bytes::Bytes;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use postroom_types::limit::{RAW_MAIL_BYTES, WEBHOOK_INFLATED_FACTOR};
use postroom_webhook::Provider;

use super::{Refused, WebhookRequest};

/// A body that may be what was signed.
#[derive(Debug, Clone)]
pub(super) struct Body {
    pub(super) bytes: Bytes,
    /// Whether it is not compressed any more.
    pub(super) inflated: bool,
}

/// How a body is compressed, as far as this program reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
}

/// The bodies that may have been signed, best first.
pub(super) fn bodies(provider: &Provider, request: &WebhookRequest) -> Result<Vec<Body>, Refused> {
    let raw = Body {
        bytes: request.body.clone(),
        inflated: false,
    };
    let Some(coding) = coding(&request.headers).filter(|_| !request.body.is_empty()) else {
        return Ok(vec![raw]);
    };
    let inflated = inflate(coding, &request.body, most(provider))?;
    Ok(vec![
        Body {
            bytes: inflated,
            inflated: true,
        },
        raw,
    ])
}

/// The bound of a body that came compressed; none for others.
pub(super) fn limit(provider: &Provider, headers: &[(String, Vec<u8>)]) -> Option<usize> {
    coding(headers).map(|_| most(provider))
}

/// The largest body once decompressed: what is kept has a bound of its own.
fn most(provider: &Provider) -> usize {
    let inflated = provider.body_limit.saturating_mul(WEBHOOK_INFLATED_FACTOR);
    inflated.min(RAW_MAIL_BYTES.max(provider.body_limit))
}

fn coding(headers: &[(String, Vec<u8>)]) -> Option<Coding> {
    let mut values = headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("content-encoding"))
        .map(|(_, value)| value.trim_ascii().to_ascii_lowercase());
    let value = values.next()?;
    // Several codings in a row are no webhook's; such a body is what it is.
    if values.next().is_some() {
        return None;
    }
    match value.as_slice() {
        b"gzip" | b"x-gzip" => Some(Coding::Gzip),
        b"deflate" => Some(Coding::Deflate),
        _ => None,
    }
}

fn inflate(coding: Coding, body: &[u8], most: usize) -> Result<Bytes, Refused> {
    let read = match coding {
        Coding::Gzip => read_most(MultiGzDecoder::new(body), most),
        // RFC 9110 section 8.4.1.2 says zlib; some senders leave its frame out.
        Coding::Deflate => match read_most(ZlibDecoder::new(body), most) {
            Err(Refused::Unreadable) => read_most(DeflateDecoder::new(body), most),
            read => read,
        },
    };
    read.map(Bytes::from)
}

fn read_most(decoder: impl Read, most: usize) -> Result<Vec<u8>, Refused> {
    let mut out = Vec::new();
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    decoder
        .take(bound)
        .read_to_end(&mut out)
        .map_err(|_| Refused::Unreadable)?;
    if out.len() > most {
        return Err(Refused::TooLarge);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };
    use std::io::Write as _;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    #[test]
    fn every_coding_reads_back() {
        let body = b"the very bytes";
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(body).expect("memory");
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::fast());
        deflate.write_all(body).expect("memory");
        for (coding, packed) in [
            (Coding::Gzip, gzip(body)),
            (Coding::Deflate, zlib.finish().expect("memory")),
            (Coding::Deflate, deflate.finish().expect("memory")),
        ] {
            let read = inflate(coding, &packed, body.len()).ok().expect("read");
            assert_eq!(read.as_ref(), body);
        }
    }

    #[test]
    fn at_the_bound_it_is_read_and_one_past_it_is_refused() {
        let packed = gzip(&vec![0; 1_000]);
        assert!(inflate(Coding::Gzip, &packed, 1_000).is_ok());
        assert!(matches!(
            inflate(Coding::Gzip, &packed, 999),
            Err(Refused::TooLarge)
        ));
        assert!(matches!(
            inflate(Coding::Gzip, b"no gzip at all", 999),
            Err(Refused::Unreadable)
        ));
    }
}
