//! Folding in the agent tree: by key, and of agents that ended a while ago; the selection stays where it is.

use steersman_base::event::Outcome;
use steersman_base::protocol::Request;
use steersman_tui::msg::Effect;

use crate::support::stage::Stage;

fn rows(stage: &Stage) -> Vec<String> {
    let agents = &stage.app.ui.run.agents;
    let name = |row: &steersman_tui::agents::Row| {
        let id = agents.nodes()[row.agent].id.to_string();
        if row.kind.is_agent() { id } else { format!("+{id}") }
    };
    stage.app.tree.rows(agents).rows.iter().map(name).collect()
}

/// Main with `a` (beneath it `a1`, `a2`), `b` and `c`.
fn family(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.turn("").spawn("", "a").spawn("a", "a1").spawn("a", "a2").spawn("", "b").spawn("", "c");
    stage.tokens("a", 1_000, 0).tokens("a1", 2_000, 0);
    stage
}

#[test]
fn left_folds_and_then_goes_to_the_parent_and_right_comes_back() {
    let mut stage = family(120, 40);
    stage.keys("<f3><down><left>");
    assert_eq!(rows(&stage), ["", "a", "b", "c"]);
    assert_eq!(stage.app.tree.selected().as_str(), "a");
    stage.keys("<left>");
    assert!(stage.app.tree.selected().is_main());
    stage.keys("j<right>");
    assert_eq!(rows(&stage), ["", "a", "a1", "a2", "b", "c"]);
    stage.keys("l");
    assert_eq!(stage.app.tree.selected().as_str(), "a1");
    stage.keys("hh");
    assert_eq!(rows(&stage), ["", "a", "b", "c"]);
    stage.keys(" ");
    assert_eq!(rows(&stage), ["", "a", "a1", "a2", "b", "c"]);
}

#[test]
fn a_folded_row_shows_the_sums_and_the_worst_state_beneath_it() {
    let mut stage = family(120, 40);
    stage.finished("a", "a2", Outcome::Failed).keys("<f3><down> ");
    let screen = stage.screen();
    assert!(screen.contains("✗ a") && screen.contains("+2 agents, 1 running, Σ 2.0k"), "{screen}");
    stage.resize(80, 24);
    let screen = stage.screen();
    assert!(screen.contains("+2 agents, 1 running, 1 failed · Σ 2.0k tok"), "{screen}");
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let picture = stage.resize(width, height).picture();
        insta::assert_snapshot!(format!("tree_folded_{width}x{height}"), picture);
    }
}

#[test]
fn what_ended_folds_away_after_a_while_and_failures_stay() {
    let mut stage = family(120, 40);
    stage.finished("", "b", Outcome::Failed).finished("", "c", Outcome::Completed);
    stage.finished("a", "a1", Outcome::Cancelled).wait(29_000);
    assert_eq!(rows(&stage), ["", "a", "a1", "a2", "b", "c"]);
    stage.wait(1_000);
    assert_eq!(rows(&stage), ["", "a", "a2", "+a", "b", "+"]);
    let screen = stage.screen();
    assert!(screen.contains("+1 done") && screen.contains("+1 cancelled"), "{screen}");
}

#[test]
fn a_row_folds_away_at_its_moment_and_nothing_is_due_then() {
    let mut stage = family(120, 40);
    stage.wait(300).turn_ended("", Outcome::Completed, None);
    stage.wait(29_800);
    let due = stage.app.ui.now + jiff::SignedDuration::from_millis(200);
    assert_eq!(stage.app.changes_at(), Some(due));
    stage.wait(200);
    assert_eq!(rows(&stage), ["", "+"]);
    assert_eq!(stage.app.changes_at(), None);
}

#[test]
fn right_shows_what_has_folded_away_and_left_hides_it_again() {
    let mut stage = family(120, 40);
    stage.finished("", "c", Outcome::Completed).finished("", "b", Outcome::Completed).wait(30_000);
    assert_eq!(rows(&stage), ["", "a", "a1", "a2", "+"]);
    stage.keys("<f3><right>");
    assert_eq!(rows(&stage), ["", "a", "a1", "a2", "b", "c"]);
    stage.keys("<left>");
    assert_eq!(rows(&stage), ["", "a", "a1", "a2", "+"]);
    stage.keys("<end>");
    assert_eq!(stage.app.tree.selected().as_str(), "a2", "a row of sums is not an agent");
}

#[test]
fn the_selected_agent_keeps_its_row_until_it_is_left() {
    let mut stage = family(120, 40);
    stage.keys("<f3><end>");
    stage.finished("", "c", Outcome::Completed).finished("", "b", Outcome::Completed).wait(31_000);
    assert_eq!(rows(&stage), ["", "a", "a1", "a2", "c", "+"]);
    assert_eq!(stage.app.tree.selected().as_str(), "c");
    stage.keys("<up>");
    assert_eq!(stage.app.tree.selected().as_str(), "a2");
    assert_eq!(rows(&stage), ["", "a", "a1", "a2", "+"]);
}

#[test]
fn an_agent_that_runs_again_has_its_row_again() {
    let mut stage = family(120, 40);
    stage.finished("", "c", Outcome::Completed).wait(31_000);
    assert_eq!(rows(&stage), ["", "a", "a1", "a2", "b", "+"]);
    stage.turn("c");
    assert_eq!(rows(&stage), ["", "a", "a1", "a2", "b", "c"]);
    stage.finished("", "c", Outcome::Completed).wait(29_000);
    assert_eq!(rows(&stage), ["", "a", "a1", "a2", "b", "c"], "its time counts from its last end");
}

#[test]
fn x_cancels_one_child_and_refuses_what_would_hit_others() {
    let mut stage = family(120, 40);
    stage.keys("<f3>x");
    assert!(stage.screen().contains("Esc in the message stops the main agent"), "{}", stage.screen());
    stage.keys("<down>x");
    assert!(stage.screen().contains("X cancels it and the 2 agents beneath"), "{}", stage.screen());
    assert!(!stage.effects.iter().any(|effect| matches!(effect, Effect::Request(Request::Cancel { .. }))));
    stage.keys("<down>x");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::Cancel { agents: vec!["a1".into()] })));
    assert!(stage.screen().contains("not cancelled"), "nobody had controls here: {}", stage.screen());
    stage.finished("a", "a1", Outcome::Completed).keys("x");
    assert!(stage.screen().contains("a1 is not running"), "{}", stage.screen());
}

#[test]
fn shift_x_cancels_the_subtree_and_on_main_stops_the_turn() {
    let mut stage = family(120, 40);
    stage.keys("<f3><down>X");
    assert_eq!(
        stage.effects.last(),
        Some(&Effect::Request(Request::Cancel { agents: vec!["a".into(), "a1".into(), "a2".into()] }))
    );
    stage.keys("<home>X");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::Stop)));
    assert!(stage.screen().contains("stopping"), "{}", stage.screen());
}

#[test]
fn a_child_that_is_being_cancelled_says_so_at_once() {
    use steersman_core::control::Cancellable;

    let mut stage = family(120, 40);
    let flag = Cancellable::new();
    let flag = stage.handle.agent_controls().enroll(&"b".into(), &flag).cancellable;
    stage.keys("<f3><end><up>x");
    assert!(flag.is_cancelled() && stage.screen().contains("□ b"), "{}", stage.screen());
    assert!(!stage.screen().contains("□ c"));
}

#[test]
fn many_characters_at_once_never_cancel_an_agent() {
    let mut stage = family(120, 40);
    let now = stage.app.ui.now;
    stage.keys("<f3><end>").tell(steersman_tui::msg::Msg::Typed("x marks the spot".to_owned(), now));
    assert!(!stage.effects.iter().any(|effect| matches!(effect, Effect::Request(Request::Cancel { .. }))));
    assert_eq!(stage.app.message.text(), "x marks the spot");
}

#[test]
fn a_paste_is_text_in_every_pane() {
    for pane in ["<f3><end>", "<c-o>", "<f4>", "<f1>", "<f3>/<f4>"] {
        let mut stage = family(120, 40);
        stage.keys(pane).paste("x X ! u\r? i\n");
        assert_eq!(stage.effects, [], "{pane}");
        assert_eq!(stage.app.message.text(), "x X ! u\n? i\n", "{pane}");
        assert!(stage.app.focus.is_on(steersman_tui::state::Pane::Composer), "{pane}");
    }
}
