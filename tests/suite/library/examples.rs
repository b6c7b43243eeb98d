//! Stories of the examples.
