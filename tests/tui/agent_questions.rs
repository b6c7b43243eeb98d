//! What an agent asks the user, on the screen and in lines: options, own words, several answers, questions that are put off.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use steersman_base::protocol::{AgentQuestion, AnswerOption};
use steersman_core::approval::{AgentAnswer, Answerer, Asker, Mode, Policy};

use super::lines::at_work;
use crate::support::stage::Stage;

/// Milliseconds without a key, behind the drawing, that arm a question.
const QUIET: i64 = 350;

fn stage(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    let policy = Policy { answerer: Answerer::User, ..Policy::default() };
    stage.handle.approvals().configure(policy, Mode::Ask);
    stage.turn("");
    stage
}

/// A question that an agent has asked.
struct Asked(Pin<Box<dyn Future<Output = AgentAnswer>>>);

impl Asked {
    fn asks(stage: &mut Stage, question: AgentQuestion) -> Self {
        let desk = Arc::clone(stage.handle.approvals());
        let asker = Asker { agent: "".into(), call: "c1".into() };
        let mut asked = Self(Box::pin(async move { desk.ask_for_agent(&asker, question, &|_| {}).await }));
        assert!(asked.poll().is_none());
        stage.refresh();
        asked
    }

    fn poll(&mut self) -> Option<AgentAnswer> {
        match self.0.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => Some(answer),
            Poll::Pending => None,
        }
    }
}

fn option(label: &str, description: &str) -> AnswerOption {
    AnswerOption { label: label.to_owned(), description: description.to_owned() }
}

fn database() -> AgentQuestion {
    AgentQuestion {
        text: "Which database should the tests use?".to_owned(),
        options: vec![
            option("SQLite", "One file, nothing to start; no concurrent writers."),
            option("Postgres", "As in production; needs a server."),
        ],
        several: false,
        default: Some("SQLite".to_owned()),
        default_after: None,
        waits: true,
    }
}

fn checks() -> AgentQuestion {
    AgentQuestion {
        text: "What is to run before each commit?".to_owned(),
        options: vec![option("format", ""), option("lints", ""), option("tests", "")],
        several: true,
        default: None,
        default_after: None,
        waits: false,
    }
}

fn given(answers: &[&str]) -> AgentAnswer {
    AgentAnswer::Given(answers.iter().map(|answer| (*answer).to_owned()).collect())
}

fn arm(stage: &mut Stage) {
    stage.screen();
    stage.wait(QUIET);
    stage.screen();
}

#[test]
fn a_question_of_an_agent_at_three_sizes() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = stage(width, height);
        let _asked = Asked::asks(&mut stage, database());
        arm(&mut stage);
        insta::assert_snapshot!(format!("asked_{width}x{height}"), stage.picture());
    }
}

#[test]
fn a_number_and_enter_choose_an_option() {
    let mut stage = stage(80, 24);
    let mut asked = Asked::asks(&mut stage, database());
    // A key that was on its way answers nothing.
    stage.keys("2");
    arm(&mut stage);
    stage.keys("<bs>");
    assert!(asked.poll().is_none());
    arm(&mut stage);
    stage.keys("2");
    assert!(asked.poll().is_none(), "it is only selected");
    stage.keys("<enter>");
    assert_eq!(asked.poll(), Some(given(&["Postgres"])), "{}", stage.screen());
    assert!(stage.sent().is_empty(), "nothing of it was sent as a text");
}

#[test]
fn own_words_are_written_in_the_message_and_the_draft_comes_back() {
    let mut stage = stage(80, 24);
    stage.keys("half a draft");
    let mut asked = Asked::asks(&mut stage, database());
    arm(&mut stage);
    stage.keys("<a-w>");
    assert!(stage.screen().contains("write your answer below"), "{}", stage.screen());
    stage.keys("<enter>");
    assert!(asked.poll().is_none() && stage.screen().contains("write your answer; Esc goes back"));
    stage.keys("MariaDB, 2<enter>");
    assert_eq!(asked.poll(), Some(given(&["MariaDB, 2"])));
    stage.refresh();
    assert_eq!(stage.app.message.text(), "half a draft");
    assert!(stage.sent().is_empty());
}

#[test]
fn no_answer_is_one_too() {
    let mut stage = stage(80, 24);
    let mut asked = Asked::asks(&mut stage, database());
    arm(&mut stage);
    stage.keys("<a-n>");
    assert_eq!(asked.poll(), Some(AgentAnswer::Declined(None)));
}

#[test]
fn several_answers_are_marked_before_they_are_sent() {
    let mut stage = stage(80, 24);
    let mut asked = Asked::asks(&mut stage, checks());
    arm(&mut stage);
    stage.keys("4<enter>");
    assert!(asked.poll().is_none() && stage.screen().contains("first mark an answer"), "{}", stage.screen());
    arm(&mut stage);
    stage.keys("3<enter>1<enter>2<enter>2<enter>");
    insta::assert_snapshot!("marked_80x24", stage.picture());
    assert!(asked.poll().is_none());
    stage.keys("4<enter>");
    assert_eq!(asked.poll(), Some(given(&["format", "tests"])));
}

#[test]
fn esc_puts_a_question_off_and_the_command_shows_it_again() {
    let mut stage = stage(80, 24);
    let (mut first, mut second) = (Asked::asks(&mut stage, database()), Asked::asks(&mut stage, checks()));
    arm(&mut stage);
    assert!(stage.screen().contains("1 of 2"), "{}", stage.screen());
    stage.keys("<esc>");
    arm(&mut stage);
    assert!(stage.screen().contains("What is to run before each commit?"), "{}", stage.screen());
    stage.keys("<esc>");
    assert!(first.poll().is_none() && second.poll().is_none(), "nothing was answered");
    stage.wait(QUIET);
    assert!(stage.screen().contains("2 questions are put off: /questions"), "{}", stage.screen());
    // A number is a text now.
    stage.keys("/questions<enter>");
    let listed = stage.screen();
    assert!(listed.contains("question 1, main: Which database should the tests use? (put off)"), "{listed}");
    stage.keys("/questions 2<enter>");
    arm(&mut stage);
    assert!(stage.screen().contains("What is to run before each commit?"), "{}", stage.screen());
    stage.keys("<a-n>");
    assert_eq!(second.poll(), Some(AgentAnswer::Declined(None)));
    stage.refresh();
    stage.wait(QUIET);
    stage.keys("/questions<enter>");
    arm(&mut stage);
    stage.keys("1<enter>");
    assert_eq!(first.poll(), Some(given(&["SQLite"])));
}

#[test]
fn what_the_user_asks_for_comes_before_the_questions_of_agents() {
    let mut stage = stage(80, 24);
    let mut asked = Asked::asks(&mut stage, database());
    arm(&mut stage);
    stage.keys("<c-d>");
    arm(&mut stage);
    assert!(stage.screen().contains("Quit?") && stage.screen().contains("1 of 2"), "{}", stage.screen());
    stage.keys("<esc>");
    assert!(asked.poll().is_none(), "Esc leaves the question about quitting");
    arm(&mut stage);
    stage.keys("1<enter>");
    assert_eq!(asked.poll(), Some(given(&["SQLite"])));
}

#[test]
fn a_question_that_was_put_off_goes_with_its_call() {
    let mut stage = stage(80, 24);
    let asked = Asked::asks(&mut stage, database());
    arm(&mut stage);
    stage.keys("<esc>");
    drop(asked);
    stage.refresh();
    stage.wait(QUIET);
    assert!(!stage.screen().contains("a question is put off"), "{}", stage.screen());
}

#[test]
fn the_command_takes_numbers_and_words() {
    for (typed, answer) in [("/answer 2", &["Postgres"][..]), ("/answer what runs at work", &["what runs at work"])] {
        let mut stage = stage(80, 24);
        let mut asked = Asked::asks(&mut stage, database());
        arm(&mut stage);
        stage.keys(typed).keys("<enter>");
        stage.wait(QUIET);
        assert_eq!(asked.poll(), Some(given(answer)), "{}", stage.screen());
        let mut again = Asked::asks(&mut stage, database());
        arm(&mut stage);
        stage.keys("/answer 7<enter>");
        assert!(again.poll().is_none());
        assert!(stage.screen().contains("not answered: the options are 1 to 2"), "{}", stage.screen());
    }
}

#[test]
fn nothing_of_an_agent_is_obeyed_in_its_question() {
    let mut stage = stage(80, 24);
    let hostile = "\u{1b}[2Jwipe\u{7}\u{202e}";
    let question = AgentQuestion {
        text: format!("{hostile} text"),
        options: vec![option(&format!("{hostile} label"), &format!("{hostile} about"))],
        default: Some(format!("{hostile} label")),
        ..database()
    };
    let _asked = Asked::asks(&mut stage, question);
    arm(&mut stage);
    let screen = stage.screen();
    assert!(screen.contains("wipe"), "{screen}");
    assert!(!screen.chars().any(|c| c == '\u{1b}' || c == '\u{7}' || c == '\u{202e}'), "{screen:?}");
}

#[test]
fn in_lines_a_number_or_the_command_answers() {
    let mut stage = at_work();
    let policy = Policy { answerer: Answerer::User, ..Policy::default() };
    stage.handle.approvals().configure(policy, Mode::Ask);
    let mut asked = Asked::asks(&mut stage, database());
    insta::assert_snapshot!(stage.written());
    stage.line("2");
    assert_eq!(asked.poll(), Some(given(&["Postgres"])));
    let mut asked = Asked::asks(&mut stage, checks());
    stage.written();
    stage.line("/answer 1, 3");
    assert_eq!(asked.poll(), Some(given(&["format", "tests"])));
    let mut asked = Asked::asks(&mut stage, checks());
    stage.written();
    stage.line("2");
    assert!(asked.poll().is_none() && stage.written().contains("marked: lints; /yes sends it"));
    stage.line("/yes");
    assert_eq!(asked.poll(), Some(given(&["lints"])));
    let mut asked = Asked::asks(&mut stage, database());
    stage.written();
    stage.line("/no ask Ann");
    assert_eq!(asked.poll(), Some(AgentAnswer::Declined(Some("ask Ann".to_owned()))));
}
