//! Stories of sessions on the screen: drafts that come back, and the question about what an earlier process left.

use std::time::{Duration, Instant};

use steersman_base::event::{Delivery, Event, Outcome, Pending, UserText};
use steersman_base::id::AgentId;
use steersman_base::protocol::{DraftText, Notice, QueueOperation, Request, Unfinished, Update};
use steersman_base::steering::{Recurrence, TextKind};
use steersman_tui::choices::ListChoice;
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::run::drafts::KeptDrafts;
use steersman_tui::run::sessions::{list, recorded, search};
use steersman_tui::switch::SessionsFor;
use steersman_tui::switch::Switch;

use crate::support::journals::entry;
use crate::support::saved::{Saved, usual};
use crate::support::stage::Stage;

/// Milliseconds without a key, behind the drawing, that arm a question.
const QUIET: i64 = 350;

fn draft(to: &str, text: &str) -> DraftText {
    DraftText {
        to: to.into(),
        text: text.to_owned(),
        kind: steersman_base::steering::TextKind::Add,
        edits: None,
        images: Vec::new(),
        sender: None,
    }
}

/// A session that was resumed with these texts waiting and this many agents interrupted.
fn resumed((width, height): (u16, u16), texts: &[&str], agents: usize) -> Stage {
    let mut stage = Stage::new(width, height);
    let pending: Vec<Pending> = (1..).zip(texts).map(|(number, text)| entry(&format!("m{number}"), text)).collect();
    stage.handle.interloper().take_over(pending.clone(), 9);
    // The list of what waits comes before what is said about it.
    stage.refresh();
    stage.tell(Msg::from(Notice::Unfinished(Unfinished { pending, agents, ..Unfinished::default() })));
    stage.screen();
    stage.wait(QUIET);
    stage
}

/// The texts that the next turn would take.
fn deliverable(stage: &mut Stage) -> Vec<String> {
    stage.take_turn().into_iter().map(|entry| entry.message.text).collect()
}

#[test]
fn one_question_is_about_everything_that_was_left_and_nothing_goes_before_it() {
    let mut stage = resumed((80, 24), &["use the old parser", "and tell me", "then stop"], 2);
    let screen = stage.screen();
    assert!(screen.contains("3 pending: continue, edit or discard?"), "{screen}");
    assert!(screen.contains("2 sub-agents were interrupted; each goes on with a text for it"), "{screen}");
    assert!(screen.contains("│ use the old parser") && !screen.contains("1 of"), "{screen}");
    assert_eq!(stage.app.questions.len(), 1);
    assert_eq!(deliverable(&mut stage), [] as [String; 0]);
    stage.keys("<a-y>");
    assert_eq!(deliverable(&mut stage), ["use the old parser", "and tell me", "then stop"]);
    assert!(stage.app.questions.is_empty());
}

#[test]
fn what_was_left_looks_like_this() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = resumed((width, height), &["use the old parser", "and tell me what you found"], 1);
        insta::assert_snapshot!(format!("left_{width}x{height}"), stage.picture());
    }
}

#[test]
fn discarded_texts_leave_the_queue_and_can_be_brought_back() {
    let mut stage = resumed((80, 24), &["one", "two"], 0);
    stage.keys("<a-n>");
    assert_eq!(stage.handle.interloper().peek(), []);
    stage.keys("<c-_><c-_>");
    let back: Vec<String> = stage.handle.interloper().peek().into_iter().map(|entry| entry.message.text).collect();
    assert_eq!(back, ["one", "two"]);
}

#[test]
fn a_single_text_is_edited_in_the_message_and_several_in_the_list() {
    let mut stage = resumed((80, 24), &["only this"], 0);
    stage.keys("<a-w>");
    assert_eq!(stage.app.message.text(), "only this");
    stage.keys(" and that<enter>");
    assert_eq!(stage.handle.interloper().peek()[0].text, "only this and that");
    let mut stage = resumed((80, 24), &["one", "two"], 0);
    stage.keys("<a-w>");
    assert!(stage.screen().contains("▸"), "{}", stage.screen());
    assert_eq!(deliverable(&mut stage), [] as [String; 0]);
}

#[test]
fn the_end_of_an_edit_that_starts_a_turn_says_so() {
    let mut stage = resumed((120, 36), &["one", "two"], 0);
    stage.keys("<a-w>").keys("<enter>");
    assert!(stage.screen().contains("editing m2 for main: Enter sends it"), "{}", stage.screen());
    stage.keys("<enter>");
    assert!(stage.screen().contains("m2 is sent"), "{}", stage.screen());
    assert_eq!(deliverable(&mut stage), ["two"]);
    stage.turn("").keys("<f2>j<enter>");
    assert!(stage.screen().contains("editing m1 for main: Enter puts it back in its place"), "{}", stage.screen());
}

#[test]
fn what_was_left_says_what_each_text_waits_for_and_what_it_is() {
    let mut stage = Stage::new(100, 30);
    let when = steersman_base::steering::conditional("bash cargo* fails: x", Recurrence::Once).unwrap().0;
    let pending = vec![
        Pending { message: UserText { trigger: Some(when), ..UserText::new("look at cargo") }, ..entry("m1", "") },
        Pending { message: UserText { kind: TextKind::Rule, ..UserText::new("no tests") }, ..entry("m2", "") },
        Pending { message: UserText { delivery: Delivery::FollowUp, ..UserText::new("fu") }, ..entry("m3", "") },
    ];
    stage.handle.interloper().take_over(pending.clone(), 9);
    stage.refresh();
    stage.tell(Msg::from(Notice::Unfinished(Unfinished { pending, ..Unfinished::default() })));
    let screen = stage.screen();
    for line in ["│ when bash cargo* fails: look at cargo", "│ rule: no tests", "│ follow-up: fu"] {
        assert!(screen.contains(line), "{line} in {screen}");
    }
}

#[test]
fn a_question_that_is_left_keeps_the_texts_held_and_does_not_come_again_for_each() {
    let mut stage = resumed((80, 24), &["one", "two"], 0);
    stage.keys("<esc>").refresh();
    let screen = stage.screen();
    assert!(
        screen.contains("the texts stay in the list; F2, then F5 sends one") && stage.app.questions.is_empty(),
        "{screen}"
    );
    assert_eq!(deliverable(&mut stage), [] as [String; 0]);
    assert!(!stage.effects.iter().any(|effect| {
        matches!(
            effect,
            Effect::Request(Request::Queue { operation: QueueOperation::Confirm, .. } | Request::Inject { .. })
        )
    }));
}

#[test]
fn a_number_answers_the_question_of_a_resume_although_a_draft_came_back() {
    for (keys, goes, draft_after) in [
        ("1<enter>", &["look closer"][..], "half a thought"),
        ("<down><enter>", &["look closer"], "half a thought"),
        ("1x", &[], "half a thought1x"),
        ("x<enter>", &[], ""),
    ] {
        let mut stage = Stage::new(100, 24);
        let pending = vec![entry("m1", "look closer")];
        stage.handle.interloper().take_over(pending.clone(), 9);
        stage.refresh();
        let drafts = vec![draft("", "half a thought")];
        stage.tell(Msg::from(Notice::Unfinished(Unfinished { drafts, pending, ..Unfinished::default() })));
        stage.screen();
        stage.wait(QUIET);
        let screen = stage.screen();
        assert!(screen.contains("ready: a number, then Enter") && screen.contains("half a thought"), "{screen}");
        stage.keys(keys);
        assert_eq!(stage.app.message.text(), draft_after, "{keys}");
        let sent: Vec<String> = stage.sent().into_iter().map(|sent| sent.0.clone()).collect();
        let expected = if keys == "x<enter>" { vec!["half a thoughtx".to_owned()] } else { Vec::new() };
        assert_eq!(sent, expected, "{keys}");
        if sent.is_empty() {
            assert_eq!(deliverable(&mut stage), goes, "{keys}");
        }
    }
}

#[test]
fn drafts_come_back_to_the_message_and_those_of_ended_agents_can_be_brought_there() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").spawn("", "researcher 0");
    let drafts = vec![draft("", "half a thought"), draft("researcher 0", "look closer")];
    stage.tell(Msg::from(Notice::Unfinished(Unfinished { drafts: drafts.clone(), ..Unfinished::default() })));
    assert_eq!(stage.app.message.text(), "half a thought");
    assert_eq!(stage.app.message.unsent(), drafts, "and are kept again");
    stage.finished("", "researcher 0", Outcome::Failed);
    stage.keys("<c-_>");
    assert!(stage.app.message.text().contains("look closer"), "{}", stage.app.message.text());
    assert_eq!(stage.sent(), []);
}

#[test]
fn what_is_typed_is_kept_a_moment_later_and_what_came_back_at_once() {
    let mut kept = KeptDrafts::default();
    let (start, typed) = (Instant::now(), || vec![draft("", "half")]);
    let at: jiff::Timestamp = "2026-11-22T20:35:08Z".parse().unwrap();
    kept.on_msg(&Msg::Typed("half".to_owned(), at), start);
    let due = kept.due().unwrap();
    assert!(due > start);
    assert_eq!(kept.keep(start, typed), None);
    // More keys do not put it off.
    kept.on_msg(&Msg::Typed("half".to_owned(), at), start + Duration::from_millis(500));
    assert_eq!(kept.due(), Some(due));
    assert_eq!(kept.keep(due, typed), Some(Request::KeepDrafts { drafts: typed() }));
    assert_eq!((kept.due(), kept.last(typed())), (None, None), "the same is not kept twice");
    let returned = Event::Returned { entries: vec![entry("m1", "back")] };
    kept.on_msg(&Msg::from(crate::support::journals::event(1, returned)), start);
    assert_eq!(kept.due(), Some(start));
    kept.on_msg(&Msg::Update(Update::Queues { queues: vec![(AgentId::main(), Vec::new())], paused: false }), start);
    assert_eq!(kept.last(Vec::new()), Some(Request::KeepDrafts { drafts: Vec::new() }));
}

fn sessions() -> Vec<ListChoice> {
    let choice = |id: &str, title: &str, details: &str, preview: &str| ListChoice {
        id: id.to_owned(),
        directory: "/work/project".to_owned(),
        title: title.to_owned(),
        details: details.to_owned(),
        preview: preview.to_owned(),
        ..ListChoice::default()
    };
    vec![
        choice(
            "0198c9a2-6e1b",
            "find the parser",
            "2026-11-21 18:02 · project (main) · answered · 3 turns",
            "The last answer:\nIt is in src/parse.rs.\n› find the parser\n› and the lexer",
        ),
        choice("0198c9a1-0001", "old \u{1b}[2Jnews", "2026-11-20 08:00 · other · failed · 1 turn", "› old news"),
    ]
}

#[test]
fn a_session_is_chosen_from_a_list_with_a_filter_and_a_preview() {
    for (width, height) in [(120, 36), (80, 24), (40, 12), (20, 5)] {
        let mut stage = Stage::new(width, height);
        stage.keys("/resume<enter>");
        assert_eq!(stage.effects, [Effect::ListSessions(SessionsFor::Choosing)]);
        stage.tell(Msg::Sessions(SessionsFor::Choosing, Ok(sessions())));
        insta::assert_snapshot!(format!("choice_{width}x{height}"), stage.picture());
        stage.keys("<down>").keys("lexer<enter>");
        let (session, directory) = ("0198c9a2-6e1b".to_owned(), "/work/project".to_owned());
        assert_eq!(stage.effects.last(), Some(&Effect::Switch(Switch::Resume { session, directory })));
    }
}

#[test]
fn a_session_is_gone_on_with_by_the_beginning_of_its_name_and_a_running_turn_is_asked_about() {
    let mut stage = Stage::new(80, 24);
    stage
        .keys("/resume 0198c9a1<enter>")
        .tell(Msg::Sessions(SessionsFor::Named("0198c9a1".to_owned()), Ok(sessions())));
    assert!(
        matches!(stage.effects.last(), Some(Effect::Switch(Switch::Resume { session, .. })) if session == "0198c9a1-0001")
    );
    stage.effects.clear();
    stage.keys("/resume 0198<enter>").tell(Msg::Sessions(SessionsFor::Named("0198".to_owned()), Ok(sessions())));
    assert!(stage.screen().contains("several sessions"), "{}", stage.screen());
    stage.keys("/resume nope<enter>").tell(Msg::Sessions(SessionsFor::Named("nope".to_owned()), Ok(sessions())));
    assert!(stage.screen().contains("there is no session nope"), "{}", stage.screen());
    stage
        .turn("")
        .keys("/resume 0198c9a1<enter>")
        .tell(Msg::Sessions(SessionsFor::Named("0198c9a1".to_owned()), Ok(sessions())))
        .screen();
    stage.wait(QUIET);
    assert!(stage.screen().contains("Leave this session for another?"), "{}", stage.screen());
    assert!(!stage.effects.iter().any(|effect| matches!(effect, Effect::Switch(_))));
    stage.keys("<a-y>");
    assert!(matches!(stage.effects.last(), Some(Effect::Switch(_))));
}

#[test]
fn in_lines_the_sessions_are_told_and_a_draft_is_brought_back_on_demand() {
    let mut stage = Stage::in_lines();
    let drafts = vec![draft("", "half a thought")];
    stage.tell(Msg::from(Notice::Unfinished(Unfinished { drafts, ..Unfinished::default() })));
    assert!(stage.written().contains("you were writing: half a thought; /back"), "it is told");
    assert_eq!(stage.app.message.text(), "");
    stage.line("/back");
    assert_eq!(stage.app.message.text(), "half a thought");
    stage.app.message.clear();
    stage.line("/resume");
    stage.tell(Msg::Sessions(SessionsFor::Choosing, Ok(sessions())));
    let told = stage.written();
    assert!(told.contains("0198c9a2-6e1b: find the parser") && told.contains("/resume ID goes on"), "{told}");
    stage.line("/resume 0198c9a2").tell(Msg::Sessions(SessionsFor::Named("0198c9a2".to_owned()), Ok(sessions())));
    assert!(matches!(stage.effects.last(), Some(Effect::Switch(Switch::Resume { .. }))), "{:?}", stage.effects);
}

/// The places where words stand, as the screen lists them.
fn hits(saved: &Saved, words: &str) -> Msg {
    let state = saved.home.path().join(".local/state/steersman");
    Msg::Sessions(SessionsFor::Holding(words.to_owned()), search(Some(&state), words))
}

/// Reads the session that was chosen last.
fn read_chosen(stage: &mut Stage, saved: &Saved) {
    let state = saved.home.path().join(".local/state/steersman");
    let Some(Effect::ReadSession(wanted)) = stage.effects.last().cloned() else { panic!("{:?}", stage.effects) };
    stage.tell(Msg::Replayed(recorded(Some(&state), None, wanted)));
    // Before its first frame nothing is known of its layout, so nothing is found in it.
    stage.screen();
}

#[test]
fn a_hit_of_a_search_is_read_at_its_place_and_the_list_is_there_again_behind_it() {
    let saved = Saved::new();
    saved.session(|play| {
        usual(play);
        let lines: Vec<String> = (1..200).map(|number| format!("line {number}")).collect();
        play.event("", Event::TurnStarted { turn: 2 });
        play.call("", "c9", "read", r#"{"path": "long.txt"}"#).result("", "c9", &lines.join("\n"));
        play.answer("", "That is long.");
    });
    let mut stage = Stage::new(100, 30);
    stage.keys("a draft<c-c>/search Stories<enter>");
    assert_eq!(stage.effects.last(), Some(&Effect::ListSessions(SessionsFor::Holding("Stories".to_owned()))));
    assert!(stage.screen().contains("reading the sessions"), "{}", stage.screen());
    stage.tell(hits(&saved, "Stories"));
    let screen = stage.screen();
    assert!(screen.contains("Found in the sessions") && screen.contains("researcher 0 · assistant"), "{screen}");
    stage.keys("<enter>");
    read_chosen(&mut stage, &saved);
    let screen = stage.screen();
    assert!(screen.contains("event 22 of") && screen.contains("researcher 0"), "its agent is shown: {screen}");
    assert!(screen.contains("Seven stories.") && screen.contains("project"), "{screen}");
    assert!(screen.contains("stories: 1 of 1"), "the word is marked in its transcript: {screen}");
    // Nothing runs in this session and none is saved, and yet it is there again.
    stage.keys("<esc><down><enter>");
    assert!(stage.app.replay.is_none(), "{}", stage.screen());
    read_chosen(&mut stage, &saved);
    assert!(stage.screen().contains("event 27 of"), "{}", stage.screen());
    stage.keys("<esc><esc>/search 150<enter>").tell(hits(&saved, "150"));
    stage.keys("<enter>");
    read_chosen(&mut stage, &saved);
    let screen = stage.screen();
    assert!(screen.contains("line 150"), "a long result is opened at the word: {screen}");
}

#[test]
fn a_search_that_finds_nothing_says_so_and_lines_tell_where_words_stand() {
    let saved = Saved::new();
    saved.usual();
    let mut stage = Stage::new(80, 24);
    stage.keys("/search<enter>");
    assert!(stage.screen().contains("/search needs a text after it"), "{}", stage.screen());
    stage.keys("<c-u>/search nowhere<enter>").tell(hits(&saved, "nowhere"));
    assert!(stage.screen().contains("no session holds these words"), "{}", stage.screen());
    let mut stage = Stage::in_lines();
    stage.line("/search polite stories").tell(hits(&saved, "seven stories"));
    let told = stage.written();
    assert!(told.contains("Seven stories.; ") && told.contains("researcher 0 · assistant · #22"), "{told}");
    assert!(told.contains("steersman replay ID --at N"), "{told}");
}

#[test]
fn the_list_holds_every_session_that_is_saved() {
    let saved = Saved::new();
    let file = saved.usual();
    for number in 0..600 {
        let name = format!("2026-11-22T20-35-08-00000000-0000-7000-8000-{number:012}.jsonl");
        std::fs::copy(&file.path, file.path.with_file_name(name)).unwrap();
    }
    let rows = list(Some(&saved.home.path().join(".local/state/steersman"))).unwrap();
    assert_eq!(rows.len(), 601);
}
