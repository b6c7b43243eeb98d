//! Stories of `steersman search`: which texts are found, in which order, and what is said of them.

use jiff::Timestamp;
use serde_json::Value;
use steersman_base::event::{Event, Pending};
use steersman_base::message::{DeliveredText, Message, UserAbout};
use steersman_session::journal::SessionId;
use steersman_session::search::{Hit, SearchQuery, search};
use tempfile::TempDir;

use crate::support::journals::header;
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::saved::Saved;
use crate::support::server::{Reply, Server};

fn found(saved: &Saved, words: &[&str]) -> Vec<Hit> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    search(&saved.files().list().unwrap(), &SearchQuery::new(&words).unwrap(), usize::MAX).hits
}

fn kinds(hits: &[Hit]) -> Vec<(&str, &str)> {
    hits.iter().map(|hit| (hit.agent.as_str(), hit.kind.as_str())).collect()
}

#[test]
fn a_text_is_found_once_for_each_agent_with_its_event_and_its_time() {
    let saved = Saved::new();
    let file = saved.usual();
    let hits = found(&saved, &["SEVEN", "stories"]);
    assert_eq!(
        kinds(&hits),
        [("researcher 0", "assistant"), ("", "tool_result"), ("", "assistant")],
        "of one text, as a result and in the conversation, the first is told"
    );
    let first = &hits[0];
    assert_eq!((&first.session, first.excerpt.as_str()), (&file.session, "Seven stories."));
    let at: Timestamp = "2026-11-22T20:35:30Z".parse().unwrap();
    assert_eq!((first.at, first.seq), (Some(at), Some(22)));
    // An accepted text is told as the message that it became.
    assert_eq!(kinds(&found(&saved, &["count", "PLEASE"])), [("", "user_turn")]);
}

#[test]
fn only_texts_are_found_and_never_the_words_of_the_format_or_a_system_prompt() {
    let saved = Saved::new();
    saved.usual();
    for word in
        ["tool_result", "seq", "polite", "injection", "\\u", "Count tests", "steer", "follow_up", "ask", "openai"]
    {
        assert_eq!(found(&saved, &[word]), [] as [Hit; 0], "{word}");
    }
    assert!(SearchQuery::new(&[" ".to_owned()]).is_err());
    // Quotation marks and line ends stand in the file as something else.
    assert_eq!(kinds(&found(&saved, &["\"tests\""])), [("", "user_turn")]);
    assert_eq!(kinds(&found(&saved, &["b.rs", "owned"])), [("", "tool_result")]);
}

#[test]
fn what_was_not_sent_and_what_the_model_was_told_of_a_text_are_not_found() {
    let saved = Saved::new();
    saved.session(|play| {
        play.event("", Event::TurnStarted { turn: 1 }).accepted("m1", "look at the zebras");
        let waits = Pending::new("m1".into(), "look at the zebras", Timestamp::UNIX_EPOCH);
        play.event("", Event::Pending { entries: vec![waits] });
        let about = DeliveredText { words: Some("look at the zebras".to_owned()), ..DeliveredText::default() };
        let wrapped = "<steer-m1 sent=\"while bash ran\">\nlook at the zebras\n</steer-m1>";
        play.message(&Message::user_about(wrapped, Vec::new(), UserAbout::Text(about)));
        play.draft("half a giraffe");
    });
    assert_eq!(found(&saved, &["giraffe"]), [] as [Hit; 0]);
    assert_eq!(found(&saved, &["while bash ran"]), [] as [Hit; 0]);
    let hits = found(&saved, &["zebras"]);
    assert_eq!(kinds(&hits), [("", "accepted")]);
    assert_eq!(hits[0].excerpt, "look at the zebras");
}

#[test]
fn words_between_quotes_stand_together_and_quotes_around_one_word_belong_to_it() {
    let saved = Saved::new();
    saved.usual();
    let together = found(&saved, &["\"seven STORIES\""]);
    assert_eq!(kinds(&together), [("researcher 0", "assistant"), ("", "tool_result")]);
    assert_eq!(found(&saved, &["seven", "stories"]).len(), 3);
    assert_eq!(found(&saved, &["\"stories seven\""]), [] as [Hit; 0]);
    assert_eq!(found(&saved, &["\"seven stories", "please"]), [] as [Hit; 0], "a quote that nothing closes is text");
}

#[test]
fn arguments_of_any_name_are_texts() {
    let server = Server::start([
        Reply::calls(&[(
            "c1",
            "no_such_tool",
            r#"{"id":"needle-one","type":"needle-two","kind":{"agent":"needle-three"}}"#,
        )]),
        Reply::text("Well."),
    ]);
    let program = Program::new().args(["exec", "--base-url", &server.url(), "--model", "m", "hello"]);
    let (output, home) = program.output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let mut home = home;
    for word in ["needle-one", "needle-two", "needle-three"] {
        let (output, back) = Program::within(home).args(["search", "--json", word]).output_with_home();
        let hits: Vec<Value> = serde_json::from_str(&stdout(&output)).unwrap();
        assert!(hits.iter().any(|hit| hit["kind"] == "tool_call"), "{word}: {hits:?}");
        home = back;
    }
}

#[test]
fn a_long_text_that_the_file_repeats_by_number_is_found_where_it_stands_and_the_newest_session_comes_first() {
    let saved = Saved::new();
    let long = format!("{} needle {}", "x".repeat(200), "y".repeat(200));
    let mut sessions = Vec::new();
    for day in ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"] {
        let mut header = header();
        header.started = day.parse().unwrap();
        header.session = SessionId::new(header.started).unwrap();
        sessions.push(header.session.clone());
        saved.session_of(&header, |play| {
            play.accepted("m1", &long).event("", steersman_base::event::Event::TurnStarted { turn: 1 });
            play.user("m1", &long, None).answer("", &long);
        });
    }
    let hits = found(&saved, &["needle"]);
    let told: Vec<_> = hits.iter().map(|hit| (&hit.session, hit.kind.as_str(), hit.seq)).collect();
    // The text is written out with its acceptance, and the next event is the turn that it began.
    assert_eq!(told, [(&sessions[1], "accepted", Some(1)), (&sessions[0], "accepted", Some(1))]);
    assert!(hits[0].excerpt.starts_with("…xxx") && hits[0].excerpt.ends_with("yyy…"), "{}", hits[0].excerpt);
    assert!(hits[0].excerpt.chars().count() < 160);
}

#[test]
fn a_search_ends_when_enough_is_found_and_says_that_there_is_more() {
    let saved = Saved::new();
    let mut newest = None;
    for day in ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"] {
        let mut header = header();
        header.started = day.parse().unwrap();
        header.session = SessionId::new(header.started).unwrap();
        newest = Some(header.session.clone());
        saved.session_of(&header, |play| {
            play.event("", steersman_base::event::Event::TurnStarted { turn: 1 });
            for number in 0..50 {
                play.answer("", &format!("needle {number} of {day}"));
            }
        });
    }
    let (files, words) = (saved.files().list().unwrap(), SearchQuery::new(&["needle".to_owned()]).unwrap());
    let few = search(&files, &words, 3);
    assert!(few.is_cut && (3..=100).contains(&few.hits.len()), "{}", few.hits.len());
    assert!(few.hits.iter().take(3).all(|hit| Some(&hit.session) == newest.as_ref()));
    assert_eq!(few.hits[0].excerpt, "needle 0 of 2026-02-01T00:00:00Z");
    let all = search(&files, &words, usize::MAX);
    assert_eq!((all.is_cut, all.hits.len()), (false, 100));
    let run = |home: TempDir, args: &[&str]| {
        let (output, home) = Program::within(home).args(["search"]).args(args.iter().copied()).output_with_home();
        (stdout(&output), home)
    };
    let (text, home) = run(saved.home, &["--most", "2", "needle"]);
    assert!(text.contains("needle 1 of") && !text.contains("needle 2 of"), "{text}");
    assert!(text.ends_with("there are more; --most 20 shows more of them\n"), "{text}");
    let (text, _home) = run(home, &["--json", "needle"]);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&text).unwrap().len(), 100);
}

#[test]
fn the_command_prints_what_it_found_for_people_and_for_programs() {
    let saved = Saved::new();
    let file = saved.usual();
    let run = |home: TempDir, args: &[&str]| {
        let (output, home) = Program::within(home).args(["search"]).args(args.iter().copied()).output_with_home();
        assert_eq!(stderr(&output), "");
        (exit_code(&output), stdout(&output), home)
    };
    let (code, text, home) = run(saved.home, &["alert", "owned"]);
    assert_eq!(code, 0);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], format!("{}  /work/project", file.session));
    assert!(lines[1].ends_with("main  tool result  #11"), "{text}");
    assert!(lines[2].contains("b.rs⏎=cmd()<script>alert(1)</script>␛]0;owned␇<U+202E>"), "{text}");
    let opens = format!("steersman replay {} --at 11 --find=alert  opens the first one", file.session);
    assert_eq!(lines[lines.len() - 1], opens);
    let (_, text, home) = run(home, &["it's"]);
    assert_eq!(text, "No session holds these words.\n");
    let (_, text, home) = run(home, &["=cmd()<SCRIPT"]);
    assert!(text.ends_with("--at 11 --find='=cmd()<SCRIPT'  opens the first one\n"), "{text}");
    let (_, text, home) = run(home, &["--most", "1", "stories"]);
    assert!(text.ends_with("2 more; --most 3 shows them all\n"), "{text}");
    let (code, text, home) = run(home, &["--json", "alert"]);
    let hits: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &hits[0]["session"]), (0, &file.session.as_str().into()));
    assert_eq!((&hits[0]["seq"], &hits[0]["kind"], &hits[0]["agent"]), (&11.into(), &"tool_result".into(), &"".into()));
    let (code, text, _home) = run(home, &["no-such-word"]);
    assert_eq!((code, text.as_str()), (1, "No session holds these words.\n"));
}
