//! The file of keys: sections are contexts, names are actions, values are keys. Read over the tables, and written from them.
//!
//! Nothing is taken over in part: a name or key that is none, a key that cannot be, and two actions that want one key are
//! errors that say where.

use std::fmt::Write as _;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Action, Binding, Chord, Context, Keymap};
use steersman_base::text::{distance, visible_line};

const HEAD: &str = "\
# The keys of Steersman, all of them, as they are without this file. Keep what you change and leave out the rest.
# A value is a key, or a list of keys, or [] for none; it takes the place of all that the action had in this section.
# Keys: a character, enter, esc, tab, space, backspace, delete, insert, up, down, left, right, home, end, pageup,
# pagedown, f1 to f24; before them ctrl+, alt+, shift+; \"ctrl+x g\" is Ctrl+X and then g. A section's own keys go before those of [everywhere], whose
# actions may stand in every section.
";

/// What is wrong with a file of keys and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct KeysError {
    pub line: usize,
    pub message: String,
}

/// One entry of the file, understood.
struct Entry {
    context: Context,
    action: Action,
    chords: Vec<Chord>,
    line: usize,
}

impl Keymap {
    /// Reads a file of keys over the usual ones.
    ///
    /// # Errors
    /// [`KeysError`] for the first thing that is wrong.
    pub fn parse(text: &str) -> Result<Self, KeysError> {
        let table = DeTable::parse(text).map_err(|error| KeysError {
            line: line_of(text, error.span().map_or(0, |span| span.start)),
            message: error.message().replace('\n', ", "),
        })?;
        let mut entries = Vec::new();
        for (name, section) in table.get_ref() {
            let fault = |message: String| KeysError { line: line_of(text, name.span().start), message };
            let context = context(name.get_ref()).map_err(fault)?;
            let Some(section) = section.get_ref().as_table() else {
                return Err(fault(format!("{0} must be a section, [{0}]", context.id())));
            };
            for (name, value) in section {
                let line = line_of(text, name.span().start);
                entries
                    .push(entry(context, name.get_ref(), value, line).map_err(|message| KeysError { line, message })?);
            }
        }
        let mut keymap = Self::default();
        for entry in &entries {
            keymap.set(entry.context, entry.action, &entry.chords);
        }
        let is_set = |context, action| entries.iter().any(|entry| (entry.context, entry.action) == (context, action));
        for entry in &entries {
            for chord in &entry.chords {
                keymap.take_spare(entry.context, *chord, |other| is_set(entry.context, other));
            }
        }
        Context::all().find_map(|context| conflict(&keymap, &entries, context)).map_or(Ok(keymap), Err)
    }

    /// Writes the usual keys as a file, with what each action does.
    pub fn write() -> String {
        let mut text = HEAD.to_owned();
        let keymap = Self::default();
        for context in Context::all() {
            let _ = write!(text, "\n[{}]\n", context.id());
            let mut seen: Vec<Action> = Vec::new();
            for row in context.rows() {
                if seen.contains(&row.action) {
                    continue;
                }
                if !row.help.is_empty() {
                    let _ = writeln!(text, "# {}", row.help);
                }
                seen.push(row.action);
                let chords: Vec<String> =
                    keymap.chords(context, row.action).map(|chord| quoted(&chord.file_name())).collect();
                let value = match chords.as_slice() {
                    [one] => one.clone(),
                    several => format!("[{}]", several.join(", ")),
                };
                let _ = writeln!(text, "{} = {value}", row.action.id());
            }
        }
        text
    }
}

fn quoted(key: &str) -> String {
    format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Names that sections and actions had before, and what they are called now.
const OLD_NAMES: [(&str, &str); 3] =
    [("held", "paused"), ("hold-or-go-on", "pause-or-go-on"), ("focus-gate", "focus-paused")];

fn current(name: &str) -> &str {
    OLD_NAMES.iter().find(|(old, _)| *old == name).map_or(name, |(_, current)| current)
}

fn context(name: &str) -> Result<Context, String> {
    let name = current(name);
    Context::all().find(|context| context.id() == name).ok_or_else(|| {
        let known = Context::all().map(Context::id).collect::<Vec<_>>().join(", ");
        format!("there is no section [{}]; the sections are {known}", visible_line(name))
    })
}

fn entry(context: Context, name: &str, value: &Spanned<DeValue<'_>>, line: usize) -> Result<Entry, String> {
    let name = current(name);
    // What holds everywhere can be had by another key in one section.
    let find = |rows: &[Binding]| rows.iter().map(|row| row.action).find(|action| action.id() == name);
    let action = find(context.rows()).or_else(|| find(Context::Global.rows())).ok_or_else(|| {
        let known = context.rows().iter().chain(Context::Global.rows()).map(|row| row.action.id());
        let nearest = known.min_by_key(|known| distance(name, known)).unwrap_or_default();
        format!("[{}] has no action {:?}; the nearest is {nearest:?}", context.id(), visible_line(name))
    })?;
    let names: Vec<&str> = match value.get_ref() {
        DeValue::String(name) => vec![name],
        DeValue::Array(names) => names
            .iter()
            .map(|name| {
                name.get_ref().as_str().ok_or_else(|| format!("{name:?} takes names of keys", name = action.id()))
            })
            .collect::<Result<_, _>>()?,
        _ => return Err(format!("{:?} takes the name of a key, or a list of names", action.id())),
    };
    let mut chords = Vec::new();
    for name in names {
        let chord = Chord::parse(name)?;
        if chord.typed().is_some() && context.takes_text() {
            return Err(format!("{name:?} cannot be a key of [{}]: there it is text", context.id()));
        }
        if !chords.contains(&chord) {
            chords.push(chord);
        }
    }
    Ok(Entry { context, action, chords, line })
}

/// Says which two actions want one key.
fn conflict(keymap: &Keymap, entries: &[Entry], context: Context) -> Option<KeysError> {
    let (chord, one, two) = keymap.conflict(context)?;
    let set = |action: Action| entries.iter().find(|entry| entry.context == context && entry.action == action);
    let line = [set(one), set(two)].into_iter().flatten().map(|entry| entry.line).max().unwrap_or(1);
    let place = |action: Action| match set(action) {
        Some(entry) => format!("{:?} (line {})", action.id(), entry.line),
        None => format!("{:?} (as usual)", action.id()),
    };
    let message = format!("in [{}] {chord} is a key of both {} and {}", context.id(), place(one), place(two));
    Some(KeysError { line, message })
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}
