//! Random histories, compacted: each can still be sent, and keeps its last rounds and every text of the user.

use proptest::prelude::*;
use steersman_agent::{History, Keep, NotRunReason, Pins, SUMMARY_HEAD, TextFate, UserTexts};
use steersman_base::message::{Arguments, AssistantMessage, Message, ToolCall};
use steersman_base::plan::Plan;

use crate::support::doubles::fault;

#[derive(Debug, Clone)]
enum Operation {
    User(String),
    System,
    Reply { calls: usize, close: bool, long: bool },
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        "[a-z]{1,8}".prop_map(Operation::User),
        Just(Operation::System),
        (0_usize..4, any::<bool>(), any::<bool>()).prop_map(|(calls, close, long)| Operation::Reply {
            calls,
            close,
            long
        }),
    ];
    prop::collection::vec(operation, 0..40)
}

fn history(operations: &[Operation]) -> History {
    let mut history = History::new("Prompt.");
    for (number, operation) in operations.iter().enumerate() {
        match operation {
            Operation::User(text) => history.push_user(text.clone()),
            Operation::System => history.push_system("note"),
            Operation::Reply { calls, close, long } => {
                let call = |at: usize| ToolCall {
                    id: format!("c{number}-{at}").into(),
                    name: "t".to_owned(),
                    arguments: Arguments::parse("{}"),
                };
                let tool_calls: Vec<ToolCall> = (0..*calls).map(call).collect();
                history.push_assistant(AssistantMessage { tool_calls, ..AssistantMessage::default() });
                for _ in 0..*calls {
                    history.push_result(if *long { "é".repeat(5_000) } else { "short".to_owned() });
                }
                if *close {
                    history.close_open(NotRunReason::Cancelled);
                }
            }
        }
    }
    history
}

proptest! {
    #[test]
    fn any_history_compacts_to_one_that_can_be_sent_and_keeps_its_last_rounds_and_every_text_of_the_user(operations in operations()) {
        let history = history(&operations);
        let messages = history.messages();
        let replies: Vec<usize> =
            (0..messages.len()).filter(|at| matches!(messages[*at], Message::Assistant(_))).collect();
        let last = replies.len().checked_sub(2).map(|at| &messages[replies[at]..]);
        let older = history.older().len();
        let agent = steersman_base::id::AgentId::main();
        let keep = Keep { agent: &agent, rules: &[], plan: &Plan::default(), room: usize::MAX };
        match history.compacted("Sum.", &keep, &Pins::default()) {
            None => prop_assert_eq!(older, 0),
            Some(compacted) => {
                let after = compacted.messages();
                prop_assert_eq!(fault(after), None);
                prop_assert_eq!(&after[0], &messages[0]);
                let summary = Message::user(format!("{SUMMARY_HEAD}Sum."));
                prop_assert!(after[..3].contains(&summary));
                prop_assert!(after.ends_with(last.unwrap()), "the last rounds stay");
                let (before, now) = (UserTexts::in_messages(messages), UserTexts::in_messages(after));
                let words = |texts: &UserTexts| -> Vec<_> {
                    texts.all().iter().map(|placed| placed.text.words.clone()).collect()
                };
                prop_assert_eq!(words(&now), words(&before), "every text of the user, once and in order");
                prop_assert_eq!(now.task_text(), before.task_text());
                for (index, placed) in before.all().iter().enumerate() {
                    if before.fate(index) != TextFate::Unanswered {
                        prop_assert_eq!(before.fate(index), now.fate(index), "{:?}", placed);
                    }
                }
                prop_assert!(compacted.older().is_empty(), "a summary alone is not summarised");
            }
        }
        if let Some(shorter) = history.shortened(&Pins::default()) {
            prop_assert_eq!(fault(shorter.messages()), None);
            prop_assert_eq!(shorter.messages().len(), messages.len());
            prop_assert!(last.is_none_or(|last| shorter.messages().ends_with(last)));
            prop_assert!(shorter.shortened(&Pins::default()).is_none(), "once is enough");
        }
    }
}
