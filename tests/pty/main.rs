//! The real program on a pseudo-terminal, looked at through a terminal emulator.
//!
//! Each module is one way of using it. The server behind it records every request and fails the test when one is
//! invalid: a tool call without its result directly behind it.

#![allow(clippy::format_collect, clippy::format_push_string)] // How a test writes a long text.
#![allow(unreachable_pub)] // What the files of a test share.

use steersman_test_support as support;

mod any_moment;
mod approvals;
mod commands;
mod composer;
mod crew;
mod crowd;
mod embedded;
mod first_start;
mod jobs;
mod leaving;
mod lines;
mod looks;
mod markdown;
mod multiplexers;
mod outside;
mod pause;
mod pending;
mod pictures;
mod plan;
mod questions;
mod reading;
mod receipts;
mod servers;
mod sessions;
mod set_ups;
mod sizes;
mod steering;
mod stopping;
mod storms;
mod terminal;
mod transcript;
mod trust;
