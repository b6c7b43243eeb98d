//! `exec`: a turn without a screen, and the turns that later messages start.
//!
//! It uses the queue and the mailbox like the screen; listeners write standard output. It ends when a turn has
//! ended and every message that was read has entered the conversation. After a stop or a failure nothing more is
//! sent; unsent messages are returned and listed on standard error. Nothing here blocks: a signal works whatever
//! input, output and agent do.
//!
//! # Where things are
//!
//! - how a run without a screen ends: what stops it, the exit code, and the texts that were not sent: `ending.rs`
//! - texts that call a custom command or a skill, in the prompt, in lines and in requests: `fills.rs`
//! - `--permission-command`: a program of the user that decides about what would be asked: `permission.rs`
//! - the progress of a run without a screen: `progress.rs`
//! - lines, signals and updates of a run without a screen: `steering.rs`; tests: `exec_streams.rs`

pub(super) mod args;
mod ending;
mod fills;
mod input;
mod permission;
mod progress;
mod prompt;
mod result;
mod start;
mod steering;

pub(super) use prompt::standard_input;
pub(super) use start::report_mistake;

use std::io::{self, IsTerminal as _};
use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::Arc;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, print};
use crate::program::cli::load::{Start, load, writable};
use crate::program::cli::output::Output;
use crate::program::cli::project::{CalledPrompt, FrontEnd, called_prompt, templates};
use crate::program::cli::questions::Questions;
use crate::program::cli::running::listen::{Hosted, Listening};
use crate::program::cli::setup::setup;
use crate::program::cli::steer_stdin::Lines;
use crate::program::cli::{journal, two_runtimes};
use crate::program::config::RuleLists;
use args::{ExecArgs, OutputForm};
use permission::PermissionCommand;
use prompt::Prompt;
use result::Farewell;
use start::ChangedFiles;
use steering::{ExecRun, Keeping};
use steersman_base::assets;
use steersman_base::limits;
use steersman_base::protocol::Request;
use steersman_base::sync::lock;
use steersman_core::approval::Answerer;
use steersman_core::listener::{JsonLines, Listener, Terminal};
use steersman_session::host;
use steersman_session::journal::Journal;
use steersman_session::named_file::check_named;
use steersman_session::stream::{RunRecord, StreamJson};
use steersman_session::{Client, Hub};
use steersman_tui::terminal::signals::Signals;
use steersman_tui::terminal::watchdog;

/// Runs the prompt of the command line without a screen.
pub(super) fn run(flags: &Flags, args: &ExecArgs) -> Exit {
    if args.schema {
        print(assets::EXEC_SCHEMA);
        return Exit::Done;
    }
    let answerer = if args.can_answer() { Answerer::User } else { Answerer::Nobody };
    let loaded = load(flags, FrontEnd::Exec, answerer).map_err(|error| error.to_string()).and_then(|mut start| {
        start::check_model(&start.config)?;
        if flags.yes && args.permission_command.is_some() {
            return Err("--yes answers what --permission-command would be asked: use one of them".to_owned());
        }
        if let Some(path) = &args.output_last_message {
            check_named(path).map_err(|why| format!("cannot write {}: {why}", path.display()))?;
        }
        settle(&mut start, args)?;
        journal::begin(&mut start, flags)?;
        journal::close_unseen(&mut start)?;
        let permission = permission(&start, args)?;
        let mut prompt = prompt::read_prompt(args)?;
        if let Some(prompt) = &mut prompt {
            match called_prompt(&start, &prompt.text) {
                Some(CalledPrompt::Filled(text)) => prompt.text = text,
                Some(CalledPrompt::WithCommands) => prompt.is_filled_in = true,
                None => {}
            }
        }
        start.images = prompt.iter().flat_map(|prompt| &prompt.images).map(|image| image.name.clone()).collect();
        Ok((start, permission, prompt))
    });
    match loaded {
        Ok((start, permission, prompt)) => run_loaded(start, flags, args, permission, prompt),
        Err(sentence) => start::refuse(flags, args, &sentence, Exit::Usage),
    }
}

/// Puts the settings of `exec` alone into a start.
fn settle(start: &mut Start, args: &ExecArgs) -> Result<(), String> {
    let lists = RuleLists { allow: args.allow.clone(), ask: args.ask.clone(), deny: args.deny.clone() };
    lists.parse().map_err(|error| error.to_string())?;
    start.config.rules = lists.and(std::mem::take(&mut start.config.rules));
    start.appended_prompt = args
        .append_system_prompt
        .as_deref()
        .map(prompt::read_prompt_file)
        .transpose()
        .map_err(|why| format!("{why}; --append-system-prompt takes the name of a file"))?;
    start.trust.clone_from(&args.trust_project);
    start.max_rounds = args.max_rounds.map(NonZeroU32::get);
    start.only_tools.clone_from(&args.tools);
    start.output_schema = args.output_schema.as_deref().map(prompt::read_schema).transpose()?;
    Ok(())
}

/// Returns the program that decides about permissions.
fn permission(start: &Start, args: &ExecArgs) -> Result<Option<PermissionCommand>, String> {
    let Some(line) = &args.permission_command else { return Ok(None) };
    PermissionCommand::parse(line, &writable(&start.cwd, &start.config)).map(Some)
}

fn run_loaded(
    start: Start,
    flags: &Flags,
    args: &ExecArgs,
    permission: Option<PermissionCommand>,
    prompt: Option<Prompt>,
) -> Exit {
    // Signals, questions and lines have a runtime of their own, which works whatever the agent's runtime does.
    let (runtime, own) = match two_runtimes() {
        Ok(both) => both,
        Err(error) => return start::refuse(flags, args, &error, Exit::Failed),
    };
    let exit = own.block_on(serve(start, flags, args, permission, prompt, runtime.handle()));
    runtime.shutdown_background();
    exit
}

/// Runs the agent on `runtime`, and everything around it here.
async fn serve(
    start: Start,
    flags: &Flags,
    args: &ExecArgs,
    permission: Option<PermissionCommand>,
    prompt: Option<Prompt>,
    runtime: &tokio::runtime::Handle,
) -> Exit {
    let opened = Signals::new().and_then(|signals| {
        let is_read = args.steer_stdin || args.has_json_input();
        let lines = is_read.then(|| Lines::start(args.line_form())).transpose()?;
        Ok((signals, lines, Output::both()?))
    });
    let (mut signals, lines, (out, err)) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let sentence = format!("the program cannot handle signals, input or output: {error}");
            return start::refuse(flags, args, &sentence, Exit::Failed);
        }
    };
    let questions = Questions::new(err.apart(), lines.clone());
    let record = RunRecord::default();
    record.set_schema(start.output_schema.clone());
    let session = begin_session(&start, &record);
    let written = out.apart();
    let form = args.form();
    let json = (form == Some(OutputForm::Json)).then(|| Arc::new(start::json_lines(args, &record, written.clone())));
    let is_stream = form == Some(OutputForm::StreamJson);
    let stream =
        is_stream.then(|| Arc::new(start::stream_json(&start, args, &record, session.clone(), written.clone())));
    let mut listeners = listeners(&record, json.as_ref().map(|json| (json, &written)), args, &questions, (&out, &err));
    listeners.extend(stream.iter().map(|stream| Arc::<StreamJson>::clone(stream) as Arc<dyn Listener>));
    listeners.extend([&out, &err].map(|output| Arc::new(output.clone()) as Arc<dyn Listener>));
    let (cwd, journal) = (start.cwd.clone(), start.journal.clone());
    let templates = if lines.is_some() { templates(&start) } else { Vec::new() };
    let listening = Listening::of(&start, !flags.session.no_socket, Hosted::Here);
    let host = host::start_with(runtime, |approvals| {
        record.watch(&approvals);
        setup(start, listeners, approvals)
    });
    if let Some(journal) = &journal {
        journal::attach(journal, host.handle());
    }
    if let Some(stream) = &stream {
        let handle = host.handle().clone();
        stream.set_servers(move || handle.servers().map(|servers| servers.status()).unwrap_or_default());
    }
    let hub = Hub::new(host.handle().clone());
    let answers = record.clone();
    hub.on_request(move |by, request| {
        if let (Request::Answer { id, .. }, false) = (request, by.is_first()) {
            answers.answering(id.0, by.as_str());
        }
    });
    // Nobody looks at an `exec` for such a sentence; the log has it.
    let server = listening.and_then(|listening| listening.begin(&hub).ok());
    let client = hub.first_without_screen();
    let mut run = ExecRun::new(&client, lines, questions, err.clone(), args, record.clone());
    run.replies = json.clone();
    run.stream = stream.clone();
    run.keeping = if journal.is_some() { Keeping::InSession } else { Keeping::Nowhere };
    run.permission = permission.map(|permission| permission.in_session(session));
    run.fills.templates = templates;
    let limit = args.max_time.map(|time| Instant::now() + time);
    let exit = steer(&mut run, &client, prompt, limit, &mut signals, &out).await;
    run.end_model_switches();
    let is_stopped = run.stop.is_some();
    let is_signalled = run.stop.is_some_and(|stop| stop.is_signalled);
    let (hurry, hurried) = watch::channel(None);
    let farewell = Farewell {
        args,
        record: &record,
        json,
        stream,
        cwd: &cwd,
        strict_end: run.strict_end,
        is_signalled,
        signalled: hurried.clone(),
    };
    let (unsent, reason) = (run.unsent, run.reason);
    let farewell = async {
        host.shutdown(limits::EXIT_GRACE).await;
        drop(server);
        if let Some(missing) = journal.and_then(|journal| close(&journal, &farewell)) {
            err.say(&missing);
        }
        let exit = farewell.write(exit, reason, unsent, (&out, &err)).await;
        let is_hurried = is_stopped || hurried.borrow().is_some();
        let (all, failure) = drained((&out, &err), is_hurried).await;
        (exit, all, failure)
    };
    let (mut exit, all, failure) = match ended(farewell, &mut signals, &hurry, is_signalled).await {
        Ok(end) => end,
        Err(exit) => return exit,
    };
    if exit == Exit::Done {
        exit = match (all, failure) {
            (_, Some(kind)) if !is_stopped => unwritten(&err, kind),
            (false, None) => {
                err.say("the reader of standard output did not take the rest in time");
                Exit::Failed
            }
            _ => exit,
        };
        err.drained(limits::OUTPUT_FAREWELL).await;
    }
    exit
}

/// Makes the file of the session; returns the name that every line has, if it can be saved.
fn begin_session(start: &Start, record: &RunRecord) -> Option<String> {
    let saved = start.journal.as_ref().filter(|journal| journal.open());
    let session = saved.map(|journal| journal.session().to_string());
    record.set_session(session.clone());
    session
}

/// Ends the journal; returns a sentence about what is missing in it. A session of which nothing was saved has no name: nobody
/// can go on with it.
fn close(journal: &Journal, farewell: &Farewell<'_>) -> Option<String> {
    let missing = journal.close();
    let is_lost = lock(&journal.saving()).as_ref().is_some_and(|unsaved| !unsaved.has_begun);
    let session = Some(journal.session().to_string()).filter(|_| !is_lost && journal.has_begun());
    farewell.record.set_session(session.clone());
    if let Some(stream) = &farewell.stream {
        stream.set_session(session);
    }
    missing
}

/// Waits until the end of the run is written. The first signal hurries that, a second one does not wait for it.
///
/// # Errors
/// How the program ends by the signal.
async fn ended<T>(
    farewell: impl Future<Output = T>,
    signals: &mut Signals,
    hurry: &watch::Sender<Option<u8>>,
    is_signalled: bool,
) -> Result<T, Exit> {
    let mut farewell = pin!(farewell);
    let code = tokio::select! {
        biased;
        code = signals.end() => code,
        end = &mut farewell => return Ok(end),
    };
    if !is_signalled {
        watchdog::end_within(limits::QUIT_TIME, code);
        let _ = hurry.send(Some(code));
        tokio::select! {
            biased;
            _ = signals.end() => {}
            _ = timeout(limits::EXIT_GRACE + limits::OUTPUT_FAREWELL_MOST, farewell) => {}
        }
    }
    Err(Exit::of_signal(code))
}

/// Waits until both outputs are taken; returns whether they were in time, and what failed.
async fn drained((out, err): (&Output, &Output), is_hurried: bool) -> (bool, Option<io::ErrorKind>) {
    let patience = if is_hurried { limits::OUTPUT_FAREWELL } else { limits::OUTPUT_PATIENCE };
    let written = async {
        let all = out.drained(patience).await;
        (err.drained(patience).await && all, out.failure())
    };
    if is_hurried {
        timeout(limits::OUTPUT_FAREWELL_MOST, written).await.unwrap_or((false, None))
    } else {
        written.await
    }
}

/// Returns who hears of the run: the record first, then what writes standard output.
fn listeners(
    record: &RunRecord,
    json: Option<(&Arc<JsonLines>, &Output)>,
    args: &ExecArgs,
    questions: &Questions,
    (out, err): (&Output, &Output),
) -> Vec<Arc<dyn Listener>> {
    let mut listeners: Vec<Arc<dyn Listener>> = vec![Arc::new(record.clone())];
    match (json, args.form()) {
        (Some((json, written)), _) => {
            listeners.push(Arc::new(questions.in_json(written.clone())));
            listeners.push(Arc::<JsonLines>::clone(json));
            listeners.push(Arc::new(ChangedFiles { record: record.clone(), json: Arc::clone(json) }));
        }
        (None, Some(OutputForm::Result | OutputForm::StreamJson)) => {}
        (None, None | Some(OutputForm::Progress)) if io::stdout().is_terminal() => {
            listeners.push(Arc::new(Terminal::framed(out.clone(), columns)));
        }
        (None, Some(OutputForm::Progress)) => listeners.push(Arc::new(Terminal::new(out.clone()))),
        (None, None | Some(OutputForm::Answer | OutputForm::Json)) if args.output_schema.is_some() => {
            listeners.push(Arc::new(Terminal::apart(io::sink(), err.clone())));
        }
        (None, None | Some(OutputForm::Answer | OutputForm::Json)) => {
            listeners.push(Arc::new(Terminal::apart(out.clone(), err.clone())));
        }
    }
    listeners
}

/// Sends the prompt and steers the run until it has ended.
async fn steer(
    run: &mut ExecRun<'_>,
    client: &dyn Client,
    prompt: Option<Prompt>,
    limit: Option<Instant>,
    signals: &mut Signals,
    out: &Output,
) -> Exit {
    let wake = Arc::new(Notify::new());
    let waker = Arc::clone(&wake);
    client.on_wake(Arc::new(move |_| waker.notify_one()));
    if let Some(prompt) = prompt {
        run.begin(prompt);
    }
    loop {
        run.take_updates();
        run.send_waiting();
        if let Some(exit) = run.ended() {
            run.leave_others();
            run.list_unsent();
            run.unasked.say(&run.err);
            return exit;
        }
        let deadline = run.stop.map(|stop| stop.deadline);
        tokio::select! {
            biased;
            code = signals.end() => run.signal(code),
            kind = out.failed(), if run.stop.is_none() => run.output_failed(kind),
            () = wake.notified() => {}
            () = until(deadline) => run.progress.give_up(),
            decided = PermissionCommand::decided(run.permission.as_mut()), if run.stop.is_none() => {
                run.permission_decided(decided);
            }
            () = until(limit), if run.stop.is_none() => run.time_is_over(),
            () = next_lines(run.lines.as_ref(), &run.err), if run.has_room() => {
                run.read_lines();
                // Endless input must not delay signals.
                tokio::task::yield_now().await;
            }
        }
    }
}

/// Returns the columns of the terminal.
fn columns() -> usize {
    crossterm::terminal::size().map_or(80, |(columns, _)| columns.into())
}

/// Reports a failed write to standard output, unless its reader closed the pipe.
fn unwritten(err: &Output, kind: io::ErrorKind) -> Exit {
    if kind == io::ErrorKind::BrokenPipe {
        return Exit::Cancelled;
    }
    err.say(&format!("cannot write to standard output: {kind}"));
    Exit::Failed
}

/// Waits until messages about earlier lines are written, then for lines.
async fn next_lines(lines: Option<&Lines>, err: &Output) {
    match lines {
        Some(lines) => {
            err.room().await;
            lines.changed().await;
        }
        None => std::future::pending().await,
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
