//! Paths behind `@`: what is listed, what is offered, and what stands in the message then.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use steersman_base::id::AgentId;
use steersman_tui::message::paths::PathList;
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::run::path_walk::walk;

use super::pending_list::crew;
use crate::support::stage::Stage;

/// Lets these be the paths of the working directory.
pub fn list(stage: &mut Stage, names: &[&str]) {
    let (hidden, visible): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| name.starts_with('.'));
    let list = visible.iter().chain(&hidden).map(|name| (*name).into()).collect();
    stage.tell(Msg::Paths(PathList { names: list, visible: visible.len() }));
}

fn with(names: &[&str]) -> Stage {
    let mut stage = Stage::new(80, 24);
    list(&mut stage, names);
    stage
}

fn text(stage: &Stage) -> String {
    stage.app.message.text()
}

const NAMES: [&str; 6] = ["src/", "main/", "my notes.txt", "src/main.rs", "src/tui/view.rs", ".hidden"];

#[test]
fn a_path_is_offered_anywhere_and_tab_takes_it() {
    let mut stage = with(&NAMES);
    stage.keys("look at @mnrs");
    let screen = stage.screen();
    assert!(screen.contains("▸ src/main.rs") && !screen.contains("view.rs"), "{screen}");
    stage.keys("<tab>and more");
    assert_eq!(text(&stage), "look at @src/main.rs and more");
    stage.keys("<c-j>@view<enter>");
    assert_eq!(text(&stage), "look at @src/main.rs and more\n@src/tui/view.rs ");
    assert_eq!(stage.sent(), []);
    stage.keys("<enter>");
    assert_eq!(stage.sent()[0].0, "look at @src/main.rs and more\n@src/tui/view.rs ");
}

#[test]
fn a_name_is_offered_however_its_letters_are_spelled() {
    for (there, typed) in
        [("cafe\u{301}.txt", "caf\u{e9}"), ("caf\u{e9}.txt", "cafe\u{301}"), ("\u{1112}\u{1161}.md", "\u{d558}")]
    {
        let mut stage = with(&[there, "other"]);
        stage.keys(&format!("@{typed}<tab>"));
        assert_eq!(text(&stage), format!("@{there} "), "{typed}");
    }
}

#[test]
fn taking_a_path_is_one_step_of_undo_and_touches_nothing_else() {
    let mut stage = with(&NAMES);
    stage.keys("a @mnrs b<left><left><tab>");
    assert_eq!(text(&stage), "a @src/main.rs  b");
    stage.keys("<c-_>");
    assert_eq!(text(&stage), "a @mnrs b");
}

#[test]
fn a_directory_is_gone_into_and_a_blank_is_quoted() {
    let mut stage = with(&NAMES);
    stage.keys("@sr<tab>");
    assert_eq!(text(&stage), "@src/");
    stage.keys("vie<tab>");
    assert_eq!(text(&stage), "@src/tui/view.rs ");
    stage.keys("<c-u>see @notes<tab>now");
    assert_eq!(text(&stage), "see @\"my notes.txt\" now");
}

#[test]
fn behind_a_completed_directory_stands_what_is_in_it_also_with_a_blank_in_its_name() {
    let mut stage = with(&["src/", "src/main.rs", "my notes/", "my notes/today.md"]);
    stage.keys("@sr<tab>");
    let screen = stage.screen();
    assert!(screen.contains("▸ src/main.rs") && !screen.contains("▸ src/ "), "{screen}");
    stage.keys("<tab>");
    assert_eq!(text(&stage), "@src/main.rs ");
    stage.keys("<c-u>@my<tab>");
    assert_eq!(text(&stage), "@\"my notes/");
    stage.keys("<tab>");
    assert_eq!(text(&stage), "@\"my notes/today.md\" ");
}

#[test]
fn hidden_files_are_offered_once_a_dot_is_typed() {
    let mut stage = with(&NAMES);
    stage.keys("@hid");
    assert!(!stage.app.palette.is_open());
    stage.keys("<c-u>@.hid<tab>");
    assert_eq!(text(&stage), "@.hidden ");
}

#[test]
fn a_dot_alone_offers_hidden_paths_at_once_and_before_all_others() {
    let visible: Vec<String> = (0..40).map(|number| format!("file_{number}.rs")).collect();
    let names: Vec<&str> = visible.iter().map(String::as_str).chain([".env", ".github/", ".github/ci.yml"]).collect();
    for typed in ["@.", "see @."] {
        let mut stage = with(&names);
        let screen = stage.keys(typed).screen();
        assert!(screen.contains("▸ .env") && screen.contains(".github/ci.yml"), "{screen}");
        stage.keys("g<tab>");
        assert!(text(&stage).ends_with("@.github/"), "{}", text(&stage));
    }
}

#[test]
fn enter_sends_what_is_no_part_of_a_path_a_whole_path_and_a_bare_at_sign() {
    for typed in ["ping @zzz", "see @src/main.rs", "see @", "see @src/"] {
        let mut stage = with(&NAMES);
        stage.keys(typed).keys("<enter>");
        assert_eq!(stage.sent().len(), 1, "{typed}");
        assert_eq!(stage.sent()[0].0, typed);
    }
}

#[test]
fn esc_closes_the_list_for_this_path_only() {
    let mut stage = with(&NAMES);
    stage.keys("see @ma<esc>i");
    assert!(!stage.app.palette.is_open());
    stage.turn("").keys("<tab>");
    assert_eq!(stage.sent()[0].0, "see @mai", "Tab is a follow-up again");
    stage.keys("see @ma<esc> and @vi");
    assert!(stage.app.palette.is_open());
}

#[test]
fn agents_come_first_and_no_path_is_taken_for_one() {
    let mut stage = crew(80, 24);
    list(&mut stage, &["file_miner", "main", "all/", "file_miner 0"]);
    let screen = stage.keys("@file").screen();
    let agent = screen.find("@file_miner 0").unwrap();
    assert!(agent < screen.rfind("file_miner").unwrap(), "{screen}");
    for (typed, written) in [("@file<down>", "@./file_miner "), ("@mai", "@./main ")] {
        stage.keys("<c-u>").keys(typed).keys("<tab>");
        assert_eq!(text(&stage), written);
        let text = text(&stage);
        assert_eq!(stage.app.message.address(&text, &stage.app.message_context()).unwrap().to, [AgentId::main()]);
    }
    stage.keys("<c-u>@all/<tab><down><tab>");
    assert!(text(&stage).starts_with("@all/"), "{}", text(&stage));
}

#[test]
fn the_list_is_asked_for_when_first_wanted_and_again_when_it_is_old() {
    let lists = |stage: &Stage| stage.effects.iter().filter(|effect| **effect == Effect::ListPaths).count();
    let mut stage = Stage::new(80, 24);
    stage.keys("no path");
    assert_eq!(lists(&stage), 0);
    stage.keys(" @a");
    assert_eq!(lists(&stage), 1);
    stage.keys("b @c");
    assert_eq!(lists(&stage), 1, "it is being made");
    list(&mut stage, &["x"]);
    stage.keys(" @d");
    assert_eq!(lists(&stage), 1, "it is fresh");
    stage.wait(6_000).keys("e @f");
    assert_eq!(lists(&stage), 2);
}

#[test]
fn a_list_that_comes_while_a_path_is_typed_is_searched_at_once() {
    let mut stage = Stage::new(80, 24);
    stage.keys("@mai");
    assert!(!stage.app.palette.is_open());
    list(&mut stage, &NAMES);
    assert!(stage.screen().contains("▸ main/"), "{}", stage.screen());
}

#[test]
fn in_an_edit_of_a_pending_text_nothing_is_offered() {
    let mut stage = crew(80, 24);
    list(&mut stage, &NAMES);
    stage.keys("pending<enter><f2><enter> @mai");
    assert!(!stage.app.palette.is_open());
}

// --- what is listed

#[test]
fn the_walk_lists_what_git_would_and_nothing_from_outside() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.txt"), "").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    for directory in ["src/deep", "target", ".git", ".cache"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    for file in ["src/main.rs", "src/deep/a b.rs", "target/out", ".git/config", ".cache/x", ".env", "z.txt"] {
        fs::write(root.join(file), "").unwrap();
    }
    fs::write(root.join(".gitignore"), "target/\n").unwrap();
    symlink(outside.path(), root.join("away")).unwrap();
    fs::write(root.join(std::ffi::OsStr::from_bytes(b"esc\x1b[31m")), "").unwrap();
    fs::write(root.join(std::ffi::OsStr::from_bytes(b"no\xfftext")), "").unwrap();
    fs::write(root.join("bidi\u{202e}txt"), "").unwrap();
    let PathList { names, visible } = walk(root);
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let (shown, hidden) = names.split_at(visible);
    assert_eq!(shown, ["away", "src/", "z.txt", "src/deep/", "src/main.rs", "src/deep/a b.rs"]);
    assert_eq!(hidden, [".cache/", ".env", ".gitignore", ".cache/x"]);
}
