//! The agent tree against a naive one: whatever comes in, the sums that are kept are the sums that are counted, and the
//! rows are those that a walk over everything finds.

use std::collections::BTreeMap;

use proptest::prelude::*;
use steersman_base::event::{Decided, Event, Outcome, Usage};
use steersman_base::message::{Arguments, ToolCall};
use steersman_session::model::agents::{Activity, AgentNode, AgentStatus, Agents, Totals};
use steersman_tui::agents::{Expansion, RowKind};

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
        "<esc><f3>",
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
        6 => stage.event(agent, Event::Paused { call: Some(call) }),
        7 => stage.event(agent, Event::Resumed { decision: Decided::Run }),
        8 => stage.event(agent, Event::Question { id, question, detail: None, call: None, offer: None, rule: None }),
        9 => stage.event(agent, Event::Answer { id, answer: "yes".to_owned(), words: None }),
        10 => stage.turn_ended(agent, Outcome::Completed, None),
        11 => stage.event(agent, Event::Cancelled {}),
        12 => stage.event(agent, Event::ContextCap { tokens: Some(3_000) }),
        _ => stage.event(agent, Event::Tokens(huge)),
    };
}

/// Counts everything beneath an agent anew.
fn count(agents: &Agents, top: &AgentNode) -> Totals {
    let mut totals = Totals {
        agents: 1,
        running: usize::from(top.running()),
        failed: usize::from(top.status() == AgentStatus::Failed),
        asking: usize::from(top.asking()),
        paused: usize::from(matches!(top.activity, Activity::Paused(_))),
        warned: usize::from(!top.warnings.is_empty()),
        tokens: top.spent.into(),
        cost_nanos: top.cost_nanos.into(),
        unpriced: top.unpriced.into(),
    };
    for child in children(agents, top) {
        let more = count(agents, child);
        totals.agents += more.agents;
        totals.running += more.running;
        totals.failed += more.failed;
        totals.asking += more.asking;
        totals.paused += more.paused;
        totals.warned += more.warned;
        totals.tokens += more.tokens;
        totals.cost_nanos += more.cost_nanos;
        totals.unpriced += more.unpriced;
    }
    totals
}

fn children<'a>(agents: &'a Agents, top: &AgentNode) -> Vec<&'a AgentNode> {
    agents.nodes().iter().filter(|node| node.parent.as_ref() == Some(&top.id)).collect()
}

/// Says how a row is written down here: the agent, or what folded away beneath it.
fn written(node: &AgentNode, kind: RowKind) -> String {
    match kind {
        RowKind::Agent => node.id.to_string(),
        RowKind::Collapsed => format!("{} folded", node.id),
        RowKind::Past { children, cancelled } => format!("{} ended {children} {cancelled}", node.id),
    }
}

/// Walks over everything; `ended` tells when each agent's last turn ended.
fn walk(stage: &Stage, top: &AgentNode, aged: &dyn Fn(&AgentNode) -> bool, rows: &mut Vec<String>) {
    let (tree, agents) = (&stage.app.tree, &stage.app.ui.run.agents);
    let below = children(agents, top);
    let fold = tree.expansion_of(agents.place(&top.id).unwrap());
    if fold == Expansion::Closed && !below.is_empty() {
        rows.push(written(top, RowKind::Collapsed));
        return;
    }
    rows.push(written(top, RowKind::Agent));
    let holds_selected = |node: &AgentNode| {
        let mut at = agents.get(tree.selected());
        std::iter::from_fn(|| {
            let node = at?;
            at = node.parent.as_ref().and_then(|parent| agents.get(parent));
            Some(node)
        })
        .any(|above| above.id == node.id)
    };
    let goes = |node: &&&AgentNode| {
        let totals = count(agents, node);
        let quiet = totals.running + totals.failed + totals.asking + totals.warned == 0;
        fold == Expansion::Brief && aged(node) && quiet && !holds_selected(node)
    };
    let gone: Vec<&&AgentNode> = below.iter().filter(goes).collect();
    for child in below.iter().filter(|child| !goes(child)) {
        walk(stage, child, aged, rows);
    }
    if !gone.is_empty() {
        let cancelled = gone.iter().filter(|node| node.status() == AgentStatus::Cancelled).count();
        rows.push(written(top, RowKind::Past { children: gone.len(), cancelled }));
    }
}

/// Finds the rows under a filter: what matches, what is selected, and everything above these.
fn walk_filtered(stage: &Stage, top: usize, rows: &mut Vec<String>) -> bool {
    let (tree, agents) = (&stage.app.tree, &stage.app.ui.run.agents);
    let node = &agents.nodes()[top];
    let place = rows.len();
    rows.push(written(node, RowKind::Agent));
    let mut keeps = tree.rows(agents).matches(top) || *tree.selected() == node.id || node.id.is_main();
    for (index, child) in agents.nodes().iter().enumerate() {
        if child.parent.as_ref() == Some(&node.id) {
            keeps |= walk_filtered(stage, index, rows);
        }
    }
    if !keeps {
        rows.truncate(place);
    }
    keeps
}

fn check(stage: &Stage, due: &BTreeMap<String, jiff::Timestamp>) -> Result<(), TestCaseError> {
    let (tree, agents) = (&stage.app.tree, &stage.app.ui.run.agents);
    for node in agents.nodes() {
        prop_assert_eq!(*node.totals(), count(agents, node), "the sums of {:?}", node.id);
    }
    prop_assert_eq!(agents.running(), agents.nodes().iter().filter(|node| node.running()).count());
    let shown = tree.rows(agents);
    let rows: Vec<String> = shown.rows.iter().map(|row| written(&agents.nodes()[row.agent], row.kind)).collect();
    let mut expected = Vec::new();
    if tree.filter().is_active() {
        walk_filtered(stage, 0, &mut expected);
    } else {
        let aged =
            |node: &AgentNode| !node.running() && due.get(node.id.as_str()).is_some_and(|due| *due <= stage.app.ui.now);
        walk(stage, agents.main(), &aged, &mut expected);
    }
    prop_assert_eq!(&rows, &expected);
    let selected = &shown.rows[tree.selected_row(agents)];
    prop_assert_eq!(&agents.nodes()[selected.agent].id, tree.selected(), "the selected agent has a row");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn kept_sums_and_rows_are_those_that_a_recount_finds(steps in steps()) {
        let mut stage = Stage::new(100, 30);
        stage.keys("<f3>");
        let mut due = BTreeMap::new();
        for step in steps {
            match step {
                Step::Spawn { parent, child } => {
                    // An agent is spawned once; a parent that is not known would be put beneath main.
                    let (parent, child) = (name(parent), name(child));
                    let agents = &stage.app.ui.run.agents;
                    if agents.get(&child.as_str().into()).is_none() && agents.get(&parent.as_str().into()).is_some() {
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
            for node in stage.app.ui.run.agents.nodes() {
                if let Some(ended) = node.ended.filter(|_| !node.id.is_main()) {
                    due.insert(node.id.to_string(), ended + jiff::SignedDuration::from_secs(30));
                }
            }
            check(&stage, &due)?;
        }
    }
}
