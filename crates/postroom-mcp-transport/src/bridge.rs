//! Lines in, requests to an HTTP endpoint out.
