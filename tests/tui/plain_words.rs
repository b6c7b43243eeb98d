//! The words of the screen: what an agent waits for, who works and who asks, what an answer allows, what was cancelled.

use steersman_base::event::{Event, Outcome};
use steersman_base::mode::Mode;
use steersman_base::protocol::{
    ApprovalId, ApprovalRequest, ApprovalSubject, OfferedRule, Operation, SearchOperation, Update,
};

use steersman_tui::msg::Msg;

use super::pending_list::waiting;
use crate::support::stage::Stage;

const SIZES: [(u16, u16); 4] = [(120, 36), (80, 24), (40, 12), (20, 6)];

#[test]
fn while_sub_agents_work_the_status_counts_them_and_who_asks() {
    for (count, asking, words) in
        [(2, 0, "● 2 work"), (12, 0, "● 12 work"), (12, 1, "? 12 work · 1 asks you"), (12, 3, "? 12 work · 3 ask you")]
    {
        let mut stage = Stage::new(120, 36);
        stage.turn("");
        for number in 0..count {
            stage.call("", &format!("c{}", number + 1), "agent");
            stage.spawn("", &format!("researcher {number}")).turn(&format!("researcher {number}"));
        }
        for number in 0..asking {
            let question = "Run it?".to_owned();
            let id = format!("q{number}");
            let asked = Event::Question { id, question, detail: None, call: None, offer: None, rule: None };
            stage.event(&format!("researcher {number}"), asked);
        }
        let screen = stage.screen();
        assert!(screen.contains(words), "{words}: {screen}");
        if (count, asking) == (12, 3) {
            for (width, height) in SIZES {
                insta::assert_snapshot!(format!("twelve_work_{width}x{height}"), stage.resize(width, height).screen());
            }
        }
    }
}

#[test]
fn a_question_says_what_each_answer_allows_behind_its_number() {
    for (session, words) in [
        ("every edit in this directory", "2 allows every edit in this directory until you quit"),
        ("exactly this command in this directory", "2 allows exactly this command in this directory until you quit"),
        ("every command that begins with: make", "2 allows until you quit: every command that begins with: make"),
    ] {
        let mut stage = Stage::new(120, 36);
        let operation = Operation::Search(SearchOperation { query: "x".to_owned(), services: Vec::new() });
        let request = ApprovalRequest {
            id: ApprovalId(1),
            asker: None,
            subject: ApprovalSubject::Operation { operation },
            why: String::new(),
            session: Some(session.to_owned()),
            rule: Some(OfferedRule { text: "web_search".to_owned(), pattern: "web_search".to_owned() }),
        };
        stage.turn("").tell(Msg::Update(Update::Approvals { mode: Mode::Ask, open: vec![request] }));
        let screen = stage.screen();
        assert!(screen.contains(words), "{words}: {screen}");
        assert!(screen.contains("3 allows web_search in this project, also in later sessions"), "{screen}");
        stage.wait(1_000).keys("<enter>");
        assert!(stage.screen().contains("answer the question: 1 to 6, then Enter"), "{}", stage.screen());
    }
}

#[test]
fn only_what_ran_is_said_to_be_cancelled() {
    for (ended, words) in [
        (Some(Outcome::Failed), "no turn runs; the pending text is back in the message"),
        (None, "cancelled; the pending text is back in the message"),
    ] {
        let mut stage = waiting(&["and the tests"]);
        if let Some(outcome) = ended {
            stage.turn_ended("", outcome, Some("no answer"));
        }
        stage.keys("/cancel<enter>");
        assert!(stage.screen().contains(words), "{words}: {}", stage.screen());
        assert_eq!(stage.app.message.text(), "and the tests");
    }
}

#[test]
fn a_name_that_nothing_has_is_said_to_be_none() {
    for (typed, words) in [
        ("/model a b", "no model is called \"a b\"; //model sends it as text"),
        ("/theme a b", "no theme is called \"a b\""),
        ("/mode a b", "no mode is called \"a b\""),
        ("/resume a b", "no session is called \"a b\""),
        ("/mouse a b", "write /mouse [on|off]; //mouse sends it as text"),
    ] {
        let mut stage = Stage::new(120, 36);
        stage.keys(typed).keys("<enter>");
        assert!(stage.screen().contains(words), "{typed}: {}", stage.screen());
        assert_eq!(stage.app.message.text(), typed);
    }
}
