//! The operation table and the functions behind every surface.
