//! The stated order of the policy as a table: who answers, what the agent has seen, protected places, rules, what is allowed
//! for the session, mode and sandbox, each with each. The order stands here a second time, in the fewest words.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use steersman_core::approval::{
    Answerer, Circumstances, CommandOperation, FetchOperation, Grant, Mode, Network, Operation, Policy, Rules,
    Sandboxed, ServerToolOperation, Taint, UseOperation, Verdict, WriteOperation,
};

const ROOT: &str = "/work/project";
const MODES: [Mode; 6] = [Mode::Ask, Mode::AutoEdit, Mode::Auto, Mode::AutoWithoutSandbox, Mode::ReadOnly, Mode::Plan];
const ANSWERERS: [Answerer; 4] = [Answerer::User, Answerer::Nobody, Answerer::Yes, Answerer::YesOrUser];

/// What is said about one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Nothing,
    AllowRule,
    SessionYes,
    AskRule,
    AskAndAllowRule,
    AskRuleAndSessionYes,
    DenyRule,
    DenyAndAllowRule,
}

const SAID: [Said; 8] = [
    Said::Nothing,
    Said::AllowRule,
    Said::SessionYes,
    Said::AskRule,
    Said::AskAndAllowRule,
    Said::AskRuleAndSessionYes,
    Said::DenyRule,
    Said::DenyAndAllowRule,
];

/// What a verdict is, without its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Allow,
    Ask,
    /// Asked each time: no answer for the session is offered.
    AskEachTime,
    Deny,
}

struct Row {
    operation: Operation,
    /// A rule that names it.
    rule: &'static str,
    grant: Grant,
    is_protected: bool,
    /// Whether it sends, in a sandbox without a network and without one.
    sends: [bool; 2],
    /// The modes in which it runs unasked within a sandbox, and outside of one.
    runs: [&'static [Mode]; 2],
    /// What a question offers.
    offers: Decision,
}

fn write(path: &str, is_new: bool) -> Operation {
    let content = || Arc::<[u8]>::from(&b"text"[..]).into();
    Operation::Write(WriteOperation {
        tool: "write".into(),
        path: Path::new(ROOT).join(path),
        shown: path.to_owned(),
        before: (!is_new).then(content),
        after: content(),
        diff: String::new(),
    })
}

fn command(command: &str) -> Operation {
    Operation::Command(CommandOperation {
        command: command.to_owned(),
        cwd: PathBuf::from(ROOT),
        timeout: Duration::from_secs(1),
        outside: false,
    })
}

fn server(sends: bool) -> Operation {
    Operation::ServerTool(ServerToolOperation {
        server: "notes".to_owned(),
        reached: "stdio".to_owned(),
        tool: "list".to_owned(),
        arguments: "{}".to_owned(),
        hints: Vec::new(),
        sends,
    })
}

fn rows() -> Vec<Row> {
    const EDITS: &[Mode] = &[Mode::AutoEdit, Mode::Auto, Mode::AutoWithoutSandbox];
    const NEW: &[Mode] = &[Mode::Ask, Mode::AutoEdit, Mode::Auto, Mode::AutoWithoutSandbox];
    const AUTO: [&[Mode]; 2] = [&[Mode::Auto, Mode::AutoWithoutSandbox], &[Mode::AutoWithoutSandbox]];
    const BOLD: [&[Mode]; 2] = [&[Mode::AutoWithoutSandbox]; 2];
    let exactly = |text: &str| Grant::Command { command: text.to_owned(), cwd: PathBuf::from(ROOT) };
    let plain = Row {
        operation: write("src/a.rs", false),
        rule: "write: src/a.rs",
        grant: Grant::Edits,
        is_protected: false,
        sends: [false, false],
        runs: [EDITS, EDITS],
        offers: Decision::Ask,
    };
    let tool = || Grant::ServerTool("notes/list".to_owned());
    let row = |operation, rule, grant| Row { operation, rule, grant, ..clone(&plain) };
    vec![
        clone(&plain),
        Row { runs: [NEW, NEW], ..row(write("src/b.rs", true), "write: src/b.rs", Grant::Edits) },
        Row { is_protected: true, ..row(write(".git/config", false), "write: .git/config", Grant::Edits) },
        Row { is_protected: true, ..row(write("AGENTS.md", true), "write: AGENTS.md", Grant::Edits) },
        Row { sends: [false, true], runs: AUTO, ..row(command("make a"), "bash: make a", exactly("make a")) },
        Row {
            is_protected: true,
            sends: [false, true],
            runs: AUTO,
            ..row(command("cp a .git/config"), "bash: cp a .git/config", exactly("cp a .git/config"))
        },
        Row {
            sends: [true, true],
            runs: AUTO,
            ..row(
                Operation::Fetch(FetchOperation { tool: "fetch".into(), url: "https://a.example/x".to_owned() }),
                "fetch: https://a.example/*",
                Grant::Host("https://a.example".to_owned()),
            )
        },
        Row { sends: [true, true], runs: BOLD, ..row(server(true), "mcp: notes/list", tool()) },
        Row { runs: BOLD, ..row(server(false), "mcp: notes/list", tool()) },
        Row {
            runs: [&MODES, &MODES],
            ..row(
                Operation::Use(UseOperation {
                    tool: "read".into(),
                    path: Some(Path::new(ROOT).join("a")),
                    shown: "a".to_owned(),
                }),
                "read: a",
                Grant::Edits,
            )
        },
    ]
}

fn clone(row: &Row) -> Row {
    Row { operation: row.operation.clone(), grant: row.grant.clone(), ..*row }
}

/// The order, as the manual states it.
fn expected(row: &Row, said: Said, answerer: Answerer, taint: Taint, mode: Mode, is_sandboxed: bool) -> Decision {
    let asks = |offers| match answerer {
        Answerer::User => offers,
        Answerer::Yes | Answerer::YesOrUser => Decision::Allow,
        Answerer::Nobody => Decision::Deny,
    };
    let is_reading = matches!(row.operation, Operation::Use(_));
    let is_server = matches!(row.operation, Operation::ServerTool(_));
    let has_rule = matches!(said, Said::AllowRule | Said::AskAndAllowRule);
    let has_yes = matches!(said, Said::SessionYes | Said::AskRuleAndSessionYes);
    let sandbox = usize::from(!is_sandboxed);
    let is_denied = matches!(said, Said::DenyRule | Said::DenyAndAllowRule);
    if is_denied || matches!(mode, Mode::ReadOnly | Mode::Plan) && !is_reading {
        Decision::Deny
    } else if row.is_protected {
        match answerer {
            Answerer::User | Answerer::YesOrUser => Decision::AskEachTime,
            Answerer::Yes | Answerer::Nobody => Decision::Deny,
        }
    } else if taint.private && taint.untrusted && row.sends[sandbox] && !(is_server && (has_rule || has_yes)) {
        asks(if is_server { row.offers } else { Decision::AskEachTime })
    } else if matches!(said, Said::AskRule | Said::AskAndAllowRule | Said::AskRuleAndSessionYes) {
        asks(Decision::AskEachTime)
    } else if is_reading || has_rule || has_yes || row.runs[sandbox].contains(&mode) {
        Decision::Allow
    } else {
        asks(row.offers)
    }
}

#[test]
fn every_operation_is_decided_about_in_the_stated_order() {
    let taints = [(false, false), (true, false), (false, true), (true, true)];
    let mut tried = 0;
    for (row, said) in rows().iter().flat_map(|row| SAID.map(|said| (clone(row), said))) {
        let list = |is_on: bool| if is_on { vec![row.rule] } else { Vec::new() };
        let is = |known: &[Said]| list(known.contains(&said));
        let allow = is(&[Said::AllowRule, Said::AskAndAllowRule, Said::DenyAndAllowRule]);
        let ask = is(&[Said::AskRule, Said::AskAndAllowRule, Said::AskRuleAndSessionYes]);
        let deny = is(&[Said::DenyRule, Said::DenyAndAllowRule]);
        let rules = Rules::parse(&allow, &ask, &deny).unwrap();
        let grants = match said {
            Said::SessionYes | Said::AskRuleAndSessionYes => vec![row.grant.clone()],
            _ => Vec::new(),
        };
        for (answerer, is_sandboxed) in ANSWERERS.into_iter().flat_map(|answerer| [(answerer, true), (answerer, false)])
        {
            let policy = Policy {
                answerer,
                sandboxed: Some(if is_sandboxed { Sandboxed::Yes } else { Sandboxed::No }),
                network: Network::Off,
                rules: rules.clone(),
                root: Some(PathBuf::from(ROOT)),
                ..Policy::default()
            };
            for (mode, (private, untrusted)) in MODES.into_iter().flat_map(|mode| taints.map(|taint| (mode, taint))) {
                let taint = Taint { private, untrusted };
                let verdict = policy.decide(&row.operation, &Circumstances { mode, grants: &grants, taint });
                let decision = match &verdict {
                    Verdict::Allow => Decision::Allow,
                    Verdict::Ask { grant: Some(_), .. } => Decision::Ask,
                    Verdict::Ask { grant: None, .. } => Decision::AskEachTime,
                    Verdict::Deny(_) => Decision::Deny,
                };
                assert_eq!(
                    decision,
                    expected(&row, said, answerer, taint, mode, is_sandboxed),
                    "{:?} with {said:?} for {answerer:?}, {taint:?}, {mode:?}, sandboxed {is_sandboxed}: {verdict:?}",
                    row.operation
                );
                tried += 1;
            }
        }
    }
    assert_eq!(tried, rows().len() * SAID.len() * ANSWERERS.len() * 2 * MODES.len() * taints.len());
}
