//! The host: runs the agent on a worker task and hands its events to whoever shows them.
