//! What a tool is about to do, as a value: shown to the user, decided about, and then carried out unchanged.

use std::borrow::Cow;

use steersman_base::protocol::{
    Act, CloneAct, CommandAct, CustomAct, FetchAct, InputAct, SearchAct, ServerToolAct, UseAct, WriteAct,
};

/// A kind of act. Implemented by those kinds only.
pub trait Proposal: Clone + Into<Act> {
    /// Adds everything that the carrying out depends on.
    fn add_fields<'a>(&'a self, fields: &mut Fields<'a>);
}

/// The fields of an act on which its carrying out depends, byte for byte: to `Path`, `/work` and `/work/` are the same.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fields<'a>(Vec<Cow<'a, [u8]>>);

impl<'a> Fields<'a> {
    fn of(proposal: &'a impl Proposal) -> Self {
        let mut fields = Self::default();
        proposal.add_fields(&mut fields);
        fields
    }

    /// Takes one field.
    pub fn add(&mut self, field: &'a (impl AsRef<[u8]> + ?Sized)) -> &mut Self {
        self.0.push(Cow::Borrowed(field.as_ref()));
        self
    }

    /// Takes a number.
    pub fn number(&mut self, number: u128) -> &mut Self {
        self.0.push(Cow::Owned(number.to_le_bytes().to_vec()));
        self
    }
}

/// An act that may be carried out. Only [`super::Approvals`] makes one.
#[derive(Debug)]
pub struct Approved<A> {
    act: A,
    /// What was decided about.
    decided: A,
}

/// Says that an approved act is not what was decided about. A fault of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not done: it is not what was approved")]
pub struct Tampered;

impl<A: Proposal> Approved<A> {
    pub(super) fn new(act: A, decided: A) -> Self {
        Self { act, decided }
    }

    /// Gives the act for its carrying out, once, after a last look at what was decided about.
    ///
    /// # Errors
    /// [`Tampered`] when it is not what was decided about.
    pub fn take(self) -> Result<A, Tampered> {
        if Fields::of(&self.act) == Fields::of(&self.decided) { Ok(self.act) } else { Err(Tampered) }
    }
}

impl Proposal for CommandAct {
    fn add_fields<'a>(&'a self, fields: &mut Fields<'a>) {
        let cwd = self.cwd.as_os_str().as_encoded_bytes();
        fields.add("command").add(&self.command).add(cwd).number(self.timeout.as_millis()).number(self.outside.into());
    }
}

impl Proposal for WriteAct {
    fn add_fields<'a>(&'a self, fields: &mut Fields<'a>) {
        fields.add("write").add(&*self.tool).add(self.path.as_os_str().as_encoded_bytes());
        match &self.before {
            Some(before) => fields.add("before").add(before.bytes()),
            None => fields.add("new"),
        };
        fields.add(self.after.bytes());
    }
}

impl Proposal for FetchAct {
    fn add_fields<'a>(&'a self, fields: &mut Fields<'a>) {
        fields.add("fetch").add(&*self.tool).add(&self.url);
    }
}

impl Proposal for SearchAct {
    fn add_fields<'a>(&'a self, fields: &mut Fields<'a>) {
        fields.add("search").add(&self.query);
        self.services.iter().for_each(|service| {
            fields.add(service);
        });
    }
}

impl Proposal for CloneAct {
    fn add_fields<'a>(&'a self, fields: &mut Fields<'a>) {
        fields.add("clone").add(&self.url).add(self.into.as_os_str().as_encoded_bytes());
    }
}

impl Proposal for UseAct {
    fn add_fields<'a>(&'a self, fields: &mut Fields<'a>) {
        fields.add("use").add(&*self.tool).add(&self.shown);
        self.path.iter().for_each(|path| {
            fields.add(path.as_os_str().as_encoded_bytes());
        });
    }
}

impl Proposal for ServerToolAct {
    fn add_fields<'a>(&'a self, fields: &mut Fields<'a>) {
        fields.add("server tool").add(&self.server).add(&self.reached).add(&self.tool).add(&self.arguments);
    }
}

impl Proposal for InputAct {
    fn add_fields<'a>(&'a self, fields: &mut Fields<'a>) {
        fields.add("input").add(self.job.as_str()).add(&self.command).add(&self.text);
    }
}

impl Proposal for CustomAct {
    fn add_fields<'a>(&'a self, fields: &mut Fields<'a>) {
        let sends = if self.sends { "sends" } else { "" };
        fields.add("custom").add(&self.tool).add(&self.action).add(&self.detail).add(sends);
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;
    use steersman_base::protocol::Content;

    fn act() -> CommandAct {
        CommandAct {
            command: "ls".to_owned(),
            cwd: PathBuf::from("/work"),
            timeout: Duration::from_mins(1),
            outside: false,
        }
    }

    // X7: only this module can make the case.
    #[test]
    fn what_is_not_what_was_approved_is_not_given_back() {
        let other = [
            CommandAct { command: "ls ".to_owned(), ..act() },
            CommandAct { cwd: PathBuf::from("/work/"), ..act() },
            CommandAct { timeout: Duration::from_mins(2), ..act() },
            CommandAct { outside: true, ..act() },
        ];
        for (number, changed) in other.into_iter().enumerate() {
            // To `Path` a slash at the end means nothing; here it does.
            assert_eq!(Approved::new(changed, act()).take(), Err(Tampered), "{number}");
        }
        assert_eq!(Approved::new(act(), act()).take(), Ok(act()));
    }

    #[test]
    fn fields_cannot_run_into_each_other() {
        let search = |query: &str, services: &[&str]| {
            let services = services.iter().map(|service| (*service).to_owned()).collect();
            SearchAct { query: query.to_owned(), services }
        };
        let differ = |one, other| assert_ne!(Fields::of(&one), Fields::of(&other));
        differ(search("ab", &["c"]), search("a", &["bc"]));
        differ(search("a", &["b", "c"]), search("a", &["bc"]));
        let write = |before: Option<&[u8]>, after: &[u8]| {
            let (before, after) = (before.map(Content::from), Content::from(after));
            WriteAct {
                tool: "write".into(),
                path: PathBuf::from("/a"),
                shown: "a".to_owned(),
                before,
                after,
                diff: String::new(),
            }
        };
        let differ = |one, other| assert_ne!(Fields::of(&one), Fields::of(&other));
        differ(write(None, b"x"), write(Some(b""), b"x"));
        differ(write(Some(b"x"), b"y"), write(Some(b"y"), b"x"));
    }
}
