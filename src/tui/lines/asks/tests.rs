//! Every kind of question, with a value in each field that tries to add a line of the program's, or to move the cursor.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::undo;
use steersman_base::plan::{Plan, PlanStep, StepState};
use steersman_base::protocol::{
    AgentQuestion, AnswerOption, ApprovalId, ApprovalRequest, ApprovalSubject, CloneOperation, CommandOperation,
    CustomOperation, FetchOperation, FieldKind, FormField, InputOperation, OfferedRule, Operation, SearchOperation,
    ServerToolOperation, Undo, UndoneFile, UseOperation, WriteOperation,
};
use steersman_base::text::{QuestionText, is_invisible};
use steersman_session::model::approval_parts;

/// Lines that only the program says.
const FORGED: [&str; 4] = ["asked: nothing", "/session covers: all", "sandbox: all of it", "in: /safe"];

/// Gives out hostile values, each with a mark by which it is found.
#[derive(Default)]
struct Values(usize);

impl Values {
    fn next(&mut self) -> String {
        self.0 += 1;
        format!("H{}H\n{}\n\u{1b}[2J\u{9b}31m\u{202e}\u{e0041}\u{2028}\r{}", self.0, FORGED.join("\n"), FORGED[0])
    }
}

/// Returns the name of a kind: a new one does not compile without a place here, and `every` lists it.
fn name(subject: &ApprovalSubject) -> &'static str {
    match subject {
        ApprovalSubject::Operation { operation } => match operation {
            Operation::Command(CommandOperation { outside: true, .. }) => "outside",
            Operation::Command(_) => "command",
            Operation::Write(_) => "write",
            Operation::Fetch(_) => "fetch",
            Operation::Search(_) => "search",
            Operation::Clone(_) => "clone",
            Operation::Use(_) => "use",
            Operation::ServerTool(_) => "server tool",
            Operation::Input(_) => "input",
            Operation::Custom(_) => "custom",
        },
        ApprovalSubject::Plain { .. } => "plain",
        ApprovalSubject::Form { .. } => "form",
        ApprovalSubject::Plan { .. } => "plan",
        ApprovalSubject::MoreCalls { .. } => "more calls",
        ApprovalSubject::AgentQuestion { .. } => "agent question",
    }
}

fn every(values: &mut Values) -> Vec<ApprovalSubject> {
    let mut next = || values.next();
    let mut plain = QuestionText::default();
    plain.part(&next());
    plain.sentence(&next());
    plain.field("field", &next());
    plain.optional("optional", Some(&next()));
    plain.quote(&next());
    plain.changes(&next());
    let command = |command, cwd: String, outside| CommandOperation {
        command,
        cwd: cwd.into(),
        timeout: Duration::from_secs(5),
        outside,
    };
    let diff = format!("@@ -1 +1 @@\n-{}\n+{}\n{}\n", next(), next(), next());
    let choice = FieldKind::Choices { values: vec![next(), next()] };
    let number = FieldKind::Number { whole: true, least: Some(1.0), most: None };
    let field = |name, about, kind, default| FormField { name, about, kind, required: false, default };
    let operations: [Operation; 10] = [
        command(next(), next(), false).into(),
        command(next(), next(), true).into(),
        WriteOperation {
            tool: "edit".into(),
            path: PathBuf::from("/a"),
            shown: next(),
            before: Some(b"old"[..].into()),
            after: b"new"[..].into(),
            diff,
        }
        .into(),
        FetchOperation { tool: "fetch".into(), url: next() }.into(),
        SearchOperation { query: next(), services: vec![next(), next()] }.into(),
        CloneOperation { url: next(), into: next().into() }.into(),
        UseOperation { tool: next().into(), path: None, shown: next() }.into(),
        ServerToolOperation {
            server: next(),
            reached: next(),
            tool: next(),
            arguments: next(),
            hints: vec![next(), next()],
            sends: false,
        }
        .into(),
        InputOperation { job: "j1".into(), command: next(), text: next() }.into(),
        CustomOperation::new(next(), next(), next()).keeps_here().into(),
    ];
    let others = [
        ApprovalSubject::Plain { title: "the program asks".to_owned(), detail: plain.finish() },
        ApprovalSubject::Form {
            server: next(),
            message: next(),
            fields: vec![
                field(next(), next(), FieldKind::Text { least: 0, most: 9 }, Some(json!(next()))),
                field(next(), next(), choice, Some(json!([next()]))),
                field(next(), next(), number, Some(json!(4711))),
                field(next(), next(), FieldKind::Boolean, Some(json!(true))),
            ],
        },
        ApprovalSubject::Plan {
            plan: Plan { steps: vec![PlanStep { id: "s1".into(), text: next(), state: StepState::Pending }], made: 1 },
        },
        ApprovalSubject::MoreCalls { made: 3, more: 4 },
        ApprovalSubject::AgentQuestion {
            question: AgentQuestion {
                text: next(),
                options: vec![AnswerOption { label: next(), description: next() }],
                several: false,
                default: Some(next()),
                default_after: None,
                waits: true,
            },
        },
    ];
    operations.into_iter().map(|operation| ApprovalSubject::Operation { operation }).chain(others).collect()
}

/// Returns the marks of the values in what is sent to clients.
fn marks(value: &Value) -> BTreeSet<String> {
    match value {
        Value::String(text) => {
            let parts: Vec<&str> = text.split('H').collect();
            parts.iter().filter(|part| part.parse::<usize>().is_ok()).map(|part| format!("H{part}H")).collect()
        }
        Value::Array(list) => list.iter().flat_map(marks).collect(),
        Value::Object(members) => members.values().flat_map(marks).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => BTreeSet::new(),
    }
}

/// Writes the parts for screen readers, and for `exec` and the commands from outside.
fn written(parts: &[DetailPart]) -> [Vec<String>; 2] {
    [rows(parts, ""), rows(parts, "│ ")]
}

fn check(what: &str, parts: &[DetailPart]) {
    for rows in written(parts) {
        for row in &rows {
            assert!(!row.contains(|c: char| is_invisible(c) || c == '\u{2028}'), "{what}: {row:?}");
            assert!(!FORGED.iter().any(|forged| row.starts_with(forged)), "{what}: {row:?} of {rows:#?}");
        }
    }
}

#[test]
fn every_kind_of_question_shows_all_of_its_fields_and_no_value_adds_a_line_of_the_program() {
    let mut values = Values::default();
    let mut names = BTreeSet::new();
    for subject in every(&mut values) {
        let what = name(&subject);
        names.insert(what);
        let sent = serde_json::to_value(&subject).unwrap_or_default();
        let request = ApprovalRequest {
            id: ApprovalId(1),
            asker: None,
            subject,
            why: values.next(),
            session: Some(values.next()),
            rule: Some(OfferedRule { text: "bash: x".to_owned(), pattern: values.next() }),
        };
        let parts = approval_parts(&request);
        check(what, &parts);
        let mut wanted = marks(&sent);
        wanted.extend((0..3).map(|back| format!("H{}H", values.0 - back)));
        for rows in written(&parts) {
            let all = rows.concat();
            let missing: Vec<&String> = wanted.iter().filter(|mark| !all.contains(mark.as_str())).collect();
            assert!(missing.is_empty(), "{what} leaves out {missing:?} of {sent:#}: {all}");
            assert!(what != "form" || all.contains("4711"), "what a yes sends is shown: {all}");
        }
    }
    assert_eq!(names.len(), 15, "{names:?}");
}

#[test]
fn no_text_in_a_question_of_the_screen_adds_a_line_of_the_program() {
    let mut values = Values::default();
    let mut next = || values.next();
    let changes =
        [UndoneFile { path: next(), undo: Undo::Removed }, UndoneFile { path: next(), undo: Undo::Failed(next()) }];
    check("undo", &undo::parts(&changes, "the turn"));
    for part in [
        DetailPart::Text(next()),
        DetailPart::Note(next()),
        DetailPart::Fact("label", next()),
        DetailPart::Exact(next()),
        DetailPart::Diff(next()),
    ] {
        check("a part", &[part]);
    }
}
