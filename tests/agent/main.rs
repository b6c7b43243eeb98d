//! The loop: turns, delivery, history, compaction, sub-agents, and what the errors of servers do to them.

#![allow(clippy::format_collect, clippy::format_push_string)] // How a test writes a long text.
#![allow(unreachable_pub)] // What the files of a test share.

use steersman_test_support as support;

mod agent;
mod approvals;
mod budget;
mod building;
mod call_ids;
mod cancel;
mod compaction;
mod context_size;
mod controls;
mod deliver_now;
mod dropped;
mod faults;
mod history;
mod images;
mod injection;
mod last_turn;
mod lifecycle;
mod long_wait;
mod next_turn;
mod pause_gate;
mod plan;
mod reasoning;
mod receipts;
mod refused_images;
mod replies;
mod spans;
mod staleness;
mod steering;
mod steering_trials;
mod subagent;
mod synthesizer;
mod taint;
mod temp_workspace;
mod tools_parallel;
mod truffle;
mod typed_tools;
