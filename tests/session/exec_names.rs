//! One thing has one name in all lines, and the older names of the same stay.

use serde_json::{Value, json};
use steersman_base::clock;
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_base::id::{AgentId, MessageId};
use steersman_core::listener::Listener as _;
use steersman_session::stream::{InputLine, RunRecord};

/// An event with the names of its members, each with the older name of the same.
type Case<'a> = (Event, &'a [(&'a str, &'a str)]);

/// Returns the wire form of an event of a run.
fn wire(event: Event) -> Value {
    let envelope = Envelope { seq: 1, at: clock::now(), agent: AgentId::main(), parent: None, event };
    let mut members = serde_json::to_value(&envelope).unwrap().as_object().unwrap().clone();
    let record = RunRecord::default();
    record.on_event(&envelope);
    record.add_to(&envelope, &mut members);
    members["event"].clone()
}

#[test]
fn each_event_has_the_common_names_beside_its_older_ones() {
    let child = AgentId::new("researcher 0");
    let ids = vec![MessageId::new("m1")];
    let words = || Some("why".to_owned());
    let cases: [Case; 8] = [
        (
            Event::UserTurn {
                content: "hello".to_owned(),
                mid_loop: false,
                injection: Some(MessageId::new("m1")),
                step: 0,
                after: None,
                sender: None,
                kind: steersman_base::steering::TextKind::Add,
                met: None,
                images: Vec::new(),
            },
            &[("text", "content"), ("id", "injection")],
        ),
        (Event::Seen { injections: ids, step: 0 }, &[("ids", "injections")]),
        (
            Event::Answer { id: "question 7".to_owned(), answer: "no".to_owned(), words: words() },
            &[("reason", "words")],
        ),
        (
            Event::AgentSpawned {
                child: child.clone(),
                persona: "researcher".to_owned(),
                task: "look".to_owned(),
                call: None,
                model: None,
                max_steps: None,
                tools: Vec::new(),
            },
            &[("agent", "child"), ("text", "task")],
        ),
        (
            Event::AgentFinished { child, outcome: Outcome::Failed, message: words() },
            &[("agent", "child"), ("reason", "message")],
        ),
        (
            Event::Compacted { before: None, after: None, messages: 2, summary: "short".to_owned() },
            &[("text", "summary")],
        ),
        (
            Event::Question {
                id: "question 7".to_owned(),
                question: "may it?".to_owned(),
                detail: None,
                call: None,
                offer: None,
                rule: None,
            },
            &[("text", "question")],
        ),
        (Event::TurnEnded { turn: 1, outcome: Outcome::Failed, message: words() }, &[("reason", "message")]),
    ];
    for (event, names) in cases {
        let line = wire(event);
        for (name, older) in names {
            assert!(!line[name].is_null() && line[name] == line[older], "{name}, {older}: {line}");
        }
        if ["question", "answer"].contains(&line["type"].as_str().unwrap()) {
            assert_eq!(line["number"], 7);
        }
    }
}

#[test]
fn requests_are_read_by_their_older_names_too() {
    let pairs = [
        (json!({"type": "send", "text": "x", "agent": "a 0"}), json!({"type": "send", "text": "x", "to": "a 0"})),
        (
            json!({"type": "answer", "question": 1, "answer": "no", "reason": "x"}),
            json!({"type": "answer", "question": 1, "answer": "no", "words": "x"}),
        ),
        (
            json!({"type": "withdraw", "message": "m", "agent": "a 0"}),
            json!({"type": "withdraw", "message": "m", "to": "a 0"}),
        ),
        (
            json!({"type": "edit", "message": "m", "text": "x", "agent": "a 0"}),
            json!({"type": "edit", "message": "m", "text": "x", "to": "a 0"}),
        ),
    ];
    for (new, old) in pairs {
        let read = |line: &Value| serde_json::from_value::<InputLine>(line.clone()).unwrap();
        assert_eq!(read(&new), read(&old));
        assert!(read(&new) != read(&json!({"type": "end"})));
    }
}
