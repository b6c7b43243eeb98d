//! The colours of code that are known, and whether any are being asked for.
//!
//! Filled by `update` with the answers of the worker, read by the drawing, which asks by name and gets nothing until
//! they are known. One question is open at a time, so that what is asked is always what is in view now.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::highlight::{Coloured, Job, Language, LineKey, Resume, Span};
use steersman_base::limits;

/// The colours of lines lately in view.
#[derive(Debug, Default)]
pub struct Colours {
    lines: HashMap<LineKey, ColouredLine>,
    /// In the order in which they came; the oldest are forgotten first.
    order: VecDeque<LineKey>,
    /// The lines behind which it is known where to go on, in the order in which they came.
    ends: VecDeque<LineKey>,
    /// Languages without a grammar that works.
    plain: HashSet<Language>,
    is_asking: bool,
}

#[derive(Debug)]
struct ColouredLine {
    spans: Box<[Span]>,
    resume: Option<Resume>,
}

impl Colours {
    /// Returns the stretches of a line that have a class; `None` until they are known.
    pub fn spans(&self, line: LineKey) -> Option<&[Span]> {
        self.lines.get(&line).map(|known| &*known.spans)
    }

    pub fn is_plain(&self, language: &Language) -> bool {
        self.plain.contains(language)
    }

    /// Returns where to go on behind a line.
    pub fn behind(&self, line: LineKey) -> Option<&Resume> {
        self.lines.get(&line)?.resume.as_ref()
    }

    /// Takes what the last frame would have liked to know; returns what is to be asked now.
    pub(crate) fn want(&mut self, jobs: Vec<Job>) -> Option<Vec<Job>> {
        if self.is_asking || jobs.is_empty() {
            return None;
        }
        self.is_asking = true;
        Some(jobs)
    }

    pub(crate) fn add(&mut self, found: Vec<Coloured>) {
        self.is_asking = false;
        for Coloured { language, lines, resume } in found {
            let last = lines.last().map(|(key, _)| *key);
            for (key, spans) in lines {
                if self.lines.insert(key, ColouredLine { spans: spans.into(), resume: None }).is_none() {
                    self.order.push_back(key);
                }
            }
            match (resume, last.and_then(|key| self.lines.get_mut(&key).map(|known| (key, known)))) {
                (Some(resume), Some((key, known))) => {
                    known.resume = Some(resume);
                    self.ends.push_back(key);
                }
                (Some(_), None) => {}
                (None, _) if self.plain.len() < limits::CODE_PLAIN => {
                    self.plain.insert(language);
                }
                (None, _) => self.plain = HashSet::from([language]),
            }
        }
        while self.ends.len() > limits::CODE_ENDS {
            if let Some(known) = self.ends.pop_front().and_then(|key| self.lines.get_mut(&key)) {
                known.resume = None;
            }
        }
        while self.order.len() > limits::CODE_KNOWN {
            let oldest = self.order.pop_front();
            oldest.and_then(|key| self.lines.remove(&key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::highlight::{Chain, Engine};

    #[test]
    fn what_is_kept_is_bounded_and_the_oldest_goes_first() {
        let mut colours = Colours::default();
        let language = Language::of_label("toml").unwrap();
        let job = |line: &str| {
            let mut chain = Chain::new(language.clone());
            let lines = chain.push(line).map(|key| (key, line.to_owned())).into_iter().collect();
            Job { language: language.clone(), resume: None, lines }
        };
        let answered = Engine::load().run(&job("a = 1"), std::time::Duration::from_mins(1));
        let mut keys = Vec::new();
        for number in 0..limits::CODE_KNOWN + 1_000 {
            let lines: Vec<_> = job(&number.to_string()).lines.iter().map(|(key, _)| (*key, Vec::new())).collect();
            keys.extend(lines.iter().map(|(key, _)| *key));
            colours.add(vec![Coloured { language: language.clone(), lines, resume: answered.resume.clone() }]);
        }
        assert_eq!(colours.lines.len(), limits::CODE_KNOWN);
        assert_eq!(colours.lines.values().filter(|known| known.resume.is_some()).count(), limits::CODE_ENDS);
        let known = |at: usize| keys.get(at).is_some_and(|key| colours.spans(*key).is_some());
        assert!(!known(0) && known(1_000) && known(keys.len() - 1));
        for number in 0..2 * limits::CODE_PLAIN {
            let language = Language::of_label(&format!("l{number}")).unwrap();
            colours.add(vec![Coloured { language, lines: Vec::new(), resume: None }]);
        }
        assert!(colours.plain.len() <= limits::CODE_PLAIN);
    }
}
