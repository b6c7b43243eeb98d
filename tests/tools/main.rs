//! The tools, and what they stand on: the workspace, the sandbox, commands, the web.

#![allow(clippy::format_collect, clippy::format_push_string)] // How a test writes a long text.
#![allow(unreachable_pub)] // What the files of a test share.

use steersman_test_support as support;

mod addresses;
mod atomic;
mod bash;
mod calculator;
mod changes;
mod child_environment;
mod diff;
mod edit;
mod fetch;
mod git_clone;
mod glob;
mod grep;
mod jobs;
mod odd_files;
mod output_bombs;
mod paths;
mod process_trees;
mod read;
mod sandbox;
mod spawner;
mod spawner_streams;
mod spellings;
mod swap_races;
mod touched;
mod web_scrape;
mod web_search;
mod workspace;
mod write;
