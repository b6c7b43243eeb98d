//! The grammars: reads lines of code and says what their stretches are.
//!
//! Owned by the thread of `worker`, and by tests. A grammar that breaks or takes too long is given up: its code is plain
//! from then on. Work stops at the end of a line when its time is over.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use syntect::parsing::{ParseState, ScopeStack, SyntaxSet};

use crate::classes::Classes;
use crate::{Coloured, Job, Language, Resume, Span};
use steersman_base::limits;

/// What a grammar knows behind a line.
#[derive(Debug, Clone)]
pub struct GrammarState {
    parser: ParseState,
    scopes: ScopeStack,
    /// Time that the block took up to here.
    spent: Duration,
}

/// The grammars.
pub struct Engine {
    grammars: SyntaxSet,
    classes: Classes,
    given_up: HashSet<Language>,
}

impl Engine {
    /// Loads the grammars, without getting any ready: that is done when one is first used.
    pub fn load() -> Self {
        Self { grammars: two_face::syntax::extra_newlines(), classes: Classes::new(), given_up: HashSet::new() }
    }

    /// Reads the lines of a job until the time is over, one line at least.
    pub fn run(&mut self, job: &Job, time: Duration) -> Coloured {
        let language = job.language.clone();
        let state = match &job.resume {
            _ if self.given_up.contains(&language) => None,
            Some(resume) => Some(resume.state().clone()),
            None => self.begin(&language),
        };
        let mut lines = Vec::new();
        let Some(mut state) = state else {
            return Coloured { language, lines, resume: None };
        };
        let begun = Instant::now();
        for (key, line) in &job.lines {
            let since = Instant::now();
            let read = catch_unwind(AssertUnwindSafe(|| self.line(&mut state, line)));
            let took = since.elapsed();
            state.spent += took;
            let is_slow = took > limits::CODE_LINE_TIME || state.spent > limits::CODE_BLOCK_TIME;
            let Some(spans) = read.ok().flatten().filter(|_| !is_slow) else {
                tracing::warn!(language = job.language.token(), ?took, "code stays plain: its grammar failed");
                self.given_up.insert(language.clone());
                return Coloured { language, lines, resume: None };
            };
            lines.push((*key, spans));
            if begun.elapsed() > time {
                break;
            }
        }
        Coloured { language, lines, resume: Some(Resume::new(state)) }
    }

    pub fn knows(&self, language: &Language) -> bool {
        self.grammars.find_syntax_by_token(language.token()).is_some()
    }

    fn begin(&self, language: &Language) -> Option<GrammarState> {
        let grammar = self.grammars.find_syntax_by_token(language.token())?;
        let parser = catch_unwind(AssertUnwindSafe(|| ParseState::new(grammar))).ok()?;
        Some(GrammarState { parser, scopes: ScopeStack::new(), spent: Duration::ZERO })
    }

    /// Reads one line; `None` when the grammar is at fault.
    fn line(&self, state: &mut GrammarState, line: &str) -> Option<Vec<Span>> {
        // Such a line is data rather than code, and the grammars read it slowly.
        if line.len() > limits::CODE_LINE_BYTES {
            return Some(Vec::new());
        }
        let changes = state.parser.parse_line(&format!("{line}\n"), &self.grammars).ok()?;
        let mut spans: Vec<Span> = Vec::new();
        let mut start = 0;
        let mut push = |start: usize, end: usize, scopes: &ScopeStack| {
            let end = end.min(line.len());
            let Some(class) = (start < end).then(|| self.classes.class_of(scopes)).flatten() else { return };
            let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) else { return };
            match spans.last_mut() {
                Some(last) if last.class == class && last.end == start => last.end = end,
                _ => spans.push(Span { start, end, class }),
            }
        };
        for (at, change) in changes {
            push(start, at, &state.scopes);
            start = start.max(at);
            state.scopes.apply(&change).ok()?;
        }
        push(start, line.len(), &state.scopes);
        Some(spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chain;

    const TIME: Duration = Duration::from_mins(1);

    fn job(label: &str, resume: Option<Resume>) -> Job {
        let language = Language::of_label(label).unwrap();
        let mut chain = Chain::new(language.clone());
        Job { language, resume, lines: vec![(chain.push("a: b").unwrap(), "a: b".to_owned())] }
    }

    #[test]
    fn a_grammar_that_takes_too_long_is_given_up_and_no_other() {
        let mut engine = Engine::load();
        let begun = engine.run(&job("yaml", None), TIME).resume.unwrap();
        let spent = GrammarState { spent: limits::CODE_BLOCK_TIME, ..begun.state().clone() };
        let late = engine.run(&job("yaml", Some(Resume::new(spent))), TIME);
        assert!(late.lines.is_empty() && late.resume.is_none());
        let again = engine.run(&job("yaml", None), TIME);
        assert!(again.lines.is_empty() && again.resume.is_none(), "plain from then on");
        assert!(engine.run(&job("toml", None), TIME).resume.is_some());
    }

    #[test]
    fn a_grammar_that_panics_is_given_up() {
        let mut engine = Engine::load();
        let foreign = engine.run(&job("yaml", None), TIME).resume;
        // Its states lead to places that no grammars have.
        engine.grammars = SyntaxSet::new();
        let broken = engine.run(&job("yaml", foreign), TIME);
        assert!(broken.lines.is_empty() && broken.resume.is_none());
        assert!(engine.given_up.contains(&broken.language));
    }
}
