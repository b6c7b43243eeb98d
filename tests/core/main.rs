//! What an agent is made of: the queue and its controls, listeners, approvals and the reading of shell text.

#![allow(clippy::format_collect, clippy::format_push_string)] // How a test writes a long text.
#![allow(unreachable_pub)] // What the files of a test share.

use steersman_test_support as support;

mod flag_and_budget;
mod listeners;
mod params;
mod plain_output;
mod plan_steps;
mod policy_order;
mod protected;
mod queue;
mod queue_model;
mod rules;
mod scripted_provider;
mod shell_policy;
