//! The hooks on the screen: where each is from, when it runs, whether it is trusted, what it did last.

use steersman_base::event::{Event, HookEvent, HookOutcome, HookRun};
use steersman_base::protocol::{HookState, HookStatus, Notice};
use steersman_tui::msg::Msg;

use crate::support::stage::Stage;

fn hook(event: HookEvent, matcher: &str, command: &str, state: HookState) -> HookStatus {
    let file = match state {
        HookState::Own => "~/.config/steersman/hooks.json",
        HookState::Accepted | HookState::Declined | HookState::Unasked => "~/.claude/settings.json",
        HookState::OfTrustedProject | HookState::OfUntrustedProject => ".claude/settings.json",
    };
    let (file, matcher, command) = (file.to_owned(), matcher.to_owned(), command.to_owned());
    HookStatus { file, event, matcher, command, state, in_background: false }
}

fn hooks() -> Vec<HookStatus> {
    vec![
        hook(HookEvent::PreToolUse, "Bash", "~/bin/guard.py", HookState::Own),
        HookStatus {
            in_background: true,
            ..hook(HookEvent::PostToolUse, "Edit|Write", "cargo check --quiet", HookState::Accepted)
        },
        hook(HookEvent::SessionStart, "", "echo \u{1b}[31mhello", HookState::OfTrustedProject),
        hook(HookEvent::Stop, "", "./deploy.sh", HookState::Declined),
    ]
}

fn ran(event: HookEvent, command: &str, outcome: HookOutcome, words: &str) -> Event {
    let words = (!words.is_empty()).then(|| words.to_owned());
    Event::HookRan(HookRun { hook: event, command: command.to_owned(), call: None, outcome, words, elapsed_ms: 1_250 })
}

fn stage(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.tell(Msg::from(Notice::Hooks(hooks())));
    stage.event("", ran(HookEvent::PreToolUse, "~/bin/guard.py", HookOutcome::Done, ""));
    stage.event("", ran(HookEvent::PreToolUse, "~/bin/guard.py", HookOutcome::Blocked, "no \u{1b}]0;force pushes"));
    stage
}

#[test]
fn the_list_shows_every_hook_and_what_it_did_last() {
    for (width, height) in [(120, 36), (80, 24), (40, 12), (20, 5)] {
        let mut stage = stage(width, height);
        stage.keys("/hooks<enter>");
        insta::assert_snapshot!(format!("hooks_{width}x{height}"), stage.picture());
    }
    let mut stage = stage(120, 36);
    stage.keys("/hooks<enter>");
    for (key, parts) in [
        (
            "",
            &[
                "PreToolUse Bash in ~/.config/steersman/hooks.json",
                "ran 2 times; last: forbids it, 1.3 s",
                "no ␛]0;force pushes",
            ][..],
        ),
        ("<down>", &["runs, you said yes", "in the background: nobody waits for it"]),
        ("<down>", &["runs, you trust the project", "echo ␛[31mhello"]),
        ("<down>", &["not run, you said no", "Stop in ~/.claude/settings.json"]),
    ] {
        let screen = stage.keys(key).screen();
        assert!(parts.iter().all(|part| screen.contains(part)), "{parts:?}\n{screen}");
    }
    // What happens is shown at once, and a choice does nothing.
    stage.keys("<up><up><up>").event("", ran(HookEvent::PreToolUse, "~/bin/guard.py", HookOutcome::TimedOut, ""));
    assert!(stage.screen().contains("ran 3 times; last: took too long"), "{}", stage.screen());
    let before = stage.effects.len();
    stage.keys("<enter>");
    assert_eq!(stage.effects.len(), before, "{:?}", stage.effects);
    assert!(stage.keys("<esc>").screen().find("Hooks: when they run").is_none());
}

#[test]
fn a_hook_in_the_background_has_started_until_its_end_is_told() {
    let mut stage = stage(120, 36);
    let command = "cargo check --quiet";
    stage.event("", ran(HookEvent::PostToolUse, command, HookOutcome::Started, ""));
    stage.keys("/hooks<enter><down>");
    assert!(stage.screen().contains("started, no result yet"), "{}", stage.screen());
    stage.event("", ran(HookEvent::PostToolUse, command, HookOutcome::Done, ""));
    assert!(stage.screen().contains("ran 1 time; last: done, 1.3 s"), "{}", stage.screen());
    stage.event("", ran(HookEvent::PostToolUse, command, HookOutcome::Started, ""));
    assert!(stage.screen().contains("started, no result yet; ran 1 time before"), "{}", stage.screen());
}

#[test]
fn in_lines_the_list_is_told() {
    let mut stage = Stage::in_lines();
    stage.tell(Msg::from(Notice::Hooks(hooks()))).line("/hooks");
    let written = stage.written();
    for part in
        ["~/bin/guard.py: has not run · runs", "./deploy.sh: not run, you said no", "echo ␛[31mhello: has not run"]
    {
        assert!(written.contains(part), "{part}: {written}");
    }
}

#[test]
fn without_hooks_the_list_says_how_to_add_some() {
    let mut stage = Stage::new(80, 24);
    assert!(stage.keys("/hooks<enter>").screen().contains("there are no hooks; /help hooks says how to add some"));
}
