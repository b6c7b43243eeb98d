//! Personas: the bundled ones, the user's files, and the table that says what each could leak.

use std::sync::Arc;

use steersman_agent::subagent::{Persona, PersonaSource, Roster, TempWorkspace};
use steersman_core::tool::Tool;
use steersman_session::host::Pools;
use steersman_tools::workspace::Workspace;
use tempfile::TempDir;

use crate::support::bench::bench;
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

const SPY: &str = "+++\nname = \"spy\"\ndescription = \"Looks.\"\ntools = [\"read\"]\nmax_steps = 3\n+++\nYou look.\n";

fn tools() -> (TempDir, Vec<Arc<dyn Tool>>) {
    let dir = TempDir::new().unwrap();
    let pools = Pools::new(Workspace::new(dir.path()).unwrap(), &bench(), &Arc::default(), None).unwrap();
    (dir, pools.all())
}

/// Returns the row of the table that begins with a name, its cells split at two blanks or more.
fn row(table: &str, name: &str) -> Vec<String> {
    let line = table.lines().find(|line| line.split("  ").next() == Some(name));
    let line = line.unwrap_or_else(|| panic!("no row {name} in\n{table}"));
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_bundled_personas_have_budgets_and_tools_of_their_own() {
    let personas = Persona::bundled().unwrap();
    let facts: Vec<(&str, u32, String)> = personas
        .iter()
        .map(|persona| (persona.name.as_str(), persona.max_steps, persona.tool_names.join(" ")))
        .collect();
    assert_eq!(
        facts,
        [
            ("file_miner", 30, "read grep glob".to_owned()),
            ("git_repo_researcher", 40, "git_clone read grep glob".to_owned()),
            ("researcher", 20, "web_search web_scrape fetch".to_owned()),
            ("worker", 60, "read grep glob plan write edit bash job_output job_input job_stop".to_owned()),
        ]
    );
    let temporary = |persona: &&Persona| persona.temp_workspace == TempWorkspace::Yes;
    let temporary: Vec<&str> = personas.iter().filter(temporary).map(|persona| persona.name.as_str()).collect();
    assert_eq!(temporary, ["git_repo_researcher"]);
}

// S10
#[test]
fn no_bundled_persona_holds_private_files_untrusted_content_and_a_way_out() {
    let (_dir, tools) = tools();
    let roster = Roster::bundled().unwrap().usable(&tools, None);
    let reach = |persona: &Persona| {
        let reach = persona.reach(&tools, None);
        (reach.private, reach.untrusted, reach.egress)
    };
    let rows: Vec<_> =
        roster.members().iter().map(|member| (member.persona.name.as_str(), reach(&member.persona))).collect();
    assert_eq!(
        rows,
        [
            ("file_miner", (true, false, false)),
            ("git_repo_researcher", (false, true, true)),
            ("researcher", (false, true, true)),
            // Without a sandbox a command can send what it likes, but nothing that strangers wrote came in.
            ("worker", (true, false, true)),
        ]
    );
    assert_eq!(roster.warnings(), [""; 0]);
}

#[test]
fn the_users_persona_takes_the_place_of_a_bundled_one_and_a_projects_says_so() {
    let mut roster = Roster::bundled().unwrap();
    let mine = SPY.replace("spy", "file_miner");
    roster.add(PersonaSource::User("mine.md".to_owned()), &mine);
    assert_eq!(roster.warnings(), [""; 0]);
    assert_eq!(roster.members().len(), Persona::bundled().unwrap().len());
    assert_eq!(roster.members()[0].persona.system_prompt, "You look.");
    assert_eq!(roster.members()[0].source.whose(), "user");
    roster.add(PersonaSource::Project(".steersman/personas/x.md".to_owned()), &mine.replace("You look.", "You act."));
    assert_eq!(roster.members()[0].persona.system_prompt, "You act.");
    assert_eq!(
        roster.warnings(),
        ["the persona 'file_miner' of this project (.steersman/personas/x.md) replaces the user one"]
    );
    roster.add(PersonaSource::User("again.md".to_owned()), &mine);
    assert!(roster.warnings()[1].contains("again.md is left out: is a second persona named 'file_miner'"));
    let count = roster.warnings().len();
    for copy in ["one.md", "copies/one.md"] {
        roster.add(PersonaSource::User(copy.to_owned()), SPY);
    }
    assert_eq!(roster.warnings().len(), count, "the same text twice is no fault");
}

#[test]
fn a_broken_file_is_named_with_its_fault_and_the_others_count() {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    file("a.md", "no header");
    file("b.md", &SPY.replace("max_steps = 3", "max_stps = 3"));
    file("c.md", &SPY.replace("max_steps = 3", "max_steps = 0"));
    file("d.md", &SPY.replace("\"spy\"", "\"s py\""));
    file("e.md", &SPY.replace("\"spy\"", "\"all\""));
    file("f.md", &"x".repeat(70_000));
    file("g.md", SPY);
    file("h.md", &SPY.replace("spy", "thief").replace("\"read\"", "\"read\", \"steal\""));
    file("notes.txt", "none of ours");
    std::fs::create_dir(dir.path().join("i.md")).unwrap();
    let mut roster = Roster::default();
    roster.add_directory(dir.path());
    let (_dir, tools) = tools();
    let roster = roster.usable(&tools, None);
    let names: Vec<&str> = roster.members().iter().map(|member| member.persona.name.as_str()).collect();
    assert_eq!(names, ["spy"]);
    let faults = [
        ("b.md", "line 5"),
        ("c.md", "max_steps greater than 0"),
        ("d.md", "'s py'"),
        ("e.md", "'all'"),
        ("f.md", "larger than 65536 bytes"),
        ("i.md", "not a regular file"),
        ("a.md", "no agents, since they have no head"),
        ("h.md", "no tool named steal"),
    ];
    assert_eq!(roster.warnings().len(), faults.len(), "{:#?}", roster.warnings());
    for ((file, fault), warning) in faults.iter().zip(roster.warnings()) {
        assert!(warning.contains(file) && warning.contains(fault) && !warning.contains('\n'), "{warning}");
    }
}

#[test]
fn the_table_tells_tools_budget_reach_and_source() {
    let program = Program::new().args(["personas"]).file(".config/steersman/personas/spy.md", SPY);
    let output = program.output();
    assert_eq!((exit_code(&output), stderr(&output)), (0, String::new()));
    let table = stdout(&output);
    assert!(table.starts_with("name "), "{table}");
    assert_eq!(row(&table, "file_miner"), ["file_miner", "bundled", "30", "yes", "no", "no", "read grep glob"]);
    assert_eq!(row(&table, "spy"), ["spy", "user", "3", "yes", "no", "no", "read"]);
    assert_eq!(row(&table, "(main agent)")[1], "300");
}

#[test]
fn a_users_persona_that_holds_everything_is_marked_and_warned_about() {
    let everything = SPY.replace("[\"read\"]", "[\"read\", \"fetch\"]");
    let program = Program::new().args(["personas"]).file(".config/steersman/personas/spy.md", &everything);
    let output = program.output();
    let table = stdout(&output);
    assert_eq!(row(&table, "spy !"), ["spy !", "user", "3", "yes", "yes", "yes", "read fetch"]);
    assert!(table.contains("\n! private files, untrusted content and network access at once: "), "{table}");
    assert!(stderr(&output).contains("the persona 'spy' has private files, untrusted content"), "{}", stderr(&output));
}

#[test]
fn a_users_persona_works_and_a_broken_one_is_no_reason_to_fail() {
    let server = Server::start([
        Reply::calls(&[("c1", "agent", r#"{"name":"spy","task":"look"}"#)]),
        Reply::text("seen"),
        Reply::text("done"),
    ]);
    let program = Program::new().args(["exec", "--base-url", &server.url(), "--model", "m", "go"]);
    let program = program
        .file(".config/steersman/personas/spy.md", SPY)
        .file(".config/steersman/personas/broken.md", "+++\nname = \n+++\n");
    let output = program.output();
    assert_eq!(exit_code(&output), 0);
    let said = stderr(&output);
    let sentences: Vec<&str> = said.lines().filter(|line| line.starts_with("steersman: ")).collect();
    assert!(sentences.len() == 1 && sentences[0].contains("personas/broken.md is left out: "), "{said}");
    let child = &server.chats()[1];
    let (system, frames) = (child.texts("system").concat(), steersman_base::assets::FRAMES.trim_end());
    assert_eq!((system, child.tools()), (format!("You look.\n\n{frames}"), vec!["read".to_owned()]));
}

#[test]
fn the_network_tools_are_the_main_agents_only_when_the_configuration_says_so() {
    for (config, there) in [("", false), ("web.on_main_agent = true", true)] {
        let server = Server::start([Reply::text("ok")]);
        let program = Program::new().args(["exec", "--base-url", &server.url(), "--model", "m", "go"]).config(config);
        assert_eq!(exit_code(&program.output()), 0);
        let tools = server.chats()[0].tools();
        let network = ["web_search", "web_scrape", "fetch", "git_clone"];
        assert_eq!(tools.iter().any(|tool| network.contains(&tool.as_str())), there, "{tools:?}");
        let program = Program::new().args(["personas"]).config(config);
        let table = stdout(&program.output());
        let main = row(&table, "(main agent)");
        assert_eq!(main.last().unwrap().contains("fetch"), there, "{table}");
        assert!(!there || main[4] == "yes", "it can send then: {table}");
    }
}
