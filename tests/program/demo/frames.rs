//! What the embedded model makes of frames around texts, and of what a compaction kept.

use std::sync::Arc;

use serde_json::Value;
use steersman::program::demo::PlannedReply;
use steersman_agent::{KEPT_HEAD, SUMMARY_HEAD};
use steersman_base::event::{JobEnd, Outcome};
use steersman_base::id::MessageId;
use steersman_base::plan::PlanNews;
use steersman_base::steering::{RuleScope, TextKind};
use steersman_core::control::{AgentNote, ReportCause};
use steersman_core::tool::JobNote;
use steersman_core::wrapper::{SentWhen, WrappedText, agent_note, job_note, plan_news, wrap, wrapped};

use super::project::{MAIN, Run};
use super::{names, tour};

fn framed(id: &str, kind: TextKind, words: &str) -> String {
    let id = MessageId::new(id);
    let sent = SentWhen::During { tool: Some("glob"), calls: 0 };
    wrap(&WrappedText {
        id: &id,
        kind,
        scope: RuleScope::Tree,
        words,
        sent,
        met: None,
        task: Some("look at this project"),
    })
}

#[test]
fn an_addition_is_quoted_and_done_as_without_a_frame() {
    let [mut bare, mut in_frame] = [tour(1), tour(1)];
    bare.say("count TODO");
    in_frame.say(&framed("m2", TextKind::Add, "count TODO"));
    assert_eq!(bare.step(), in_frame.step());
    assert_eq!(bare.finish().last(), in_frame.finish().last());
}

#[test]
fn an_instead_is_the_task_and_nothing_of_the_old_one_goes_on() {
    let mut run = tour(1);
    run.say(&framed("m2", TextKind::Add, "count TODO"));
    run.say(&framed("m3", TextKind::Instead, "2+3*4"));
    let reply = run.step();
    assert!(reply.text.contains("> 2+3*4\n") && reply.text.contains("This is the task now."), "{}", reply.text);
    assert_eq!(names(&reply), ["calculator"]);
    let end = run.finish().pop().unwrap().text;
    assert!(end.contains("14") && !end.contains("TODO") && !end.contains("# Report"), "{end}");
}

#[test]
fn what_the_program_tells_of_jobs_and_of_continued_agents_is_no_text_of_the_user() {
    let agent = AgentNote {
        agent: "file_miner 0".into(),
        cause: ReportCause::Continued { asked: "look at the tests".to_owned() },
        outcome: Outcome::Completed,
        answer: "# Report\n- count TODO".to_owned(),
        starts_turn: false,
    };
    let end = JobEnd::interrupted("j1".into(), "its program ended");
    let job = JobNote { end: Arc::new(end), command: "run `ls`".to_owned(), last: "find main".to_owned() };
    let [mut bare, mut told] = [tour(1), tour(1)];
    told.say(&agent_note(&agent));
    told.say(&job_note(&job));
    assert_eq!(bare.step().text, told.step().text);
    assert_eq!(bare.finish().last(), told.finish().last());
    told.say(&agent_note(&agent));
    bare.say("2+3*4");
    told.say("2+3*4");
    assert_eq!(bare.step().text, told.step().text, "in the next turn too");
}

#[test]
fn a_note_gets_no_reply_and_is_noted_at_the_end() {
    let mut run = tour(1);
    run.say(&framed("m2", TextKind::Note, "count TODO"));
    let reply = run.step();
    assert!(!reply.text.contains("count TODO"), "{}", reply.text);
    assert!(names(&reply).iter().all(|name| *name == "agent"), "nothing is done for it");
    let end = run.finish().pop().unwrap().text;
    assert!(
        end.contains("- noted: “count TODO”")
            || end.contains("noted: \"count TODO\"")
            || end.contains("noted: *count TODO*"),
        "{end}"
    );
}

#[test]
fn a_rule_holds_in_later_turns_until_it_is_withdrawn() {
    let mut run = tour(1);
    run.say(&framed("m2", TextKind::Rule, "be brief"));
    assert!(run.step().text.contains("I keep to it from here on."));
    assert!(!run.finish().pop().unwrap().text.contains("## Next steps"));
    run.say("Please look at the whole project again.");
    assert!(!run.finish().pop().unwrap().text.contains("## Next steps"), "it is brief in the next turn too");
    run.say("<steer-m2 kind=\"rule\" change=\"withdrawn: it no longer holds\"></steer-m2>");
    run.say("Please look at the whole project again.");
    assert!(run.finish().pop().unwrap().text.contains("## Next steps"));
}

#[test]
fn behind_a_compaction_it_knows_the_task_and_does_nothing_anew_that_was_handled() {
    let mut run = Run::new(MAIN);
    let parts = [
        wrapped("rule", "m4", " for=\"you\"", "be brief"),
        wrapped("text", "m0", " state=\"of turn 1, which is over\"", "run `ls`"),
        wrapped("task", "m1", "", "find main"),
        wrapped("text", "m2", " state=\"handled from round 2 on\"", "2+3*4"),
    ];
    run.say(&format!("{KEPT_HEAD}\n\n{}", parts.join("\n\n")));
    run.say(&format!("{SUMMARY_HEAD}Listed the files."));
    let replies = run.finish();
    let called: Vec<&str> = replies.iter().flat_map(|reply| names(reply)).collect();
    assert_eq!(called, ["grep"], "the task alone");
    let end = &replies.last().unwrap().text;
    assert!(end.contains("main") && !end.contains("14"), "{end}");
}

/// The tools of a main agent that keeps a plan.
const PLANNING: &[&str] = &["read", "grep", "glob", "calculator", "plan", "agent"];

fn states(reply: &PlannedReply) -> Vec<String> {
    let call = reply.calls.iter().find(|call| call.name == "plan").unwrap();
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
    let steps = arguments["steps"].as_array().unwrap().iter();
    steps.map(|step| step["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_tour_keeps_a_plan_and_writes_it_behind_the_calls_that_it_is_about() {
    let mut run = Run::new(PLANNING);
    run.say("Please have a look at this project.");
    let replies = run.finish();
    assert_eq!(names(&replies[0]), ["glob", "plan"]);
    assert_eq!(states(&replies[0]), ["done", "running", "pending"]);
    assert_eq!(states(&replies[1]), ["done", "done", "running"]);
    assert_eq!(states(&replies[2]), ["done", "done", "done"]);
    assert_eq!(names(&replies[2]).last(), Some(&"plan"));
}

#[test]
fn a_step_that_the_user_strikes_out_is_not_done_and_the_answer_says_what_was_noted() {
    let mut run = Run::new(PLANNING);
    run.say("Please have a look at this project.");
    run.step();
    let words = "The user changed the plan:\n- s2 is struck out, do not do it: send agents into the parts\n\n\
                 The plan now:\n[x] s1 list the files\n[-] s2 send agents into the parts\n[ ] s3 read the main files";
    run.say(&plan_news(PlanNews::Changed, 2, words));
    let replies = run.finish();
    assert!(replies.iter().all(|reply| !names(reply).contains(&"agent")), "{replies:?}");
    let answer = &replies.last().unwrap().text;
    assert!(answer.contains("noted:") && answer.contains("s2 is struck out"), "{answer}");
}

#[test]
fn where_a_plan_is_to_be_accepted_first_it_is_submitted_once() {
    let mut run = Run::new(PLANNING);
    run.say("Please have a look at this project.");
    run.say(&plan_news(
        PlanNews::ModeOn,
        0,
        "The user wants to accept a plan: call it with `submit` when it is ready.",
    ));
    let reply = run.step();
    assert_eq!((names(&reply), states(&reply)), (vec!["glob", "plan"], vec!["pending".to_owned(); 3]));
    let submits = |reply: &PlannedReply| reply.calls.iter().any(|call| call.arguments.contains(r#""submit":true"#));
    assert!(submits(&reply));
    run.say(&plan_news(PlanNews::ModeOff, 0, "The mode is ask now."));
    let replies = run.finish();
    assert!(replies.iter().all(|reply| !submits(reply)), "{replies:?}");
    assert!(replies.iter().any(|reply| names(reply).contains(&"agent")), "the tour goes on: {replies:?}");
}

#[test]
fn what_was_to_be_left_out_is_in_no_section_of_the_report() {
    let mut run = tour(2);
    run.say(&framed("m2", TextKind::Add, "skip src"));
    let report = run.answer();
    assert!(report.contains("`src` was left out"), "{report}");
    let sections = report.split("## Steering").next().unwrap();
    assert!(!sections.contains("src/heater.rs"), "{report}");
}

#[test]
fn it_waits_for_agents_in_the_background_and_reports_with_their_answers() {
    let mut run = tour(2);
    let mut answers = Vec::new();
    for message in run.messages.iter_mut().rev().take_while(|message| message["role"] == "tool") {
        let agent = format!("file_miner {}", answers.len());
        let works = "works in the background (after 1 s). Its answer will come to you as a message: wait for it.]";
        let answer = message["content"].as_str().unwrap().to_owned();
        message["content"] = format!("[a text for you came first. {agent} {works}").into();
        answers.push((agent, answer));
    }
    run.say(&framed("m2", TextKind::Add, "count TODO"));
    let first = run.step();
    assert_eq!(names(&first), ["grep"], "what the text asks for, and nothing of the script");
    assert!(!first.text.contains("I read"), "{}", first.text);
    for (agent, answer) in &answers {
        let waits = run.step();
        assert!(waits.calls.is_empty() && waits.text.contains(&format!("`{agent}`")), "{}", waits.text);
        run.say(&agent_note(&AgentNote {
            agent: agent.as_str().into(),
            cause: ReportCause::Background { task: "look".to_owned(), elapsed_ms: Some(1_000) },
            outcome: Outcome::Completed,
            answer: answer.clone(),
            starts_turn: true,
        }));
    }
    let report = run.answer();
    assert!(report.starts_with("# Report"), "{report}");
    assert!(report.contains(&format!("looked at by {} agents", answers.len())), "{report}");
    assert!(report.contains("src/heater.rs:2"), "what they found stands in it: {report}");
}
