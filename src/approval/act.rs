//! What a tool is about to do, as a value: shown to the user, decided about, and then carried out unchanged.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::protocol::{
    Act, CloneAct, CommandAct, CustomAct, FetchAct, InputAct, SearchAct, ServerToolAct, UseAct, WriteAct,
};

/// A kind of act. Implemented by those kinds only.
pub trait Proposal: Clone + Into<Act> {
    /// Feeds everything that the carrying out depends on.
    fn feed(&self, fields: &mut Fields);
}

/// The fingerprint of an act.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(6).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Takes the fields of an act, each with its length, so that no two acts feed the same bytes.
pub struct Fields(Sha256);

impl Fields {
    fn of(proposal: &impl Proposal) -> Digest {
        let mut fields = Self(Sha256::new());
        proposal.feed(&mut fields);
        Digest(fields.0.finalize().into())
    }

    /// Takes one field.
    pub fn add(&mut self, field: impl AsRef<[u8]>) -> &mut Self {
        let field = field.as_ref();
        self.0.update((field.len() as u64).to_le_bytes());
        self.0.update(field);
        self
    }
}

/// An act that may be carried out. Only [`super::Approvals`] makes one.
#[derive(Debug)]
pub struct Approved<A> {
    act: A,
    digest: Digest,
}

/// Says that an approved act is not what was decided about. A fault of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not done: it is not what was approved")]
pub struct Tampered;

impl<A: Proposal> Approved<A> {
    pub(super) fn new(act: A, digest: Digest) -> Self {
        Self { act, digest }
    }

    /// Gives the act for its carrying out, once, after a last look at its fingerprint.
    ///
    /// # Errors
    /// [`Tampered`] when it is not what was decided about.
    pub fn take(self) -> Result<A, Tampered> {
        if digest(&self.act) == self.digest { Ok(self.act) } else { Err(Tampered) }
    }
}

/// Returns the fingerprint of an act.
pub(super) fn digest(proposal: &impl Proposal) -> Digest {
    Fields::of(proposal)
}

impl Proposal for CommandAct {
    fn feed(&self, fields: &mut Fields) {
        let millis = self.timeout.as_millis().to_le_bytes();
        fields.add("command").add(&self.command).add(self.cwd.as_os_str().as_encoded_bytes()).add(millis);
    }
}

impl Proposal for WriteAct {
    fn feed(&self, fields: &mut Fields) {
        fields.add("write").add(&*self.tool).add(self.path.as_os_str().as_encoded_bytes());
        match &self.before {
            Some(before) => fields.add("before").add(before.bytes()),
            None => fields.add("new"),
        };
        fields.add(self.after.bytes());
    }
}

impl Proposal for FetchAct {
    fn feed(&self, fields: &mut Fields) {
        fields.add("fetch").add(&*self.tool).add(&self.url);
    }
}

impl Proposal for SearchAct {
    fn feed(&self, fields: &mut Fields) {
        fields.add("search").add(&self.query);
        self.services.iter().for_each(|service| {
            fields.add(service);
        });
    }
}

impl Proposal for CloneAct {
    fn feed(&self, fields: &mut Fields) {
        fields.add("clone").add(&self.url).add(self.into.as_os_str().as_encoded_bytes());
    }
}

impl Proposal for UseAct {
    fn feed(&self, fields: &mut Fields) {
        fields.add("use").add(&*self.tool).add(&self.shown);
        self.path.iter().for_each(|path| {
            fields.add(path.as_os_str().as_encoded_bytes());
        });
    }
}

impl Proposal for ServerToolAct {
    fn feed(&self, fields: &mut Fields) {
        fields.add("server tool").add(&self.server).add(&self.reached).add(&self.tool).add(&self.arguments);
    }
}

impl Proposal for InputAct {
    fn feed(&self, fields: &mut Fields) {
        fields.add("input").add(self.job.as_str()).add(&self.command).add(&self.text);
    }
}

impl Proposal for CustomAct {
    fn feed(&self, fields: &mut Fields) {
        let sends = if self.sends { "sends" } else { "" };
        fields.add("custom").add(&self.tool).add(&self.action).add(&self.detail).add(sends);
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;
    use crate::protocol::Content;

    fn act() -> CommandAct {
        CommandAct { command: "ls".to_owned(), cwd: PathBuf::from("/work"), timeout: Duration::from_mins(1) }
    }

    // X7: only this module can make the case.
    #[test]
    fn what_is_not_what_was_approved_is_not_given_back() {
        let other = [
            CommandAct { command: "ls ".to_owned(), ..act() },
            CommandAct { cwd: PathBuf::from("/work/"), ..act() },
            CommandAct { timeout: Duration::from_mins(2), ..act() },
        ];
        for (number, changed) in other.into_iter().enumerate() {
            // To `Path` a slash at the end means nothing; to the fingerprint it does.
            assert_eq!(Approved::new(changed, digest(&act())).take(), Err(Tampered), "{number}");
        }
        assert_eq!(Approved::new(act(), digest(&act())).take(), Ok(act()));
    }

    #[test]
    fn fields_cannot_run_into_each_other() {
        let search = |query: &str, services: &[&str]| {
            let services = services.iter().map(|service| (*service).to_owned()).collect();
            digest(&SearchAct { query: query.to_owned(), services })
        };
        assert_ne!(search("ab", &["c"]), search("a", &["bc"]));
        assert_ne!(search("a", &["b", "c"]), search("a", &["bc"]));
        let write = |before: Option<&[u8]>, after: &[u8]| {
            let (before, after) = (before.map(Content::from), Content::from(after));
            digest(&WriteAct {
                tool: "write".into(),
                path: PathBuf::from("/a"),
                shown: "a".to_owned(),
                before,
                after,
                diff: String::new(),
            })
        };
        assert_ne!(write(None, b"x"), write(Some(b""), b"x"));
        assert_ne!(write(Some(b"x"), b"y"), write(Some(b"y"), b"x"));
    }
}
