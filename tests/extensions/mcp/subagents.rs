//! Sub-agents and servers: what a persona names, and one process for all of them.

use std::sync::Arc;

use steersman_agent::subagent::{Persona, SubAgents, TempWorkspace};
use steersman_base::event::Event;
use steersman_core::provider::Played;
use steersman_core::tool::{ToolScope, ToolSource};
use steersman_extensions::mcp::ServerTools;

use crate::mcp::tools::known;
use crate::support::doubles::Rig;
use crate::support::mcp::Yard;
use crate::support::processes::{alive, wait_until};
use crate::support::subagents::{child, persona, spawns};

const LONG: std::time::Duration = std::time::Duration::from_mins(5);

#[tokio::test]
async fn fifty_sub_agents_with_three_servers_are_three_processes_and_then_none() {
    let Some(yard) = Yard::new("fifty sub-agents") else { return };
    let names = ["one", "two", "three"];
    let definitions: Vec<_> = names.iter().map(|name| yard.server(name, &[])).collect();
    for definition in &definitions {
        known(&yard, definition).await;
    }
    let servers = yard.servers(definitions);
    let rig = Rig::new([]);
    let tasks: Vec<(String, String)> = (0..50).map(|n| (format!("c{n}"), format!("task {n}."))).collect();
    let list: Vec<(&str, &str, &str)> = tasks.iter().map(|(id, task)| (id.as_str(), "worker", task.as_str())).collect();
    rig.model.push(spawns(&list));
    rig.model.push(Played::text("all done"));
    for (_, task) in &tasks {
        let calls = Played::calls(&[
            ("a", "mcp__one__echo", r#"{"text": "1"}"#),
            ("b", "mcp__two__echo", r#"{"text": "2"}"#),
            ("c", "mcp__three__echo", r#"{"text": "3"}"#),
        ]);
        rig.model.route(task, [calls, Played::text("done")]);
    }
    let worker = persona("worker", &["mcp__one", "mcp__two__echo", "mcp__three__*"]);
    let source: Arc<dyn ToolSource> = Arc::clone(&servers) as _;
    let builder = rig.builder().approvals(Arc::clone(&yard.approvals));
    let agents = SubAgents::new(vec![worker]).unwrap().source(Some(source));
    let tools = ServerTools::new(Arc::clone(&servers), ToolScope::Named(Vec::new()));
    let mut agent = rig
        .try_build(builder, |c| {
            c.add_extension(Arc::new(agents))?;
            c.add_extension(Arc::new(tools))
        })
        .await
        .unwrap();
    agent.run_loop("go").await.unwrap();
    let answered = rig.events().into_iter().filter(|event| matches!(event, Event::ToolResult { is_error: false, .. }));
    assert_eq!(answered.count(), 50 * 4);
    // One start to learn of the tools, one for all of them.
    for name in names {
        assert_eq!(yard.starts(name), 2, "{name}");
    }
    agent.close();
    let dir = yard.path("").display().to_string();
    wait_until("nothing is left", LONG, || alive(&dir).is_empty()).await;
}

#[tokio::test]
async fn no_tool_of_a_server_reaches_a_sub_agent_whose_persona_does_not_name_it() {
    let Some(yard) = Yard::new("what a persona names") else { return };
    let definitions = vec![yard.server("one", &[]), yard.server("two", &[])];
    for definition in &definitions {
        known(&yard, definition).await;
    }
    let servers = yard.servers(definitions);
    let source: Arc<dyn ToolSource> = Arc::clone(&servers) as _;
    assert!(source.knows("mcp__one") && source.knows("mcp__one__echo"));
    assert!(!source.knows("mcp__one__none") && !source.knows("mcp__none") && !source.knows("echo"));
    let personas = vec![persona("one", &["mcp__one__echo"]), persona("none", &[]), persona("both", &["mcp__two"])];
    let rig = Rig::new([
        spawns(&[("c1", "one", "a task"), ("c2", "none", "a task"), ("c3", "both", "a task")]),
        Played::text("done"),
    ]);
    for name in ["one", "none", "both"] {
        rig.model.route(&child(name), [Played::text("done")]);
    }
    let builder = rig.builder().approvals(Arc::clone(&yard.approvals)).context_window(100_000);
    let agents = SubAgents::new(personas).unwrap().source(Some(source));
    let tools = ServerTools::new(Arc::clone(&servers), ToolScope::Main);
    let mut agent = rig
        .try_build(builder, |c| {
            c.add_extension(Arc::new(agents))?;
            c.add_extension(Arc::new(tools))
        })
        .await
        .unwrap();
    agent.run_loop("go").await.unwrap();
    let names = |persona: &str| {
        let request = rig.model.requests_of(&child(persona)).remove(0);
        request.tool_names().iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("one"), ["mcp__one__echo"]);
    assert_eq!(names("none"), [] as [&str; 0]);
    let all = names("both");
    assert!(all.len() == 10 && all.iter().all(|name| !name.contains("__one__")), "{all:?}");
    // Resources are of the whole server.
    assert!(all.iter().any(|name| name == "mcp_resource"), "{all:?}");
    let spawned = rig.events().into_iter().find_map(|event| match event {
        Event::AgentSpawned { persona, tools, .. } if persona == "one" => Some(tools),
        _ => None,
    });
    assert_eq!(spawned.unwrap(), ["mcp__one__echo"]);
    assert_eq!((yard.starts("one"), yard.starts("two")), (1, 1));
}

#[tokio::test]
async fn no_tool_that_a_persona_takes_out_reaches_its_sub_agent() {
    let Some(yard) = Yard::new("what a persona takes out") else { return };
    let definitions = vec![yard.server("one", &[]), yard.server("two", &[])];
    for definition in &definitions {
        known(&yard, definition).await;
    }
    let servers = yard.servers(definitions);
    let source: Arc<dyn ToolSource> = Arc::clone(&servers) as _;
    let personas = vec![persona("careful", &["mcp__one", "!mcp__one__die", "mcp__two__echo", "!mcp__two"])];
    let rig = Rig::new([spawns(&[("c1", "careful", "a task")]), Played::text("done")]);
    rig.model.route(&child("careful"), [Played::calls(&[("d", "mcp__one__die", "{}")]), Played::text("done")]);
    let builder = rig.builder().approvals(Arc::clone(&yard.approvals)).context_window(100_000);
    let agents = SubAgents::new(personas).unwrap().source(Some(source));
    let mut agent = rig.try_build(builder, |c| c.add_extension(Arc::new(agents))).await.unwrap();
    agent.run_loop("go").await.unwrap();
    let requests = rig.model.requests_of(&child("careful"));
    let names = requests[0].tool_names();
    assert!(names.contains(&"mcp__one__echo") && names.contains(&"mcp_resource"), "{names:?}");
    assert!(names.iter().all(|name| *name != "mcp__one__die" && !name.starts_with("mcp__two")), "{names:?}");
    let refused = requests[1].lines().pop().unwrap();
    assert!(refused.contains("unknown tool 'mcp__one__die'"), "{refused}");
}

#[tokio::test]
async fn a_persona_with_a_directory_of_its_own_has_a_process_there_which_goes_with_it() {
    let Some(yard) = Yard::new("a process in a directory of its own") else { return };
    let one = yard.server("one", &[]);
    known(&yard, &one).await;
    let servers = yard.servers(vec![one]);
    let source: Arc<dyn ToolSource> = Arc::clone(&servers) as _;
    let apart = Persona { temp_workspace: TempWorkspace::Yes, ..persona("apart", &["mcp__one__echo"]) };
    let echo = || Played::calls(&[("e", "mcp__one__echo", r#"{"text": "x"}"#)]);
    let rig = Rig::new([echo(), spawns(&[("c1", "apart", "a task")]), echo(), Played::text("done")]);
    rig.model.route(&child("apart"), [echo(), Played::text("done")]);
    let builder = rig.builder().approvals(Arc::clone(&yard.approvals)).context_window(100_000);
    let agents = SubAgents::new(vec![apart]).unwrap().source(Some(source));
    let tools = ServerTools::new(Arc::clone(&servers), ToolScope::Main);
    let mut agent = rig
        .try_build(builder, |c| {
            c.add_extension(Arc::new(agents))?;
            c.add_extension(Arc::new(tools))
        })
        .await
        .unwrap();
    agent.run_loop("go").await.unwrap();
    assert_eq!(yard.starts("one"), 3);
    let log = yard.path("one.log").display().to_string();
    // The guard of a job has its command line, too.
    let servers_alive = || alive(&log).iter().filter(|line| !line.contains("__guard")).count();
    wait_until("the child's process is gone", LONG, || servers_alive() == 1).await;
    agent.close();
    wait_until("nothing is left", LONG, || alive(&log).is_empty()).await;
}
