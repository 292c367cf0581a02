//! Sockets: SMTP and LMTP listeners, TLS, the guarded outbound dialler.
