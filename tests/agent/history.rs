//! Stories of the history: whatever happens to it, it can be sent (D7).

use proptest::prelude::*;
use steersman_agent::{History, NotRunReason};
use steersman_base::id::CallId;
use steersman_base::message::{Arguments, AssistantMessage, Message, ToolCall};
use steersman_core::provider::{ChatRequest, ProviderError, Streaming, validate};

use crate::support::doubles::{fault, lines};

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "look".to_owned(), arguments: Arguments::parse("{}") }
}

fn reply(ids: &[&str]) -> AssistantMessage {
    AssistantMessage { tool_calls: ids.iter().map(|id| call(id)).collect(), ..AssistantMessage::default() }
}

// D7
#[test]
fn results_answer_the_calls_in_call_order() {
    let mut history = History::new("Be brief.");
    history.push_user("Look.");
    history.push_assistant(reply(&["a", "b"]));
    assert_eq!(history.open_calls().map(|call| &call.id).collect::<Vec<_>>(), [&CallId::new("a"), &CallId::new("b")]);
    history.push_result("one");
    history.push_result("two");
    history.push_result("nobody asked for this");
    assert_eq!(
        lines(history.messages()),
        ["system: Be brief.", "user: Look.", "assistant:  +look#a +look#b", "tool#a: one", "tool#b: two"]
    );
}

// D7
#[test]
fn open_calls_are_closed_with_the_reason() {
    let reasons = [
        (NotRunReason::Cancelled, "Error: cancelled before it ran"),
        (NotRunReason::Interrupted, "Error: cancelled while it ran"),
        (NotRunReason::BudgetExhausted, "Error: step budget exhausted"),
        (NotRunReason::UserMessage, "Error: not run, the user sent a message"),
    ];
    for (why, words) in reasons {
        let mut history = History::new("Be brief.");
        history.push_assistant(reply(&["a", "b"]));
        history.push_result("one");
        history.close_open(why);
        assert_eq!(lines(history.messages())[2..], ["tool#a: one".to_owned(), format!("tool#b: {words}")]);
        assert_eq!(history.open_calls().count(), 0);
    }
}

// D7
#[test]
fn no_message_can_get_between_a_call_and_its_result() {
    for push in [
        (|history: &mut History| history.push_user("words")) as fn(&mut History),
        |history| history.push_system("words"),
        |history| history.push_assistant(AssistantMessage { content: "words".to_owned(), ..Default::default() }),
    ] {
        let mut history = History::new("Be brief.");
        history.push_assistant(reply(&["a"]));
        push(&mut history);
        assert_eq!(lines(history.messages())[2], "tool#a: Error: not run, the user sent a message");
        assert_eq!(fault(history.messages()), None);
    }
}

// Spec 2.2.7
#[test]
fn the_last_reply_counts_also_when_it_was_calls_only() {
    let mut history = History::new("Be brief.");
    assert_eq!(history.last_assistant_content(), None);
    history.push_assistant(AssistantMessage { content: "text".to_owned(), ..Default::default() });
    history.push_user("more");
    assert_eq!(history.last_assistant_content(), Some("text"));
    history.push_assistant(reply(&["a"]));
    history.push_result("one");
    assert_eq!(history.last_assistant_content(), Some(""));
}

// D7
#[test]
fn a_conversation_that_cannot_be_sent_makes_no_request() {
    let result = |id: &str| Message::tool(&call(id), "seen");
    let asks = |ids: &[&str]| Message::Assistant(reply(ids));
    let faults = [
        (vec![asks(&["a"])], "the call a has no result"),
        (vec![asks(&["a"]), Message::user("x"), result("a")], "between a call and its result"),
        (vec![asks(&["a", "b"]), result("b"), result("a")], "where a is due"),
        (vec![asks(&["a"]), result("a"), result("a")], "has no call before it"),
        (vec![Message::user("x"), result("a")], "has no call before it"),
        (vec![asks(&["a", "b"]), result("a"), Message::system("x"), result("b")], "between a call and its result"),
        (vec![asks(&["a"]), asks(&["b"]), result("a"), result("b")], "between a call and its result"),
    ];
    for (messages, what) in faults {
        let error = ChatRequest::new("m", &messages, &[], Streaming::Off).unwrap_err();
        assert!(matches!(&error, ProviderError::InvalidHistory(why) if why.contains(what)), "{error}");
        assert!(fault(&messages).is_some());
    }
    validate(&[Message::system(""), Message::user(""), asks(&["a", "b"]), result("a"), result("b")]).unwrap();
}

#[derive(Debug, Clone)]
enum Step {
    User,
    System,
    Reply(usize),
    Result,
    Close,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::User),
        Just(Step::System),
        (0..4_usize).prop_map(Step::Reply),
        Just(Step::Result),
        Just(Step::Result),
        Just(Step::Close),
    ]
}

proptest! {
    // D7
    #[test]
    fn whatever_is_pushed_in_whatever_order_can_be_sent_once_closed(steps in prop::collection::vec(step(), 0..60)) {
        let mut history = History::new("Be brief.");
        for (number, step) in steps.iter().enumerate() {
            match step {
                Step::User => history.push_user(number.to_string()),
                Step::System => history.push_system(number.to_string()),
                Step::Reply(calls) => {
                    let ids: Vec<String> = (0..*calls).map(|call| format!("{number}.{call}")).collect();
                    history.push_assistant(reply(&ids.iter().map(String::as_str).collect::<Vec<_>>()));
                }
                Step::Result => history.push_result(number.to_string()),
                Step::Close => history.close_open(NotRunReason::Cancelled),
            }
        }
        history.close_open(NotRunReason::Cancelled);
        prop_assert_eq!(fault(history.messages()), None);
    }
}
