//! Stories of opening a long session: its end is there at once, the whole follows and takes no more than it needs.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use steersman_base::event::{Envelope, Event};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::message::Message;
use steersman_base::protocol::{Notice, Unfinished};
use steersman_session::host::{self, ClosingEvent, ResumeSource, Resumed, Setup, Update};
use steersman_session::journal::{PreviousRun, Record, SessionFile, restore};
use steersman_tui::msg::Msg;
use steersman_tui::status::HostState;
use steersman_tui::view::title;
use tempfile::TempDir;

use crate::support::doubles::{Rig, within};
use crate::support::saved::Saved;
use crate::support::stage::Stage;

const PATIENCE: Duration = Duration::from_mins(1);

/// Saves a session of so many turns, each with an answer that stands in the conversation again.
fn long(saved: &Saved, turns: u32) -> SessionFile {
    saved.session(|play| {
        for turn in 1..=turns {
            let answer = format!("Answer {turn}: {}", "as long as answers usually are, ".repeat(16));
            play.event("", Event::TurnStarted { turn }).user(&format!("m{turn}"), &format!("question {turn}"), None);
            play.answer("", &answer).message(&Message::assistant(answer));
            let call = format!("c{turn}");
            play.call("", &call, "read", r#"{"path": "src/lib.rs"}"#).result("", &call, &format!("{turn} lines"));
            // The same words as in the first turn, which are only named here.
            play.answer("", &format!("Answer 1: {}", "as long as answers usually are, ".repeat(6)));
        }
    })
}

fn envelopes(records: impl Iterator<Item = Record>) -> Vec<Envelope> {
    records.filter_map(|record| if let Record::Event(envelope) = record { Some(envelope) } else { None }).collect()
}

#[test]
fn the_end_of_a_journal_is_read_alone_with_the_texts_that_stand_far_before_it() {
    let saved = Saved::new();
    let file = long(&saved, 2_500);
    assert!(std::fs::metadata(&file.path).unwrap().len() > 5 * limits::JOURNAL_TAIL);
    let whole = file.read().unwrap();
    let mut tail = file.tail(limits::JOURNAL_TAIL).unwrap();
    let end: Vec<Record> = tail.by_ref().map(Result::unwrap).collect();
    assert_eq!((tail.last_number(), tail.damage().sentence()), (whole.last, None));
    assert!(end.len() > 500, "{}", end.len());
    assert_eq!(end, whole.records[whole.records.len() - end.len()..]);
    // Short sessions are their own end.
    assert_eq!(file.tail(1 << 30).unwrap().map(Result::unwrap).collect::<Vec<_>>(), whole.records);
}

#[test]
fn a_session_that_is_read_part_by_part_goes_on_as_one_that_was_read_at_once() {
    let saved = Saved::new();
    for file in [long(&saved, 500), saved.usual()] {
        let whole = restore(file.read().unwrap().records);
        let mut parts = PreviousRun::from_file(&file).unwrap();
        let mut told = Vec::new();
        loop {
            let events = parts.events().unwrap();
            assert!(events.len() <= limits::RESUME_EVENTS);
            if events.is_empty() {
                break;
            }
            told.extend(events);
        }
        let rest = Box::new(parts).resumed();
        assert_eq!(Resumed { envelopes: told, ..rest }, whole);
    }
}

#[test]
fn the_end_is_on_the_screen_until_all_is_read_and_who_reads_there_stays_there() {
    let saved = Saved::new();
    let file = long(&saved, 800);
    let all = envelopes(file.read().unwrap().records.into_iter());
    let end = envelopes(file.tail(limits::JOURNAL_TAIL).unwrap().map(Result::unwrap));
    assert!(end.len() < all.len() / 2);
    let mut stage = Stage::new(80, 24);
    stage.app.begin_opening(&end);
    let screen = stage.screen();
    assert!(screen.contains("question 800") && screen.contains("Answer 1: as long"), "{screen}");
    // A key shows an earlier part of it; what is typed is in the message.
    stage.keys("<pgup><pgup><pgup><pgup>and then");
    let read = stage.above_the_rule();
    assert!(read.contains("question 79") && !read.contains("question 800"), "{read}");
    let texts =
        |screen: &str| screen.lines().filter(|line| line.contains("question")).map(str::to_owned).collect::<Vec<_>>();
    let tell = |stage: &mut Stage, envelopes: &[Envelope]| {
        for envelope in envelopes {
            stage.tell(Msg::from(envelope.clone()));
        }
    };
    tell(&mut stage, &all[..all.len() / 2]);
    assert_eq!(texts(&stage.above_the_rule()), texts(&read), "the first half is not shown yet");
    tell(&mut stage, &all[all.len() / 2..]);
    stage.tell(Msg::from(Notice::Unfinished(Unfinished::default())));
    let whole = stage.screen();
    assert_eq!(texts(&stage.above_the_rule()), texts(&read), "{whole}");
    assert!(whole.contains("and then"), "{whole}");
    stage.keys("<c-home>");
    assert!(stage.screen().contains("question 1"), "{}", stage.screen());
    stage.keys("<c-end>");
    assert!(stage.screen().contains("question 800"), "{}", stage.screen());
    // A new conversation, and what comes now, goes to the whole.
    stage.says("", "Something new.");
    assert!(stage.screen().contains("Something new."), "{}", stage.screen());
}

#[test]
fn what_an_agent_did_long_ago_is_not_shown_as_what_it_does_while_the_session_is_read() {
    let mut stage = Stage::new(80, 24);
    stage.app.status.host = HostState::Starting;
    stage.app.begin_opening(&[]);
    assert!(stage.screen().contains("○ opening the session"), "{}", stage.screen());
    let mut began = crate::support::journals::event(1, Event::TurnStarted { turn: 1 });
    began.at = "2026-11-21T07:30:00Z".parse().unwrap();
    stage.tell(Msg::from(began));
    let screen = stage.screen();
    assert!(screen.contains("○ opening the session"), "{screen}");
    for then in ["waiting for the model", "no token for", "turn ", "Esc: stops", "after the turn"] {
        assert!(!screen.contains(then), "{then}: {screen}");
    }
    assert_eq!(title(&stage.app), "○ ready · steersman");
    stage.tell(Msg::from(Notice::Unfinished(Unfinished::default())));
    assert!(!stage.screen().contains("opening the session"), "{}", stage.screen());
}

#[test]
fn a_search_that_began_at_the_end_finds_everything_when_all_is_read() {
    let saved = Saved::new();
    let file = long(&saved, 800);
    let all = envelopes(file.read().unwrap().records.into_iter());
    let end = envelopes(file.tail(limits::JOURNAL_TAIL).unwrap().map(Result::unwrap));
    let mut stage = Stage::new(80, 24);
    stage.app.begin_opening(&end);
    stage.screen();
    stage.keys("<c-o>/question 800<enter>");
    assert!(stage.screen().contains("1 of 1") || stage.screen().contains("1/1"), "{}", stage.screen());
    for envelope in &all {
        stage.tell(Msg::from(envelope.clone()));
    }
    stage.tell(Msg::from(Notice::Unfinished(Unfinished::default())));
    stage.keys("<esc>/question 7<enter>");
    // 7, 70 to 79, 700 to 799.
    let mut screen = stage.screen();
    while screen.contains("so far") {
        screen = stage.screen();
    }
    assert!(screen.contains("of 111") || screen.contains("/111"), "{screen}");
}

/// A session of many events that notes how many were asked for.
#[derive(Debug)]
struct Many {
    left: usize,
    read: Arc<AtomicUsize>,
    ended: Arc<Mutex<bool>>,
}

impl ResumeSource for Many {
    fn events(&mut self) -> io::Result<Vec<Envelope>> {
        let count = self.left.min(limits::RESUME_EVENTS);
        self.left -= count;
        let first = self.read.fetch_add(count, Ordering::SeqCst) as u64;
        Ok((1..=count as u64)
            .map(|number| {
                crate::support::journals::event(first + number, Event::Notice { text: "one of many".to_owned() })
            })
            .collect())
    }

    fn resumed(self: Box<Self>) -> Resumed {
        *self.ended.lock().unwrap() = true;
        Resumed::default()
    }
}

#[tokio::test]
async fn a_session_is_read_no_faster_than_its_screen_takes_it_and_texts_get_numbers_of_their_own_meanwhile() {
    let (read, ended) = (Arc::new(AtomicUsize::new(0)), Arc::default());
    let many = Many { left: 40_000, read: Arc::clone(&read), ended: Arc::clone(&ended) };
    let (rig, dir) = (Rig::new([]), TempDir::new().unwrap());
    let setup = Setup { resumed: Some(Box::new(many)), ..crate::support::bench::setup(&rig, &dir) };
    let mut host = host::start(&tokio::runtime::Handle::current(), setup);
    host.handle().interloper().take_over(Vec::new(), 70);
    let mailbox = Arc::clone(host.handle().mailbox());
    let (mut told, mut most) = (0, 0);
    let all = async {
        while told < 40_000 {
            let updates = mailbox.take_updates();
            told += updates.iter().filter(|update| matches!(update, Update::Envelope(_))).count();
            most = most.max(updates.len());
            tokio::task::yield_now().await;
            assert!(read.load(Ordering::SeqCst) <= told + limits::RESUME_POSTS + 2 * limits::RESUME_EVENTS);
        }
    };
    within(PATIENCE, "all is told", all).await;
    assert!(most <= limits::RESUME_POSTS + 2 * limits::RESUME_EVENTS, "{most}");
    assert_eq!(host.handle().inject_user_message(&AgentId::main(), "now").unwrap().id.as_str(), "m71");
    host.handle().stop();
    within(PATIENCE, "it settles", host.settled()).await.unwrap();
    assert!(*ended.lock().unwrap());
    host.shutdown(PATIENCE).await;
}

#[tokio::test]
async fn what_was_open_in_an_earlier_process_has_ended_before_anybody_is_asked_about_it() {
    let event = Event::Notice { text: "what was open has ended".to_owned() };
    let closing = ClosingEvent { agent: AgentId::main(), parent: None, event };
    let earlier = Resumed { closing: vec![closing], ..Resumed::default() };
    let (rig, dir) = (Rig::new([]), TempDir::new().unwrap());
    let setup = Setup { resumed: Some(Box::new(earlier)), ..crate::support::bench::setup(&rig, &dir) };
    let mut host = host::start(&tokio::runtime::Handle::current(), setup);
    let mailbox = Arc::clone(host.handle().mailbox());
    host.handle().stop();
    within(PATIENCE, "it settles", host.settled()).await.unwrap();
    let updates = mailbox.take_updates();
    let place = |is_it: fn(&Update) -> bool| updates.iter().position(is_it).unwrap();
    let ended =
        place(|update| matches!(update, Update::Envelope(envelope) if matches!(envelope.event, Event::Notice { .. })));
    assert!(ended < place(|update| matches!(update, Update::Notice(Notice::Unfinished(_)))), "{updates:?}");
    host.shutdown(PATIENCE).await;
}
