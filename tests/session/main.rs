//! A session: the worker that takes turns, its journal, its sockets.

#![allow(clippy::format_collect, clippy::format_push_string)] // How a test writes a long text.
#![allow(unreachable_pub)] // What the files of a test share.

use steersman_test_support as support;

mod agent_controls;
mod agent_questions;
mod background_agents;
mod client;
mod conditions;
mod dialect_switch;
mod exec_names;
mod fills;
mod host;
mod journal;
mod library;
mod model_switch;
mod outside;
mod plan_mode;
mod queue_log;
mod read_only;
mod receipt_lives;
mod shell_lines;
mod steering_lives;
