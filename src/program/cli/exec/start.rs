//! The checks before `exec` runs, its JSON output with the first and the last event, and its result.

use std::ffi::OsString;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use clap::Parser as _;
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::{ExecArgs, InputForm, OutputForm};
use crate::program::cli::args::{Command, CommandLine, Flags};
use crate::program::cli::exit::{Exit, print, say};
use crate::program::cli::first_start::look;
use crate::program::cli::load::Start;
use crate::program::cli::project::templates;
use crate::program::config::{Config, KeyPlace, Service};
use steersman_base::dialect::Dialect;
use steersman_base::event::{Envelope, Event, Pending, SCHEMA};
use steersman_base::limits;
use steersman_base::text::escaped_json;
use steersman_core::listener::{JsonLines, Listener};
use steersman_session::stream::{RunRecord, RunResult, StreamJson};

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
    let keys = config.services.iter().map(|(name, server)| {
        let key = if let KeyPlace::Variable { name, .. } = &server.key { name } else { "a key" };
        let flag = match server.dialect {
            dialect if Service::at(&server.base_url).is_none() => {
                format!("--provider {} --base-url {} --api-key-env {key}", dialect.name(), server.base_url)
            }
            Dialect::OpenAi if name != "openai" => format!("--base-url {}", server.base_url),
            dialect => format!("--provider {}", dialect.name()),
        };
        format!("; {key} is set: {flag} --model NAME uses {name}")
    });
    Err(format!(
        "no model is configured: add --model NAME, --base-url URL or --profile NAME, or --provider demo for the embedded model{}",
        offers.chain(keys).collect::<String>()
    ))
}

/// Reports why nothing runs, also in the JSON output if there is one.
pub(super) fn refuse(flags: &Flags, args: &ExecArgs, sentence: &str, exit: Exit) -> Exit {
    say(sentence);
    let cwd = flags.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let (record, reason) = (RunRecord::default(), Some(sentence.to_owned()));
    match args.form() {
        Some(OutputForm::Json) => {
            end(&record, &json_lines(args, &record, io::stdout()), &cwd, Vec::new(), exit, reason);
        }
        Some(OutputForm::Result) => {
            print(&object(&record.finish(exit.code(), reason, &[])));
        }
        Some(OutputForm::StreamJson) => {
            let stream = StreamJson::new(io::stdout(), None).lines(args.stream_lines());
            stream.finish(&record.finish(exit.code(), reason, &[]), false);
        }
        Some(OutputForm::Answer | OutputForm::Progress) | None => {}
    }
    exit
}

/// Reports a mistake in the arguments of `exec` in the output for programs that they ask for too; `None` when they ask for
/// none.
pub(in crate::program::cli) fn report_mistake(args: &[OsString], sentence: &str) -> Option<Exit> {
    let words: Vec<&str> = args.iter().skip(1).map_while(|arg| arg.to_str()).collect();
    let own = words.split(|word| *word == "exec").nth(1)?;
    let named = own.windows(2).find_map(|pair| ["--output", "--output-format"].contains(&pair[0]).then_some(pair[1]));
    let form = own.iter().find_map(|word| word.strip_prefix("--output=")).or(named);
    let form = if own.contains(&"--json") {
        "json"
    } else {
        form.filter(|form| ["json", "result", "stream-json"].contains(form))?
    };
    let line = CommandLine::try_parse_from(["steersman", "exec", "--output", form, "-"]).ok()?;
    match line.command? {
        Command::Exec(args) => Some(refuse(&line.flags, &args, sentence, Exit::Usage)),
        _ => None,
    }
}

/// Returns the writer of the JSON output.
pub(super) fn json_lines(args: &ExecArgs, record: &RunRecord, out: impl Write + Send + 'static) -> JsonLines {
    let record = record.clone();
    let most = args.max_event_bytes.map_or(limits::EVENT_BYTES, NonZeroUsize::get);
    let add = move |envelope: &Envelope, members: &mut Map<String, Value>| record.add_to(envelope, members);
    JsonLines::new(out).at_most(most).deltas(args.deltas.into()).adding(add)
}

/// Returns the writer of the lines in the shape of Claude Code.
pub(super) fn stream_json(
    start: &Start,
    args: &ExecArgs,
    record: &RunRecord,
    session: Option<String>,
    out: impl Write + Send + 'static,
) -> StreamJson {
    let names = templates(start).into_iter().map(|template| template.name).collect();
    let stream = StreamJson::new(out, session).lines(args.stream_lines()).commands(names);
    match args.input_form() {
        Some(InputForm::StreamJson) => stream.turn_by_turn(record.clone()),
        Some(InputForm::Json) | None => stream,
    }
}

/// Ends the JSON output. Its first and its last event are always written, however early the run ended.
pub(super) fn end(
    record: &RunRecord,
    json: &JsonLines,
    cwd: &Path,
    unsent: Vec<Pending>,
    exit: Exit,
    message: Option<String>,
) {
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
    record.finish(exit.code(), message.clone(), &unsent);
    if !unsent.is_empty() {
        json.append(Event::Returned { entries: unsent });
    }
    json.append(Event::SessionEnded { code: exit.code(), message });
    json.close();
}

/// Returns the result as one line.
pub(super) fn object(result: &RunResult) -> String {
    escaped_json(serde_json::to_string(result).unwrap_or_default()) + "\n"
}

/// The listener that writes which files a call has changed, behind its result.
pub(super) struct ChangedFiles {
    pub record: RunRecord,
    pub json: Arc<JsonLines>,
}

impl Listener for ChangedFiles {
    fn on_event(&self, envelope: &Envelope) {
        if let Some(changed) = self.record.files_of(envelope) {
            self.json.append_line(envelope.agent.clone(), envelope.parent.clone(), line("files_changed", &changed));
        }
    }

    fn label(&self) -> String {
        "ChangedFiles".to_owned()
    }
}

/// Returns a line of the JSON output that is no event.
pub(super) fn line(name: &str, fields: &impl Serialize) -> Map<String, Value> {
    let mut line = Map::new();
    line.insert("type".to_owned(), name.into());
    if let Ok(Value::Object(fields)) = serde_json::to_value(fields) {
        line.extend(fields);
    }
    line
}
