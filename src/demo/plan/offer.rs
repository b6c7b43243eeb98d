//! The tools on offer, and the calls that the planner can make with them. A tool that is not there gives no call.

use serde_json::{Map, Value};

use crate::demo::plan::talk::Call;
use crate::demo::wire::{OfferedFunction, ToolOffer};

/// The tools on offer.
#[derive(Debug, Default)]
pub struct Offer {
    tools: Vec<OfferedFunction>,
}

impl Offer {
    /// Takes the tools of a request.
    pub fn of(tools: &[ToolOffer]) -> Self {
        Self { tools: tools.iter().map(|tool| tool.function.clone()).collect() }
    }

    /// Tells whether there are no tools at all.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Tells whether a tool is on offer.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns the names of the tools, in the order of the request.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name.as_str())
    }

    /// Makes a call that lists the paths under the current directory that match a pattern.
    pub fn glob(&self, pattern: &str) -> Option<Call> {
        self.call("glob", &[(&["pattern", "glob"], pattern)])
    }

    /// Makes a call that searches a regular expression, everywhere or under a path.
    pub fn grep(&self, expression: &str, scope: Option<&str>) -> Option<Call> {
        let mut arguments: Vec<(&[&str], &str)> = vec![(&["pattern", "query", "regex"], expression)];
        if scope.is_some() || self.requires("grep", "path") {
            arguments.push((&["path"], scope.unwrap_or(".")));
        }
        self.call("grep", &arguments)
    }

    /// Makes a call that reads a file.
    pub fn read(&self, path: &str) -> Option<Call> {
        self.call("read", &[(&["path", "file_path", "file"], path)])
    }

    /// Makes a call that computes an expression.
    pub fn calculator(&self, expression: &str) -> Option<Call> {
        self.call("calculator", &[(&["expression"], expression)])
    }

    /// Makes a call that searches the web.
    pub fn web_search(&self, query: &str) -> Option<Call> {
        self.call("web_search", &[(&["query"], query)])
    }

    /// Makes a call that opens a page, as text where that is on offer.
    pub fn open_page(&self, address: &str) -> Option<Call> {
        self.call("web_scrape", &[(&["url"], address)]).or_else(|| self.call("fetch", &[(&["url"], address)]))
    }

    /// Makes a call that hands a task to a sub-agent, when that persona is on offer.
    pub fn agent(&self, persona: &str, task: &str) -> Option<Call> {
        let tool = self.find("agent")?;
        let personas = tool.parameters.pointer("/properties/name/enum").and_then(Value::as_array)?;
        let known = personas.iter().any(|name| name.as_str() == Some(persona));
        known.then(|| self.call("agent", &[(&["name"], persona), (&["task"], task)])).flatten()
    }

    fn find(&self, name: &str) -> Option<&OfferedFunction> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    fn requires(&self, name: &str, argument: &str) -> bool {
        let required = self.find(name).and_then(|tool| tool.parameters.get("required")?.as_array());
        required.is_some_and(|names| names.iter().any(|name| name.as_str() == Some(argument)))
    }

    /// Makes a call; of an argument's possible names the first one that the schema knows is used.
    fn call(&self, name: &str, arguments: &[(&[&str], &str)]) -> Option<Call> {
        let properties = self.find(name)?.parameters.get("properties");
        let mut map = Map::new();
        for (names, value) in arguments {
            let known = names.iter().find(|name| properties.is_some_and(|all| all.get(**name).is_some()));
            let argument = known.or_else(|| names.first())?;
            map.insert((*argument).to_owned(), Value::from(*value));
        }
        Some(Call { name: name.to_owned(), arguments: map })
    }
}
