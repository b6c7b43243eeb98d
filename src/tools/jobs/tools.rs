//! The tools `job_output`, `job_input` and `job_stop`: an agent and its own commands in the background.
//!
//! Always holds: what a job prints comes back only to the agent that started it, each part once, and capped as that of
//! any command. What is written to a job is decided about as a command is: a shell would run it.

use std::fmt::Write as _;
use std::sync::Arc;

use grep_regex::RegexMatcherBuilder;

use super::kept::LinePattern;
use super::{BackgroundJob, Notify, jobs_of};
use steersman_base::event::JobEnding;
use steersman_base::limits;
use steersman_base::summary::seconds;
use steersman_core::approval::InputOperation;
use steersman_core::tool::{
    Args, Concurrency, FnTool, OnCancel, Parameters, Tool, ToolContext, ToolError, Traits, shorten,
};

/// Makes the tools for commands in the background; `traits` are those of the tool that starts them.
pub fn job_tools(traits: Traits) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(output_tool(traits)), Arc::new(input_tool(traits)), Arc::new(stop_tool(traits))]
}

fn output_tool(traits: Traits) -> FnTool {
    let parameters = Parameters::build(|p| {
        p.required_string("job", "The job, such as j1.");
        p.optional_string("wait_for", "Wait until a new line contains this text, or the command ends.");
        p.optional_boolean("regex", "Whether wait_for is a regular expression (Rust syntax). Default false.");
        p.optional_integer("timeout_s", "How long it waits, seconds, from 1 to 600. Default 30.");
    });
    let description = format!(
        "Returns what a command in the background has printed since you last asked, at most {} KiB of it, and whether it \
         still runs. With wait_for it waits for a line first.",
        limits::COMMAND_BYTES / 1024,
    );
    FnTool::new(
        "job_output",
        description,
        parameters,
        |args, context| async move { read_output(&args, &context).await },
    )
    .concurrency(Concurrency::Parallel)
    .traits(Traits { egress: false, ..traits })
}

/// Returns what a job printed.
async fn read_output(args: &Args, context: &ToolContext) -> Result<String, ToolError> {
    let id = args.str("job");
    let job = own(context, id)?;
    context.approve_use("job_output", id).await?;
    let time = args.seconds("timeout_s", limits::BACKGROUND_WAIT, limits::BACKGROUND_MOST_WAIT)?;
    let mut missed = None;
    if let Some(words) = args.opt_str("wait_for") {
        let pattern = pattern(words, args.bool("regex"))?;
        match tokio::time::timeout(time, job.line(pattern)).await {
            Ok(true) => {}
            Ok(false) => missed = Some("it ended before such a line came".to_owned()),
            Err(_) => missed = Some(format!("no such line came within {} s", time.as_secs())),
        }
    }
    Ok(report(&job, missed.as_deref(), context).await)
}

fn input_tool(traits: Traits) -> FnTool {
    let parameters = Parameters::build(|p| {
        p.required_string("job", "The job, such as j1.");
        p.required_string("text", "What is written, exactly so: a line ends with a newline.");
        p.optional_boolean("end", "Whether the input ends behind it, as Ctrl+D does. Default false.");
    });
    let description = format!(
        "Writes to the standard input of a command that was started in the background, at most {} KiB. The user may be \
         asked first, and may decline. Read the answer with job_output.",
        limits::BACKGROUND_INPUT_BYTES / 1024,
    );
    FnTool::new("job_input", description, parameters, |args, context| async move { write(&args, &context).await })
        .on_cancel(OnCancel::Wait)
        .traits(traits)
}

/// Writes to a job.
async fn write(args: &Args, context: &ToolContext) -> Result<String, ToolError> {
    let job = own(context, args.str("job"))?;
    let text = args.str("text").to_owned();
    if text.len() > limits::BACKGROUND_INPUT_BYTES {
        let most = limits::BACKGROUND_INPUT_BYTES / 1024;
        return Err(ToolError::failed(format!("the text is longer than {most} KiB")));
    }
    let operation = InputOperation { job: job.id.clone(), command: job.command.clone(), text };
    let operation = context.cancellable.unless_cancelled(context.approve(operation)).await??.take();
    let is_written = context.cancellable.unless_cancelled(job.write(&operation.text)).await?;
    is_written.map_err(|why| ToolError::failed(format!("not written to {}: {why}", job.id)))?;
    let mut result = format!("[{} bytes written to {}]\n", operation.text.len(), job.id);
    if args.bool("end") {
        job.close_input().await;
        result.push_str("[its input has ended]\n");
    }
    Ok(result)
}

fn stop_tool(traits: Traits) -> FnTool {
    let description = "Ends a command in the background, with everything that it started, and returns what it has \
                       printed since you last asked.";
    let parameters = Parameters::strings([("job", "The job, such as j1.")]);
    FnTool::new("job_stop", description, parameters, |args, context| async move { stop(&args, &context).await })
        .on_cancel(OnCancel::Wait)
        .traits(Traits { egress: false, ..traits })
}

/// Ends a job.
async fn stop(args: &Args, context: &ToolContext) -> Result<String, ToolError> {
    let id = args.str("job");
    let job = own(context, id)?;
    context.approve_use("job_stop", id).await?;
    job.stop(JobEnding::Stopped);
    context.cancellable.unless_cancelled(job.ended()).await?;
    Ok(report(&job, None, context).await)
}

fn own(context: &ToolContext, id: &str) -> Result<Arc<BackgroundJob>, ToolError> {
    jobs_of(context).and_then(|jobs| jobs.of_agent(&context.asker.agent, id)).map_err(ToolError::failed)
}

/// Says how a job stands, and what it printed since that was asked last.
async fn report(job: &BackgroundJob, missed: Option<&str>, context: &ToolContext) -> String {
    let end = job.end();
    let unread = job.read_new();
    if let (Some(_), Ok(jobs)) = (&end, jobs_of(context)) {
        jobs.forget_note(&job.id);
    }
    let time = seconds(job.elapsed_ms());
    // Writing to a string cannot fail.
    let mut text = match &end {
        Some(end) => format!("[{} ended after {time}: {}]\n", job.id, end.describe()),
        None => format!("[{} has run for {time}]\n", job.id),
    };
    if let Some(missed) = missed {
        let _ = writeln!(text, "[{missed}]");
    }
    if unread.lost > 0 {
        let _ = writeln!(text, "[{} bytes before this are not kept here]", unread.lost);
    }
    if unread.text.is_empty() {
        text.push_str("[no new output]\n");
    } else {
        text.push_str(&shorten(unread.text, None).await);
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    if let Some(file) = job.file() {
        let _ = writeln!(text, "[everything that it printed is in {}]", file.display());
    }
    for note in end.iter().flat_map(|end| &end.notes) {
        text.push_str(note);
        text.push('\n');
    }
    text
}

fn pattern(words: &str, is_expression: bool) -> Result<LinePattern, ToolError> {
    if words.is_empty() {
        return Err(ToolError::failed("wait_for is empty"));
    }
    if words.len() > limits::BACKGROUND_PATTERN_BYTES || words.contains('\n') {
        let most = limits::BACKGROUND_PATTERN_BYTES;
        return Err(ToolError::failed(format!("wait_for is a part of one line, of at most {most} bytes")));
    }
    if !is_expression {
        return Ok(LinePattern::Words(words.to_owned()));
    }
    let built = RegexMatcherBuilder::new().size_limit(limits::BACKGROUND_REGEX_BYTES).build(words);
    let built = built.map_err(|error| ToolError::failed(format!("wait_for is no regular expression: {error}")))?;
    Ok(LinePattern::Expression(Box::new(built)))
}

impl Notify {
    /// Reads what an agent wants to be told; nothing is the usual.
    pub(crate) fn of_argument(notify: Option<bool>) -> Self {
        if notify == Some(false) { Self::Never } else { Self::AtEnd }
    }
}
