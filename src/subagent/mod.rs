//! Sub-agents: personas, the `agent` tool and the extension that adds them.
