//! Long and dear conversations on the screen: the gauge, the compaction, the budget, and what the agent notes.

use steersman_base::details::{Details, FileDiff};
use steersman_base::event::{Envelope, Event, Outcome, Usage};
use steersman_base::id::AgentId;
use steersman_base::message::Arguments;
use steersman_base::price::Money;
use steersman_base::protocol::BudgetLimits;
use steersman_base::protocol::Request;
use steersman_base::steering::TextKind;
use steersman_session::model::{ReceiptMark, ReceiptText};
use steersman_tui::msg::Effect;
use steersman_tui::transcript::cell::{Body, Cell, Expansion};
use steersman_tui::transcript::reduce::Transcript;

use crate::support::stage::Stage;

/// Plays so many turns with cells of every kind.
fn turns(transcript: &mut Transcript, turns: std::ops::Range<u64>, mut seen: impl FnMut(&Transcript)) {
    let mut number = turns.start * 100;
    let mut tell = |event: Event| {
        number += 1;
        let at = jiff::Timestamp::from_millisecond(1_790_000_000_000 + i64::try_from(number).unwrap()).unwrap();
        transcript.apply(&Envelope { seq: number, at, agent: AgentId::main(), parent: None, event });
        seen(transcript);
    };
    for turn in turns {
        let id = |what: &str| format!("{what}{turn}");
        tell(Event::TurnStarted { turn: u32::try_from(turn).unwrap() });
        let injection = Some(id("m").into());
        let content = format!("message {turn}");
        let (mid_loop, kind) = (turn % 2 == 0, TextKind::Add);
        tell(Event::UserTurn {
            content,
            mid_loop,
            injection,
            step: 0,
            after: None,
            sender: None,
            kind,
            met: None,
            images: Vec::new(),
        });
        tell(Event::Thinking { text: format!("thought {turn}") });
        tell(Event::AssistantDelta { text: "**answ".to_owned() });
        tell(Event::Assistant { text: format!("**answer** {turn}"), interrupted: turn % 3 == 0 });
        let arguments =
            Arguments::parse(&format!(r#"{{"path": "src/{turn}.rs", "list": [1, 2.5, null, {{"a": "b"}}]}}"#));
        tell(Event::ToolCall { id: id("c").as_str().into(), name: "edit".to_owned(), arguments });
        let question = Event::Question {
            id: id("q"),
            question: "edit src/lib.rs".to_owned(),
            call: Some(id("c").as_str().into()),
            detail: None,
            offer: None,
            rule: None,
        };
        tell(question);
        tell(Event::Answer { id: id("q"), answer: "no".to_owned(), words: Some("not there".to_owned()) });
        let (created, hunks) = (false, "@@ -1 +1,2 @@\n a\n+b\n".to_owned());
        let diff = FileDiff { path: "a.rs".to_owned(), created, added: 1, removed: 0, hunks };
        tell(Event::ToolDetails { id: id("c").as_str().into(), details: Details::Diff(diff) });
        let content = format!("\u{1b}[31mresult {turn}\u{1b}[0m");
        tell(Event::ToolResult { id: id("c").as_str().into(), content, is_error: turn % 5 == 0, elapsed_ms: 7 });
        let arguments = Arguments::parse("not an object");
        tell(Event::ToolCall { id: id("k").as_str().into(), name: "agent".to_owned(), arguments });
        let child: AgentId = format!("researcher {turn}").as_str().into();
        let spawned = Event::AgentSpawned {
            child: child.clone(),
            persona: "researcher".to_owned(),
            task: "look".to_owned(),
            call: (turn % 2 == 0).then(|| id("k").as_str().into()),
            model: None,
            max_steps: None,
            tools: Vec::new(),
        };
        tell(spawned);
        tell(Event::AgentFinished { child, outcome: Outcome::Failed, message: Some("no reason".to_owned()) });
        tell(compacted());
        tell(Event::Notice { text: format!("notice {turn}") });
        tell(Event::TurnEnded { turn: u32::try_from(turn).unwrap(), outcome: Outcome::Completed, message: None });
    }
}

#[test]
fn an_old_cell_is_the_same_when_it_is_looked_at_again() {
    let mut transcript = Transcript::new(AgentId::main());
    let mut cells: Vec<Cell> = Vec::new();
    turns(&mut transcript, 0..400, |transcript| {
        // What is new, and what may have changed since.
        let from = cells.len().saturating_sub(12);
        cells.truncate(from);
        cells.extend(transcript.cells().range(from..transcript.cells().len()).cloned());
    });
    assert!(cells.len() > 2_000, "{}", cells.len());
    for (kept, cell) in transcript.cells().iter().zip(&cells) {
        assert_eq!(kept, cell);
    }
    assert!(transcript.cells().iter().rev().eq(cells.iter().rev()), "and back");
    for index in [0, 1, 127, 128, 129, 1_000, cells.len() - 1] {
        assert_eq!(transcript.cells().get(index), cells.get(index));
        assert_eq!(transcript.cells().outline(index), Some(cells[index].outline()));
    }
    assert_eq!((transcript.cells().get(cells.len()), transcript.cells().outline(cells.len())), (None, None));
    let copy = transcript.clone();
    turns(&mut transcript, 400..401, |_| {});
    assert!(copy.cells().iter().eq(&cells), "a copy stays as it was");
}

#[test]
fn an_old_cell_opens_folds_and_takes_a_receipt_as_a_new_one_does() {
    let mut transcript = Transcript::new(AgentId::main());
    turns(&mut transcript, 0..300, |_| {});
    let call = transcript.cells().iter().find(|cell| cell.body().call().is_some()).unwrap().id();
    let fold = |transcript: &Transcript| transcript.get(call).unwrap().expansion();
    assert_eq!(fold(&transcript), Expansion::Collapsed);
    transcript.toggle(call);
    assert_eq!(fold(&transcript), Expansion::Expanded);
    assert_eq!(transcript.cells().outline(call.index()).unwrap().expansion, Expansion::Expanded);
    // Whatever is looked at and put away meanwhile.
    assert_eq!(
        transcript.cells().iter().filter(|cell| cell.can_collapse() && cell.expansion() == Expansion::Expanded).count(),
        1
    );
    turns(&mut transcript, 300..420, |_| {});
    assert_eq!(fold(&transcript), Expansion::Expanded);
    transcript.toggle_all();
    assert_eq!(fold(&transcript), Expansion::Collapsed, "one was open");
    transcript.toggle_all();
    assert!(transcript.cells().iter().all(|cell| cell.expansion() == Expansion::Expanded));
    let receipt = ReceiptText { mark: ReceiptMark::Seen, parts: vec!["seen after all".to_owned()] };
    transcript.set_receipt(&"m3".into(), receipt.clone());
    turns(&mut transcript, 420..540, |_| {});
    let cell = transcript.cell_of(&"m3".into()).unwrap();
    let Body::User { receipt: kept, text, .. } = transcript.get(cell).unwrap().body() else { panic!("a message") };
    assert_eq!((kept.as_ref(), text.as_str()), (Some(&receipt), "message 3"));
}

fn size(tokens: u64, estimated: bool) -> Event {
    Event::ContextSize { tokens, estimated }
}

fn window(tokens: u64) -> Event {
    Event::ContextCap { tokens: Some(tokens) }
}

fn compacted() -> Event {
    Event::Compacted {
        before: Some(110_000),
        after: Some(27_500),
        messages: 46,
        summary: "The user wants the parser **fixed**.\n\nDone so far:\n- src/parse.rs read\u{1b}[31m".to_owned(),
    }
}

fn cost(nanos: u64) -> Event {
    Event::Tokens(Usage { input: Some(12_000), output: Some(300), cost_nanos: Some(nanos), ..Usage::default() })
}

#[test]
fn the_gauge_marks_an_estimate_a_window_that_nobody_knows_and_one_that_is_overfull() {
    let mut stage = Stage::new(120, 24);
    stage.turn("").event("", size(1_200, true));
    assert!(stage.screen().contains("context ~1.2k of ?"));
    stage.event("", window(0));
    assert!(stage.screen().contains("context ~1.2k of ?"));
    stage.event("", window(131_072));
    assert!(stage.screen().contains("context ~1.2k of 131k, ~<1 %"));
    stage.event("", size(110_000, false));
    assert!(stage.screen().contains("context 110k of 131k, 83 %"));
    stage.event("", size(140_000, false));
    assert!(stage.screen().contains("context 140k of 131k, 106 %, too long"));
    stage.event("", size(u64::MAX, true));
    assert!(stage.screen().contains("~>999 %, too long"));
}

#[test]
fn a_compaction_shows_that_it_works_and_leaves_one_line_that_opens() {
    let mut stage = Stage::new(100, 24);
    stage
        .turn("")
        .event("", window(131_072))
        .event("", size(110_000, false))
        .event("", Event::Compacting { messages: 46 });
    stage.wait(2_000);
    assert!(stage.screen().contains("≡ summarising 46 older messages, Esc stops 0:02"));
    stage.event("", compacted()).event("", size(27_500, true));
    let screen = stage.screen();
    let line = "≡ compacted: 83 % → 20 %, 46 messages, summary: The user wants the parser **fixed**. (+2 lines)";
    assert!(screen.contains(line), "{screen}");
    assert!(screen.contains("○ waiting for the model"), "{screen}");
    stage.keys("<a-o>");
    let screen = stage.screen();
    assert!(screen.contains("- src/parse.rs read␛[31m"), "opened, and nothing in it is obeyed: {screen}");
    assert!(screen.contains("context ~27.5k of 131k, ~20 %"), "{screen}");
}

#[test]
fn between_turns_a_compaction_is_stopped_by_escape_and_then_all_is_idle_again() {
    let mut stage = Stage::new(100, 24);
    stage.turn("").says("", "Done.").turn_ended("", Outcome::Completed, None);
    stage.keys("/compact mind the port<enter>");
    assert_eq!(stage.effects, [Effect::Request(Request::Compact { words: Some("mind the port".to_owned()) })]);
    stage.event("", Event::Compacting { messages: 8 });
    assert!(stage.screen().contains("≡ summarising 8 older messages"));
    stage.keys("<esc>");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::Stop)));
    let stopped = "the compaction was stopped; the conversation is as it was";
    stage.event("", Event::Notice { text: stopped.to_owned() });
    let screen = stage.screen();
    assert!(screen.contains(stopped) && screen.contains("· idle"), "{screen}");
    assert_eq!(stage.app.ui.run.agents.running(), 0);
}

#[test]
fn a_shortening_is_told_without_a_summary_and_does_not_open() {
    let mut stage = Stage::new(100, 24);
    let event = Event::Compacted { before: Some(9_000), after: Some(5_000), messages: 0, summary: String::new() };
    stage.turn("").event("", event);
    assert!(stage.screen().contains("≡ compacted: 9.0k → 5.0k tokens, long results shortened"));
    assert!(stage.app.reader().unwrap().transcript.cells().iter().all(|cell| !cell.can_collapse()));
}

#[test]
fn money_and_what_is_left_of_the_budget_stand_in_the_status_line_and_the_details() {
    let mut stage = Stage::new(120, 36);
    stage.turn("").call("", "c1", "agent").spawn("", "a").turn("a");
    stage.event("", cost(120_000_000)).event("a", cost(300_000_000));
    assert!(stage.screen().contains("24.6k tokens used · $0.42"), "{}", stage.screen());
    stage.keys("/budget 2<enter>");
    assert_eq!(stage.handle.budget().standing().max_cost, "2".parse::<Money>().ok());
    let screen = stage.screen();
    assert!(screen.contains("$1.58 of $2.00 left"), "{screen}");
    assert!(screen.contains("- budget: $0.42 of $2.00 spent, $1.58 left · 24.6k tokens used"), "{screen}");
    stage.keys("<f3>i");
    let screen = stage.screen();
    assert!(screen.contains("12.3k tokens, $0.12 · Σ 24.6k in 2 agents, $0.42 · $1.58"), "{screen}");
    insta::assert_snapshot!("budget_120x36", stage.picture());
}

#[test]
fn the_budget_is_shown_set_raised_and_taken_away_by_its_command() {
    let mut stage = Stage::new(120, 24);
    stage.keys("/budget<enter>");
    assert!(stage.screen().contains("budget: $0.00 spent, no limit · 0 tokens used, no limit; /budget 5 sets dollars"));
    let set = |stage: &mut Stage, words: &str| {
        stage.keys(&format!("/budget {words}<enter>"));
        let standing = stage.handle.budget().standing();
        (standing.max_cost.map(|max| max.to_string()), standing.max_tokens)
    };
    assert_eq!(set(&mut stage, "0.50"), (Some("$0.50".to_owned()), None));
    assert_eq!(set(&mut stage, "100000 tokens"), (Some("$0.50".to_owned()), Some(100_000)));
    assert_eq!(set(&mut stage, "$3"), (Some("$3.00".to_owned()), Some(100_000)));
    assert!(stage.screen().contains("0 of 100k tokens used · $3.00 of $3.00 left"), "{}", stage.screen());
    for wrong in ["0", "much", "-1", "0 tokens", "many tokens"] {
        assert_eq!(set(&mut stage, wrong), (Some("$3.00".to_owned()), Some(100_000)), "{wrong}");
        assert!(stage.screen().contains("not set: write /budget 5, /budget 0.50"), "{}", stage.screen());
    }
    assert_eq!(set(&mut stage, "off"), (None, None));
    assert_eq!(stage.app.ui.run.budget.limits, BudgetLimits::default());
}

#[test]
fn a_new_conversation_shows_what_the_session_has_spent_and_not_nothing() {
    let mut stage = Stage::new(120, 24);
    stage.turn("").event("", cost(420_000_000)).turn_ended("", Outcome::Completed, None);
    stage.keys("/budget 1<enter>/budget 5000 tokens<enter>/new<enter>").screen();
    stage.wait(1_000).keys("<a-y>").event("", Event::Reset {});
    let standing = stage.handle.budget().standing();
    assert_eq!((standing.nanos, standing.tokens), (420_000_000, 12_300), "the budget is the session's");
    let screen = stage.wait(10_000).screen();
    assert!(screen.contains("12.3k of 5.0k tokens used · $0.58 of $1.00 left"), "{screen}");
    stage.keys("/budget<enter>");
    let screen = stage.screen();
    assert!(screen.contains("budget: $0.42 of $1.00 spent, $0.58 left · 12.3k of 5.0k tokens used"), "{screen}");
}

#[test]
fn a_new_conversation_has_figures_of_its_own_before_those_of_the_session_also_after_a_resume() {
    for is_live in [true, false] {
        let mut stage = Stage::new(120, 24);
        stage.turn("").event("", cost(420_000_000)).turn_ended("", Outcome::Completed, None);
        if is_live {
            stage.keys("/new<enter>").screen();
            stage.wait(1_000).keys("<a-y>");
        }
        stage.event("", Event::Reset {});
        let screen = stage.wait(10_000).screen();
        assert!(screen.contains("0 tokens used, 12.3k in the session"), "{is_live}: {screen}");
        stage.turn("").event("", cost(10_000_000)).turn_ended("", Outcome::Completed, None);
        let screen = stage.screen();
        assert!(screen.contains("12.3k tokens used, 24.6k in the session · $0.01"), "{is_live}: {screen}");
        assert!(stage.resize(44, 24).screen().contains("12.3k tokens used · $0.01"), "{}", stage.screen());
    }
}

#[test]
fn the_keys_begin_the_commands() {
    let mut stage = Stage::new(100, 24);
    stage.keys("<a-c>");
    assert_eq!(stage.app.message.text(), "/compact ");
    stage.keys("<enter>");
    assert_eq!(stage.effects, [Effect::Request(Request::Compact { words: None })]);
    stage.keys("<a-m>");
    assert_eq!(stage.app.message.text(), "/budget ");
}

#[test]
fn what_the_agent_notes_is_a_line_that_nothing_in_it_can_break() {
    let mut stage = Stage::new(100, 24);
    stage
        .turn("")
        .says("", "Half")
        .event("", Event::Notice { text: "the reply was cut\u{1b}]0;x\u{7}\nhere".to_owned() });
    let screen = stage.screen();
    assert!(screen.contains("! the reply was cut␛]0;x"), "{screen}");
}

#[test]
fn the_compaction_and_the_gauge_at_three_sizes() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = Stage::new(width, height);
        stage.turn("").event("", window(131_072)).event("", cost(120_000_000));
        stage.says("", "I looked at everything.").event("", Event::Compacting { messages: 46 });
        stage.wait(3_000);
        insta::assert_snapshot!(format!("compacting_{width}x{height}"), stage.picture());
        stage
            .event("", compacted())
            .event("", size(27_500, true))
            .event("", Event::Notice { text: "the reply was cut at the token limit".to_owned() });
        insta::assert_snapshot!(format!("compacted_{width}x{height}"), stage.picture());
        stage.keys("<a-o>");
        insta::assert_snapshot!(format!("opened_{width}x{height}"), stage.picture());
    }
}
