//! The keys in force: the tables, changed by a file of keys. Keys are looked up here, and texts get their names here.
//!
//! Always holds: within one context no key has two meanings, and no plain character has one where text is typed.

use std::borrow::Cow;

use super::chord::{PREFIX, PREFIX_NAME};
use super::{Action, Binding, Chord, Context};

/// Which key does what in each context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    /// In the order of [`Context::all`].
    tables: Vec<Vec<(Chord, Action)>>,
    is_changed: bool,
}

impl Default for Keymap {
    fn default() -> Self {
        let table = |context: Context| context.rows().iter().map(|row| (row.chord, row.action)).collect();
        Self { tables: Context::all().map(table).collect(), is_changed: false }
    }
}

impl Keymap {
    /// Finds the action of a key: the context's own binding, else the global one.
    pub fn lookup(&self, context: Context, chord: Chord) -> Option<Action> {
        self.own(context, chord).or_else(|| self.own(Context::Global, chord))
    }

    /// Tells whether a key is the first of two: Ctrl+X, where a file of keys gives it no meaning of its own.
    pub fn is_prefix(&self, context: Context, chord: Chord) -> bool {
        let begins = |context| self.table(context).iter().any(|(chord, _)| chord.is_prefixed);
        chord == PREFIX && self.lookup(context, chord).is_none() && (begins(context) || begins(Context::Global))
    }

    /// Tells whether a file has changed anything.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Returns the keys that do something in a context by its own table, the foremost first.
    pub fn chords(&self, context: Context, action: Action) -> impl Iterator<Item = Chord> {
        self.table(context).iter().filter(move |(_, does)| *does == action).map(|(chord, _)| *chord)
    }

    /// Takes these keys for an action in a context, instead of those that it had there.
    pub(super) fn set(&mut self, context: Context, action: Action, chords: &[Chord]) {
        if self.chords(context, action).eq(chords.iter().copied()) {
            return;
        }
        let Some(table) = self.tables.get_mut(context.index()) else { return };
        let place = table.iter().position(|(_, does)| *does == action).unwrap_or(table.len());
        table.retain(|(_, does)| *does != action);
        let place = place.min(table.len());
        table.splice(place..place, chords.iter().map(|chord| (*chord, action)));
        self.is_changed = self.tables != Self::default().tables;
    }

    /// Takes a key away from the actions of a context that nobody has set and that have another one besides; two keys that
    /// only stand in for one do not count.
    pub(super) fn take_spare(&mut self, context: Context, chord: Chord, is_set: impl Fn(Action) -> bool) {
        let is_another = |other: &Chord| *other != chord && !other.is_prefixed;
        let has_another = |action: Action| self.chords(context, action).any(|other| is_another(&other));
        let spare: Vec<Action> = self.table(context).iter().map(|(_, action)| *action).collect();
        let spare: Vec<Action> = spare.into_iter().filter(|action| !is_set(*action) && has_another(*action)).collect();
        if let Some(table) = self.tables.get_mut(context.index()) {
            table.retain(|(key, action)| *key != chord || !spare.contains(action));
        }
    }

    /// Returns the first two actions of a context that want the same key.
    pub(super) fn conflict(&self, context: Context) -> Option<(Chord, Action, Action)> {
        let table = self.table(context);
        table.iter().enumerate().find_map(|(at, (chord, action))| {
            let other = table.iter().skip(at + 1).find(|(other, _)| other == chord)?;
            (other.1 != *action).then_some((*chord, *action, other.1))
        })
    }

    /// Returns the name in help of a row and of those behind it that it speaks for; `None` when no key is left.
    pub fn row_name(&self, context: Context, rows: &[Binding]) -> Option<Cow<'static, str>> {
        let first = rows.first()?;
        let untouched = |row: &Binding| self.own(context, row.chord) == Some(row.action);
        let defaults = Self::default();
        let mut actions: Vec<Action> = Vec::new();
        let is_meant = |row: &&Binding| row.action == first.action || speaks_for(first.name, row.chord);
        for row in rows.iter().filter(is_meant) {
            if !actions.contains(&row.action) {
                actions.push(row.action);
            }
        }
        let is_same = |action: &Action| self.chords(context, *action).eq(defaults.chords(context, *action));
        if actions.iter().all(is_same) && rows.iter().all(untouched) {
            let chords = actions.iter().flat_map(|action| self.chords(context, *action));
            return Some(with_seconds(first.name, chords));
        }
        let names: Vec<String> =
            actions.iter().flat_map(|action| self.chords(context, *action)).map(|chord| chord.to_string()).collect();
        (!names.is_empty()).then(|| Cow::Owned(names.join("  ")))
    }

    /// Puts the keys in force into a text that names the usual ones: `F5 now · Esc: back`. Nothing changes as long as no
    /// file has changed a key.
    pub fn spell<'a>(&self, context: Context, text: &'a str) -> Cow<'a, str> {
        if !self.is_changed {
            return Cow::Borrowed(text);
        }
        let mut spelled = String::new();
        for (number, segment) in text.split('·').enumerate() {
            if number > 0 {
                spelled.push('·');
            }
            let mut opens = true;
            for piece in segment.split_inclusive(|c: char| c.is_whitespace() || "/:;,()".contains(c)) {
                let word = piece.trim_end_matches(|c: char| c.is_whitespace() || "/:;,()".contains(c));
                let behind = piece.get(word.len()..).unwrap_or_default();
                // A stroke alone is the key itself.
                let (word, behind) = if word.is_empty() && piece == "/" { (piece, "") } else { (word, behind) };
                match self.now(context, word).filter(|_| opens || word.chars().count() > 1) {
                    Some(name) => spelled.push_str(&name),
                    None => spelled.push_str(word),
                }
                spelled.push_str(behind);
                // A letter alone is a key where a hint begins, and behind a stroke there.
                opens = opens && (word.is_empty() || behind == "/");
            }
        }
        Cow::Owned(spelled)
    }

    /// Adds to the name of a key, as a text names it, the two keys that do the same: `F4, Ctrl+X 4`.
    pub fn with_stand_in<'a>(&self, context: Context, key: &'a str) -> Cow<'a, str> {
        let stand_in = || {
            let chord = Chord::parse(key).ok()?;
            chord.stand_in()?;
            let action = self.lookup(context, chord)?;
            let mut own = self.chords(context, action).chain(self.chords(Context::Global, action));
            own.find(|chord| chord.is_prefixed)
        };
        stand_in().map_or(Cow::Borrowed(key), |stand_in| Cow::Owned(format!("{key}, {stand_in}")))
    }

    /// Returns what a usual key's name is to be replaced by; `None` when it is no such name, or the key does it still.
    fn now(&self, context: Context, word: &str) -> Option<String> {
        let chord = Chord::parse(word).ok()?;
        // Names in a text are written as names are; `a` and `up` are words.
        if chord.to_string() != word {
            return None;
        }
        let defaults = Self::default();
        let own =
            [context, Context::Composer].into_iter().find(|&context| defaults.lookup(context, chord).is_some())?;
        let action = defaults.lookup(own, chord)?;
        if self.lookup(own, chord) == Some(action) {
            return None;
        }
        let chord = self.chords(own, action).chain(self.chords(Context::Global, action)).next();
        Some(chord.map_or_else(|| "(no key)".to_owned(), |chord| chord.to_string()))
    }

    fn own(&self, context: Context, chord: Chord) -> Option<Action> {
        self.table(context).iter().find(|(key, _)| *key == chord).map(|(_, action)| *action)
    }

    fn table(&self, context: Context) -> &[(Chord, Action)] {
        self.tables.get(context.index()).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Adds to a name in help those of two keys that it does not name: `Alt+B/F  Ctrl+X B/F`.
fn with_seconds(name: &'static str, chords: impl Iterator<Item = Chord>) -> Cow<'static, str> {
    let prefixed = chords.filter(|chord| chord.is_prefixed).map(|chord| chord.to_string());
    let seconds: Vec<String> = prefixed
        .filter(|chord| !name.contains(chord.as_str()))
        .filter_map(|chord| chord.strip_prefix(PREFIX_NAME).map(str::to_owned))
        .collect();
    if seconds.is_empty() {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("{name}  {PREFIX_NAME}{}", seconds.join("/")))
}

/// Tells whether a name in help means this key too: `Home  End  Ctrl+A`, `K/J`.
fn speaks_for(name: &str, chord: Chord) -> bool {
    let key = chord.to_string();
    let key = key.rsplit_once('+').map_or(key.as_str(), |(_, key)| key);
    let arrows = name == "Arrows" && ["Left", "Right", "Up", "Down"].contains(&key);
    arrows || name.split(|c: char| c.is_whitespace() || "/+".contains(c)).any(|part| part == key)
}
