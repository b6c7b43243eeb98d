//! Stories of kinds and rules on the screen and in lines: a key and words choose a kind, every place says it in words, and
//! rules stand there while they hold.

use steersman_base::event::{Delivery, Event};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{QueueOperation, Request};
use steersman_base::steering::{Rule, RuleChange, RuleNews, RuleScope, TextKind};
use steersman_session::model::ledger_row;
use steersman_tui::msg::Effect;

use crate::support::stage::Stage;

/// A running turn of the main agent, in which a tool runs.
fn working(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.keys("migrate it<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false);
    stage.call("", "c1", "bash");
    stage
}

fn waiting(stage: &Stage) -> Vec<(String, TextKind)> {
    let queue = stage.handle.interloper().peek();
    queue.into_iter().map(|entry| (entry.text.clone(), entry.kind)).collect()
}

fn rules(stage: &mut Stage, rules: &[(&str, &str)]) {
    let rule = |(id, text): &(&str, &str)| Rule {
        id: (*id).into(),
        agent: AgentId::main(),
        scope: RuleScope::Tree,
        text: (*text).to_owned(),
        version: 0,
    };
    stage.event("", Event::Rules { rules: rules.iter().map(rule).collect() });
}

fn changes(stage: &Stage) -> Vec<(MessageId, RuleChange)> {
    let asked = stage.effects.iter().filter_map(|effect| match effect {
        Effect::Request(Request::ChangeRule { id, change }) => Some((id.clone(), change.clone())),
        _ => None,
    });
    asked.collect()
}

#[test]
fn a_key_cycles_the_kind_before_enter_and_the_forecast_says_it() {
    let mut stage = working(120, 36);
    stage.keys("the port is 8080");
    for (kind, words) in [
        (TextKind::Instead, "→ main, instead, after bash"),
        (TextKind::Note, "→ main, note, after bash"),
        (TextKind::Rule, "→ main, rule, after bash"),
        (TextKind::Add, "→ main, after bash"),
    ] {
        stage.keys("<a-v>");
        assert_eq!(stage.app.message.kind(), kind);
        assert!(stage.screen().contains(words), "{}", stage.screen());
    }
    stage.keys("<a-v><a-v><enter>");
    assert_eq!(waiting(&stage), [("the port is 8080".to_owned(), TextKind::Note)]);
    assert_eq!(stage.app.message.kind(), TextKind::Add, "the next text adds again");
    assert!(stage.screen().contains("⋯ m2 note: the port is 8080"), "{}", stage.screen());
}

#[test]
fn words_choose_a_kind_for_one_text_and_tab_and_f5_work_with_every_kind() {
    let mut stage = working(120, 36);
    stage.keys("/instead write docs<enter>").keys("/note it is red<tab>").keys("/rule no new files<f5>");
    let queue = stage.handle.interloper().peek();
    let seen: Vec<_> = queue.iter().map(|entry| (entry.text.as_str(), entry.kind, entry.delivery)).collect();
    assert_eq!(
        seen,
        [
            ("no new files", TextKind::Rule, Delivery::Now),
            ("write docs", TextKind::Instead, Delivery::Steer),
            ("it is red", TextKind::Note, Delivery::FollowUp),
        ]
    );
    assert_eq!(stage.app.message.text(), "");
    stage.keys("/rule<enter>");
    assert!(stage.screen().contains("/rule needs a text after it"), "{}", stage.screen());
}

#[test]
fn a_kind_is_changed_while_the_text_waits() {
    let mut stage = working(120, 36);
    stage.keys("one<enter>").keys("<f2>v");
    assert_eq!(waiting(&stage), [("one".to_owned(), TextKind::Instead)]);
    stage.keys("vv");
    assert_eq!(waiting(&stage), [("one".to_owned(), TextKind::Rule)]);
    // In an edit the key chooses what it becomes with Enter, and Esc leaves it.
    stage.keys("<enter><a-v>");
    assert!(!stage.screen().contains(" as rule"), "{}", stage.screen());
    stage.keys("<a-v>");
    assert!(stage.screen().contains("editing m2 for main as instead: Enter puts it back"), "{}", stage.screen());
    stage.keys("<esc>");
    assert_eq!(waiting(&stage), [("one".to_owned(), TextKind::Rule)]);
    stage.keys("<f2><enter><a-v> more<enter>");
    assert_eq!(waiting(&stage), [("one more".to_owned(), TextKind::Add)]);
}

#[test]
fn a_key_that_comes_after_the_delivery_changes_nothing_and_says_so() {
    let mut stage = working(120, 36);
    stage.keys("one<enter>").keys("<f2>");
    assert_eq!(stage.handle.interloper().drain().len(), 1);
    stage.keys("v");
    assert!(stage.screen().contains("m2 was delivered before it could be given another kind"), "{}", stage.screen());
}

#[test]
fn while_no_turn_runs_a_note_waits_for_the_next_text_and_the_screen_says_so() {
    let mut stage = Stage::new(120, 36);
    stage.keys("the port is 8080<a-v><a-v>");
    assert!(stage.screen().contains("→ note, goes with your next message"), "{}", stage.screen());
    stage.keys("<enter>");
    assert!(stage.screen().contains("→ goes with your next message"), "{}", stage.screen());
    assert!(!stage.handle.interloper().deliverable());
    stage.keys("go");
    assert!(stage.screen().contains("→ starts a turn"), "{}", stage.screen());
    stage.keys("<enter>");
    assert_eq!(stage.take_turn().len(), 2);
}

#[test]
fn texts_that_come_back_keep_their_kinds_and_none_becomes_a_part_of_one_of_another_kind() {
    let mut stage = working(120, 36);
    stage.keys("/rule no new files<enter>").keys("<a-up>");
    assert_eq!((stage.app.message.text().as_str(), stage.app.message.kind()), ("no new files", TextKind::Rule));
    stage.keys("<enter>").keys("and this<enter>").keys("/instead a report<enter>").keys("<esc>");
    assert_eq!((stage.app.message.text().as_str(), stage.app.message.kind()), ("a report", TextKind::Instead));
    // What starts no turn stays for the next text.
    assert!(stage.screen().contains("rule: no new files"), "{}", stage.screen());
    assert!(
        stage.screen().contains("a pending text is back in the message; Ctrl+_ brings 1 of another kind back"),
        "{}",
        stage.screen()
    );
    stage.keys("<c-u>").keys("<c-_>").keys("<c-_>");
    assert_eq!(stage.app.message.text(), "and this");
}

#[test]
fn the_transcript_the_ledger_and_its_export_say_the_kind() {
    let mut stage = working(120, 36);
    stage.keys("/note it is red<enter>").keys("/rule no new files<enter>");
    let taken = stage.drain();
    stage.result("", "c1", "done").deliver_after("", &taken, 1, "bash");
    let screen = stage.screen();
    assert!(screen.contains("note, while it worked: it is red"), "{screen}");
    assert!(screen.contains("rule, while it worked: no new files"), "{screen}");
    let kinds: Vec<String> = stage.app.ui.run.receipts.list().iter().map(|receipt| ledger_row(receipt).kind).collect();
    assert_eq!(kinds, ["add", "note", "rule"]);
    stage.keys("<f4>");
    let screen = stage.screen();
    assert!(screen.contains("m3, rule, to main:"), "{screen}");
    insta::assert_snapshot!("kinds_ledger", stage.picture());
}

#[test]
fn rules_stand_above_the_message_while_they_hold_and_cost_no_row_else() {
    let mut stage = working(120, 36);
    let without = stage.screen();
    rules(&mut stage, &[("m2", "never touch generated files"), ("m3", "British\nspelling")]);
    let with = stage.screen();
    assert!(with.contains("§ 2 rules: never touch generated files · British spelling"), "{with}");
    rules(&mut stage, &[]);
    assert_eq!(stage.screen(), without);
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = working(width, height);
        rules(&mut stage, &[("m2", "never touch generated files"), ("m3", "British spelling")]);
        stage.keys("/note it is red<enter>").keys("text<a-v>");
        insta::assert_snapshot!(format!("kinds_{width}x{height}"), stage.picture());
    }
    let mut stage = working(3, 2);
    rules(&mut stage, &[("m2", "x")]);
    stage.screen();
}

#[test]
fn without_rules_the_list_says_how_one_is_made() {
    let mut stage = working(120, 36);
    let screen = stage.keys("/rules<enter>").screen();
    assert!(screen.contains("no rule: /rule WORDS gives the agents one"), "{screen}");
    assert!(screen.contains("no kept approval: the answer \"yes, always\""), "{screen}");
}

#[test]
fn rules_are_listed_changed_and_withdrawn_in_words() {
    let mut stage = working(120, 36);
    rules(&mut stage, &[("m2", "never touch generated files")]);
    stage.keys("/rules<enter>");
    let screen = stage.screen();
    assert!(screen.contains("rule m2 holds for main and its sub-agents: never touch generated files"), "{screen}");
    stage.keys("/rules change 2 touch nothing<enter>").keys("/rules for m2 new-agents<enter>");
    stage.keys("/rules withdraw m2<enter>");
    let words = |text: Option<&str>, scope| RuleChange::Edit { text: text.map(str::to_owned), scope };
    assert_eq!(
        changes(&stage),
        [
            ("m2".into(), words(Some("touch nothing"), None)),
            ("m2".into(), words(None, Some(RuleScope::NewAgents))),
            ("m2".into(), RuleChange::Withdraw),
        ]
    );
    for wrong in ["/rules withdraw", "/rules change 2", "/rules for 2 everybody"] {
        stage.keys(&format!("{wrong}<enter>"));
        assert!(stage.screen().contains("it is /rules withdraw M"), "{wrong}: {}", stage.screen());
    }
    assert_eq!(changes(&stage).len(), 3);
}

#[test]
fn what_an_agent_told_its_model_of_a_rule_stands_in_its_transcript() {
    let mut stage = working(120, 36);
    let told = |news, text: Option<&str>| Event::RuleNotified { id: "m2".into(), news, text: text.map(str::to_owned) };
    stage.event("", told(RuleNews::Changed, Some("touch nothing")));
    stage.event("", told(RuleNews::Withdrawn, None));
    let screen = stage.screen();
    assert!(screen.contains("- rule m2 has other words here: touch nothing"), "{screen}");
    assert!(screen.contains("- rule m2 no longer holds here"), "{screen}");
}

#[test]
fn in_lines_kinds_and_rules_are_words() {
    let mut stage = Stage::in_lines();
    stage.line("migrate it");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false);
    stage.call("", "c1", "bash");
    stage.written();
    stage.line("/note it is red");
    let written = stage.written();
    assert!(written.contains("pending 2: it is red (note, goes in after bash"), "{written}");
    stage.line("/kind 2 rule");
    assert_eq!(waiting(&stage), [("it is red".to_owned(), TextKind::Rule)]);
    let written = stage.written();
    assert!(written.contains("pending 2: it is red (rule, goes in after bash"), "{written}");
    stage.line("/kind 2 wish");
    assert!(stage.written().contains("write /kind N KIND, with add, instead, note or rule"));
    let taken = stage.drain();
    stage.result("", "c1", "done").deliver_after("", &taken, 1, "bash");
    let written = stage.written();
    assert!(written.contains("you, rule, delivered after bash at step 1: it is red"), "{written}");
    rules(&mut stage, &[("m2", "it is red")]);
    assert!(stage.written().contains("rule 2: holds for main and its sub-agents: it is red"));
    rules(&mut stage, &[]);
    assert!(stage.written().contains("rule 2: no longer holds"));
    stage.line("/rules withdraw 2");
    assert_eq!(changes(&stage), [("m2".into(), RuleChange::Withdraw)]);
}

#[test]
fn the_kind_of_a_text_and_of_a_draft_goes_with_it_to_another_agent_and_into_the_journal() {
    let mut stage = working(120, 36);
    stage.spawn("", "file_miner 0").turn("file_miner 0");
    stage.keys("half<a-v>").keys("<f3><down><enter>");
    assert_eq!((stage.app.message.text().as_str(), stage.app.message.kind()), ("", TextKind::Add));
    stage.keys("<f3><up><enter>");
    assert_eq!((stage.app.message.text().as_str(), stage.app.message.kind()), ("half", TextKind::Instead));
    let kept = stage.app.message.unsent();
    assert_eq!(kept[0].kind, TextKind::Instead);
    let mut other = Stage::new(120, 36);
    other.app.message.restore_drafts(&kept);
    assert_eq!((other.app.message.text().as_str(), other.app.message.kind()), ("half", TextKind::Instead));
}

#[test]
fn a_change_of_kind_is_one_request() {
    let mut stage = working(120, 36);
    stage.keys("one<enter>").keys("<f2>v");
    let operations: Vec<QueueOperation> = stage
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Request(Request::Queue { operation, .. }) => Some(operation.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(operations, [QueueOperation::SetKind { kind: TextKind::Instead, scope: RuleScope::Tree }]);
}
