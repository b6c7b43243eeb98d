//! The list of the commands that the agents ran: `/commands`.

use serde_json::json;
use steersman_base::details::{CommandEnd, Details};
use steersman_base::event::{Event, JobEnd, JobEnding, JobOwner, JobStart, Outcome};
use steersman_base::message::Arguments;
use steersman_tui::command_runs::CommandRunsPane;
use steersman_tui::msg::Effect;

use crate::support::stage::Stage;

fn begin(stage: &mut Stage, agent: &str, id: &str, command: &str) {
    let arguments = Arguments::parse(&json!({ "command": command }).to_string());
    stage.event(agent, Event::ToolCall { id: id.into(), name: "bash".to_owned(), arguments });
}

fn end(stage: &mut Stage, agent: &str, id: &str, code: i32, output: &str) {
    let end = CommandEnd { code: Some(code), ..CommandEnd::default() };
    stage.event(agent, Event::ToolDetails { id: id.into(), details: Details::Command(end) });
    stage.result(agent, id, output);
}

/// A turn in which the main agent and a sub-agent ran commands; one of them still runs.
fn ran(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.event(
        "",
        Event::SessionStarted {
            schema: 1,
            program: "steersman".to_owned(),
            cwd: "/home/me/project".to_owned(),
            provider: "demo".to_owned(),
            model: None,
            max_steps: None,
            tools: vec!["bash".to_owned()],
        },
    );
    stage.turn("");
    begin(&mut stage, "", "c1", "cargo test --workspace");
    end(&mut stage, "", "c1", 101, "running 12 tests\n\x1b[31mtest parser::empty ... FAILED\x1b[0m\n");
    stage.spawn("", "file_miner 0");
    begin(&mut stage, "file_miner 0", "c1", "rg -n 'fn parse' src");
    end(&mut stage, "file_miner 0", "c1", 0, "src/parser.rs:12:fn parse()\n");
    begin(&mut stage, "", "c2", "make\nmake install");
    stage.wait(2_000);
    stage
}

#[test]
fn every_command_stands_there_with_its_directory_its_end_and_its_output() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = ran(width, height);
        stage.keys("/commands<enter><down><down>");
        insta::assert_snapshot!(format!("command_runs_{width}x{height}"), stage.picture());
    }
}

#[test]
fn words_narrow_the_list_by_command_output_and_agent_until_esc() {
    let mut stage = ran(100, 24);
    stage.keys("/commands failed<enter>");
    assert!(stage.screen().contains("exit code 101") && !stage.screen().contains("rg -n"), "{}", stage.screen());
    stage.keys("<esc>");
    assert!(stage.screen().contains("3 commands, 1 failed") && stage.screen().contains("rg -n"), "{}", stage.screen());
    stage.keys("/miner");
    assert!(stage.screen().contains("rg -n") && !stage.screen().contains("exit code 101"), "{}", stage.screen());
    stage.keys("<backspace><c-u>nothing<enter>");
    assert!(stage.screen().contains("No command holds these words."), "{}", stage.screen());
    stage.keys("<esc><esc>");
    assert!(!stage.app.focus.overlays.is_on::<CommandRunsPane>());
}

#[test]
fn a_command_is_shown_in_its_transcript_copied_and_put_into_the_message_to_run_again() {
    let mut stage = ran(100, 24);
    stage.keys("/commands<enter><down>y");
    assert!(stage.effects.contains(&Effect::Copy("rg -n 'fn parse' src".to_owned())));
    stage.keys("o");
    assert!(stage.effects.contains(&Effect::Copy("src/parser.rs:12:fn parse()\n".to_owned())));
    stage.keys("<enter>");
    assert_eq!(stage.app.tree.selected().as_str(), "file_miner 0");
    assert!(!stage.app.focus.overlays.is_on::<CommandRunsPane>());
    stage.keys("<esc>a draft");
    stage.app.focus.overlays.open(CommandRunsPane::default());
    stage.keys("<end>!");
    assert_eq!(stage.app.message.text(), "!cargo test --workspace");
    assert!(stage.screen().contains("what you were writing is kept"), "{}", stage.screen());
    stage.keys("<c-_>");
    assert!(stage.app.message.text().contains("a draft"), "{}", stage.app.message.text());
}

#[test]
fn a_command_runs_until_its_result_and_one_in_the_background_until_its_job_ends() {
    let mut stage = ran(100, 24);
    stage.event(
        "",
        Event::JobStarted(JobStart {
            elapsed_ms: None,
            id: "j1".into(),
            command: "make\nmake install".to_owned(),
            owner: JobOwner::Agent,
            call: Some("c2".into()),
        }),
    );
    stage.result("", "c2", "[in the background as j1]\n").turn_ended("", Outcome::Completed, None);
    stage.keys("/commands<enter>");
    assert!(stage.screen().contains("running"), "{}", stage.screen());
    let job = JobEnd {
        ending: JobEnding::Itself,
        end: CommandEnd { code: Some(2), ..CommandEnd::default() },
        output: "make: no rule\n".to_owned(),
        elapsed_ms: 65_000,
        ..JobEnd::interrupted("j1".into(), "")
    };
    stage.event("", Event::JobEnded(Box::new(job)));
    let screen = stage.screen();
    assert!(screen.contains("exit code 2") && screen.contains("make: no rule"), "{screen}");
    assert!(screen.contains("3 commands, 2 failed"), "{screen}");
}

#[test]
fn a_command_that_was_interrupted_does_not_run_for_ever() {
    let mut stage = ran(100, 24);
    stage.turn_ended("", Outcome::Cancelled, None);
    stage.keys("/commands<enter>");
    assert!(stage.screen().contains("interrupted · 2.0 s"), "{}", stage.screen());
}
