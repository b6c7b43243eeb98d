//! A recorded session again on the screen, with a timeline.

use jiff::{SignedDuration, Timestamp};
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_base::id::AgentId;
use steersman_base::message::Arguments;
use steersman_base::protocol::{Reply, Request, Undo, UndoScope, UndoneFile, Update};
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::switch::{EventPlace, SessionPlace};
use steersman_tui::timeline::{Direction, Jump, Recorded, RecordedContext, RecordedSource, Step, Timeline};

use crate::support::stage::Stage;

/// A session of two turns, an event each second.
fn session() -> Vec<Step> {
    let main = AgentId::main();
    let worker: AgentId = "worker 0".into();
    let user = |text: &str, id: &str| Event::UserTurn {
        content: text.to_owned(),
        mid_loop: false,
        injection: Some(id.into()),
        step: 0,
        after: None,
        sender: None,
        kind: steersman_base::steering::TextKind::Add,
        met: None,
        images: Vec::new(),
    };
    let call = |id: &str| Event::ToolCall {
        id: id.into(),
        name: "read".to_owned(),
        arguments: Arguments::parse(r#"{"path":"a.rs"}"#),
    };
    let result = |id: &str, content: &str, is_error| Event::ToolResult {
        id: id.into(),
        content: content.to_owned(),
        is_error,
        elapsed_ms: 5,
    };
    let spawned = Event::AgentSpawned {
        child: worker.clone(),
        persona: "worker".to_owned(),
        task: "Look around.".to_owned(),
        call: None,
        model: None,
        max_steps: None,
        tools: Vec::new(),
    };
    let ended = |turn| Event::TurnEnded { turn, outcome: Outcome::Completed, message: None };
    let says = |text: &str| Event::AssistantDelta { text: text.to_owned() };
    let events = [
        Event::TurnStarted { turn: 1 },
        user("first question", "m1"),
        Event::RoundStarted { turn: 1, round: 1 },
        call("c1"),
        result("c1", "Error: there is none", true),
        Event::RoundStarted { turn: 1, round: 2 },
        spawned,
        says("the first answer"),
        ended(1),
        Event::TurnStarted { turn: 2 },
        user("second question", "m2"),
        Event::RoundStarted { turn: 2, round: 1 },
        says("the second answer"),
        ended(2),
    ];
    let start: Timestamp = "2026-11-21T09:00:00Z".parse().unwrap();
    let step = |(index, event): (usize, Event)| {
        let at = start + SignedDuration::from_secs(i64::try_from(index).unwrap());
        let seq = index as u64 + 1;
        Step { seq, at, update: Update::Envelope(Envelope { seq, at, agent: main.clone(), parent: None, event }) }
    };
    events.into_iter().enumerate().map(step).collect()
}

pub fn replay(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.tell(Msg::Replayed(Ok(alone(session(), EventPlace::default()))));
    stage
}

fn alone(steps: Vec<Step>, place: EventPlace) -> Recorded {
    let ui = RecordedContext { model: "openai".to_owned(), ..RecordedContext::default() };
    let source = RecordedSource::Alone(ui);
    Recorded { steps: steps.into(), source, place }
}

#[test]
fn it_begins_at_its_end_and_goes_by_events_rounds_turns_and_marks() {
    let mut stage = replay(100, 30);
    let screen = stage.screen();
    assert!(screen.contains("the second answer") && screen.contains("event 14 of 14"), "{screen}");
    let screen = stage.keys("<left><left>").screen();
    assert!(!screen.contains("the second answer") && screen.contains("event 12 of 14"), "{screen}");
    let screen = stage.keys("<c-left><c-left>").screen();
    assert!(screen.contains("event 1 of 14") && !screen.contains("first question"), "{screen}");
    let screen = stage.keys("<s-right><s-right>").screen();
    assert!(screen.contains("event 6 of 14") && screen.contains("there is none"), "{screen}");
    let screen = stage.keys("[").screen();
    assert!(screen.contains("event 5 of 14"), "the call that failed is marked: {screen}");
    let screen = stage.keys("[").screen();
    assert!(screen.contains("event 2 of 14") && screen.contains("first question"), "{screen}");
    let screen = stage.keys("<home>").screen();
    assert!(screen.contains("event 0 of 14") && !screen.contains("first question"), "{screen}");
    let screen = stage.keys("<end>").screen();
    assert!(screen.contains("event 14 of 14") && screen.contains("0:13 of 0:13"), "{screen}");
}

/// The same session so many times, one after the other, with agents of their own.
fn long(times: u64) -> Vec<Step> {
    let mut steps = Vec::new();
    let length = session().len() as u64;
    for time in 0..times {
        for step in session() {
            let Step { seq, at, update: Update::Envelope(mut envelope) } = step else { panic!("an event") };
            let worker: AgentId = format!("worker {time}").as_str().into();
            if let Event::AgentSpawned { child, .. } = &mut envelope.event {
                *child = worker.clone();
            }
            let (seq, at) =
                (seq + time * length, at + SignedDuration::from_secs(i64::try_from(time * length).unwrap()));
            envelope.seq = seq;
            envelope.at = at;
            let says = Event::AssistantDelta { text: format!("{worker} says {time}") };
            let said = Envelope { agent: worker, parent: Some(AgentId::main()), event: says, ..envelope.clone() };
            let spawned = matches!(envelope.event, Event::AgentSpawned { .. });
            steps.push(Step { seq, at, update: Update::Envelope(envelope) });
            steps.extend(spawned.then(|| Step { seq, at, update: Update::Envelope(said) }));
        }
    }
    steps
}

#[test]
fn going_back_in_a_long_session_shows_what_going_on_from_its_beginning_shows() {
    let times = 500;
    let mut stage = Stage::new(100, 30);
    stage.tell(Msg::Replayed(Ok(long(times).into())));
    stage.screen();
    let go = |stage: &mut Stage, seconds: u64| {
        stage.keys(&format!("g{seconds}<enter>"));
        stage.screen()
    };
    // Back over several checkpoints, on within one, and right beside one.
    let places = [6_990, 6_989, 5_300, 5_301, 2_050, 960, 957, 955, 3_333, 3_330, 1, 6_999];
    let seen: Vec<String> = places.into_iter().map(|place| go(&mut stage, place)).collect();
    assert!(seen[0].contains("event 6991 of 7000"), "{}", seen[0]);
    for (place, seen) in places.into_iter().zip(seen) {
        // From the beginning there is no way back.
        stage.keys("<home>").screen();
        assert_eq!(go(&mut stage, place), seen, "at {place}");
    }
}

#[test]
fn it_plays_as_fast_as_is_wanted_and_pauses_at_the_end() {
    let mut stage = replay(100, 30);
    let screen = stage.keys(" ").screen();
    assert!(screen.contains("▶ 1x") && screen.contains("of 14"), "at the end it begins again: {screen}");
    let screen = stage.wait(2_100).screen();
    assert!(screen.contains("event 3 of 14"), "{screen}");
    let screen = stage.keys(" ").wait(5_000).screen();
    assert!(screen.contains("‖ 1x") && screen.contains("event 3 of 14"), "{screen}");
    let screen = stage.keys("+++ ").wait(1_000).screen();
    assert!(screen.contains("8x") && screen.contains("event 11 of 14"), "{screen}");
    let screen = stage.wait(1_000).screen();
    assert!(screen.contains("‖ 8x") && screen.contains("event 14 of 14"), "{screen}");
}

#[test]
fn a_time_is_typed_to_go_there() {
    let mut stage = replay(100, 30);
    stage.keys("g0:04");
    assert!(stage.screen().contains("go to (m:ss): 0:04"), "{}", stage.screen());
    let screen = stage.keys("<enter>").screen();
    assert!(screen.contains("event 5 of 14"), "{screen}");
    stage.keys("g12:x<esc>");
    assert!(stage.screen().contains("event 5 of 14"), "{}", stage.screen());
    stage.keys("g:<enter>");
    assert!(stage.screen().contains("not a time"), "{}", stage.screen());
}

#[test]
fn behind_a_replay_nothing_is_said_of_a_conversation() {
    let stage = replay(100, 30);
    assert_eq!(steersman_tui::view::farewell(&stage.app), Vec::<String>::new());
}

#[test]
fn the_timeline_at_three_sizes() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = replay(width, height);
        stage.keys("<c-left>");
        insta::assert_snapshot!(format!("timeline_{width}x{height}"), stage.picture());
    }
}

#[test]
fn nothing_reaches_the_run_and_the_run_misses_nothing() {
    let mut stage = Stage::new(100, 30);
    stage.app.ui.session = Some("0198".to_owned());
    stage.turn("").keys("half a thought");
    stage.tell(Msg::Replayed(Ok(session().into())));
    stage.effects.clear();
    assert_eq!(stage.app.unsent()[0].text, "half a thought", "a draft behind it is kept on");
    stage.keys("what?<enter><f5><c-up>").paste("text").keys("<a-z>");
    let requests: Vec<_> = stage.effects.iter().filter(|effect| matches!(effect, Effect::Request(_))).collect();
    assert!(requests.is_empty(), "{requests:?}");
    assert!(stage.screen().contains("this is a replay"), "{}", stage.screen());
    stage.says("", "said meanwhile");
    assert!(!stage.screen().contains("said meanwhile"), "{}", stage.screen());
    let files = vec![UndoneFile { path: "a.rs".to_owned(), undo: Undo::Removed }];
    stage.tell(Msg::Update(Update::Reply(Reply::UndoPreview { scope: UndoScope::LastTurn, files })));
    assert!(stage.screen().contains("? a question waits: Esc"), "{}", stage.screen());
    stage.resize(90, 28);
    let screen = stage.keys("<esc>").screen();
    assert!(screen.contains("said meanwhile") && screen.contains("› half a thought"), "{screen}");
    assert!(!screen.contains("second question") && screen.contains("Take back"), "{screen}");
    stage.wait(350).keys("<a-n><enter>");
    let sent = |effect: &Effect| matches!(effect, Effect::Request(Request::Inject { message, .. }) if message.text == "half a thought");
    assert!(stage.effects.iter().any(sent), "{:?}", stage.effects);
}

#[test]
fn panes_help_and_the_end_of_a_replay_are_as_usual() {
    let mut stage = replay(100, 30);
    stage.keys("<f1>");
    assert!(stage.screen().contains("Help"), "{}", stage.screen());
    stage.keys("<esc><c-o><pgup>");
    assert!(stage.app.replay.is_some());
    stage.keys("<esc>");
    assert!(stage.app.replay.is_some(), "the first goes back to the timeline");
    stage.keys("q");
    assert_eq!(stage.effects.last(), Some(&Effect::Quit), "no run goes on behind it");
}

#[test]
fn a_session_that_is_not_saved_or_empty_is_not_replayed() {
    let mut stage = Stage::new(100, 30);
    stage.keys("/replay<enter>");
    assert!(stage.screen().contains("not saved"), "{}", stage.screen());
    stage.tell(Msg::Replayed(Ok(Vec::new().into())));
    assert!(stage.app.replay.is_none() && stage.screen().contains("nothing is recorded yet"), "{}", stage.screen());
    stage.app.ui.session = Some("0198".to_owned());
    stage.keys("/replay<enter>");
    assert_eq!(
        stage.effects.last(),
        Some(&Effect::ReadSession(SessionPlace { session: "0198".to_owned(), place: EventPlace::default() }))
    );
}

#[test]
fn what_it_shows_at_every_event_is_what_it_showed_on_the_way_there() {
    let mut forth = replay(100, 30);
    forth.keys("<home>");
    let mut screens = Vec::new();
    for _ in 0..14 {
        screens.push(forth.keys("<right>").picture());
    }
    let mut back = replay(100, 30);
    for expected in screens.iter().rev() {
        assert_eq!(&back.picture(), expected);
        back.keys("<left>");
    }
}

#[test]
fn jumps_keep_what_belongs_to_one_event_together() {
    let mut steps = session();
    let queues = Update::Queues { queues: Vec::new(), paused: false };
    steps.insert(2, Step { update: queues, ..steps[1].clone() });
    let mut timeline = Timeline::new(steps);
    timeline.set_position(1);
    assert_eq!(timeline.target(Jump::Event(Direction::Forward)), 3);
    timeline.set_position(3);
    assert_eq!(timeline.target(Jump::Event(Direction::Back)), 1);
    assert_eq!(timeline.target(Jump::Mark(Direction::Back)), 0);
    assert_eq!(timeline.target(Jump::Turn(Direction::Forward)), 11);
}

#[test]
fn in_no_pane_of_a_replay_is_anything_written_or_stopped() {
    let mut stage = Stage::new(100, 30);
    stage.app.ui.session = Some("0198".to_owned());
    stage.tell(Msg::Replayed(Ok(session().into())));
    // A turn runs there.
    stage.keys("<left><c-o>x");
    assert!(stage.screen().contains("this is a replay"), "{}", stage.screen());
    stage.effects.clear();
    stage.keys("<c-g><a-h><f9>");
    assert_eq!(stage.effects, []);
    assert!(!stage.screen().contains("Start a new conversation"), "{}", stage.screen());
    stage.keys("/answer<enter>");
    assert!(stage.screen().contains("/answer"), "the transcript can be searched: {}", stage.screen());
    stage.keys("<esc><c-c>");
    assert!(stage.app.replay.is_none(), "the key that stops or quits ends the replay alone");
    assert_eq!(stage.effects, []);
}
