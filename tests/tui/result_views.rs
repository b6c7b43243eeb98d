//! What the screen shows of calls: in the head, folded, open; live, ended, declined. Nothing of it passes for the program.

use ratatui::buffer::Buffer;
use ratatui::style::Style;
use steersman_base::details::{CommandEnd, Details, FileDiff, PageInfo};
use steersman_base::event::{Event, HookEvent, HookOutcome, HookRun, Outcome};
use steersman_base::message::Arguments;
use steersman_tui::theme::{Depth, Theme};
use steersman_tui::transcript::cell::CellId;

use crate::support::stage::Stage;

const HUNKS: &str = "@@ -9,5 +9,6 @@ fn main() {\n     let a = 1;\n-    let b = 2;\n+    let b = 3;\n+    let c = 4;\n \
                     x();\n }\n";

fn call(stage: &mut Stage, id: &str, name: &str, arguments: &str) {
    let arguments = Arguments::parse(arguments);
    stage.event("", Event::ToolCall { id: id.into(), name: name.to_owned(), arguments });
}

fn details(stage: &mut Stage, id: &str, details: Details) {
    stage.event("", Event::ToolDetails { id: id.into(), details });
}

fn progress(stage: &mut Stage, id: &str, text: &str) {
    stage.event("", Event::ToolProgress { id: id.into(), text: text.to_owned() });
}

fn diff(hunks: &str) -> Details {
    Details::Diff(FileDiff {
        path: "src/a.rs".to_owned(),
        created: false,
        added: 2,
        removed: 1,
        hunks: hunks.to_owned(),
    })
}

fn end(code: i32) -> CommandEnd {
    CommandEnd {
        code: Some(code),
        signal: None,
        timed_out: false,
        bytes: 10,
        lines: None,
        lines_left_out: 0,
        killed: 0,
        saved: None,
        ..CommandEnd::default()
    }
}

/// A turn with an edit, a command that failed, one that runs, a page, and a declined one.
fn scene(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.turn("");
    call(&mut stage, "c1", "edit", r#"{"path":"src/a.rs","old_string":"b = 2","new_string":"b = 3"}"#);
    details(&mut stage, "c1", diff(HUNKS));
    stage.result("", "c1", "edited src/a.rs: 1 replacement");
    call(&mut stage, "c2", "bash", r#"{"command":"cargo test\necho done"}"#);
    let lines: Vec<String> = (1..=30).map(|line| format!("test number {line} ... ok")).collect();
    details(&mut stage, "c2", Details::Command(CommandEnd { saved: Some("/tmp/out-1.txt".to_owned()), ..end(101) }));
    stage.result("", "c2", &lines.join("\n"));
    call(&mut stage, "c3", "web_scrape", r#"{"url":"https://docs.rs/tokio"}"#);
    let page = PageInfo {
        url: "https://docs.rs/tokio/".to_owned(),
        status: 200,
        content_type: "text/html; charset=utf-8".to_owned(),
        bytes: 48_200,
    };
    details(&mut stage, "c3", Details::Page(page));
    stage.result("", "c3", "# Tokio\nA runtime.");
    call(&mut stage, "c4", "bash", r#"{"command":"rm -r target"}"#);
    asked(&mut stage, "q4", "c4", None);
    answered(&mut stage, "q4", "no", Some("use cargo clean"));
    stage.result("", "c4", "Error: the user declined this and says: use cargo clean");
    call(&mut stage, "c5", "bash", r#"{"command":"cargo clean && cargo build"}"#);
    asked(&mut stage, "q5", "c5", Some("every command that begins with: cargo build"));
    answered(&mut stage, "q5", "session", None);
    progress(&mut stage, "c5", "Compiling a\nCompiling b\nCompiling c\nCompiling d\n");
    stage
}

fn asked(stage: &mut Stage, id: &str, call: &str, offer: Option<&str>) {
    let question = "run this command?".to_owned();
    let (call, offer) = (Some(call.into()), offer.map(str::to_owned));
    stage.event("", Event::Question { id: id.to_owned(), question, detail: None, call, offer, rule: None });
}

fn answered(stage: &mut Stage, id: &str, answer: &str, words: Option<&str>) {
    let words = words.map(str::to_owned);
    stage.event("", Event::Answer { id: id.to_owned(), answer: answer.to_owned(), words });
}

#[test]
fn heads_say_what_is_asked_for_and_what_came_of_it() {
    let screen = scene(120, 48).screen();
    for head in [
        "✓ edit src/a.rs · +2 −1, 1.2 s",
        "✗ bash $ cargo test (+1 line) · failed, exit 101, 1.2 s, 30 lines",
        "✓ web_scrape https://docs.rs/tokio · 200, text/html, 47.1 KiB, 1.2 s, 2 lines",
        "✗ bash $ rm -r target · error, 1.2 s, 1 line",
        "✗ declined: use cargo clean",
        "▸ bash $ cargo clean && cargo build · running, 4 lines",
        "✓ approved for this session: every command that begins with: cargo build",
    ] {
        assert!(screen.contains(head), "{head}\n{screen}");
    }
    assert!(!screen.contains("asks:"), "{screen}");
}

#[test]
fn a_folded_change_shows_its_first_lines_and_an_open_one_all_with_their_numbers() {
    let mut stage = scene(120, 48);
    let screen = stage.screen();
    for line in
        ["│  9      let a = 1;", "│ 10 -    let b = 2;", "│ 10 +    let b = 3;", "│ 11 +    let c = 4;", "│ 13  }"]
    {
        assert!(screen.contains(line), "{line}\n{screen}");
    }
    let mut stage = Stage::new(120, 48);
    stage.turn("");
    call(&mut stage, "c1", "write", r#"{"path":"a","content":"x"}"#);
    let new = (1..=40).map(|line| format!("+line {line}\n")).collect::<Vec<_>>().concat();
    details(&mut stage, "c1", diff(&format!("@@ -0,0 +1,40 @@\n{new}")));
    stage.result("", "c1", "created a");
    let screen = stage.screen();
    assert!(screen.contains("│  8 +line 8") && screen.contains("┆ 32 more lines"), "{screen}");
    assert!(!screen.contains("line 9"), "{screen}");
    let screen = stage.keys("<a-o>").screen();
    assert!(screen.contains("│ 40 +line 40") && screen.contains("│ created a"), "{screen}");
}

#[test]
fn the_lines_of_an_open_change_are_those_of_git_diff() {
    let mut stage = Stage::new(120, 48);
    stage.turn("");
    call(&mut stage, "c1", "edit", r#"{"path":"src/a.rs"}"#);
    details(&mut stage, "c1", diff(HUNKS));
    stage.result("", "c1", "edited");
    let screen = stage.keys("<a-o>").screen();
    let shown: Vec<String> = screen
        .lines()
        .filter_map(|line| line.trim_start_matches(|c: char| c != '│').strip_prefix("│ "))
        .map(|line| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').to_owned())
        .collect();
    for line in HUNKS.lines() {
        let line = line.trim_start_matches(' ');
        assert!(shown.iter().any(|shown| shown == line), "{line}\n{screen}");
    }
}

#[test]
fn a_long_output_shows_head_and_tail_and_where_the_whole_is() {
    let screen = scene(120, 48).screen();
    for line in [
        "│ test number 1 ... ok",
        "│ test number 2 ... ok",
        "┆ 25 more lines",
        "│ test number 28 ... ok",
        "│ test number 30 ... ok",
    ] {
        assert!(screen.contains(line), "{line}\n{screen}");
    }
    assert!(!screen.contains("number 3 ") && screen.contains("┆ the whole output: /tmp/out-1.txt"), "{screen}");
}

#[test]
fn live_output_shows_its_last_lines_as_many_as_there_is_room_for_and_keeps_them_when_it_is_stopped() {
    for (height, first) in [(20, 49_990), (60, 49_973), (10, 49_997)] {
        let mut stage = Stage::new(100, height);
        stage.turn("");
        call(&mut stage, "c1", "bash", r#"{"command":"make"}"#);
        for line in 0..50_000 {
            progress(&mut stage, "c1", &format!("line {line}\n"));
        }
        let screen = stage.screen();
        assert!(screen.contains("running, 50000 lines"), "{screen}");
        assert!(screen.contains(&format!("│ line {first}\n")) && screen.contains("│ line 49999"), "{screen}");
        assert!(!screen.contains(&format!("line {}\n", first - 1)), "{screen}");
        progress(&mut stage, "c1", "10 %\r50 %\r99 %");
        let screen = stage.screen();
        assert!(screen.contains("│ 99 %") && !screen.contains("50 %"), "{screen}");
        stage.turn_ended("", Outcome::Cancelled, None);
        let screen = stage.screen();
        assert!(screen.contains("interrupted") && screen.contains("│ 99 %"), "{screen}");
    }
}

#[test]
fn a_command_that_failed_is_marked_coloured_and_found_by_the_jump_to_failures() {
    let mut stage = Stage::new(100, 30);
    stage.turn("");
    for (id, end) in [
        ("c1", end(0)),
        ("c2", end(1)),
        ("c3", CommandEnd { code: None, signal: Some("SIGSEGV".to_owned()), ..end(1) }),
    ] {
        call(&mut stage, id, "bash", r#"{"command":"make"}"#);
        details(&mut stage, id, Details::Command(end));
        stage.result("", id, "out");
    }
    let screen = stage.screen();
    assert!(screen.contains("✓ bash $ make · exit 0"), "{screen}");
    assert!(screen.contains("✗ bash $ make · failed, exit 1,"), "{screen}");
    assert!(screen.contains("✗ bash $ make · failed, ended by SIGSEGV,"), "{screen}");
    let error = Theme::dark().tool_error.fg;
    let coloured = stage.draw().content.iter().filter(|cell| cell.symbol() == "✗" && Some(cell.fg) == error).count();
    assert_eq!(coloured, 2, "{screen}");
    let selected = |stage: &Stage| stage.app.reader().unwrap().selected.map(CellId::index);
    stage.keys("<c-o>{");
    assert_eq!(selected(&stage), Some(1));
    stage.keys("}");
    assert_eq!(selected(&stage), Some(2));
}

#[test]
fn the_time_of_a_call_is_its_own_and_the_wait_for_the_user_stands_beside_it() {
    let mut stage = Stage::new(120, 20);
    stage.turn("");
    call(&mut stage, "c1", "bash", r#"{"command":"make"}"#);
    asked(&mut stage, "q", "c1", None);
    stage.later(40_000);
    answered(&mut stage, "q", "yes", None);
    stage.later(2_100);
    details(&mut stage, "c1", Details::Command(end(0)));
    let result = |content: &str, elapsed_ms| Event::ToolResult {
        id: "c1".into(),
        content: content.to_owned(),
        is_error: false,
        elapsed_ms,
    };
    stage.event("", result("out", 42_100));
    let screen = stage.screen();
    assert!(screen.contains("exit 0, 2.1 s (waited 40.0 s for you), 1 line"), "{screen}");
    // Where that has no room, how it ended is the last to go.
    stage.resize(60, 20);
    let screen = stage.screen();
    assert!(screen.contains("$ make · exit 0"), "{screen}");
}

#[test]
fn the_lines_of_an_output_are_those_that_were_printed_and_what_the_model_got_stands_beside_them() {
    let mut stage = Stage::new(120, 20);
    stage.turn("");
    call(&mut stage, "c1", "bash", r#"{"command":"seq"}"#);
    let cut = CommandEnd { lines: Some(1_000), lines_left_out: 980, ..end(0) };
    details(&mut stage, "c1", Details::Command(cut));
    let numbers = |from: usize, to: usize| (from..=to).map(|number| format!("{number}\n")).collect::<String>();
    stage.result("", "c1", &format!("{}[3000 bytes left out]\n{}", numbers(1, 10), numbers(991, 1_000)));
    let screen = stage.screen();
    assert!(screen.contains(", 1000 lines, the model got 20"), "{screen}");
    assert!(screen.contains("│ 2") && screen.contains("┆ 995 more lines") && screen.contains("│ 998"), "{screen}");
}

#[test]
fn only_commands_have_colours_and_everything_else_shows_what_it_got() {
    let red = "\u{1b}[31mred\u{1b}[0m 10%\r20%";
    let mut stage = Stage::new(100, 20);
    stage.turn("");
    call(&mut stage, "c1", "read", r#"{"path":"a"}"#);
    stage.result("", "c1", red);
    call(&mut stage, "c2", "bash", r#"{"command":"make"}"#);
    details(&mut stage, "c2", Details::Command(end(0)));
    stage.result("", "c2", red);
    let screen = stage.keys("<a-o>").screen();
    assert!(screen.contains("│ ␛[31mred␛[0m 10%␍20%") && screen.contains("│ 20% 10%"), "{screen}");
}

#[test]
fn ends_of_commands_are_told_in_words() {
    for (end, words) in [
        (end(0), "exit 0"),
        (CommandEnd { timed_out: true, killed: 3, ..end(1) }, "timed out, 3 processes killed"),
        (CommandEnd { code: None, signal: Some("SIGSEGV".to_owned()), ..end(1) }, "ended by SIGSEGV"),
    ] {
        let mut stage = Stage::new(100, 20);
        stage.turn("");
        call(&mut stage, "c1", "bash", r#"{"command":"make"}"#);
        details(&mut stage, "c1", Details::Command(end));
        stage.result("", "c1", "out");
        assert!(stage.screen().contains(words), "{words}: {}", stage.screen());
    }
}

#[test]
fn a_question_is_one_line_that_turns_into_its_answer() {
    for (answer, words, shown) in [
        ("yes", None, "✓ approved once"),
        ("no", None, "✗ declined"),
        ("no", Some("because"), "✗ declined: because"),
        ("withdrawn", None, "✗ withdrawn, nobody answered"),
        ("allowed", None, "✓ allowed meanwhile"),
        ("denied", Some("the mode is read-only"), "✗ refused meanwhile: the mode is read-only"),
    ] {
        let mut stage = Stage::new(100, 20);
        stage.turn("");
        call(&mut stage, "c1", "bash", r#"{"command":"make"}"#);
        asked(&mut stage, "q", "c1", None);
        let screen = stage.screen();
        assert!(screen.contains("$ make · waits for you") && screen.contains("? waiting for approval"), "{screen}");
        assert!(screen.contains("? bash waits for your answer"), "{screen}");
        let rows = screen.lines().filter(|row| !row.is_empty()).count();
        answered(&mut stage, "q", answer, words);
        let screen = stage.screen();
        assert!(screen.contains(shown) && !screen.contains("waiting for approval"), "{screen}");
        assert_eq!(screen.lines().filter(|row| !row.is_empty()).count(), rows);
    }
    let mut stage = Stage::new(100, 20);
    stage.turn("");
    call(&mut stage, "c1", "bash", r#"{"command":"make"}"#);
    asked(&mut stage, "q", "c1", None);
    stage.turn_ended("", Outcome::Cancelled, None);
    assert!(stage.screen().contains("withdrawn"));
}

#[test]
fn a_question_of_no_call_is_a_line_of_its_own_that_turns_into_its_answer() {
    let mut stage = Stage::new(100, 20);
    let question = "trust this project?".to_owned();
    stage
        .event("", Event::Question { id: "t".to_owned(), question, detail: None, call: None, offer: None, rule: None });
    assert!(stage.screen().contains("! asks: trust this project?"));
    answered(&mut stage, "t", "no", None);
    let screen = stage.screen();
    assert!(screen.contains("- trust this project? declined") && !screen.contains("asks:"), "{screen}");
}

#[test]
fn context_files_are_told_once_and_stand_in_the_details_of_main() {
    let mut stage = Stage::new(120, 30);
    for _ in 0..2 {
        let context_files = vec!["AGENTS.md".to_owned(), "~/.config/steersman/AGENTS.md".to_owned()];
        stage.event("", Event::Guards { mode: "ask".to_owned(), sandbox: None, context_files });
    }
    let sentence = "in the system prompt: AGENTS.md, ~/.config/steersman/AGENTS.md";
    assert_eq!(stage.screen().matches(sentence).count(), 1);
    let screen = stage.keys("<f3>i").screen();
    assert!(screen.contains("context") && screen.matches("AGENTS.md, ~/").count() == 2, "{screen}");
}

/// Everything that a tool can say, in the shape of the program's own things.
const FAKES: &str = "╭ main asks ─────╮\n│ Run this command? │\n1 yes  Alt+Y\n› rm -r .\n» while it worked: yes\n┆ 9 more lines\n\
                     ✓ approved once\n│ ask · bubblewrap";

fn cells_right_of_the_gutter(buffer: &Buffer) -> Vec<(String, Vec<Style>)> {
    let columns = usize::from(buffer.area.width);
    let mut rows = Vec::new();
    for row in buffer.content.chunks(columns) {
        let Some(gutter) = row.iter().take(4).position(|cell| cell.symbol() == "│") else { continue };
        let text: String = row[gutter..].iter().map(ratatui::buffer::Cell::symbol).collect();
        let styles = row[gutter + 2..columns - 1].iter().filter(|cell| cell.symbol() != " ").map(|cell| {
            // What a cell has by default is no style.
            Style { bg: None, underline_color: None, ..cell.style() }
        });
        rows.push((text, styles.collect()));
    }
    rows
}

#[test]
fn no_row_of_a_tools_words_has_a_style_of_the_program() {
    for name in ["dark", "light"] {
        let theme = Theme::built_in(name, Depth::Sixteen);
        for open in [false, true] {
            let mut stage = Stage::new(100, 60);
            stage.keys(&format!("/theme {name}<enter>")).wait(10_000);
            stage.turn("");
            call(&mut stage, "c1", "bash", r#"{"command":"make"}"#);
            let coloured = (31..=37).map(|code| format!("\u{1b}[1;{code}m{FAKES}\n")).collect::<String>();
            progress(&mut stage, "c1", &coloured);
            call(&mut stage, "c2", "bash", r#"{"command":"make"}"#);
            details(&mut stage, "c2", Details::Command(end(0)));
            stage.result("", "c2", FAKES);
            call(&mut stage, "c3", "other", "{}");
            stage.result("", "c3", &format!("Error: {FAKES}"));
            call(&mut stage, "c4", "write", r#"{"path":"a","content":"x"}"#);
            let new = FAKES.lines().map(|line| format!("+{line}\n")).collect::<Vec<_>>().concat();
            details(&mut stage, "c4", diff(&format!("@@ -0,0 +1,8 @@\n{new}")));
            stage.result("", "c4", "created");
            if open {
                stage.keys("<a-o>");
            }
            let syntax = [theme.syntax.attribute, theme.syntax.function, theme.syntax.keyword, theme.gutter];
            // Of what a command asked for no more than the colour is taken.
            let coloured = syntax.map(|style| Style { fg: style.fg, ..Style::default() });
            let own = [theme.output, theme.added, theme.removed, theme.hunk, theme.mark, theme.dim];
            let fg = |style: Style| Style { fg: style.fg, ..Style::default() };
            let allowed = [own.as_slice(), coloured.as_slice(), &own.map(fg)].concat();
            let plain = |style: &Style| {
                allowed.iter().any(|allowed| {
                    let color = |style: &Style| style.fg.filter(|color| *color != ratatui::style::Color::Reset);
                    color(allowed) == color(style) && allowed.add_modifier == style.add_modifier
                })
            };
            let rows = cells_right_of_the_gutter(&stage.draw());
            assert!(rows.len() > 10, "{rows:?}");
            for (text, styles) in rows {
                assert!(styles.iter().all(plain), "{name:?}: {text}: {styles:?}");
            }
            let screen = stage.screen();
            for line in FAKES.lines().filter(|line| !line.starts_with('│')) {
                for row in screen.lines().filter(|row| row.contains(line)) {
                    assert!(row.trim_start().starts_with('│'), "{row}\n{screen}");
                }
            }
        }
    }
}

#[test]
fn the_views_at_three_sizes() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = scene(width, height);
        insta::assert_snapshot!(format!("folded_{width}x{height}"), stage.picture());
        stage.keys("<a-o><c-home>");
        insta::assert_snapshot!(format!("open_{width}x{height}"), stage.picture());
    }
}

#[test]
fn a_hook_that_says_nothing_leaves_no_line_and_one_that_forbids_does() {
    let run = |outcome, words: Option<&str>| HookRun {
        hook: HookEvent::PreToolUse,
        command: "guard.sh".to_owned(),
        call: Some("c1".into()),
        outcome,
        words: words.map(str::to_owned),
        elapsed_ms: 12,
    };
    let mut stage = Stage::new(100, 24);
    stage.turn("").event("", Event::HookRan(run(HookOutcome::Done, None)));
    assert!(!stage.screen().contains("guard.sh"));
    stage.event("", Event::HookRan(run(HookOutcome::Blocked, Some("not here"))));
    assert!(stage.screen().contains("guard.sh · forbids it · 12 ms: not here"), "{}", stage.screen());
}

#[test]
fn a_hook_that_fails_as_before_is_told_once_until_it_did_something_else() {
    let run = |outcome, words: Option<&str>| {
        Event::HookRan(HookRun {
            hook: HookEvent::Notification,
            command: "notify-send hi".to_owned(),
            call: None,
            outcome,
            words: words.map(str::to_owned),
            elapsed_ms: 12,
        })
    };
    let failed = || run(HookOutcome::Failed, Some("command not found"));
    let told = |stage: &mut Stage| stage.screen().matches("notify-send hi · failed").count();
    let mut stage = Stage::new(100, 24);
    stage.turn("").event("", failed()).event("", failed());
    assert_eq!(told(&mut stage), 1);
    stage.event("", run(HookOutcome::Failed, Some("it took too much memory")));
    assert_eq!(told(&mut stage), 2);
    stage.event("", run(HookOutcome::Done, None)).event("", failed());
    assert_eq!(told(&mut stage), 3);
}
