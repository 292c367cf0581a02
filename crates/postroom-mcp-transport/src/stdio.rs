//! One message per line over standard input and output.
