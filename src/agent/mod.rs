//! The agent: one conversation, its loop and its lifecycle.
