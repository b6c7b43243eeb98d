//! The fold of events into cells: what each event becomes, which cells it closes, and what a call and a child show.

use serde_json::json;
use steersman_base::event::{Event, Outcome};
use steersman_base::message::Arguments;
use steersman_tui::transcript::cell::{Body, CallState, CellId, ChildState, Stage};
use steersman_tui::transcript::reduce::Transcript;

use super::{
    Pane, assistant, body, call, delta, ended, envelope, mid_loop, result, spawned, spawned_by, thinking,
    thinking_delta, told, user,
};

#[test]
fn the_authoritative_answer_replaces_its_deltas() {
    let transcript = told([delta("Hel"), delta("lo wrold"), assistant("Hello world")]);
    assert_eq!(transcript.cells().len(), 1);
    assert_eq!(*body(&transcript, 0), Body::Assistant { text: "Hello world".into(), stage: Stage::Done });
}

#[test]
fn thinking_is_open_while_it_comes_and_folded_to_its_first_line_when_it_is_done() {
    let mut pane = Pane::new(told([thinking_delta("first\nsecond")]), (30, 6));
    assert_eq!(pane.rows()[..3], ["· thinking", "  first", "  second"]);
    pane.apply(thinking("first\nsecond\nthird"));
    assert_eq!(pane.rows()[..2], ["· thinking: first (+2 lines)", ""]);
    pane.transcript.toggle(pane.transcript.cells().get(0).unwrap().id());
    assert_eq!(pane.rows()[..4], ["· thinking", "  first", "  second", "  third"]);
}

#[test]
fn a_message_that_entered_a_running_turn_says_so() {
    let mut pane = Pane::new(told([user("plain"), mid_loop("stop after this")]), (40, 4));
    assert_eq!(pane.rows()[..3], ["› plain", "", "» while it worked: stop after this"]);
}

#[test]
fn an_interrupted_answer_says_so() {
    let event = Event::Assistant { text: "half an ans".into(), interrupted: true };
    let mut pane = Pane::new(told([delta("half an ans"), event, Event::Cancelled {}]), (30, 6));
    assert_eq!(pane.rows()[..4], ["✦ half an ans", "  (interrupted)", "", "! cancelled"]);
}

#[test]
fn a_call_shows_its_name_summary_state_time_and_length() {
    let mut pane = Pane::new(told([call("1", "read", &json!({"offset": 3, "path": "a b.rs"}))]), (60, 8));
    assert_eq!(pane.rows()[0], "▸ read a b.rs, from line 3 · running");
    pane.apply(Event::ToolProgress { id: "1".into(), text: "one\ntwo\n".into() });
    let rows = ["▸ read a b.rs, from line 3 · running, 2 lines", "  │ one", "  │ two"];
    assert_eq!(pane.rows()[..3], rows);
    pane.apply(result("1", "one\ntwo\nthree"));
    assert_eq!(pane.rows()[..2], ["✓ read a b.rs, from line 3 · 1.2 s, 3 lines", ""]);
}

#[test]
fn an_opened_call_shows_arguments_and_result_with_the_gutter_on_every_line() {
    let mut transcript =
        told([call("1", "bash", &json!({"command": "ls\npwd"})), result("1", "a long line of output\n\nx")]);
    transcript.toggle(CellId::default());
    let mut pane = Pane::new(transcript, (18, 10));
    let rows = pane.rows();
    assert_eq!(
        rows[1..],
        ["    command: ls", "      pwd", "  │ a long line of", "  │  output", "  │", "  │ x", "", "", ""]
    );
}

#[test]
fn arguments_that_are_no_object_are_shown_as_they_came() {
    let event =
        Event::ToolCall { id: "1".into(), name: "read".into(), arguments: Arguments::parse("{\"path\": \u{1b}") };
    let mut transcript = told([event]);
    transcript.toggle(CellId::default());
    let mut pane = Pane::new(transcript, (40, 3));
    assert_eq!(pane.rows()[..2], ["▸ read {\"path\": ␛ · running", "    {\"path\": ␛"]);
}

#[test]
fn results_find_their_calls_when_calls_run_side_by_side() {
    let events = ["1", "2", "3"].map(|id| call(id, "read", &json!({"path": id})));
    let mut transcript = told(events);
    for id in ["2", "3", "1"] {
        transcript.apply(&envelope(result(id, id)));
    }
    let contents: Vec<_> = transcript
        .cells()
        .iter()
        .map(|cell| match cell.body() {
            Body::Call(call) => (call.summary.clone(), call.output().to_owned()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(contents, ["1", "2", "3"].map(|id| (id.to_owned(), id.to_owned())));
}

#[test]
fn an_id_used_twice_closes_the_older_call_first() {
    let transcript = told([
        call("x", "read", &json!({"path": "a"})),
        call("x", "read", &json!({"path": "b"})),
        result("x", "first"),
        result("x", "second"),
    ]);
    let output = |index| match body(&transcript, index) {
        Body::Call(call) => call.output().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!([output(0), output(1)], ["first", "second"]);
}

/// Everything a turn can leave open.
fn open_turn() -> Vec<Event> {
    vec![
        user("go"),
        call("1", "bash", &json!({"command": "sleep 9"})),
        spawned_by("0", "researcher 0", "look"),
        thinking_delta("hm"),
        delta("so"),
    ]
}

fn is_open(body: &Body) -> bool {
    match body {
        Body::Thinking { stage, .. } | Body::Assistant { stage, .. } => *stage == Stage::Live,
        Body::Call(call) => matches!(call.state, CallState::Running { .. }),
        Body::Child(child) => child.state == ChildState::Running,
        Body::User { .. } | Body::Compaction { .. } | Body::Notice { .. } => false,
    }
}

#[test]
fn a_sub_agent_in_the_background_runs_on_behind_the_turn_of_its_spawner() {
    for background in [true, false] {
        let start = if background { spawned_by("0", "researcher 0", "look") } else { spawned("researcher 0", "look") };
        let mut transcript = told(vec![user("go"), start]);
        if background {
            transcript.apply(&envelope(Event::AgentBackgrounded { child: "researcher 0".into() }));
        }
        transcript.apply(&envelope(ended(Outcome::Completed, None)));
        let state = |transcript: &Transcript| {
            let mut children = transcript.cells().iter().filter_map(|cell| cell.body().child().cloned());
            children.next().unwrap().state
        };
        assert_eq!(state(&transcript), ChildState::Running);
        let finished =
            Event::AgentFinished { child: "researcher 0".into(), outcome: Outcome::Completed, message: None };
        transcript.apply(&envelope(finished));
        assert_eq!(state(&transcript), ChildState::Ended { outcome: Outcome::Completed, message: None });
    }
}

#[test]
fn whatever_ends_a_turn_leaves_nothing_open() {
    let ends = [
        Event::Cancelled {},
        Event::FallbackNotice { reason: "agent exhausted 3 steps".into() },
        ended(Outcome::Completed, None),
        ended(Outcome::Synthesized, None),
        ended(Outcome::Cancelled, None),
        ended(Outcome::Failed, Some("no route to host")),
        Event::Reset {},
    ];
    for end in ends {
        let mut transcript = told(open_turn());
        assert_eq!(transcript.cells().iter().filter(|cell| is_open(cell.body())).count(), 4);
        assert!(transcript.apply(&envelope(end.clone())));
        assert!(!transcript.cells().iter().any(|cell| is_open(cell.body())), "after {end:?}");
    }
}

#[test]
fn a_result_that_comes_after_the_cancel_still_counts() {
    let mut events = open_turn();
    events.extend([Event::Cancelled {}, result("1", "written")]);
    match body(&told(events), 1) {
        Body::Call(call) => assert!(call.output() == "written"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_cancel_is_told_once() {
    let transcript = told([user("go"), Event::Cancelled {}, ended(Outcome::Cancelled, None)]);
    assert_eq!(transcript.cells().len(), 2);
}

#[test]
fn retries_of_one_request_are_one_line_that_changes() {
    let retry = |attempt| Event::Retrying { attempt, after_ms: 500, reason: "503".into() };
    let mut pane = Pane::new(told([user("go"), retry(2), retry(3)]), (50, 6));
    assert_eq!(pane.rows()[2], "! retrying in 500 ms, attempt 3: 503");
    pane.apply(delta("here"));
    assert_eq!(pane.rows()[2], "! attempt 2 failed: 503");
    pane.apply(retry(2));
    assert_eq!(pane.transcript.cells().len(), 4);
}

#[test]
fn a_child_is_a_line_that_names_it_its_task_and_its_end() {
    let mut pane = Pane::new(told([spawned("researcher 0", "find\nthe answer")]), (60, 4));
    assert_eq!(pane.rows()[0], "↳ researcher 0: find the answer · running");
    let message = Some("no key".to_owned());
    pane.apply(Event::AgentFinished { child: "researcher 0".into(), outcome: Outcome::Failed, message });
    assert_eq!(pane.rows()[..2], ["↳ researcher 0: find the answer · failed", "  no key"]);
}

#[test]
fn a_call_that_started_a_child_names_it_and_tells_the_task_once() {
    let task = json!({"name": "researcher", "task": "find the answer"});
    let mut pane =
        Pane::new(told([call("c1", "agent", &task), spawned_by("c1", "researcher 0", "find\nthe answer")]), (60, 4));
    assert_eq!(pane.rows()[..2], ["▸ agent researcher 0: find the answer · running", ""]);
    let synthesized =
        Event::AgentFinished { child: "researcher 0".into(), outcome: Outcome::Synthesized, message: None };
    pane.apply(synthesized);
    assert_eq!(pane.rows()[0], "▸ agent researcher 0: find the answer · running");
    pane.apply(result("c1", "42"));
    assert_eq!(pane.rows()[..2], ["✓ agent researcher 0: find th… · synthesized, 1.2 s, 1 line", ""]);
}

#[test]
fn the_context_window_is_no_news_for_the_transcript() {
    assert!(told([Event::ContextCap { tokens: Some(32_768) }]).cells().is_empty());
}

#[test]
fn events_of_another_agent_change_nothing() {
    let mut transcript = Transcript::new("researcher 0".into());
    assert!(!transcript.apply(&envelope(user("for the main agent"))));
    assert!(transcript.cells().is_empty());
}

#[test]
fn empty_texts_make_no_cells() {
    let transcript = told([delta(""), thinking_delta(""), thinking(" "), assistant("")]);
    assert!(transcript.cells().is_empty());
}

#[test]
fn each_text_is_kept_once() {
    let words = "word ".repeat(20_000);
    let mut transcript = told(words.as_bytes().chunks(50).map(|piece| delta(std::str::from_utf8(piece).unwrap())));
    transcript.apply(&envelope(assistant(&words)));
    match body(&transcript, 0) {
        Body::Assistant { text, .. } => assert!(text.capacity() < 110_000, "{}", text.capacity()),
        other => panic!("{other:?}"),
    }
}
