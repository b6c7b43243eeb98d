//! `steersman personas`: the sub-agents, their tools and budgets, and what each could leak.

use std::sync::Arc;

use unicode_width::UnicodeWidthStr as _;

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, print, say};
use crate::program::cli::load::load;
use crate::program::cli::plugins;
use crate::program::cli::project::{FrontEnd, adopted, trusted_offer, user_agents};
use crate::program::cli::workbench::workbench;
use crate::program::cli::{mcp, no_threads, runtime};
use steersman_agent::subagent::{EVERYTHING, Roster};
use steersman_core::approval::Answerer;
use steersman_core::tool::{Tool, ToolSource, Traits};
use steersman_extensions::skill::SkillLibrary;
use steersman_session::host::Pools;
use steersman_tools::workspace::Workspace;

pub(super) fn run(flags: &Flags) -> Exit {
    Exit::from_result(list(flags), Exit::Usage)
}

fn list(flags: &Flags) -> Result<Exit, String> {
    let mut start = load(flags, FrontEnd::Exec, Answerer::Nobody).map_err(|error| error.to_string())?;
    let workspace = Workspace::new(&start.cwd).map_err(|error| format!("cannot work here: {error}"))?;
    let mut warnings = start.places.notes.clone();
    warnings.extend(start.left_out.iter().cloned());
    let runtime = runtime().map_err(|error| no_threads(&error))?;
    // Network access of commands depends on the sandbox.
    let bench = runtime.block_on(workbench(&start.config, &start.places, &start.cwd, &mut warnings));
    let bench = bench.map_err(|error| error.to_string())?;
    let pools = Pools::new(workspace, &bench, &Arc::default(), None).map_err(|error| error.to_string())?;
    let mut roster = Roster::bundled().map_err(|error| error.to_string())?;
    user_agents(&start, &mut roster);
    if let Some(offer) = trusted_offer(&start.places, None, &mut warnings) {
        start.adopt(&offer);
        adopted(&offer, &mut roster, &mut SkillLibrary::default());
    }
    for plugin in plugins::trusted_plugins(&start.places, &start.cwd.clone(), &mut warnings) {
        start.adopt(&plugin);
        adopted(&plugin, &mut roster, &mut SkillLibrary::default());
    }
    let tools = pools.all();
    let setup = mcp::setup(&start, &mut warnings);
    let servers = setup.make(Arc::clone(&bench.spawner), Arc::default(), start.cwd.clone(), None);
    let foreign: Option<&dyn ToolSource> = Some(servers.as_ref());
    let roster = roster.usable(&tools, foreign);
    warnings.extend(roster.warnings().iter().cloned());

    let mut rows =
        vec![["name", "source", "calls", "private files", "untrusted content", "egress", "tools"].map(str::to_owned)];
    rows.push(row("(main agent)", "", start.config.max_steps, reach(&pools.main), &names(&pools.main)));
    for member in roster.members() {
        let persona = &member.persona;
        let reach = persona.reach(&tools, foreign);
        let mark = if reach.is_everything() { " !" } else { "" };
        let name = format!("{}{mark}", persona.name);
        rows.push(row(&name, member.source.whose(), persona.max_steps, reach, &persona.tool_names.join(" ")));
    }
    let mut text = aligned(&rows);
    if roster.members().iter().any(|member| member.persona.reach(&tools, foreign).is_everything()) {
        text = format!("{text}\n! {EVERYTHING}\n");
    }
    print(&text);
    for warning in &warnings {
        say(warning);
    }
    Ok(Exit::Done)
}

fn reach(tools: &[Arc<dyn Tool>]) -> Traits {
    tools.iter().map(|tool| tool.spec().traits).fold(Traits::NONE, Traits::and)
}

fn names(tools: &[Arc<dyn Tool>]) -> String {
    tools.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(" ")
}

fn row(name: &str, source: &str, calls: u32, reach: Traits, tools: &str) -> [String; 7] {
    let word = |holds: bool| if holds { "yes" } else { "no" }.to_owned();
    let [private, untrusted, egress] = [reach.private, reach.untrusted, reach.egress].map(word);
    [name.to_owned(), source.to_owned(), calls.to_string(), private, untrusted, egress, tools.to_owned()]
}

/// Writes rows in aligned columns.
fn aligned(rows: &[[String; 7]]) -> String {
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let gap = width(column).unwrap_or_default().saturating_sub(cell.width()) + 2;
            line.push_str(cell);
            line.push_str(&" ".repeat(gap));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
