//! Model servers: every dialect, what servers send in truth, and the quirks of known ones.

#![allow(clippy::format_collect, clippy::format_push_string)] // How a test writes a long text.
#![allow(unreachable_pub)] // What the files of a test share.

use steersman_test_support as support;

mod answer_format;
mod anthropic;
mod assemble;
mod assemble_calls;
mod context_window;
mod equivalence;
mod gemini;
mod halves;
mod mutations;
mod proxies;
mod quirks;
mod quirks_known;
mod responses;
mod retry;
mod sse;
mod wire;
