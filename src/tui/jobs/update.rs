//! Commands on the screen: `/jobs`, the key that sends a running one to the background, and the user's shell lines.

use crate::approval;
use crate::commands::{CommandContext, CommandEntry, Takes};
use crate::effect::PaneEffect;
use crate::jobs::JobsPane;
use crate::state::Medium;
use crate::ui_context::UiContext;
use steersman_base::id::{AgentId, JobId};
use steersman_base::protocol::{Accepted, Request};
use steersman_base::summary::seconds;
use steersman_base::text::visible_line;
use steersman_session::model::JobState;

/// Carries out `/jobs`: shows the list, the output of one, or stops one.
pub(super) fn command(context: &mut CommandContext<'_>, argument: &str) -> Vec<PaneEffect> {
    let CommandContext { overlays, ui, .. } = context;
    let (first, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let named = |id: &str| ui.run.jobs.get(&JobId::new(id.trim())).map(|job| job.id.clone());
    match (first, named(if first == "stop" { rest } else { first })) {
        ("", _) if ui.medium == Medium::Lines => listed(ui),
        ("", _) => {
            overlays.toggle(JobsPane::default);
            Vec::new()
        }
        ("stop", Some(job)) if ui.medium == Medium::Lines => vec![Request::StopJob { job }.into()],
        ("stop", Some(job)) => vec![ask_stop(job)],
        ("stop", None) => vec![PaneEffect::Say("write /jobs stop and the name of a job, such as j1".to_owned())],
        (_, Some(job)) if ui.medium == Medium::Lines => {
            let output = ui.run.jobs.get(&job).map(|job| job.output().text.clone()).unwrap_or_default();
            let lines: Vec<&str> = output.lines().collect();
            let last = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
            last.iter().map(|line| PaneEffect::Note(AgentId::main(), (*line).to_owned())).collect()
        }
        (_, Some(job)) => {
            overlays.open(JobsPane::at(Some(job)));
            Vec::new()
        }
        (other, None) => vec![PaneEffect::Say(format!("no job is called {}; /jobs lists them", visible_line(other)))],
    }
}

/// Lines of an output that the line output shows at once.
const LINES: usize = 20;

fn listed(ui: &UiContext) -> Vec<PaneEffect> {
    let line = |job: &JobState| {
        let time = seconds(job.elapsed_ms(ui.now));
        let line =
            format!("{}: {}: {}, {time}; {}", job.id, visible_line(&job.command), job.describe(), job.last_line());
        PaneEffect::Note(AgentId::main(), line)
    };
    let listed: Vec<PaneEffect> = ui.run.jobs.all().map(line).collect();
    if listed.is_empty() { vec![PaneEffect::Say("there are no background commands".to_owned())] } else { listed }
}

/// Asks whether a job is to be stopped, or says that it has ended.
pub(super) fn ask_stop(job: JobId) -> PaneEffect {
    PaneEffect::call(move |app| match app.ui.run.jobs.get(&job) {
        Some(job) if job.end.is_none() => vec![approval::ask_to_stop(job)],
        Some(_) | None => vec![PaneEffect::Say(format!("{job} has ended already"))],
    })
}

pub const BACKGROUND: CommandEntry = CommandEntry::new(
    "/background",
    Takes::Nothing,
    "Ctrl+B",
    "send the command that the shown agent waits for to the background",
    |context, _| vec![to_background(context.agent.clone())],
);

/// Sends the command that the agent waits for to the background.
fn to_background(agent: AgentId) -> PaneEffect {
    PaneEffect::call(move |app| {
        let reader = app.transcripts.reader(&agent);
        vec![match reader.and_then(|reader| reader.transcript.running_command()) {
            Some(call) => Request::ToBackground { agent: agent.clone(), call: call.clone() }.into(),
            None => PaneEffect::Say("the shown agent waits for no command".to_owned()),
        }]
    })
}

/// Says what came of a shell line.
pub fn line_started(line: &str, outcome: Result<JobId, String>) -> PaneEffect {
    match outcome {
        Ok(_) => PaneEffect::Quiet,
        Err(why) => PaneEffect::Reply(format!("not run: {why}: !{}", visible_line(line))),
    }
}

/// Says what came of a stop.
pub fn stopped(job: &JobId, accepted: Accepted) -> PaneEffect {
    match accepted {
        Accepted::Yes => PaneEffect::Say(format!("{job} is being stopped")),
        Accepted::No => PaneEffect::Say(format!("{job} has ended already")),
    }
}

/// Says what came of sending a command to the background.
pub fn sent_to_background(outcome: Result<(), String>) -> PaneEffect {
    match outcome {
        Ok(()) => PaneEffect::Say("the command goes on in the background; /jobs shows it".to_owned()),
        Err(why) => PaneEffect::Reply(format!("not sent to the background: {why}")),
    }
}
