//! Whom a text names at its start, and what is left of it.

use steersman_base::id::AgentId;
use steersman_base::target::{Target, parse};

fn known() -> Vec<AgentId> {
    ["", "researcher 0", "researcher 1", "researcher 10", "all 0", "a"].map(AgentId::new).into()
}

fn agent(id: &str) -> Target {
    Target::Agent(AgentId::new(id))
}

/// Reads a text; what it names and what is left.
fn read(text: &str) -> (Target, &str) {
    let addressed = parse(text, &known());
    (addressed.target, addressed.text)
}

#[test]
fn a_known_agent_at_the_very_start_is_named_and_dropped_with_one_blank() {
    assert_eq!(read("@researcher 0 look at it"), (agent("researcher 0"), "look at it"));
    assert_eq!(read("@researcher 0  two blanks"), (agent("researcher 0"), " two blanks"));
    assert_eq!(read("@researcher 0\nnext line"), (agent("researcher 0"), "next line"));
    assert_eq!(read("@all stop at ten"), (Target::All, "stop at ten"));
    assert_eq!(read("@main go on"), (agent(""), "go on"));
}

#[test]
fn the_longest_name_wins() {
    assert_eq!(read("@researcher 10 ten"), (agent("researcher 10"), "ten"));
    assert_eq!(read("@researcher 1 one"), (agent("researcher 1"), "one"));
    assert_eq!(read("@all 0 the agent"), (agent("all 0"), "the agent"));
    assert_eq!(read("@all 1 of them"), (Target::All, "1 of them"));
}

#[test]
fn everything_else_is_a_text_like_any_other() {
    for text in [
        "",
        "@",
        "hello @all",
        " @all with a blank before it",
        "@src/main.rs is the file",
        "@researcher 2 does not run",
        "@researcher",
        "@Researcher 0 is written otherwise",
        "@researcher 0: with a colon",
        "@researcher 0's report",
        "@allow it",
        "@ all apart",
        "@@all twice",
    ] {
        assert_eq!(read(text), (Target::Unnamed, text));
    }
}

#[test]
fn a_name_alone_leaves_a_blank_text_which_no_queue_takes() {
    assert_eq!(read("@researcher 0"), (agent("researcher 0"), ""));
    assert_eq!(read("@all "), (Target::All, ""));
}

#[test]
fn a_text_for_the_main_agent_can_start_with_a_name() {
    assert_eq!(read("@main @all of them"), (agent(""), "@all of them"));
}

#[test]
fn without_children_only_main_and_all_are_known() {
    assert_eq!(parse("@researcher 0 x", &[]).target, Target::Unnamed);
    assert_eq!(parse("@main x", &[]).target, agent(""));
}
