//! Reading a transcript: search, jumps, selections and copies, times; on a screen without a terminal.

use crossterm::event::{MouseButton, MouseEventKind};
use ratatui::layout::Position;
use ratatui::style::{Color, Modifier};
use steersman_base::event::Event;
use steersman_tui::msg::{EditorSubject, Effect};
use steersman_tui::state::Pane;
use steersman_tui::state::Region;
use steersman_tui::transcript::cell::{CellId, Expansion};
use steersman_tui::transcript::scroll::Position as Place;

use crate::support::stage::Stage;

/// A talk of a few turns: messages, folded calls, answers.
fn talk(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    for number in 0..6 {
        user(&mut stage, &format!("question {number} about the parser"));
        let id = format!("c{number}");
        stage.turn("").call("", &id, "read");
        let output: String = (0..9).map(|line| format!("line {line} of file {number}\n")).collect();
        stage.result("", &id, &format!("{output}the hidden needle{number}\n{output}"));
        let text =
            format!("Answer {number}: the **parser** reads\n\n```rust\nfn parse_{number}() {{}}\n```\n\nand ends.");
        stage.event("", Event::Assistant { text, interrupted: false });
    }
    stage.screen();
    stage
}

fn user(stage: &mut Stage, text: &str) {
    let content = text.to_owned();
    stage.event(
        "",
        Event::UserTurn {
            content,
            mid_loop: false,
            injection: None,
            step: 0,
            after: None,
            sender: None,
            kind: steersman_base::steering::TextKind::Add,
            met: None,
            images: Vec::new(),
        },
    );
}

fn copied(stage: &Stage) -> String {
    let copies = stage.effects.iter().rev().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.clone()),
        _ => None,
    });
    copies.expect("nothing was copied")
}

fn fold(stage: &Stage, cell: usize) -> Expansion {
    stage.app.reader().unwrap().transcript.cells().get(cell).unwrap().expansion()
}

fn position(stage: &Stage) -> Place {
    stage.app.reader().unwrap().scroll.position()
}

/// The text on the screen that is drawn as the place of the search.
fn now(stage: &mut Stage) -> String {
    let buffer = stage.draw();
    let style = stage.app.ui.theme.found_now;
    let is_now = |cell: &&ratatui::buffer::Cell| {
        cell.modifier.contains(style.add_modifier)
            && style.fg.is_none_or(|colour| cell.fg == colour)
            && style.bg.is_none_or(|colour| cell.bg == colour)
    };
    let rows = usize::from(buffer.area.height.saturating_sub(4)) * usize::from(buffer.area.width);
    buffer.content[..rows].iter().filter(is_now).map(ratatui::buffer::Cell::symbol).collect()
}

/// The first visible row of the transcript.
fn top(stage: &mut Stage) -> String {
    let screen = stage.screen();
    let is_line = |y: u16| matches!(stage.app.regions.at(Position { x: 3, y }), Some((_, Region::Line(_))));
    let y = (0..stage.app.ui.size.height).find(|y| is_line(*y)).expect("no line is in view");
    screen.lines().nth(y.into()).unwrap().to_owned()
}

// --- search

#[test]
fn a_search_finds_what_is_folded_and_opens_it_and_esc_puts_everything_back() {
    let mut stage = talk(80, 24);
    stage.keys("<pgup><c-o>");
    let before = stage.screen();
    let place = position(&stage);
    stage.keys("/needle2");
    let found = stage.screen();
    assert!(found.contains("the hidden needle2") && found.contains("1 of 1"), "{found}");
    assert_eq!(fold(&stage, 7), Expansion::Expanded);
    assert_eq!(now(&mut stage), "needle2");
    stage.keys("<esc>");
    assert_eq!(stage.screen(), before);
    assert_eq!(
        (fold(&stage, 7), position(&stage), stage.app.focus.pane),
        (Expansion::Collapsed, place, Pane::Transcript)
    );
}

#[test]
fn enter_stays_and_n_goes_round_and_says_so() {
    let mut stage = talk(80, 23);
    stage.keys("<c-o>/hidden<enter>");
    let screen = stage.screen();
    assert!(screen.contains("/hidden · 6 of 6"), "{screen}");
    assert_eq!(stage.app.focus.pane, Pane::Transcript);
    stage.keys("n");
    let screen = stage.screen();
    assert!(screen.contains("past the end, on from the top: 1 of 6") && screen.contains("needle0"), "{screen}");
    stage.keys("nn");
    let screen = stage.screen();
    assert!(screen.contains("3 of 6") && screen.contains("needle2") && !screen.contains("past the"), "{screen}");
    stage.keys("NNN");
    assert!(stage.screen().contains("past the top, on from the end: 6 of 6"));
    assert_eq!(
        [1, 7].map(|cell| fold(&stage, cell)),
        [Expansion::Collapsed; 2],
        "what was only passed is folded again"
    );
    stage.keys("<esc>");
    assert!(!stage.screen().contains("/hidden"));
    assert_eq!(stage.app.focus.pane, Pane::Transcript);
    stage.keys("n");
    assert!(stage.screen().contains("/hidden · "), "the last search goes on");
}

#[test]
fn on_every_screen_of_forty_columns_and_more_a_search_says_that_it_went_around_an_end() {
    for width in 40..70 {
        let mut stage = talk(width, 24);
        // A search goes on from frame to frame, each a bounded piece of work.
        let settled = |stage: &mut Stage| {
            for _ in 0..4 {
                stage.screen();
            }
            stage.screen()
        };
        stage.keys("<c-o>/hidden<enter>");
        // Where it begins depends on what is in view.
        for _ in 0..6 {
            if settled(&mut stage).contains("6 of 6") {
                break;
            }
            stage.keys("n");
        }
        stage.keys("n");
        let screen = settled(&mut stage);
        assert!(screen.contains("top: 1 of 6"), "{width}: {screen}");
        stage.keys("N");
        let screen = settled(&mut stage);
        assert!(screen.contains("end: 6 of 6"), "{width}: {screen}");
        // Also in the line in which it is typed.
        stage.keys("/<up>");
        settled(&mut stage);
        stage.keys("<tab>");
        let screen = settled(&mut stage);
        assert!(screen.contains("top: 1 of 6") && screen.contains("/hidden"), "{width}: {screen}");
    }
}

#[test]
fn every_letter_narrows_and_a_capital_makes_the_case_count() {
    let mut stage = talk(80, 24);
    stage.keys("<c-o>/");
    let mut counts = Vec::new();
    for letter in "answer 3".chars() {
        stage.keys(&letter.to_string());
        let screen = stage.screen();
        let count = screen.lines().find_map(|line| line.split(" of ").nth(1)?.split(' ').next()?.parse::<usize>().ok());
        counts.push(count.unwrap_or_else(|| panic!("{letter}: {screen}")));
    }
    assert!(counts.is_sorted_by(|more, less| more >= less), "{counts:?}");
    assert_eq!(counts.last(), Some(&1));
    stage.keys("<c-u>ANSWER");
    assert!(stage.screen().contains("not found"));
    stage.keys("<c-u>Answer");
    assert!(stage.screen().contains("of 6"));
    stage.keys("<bs><bs>");
    assert!(stage.screen().contains("/Answ "));
}

#[test]
fn words_that_were_wrapped_apart_are_found_and_marked_in_both_rows() {
    let mut stage = Stage::new(40, 20);
    user(&mut stage, "here a sentence is wrapped between its quick brown words at this width");
    stage.screen();
    stage.keys("<c-o>/is wrapped between its quick brown");
    let screen = stage.screen();
    assert!(screen.contains("1 of 1"), "{screen}");
    let marked = now(&mut stage).replace(' ', "");
    assert_eq!(marked, "iswrappedbetweenitsquickbrown");
}

#[test]
fn a_search_goes_on_while_the_transcript_grows_and_nothing_jumps() {
    let mut stage = talk(80, 24);
    stage.keys("<c-o>/question 2<enter>");
    let before = stage.screen();
    assert!(before.contains("1 of 1"));
    let first = top(&mut stage);
    stage.turn("").says("", "a new question 2 in an answer\n\n");
    let mut after = stage.screen();
    for _ in 0..3 {
        stage.says("", "and another question 2\n\n");
        after = stage.screen();
    }
    assert!(after.contains("1 of 5"), "{after}");
    assert_eq!(top(&mut stage), first);
    assert!(after.contains("question 2 about the parser"));
}

#[test]
fn nothing_found_leads_back_to_where_it_began() {
    let mut stage = talk(80, 24);
    stage.keys("<c-o>");
    let before = top(&mut stage);
    stage.keys("/question 0");
    assert_ne!(top(&mut stage), before);
    stage.keys("xyz");
    let screen = stage.screen();
    assert!(screen.contains("not found"), "{screen}");
    assert_eq!(top(&mut stage), before);
}

#[test]
fn earlier_searches_come_back_and_the_command_searches_from_the_message() {
    let mut stage = talk(80, 24);
    stage.keys("/find hidden needle4<enter>");
    let screen = stage.screen();
    assert!(screen.contains("needle4") && screen.contains("1 of 1"), "{screen}");
    assert_eq!(stage.app.focus.pane, Pane::Transcript);
    stage.keys("<esc><esc>draft<a-/>");
    assert_eq!(stage.app.focus.pane, Pane::Search);
    stage.keys("<up>");
    assert!(stage.screen().contains("/hidden needle4"));
    stage.keys("<esc>");
    assert_eq!(stage.app.focus.pane, Pane::Composer);
    assert_eq!(stage.app.message.text(), "draft");
}

#[test]
fn a_paste_goes_into_the_search_as_one_line_and_typed_text_too() {
    let mut stage = talk(80, 24);
    stage.keys("<c-o>/").paste("hidden\nneedle5");
    assert!(stage.screen().contains("1 of 1"));
    assert!(stage.app.message.is_empty());
}

#[test]
fn every_agent_is_searched_by_itself() {
    let mut stage = talk(120, 30);
    stage.call("", "c1", "agent").spawn("", "file_miner 0");
    stage.turn("file_miner 0").says("file_miner 0", "the child has a needle of its own");
    stage.keys("<c-o>/needle<enter>");
    stage.screen();
    let reader = stage.app.reader().unwrap();
    assert_eq!(reader.search.as_ref().unwrap().count.total, 6);
    stage.keys("<f3><down><esc><c-o>").screen();
    stage.keys("/needle");
    let screen = stage.screen();
    assert!(screen.contains("1 of 1"), "{screen}");
}

#[test]
fn a_hundred_thousand_blocks_are_searched_in_small_pieces() {
    let mut stage = Stage::new(80, 24);
    for number in 0..100_000 {
        user(&mut stage, &format!("message {number} of many"));
    }
    stage.screen();
    stage.keys("<c-o>/message 42042 of");
    let mut frames = 0;
    let found = |stage: &Stage| stage.app.reader().unwrap().search.as_ref().unwrap().count.describe();
    while found(&stage) != "1 of 1" {
        stage.draw();
        frames += 1;
        assert!(frames < 400, "{}", found(&stage));
    }
    assert!(frames > 1, "one frame did all of it");
    assert!(stage.screen().contains("message 42042 of many"));
}

// --- jumps

#[test]
fn brackets_lead_from_message_to_message_and_braces_to_failures() {
    let mut stage = talk(80, 24);
    stage.call("", "bad", "bash").result("", "bad", "Error: exit 1");
    stage.screen();
    stage.keys("<c-o>[");
    assert!(stage.screen().contains("› question 5"), "{}", stage.screen());
    stage.keys("[[");
    assert!(top(&mut stage).contains("question 3"));
    stage.keys("]");
    assert!(top(&mut stage).contains("question 4"));
    stage.keys("[[[[[[");
    assert!(stage.screen().contains("no earlier message of yours"));
    stage.keys("}");
    assert_eq!(
        stage.app.reader().unwrap().selected,
        Some(stage.app.reader().unwrap().transcript.cells().get(18).unwrap().id())
    );
}

// --- selection and copies

#[test]
fn lines_are_selected_and_copied_without_marks_and_as_they_were_before_wrapping() {
    let mut stage = Stage::new(44, 24);
    user(&mut stage, "a message that is longer than the screen is wide, so it is wrapped");
    stage.turn("").call("", "c1", "read").result("", "c1", "one\n    two\n");
    stage.event(
        "",
        Event::Assistant { text: "Code:\n\n```rust\nfn a() {\n    b();\n}\n```".into(), interrupted: false },
    );
    stage.screen();
    stage.keys("<c-o><up><up>v");
    stage.screen();
    assert!(stage.screen().contains("y copies"), "{}", stage.screen());
    stage.keys("<end>");
    stage.screen();
    stage.keys("y");
    stage.screen();
    let text = copied(&stage);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "a message that is longer than the screen is wide, so it is wrapped");
    assert!(text.ends_with("Code:\n\n┄ rust\nfn a() {\n    b();\n}"), "{text}");
    assert!(!text.contains(['│', '›', '✦']), "{text}");
    assert!(stage.app.reader().unwrap().selection.is_none());
}

#[test]
fn the_receipt_of_a_message_is_not_copied_with_it() {
    let mut stage = Stage::new(80, 24);
    stage.keys("the message<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false);
    stage.event("", Event::Assistant { text: "An answer.".into(), interrupted: false });
    let screen = stage.screen();
    assert!(screen.contains("✓ delivered"), "{screen}");
    stage.keys("<c-o>v").screen();
    stage.keys("<home>").screen();
    stage.keys("y").screen();
    assert_eq!(copied(&stage), "the message\n\nAn answer.");
    // Where nothing else is selected its words are wanted.
    let (x, y) = stage.place_of("delivered");
    stage.click((x, y)).mouse(MouseEventKind::Down(MouseButton::Left), (x, y)).screen();
    stage.keys("y").screen();
    assert_eq!(copied(&stage), "delivered");
}

#[test]
fn selected_text_has_one_background_whatever_colours_it_had() {
    for theme in ["dark", "light", "high-contrast", "plain"] {
        let mut stage = Stage::new(60, 24);
        stage.keys(&format!("/theme {theme}<enter>")).wait(10_000);
        stage.turn("");
        let text = "**Bold** and `code` and [a link](https://a.example).\n\n```rust\nfn a() {}\n```".to_owned();
        stage.event("", Event::Assistant { text, interrupted: false });
        stage.screen();
        stage.keys("<c-o>v<end>");
        stage.screen();
        let buffer = stage.draw();
        let row = buffer.content.chunks(60).find(|row| row.iter().any(|cell| cell.symbol() == "B")).unwrap();
        let words = row.iter().skip_while(|cell| cell.symbol() != "B").take("Bold and code and a link.".len());
        let looks: Vec<_> = words.map(|cell| (cell.fg, cell.bg, cell.modifier)).collect();
        assert!(looks.iter().all(|look| *look == looks[0]), "{theme}: {looks:?}");
        let plain = (Color::Reset, Color::Reset, Modifier::empty());
        assert_ne!(looks[0], plain, "{theme}");
    }
}

#[test]
fn a_selection_holds_its_text_while_the_transcript_grows_and_the_width_changes() {
    let mut stage = talk(100, 24);
    stage.keys("<c-o>[v<down><down>");
    stage.screen();
    let expected = {
        stage.keys("y");
        stage.screen();
        copied(&stage)
    };
    assert!(expected.starts_with("question 5 about the parser"), "{expected}");
    stage.keys("v");
    stage.screen();
    stage.keys("<down><down>");
    stage.screen();
    stage.turn("").says("", "more and more words come\n\n").says("", "all the time");
    stage.resize(34, 20).screen();
    stage.resize(60, 12).screen();
    stage.keys("y");
    stage.screen();
    assert_eq!(copied(&stage), expected);
}

#[test]
fn the_mouse_selects_characters_words_and_lines() {
    let mut stage = talk(80, 24);
    let (x, y) = stage.place_of("Answer 5: the parser");
    let drag = |stage: &mut Stage, from: (u16, u16), to: (u16, u16)| {
        stage.mouse(MouseEventKind::Down(MouseButton::Left), from);
        stage.mouse(MouseEventKind::Drag(MouseButton::Left), to).screen();
        stage.mouse(MouseEventKind::Up(MouseButton::Left), to).screen();
        stage.keys("y").screen();
        copied(stage)
    };
    assert_eq!(drag(&mut stage, (x, y), (x + 7, y)), "Answer 5");
    assert_eq!(drag(&mut stage, (x + 7, y), (x, y)), "Answer 5", "backwards as well");
    let end = stage.place_of("fn parse_5").1 + 2;
    assert_eq!(drag(&mut stage, (x + 10, y), (x + 2, end)), "the parser reads\n\n┄ rust\nfn parse_5() {}\n\nand");
    stage.click((x + 15, y)).mouse(MouseEventKind::Down(MouseButton::Left), (x + 15, y)).screen();
    stage.keys("y").screen();
    assert_eq!(copied(&stage), "parser");
}

#[test]
fn without_a_selection_the_source_of_the_block_is_copied() {
    let mut stage = talk(80, 24);
    stage.keys("<c-o>y");
    assert!(copied(&stage).starts_with("Answer 5: the **parser** reads\n\n```rust\n"));
    stage.keys("<up>y");
    assert_eq!(copied(&stage).lines().count(), 19, "all of the output, folded or not");
    stage.keys("<up>y");
    assert_eq!(copied(&stage), "question 5 about the parser");
    stage.keys("<down>e");
    let Some(Effect::Edit { subject: EditorSubject::Entry, text }) = stage.effects.last() else { panic!("not opened") };
    assert!(text.starts_with("read\n{\n") && text.contains("the hidden needle5"), "{text}");
}

#[test]
fn letters_are_keys_in_the_transcript_alone() {
    let mut stage = talk(80, 24);
    stage.keys("vynt/[]");
    assert_eq!(stage.app.message.text(), "vynt/[]");
    assert!(!stage.effects.iter().any(|effect| matches!(effect, Effect::Copy(_) | Effect::Edit { .. })));
}

// --- times

#[test]
fn times_are_shown_on_demand_and_move_nothing() {
    let mut stage = Stage::new(80, 24);
    stage.app.ui.zone = jiff::tz::TimeZone::get("Europe/Berlin").unwrap_or(jiff::tz::TimeZone::UTC);
    user(&mut stage, "when was this?");
    stage.turn("").says("", "some").later(12_300).says("", " words");
    stage.event("", Event::Assistant { text: "some words".into(), interrupted: false });
    stage.screen();
    let rows = |stage: &mut Stage| -> Vec<String> {
        let screen = stage.screen();
        screen.lines().take(6).map(|row| row.chars().take(40).collect::<String>().trim_end().to_owned()).collect()
    };
    let before = rows(&mut stage);
    stage.keys("<c-o>t");
    let after = stage.screen();
    assert!(after.contains(":30:00") && after.contains(" · 12.3 s"), "{after}");
    assert_eq!(rows(&mut stage), before);
    stage.keys("t");
    assert!(!stage.screen().contains("12.3 s"));
}

#[test]
fn focusing_the_transcript_moves_nothing_when_the_reader_is_elsewhere() {
    let mut stage = talk(80, 24);
    stage.keys("<c-o><esc><pgup><pgup>");
    let before = top(&mut stage);
    stage.keys("<c-o>");
    assert_eq!(top(&mut stage), before);
    assert_ne!(stage.app.reader().unwrap().selected, Some(CellId::default()));
}
