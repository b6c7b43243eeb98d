//! The built program: its commands, its configuration, and what goes through all of it.

#![allow(clippy::format_collect, clippy::format_push_string)] // How a test writes a long text.
#![allow(unreachable_pub)] // What the files of a test share.

use steersman_test_support as support;

mod claude_agents;
mod cli;
mod clients;
mod config;
mod context_files;
mod demo;
mod doctor;
mod examples;
mod exec;
mod exec_streams;
mod first_start;
mod headless;
mod hooks;
mod hostile_files;
mod hostile_project;
mod jobs;
mod kept_rules;
mod keymap_file;
mod keys;
mod layers;
mod llama_cpp;
mod manual;
mod mcp;
mod models;
mod outside;
mod own_files;
mod permissions;
mod personas;
mod plan;
mod plugins;
mod precedence;
mod profiles;
mod public_set_ups;
mod readme;
mod real_work;
mod registry;
mod sandbox_denied;
mod sandbox_ends;
mod secrets;
mod sessions;
mod set_ups;
mod skills;
mod steering;
mod steering_bench;
mod trust;
