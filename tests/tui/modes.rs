//! The approval mode: always on the screen, switched by a key or by name.

use steersman_base::event::Event;
use steersman_core::approval::{Mode, Policy, Sandboxed};

use crate::support::stage::Stage;

fn stage(width: u16, height: u16, sandboxed: Sandboxed) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.handle.approvals().configure(Policy { sandboxed: Some(sandboxed), ..Policy::default() }, Mode::Ask);
    stage.refresh();
    let sandbox = (sandboxed == Sandboxed::Yes).then(|| "bubblewrap".to_owned());
    stage.event("", Event::Guards { mode: "ask".to_owned(), sandbox, context_files: Vec::new() });
    stage
}

#[test]
fn shift_tab_goes_round_with_plan_and_auto_only_in_a_sandbox() {
    let mut sandboxed = stage(80, 24, Sandboxed::Yes);
    assert!(sandboxed.screen().ends_with("asks before changes · sandboxed"), "{}", sandboxed.screen());
    for mode in ["edits", "▲ ", "reads", "plans", "asks"] {
        sandboxed.keys("<s-tab>");
        let screen = sandboxed.screen();
        let last = screen.lines().last().unwrap();
        assert!(last.contains(mode) && last.ends_with(" · sandboxed"), "{mode}: {screen}");
    }
    let mut open = stage(80, 24, Sandboxed::No);
    assert!(open.screen().ends_with("asks before changes · not sandboxed"), "{}", open.screen());
    for mode in ["edits", "reads", "plans", "asks"] {
        open.keys("<s-tab>");
        let screen = open.screen();
        let last = screen.lines().last().unwrap();
        assert!(
            last.contains(mode) && (last.ends_with("not sandboxed") || last.ends_with("no sandbox")),
            "{mode}: {screen}"
        );
    }
}

#[test]
fn a_mode_is_set_by_name_and_a_refusal_says_why() {
    let mut stage = stage(110, 24, Sandboxed::No);
    stage.keys("/mode auto <enter>");
    let screen = stage.screen();
    assert!(
        screen.contains("the mode did not change") && screen.contains("asks before changes · not sandboxed"),
        "{screen}"
    );
    assert_eq!(stage.handle.approvals().mode(), Mode::Ask);
    stage.keys("/mode auto-without-sandbox<enter>");
    assert_eq!(stage.handle.approvals().mode(), Mode::AutoWithoutSandbox);
    assert!(stage.screen().contains("▲ "), "{}", stage.screen());
    stage.keys("/mode nonsense<enter>");
    assert!(stage.screen().contains("no mode is called nonsense"));
    stage.keys("/mode<enter>");
    assert!(stage.screen().contains("the mode is auto-without-sandbox"), "{}", stage.screen());
}

#[test]
fn the_mode_is_in_sight_from_forty_columns_on_whatever_else_is_said() {
    for height in [3, 8, 12, 15, 24] {
        for width in [40, 41, 47, 56, 64, 80, 96, 120] {
            for sandboxed in [Sandboxed::Yes, Sandboxed::No] {
                let mut stage = stage(width, height, sandboxed);
                for mode in Mode::ALL {
                    stage
                        .handle
                        .approvals()
                        .configure(Policy { sandboxed: Some(sandboxed), ..Policy::default() }, mode);
                    stage.refresh();
                    stage
                        .app
                        .status
                        .say("a sentence that is long enough to fill the whole of a line ".repeat(3), stage.app.ui.now);
                    let word = match mode {
                        Mode::Ask => "asks",
                        Mode::AutoEdit => "edits",
                        Mode::Auto | Mode::AutoWithoutSandbox => "▲ ",
                        Mode::ReadOnly => "reads",
                        Mode::Plan => "plans",
                    };
                    let screen = stage.screen();
                    let last = screen.lines().last().unwrap();
                    assert!(last.contains(word), "{mode:?} at {width}x{height}: {screen}");
                    let confined = if sandboxed == Sandboxed::Yes {
                        ["· sandboxed", "· sandboxed"]
                    } else {
                        ["not sandboxed", "no sandbox"]
                    };
                    assert!(confined.iter().any(|word| last.contains(word)), "{mode:?} at {width}x{height}: {screen}");
                }
            }
        }
    }
}

#[test]
fn completion_offers_the_modes_with_what_they_come_to() {
    let mut stage = stage(120, 36, Sandboxed::Yes);
    stage.keys("/mode auto");
    let screen = stage.screen();
    assert!(screen.contains("auto-without-sandbox") && screen.contains("also unconfined"), "{screen}");
}
