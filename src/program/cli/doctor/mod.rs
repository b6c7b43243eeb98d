//! `steersman doctor`: checks everything that a conversation needs, one line each, with advice for each problem.
//!
//! Every check has a time limit; Ctrl+C ends it at once. Checks that an earlier problem prevents are listed as skipped.
//!
//! # Where things are
//!
//! - `steersman doctor`: `mod.rs`, `connection.rs`, `model.rs`, `terminal.rs`; tests: `doctor.rs`

mod connection;
mod model;
mod terminal;

use std::io::{self, Write as _};

use crate::program::cli::args::Flags;
use crate::program::cli::exit::Exit;
use crate::program::cli::load::{Start, load};
use crate::program::cli::plugins;
use crate::program::cli::project::{FrontEnd, KeptRules, ProjectOffer, adopted, user_agents, user_library};
use crate::program::cli::sources::registry;
use crate::program::cli::workbench::wanted_sandbox;
use crate::program::cli::{keys, signals, with_runtime};
use crate::program::config::{ConfigError, KeyPlace, ModelSource, Server, Service};
use steersman_agent::subagent::Roster;
use steersman_base::text::visible_line;
use steersman_core::approval::Answerer;
use steersman_core::provider::ApiKey;
use steersman_tools::workspace::Sandbox;

pub(super) fn run(flags: &Flags) -> Exit {
    let checked = with_runtime(async {
        let mut signals = signals()?;
        let mut report = Report::new();
        Ok(tokio::select! {
            biased;
            code = signals.end() => Exit::Signal(code),
            () = check(flags, &mut report) => report.exit(),
        })
    });
    Exit::from_result(checked, Exit::Failed)
}

async fn check(flags: &Flags, report: &mut Report) {
    terminal::check(report);
    let start = match load(flags, FrontEnd::Exec, Answerer::Nobody) {
        Ok(start) => start,
        Err(error) => {
            let todo = "correct it; assets/config.example.toml of the source explains every key";
            return report.problem("configuration", &error.to_string(), todo);
        }
    };
    configuration(&start, flags, report);
    sandbox(&start, report).await;
    match &start.config.model {
        ModelSource::Embedded { .. } => {
            report.note("model", "the embedded one answers: --base-url, --model, --profile or --provider name another");
            model::check_embedded(report).await;
        }
        ModelSource::Server(server) => {
            let Ok(key) = key(server, report).await else { return };
            let http = start.config.http();
            if connection::check(&http, server, report).await {
                model::check_server(&http, server, key, report).await;
            } else {
                report.skipped("models, reply, tool call", "cannot reach the server");
            }
        }
    }
}

fn configuration(start: &Start, flags: &Flags, report: &mut Report) {
    let usual = start.places.config.as_ref().map(|config| config.join("config.toml"));
    let file = flags.config.clone().or(usual.clone().filter(|path| path.exists()));
    let message = match (&file, usual) {
        (Some(file), _) => format!("{} is read, no key in it is unknown", file.display()),
        (None, Some(usual)) => format!("there is no {}: using defaults", usual.display()),
        (None, None) => "there is no directory for it: using defaults".to_owned(),
    };
    report.ok("configuration", &message);
    for note in &start.places.notes {
        report.note("configuration", note);
    }
    for sentence in left_out(start) {
        report.note("set-up", &sentence);
    }
    for (name, profile) in &start.config.profiles {
        if let Err(error) = profile {
            report.problem("configuration", &format!("the profile {name}: {error}"), todo_about(error));
        }
    }
    if let Some(kept) = KeptRules::find(&start.places, &start.cwd) {
        let mut faults = Vec::new();
        let rules = kept.load(&mut faults).iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        if !rules.is_empty() {
            report.note("kept rules", &format!("{rules}; /rules on the screen removes one"));
        }
        for fault in faults {
            report.problem("kept rules", &fault, "correct the file, or take it away");
        }
    }
    if let Err(sentence) = registry(&start.config, start.places.config.as_deref()) {
        report.problem("configuration", &sentence, "correct the file, or remove it: then the bundled figures are used");
    }
}

/// Returns what of the user's and the project's files counts for nothing.
fn left_out(start: &Start) -> Vec<String> {
    let mut sentences = start.left_out.clone();
    let mut roster = Roster::bundled().unwrap_or_default();
    user_agents(start, &mut roster);
    let mut library = user_library(&start.places);
    // Whether the project is trusted or not: what it would bring.
    let offer = start.places.project.as_deref().and_then(|root| ProjectOffer::load(root, &start.places.below));
    sentences.extend(offer.iter().flat_map(|offer| offer.faults.iter().cloned()));
    for offer in offer.into_iter().chain(plugins::trusted_plugins(&start.places, &start.cwd, &mut sentences)) {
        adopted(&offer, &mut roster, &mut library);
    }
    sentences.extend(roster.left_out());
    sentences.append(&mut library.warnings());
    sentences
}

/// Reports the sandbox of commands, and why no better one works.
async fn sandbox(start: &Start, report: &mut Report) {
    let (wanted, around) = match wanted_sandbox(&start.config, &start.places, &start.cwd) {
        Ok(wanted) => wanted,
        Err(error) => return report.problem("sandbox", &error.to_string(), "start the program from a file that stays"),
    };
    let sandbox = match Sandbox::detect(wanted, &around).await {
        Ok(sandbox) => sandbox,
        Err(missing) => {
            let todo = "take sandbox.kind out, or name another: auto takes the best that works";
            return report.problem("sandbox", &missing.to_string(), todo);
        }
    };
    if let (Some(_), Some(why)) = (sandbox.name(), sandbox.why_names_are_open()) {
        report.note(
            "sandbox",
            &format!("commands that may write are asked about: protected names are not closed ({why})"),
        );
    }
    match (sandbox.name(), sandbox.why_not_better(), sandbox.why_none()) {
        (Some(name), Some(why), _) => report.ok("sandbox", &format!("commands are confined by {name} ({why})")),
        (Some(name), None, _) => report.ok("sandbox", &format!("commands are confined by {name}")),
        (None, _, why) => report.note("sandbox", &format!("commands are not sandboxed ({})", why.unwrap_or_default())),
    }
}

fn todo_about(error: &ConfigError) -> &'static str {
    if let ConfigError::NoKey(_) = error {
        "set the variable, or take the profile out"
    } else {
        "correct the profile in the configuration file"
    }
}

/// Reads the key; an error means that the server cannot be asked.
async fn key(server: &Server, report: &mut Report) -> Result<Option<ApiKey>, ()> {
    let service = Service::at(&server.base_url);
    let key = match keys::read_key(&server.key).await {
        Ok(key) => key,
        Err(sentence) => {
            report.problem("key", &sentence, "make the file or the command give the key and nothing else");
            return Err(());
        }
    };
    match (&server.key, service) {
        (KeyPlace::None, Some(service)) => {
            let variables = service.variables.join(" or ");
            let todo = format!("set {variables}, or name api_key_env, api_key_file or api_key_command");
            report.problem("key", &format!("there is none for {}", service.name), &todo);
        }
        (KeyPlace::None, None) => report.ok("key", "none is sent"),
        (place, _) => report.ok("key", &format!("it is from {place}")),
    }
    for note in [keys::warning(&server.key), server.plain_http()].into_iter().flatten() {
        report.note("key", &note);
    }
    Ok(key)
}

/// The report of a run: writes its lines and counts the problems.
pub(super) struct Report {
    problems: usize,
    ascii: bool,
}

impl Report {
    fn new() -> Self {
        Self { problems: 0, ascii: !terminal::is_utf8() }
    }

    /// Writes a passed check.
    pub(super) fn ok(&mut self, what: &str, message: &str) {
        self.line(("✓", "+"), "ok", what, message);
    }

    pub(super) fn note(&mut self, what: &str, message: &str) {
        self.line(("·", "-"), "note", what, message);
    }

    /// Writes a check that was skipped, and why.
    pub(super) fn skipped(&mut self, what: &str, why: &str) {
        self.line(("·", "-"), "skipped", what, why);
    }

    /// Writes a problem and what to do about it.
    pub(super) fn problem(&mut self, what: &str, message: &str, todo: &str) {
        self.problems += 1;
        self.line(("✗", "x"), "problem", what, message);
        let arrow = if self.ascii { "->" } else { "→" };
        let _ = writeln!(io::stdout(), "            {arrow} {}", visible_line(todo));
    }

    fn line(&self, (sign, plain): (&str, &str), word: &str, what: &str, message: &str) {
        let sign = if self.ascii { plain } else { sign };
        let _ = writeln!(io::stdout(), "{sign} {word:<8}  {what}: {}", visible_line(message));
        let _ = io::stdout().flush();
    }

    fn exit(&self) -> Exit {
        let words = match self.problems {
            0 => "all is well".to_owned(),
            1 => "1 problem".to_owned(),
            count => format!("{count} problems"),
        };
        let _ = writeln!(io::stdout(), "{words}");
        if self.problems == 0 { Exit::Done } else { Exit::Failed }
    }
}
