//! Wake-ups after commits.
