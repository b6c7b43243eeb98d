//! The checks before `exec` runs, and the first and last event of its JSON output.

use std::io;
use std::path::Path;

use crate::cli::args::{ExecArgs, Flags};
use crate::cli::exit::{Exit, say};
use crate::cli::first_start::look;
use crate::config::Config;
use crate::event::{Event, Pending, SCHEMA};
use crate::listener::JsonLines;

/// Checks that a model is configured: a user of `exec` would not notice that the embedded one answers.
///
/// # Errors
/// One sentence for the user, which names the model servers that answer on this machine.
pub(super) fn check_model(config: &Config) -> Result<(), String> {
    if !config.unconfigured {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let found = runtime.map(|runtime| runtime.block_on(look(&config.http(), &config.local_ports))).unwrap_or_default();
    let offers = found.iter().map(|server| {
        let model = server.models.first().map(String::as_str).unwrap_or_default();
        format!("; {} answers here with {model}: --base-url {} uses it", server.what, server.base_url)
    });
    Err(format!(
        "no model is configured, and a key alone names none: add --model NAME, --base-url URL or --profile NAME, or \
         --provider demo for the embedded model{}",
        offers.collect::<String>()
    ))
}

/// Reports why nothing runs, also in the JSON output if there is one.
pub(super) fn refuse(flags: &Flags, args: &ExecArgs, sentence: &str, exit: Exit) -> Exit {
    say(sentence);
    if args.json {
        let cwd = flags.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
        end(&JsonLines::new(io::stdout()), &cwd, Vec::new(), exit, Some(sentence.to_owned()));
    }
    exit
}

/// Ends the JSON output. Its first and its last event are always written, however early the run ended.
pub(super) fn end(json: &JsonLines, cwd: &Path, unsent: Vec<Pending>, exit: Exit, message: Option<String>) {
    if !json.has_begun() {
        json.append(Event::SessionStarted {
            schema: SCHEMA,
            program: concat!("steersman ", env!("CARGO_PKG_VERSION")).to_owned(),
            cwd: cwd.display().to_string(),
            provider: "none".to_owned(),
            model: None,
            max_steps: None,
            tools: Vec::new(),
        });
    }
    if !unsent.is_empty() {
        json.append(Event::Returned { entries: unsent });
    }
    json.append(Event::SessionEnded { code: exit.code(), message });
    json.close();
}
