//! The ledger: every text that was sent, what became of it, what it has cost, and the way back to it.

use steersman_base::event::{Event, Outcome, Pending, Usage};
use steersman_base::price::Price;
use steersman_base::protocol::Request;
use steersman_session::model::ReceiptCost;
use steersman_tui::ledger::LedgerPane;
use steersman_tui::msg::Effect;
use steersman_tui::state::Pane;
use steersman_tui::transcript::cell::Cell;

use crate::support::stage::Stage;

fn usage(tokens: u64, nanos: Option<u64>) -> Event {
    Event::Tokens(Usage { input: Some(tokens), cost_nanos: nanos, ..Usage::default() })
}

/// A session with a text in each state that lasts.
fn session(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.keys("look at this project<enter>");
    let first = stage.take_turn();
    stage.turn("").deliver(&first, false).seen("", &first, 0);
    stage.event("", usage(1_200, Some(1_500_000)));
    stage.call("", "c1", "grep");
    stage.keys("and count the tests, too: those of the suite and those on a terminal<enter>").wait(12_000);
    stage.result("", "c1", "found");
    let steer = stage.drain();
    stage.deliver_after("", &steer, 1, "grep").seen("", &steer, 1);
    stage.event("", usage(3_000, Some(2_000_000))).call("", "c2", "grep").result("", "c2", "found");
    stage.event("", usage(4_000, None)).call("", "c3", "agent").spawn("", "file_miner 0").turn("file_miner 0");
    stage.event("", usage(5_000, Some(9_000_000)));
    let to_child = Pending::new("m90".into(), "only the newest", first[0].at);
    stage.call("file_miner 0", "x1", "read").result("file_miner 0", "x1", "text");
    stage.deliver_after("file_miner 0", &[to_child], 1, "read");
    stage.keys("never mind<enter><a-up><c-u>");
    stage.keys("still waiting<enter>");
    stage
}

fn row_of(screen: &str, part: &str) -> String {
    let row = screen.lines().rev().find(|row| row.contains(part));
    row.unwrap_or_else(|| panic!("no row has {part:?}:\n{screen}")).to_owned()
}

#[test]
fn the_ledger_says_that_it_is_empty() {
    let screen = Stage::new(80, 24).keys("<f4>").screen();
    assert!(screen.contains("Ledger of 0 texts") && screen.contains("You have not sent anything yet."), "{screen}");
}

#[test]
fn every_text_has_a_row_with_its_boundary_and_its_wait() {
    let mut stage = session(120, 40);
    let screen = stage.keys("<f4>").screen();
    assert!(screen.contains("Ledger of 5 texts"), "{screen}");
    let row = row_of(&screen, "count the tests, too");
    for word in ["✓✓", "main", "0:12", "after grep", "step 1", "7.0k", "$0.0020"] {
        assert!(row.contains(word), "{word} is missing: {row}");
    }
    assert!(row_of(&screen, "only the newest").contains("file_miner 0"), "{screen}");
    assert!(row_of(&screen, "never mind").contains("↩"), "{screen}");
}

#[test]
fn a_text_costs_what_its_agent_used_until_it_calls_another_tool() {
    let stage = session(120, 40);
    let spent = |place: usize| stage.app.ui.run.receipts.list()[place].spent;
    let first = ReceiptCost { tokens: Some(1_200), nanos: Some(1_500_000) };
    let steer = ReceiptCost { tokens: Some(7_000), nanos: Some(2_000_000) };
    assert_eq!([spent(0), spent(1), spent(2)], [first, steer, ReceiptCost::default()]);
}

#[test]
fn where_the_server_tells_no_cost_the_prices_of_the_user_do_for_the_text_as_for_its_agent() {
    let mut stage = Stage::new(120, 40);
    let price = Price::new(2.0, None, 10.0).unwrap();
    stage.app.ui.run.agents.prices = [("big".to_owned(), price)].into_iter().collect();
    stage.keys("go<enter>");
    let taken = stage.take_turn();
    let round = Usage { input: Some(1_000), output: Some(100), model: Some("big".to_owned()), ..Usage::default() };
    stage.turn("").deliver(&taken, false).event("", Event::Tokens(round));
    assert_eq!(stage.app.ui.run.receipts.list()[0].spent.nanos, Some(3_000_000));
    assert_eq!(stage.app.ui.run.agents.main().cost_nanos, 3_000_000);
}

#[test]
fn the_end_of_the_turn_ends_the_counting_too() {
    let mut stage = Stage::new(80, 24);
    stage.keys("go<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).event("", usage(10, None)).turn_ended("", Outcome::Completed, None);
    stage.event("", Event::TurnStarted { turn: 2 }).event("", usage(500, None));
    assert_eq!(stage.app.ui.run.receipts.list()[0].spent.tokens, Some(10));
}

#[test]
fn enter_shows_the_text_in_the_transcript_of_its_agent() {
    let mut stage = session(120, 40);
    stage.keys("<f4><home><down><down>");
    assert!(row_of(&stage.screen(), "m90 to file_miner 0").contains("✓ delivered after read at step 1"));
    stage.keys("<enter>");
    assert!(stage.app.focus.overlays.is_empty());
    assert_eq!(stage.app.tree.selected().as_str(), "file_miner 0");
    assert!(stage.app.focus.is_on(Pane::Transcript));
    let selected = stage.app.reader().unwrap().selected;
    assert_eq!(selected, stage.app.reader().unwrap().transcript.cell_of(&"m90".into()));
    assert!(selected.is_some());
}

#[test]
fn a_text_that_is_in_no_conversation_says_so_and_the_ledger_stays() {
    let mut stage = session(120, 40);
    stage.keys("<f4><up><enter>");
    assert!(stage.screen().contains("is not in the conversation: withdrawn"));
    assert!(stage.app.focus.overlays.is_on::<LedgerPane>());
}

#[test]
fn esc_closes_the_ledger_and_does_not_stop_the_turn() {
    let mut stage = session(80, 24);
    stage.keys("<f4><esc>");
    assert!(stage.app.focus.overlays.is_empty());
    assert!(!stage.effects.contains(&Effect::Request(Request::Stop)));
    stage.keys("<f4><f4>");
    assert!(stage.app.focus.overlays.is_empty(), "the key that opens it closes it");
}

#[test]
fn the_ledger_opens_at_its_newest_row_and_scrolls_with_the_selection() {
    let mut stage = Stage::new(80, 24);
    for number in 0..60 {
        stage.keys(&format!("text number {number}<enter>"));
    }
    let screen = stage.keys("<f4>").screen();
    assert!(screen.contains("text number 59") && !screen.contains("text number 30 "), "{screen}");
    let screen = stage.keys("<home>").screen();
    assert!(row_of(&screen, "text number 0").contains('›'), "{screen}");
    stage.keys("<end>").screen();
    for _ in 0..3 {
        stage.keys("k");
    }
    let screen = stage.screen();
    assert!(row_of(&screen, "text number 56 ").contains('›') && screen.contains("text number 59"), "{screen}");
}

#[test]
fn the_ledger_at_every_size_shows_the_selected_row_and_leaves_nothing_behind() {
    for (width, height) in [(1, 1), (5, 2), (20, 5), (30, 8), (200, 3), (34, 60)] {
        let mut stage = session(width, height);
        let before = stage.screen();
        for (key, text) in [("<f4><home>", "look at this"), ("<end>", "still waiting")] {
            let screen = stage.keys(key).screen();
            assert!(width < 20 || row_of(&screen, text).contains("› "), "{width}x{height}, {key}:\n{screen}");
        }
        assert_eq!(stage.keys("<esc>").wait(400).screen(), before, "{width}x{height}");
    }
}

#[test]
fn ledger_at_four_sizes() {
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let mut stage = session(width, height);
        stage.keys("<f4><home><down>");
        insta::assert_snapshot!(format!("ledger_{width}x{height}"), stage.picture());
    }
}

#[test]
fn where_prices_are_known_the_ledger_knows_the_cost() {
    let mut stage = Stage::new(120, 40);
    let price = steersman_base::price::Price::new(2.0, None, 10.0).unwrap();
    stage.app.ui.run.agents.prices = [("qwen3-35b".to_owned(), price)].into_iter().collect();
    stage.keys("go<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false);
    let usage =
        Usage { input: Some(1_000), output: Some(100), model: Some("qwen3-35b".to_owned()), ..Usage::default() };
    stage.event("", Event::Tokens(usage));
    assert_eq!(stage.app.ui.run.receipts.list()[0].spent.nanos, Some(3_000_000));
    assert!(row_of(&stage.keys("<f4>").screen(), "start of turn 1").contains("$0.0030"));
}

#[test]
fn another_session_begins_with_an_empty_ledger() {
    let mut stage = session(80, 24);
    stage.app.ui.run.receipts = steersman_session::model::Receipts::default();
    assert!(stage.keys("<f4>").screen().contains("You have not sent anything yet."));
}

/// A session in which the model has read the text `m2` and says this.
fn said(text: &str, interrupted: bool) -> Stage {
    let mut stage = session(120, 40);
    stage.event("", Event::Assistant { text: text.to_owned(), interrupted });
    stage
}

#[test]
fn the_sentence_in_which_the_model_says_what_it_did_stands_in_the_ledger_and_a_goes_there() {
    let mut stage = said("I go on.\n[m2] Counted 12 tests in both.", false);
    let screen = stage.keys("<f4><home><down>").screen();
    assert!(screen.contains("m2 to main: ✓✓ answered: Counted 12 tests in both. · seen at step 1"), "{screen}");
    insta::assert_snapshot!("answered_text_in_the_ledger", screen);
    stage.keys("a");
    assert!(stage.app.focus.overlays.is_empty() && stage.app.focus.is_on(Pane::Transcript));
    let reader = stage.app.reader().unwrap();
    let shown = reader.selected.and_then(|cell| reader.transcript.cells().get(cell.index()));
    assert!(format!("{:?}", shown.map(Cell::body)).contains("Counted 12 tests"));
    let csv = steersman_tui::export::ledger_csv(stage.app.ui.run.receipts.list());
    assert!(
        csv.lines().nth(2).is_some_and(|row| row.contains("answered at step 3") && row.contains("Counted 12")),
        "{csv}"
    );
}

#[test]
fn without_a_sentence_of_its_own_nothing_is_claimed() {
    let unanswered = |stage: &Stage| stage.app.ui.run.receipts.list().iter().all(|receipt| receipt.answer.is_none());
    for text in
        ["Done with m2.", "[m90] That is another agent's.", "[m99] Nobody sent that.", "[m4] Not delivered yet."]
    {
        assert!(unanswered(&said(text, false)), "{text}");
    }
    assert!(unanswered(&said("[m2] Half a sen", true)), "the reply was cut");
    let mut stage = said("nothing", false);
    let screen = stage.keys("<f4><home><down>a").screen();
    assert!(screen.contains("the model has not said what it did with m2"), "{screen}");
}

#[test]
fn the_first_sentence_about_a_text_counts() {
    let mut stage = said("[m2] Counted them.", false);
    stage.event("", Event::Assistant { text: "[m2] Counted them again.".to_owned(), interrupted: false });
    let receipts = stage.app.ui.run.receipts.list();
    assert_eq!(receipts[1].answer.as_ref().map(|answer| answer.sentence.as_str()), Some("Counted them."));
}
