//! The agent tree against a naive one: whatever comes in, the sums that are kept are the sums that are counted, and the
//! rows are those that a walk over everything finds.

use std::collections::BTreeMap;

use proptest::prelude::*;
use steersman::event::{Decided, Event, Outcome, Usage};
use steersman::message::{Arguments, ToolCall};
use steersman::tui::state::tree::{Fold, Kind, Node, State, Totals, Tree};

use crate::support::stage::Stage;

/// What may happen, to agents of which few are known at first.
#[derive(Debug, Clone)]
enum Step {
    Spawn { parent: u8, child: u8 },
    Happens { agent: u8, what: u8 },
    Finish { child: u8, outcome: Outcome },
    Wait(u16),
    Key(&'static str),
}

fn name(number: u8) -> String {
    if number == 0 { String::new() } else { format!("worker {number}") }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let outcome = prop_oneof![
        3 => Just(Outcome::Completed),
        1 => Just(Outcome::Failed),
        1 => Just(Outcome::Cancelled),
        1 => Just(Outcome::Synthesized),
    ];
    let keys = prop::sample::select(vec![
        "<down>",
        "<up>",
        "<left>",
        "<right>",
        " ",
        "<end>",
        "<home>",
        "!",
        "/work 1<enter>",
        "/fail<enter>",
        "<esc><c-t>",
        "X",
    ]);
    let step = prop_oneof![
        4 => (0..12_u8, 1..24_u8).prop_map(|(parent, child)| Step::Spawn { parent, child }),
        8 => (0..24_u8, 0..14_u8).prop_map(|(agent, what)| Step::Happens { agent, what }),
        3 => (1..24_u8, outcome).prop_map(|(child, outcome)| Step::Finish { child, outcome }),
        2 => (0..40_000_u16).prop_map(Step::Wait),
        3 => keys.prop_map(Step::Key),
    ];
    prop::collection::vec(step, 1..120)
}

fn happens(stage: &mut Stage, agent: &str, what: u8) {
    let call = ToolCall { id: "c".into(), name: "grep".to_owned(), arguments: Arguments::parse("{}") };
    let usage = Usage {
        input: Some(1_000 * u64::from(what)),
        cost_nanos: what.is_multiple_of(2).then_some(7),
        ..Usage::default()
    };
    let huge = Usage { input: Some(u64::MAX), cost_nanos: Some(u64::MAX), ..Usage::default() };
    let (question, id) = ("Sure?".to_owned(), "q".to_owned());
    match what {
        0 => stage.turn(agent),
        1 => stage.says(agent, "words"),
        2 | 3 => stage.event(agent, Event::Tokens(usage)),
        4 => stage.call(agent, "c", "grep"),
        5 => stage.result(agent, "c", "found"),
        6 => stage.event(agent, Event::Parked { call: Some(call) }),
        7 => stage.event(agent, Event::Unparked { decision: Decided::Run }),
        8 => stage.event(agent, Event::Question { id, question, detail: None, call: None, offer: None, rule: None }),
        9 => stage.event(agent, Event::Answer { id, answer: "yes".to_owned(), words: None }),
        10 => stage.turn_ended(agent, Outcome::Completed, None),
        11 => stage.event(agent, Event::Cancelled {}),
        12 => stage.event(agent, Event::ContextCap { tokens: Some(3_000) }),
        _ => stage.event(agent, Event::Tokens(huge)),
    };
}

/// Counts everything beneath an agent anew.
fn count(tree: &Tree, top: &Node) -> Totals {
    let mut totals = Totals {
        agents: 1,
        running: usize::from(top.running()),
        failed: usize::from(top.state() == State::Failed),
        asking: usize::from(top.asking()),
        parked: usize::from(matches!(top.activity, steersman::tui::state::tree::Activity::Parked(_))),
        odd: usize::from(!top.lints.is_empty()),
        tokens: top.spent.into(),
        cost_nanos: top.cost_nanos.into(),
        unpriced: top.unpriced.into(),
    };
    for child in children(tree, top) {
        let more = count(tree, child);
        totals.agents += more.agents;
        totals.running += more.running;
        totals.failed += more.failed;
        totals.asking += more.asking;
        totals.parked += more.parked;
        totals.odd += more.odd;
        totals.tokens += more.tokens;
        totals.cost_nanos += more.cost_nanos;
        totals.unpriced += more.unpriced;
    }
    totals
}

fn children<'a>(tree: &'a Tree, top: &Node) -> Vec<&'a Node> {
    tree.nodes().iter().filter(|node| node.parent.as_ref() == Some(&top.id)).collect()
}

/// Says how a row is written down here: the agent, or what folded away beneath it.
fn written(node: &Node, kind: Kind) -> String {
    match kind {
        Kind::Agent => node.id.to_string(),
        Kind::Folded => format!("{} folded", node.id),
        Kind::Ended { children, cancelled } => format!("{} ended {children} {cancelled}", node.id),
    }
}

/// Walks over everything; `ended` tells when each agent's last turn ended.
fn walk(stage: &Stage, top: &Node, aged: &dyn Fn(&Node) -> bool, rows: &mut Vec<String>) {
    let tree = &stage.app.tree;
    let below = children(tree, top);
    if top.fold == Fold::Closed && !below.is_empty() {
        rows.push(written(top, Kind::Folded));
        return;
    }
    rows.push(written(top, Kind::Agent));
    let holds_selected = |node: &Node| {
        let mut at = Some(tree.selected_node());
        std::iter::from_fn(|| {
            let node = at?;
            at = node.parent.as_ref().and_then(|parent| tree.get(parent));
            Some(node)
        })
        .any(|above| above.id == node.id)
    };
    let goes = |node: &&&Node| {
        let totals = count(tree, node);
        let quiet = totals.running + totals.failed + totals.asking + totals.odd == 0;
        top.fold == Fold::Brief && aged(node) && quiet && !holds_selected(node)
    };
    let gone: Vec<&&Node> = below.iter().filter(goes).collect();
    for child in below.iter().filter(|child| !goes(child)) {
        walk(stage, child, aged, rows);
    }
    if !gone.is_empty() {
        let cancelled = gone.iter().filter(|node| node.state() == State::Cancelled).count();
        rows.push(written(top, Kind::Ended { children: gone.len(), cancelled }));
    }
}

/// Finds the rows under a filter: what matches, what is selected, and everything above these.
fn walk_filtered(tree: &Tree, top: usize, rows: &mut Vec<String>) -> bool {
    let node = &tree.nodes()[top];
    let place = rows.len();
    rows.push(written(node, Kind::Agent));
    let mut keeps = tree.matches(top) || *tree.selected() == node.id || node.id.is_main();
    for (index, child) in tree.nodes().iter().enumerate() {
        if child.parent.as_ref() == Some(&node.id) {
            keeps |= walk_filtered(tree, index, rows);
        }
    }
    if !keeps {
        rows.truncate(place);
    }
    keeps
}

fn check(stage: &Stage, due: &BTreeMap<String, jiff::Timestamp>) -> Result<(), TestCaseError> {
    let tree = &stage.app.tree;
    for node in tree.nodes() {
        prop_assert_eq!(*node.totals(), count(tree, node), "the sums of {:?}", node.id);
    }
    prop_assert_eq!(tree.running(), tree.nodes().iter().filter(|node| node.running()).count());
    let rows: Vec<String> = tree.rows().iter().map(|row| written(&tree.nodes()[row.agent], row.kind)).collect();
    let mut expected = Vec::new();
    if tree.filter().is_active() {
        walk_filtered(tree, 0, &mut expected);
    } else {
        let aged = |node: &Node| !node.running() && due.get(node.id.as_str()).is_some_and(|due| *due <= stage.app.now);
        walk(stage, tree.main(), &aged, &mut expected);
    }
    prop_assert_eq!(&rows, &expected);
    let selected = &tree.rows()[tree.selected_row()];
    prop_assert_eq!(&tree.nodes()[selected.agent].id, tree.selected(), "the selected agent has a row");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn kept_sums_and_rows_are_those_that_a_recount_finds(steps in steps()) {
        let mut stage = Stage::new(100, 30);
        stage.keys("<c-t>");
        let mut due = BTreeMap::new();
        for step in steps {
            match step {
                Step::Spawn { parent, child } => {
                    // An agent is spawned once; a parent that is not known would be put beneath main.
                    let (parent, child) = (name(parent), name(child));
                    let tree = &stage.app.tree;
                    if tree.get(&child.as_str().into()).is_none() && tree.get(&parent.as_str().into()).is_some() {
                        stage.spawn(&parent, &child);
                    }
                }
                Step::Happens { agent, what } => happens(&mut stage, &name(agent), what),
                Step::Finish { child, outcome } => {
                    stage.finished("", &name(child), outcome);
                }
                Step::Wait(millis) => {
                    stage.wait(millis.into());
                }
                Step::Key(keys) => {
                    let before = stage.app.tree.selected().clone();
                    stage.keys(keys);
                    // Keys that do not move leave the selection where it is.
                    if keys == "X" {
                        prop_assert_eq!(&before, stage.app.tree.selected());
                    }
                }
            }
            for node in stage.app.tree.nodes() {
                if let Some(ended) = node.ended.filter(|_| !node.id.is_main()) {
                    due.insert(node.id.to_string(), ended + jiff::SignedDuration::from_secs(30));
                }
            }
            check(&stage, &due)?;
        }
    }
}
