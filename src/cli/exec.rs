//! `exec`: a turn without a screen, and the turns that later messages start.
//!
//! It uses the queue and the mailbox like the screen; listeners write standard output. It ends when a turn has
//! ended and every message that was read has entered the conversation. After a stop or a failure nothing more is
//! sent; unsent messages are returned and listed on standard error. Nothing here blocks: a signal works whatever
//! input, output and agent do.

mod progress;
mod start;
mod steering;

use std::io::{self, IsTerminal as _, Read as _};
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::approval::Answerer;
use crate::cli::args::{ExecArgs, Flags};
use crate::cli::exit::Exit;
use crate::cli::journal;
use crate::cli::load::{Start, load};
use crate::cli::output::Output;
use crate::cli::project::FrontEnd;
use crate::cli::questions::Questions;
use crate::cli::running::listen::{Hosted, Listening};
use crate::cli::runtime;
use crate::cli::setup::setup;
use crate::cli::steer_stdin::Lines;
use crate::host;
use crate::limits;
use crate::listener::{JsonLines, Listener, Terminal};
use crate::session::{Client, Hub};
use crate::text::is_blank;
use crate::tui::terminal::signals::Signals;
use steering::ExecRun;

/// Runs the prompt of the command line without a screen.
pub fn run(flags: &Flags, args: &ExecArgs) -> Exit {
    let answerer = if args.steer_stdin { Answerer::User } else { Answerer::Nobody };
    let loaded = load(flags, FrontEnd::Exec, answerer).map_err(|error| error.to_string()).and_then(|mut start| {
        start::check_model(&start.config)?;
        journal::begin(&mut start, flags)?;
        journal::close_unseen(&mut start);
        Ok((start, read_prompt(args)?))
    });
    match loaded {
        Ok((start, prompt)) => run_loaded(start, flags, args, &prompt),
        Err(sentence) => start::refuse(flags, args, &sentence, Exit::Usage),
    }
}

fn run_loaded(start: Start, flags: &Flags, args: &ExecArgs, prompt: &str) -> Exit {
    // Signals, questions and lines have a runtime of their own, which works whatever the agent's runtime does.
    let own = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (runtime, own) = match (runtime(), own) {
        (Ok(runtime), Ok(own)) => (runtime, own),
        (Err(error), _) | (_, Err(error)) => {
            let sentence = format!("the program cannot start its threads: {error}");
            return start::refuse(flags, args, &sentence, Exit::Failed);
        }
    };
    let exit = own.block_on(serve(start, flags, args, prompt, runtime.handle()));
    runtime.shutdown_background();
    exit
}

/// Runs the agent on `runtime`, and everything around it here.
async fn serve(start: Start, flags: &Flags, args: &ExecArgs, prompt: &str, runtime: &tokio::runtime::Handle) -> Exit {
    let opened = Signals::new().and_then(|signals| {
        let lines = args.steer_stdin.then(Lines::start).transpose()?;
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
    let record = out.apart();
    let json = args.json.then(|| Arc::new(JsonLines::new(record.clone())));
    let mut listeners: Vec<Arc<dyn Listener>> = match &json {
        Some(json) => vec![Arc::new(questions.in_json(record)), Arc::clone(json) as Arc<dyn Listener>],
        None if io::stdout().is_terminal() => vec![Arc::new(Terminal::framed(out.clone(), columns))],
        None => vec![Arc::new(Terminal::apart(out.clone(), err.clone()))],
    };
    listeners.extend([&out, &err].map(|output| Arc::new(output.clone()) as Arc<dyn Listener>));
    let cwd = start.cwd.clone();
    let journal = start.journal.clone();
    let listening = Listening::of(&start, !flags.session.no_socket, Hosted::Here);
    let host = host::start_with(runtime, |approvals| setup(start, listeners, approvals));
    if let Some(journal) = &journal {
        journal::attach(journal, host.handle());
    }
    let hub = Hub::new(host.handle().clone());
    // Nobody looks at an `exec` for such a sentence; the log has it.
    let server = listening.and_then(|listening| listening.begin(&hub).ok());
    let client = hub.first();
    let mut run = ExecRun::new(&client, lines, questions, err.clone(), args);
    let mut exit = steer(&mut run, &client, prompt, &mut signals, &out).await;
    let is_stopped = run.stop.is_some();
    let (unsent, reason) = (run.unsent, run.reason);
    let farewell = async {
        host.shutdown(limits::EXIT_GRACE).await;
        drop(server);
        if let Some(missing) = journal.and_then(|journal| journal.close()) {
            err.say(&missing);
        }
        if let Some(json) = json {
            start::end(&json, &cwd, unsent, exit, reason);
        }
        let patience = if is_stopped { limits::OUTPUT_FAREWELL } else { limits::OUTPUT_PATIENCE };
        let written = async {
            let all = out.drained(patience).await;
            (err.drained(patience).await && all, out.failure())
        };
        if is_stopped {
            timeout(limits::OUTPUT_FAREWELL_MOST, written).await.unwrap_or((false, None))
        } else {
            written.await
        }
    };
    let end = tokio::select! {
        biased;
        code = signals.end() => return Exit::of_signal(code),
        end = farewell => end,
    };
    if exit == Exit::Done {
        exit = match end {
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

/// Sends the prompt and steers the run until it has ended.
async fn steer(run: &mut ExecRun<'_>, client: &dyn Client, prompt: &str, signals: &mut Signals, out: &Output) -> Exit {
    let wake = Arc::new(Notify::new());
    let waker = Arc::clone(&wake);
    client.on_wake(Arc::new(move |_| waker.notify_one()));
    run.begin(prompt);
    loop {
        run.take_posts();
        run.send_waiting();
        if let Some(exit) = run.ended() {
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

/// Reads the prompt: the argument, or standard input when it is `-`.
///
/// # Errors
/// One sentence for the user.
fn read_prompt(args: &ExecArgs) -> Result<String, String> {
    let prompt = match args.prompt.as_str() {
        "-" if args.steer_stdin => {
            return Err("the prompt - reads standard input, and so does --steer-stdin: use one of them".to_owned());
        }
        "-" => {
            let mut text = Vec::new();
            // One byte above the limit, so that the queue itself refuses a text that is too long.
            let longest = limits::MESSAGE_BYTES as u64 + 3;
            io::stdin()
                .lock()
                .take(longest)
                .read_to_end(&mut text)
                .map_err(|error| format!("cannot read standard input: {error}"))?;
            let text = String::from_utf8(text).map_err(|_| "standard input is not UTF-8 text".to_owned())?;
            text.trim_end_matches(['\r', '\n']).to_owned()
        }
        prompt => prompt.to_owned(),
    };
    if is_blank(&prompt) { Err("the prompt is blank".to_owned()) } else { Ok(prompt) }
}
