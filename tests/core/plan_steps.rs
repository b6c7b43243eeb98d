//! Stories of a plan as data: ids, edits, the list that a model writes, what differs between two plans.

use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::plan::{
    Plan, PlanChange, PlanEdit, PlanRefused, StepState, WrittenStep, changes_between, reapply, summary,
};
use steersman_core::control::{Plans, Shift};

use crate::support::plan_edits::{add, mark};

fn plan(texts: &[&str]) -> Plan {
    let mut plan = Plan::default();
    for text in texts {
        plan.edit(&add(text, None)).unwrap();
    }
    plan
}

fn step(id: Option<&str>, text: &str, state: StepState) -> WrittenStep {
    WrittenStep { id: id.map(Into::into), text: text.to_owned(), state }
}

fn list(plan: &Plan) -> Vec<String> {
    plan.checklist().lines().map(str::to_owned).collect()
}

#[test]
fn the_user_adds_rewords_marks_and_moves_steps_and_each_keeps_its_id() {
    let mut plan = plan(&["read", "write", "test"]);
    plan.edit(&add("  think\n about it ", Some("s1"))).unwrap();
    plan.edit(&PlanEdit::Reword { step: "s2".into(), text: "write it down".to_owned() }).unwrap();
    plan.edit(&mark("s3", StepState::StruckOut)).unwrap();
    plan.edit(&PlanEdit::Move { step: "s3".into(), shift: Shift::Earlier }).unwrap();
    assert_eq!(list(&plan), ["[ ] s1 read", "[ ] s4 think about it", "[-] s3 test", "[ ] s2 write it down"]);
    assert_eq!(plan.progress(), (0, 3));
}

#[test]
fn an_edit_that_cannot_be_done_changes_nothing_and_says_why() {
    let mut plan = plan(&["read", "write"]);
    let before = plan.clone();
    let long = "x".repeat(limits::PLAN_STEP_CHARS + 1);
    for (edit, refused) in [
        (add(" \n", None), PlanRefused::Blank),
        (add(&long, None), PlanRefused::TooLong),
        (add("new", Some("s9")), PlanRefused::NoStep),
        (mark("s9", StepState::Done), PlanRefused::NoStep),
        (PlanEdit::Move { step: "s1".into(), shift: Shift::Earlier }, PlanRefused::AtEnd),
        (PlanEdit::Move { step: "s2".into(), shift: Shift::Later }, PlanRefused::AtEnd),
    ] {
        assert_eq!(plan.edit(&edit), Err(refused), "{edit:?}");
        assert_eq!(plan, before);
    }
    for number in 2..limits::PLAN_STEPS {
        plan.edit(&add(&format!("step {number}"), None)).unwrap();
    }
    assert_eq!(plan.edit(&add("one more", None)), Err(PlanRefused::TooMany));
}

#[test]
fn a_list_that_a_model_writes_keeps_the_ids_of_steps_that_it_names_or_repeats() {
    let mut old = plan(&["read", "write", "test", "ship"]);
    old.edit(&mark("s3", StepState::StruckOut)).unwrap();
    let written = vec![
        step(None, "read", StepState::Done),
        step(Some("s2"), "write two files", StepState::Running),
        step(Some("s3"), "test", StepState::Pending),
        step(Some("s77"), "document", StepState::Pending),
    ];
    let new = old.rewritten(written).unwrap();
    assert_eq!(
        list(&new),
        ["[x] s1 read", "[>] s2 write two files", "[-] s3 test", "[ ] s5 document"],
        "what was struck out stays so, and no id is given twice"
    );
    assert_eq!(old.rewritten(vec![step(None, " ", StepState::Done)]), Err(PlanRefused::Blank));
}

#[test]
fn what_differs_is_said_in_a_few_words_and_leads_from_one_plan_to_the_other() {
    let before = plan(&["a", "b", "c", "d"]);
    let mut now = before.clone();
    for edit in [
        add("e", Some("s1")),
        add("f", None),
        mark("s2", StepState::StruckOut),
        mark("s3", StepState::Done),
        PlanEdit::Reword { step: "s4".into(), text: "D".to_owned() },
        PlanEdit::Move { step: "s4".into(), shift: Shift::Earlier },
    ] {
        now.edit(&edit).unwrap();
    }
    let changes = changes_between(&before, &now);
    assert_eq!(summary(&changes), "2 steps added, 1 reworded, 1 struck out, 1 done, 1 moved");
    assert_eq!(list(&reapply(&changes, before.clone())), list(&now));
    let lines: Vec<String> = changes.iter().map(PlanChange::line).collect();
    assert_eq!(lines[..2], ["s5 is new, behind s1: e", "s2 is struck out, do not do it: b"]);
    assert_eq!(summary(&changes_between(&now, &now)), "");
    now.edit(&mark("s2", StepState::Pending)).unwrap();
    now.edit(&mark("s3", StepState::Pending)).unwrap();
    assert_eq!(summary(&changes_between(&before, &now)), "2 steps added, 1 reworded, 1 moved", "what was taken back");
}

#[test]
fn the_fewest_steps_count_as_moved() {
    let before = plan(&["a", "b", "c", "d", "e"]);
    let mut now = before.clone();
    for _ in 0..4 {
        now.edit(&PlanEdit::Move { step: "s1".into(), shift: Shift::Later }).unwrap();
    }
    assert_eq!(summary(&changes_between(&before, &now)), "1 step moved");
    assert_eq!(list(&reapply(&changes_between(&before, &now), before)), list(&now));
}

#[test]
fn a_step_that_the_user_changed_and_the_model_left_out_comes_back_unless_it_was_struck_out() {
    let plans = Plans::default();
    let main = AgentId::main();
    let first = ["a", "b", "c", "d"].map(|text| step(None, text, StepState::Pending));
    plans.write(&main, first.into()).unwrap();
    for edit in [
        PlanEdit::Reword { step: "s1".into(), text: "A".to_owned() },
        mark("s2", StepState::StruckOut),
        mark("s3", StepState::Done),
        PlanEdit::Move { step: "s4".into(), shift: Shift::Earlier },
    ] {
        plans.edit(&main, &edit, None).unwrap();
    }
    let written = plans.write(&main, vec![step(None, "new", StepState::Running)]).unwrap();
    assert_eq!(list(&written.plan), ["[>] s5 new", "[ ] s1 A", "[x] s3 c"]);
    assert_eq!(summary(&written.by_user), "2 steps added", "as seen from what the model wrote");
}
