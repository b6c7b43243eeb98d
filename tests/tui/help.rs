//! Help: the list with its filter, the pages of the manual behind it, `/help` with a topic and with words.

use crossterm::event::MouseEventKind;
use ratatui::style::Modifier;
use steersman_base::manual::MANUAL;
use steersman_tui::keymap::Context;
use steersman_tui::state::Pane;

use super::tui_shell::scene;
use crate::support::stage::Stage;

/// Returns the row that the sign of the selection stands in.
#[track_caller]
fn selected(screen: &str) -> &str {
    screen.lines().find_map(|row| row.split_once("│ › ")).map(|(_, row)| row.trim_end_matches(['│', ' '])).unwrap()
}

#[test]
fn it_names_every_key_and_scrolls_no_further_than_its_end() {
    let mut stage = Stage::new(80, 24);
    stage.keys("<f1>");
    let mut seen = stage.screen();
    for _ in 0..60 {
        stage.keys("<pgdn>");
        seen.push_str(&stage.screen());
    }
    for binding in Context::all().flat_map(Context::rows) {
        assert!(seen.contains(binding.name), "{}", binding.name);
    }
    assert!(seen.contains("steersman --base-url http://127.0.0.1:8080"));
    for page in MANUAL {
        assert!(seen.contains(&format!("  {}  ", page.topic)) && seen.contains(page.title()), "{}", page.topic);
    }
    let end = stage.keys("<end>").screen();
    assert_eq!(stage.keys("<down>").screen(), end);
    assert_ne!(stage.keys("<up>").screen(), end);
    assert!(stage.keys("<home>").screen().contains("Commands, at the start of the message"));
}

#[test]
fn it_begins_with_the_commands_and_is_filtered_by_typing() {
    let mut stage = Stage::new(80, 24);
    stage.keys("a draft<f1>");
    let screen = stage.screen();
    assert!(screen.find("Commands, at the start of the message") < screen.find("/help"), "{screen}");
    assert!(screen.contains("/model"), "{screen}");
    let screen = stage.keys("LEDGER ex").screen();
    assert!(screen.contains("/LEDGER ex") && screen.contains("/export") && screen.contains("F7"), "{screen}");
    assert!(!screen.contains("/model") && !screen.contains("Connect a model"), "{screen}");
    let screen = stage.keys("q!").screen();
    assert!(screen.contains("Nothing here has these words.") && screen.contains("The nearest topic is"), "{screen}");
    assert!(stage.keys("<bs><bs>").screen().contains("/export"));
    assert!(stage.keys("<c-u>").screen().contains("/model"));
    let screen = stage.keys("connect").screen();
    assert!(screen.contains("steersman --base-url") && screen.contains("Lines of the manual"), "{screen}");
    stage.keys("<esc>");
    assert_eq!((stage.app.focus.overlays.is_empty(), stage.app.message.text().as_str()), (true, "a draft"));
    assert!(stage.keys("<f1>").screen().contains("/model"), "it opens without the filter of the last time");
}

#[test]
fn enter_opens_a_page_and_backspace_and_esc_go_back_to_where_the_list_was() {
    let mut stage = scene(120, 36);
    let list = stage.keys("<f1><end>").screen();
    assert_eq!(selected(&list).split_whitespace().next(), MANUAL.last().map(|page| page.topic));
    let from_the_end = MANUAL.iter().rev().position(|page| page.topic == "configuration").unwrap();
    let list = stage.keys(&"<up>".repeat(from_the_end)).screen();
    assert!(selected(&list).starts_with("configuration "), "{list}");
    let page = stage.keys("<enter>").screen();
    assert!(page.contains(" Help: Configuration ") && page.contains("# Configuration"), "{page}");
    assert!(page.contains("Esc: back to the list"), "{page}");
    assert_eq!(stage.keys("<bs>").screen(), list);
    stage.keys("<enter>").screen();
    assert_eq!(stage.keys("<esc>").screen(), list);
    stage.keys("<esc>");
    assert_eq!((stage.app.focus.overlays.is_empty(), stage.app.focus.pane), (true, Pane::Composer));
    stage.keys("<f1>sandbox<enter>").screen();
    assert!(!stage.keys("<f1>").screen().contains("Help: "), "its key closes it from a page too");
}

#[test]
fn a_page_scrolls_by_lines_and_pages_and_no_further_than_its_ends() {
    let mut stage = Stage::new(80, 24);
    let top = stage.keys("/help keys<enter>").screen();
    assert!(top.contains("# Keys"), "{top}");
    assert_eq!(stage.keys("<up>").screen(), top);
    let lower = stage.keys("<down>").screen();
    assert_ne!(lower, top);
    assert_eq!(stage.keys("<up>").screen(), top);
    assert!(!stage.keys("<pgdn><pgdn>").screen().contains("# Keys\n"));
    assert_eq!(stage.keys("<pgup><pgup>").screen(), top);
    let end = stage.keys("<end>").screen();
    assert!(end.contains("cancel-agent = []"), "{end}");
    assert_eq!(stage.keys("<down><pgdn>").screen(), end);
    assert_ne!(stage.keys("<up>").screen(), end);
    assert_eq!(stage.keys("<home>").screen(), top);
    stage.mouse(MouseEventKind::ScrollDown, (40, 10)).screen();
    stage.mouse(MouseEventKind::ScrollUp, (40, 10));
    assert_eq!(stage.screen(), top);
    assert_eq!(stage.keys("xyz").screen(), top, "letters do nothing there");
    assert_eq!(stage.app.message.text(), "");
}

#[test]
fn words_find_lines_of_all_pages_and_enter_goes_to_the_line_whatever_the_width() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        for (words, topic, there) in [
            ("ubuntu bwrap", "sandbox", "ubuntu"),
            ("sigterm sighup", "exec", "sigterm"),
            ("cancel-agent = []", "keys", "cancel-agent = []"),
        ] {
            let mut stage = Stage::new(width, height);
            stage.keys("<f1>").keys(words);
            let list = stage.keys("<end>").screen();
            assert!(list.contains(topic), "{list}");
            let page = stage.keys("<enter>").screen().to_lowercase();
            assert!(page.contains(there), "{width}x{height} {words}: {page}");
        }
    }
}

#[test]
fn words_find_rows_without_their_bars_and_no_title_twice() {
    let screen = Stage::new(120, 36).keys("<f1>screen reader").keys("<end>").screen();
    let titles = screen.lines().filter(|line| line.trim_end_matches(['│', ' ']).ends_with("  With a screen reader"));
    assert_eq!(titles.count(), 1, "{screen}");
    let screen = Stage::new(120, 36).keys("<f1>max_tokens").screen();
    assert!(screen.contains("`max_tokens` · what the server does") && !screen.contains("· |"), "{screen}");
}

#[test]
fn the_words_that_led_to_a_page_are_marked_there() {
    let mut stage = Stage::new(80, 24);
    stage.keys("<f1>landlock<end><enter>").screen();
    let (x, y) = stage.place_of("Landlock");
    let plain = stage.app.ui.theme.text;
    let cell = stage.draw()[(x, y)].clone();
    assert_ne!((cell.bg, cell.modifier), (plain.bg.unwrap_or_default(), Modifier::empty()), "{cell:?}");
}

#[test]
fn a_command_and_a_key_lead_to_their_row_in_the_manual() {
    let mut stage = Stage::new(80, 24);
    let page = stage.keys("<f1>/mouse <enter>").screen();
    assert!(page.contains("Help: Commands") && page.contains("off: the terminal selects"), "{page}");
    let page = stage.keys("<f1><f1>join it with the next<enter>").screen();
    assert!(page.contains("Help: Keys") && page.contains("join it with the next"), "{page}");
}

#[test]
fn the_command_opens_the_page_of_a_topic_and_the_search_for_other_words() {
    let mut stage = Stage::new(80, 24);
    assert!(stage.keys("/help sandbox<enter>").screen().contains(" Help: "));
    assert!(stage.screen().contains("# Sandbox") || stage.screen().contains("# The sandbox"), "{}", stage.screen());
    assert!(stage.keys("<esc>").screen().contains("Commands, at the start of the message"));
    let screen = stage.keys("<esc>/help exit code<enter>").screen();
    assert!(screen.contains("/exit code") && screen.contains("Lines of the manual"), "{screen}");
    assert!(selected(&screen).starts_with("transcript ") && screen.contains("› transcript"), "{screen}");
    let screen = stage.keys("<esc>/help kees<enter>").screen();
    assert!(screen.contains("The nearest topic is keys."), "{screen}");
    let screen = stage.keys("<esc>/keys<enter>").screen();
    assert!(screen.contains("Help: type to filter"), "{screen}");
    assert!(stage.effects.is_empty() && stage.app.message.is_empty());
}

#[test]
fn its_topics_are_offered_behind_the_command() {
    let mut stage = Stage::new(80, 24);
    let screen = stage.keys("/help s").screen();
    for topic in ["steering", "sandbox", "screen-reader"] {
        assert!(screen.contains(topic), "{screen}");
    }
    assert!(!screen.contains("personas"), "{screen}");
    stage.keys("a<tab>");
    assert_eq!(stage.app.message.text(), "/help sandbox");
    assert!(!stage.app.palette.is_open());
}

#[test]
fn a_click_selects_an_entry_and_a_double_click_opens_it() {
    let mut stage = scene(120, 36);
    stage.keys("<f1><end>").screen();
    stage.click_on("personas ");
    let list = stage.screen();
    assert!(selected(&list).starts_with("personas "), "{list}");
    stage.wait(2_000);
    stage.click_on("personas ").click_on("personas ");
    let page = stage.screen();
    assert!(page.contains("# Personas"), "{page}");
    assert_eq!(stage.app.focus.pane, Pane::Composer);
}

#[test]
fn the_lines_read_a_page_aloud_or_what_words_find() {
    let mut stage = Stage::in_lines();
    stage.written();
    let page = stage.line("/help failures").written();
    assert!(page.contains("manual: failures\n") && page.ends_with("end: manual"), "{page}");
    assert!(!page.contains("**") && !page.contains("|---"), "{page}");
    let found = stage.line("/help exit code").written();
    assert!(found.contains("manual: exec, ") && found.lines().any(|line| line.starts_with("  ")), "{found}");
    let row = stage.line("/help max_tokens temperature").written();
    assert!(row.contains("temperature, max_tokens; what the server does") && !row.contains('|'), "{row}");
    let nothing = stage.line("/help kees").written();
    assert!(nothing.contains("the manual has nothing with “kees”; the nearest topic is keys"), "{nothing}");
    let all = stage.line("/help").written();
    assert!(all.contains("topics: steering, habits, plan, keys, "), "{all}");
}

#[test]
fn the_list_what_words_find_and_a_page_at_three_sizes() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let picture = |name: &str, keys: &str| {
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), scene(width, height).keys(keys).picture());
        };
        picture("list", "<f1>");
        picture("topics", "<f1><end>");
        picture("found", "<f1>sandbox");
        picture("page", "<f1><end><up><up><up><up><up><enter>");
    }
}

#[test]
fn words_are_found_by_their_meaning_and_the_names_of_other_hosts_too() {
    for (words, found) in [
        ("newline", "Shift+Enter"),
        ("rewind", "/branch"),
        ("rewind", "/undo"),
        ("vim", "/vim"),
        ("multiline", "Shift+Enter"),
        ("todos", "/plan"),
        ("yolo", "/mode"),
        ("shortcuts", "keys"),
    ] {
        let mut stage = Stage::new(120, 50);
        let screen = stage.keys(&format!("<f1>{words}")).screen();
        assert!(screen.contains(found), "{words}: {found} is not in {screen}");
    }
}
