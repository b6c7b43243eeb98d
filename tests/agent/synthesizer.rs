//! Stories of the rescue: a turn whose step budget is used up still ends with an answer.

use std::sync::Arc;

use steersman_agent::{Agent, SYNTHESIZER_PROMPT, synthesizer_prompt};
use steersman_base::error::{Exceeded, RunError};
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::message::{Arguments, AssistantMessage, Message, ToolCall};
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Approvals, Mode, Policy};
use steersman_core::control::{OnExhausted, StepLimit};
use steersman_core::listener::Listener;
use steersman_core::provider::{Played, ProviderError, Streaming};

use crate::support::doubles::{Rig, Running, assert_sendable, calls, lines, run, settle, tool};

const KEY: &str = "Evidence gathered";

async fn exhausted(rig: &Rig, rescue: Played) -> Agent {
    rig.model.push(calls(&[("c1", "look"), ("c2", "look")]).with_thinking("Two looks."));
    rig.model.route(KEY, [rescue]);
    rig.limited(1, [tool("look", "It is green.")]).await
}

struct Unable;

impl Listener for Unable {
    fn on_event(&self, _: &Envelope) {}

    fn for_sub_agent(&self, _: &AgentId) -> Option<Arc<dyn Listener>> {
        panic!("a bug of the listener");
    }

    fn label(&self) -> String {
        panic!("another bug of the listener");
    }
}

// D17
#[tokio::test]
async fn a_listener_that_panics_when_it_is_asked_for_its_child_breaks_no_rescue() {
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")])]);
    rig.model.route(KEY, [Played::text("It is green.")]);
    let builder = rig.builder().step_limit(StepLimit::new(1).unwrap());
    let agent = rig
        .try_build(builder, |c| {
            c.add_listener(Arc::new(Unable));
            c.add_tool(tool("look", "green"))
        })
        .await
        .unwrap();
    let agent = run(agent, "What is it?").answered().await;
    assert_eq!(agent.last_assistant_content(), Some("It is green."));
    assert_eq!(rig.event_lines().last().unwrap(), "ended 1 synthesized");
    assert_eq!(rig.event_lines_of("synthesizer").last().unwrap(), "ended 1 completed", "the others hear the rescue");
}

// D10
#[tokio::test]
async fn a_used_up_budget_ends_in_a_notice_and_a_tools_free_answer() {
    let rig = Rig::new([]);
    let agent = exhausted(&rig, Played::text("Green, as far as seen.")).await;
    let agent = run(agent, "Which colour?").answered().await;
    assert_eq!(
        rig.event_lines()[4..],
        [
            "call c1 look",
            "result c1: It is green.",
            "call c2 look",
            "fallback: step limit (1) reached: answering from what was found",
            "spawned synthesizer",
            "finished synthesizer Completed",
            "ended 1 synthesized"
        ]
    );
    assert_eq!(
        rig.event_lines_of("synthesizer")[2..],
        ["assistant: Green, as far as seen.", "tokens", "ended 1 completed"]
    );
    let request = rig.last_request();
    assert_eq!(request.tools, []);
    assert_eq!(
        request.lines(),
        [
            format!("system: {SYNTHESIZER_PROMPT}"),
            "user: Question: Which colour?\n\nEvidence gathered:\nTool call: look {}\nResult of look: It is green."
                .to_owned()
        ]
    );
    assert_eq!(agent.last_assistant_content(), Some("Green, as far as seen."));
    assert_eq!(lines(agent.history().messages()).last().unwrap(), "assistant: Green, as far as seen.");
    assert!(agent.synthesized());
}

// D12, D20
#[tokio::test]
async fn the_rescue_appears_in_the_tree_with_its_question_and_under_its_spawner() {
    let rig = Rig::new([]);
    let agent = exhausted(&rig, Played::text("Green.")).await;
    run(agent, "Which colour?").answered().await;
    let spawned = rig.recorder.envelopes().into_iter().find_map(|envelope| match envelope.event {
        Event::AgentSpawned { child, persona, task, call, model, max_steps, tools } => {
            Some((envelope.agent, child, persona, task, call, model, max_steps, tools))
        }
        _ => None,
    });
    let (agent, child, persona, task, call, model, max_steps, tools) = spawned.unwrap();
    assert_eq!((agent.as_str(), child.as_str(), persona.as_str()), ("", "synthesizer", "synthesizer"));
    assert_eq!((task.as_str(), call, model.as_deref()), ("Which colour?", None, Some("test-model")));
    assert_eq!((max_steps, tools.len()), (Some(1), 0));
    let envelopes = rig.recorder.envelopes();
    assert!(
        envelopes.iter().filter(|e| e.agent.as_str() == "synthesizer").all(|e| e.parent.as_ref().unwrap().is_main())
    );
}

#[tokio::test]
async fn the_rescue_of_an_agent_with_an_id_is_named_after_it() {
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")])]);
    rig.model.route(KEY, [Played::text("Green.")]);
    let builder = rig.builder().id("researcher 0").step_limit(StepLimit::new(1).unwrap());
    let agent = rig.build(builder, [tool("look", "seen")]).await;
    run(agent, "Look.").answered().await;
    assert_eq!(rig.event_lines_of("researcher 0_synthesizer").last().unwrap(), "ended 1 completed");
    assert_eq!(rig.event_lines_of("synthesizer"), [""; 0]);
}

#[tokio::test]
async fn the_next_turn_answers_from_the_history_again_and_sends_the_rescues_answer() {
    let rig = Rig::new([]);
    let agent = exhausted(&rig, Played::text("Green.")).await;
    let agent = run(agent, "Which colour?").answered().await;
    rig.model.push(Played::text("You are welcome."));
    let agent = run(agent, "Thanks.").answered().await;
    assert_eq!(agent.last_assistant_content(), Some("You are welcome."));
    assert!(!agent.synthesized());
    assert_eq!(
        rig.last_request().lines()[3..],
        ["tool#c1: It is green.", "tool#c2: Error: step budget exhausted", "assistant: Green.", "user: Thanks."]
    );
}

#[tokio::test]
async fn an_empty_rescue_is_an_answer_and_wins_over_the_history() {
    let rig = Rig::new([Played::text("An earlier answer.")]);
    let agent = exhausted(&rig, Played::text("")).await;
    let agent = run(agent, "Hi.").answered().await;
    assert_eq!(agent.last_assistant_content(), Some("An earlier answer."));
    let agent = run(agent, "Which colour?").answered().await;
    assert_eq!(agent.last_assistant_content(), Some(""));
    assert!(agent.synthesized());
    assert_eq!(rig.event_lines().last().unwrap(), "ended 2 synthesized");
    assert_sendable(&agent);
}

// D10
#[tokio::test]
async fn an_agent_that_shall_fail_then_does_so_without_a_rescue() {
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")]), Played::text("Next.")]);
    let limit = StepLimit::new(1).unwrap().on_exhausted(OnExhausted::Fail);
    let agent = rig.build(rig.builder().step_limit(limit), [tool("look", "seen")]).await;
    let (agent, result) = run(agent, "Look.").end().await;
    assert!(matches!(result, Err(RunError::Exceeded(Exceeded { max_steps: 1 }))), "{result:?}");
    assert_eq!(rig.event_lines().last().unwrap(), "ended 1 failed: agent exhausted 1 steps");
    run(agent, "And?").answered().await;
    assert_eq!(rig.last_request().lines()[4], "tool#c2: Error: step budget exhausted");
}

/// Starts a turn that may make two calls and wants five, with a user who can be asked for more.
async fn at_the_limit(answerer: Answerer) -> (Rig, Arc<Approvals>, Running) {
    let rig = Rig::new([
        calls(&[("c1", "look"), ("c2", "look"), ("c3", "look"), ("c4", "look"), ("c5", "look")]),
        Played::text("Green."),
    ]);
    rig.model.route(KEY, [Played::text("Green, as far as seen.")]);
    let desk = Arc::new(Approvals::new(Policy { answerer, ..Policy::default() }, Mode::Ask));
    let limit = StepLimit::new(2).unwrap().on_exhausted(OnExhausted::Ask);
    let builder = rig.builder().step_limit(limit).approvals(Arc::clone(&desk));
    let agent = rig.build(builder, [tool("look", "seen")]).await;
    let running = run(agent, "Which colour?");
    settle().await;
    (rig, desk, running)
}

fn told(rig: &Rig) -> Vec<String> {
    let words = |event: Event| match event {
        Event::ToolResult { id, .. } => Some(id.to_string()),
        Event::Question { question, .. } => Some(question),
        Event::Answer { answer, .. } => Some(answer),
        Event::StepLimit { max } => Some(format!("may make {max}")),
        Event::FallbackNotice { reason } => Some(reason),
        _ => None,
    };
    rig.events().into_iter().filter_map(words).collect()
}

#[tokio::test(start_paused = true)]
async fn at_the_limit_the_user_is_asked_and_each_yes_lets_as_many_calls_run_again() {
    let (rig, desk, running) = at_the_limit(Answerer::User).await;
    for _ in 0..2 {
        let [open] = desk.open().try_into().unwrap();
        assert!(desk.answer(open.id, Answer::Once));
        settle().await;
    }
    let agent = running.answered().await;
    assert_eq!(agent.last_assistant_content(), Some("Green."));
    let expected = [
        "c1",
        "c2",
        "2 calls made: go on for 2 more, or answer from what was found?",
        "yes",
        "may make 4",
        "c3",
        "c4",
        "4 calls made: go on for 2 more, or answer from what was found?",
        "yes",
        "may make 6",
        "c5",
    ];
    assert_eq!(told(&rig), expected);

    // The next turn has two calls again.
    rig.model.push(calls(&[("d1", "look"), ("d2", "look"), ("d3", "look")]));
    let running = run(agent, "And now?");
    settle().await;
    let [open] = desk.open().try_into().unwrap();
    assert_eq!(open.subject, ApprovalSubject::MoreCalls { made: 2, more: 2 });
    assert_eq!(told(&rig)[expected.len()], "may make 2");
    assert!(desk.answer(open.id, Answer::No(None)));
    assert!(running.answered().await.synthesized());
}

#[tokio::test(start_paused = true)]
async fn without_a_yes_at_the_limit_the_turn_answers_from_what_was_found() {
    let reached = "step limit (2) reached: answering from what was found";
    let (rig, desk, running) = at_the_limit(Answerer::User).await;
    assert!(desk.answer(desk.open()[0].id, Answer::No(None)));
    assert_eq!(running.answered().await.last_assistant_content(), Some("Green, as far as seen."));
    assert_eq!(
        told(&rig),
        ["c1", "c2", "2 calls made: go on for 2 more, or answer from what was found?", "no", reached]
    );

    // Nobody is there, or leaves while the question is open; a standing yes is none to calls without end.
    for answerer in [Answerer::Nobody, Answerer::Yes] {
        let (rig, _, running) = at_the_limit(answerer).await;
        assert!(running.answered().await.synthesized());
        assert_eq!(told(&rig), ["c1", "c2", reached]);
    }
    let (_rig, desk, running) = at_the_limit(Answerer::User).await;
    desk.user_left();
    assert!(running.answered().await.synthesized());
}

#[tokio::test(start_paused = true)]
async fn a_stop_while_the_user_is_asked_for_more_calls_ends_the_turn_and_takes_the_question_away() {
    let (rig, desk, running) = at_the_limit(Answerer::User).await;
    rig.cancellable.cancel();
    running.cancelled().await;
    assert_eq!(desk.open(), []);
    assert_eq!(told(&rig), ["c1", "c2", "2 calls made: go on for 2 more, or answer from what was found?", "withdrawn"]);
}

// D10, D13
#[tokio::test]
async fn a_rescue_that_fails_fails_the_turn() {
    let rig = Rig::new([]);
    let agent = exhausted(&rig, Played::error(ProviderError::Stalled(300))).await;
    let (agent, sentence) = run(agent, "Which colour?").failed().await;
    assert_eq!(sentence, "the server was silent for 300 s");
    let lines = rig.event_lines();
    assert_eq!(
        lines[lines.len() - 2..],
        ["finished synthesizer Failed", "ended 1 failed: the server was silent for 300 s"]
    );
    assert!(rig.interloper.paused());
    rig.model.push(Played::text("Next."));
    run(agent, "And?").answered().await;
}

#[tokio::test]
async fn the_rescue_streams_when_its_agent_does_and_starts_from_a_known_window() {
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")])]);
    rig.model.route(KEY, [Played::text("Green.")]);
    let builder = rig.builder().streaming(Streaming::On).context_window(999).step_limit(StepLimit::new(1).unwrap());
    let agent = rig.build(builder, [tool("look", "seen")]).await;
    run(agent, "Look.").answered().await;
    assert_eq!(rig.last_request().streaming, Streaming::On);
    assert!(rig.event_lines_of("synthesizer").contains(&"~assistant: Green.".to_owned()));
    let caps = rig.events().into_iter().filter(|event| *event == Event::ContextCap { tokens: Some(999) }).count();
    assert_eq!(caps, 2);
}

// D10: a rescue that wants a tool anyway finds none, and its own budget ends it.
#[tokio::test]
async fn a_rescue_that_calls_tools_gets_none_and_has_a_budget_of_its_own() {
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")])]);
    rig.model.route(KEY, [calls(&[("s1", "look")]), calls(&[("s2", "look")]), Played::text("unreachable")]);
    let agent = rig.limited(1, [tool("look", "seen")]).await;
    let (_, sentence) = run(agent, "Look.").failed().await;
    assert_eq!(sentence, "agent exhausted 1 steps");
    let rescue = rig.event_lines_of("synthesizer");
    assert!(rescue.iter().any(|line| line.starts_with("result s1: Error: unknown tool 'look'")), "{rescue:?}");
    assert!(rig.events().iter().any(|event| matches!(event, Event::AgentFinished { outcome: Outcome::Failed, .. })));
}

fn look(id: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "look".to_owned(), arguments: Arguments::parse(r#"{"at": "x"}"#) }
}

#[test]
fn the_evidence_is_what_was_said_and_seen_without_the_question() {
    let asks = AssistantMessage {
        content: "I look.".to_owned(),
        thinking: "secret".to_owned(),
        tool_calls: vec![look("a"), look("b")],
        ..AssistantMessage::default()
    };
    let messages = [
        Message::system("Be brief."),
        Message::user("Earlier question."),
        Message::assistant("Earlier answer."),
        Message::user("Which colour?"),
        Message::system("memory"),
        Message::Assistant(asks),
        Message::tool(&look("a"), "green"),
        Message::tool(&look("b"), "Error: step budget exhausted"),
    ];
    assert_eq!(
        synthesizer_prompt(&messages, "Which colour?"),
        "Question: Which colour?\n\nEvidence gathered:\nUser: Earlier question.\nAssistant: Earlier answer.\n\
         Assistant: I look.\nTool call: look {\"at\":\"x\"}\nResult of look: green"
    );
}

#[test]
fn without_evidence_it_says_none() {
    let messages = [Message::system("Be brief."), Message::user("Why?")];
    assert_eq!(synthesizer_prompt(&messages, "Why?"), "Question: Why?\n\nEvidence gathered:\n(none)");
}

// What the user said later counts, also when the question happens to contain it.
#[test]
fn a_steer_whose_words_stand_in_the_question_is_evidence() {
    let messages = [
        Message::user("Is it yes or no?"),
        Message::Assistant(AssistantMessage { tool_calls: vec![look("a")], ..AssistantMessage::default() }),
        Message::tool(&look("a"), "seen"),
        Message::user("no"),
    ];
    let prompt = synthesizer_prompt(&messages, "Is it yes or no?");
    assert!(prompt.ends_with("Result of look: seen\nUser: no"), "{prompt}");
    assert_eq!(prompt.matches("yes or no").count(), 1);
}

// D3: several steers that started the turn are one question.
#[test]
fn the_question_of_several_messages_is_left_out_as_a_whole() {
    let messages = [
        Message::user("a"),
        Message::assistant("Earlier."),
        Message::user("a"),
        Message::system("memory of a"),
        Message::user("b"),
        Message::assistant("Looking."),
    ];
    assert_eq!(
        synthesizer_prompt(&messages, "a\n\nb"),
        "Question: a\n\nb\n\nEvidence gathered:\nUser: a\nAssistant: Earlier.\nAssistant: Looking."
    );
}

#[test]
fn long_results_are_cut_between_characters_and_the_oldest_evidence_gives_way() {
    let long = "é".repeat(limits::EVIDENCE_RESULT_CHARS + 5);
    let mut messages = vec![Message::user("Why?")];
    for number in 0..40 {
        let call = look(&format!("c{number}"));
        messages.push(Message::Assistant(AssistantMessage { tool_calls: vec![call.clone()], ..Default::default() }));
        messages.push(Message::tool(&call, format!("{number}:{long}")));
    }
    let prompt = synthesizer_prompt(&messages, "Why?");
    assert!(prompt.contains("bytes in all]"));
    assert!(prompt.contains("Result of look: 39:") && !prompt.contains("Result of look: 0:"));
    assert!(prompt.len() <= limits::EVIDENCE_CHARS + 1_000, "{}", prompt.len());
}
