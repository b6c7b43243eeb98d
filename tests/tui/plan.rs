//! Stories of the plan on the screen: the pane, its keys, the message in which a step is written, what waits to be told.

use std::sync::{Arc, Mutex};

use steersman_base::event::Event;
use steersman_base::id::AgentId;
use steersman_base::plan::{PlanChanged, PlanEdit, PlanNews, PlanNotified, StepState, WrittenStep};
use steersman_base::protocol::{Request, Shift};
use steersman_tui::msg::Effect;
use steersman_tui::plan::PlanPane;

use crate::support::plans::{add, mark};
use crate::support::stage::Stage;

/// A screen whose run tells what the user changes, as the worker does.
struct Scene {
    stage: Stage,
    told: Arc<Mutex<Vec<(AgentId, PlanChanged)>>>,
}

#[test]
fn ctrl_t_shows_the_plan_and_hides_it() {
    let mut scene = scene(100, 30);
    scene.stage.keys("<c-t>");
    assert!(scene.stage.app.focus.overlays.is_on::<PlanPane>());
    scene.stage.keys("<c-t>");
    assert!(scene.stage.app.focus.overlays.is_empty());
}

fn scene(width: u16, height: u16) -> Scene {
    Scene::of(Stage::new(width, height))
}

impl Scene {
    fn of(mut stage: Stage) -> Self {
        let told: Arc<Mutex<Vec<(AgentId, PlanChanged)>>> = Arc::default();
        let hears = Arc::clone(&told);
        stage.handle.plans().on_edit(move |agent, changed| hears.lock().unwrap().push((agent.clone(), changed)));
        stage.turn("");
        Self { stage, told }
    }

    /// Lets an agent write its plan.
    fn writes(&mut self, agent: &str, steps: &[(StepState, &str)]) {
        let step =
            |(state, text): &(StepState, &str)| WrittenStep { id: None, text: (*text).to_owned(), state: *state };
        let written = self.stage.handle.plans().write(&AgentId::new(agent), steps.iter().map(step).collect()).unwrap();
        self.stage.event(agent, Event::PlanChanged(written.changed.unwrap()));
    }

    fn writes_three(&mut self) {
        let long = "move every query to the new table, one file after the other, without a change of what it returns";
        self.writes(
            "",
            &[
                (StepState::Done, "read the migration and the schema that it starts from"),
                (StepState::Running, long),
                (StepState::Pending, "run the tests"),
            ],
        );
    }

    /// Presses keys; the events of what they changed come back.
    fn keys(&mut self, keys: &str) -> &mut Self {
        self.stage.keys(keys);
        self.hear()
    }

    fn hear(&mut self) -> &mut Self {
        let told = std::mem::take(&mut *self.told.lock().unwrap());
        for (agent, changed) in told {
            self.stage.event(agent.as_str(), Event::PlanChanged(changed));
        }
        self.stage.refresh();
        self
    }

    fn screen(&mut self) -> String {
        self.stage.screen()
    }

    /// Returns the changes that were asked for.
    fn asked(&self) -> Vec<PlanEdit> {
        let edit = |effect: &Effect| match effect {
            Effect::Request(Request::EditPlan { edit, .. }) => Some(edit.clone()),
            _ => None,
        };
        self.stage.effects.iter().filter_map(edit).collect()
    }
}

#[test]
fn the_plan_stands_in_a_pane_with_marks_that_need_no_colour() {
    for (width, height) in [(120, 36), (80, 24), (40, 12), (20, 5)] {
        let mut scene = scene(width, height);
        scene.writes_three();
        scene.keys("<a-x>");
        scene.keys("<down>xa");
        scene.keys("write the changelog<enter>");
        insta::assert_snapshot!(format!("plan_{width}x{height}"), scene.stage.picture());
    }
}

#[test]
fn the_details_show_the_plan_and_the_pending_list_what_is_not_told() {
    for (width, height, then) in [(160, 36, ""), (120, 36, "<a-i>"), (80, 24, "<a-i>"), (40, 12, "<f2>")] {
        let mut scene = scene(width, height);
        scene.writes_three();
        scene.keys("<a-x>jx<esc>");
        scene.keys("and mind the views<enter>").keys(then);
        insta::assert_snapshot!(format!("plan_watched_{width}x{height}"), scene.stage.picture());
    }
}

#[test]
fn each_key_asks_for_one_change_and_the_selection_follows_its_step() {
    let mut scene = scene(100, 30);
    scene.writes_three();
    scene.keys("<a-x>");
    assert!(scene.screen().contains("Plan of main: 1 of 3 done"), "{}", scene.screen());
    for key in [" ", "J", "<a-down>", "K", "<s-up>", "x", "x"] {
        scene.keys(key);
    }
    let moved = |shift| PlanEdit::Move { step: "s1".into(), shift };
    assert_eq!(
        scene.asked(),
        [
            mark("s1", StepState::Pending),
            moved(Shift::Later),
            moved(Shift::Later),
            moved(Shift::Earlier),
            moved(Shift::Earlier),
            mark("s1", StepState::StruckOut),
            mark("s1", StepState::Pending),
        ],
        "all are about the step that was selected at first"
    );
    scene.keys("K");
    assert!(
        scene.screen().contains("the plan was not changed: the step cannot be moved further"),
        "{}",
        scene.screen()
    );
}

#[test]
fn a_step_is_written_in_the_message_and_the_draft_comes_back() {
    let mut scene = scene(100, 30);
    scene.writes_three();
    scene.keys("a draft");
    scene.keys("<a-x><end>e");
    let screen = scene.screen();
    assert!(screen.contains("→ the words of the step of the plan") && screen.contains("run the tests"), "{screen}");
    scene.keys(" twice<enter>");
    assert_eq!(scene.asked(), [PlanEdit::Reword { step: "s3".into(), text: "run the tests twice".to_owned() }]);
    let screen = scene.screen();
    assert!(screen.contains("Plan of main") && screen.contains("run the tests twice"), "{screen}");
    scene.keys("<esc>");
    assert!(scene.screen().contains("a draft"), "{}", scene.screen());
    assert!(scene.stage.sent().is_empty(), "nothing of it was sent as a text");
}

#[test]
fn a_text_of_a_step_that_is_left_can_be_brought_back_and_one_that_is_refused_stays() {
    let mut scene = scene(100, 30);
    scene.writes_three();
    scene.keys("<a-x>a");
    scene.keys("half a step<esc>");
    let screen = scene.screen();
    assert!(screen.contains("Plan of main") && scene.asked().is_empty(), "{screen}");
    scene.keys("<esc><c-_>");
    assert!(scene.screen().contains("half a step"), "{}", scene.screen());
    scene.keys("<c-c><a-x>a");
    scene.keys("  <enter>");
    assert!(scene.screen().contains("the plan was not changed: a step needs a text"), "{}", scene.screen());
    assert!(!scene.stage.app.focus.overlays.is_on::<PlanPane>());
}

#[test]
fn what_is_not_told_waits_as_one_line_until_the_agent_is_told() {
    let mut scene = scene(100, 30);
    scene.writes_three();
    scene.keys("<a-x>xa");
    scene.keys("write the changelog<enter>");
    scene.keys("<esc>");
    let screen = scene.screen();
    assert!(screen.contains("⋯ plan: 1 step added, 1 struck out"), "{screen}");
    assert!(screen.contains("→ at the next tool boundary"), "{screen}");
    let plan = scene.keys("<f2>").screen();
    assert!(plan.contains("not sent yet: 1 step added, 1 struck out"), "{plan}");
    scene.keys("<esc>");
    let untold = scene.stage.handle.plans().take_update(&AgentId::main()).unwrap();
    let told = PlanNotified { news: PlanNews::Changed, version: untold.version, summary: "1 step added".to_owned() };
    let screen = scene.stage.event("", Event::PlanNotified(told)).screen();
    assert!(!screen.contains("⋯ plan:") && screen.contains("the agent is told of the plan: 1 step added"), "{screen}");
}

#[test]
fn an_older_change_that_comes_late_does_not_overwrite_a_newer_one() {
    let mut scene = scene(100, 30);
    scene.writes_three();
    let plans = scene.stage.handle.plans().clone();
    plans.edit(&AgentId::main(), &mark("s3", StepState::StruckOut), None).unwrap();
    let (_, older) = scene.told.lock().unwrap().pop().unwrap();
    plans.edit(&AgentId::main(), &add("ship it", None), None).unwrap();
    scene.hear();
    let screen = scene.stage.event("", Event::PlanChanged(older)).keys("<a-x>").screen();
    assert!(screen.contains("ship it"), "{screen}");
}

#[test]
fn the_plan_of_a_sub_agent_is_shown_while_that_is_in_focus_and_tab_shows_the_next_one() {
    let mut scene = scene(100, 30);
    scene.writes_three();
    scene.stage.spawn("", "worker 0");
    scene.writes("worker 0", &[(StepState::Running, "dig")]);
    scene.keys("<f3><down><esc>");
    let screen = scene.keys("/plan<enter>").screen();
    assert!(screen.contains("Plan of worker 0: 0 of 1 done") && screen.contains("[>] dig"), "{screen}");
    let screen = scene.keys("<tab>").screen();
    assert!(screen.contains("Plan of main"), "{screen}");
}

#[test]
fn hostile_text_of_a_step_is_shown_and_not_obeyed() {
    let mut scene = scene(100, 30);
    scene.writes("", &[(StepState::Pending, "x\u{1b}[31my\u{202e}z")]);
    let screen = scene.keys("<a-x>").screen();
    assert!(!screen.contains('\u{1b}') && !screen.contains('\u{202e}'), "{screen}");
    assert!(screen.contains('y') && screen.contains("[31m"), "{screen}");
}

#[test]
fn in_lines_the_plan_is_told_and_changed_in_words() {
    let mut scene = Scene::of(Stage::in_lines());
    scene.writes_three();
    scene.stage.written();
    scene.stage.line("/plan");
    let told = scene.stage.written();
    assert!(told.contains("plan: 1 of 3 done") && told.contains("[x] s1 read the migration"), "{told}");
    for (line, edit) in [
        ("/plan add write the changelog", add("write the changelog", None)),
        ("/plan edit 3 run all tests", PlanEdit::Reword { step: "s3".into(), text: "run all tests".to_owned() }),
        ("/plan strike s2", mark("s2", StepState::StruckOut)),
        ("/plan done 2", mark("s2", StepState::Done)),
        ("/plan todo 1", mark("s1", StepState::Pending)),
        ("/plan up 3", PlanEdit::Move { step: "s3".into(), shift: Shift::Earlier }),
    ] {
        scene.stage.line(line);
        scene.hear();
        assert_eq!(scene.asked().pop(), Some(edit), "{line}");
    }
    let told = scene.stage.written();
    assert!(told.contains("you changed the plan: 1 step added"), "{told}");
    scene.stage.line("/plan dance");
    let told = scene.stage.written();
    assert!(told.contains("/plan takes nothing, add TEXT"), "{told}");
}
