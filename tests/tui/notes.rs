//! What the user is told at length: replies that are not cut, the details of a broad screen, and what is left behind at the end.

use steersman_base::details::{CommandEnd, Details, FileDiff};
use steersman_base::event::{Event, Outcome};
use steersman_base::protocol::{Notice, Unsaved};
use steersman_tui::msg::Msg;
use steersman_tui::view::farewell;

use crate::support::stage::Stage;

/// The rows above the line over the message, as one text.
fn transcript(stage: &mut Stage) -> String {
    let screen = stage.screen();
    let rows = screen.lines().take_while(|row| !row.starts_with("──"));
    rows.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_reply_of_more_than_one_short_sentence_is_a_whole_note_in_the_transcript() {
    for (width, height) in [(120, 36), (80, 24), (56, 20)] {
        for (line, words) in [
            (
                "/budget",
                "budget: $0.00 spent, no limit · 0 tokens used, no limit; /budget 5 sets dollars, /budget 100000 tokens sets tokens, /budget off takes both away",
            ),
            ("/budget five", "not set: write /budget 5, /budget 0.50, /budget 100000 tokens or /budget off"),
            ("/mode", "there are ask, auto-edit, auto, auto-without-sandbox, read-only"),
            ("/mode auto", "the mode did not change:"),
        ] {
            let mut stage = Stage::new(width, height);
            stage.keys(line).keys(if line == "/mode auto" { " <enter>" } else { "<enter>" });
            let told = transcript(&mut stage);
            assert!(told.contains(words), "{line} at {width}x{height}:\n{}", stage.screen());
        }
        let mut stage = Stage::new(width, height);
        let reason =
            "the server at 127.0.0.1:8080 answered 503 to the question which models it has, three times in a row";
        let told = transcript(stage.tell(Msg::from(Notice::Models(Err(reason.to_owned())))));
        assert!(told.contains(&format!("no list of models: {reason}")), "{}", stage.screen());
    }
}

#[test]
fn one_short_sentence_stays_in_the_status_line() {
    let mut stage = Stage::new(80, 24);
    stage.tell(Msg::from(Notice::Info("model: qwen3".to_owned())));
    let screen = stage.screen();
    assert!(screen.lines().last().unwrap().contains("model: qwen3"), "{screen}");
    assert!(!transcript(&mut stage).contains("qwen3"));
}

#[test]
fn a_note_that_is_out_of_view_is_pointed_at() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").says("", &"line\n\n".repeat(60)).screen();
    stage.keys("<pgup>").screen();
    stage.keys("/budget<enter>");
    let screen = stage.screen();
    assert!(screen.contains("the reply is at the end of the transcript") && screen.contains("new below"), "{screen}");
    stage.keys("<c-end>");
    assert!(transcript(&mut stage).contains("/budget 5 sets dollars"));
}

#[test]
fn a_hostile_reply_stays_one_safe_line() {
    let mut stage = Stage::new(80, 24);
    stage.tell(Msg::from(Notice::Info(format!("{}\u{1b}[2J\n✓✓ seen · delivered", "x".repeat(100)))));
    let screen = stage.screen();
    assert!(!screen.contains('\u{1b}') && !screen.contains("\n✓✓"), "{screen}");
}

fn worked(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.turn("").call("", "c1", "edit");
    for (id, path) in [("c1", "src/a.rs"), ("c2", "src/b\u{1b}[2J.rs"), ("c3", "src/a.rs")] {
        stage.call("", id, "edit");
        let (path, hunks) = (path.to_owned(), "@@ -1 +1 @@\n-a\n+b\n".to_owned());
        let diff = Details::Diff(FileDiff { path, created: false, added: 3, removed: 1, hunks });
        stage.event("", Event::ToolDetails { id: id.into(), details: diff }).result("", id, "edited");
    }
    stage.call("", "c4", "bash");
    let lines: String = (1..=40).map(|line| format!("compiled {line}\n")).collect();
    stage.event("", Event::ToolProgress { id: "c4".into(), text: lines });
    stage
}

#[test]
fn the_details_show_the_files_that_were_changed_and_the_newest_output() {
    let mut stage = worked(160, 40);
    let screen = stage.screen();
    assert!(screen.contains("Details"), "{screen}");
    for words in ["changed", "src/a.rs +6 −2", "src/b␛[2J.rs +3 −1", "output   bash", "│ compiled 35", "│ compiled 40"]
    {
        let column = screen.lines().filter_map(|row| row.get(row.char_indices().nth(100)?.0..));
        assert!(column.collect::<Vec<_>>().join("\n").contains(words), "{words}\n{screen}");
    }
    let end = CommandEnd {
        code: Some(0),
        signal: None,
        timed_out: false,
        bytes: 10,
        lines: None,
        lines_left_out: 0,
        killed: 0,
        saved: None,
        ..CommandEnd::default()
    };
    stage.event("", Event::ToolDetails { id: "c4".into(), details: Details::Command(end) });
    stage.result("", "c4", "one\ntwo last");
    assert!(stage.screen().contains("│ two last"), "{}", stage.screen());
}

#[test]
fn the_details_give_their_room_back_while_they_have_nothing_to_say() {
    let mut stage = Stage::new(160, 40);
    stage.turn("").says("", "An answer.");
    assert!(!stage.screen().contains("Details"), "{}", stage.screen());
    assert!(stage.keys("<a-i>").screen().contains("Details"), "asked for, they are shown");
    insta::assert_snapshot!("details_160x40", worked(160, 40).screen());
    insta::assert_snapshot!("details_120x36", worked(120, 36).keys("<a-i>").screen());
}

#[test]
fn what_is_left_in_the_terminal_is_the_beginning_of_the_answer_and_that_the_rest_is_gone() {
    let mut stage = Stage::new(40, 24);
    assert_eq!(farewell(&stage.app), Vec::<String>::new(), "nothing was said");
    stage.keys("go<enter>");
    let taken = stage.take_turn();
    stage.deliver(&taken, false).turn("");
    let answer = format!("# Found\n\n{}\n\u{1b}[31mred\n4\n5\n6\n7\n", "long ".repeat(20));
    stage.says("", &answer).tokens("", 12_000, 300).turn_ended("", Outcome::Completed, None);
    let lines = farewell(&stage.app);
    assert_eq!(lines[..3], ["The last answer:", "  # Found", ""]);
    assert!(
        lines[3].starts_with("  long long") && lines[3].ends_with('…') && lines[3].chars().count() <= 40,
        "{lines:?}"
    );
    assert_eq!(
        lines[4..],
        ["  ␛[31mred", "  4", "  … 3 more lines", "", "The conversation is not kept. 12.3k tokens used."]
    );
    // A server that does not count them: what the program has guessed for the budget.
    stage.app.ui.run.budget.tokens = 20_000;
    assert_eq!(farewell(&stage.app)[8], "The conversation is not kept. 20.0k tokens used.");
    stage.app.ui.session = Some("0198c9a2".to_owned());
    assert_eq!(farewell(&stage.app)[8..], ["20.0k tokens used.", "To resume: steersman --resume 0198c9a2"]);
}

#[test]
fn a_session_that_cannot_be_saved_is_a_banner_until_it_is_and_only_what_was_saved_is_offered_again() {
    let mut stage = Stage::new(80, 24);
    stage.keys("go<enter>");
    let taken = stage.take_turn();
    stage.deliver(&taken, false).turn("").says("", "Found.").turn_ended("", Outcome::Completed, None);
    stage.app.ui.session = Some("0198c9a2".to_owned());
    let why = "The session cannot be saved: no space left on device";
    let unsaved = |has_begun| Notice::Unsaved(Some(Unsaved { why: why.to_owned(), has_begun }));
    stage.tell(unsaved(false).into());
    stage.tell(Notice::Info("something else".to_owned()).into());
    assert!(stage.screen().contains(&format!("! {why}")), "{}", stage.screen());
    let end = farewell(&stage.app);
    assert!(end.contains(&format!("{why}.")) && !end.iter().any(|line| line.contains("--resume")), "{end:?}");
    stage.tell(unsaved(true).into());
    let end = farewell(&stage.app);
    assert_eq!(end.last().unwrap(), "To resume what was saved before: steersman --resume 0198c9a2");
    stage.tell(Notice::Unsaved(None).into());
    assert!(!stage.screen().contains(why), "{}", stage.screen());
    assert_eq!(farewell(&stage.app).last().unwrap(), "To resume: steersman --resume 0198c9a2");
}

#[test]
fn a_screen_whose_session_is_gone_leaves_the_way_to_go_on_and_what_was_not_sent() {
    let mut stage = Stage::new(60, 24);
    stage.keys("go<enter>");
    let taken = stage.take_turn();
    stage.deliver(&taken, false).turn("").says("", "Found.").turn_ended("", Outcome::Completed, None);
    stage.app.ui.session = Some("0198c9a2".to_owned());
    stage.app.ui.client = Some("attach 1".into());
    stage.keys("half a<c-j>thought");
    let back = ["0 tokens used.", "The session goes on. To come back: steersman attach 0198c9a2"];
    assert_eq!(farewell(&stage.app)[3..], back);
    stage.tell(Notice::Over("the connection to the session is closed".to_owned()).into());
    assert!(stage.screen().contains("Ctrl+C clears, Ctrl+D then quits"), "{}", stage.screen());
    // Nor does Esc promise to stop what was running.
    let mut running = Stage::new(110, 24);
    running.app.ui.client = Some("attach 1".into());
    running.turn("").tell(Notice::Over("the session has ended".to_owned()).into());
    let screen = running.screen();
    assert!(screen.contains("Ctrl+D quits") && !screen.contains("Esc"), "{screen}");
    assert_eq!(
        farewell(&stage.app)[3..],
        [
            "0 tokens used.",
            "Not connected any more: the connection to the session is closed.",
            "To go on with the session: steersman --resume 0198c9a2",
            "Not sent:",
            "  half a",
            "  thought"
        ]
    );
}
