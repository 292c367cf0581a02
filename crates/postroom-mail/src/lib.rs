//! Bytes to message: budgeted MIME reading, text, quotes, threading keys, and the SMTP server state machine.
