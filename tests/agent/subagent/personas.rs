//! Personas: how they are checked, in a file and in code, and what the parent is told of them.

use std::sync::Arc;

use steersman_agent::subagent::{Persona, SubAgentTool, SubAgents};
use steersman_base::error::BuildError;
use steersman_core::provider::Played;

use super::{child, parent, persona, spawns};
use crate::support::doubles::{PROMPT, Rig, echo, run, tool};

#[tokio::test]
async fn the_parent_is_told_which_agents_there_are_and_the_child_is_not() {
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [Played::text("Gold.")]);
    let agent = parent(&rig, [], vec![persona("miner", &[]), persona("cook", &[])]).await;
    assert_eq!(agent.tools().len(), 0, "the agent tool is not among the tools");
    let agent = run(agent, "Go.").answered().await;
    let prompt = agent.system_prompt();
    assert!(prompt.starts_with(&format!("{PROMPT}\n\n<available_agents>")), "{prompt}");
    assert!(prompt.contains("- `miner` — Good at miner.\n- `cook` — Good at cook.\n</available_agents>"), "{prompt}");
    let schema = &rig.requests()[0].tools[0].parameters;
    assert_eq!(schema["properties"]["name"]["enum"], serde_json::json!(["miner", "cook"]));
    assert!(!rig.model.requests_of(&child("miner"))[0].lines().join("").contains("Good at"));
}

// D20
#[tokio::test]
async fn personas_are_checked_when_the_parent_is_built() {
    let rig = Rig::new([]);
    let twice = SubAgents::new(vec![persona("miner", &[]), persona("miner", &[])]);
    assert!(matches!(twice, Err(BuildError::Argument(message)) if message.contains("miner")));
    for missing in ["fetch", "agent"] {
        let error = rig
            .try_build(rig.builder(), |c| {
                c.add_tool(echo())?;
                c.add_extension(Arc::new(SubAgents::new(vec![persona("miner", &["echo", missing])])?))?;
                // Too late: what counts is what is there when the extension is added.
                c.add_tool(tool("fetch", ""))
            })
            .await
            .unwrap_err();
        assert!(error.to_string().contains(missing), "{error}");
    }
    let agent = parent(&rig, [], Vec::new()).await;
    assert_eq!(agent.system_prompt(), PROMPT, "without personas nothing is said");
}

#[tokio::test]
async fn a_persona_made_in_code_is_checked_as_one_of_a_file_is() {
    let rig = Rig::new([]);
    let agent = rig.agent([]).await;
    let good = persona("miner", &[]);
    for (wrong, what) in [
        (Persona { max_steps: 0, ..good.clone() }, "max_steps"),
        (Persona { name: "main".to_owned(), ..good.clone() }, "'main'"),
        (Persona { name: "all".to_owned(), ..good.clone() }, "'all'"),
        (Persona { name: "two words".to_owned(), ..good.clone() }, "'two words'"),
        (Persona { name: String::new(), ..good.clone() }, "needs a name"),
        (Persona { description: " ".to_owned(), ..good.clone() }, "needs a description"),
        (Persona { system_prompt: "\u{200B}".to_owned(), ..good.clone() }, "needs a prompt"),
    ] {
        let personas = vec![good.clone(), wrong];
        let by_extension = SubAgents::new(personas.clone()).err().expect(what).to_string();
        let by_tool = SubAgentTool::new(&agent, personas).err().expect(what).to_string();
        assert!(by_extension.contains(what), "{by_extension}");
        assert_eq!(by_tool, by_extension);
    }
}

#[tokio::test]
async fn without_personas_there_is_no_agent_tool() {
    let rig = Rig::new([Played::text("Hello.")]);
    let agent = parent(&rig, [], Vec::new()).await;
    run(agent, "Hi.").answered().await;
    assert_eq!(rig.last_request().tools, []);
}

#[test]
fn the_bundled_personas_are_what_the_specification_says() {
    let personas = Persona::bundled().unwrap();
    let miner = personas.iter().find(|persona| persona.name == "file_miner").unwrap();
    assert_eq!((miner.tool_names.join(" "), miner.max_steps), ("read grep glob".to_owned(), 30));
    let researcher = personas.iter().find(|persona| persona.name == "researcher").unwrap();
    assert_eq!((researcher.tool_names.join(" "), researcher.max_steps), ("web_search web_scrape fetch".to_owned(), 20));
    assert_eq!(researcher.missing_tools(&["fetch", "read"]), ["web_search", "web_scrape"]);
}

#[test]
fn a_persona_file_that_is_wrong_says_what_is_wrong() {
    let file = |header: &str, prompt: &str| format!("+++\n{header}\n+++\n{prompt}\n");
    let header = "name = \"a\"\ndescription = \"b\"\ntools = []\nmax_steps = 1";
    assert_eq!(Persona::parse(&file(header, "Be.")).unwrap().system_prompt, "Be.");
    assert_eq!(Persona::parse(&file(header, "Be.").replace('\n', "\r\n")).unwrap().system_prompt, "Be.");
    for (text, what) in [
        ("no header".to_owned(), "TOML header"),
        (file(header, " "), "needs a prompt"),
        (file(&header.replace("\"a\"", "\"\""), "Be."), "needs a name"),
        (file(&header.replace("= 1", "= 0"), "Be."), "max_steps"),
        (file(&format!("{header}\nmore = 1"), "Be."), "invalid header"),
    ] {
        let error = Persona::parse(&text).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[tokio::test]
async fn an_agent_of_a_plugin_is_called_as_texts_for_claude_code_call_it() {
    let rig = Rig::new([
        spawns(&[("c1", "kit:checker", "1"), ("c2", "kit:miner", "2"), ("c3", "kit:other", "3")]),
        Played::text("Done."),
    ]);
    for name in ["kit-checker", "miner"] {
        rig.model.route(&child(name), [Played::text(format!("from {name}"))]);
    }
    let personas = ["checker", "kit-checker", "miner"].map(|name| persona(name, &[]));
    let agent = parent(&rig, [], personas.into()).await;
    run(agent, "Go.").answered().await;
    let lines = rig.last_request().lines();
    // That of the plugin comes before another of the bare name.
    assert_eq!(lines[3..5], ["tool#c1: from kit-checker", "tool#c2: from miner"]);
    assert!(lines[5].starts_with("tool#c3: Error: "), "{}", lines[5]);
}
