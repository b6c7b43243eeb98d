//! Stories of texts that wait for a condition on the screen, in lines and in scripts: how they are written, shown and edited.

use serde_json::json;
use steersman_base::event::{Delivery, Event, Outcome};
use steersman_base::id::AgentId;
use steersman_base::steering::{TextKind, Trigger};
use steersman_tui::msg::Effect;

use crate::support::stage::Stage;

/// A running turn of the main agent, in which a tool runs.
fn working() -> Stage {
    let mut stage = Stage::new(120, 36);
    stage.keys("migrate it<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false);
    stage.call("", "c1", "bash");
    stage
}

fn waiting(stage: &Stage) -> Vec<(String, String)> {
    let queue = stage.handle.interloper().peek();
    queue
        .into_iter()
        .map(|entry| (entry.text.clone(), entry.trigger.as_ref().map(ToString::to_string).unwrap_or_default()))
        .collect()
}

fn pair(text: &str, trigger: &str) -> (String, String) {
    (text.to_owned(), trigger.to_owned())
}

#[test]
fn a_text_with_a_condition_is_sent_by_a_command_and_the_list_says_what_it_waits_for() {
    let mut stage = working();
    stage.keys("/when bash cargo test* fails: look at the first error");
    assert!(stage.screen().contains("→ waits, is sent when bash cargo test* fails"), "{}", stage.screen());
    stage.keys("<enter>").keys("/every 20 steps: say where you are<enter>").keys("/when before write: wait<enter>");
    assert_eq!(
        waiting(&stage),
        [
            pair("look at the first error", "bash cargo test* fails"),
            pair("say where you are", "every 20 steps"),
            pair("wait", "before write"),
        ]
    );
    assert_eq!(stage.app.message.text(), "");
    let screen = stage.screen();
    for (text, when) in [
        ("m2 look at the first error", "→ when bash cargo test* fails"),
        ("m3 say where you are", "→ every 20 steps"),
        ("m4 wait", "→ before write"),
    ] {
        assert!(screen.lines().any(|line| line.contains(text) && line.contains(when)), "{screen}");
    }
}

#[test]
fn words_that_are_no_condition_stay_in_the_message_with_the_reason() {
    let mut stage = working();
    for (typed, why) in [
        ("/when soon: go on", "\"soon\" is no condition; write one of: TOOL WORDS fails"),
        ("/when 20 steps", "write the condition, a colon and the text"),
        ("/every context above 100%: x", "needs 1% to 99%"),
    ] {
        stage.keys(&format!("{typed}<esc><enter>"));
        assert!(stage.screen().contains(why), "{typed}: {}", stage.screen());
        assert_eq!(stage.app.message.text(), typed);
        stage.keys("<c-c>");
    }
    assert_eq!(waiting(&stage), []);
}

#[test]
fn it_has_a_kind_and_may_be_for_a_sub_agent_or_for_after_the_turn() {
    let mut stage = working();
    stage.spawn("", "digger 0").turn("digger 0");
    stage.keys("/when 3 steps: /note the port is 8080<enter>");
    stage.keys("/when agent ends: then commit<tab>").keys("/when bash fails: @digger 0 stop<enter>");
    let queue = stage.handle.interloper().peek();
    let seen: Vec<_> = queue.iter().map(|entry| (entry.text.as_str(), entry.kind, entry.delivery)).collect();
    assert_eq!(
        seen,
        [("the port is 8080", TextKind::Note, Delivery::Steer), ("then commit", TextKind::Add, Delivery::FollowUp)]
    );
    let sent = stage.effects.iter().find_map(|effect| match effect {
        Effect::Request(steersman_base::protocol::Request::Inject { to, message }) if !to.is_main() => {
            Some((to.clone(), message.text.clone(), message.trigger.as_ref()?.to_string()))
        }
        _ => None,
    });
    assert_eq!(sent, Some((AgentId::new("digger 0"), "stop".to_owned(), "bash fails".to_owned())));
}

#[test]
fn the_list_edits_text_and_condition_together() {
    let mut stage = working();
    stage.keys("/when bash fails: look<enter>").keys("<f2><enter>");
    assert_eq!(stage.app.message.text(), "/when bash fails: look");
    stage.keys("<c-a><c-k>/every 2 steps: look again<enter>");
    assert_eq!(waiting(&stage), [pair("look again", "every 2 steps")]);
    // What cannot be read stays in the edit.
    stage.keys("<f2><enter><c-a><c-k>/when soon: look<enter>");
    assert!(stage.screen().contains("\"soon\" is no condition"), "{}", stage.screen());
    assert_eq!(waiting(&stage), [pair("look again", "every 2 steps")]);
    stage.keys("<esc>");
    assert!(!stage.handle.interloper().peek()[0].held);
    // Without the command it waits for nothing; with one it waits again.
    stage.keys("<f2><enter><c-a><c-k>look now<enter>");
    assert_eq!(waiting(&stage), [pair("look now", "")]);
    stage.keys("<f2><enter><c-a><c-k>/when *.sql changes: look now<enter>");
    assert_eq!(waiting(&stage), [pair("look now", "*.sql changes")]);
}

#[test]
fn a_text_that_only_looks_like_one_with_a_condition_is_edited_as_a_text() {
    let mut stage = working();
    stage.keys("//when 2 steps: is a command<enter>");
    assert_eq!(waiting(&stage), [pair("/when 2 steps: is a command", "")]);
    stage.keys("<f2><enter>");
    assert_eq!(stage.app.message.text(), "//when 2 steps: is a command");
    stage.keys(" here<enter>");
    assert_eq!(waiting(&stage), [pair("/when 2 steps: is a command here", "")]);
}

#[test]
fn it_comes_back_with_its_condition_and_esc_leaves_it_where_it_is() {
    let mut stage = working();
    stage.keys("/when bash fails: look<enter>").keys("<a-up>");
    assert_eq!(stage.app.message.text(), "/when bash fails: look");
    assert_eq!(waiting(&stage), []);
    stage.keys("<enter>").keys("<f2>d");
    assert_eq!(waiting(&stage), []);
    stage.keys("u");
    assert_eq!(waiting(&stage), [pair("look", "bash fails")]);
    stage.keys("<esc>").keys("a steer<enter>").wait(350).keys("<esc>");
    assert_eq!(waiting(&stage), [pair("look", "bash fails")], "a stop gives back the other one alone");
    assert_eq!(stage.app.message.text(), "a steer");
}

#[test]
fn deliver_now_takes_it_only_where_it_is_selected_and_it_is_joined_with_nothing() {
    let mut stage = working();
    stage.keys("one<enter>").keys("/when bash fails: look<enter>").keys("<f5>");
    let now = |stage: &Stage| {
        let queue = stage.handle.interloper().peek();
        let now = queue.into_iter().filter(|entry| entry.delivery == Delivery::Now);
        now.map(|entry| entry.message.text).collect::<Vec<_>>()
    };
    assert_eq!(now(&stage), ["one"]);
    stage.keys("<f2><home>m");
    assert!(stage.screen().contains("m3 waits for a condition, it cannot be joined"), "{}", stage.screen());
    stage.keys("<end><f5>");
    assert_eq!(now(&stage), ["one", "look"]);
    assert_eq!(waiting(&stage)[1], pair("look", ""));
}

#[test]
fn a_condition_that_can_never_be_met_says_why() {
    let mut stage = working();
    let tools = ["bash", "agent"].map(str::to_owned).to_vec();
    let started = Event::SessionStarted {
        schema: 1,
        program: "steersman".to_owned(),
        cwd: "/".to_owned(),
        provider: "openai".to_owned(),
        model: None,
        max_steps: None,
        tools,
    };
    stage.event("", started);
    stage.spawn("", "digger 0").turn("digger 0");
    stage.keys("/when agent digger 0 ends: read it<enter>").keys("/when bsh fails: look<enter>");
    assert!(stage.screen().contains("→ when agent digger 0 ends"), "{}", stage.screen());
    assert!(stage.screen().contains("→ never: it has no tool bsh"), "{}", stage.screen());
    stage.finished("", "digger 0", Outcome::Completed);
    stage.keys("/when agent digger ends: and the next<enter>");
    assert!(stage.screen().contains("→ never: digger 0 has ended"), "{}", stage.screen());
    assert!(stage.screen().contains("→ when agent digger ends"), "another one may come: {}", stage.screen());
}

#[test]
fn completion_offers_the_forms_the_tools_and_the_agents_that_run() {
    let mut stage = working();
    stage.spawn("", "digger 0").turn("digger 0");
    stage.keys("/when ");
    let labels =
        |stage: &Stage| -> Vec<String> { stage.app.palette.offers().iter().map(|offer| offer.label.clone()).collect() };
    assert_eq!(labels(&stage).len(), 11);
    stage.keys("con");
    assert_eq!(labels(&stage), ["context above N%"]);
    stage.keys("<tab>");
    assert_eq!(stage.app.message.text(), "/when context above 70%: ");
    stage.keys("<c-a><c-k>/every agent d");
    assert_eq!(labels(&stage), ["agent digger 0 ends", "agent digger 0 fails"]);
    stage.keys("<enter>");
    assert_eq!(stage.app.message.text(), "/every agent digger 0 ends: ");
    stage.keys("read it");
    assert_eq!(labels(&stage), [] as [String; 0]);
}

#[test]
fn in_lines_it_is_written_read_and_changed_by_words() {
    let mut stage = Stage::in_lines();
    stage.line("migrate it");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false);
    stage.call("", "c1", "bash");
    stage.written();
    stage.line("/when bash fails: look");
    let written = stage.written();
    assert!(written.contains("pending 2: look (when bash fails)"), "{written}");
    stage.line("/edit 2 /every 5 steps: look again");
    assert_eq!(waiting(&stage), [pair("look again", "every 5 steps")]);
    stage.line("/edit 2 look once more");
    assert_eq!(waiting(&stage), [pair("look once more", "every 5 steps")], "other words wait for the same");
    stage.line("/edit 2 /when soon: look");
    assert!(stage.written().contains("is no condition"));
    stage.line("/pending");
    let written = stage.written();
    assert!(written.contains("look once more (every 5 steps)"), "{written}");
}

#[test]
fn only_a_condition_waits_so_an_empty_enter_lets_nothing_go() {
    let mut stage = working();
    stage.keys("/when bash fails: look<enter>");
    stage.turn_ended("", Outcome::Cancelled, None).pause();
    let before = stage.effects.len();
    stage.keys("<enter>");
    assert_eq!(stage.effects.len(), before, "{:?}", stage.effects);
    assert!(stage.handle.interloper().paused());
}

#[test]
fn the_wire_has_conditions_in_words() {
    let trigger = Trigger::every("bash cargo test* fails".parse().unwrap());
    let wire = json!({"condition": "bash cargo test* fails", "recurrence": "every"});
    assert_eq!(serde_json::to_value(&trigger).unwrap(), wire);
    let read: Trigger = serde_json::from_value(json!({"condition": "20 steps"})).unwrap();
    assert_eq!(read, Trigger::once("20 steps".parse().unwrap()));
    assert!(serde_json::from_value::<Trigger>(json!({"condition": "soon"})).is_err());
}
