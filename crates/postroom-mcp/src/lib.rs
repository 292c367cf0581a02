//! The Model Context Protocol: envelope, era rule, errors, registry, subscriptions; bytes in, replies out.
