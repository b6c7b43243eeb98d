//! MCP servers and hooks, as an agent uses them.

#![allow(clippy::format_collect, clippy::format_push_string)] // How a test writes a long text.
#![allow(unreachable_pub)] // What the files of a test share.

use steersman_test_support as support;

mod hooks;
mod mcp;
