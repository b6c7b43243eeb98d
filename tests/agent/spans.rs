//! The spans for `tracing`: a turn, its rounds, requests and tool calls, each within the one that it is a part of.

use std::fmt;
use std::process::Command;
use std::sync::{Arc, Mutex};

use steersman_agent::Agent;
use steersman_agent::subagent::{Persona, SubAgents};
use steersman_base::event::Usage;
use steersman_core::provider::{Played, ScriptedProvider};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::support::doubles::tool;

/// Writes down each span of the agent with those around it.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Recorded>>);

#[derive(Default)]
struct Recorded {
    /// Each with the names of those around it, and its fields.
    spans: Vec<String>,
    entered: Vec<u64>,
}

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push_str(&format!(" {field}={value:?}"));
    }
}

impl Spans {
    fn change<T>(&self, change: impl FnOnce(&mut Recorded) -> T) -> T {
        change(&mut self.0.lock().unwrap())
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target().starts_with("steersman_agent")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.change(|recorded| {
            let around = recorded.entered.last().and_then(|id| recorded.spans.get(usize::try_from(*id).unwrap() - 1));
            let around = around.map(|line| line.split_once(' ').map_or(line.as_str(), |(names, _)| names));
            let name = span.metadata().name();
            let mut line = around.map_or_else(|| name.to_owned(), |around| format!("{around}/{name}"));
            span.record(&mut Fields(&mut line));
            recorded.spans.push(line);
            Id::from_u64(recorded.spans.len() as u64)
        })
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        self.change(|recorded| {
            let line = recorded.spans.get_mut(usize::try_from(span.into_u64()).unwrap() - 1).unwrap();
            values.record(&mut Fields(line));
        });
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        self.change(|recorded| recorded.entered.push(span.into_u64()));
    }

    fn exit(&self, _: &Id) {
        self.change(|recorded| recorded.entered.pop());
    }
}

/// Set in the process that records the spans.
const RECORDS: &str = "STEERSMAN_TEST_RECORDS_SPANS";

#[tokio::test(flavor = "current_thread")]
async fn spans_stand_within_each_other_and_name_model_tokens_and_tool() {
    // In a process of its own: `tracing` keeps for the whole process which spans anybody wants, and other tests want none.
    if std::env::var_os(RECORDS).is_none() {
        let name = "spans::spans_stand_within_each_other_and_name_model_tokens_and_tool";
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.args(["--exact", name, "--nocapture"]).env(RECORDS, "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        return;
    }
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
    let usage = Usage { input: Some(10), output: Some(2), ..Usage::default() };
    let model = ScriptedProvider::new([
        Played::call("agent", r#"{"name": "scout", "task": "Go north."}"#).with_usage(usage),
        Played::call("look", "{}"),
        Played::text("Hills."),
        Played::text("There are hills."),
    ]);
    let scout = Persona::new("scout", "Looks around.", "You look around.").tools(["look"]).model("small");
    let builder = Agent::with_provider(model, "You lead.").tools([tool("look", "seen")]);
    builder.extension(SubAgents::new([scout]).unwrap()).await.unwrap().ask("Explore.").await.unwrap();
    let child = "turn/round/tool_call";
    let expected = [
        "turn agent= turn=1".to_owned(),
        "turn/round turn=1 round=1".to_owned(),
        "turn/round/request model= input=10 output=2".to_owned(),
        "turn/round/tool_call tool=agent call=call_1".to_owned(),
        format!("{child}/turn agent=scout 0 turn=1"),
        format!("{child}/turn/round turn=1 round=1"),
        format!("{child}/turn/round/request model=small input=0 output=0"),
        format!("{child}/turn/round/tool_call tool=look call=call_1"),
        format!("{child}/turn/round turn=1 round=2"),
        format!("{child}/turn/round/request model=small input=0 output=0"),
        "turn/round turn=1 round=2".to_owned(),
        "turn/round/request model= input=0 output=0".to_owned(),
    ];
    assert_eq!(spans.change(|recorded| recorded.spans.clone()), expected);
}
