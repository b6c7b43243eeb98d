//! The embedded model: a deterministic planner behind a loopback chat-completions server.
