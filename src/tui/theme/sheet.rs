//! A theme's file: TOML in which each key is a style in words, and `base` names the theme that says the rest.
//!
//! Called by `themes`. An error names the file, the line and the key.

use toml::de::{DeTable, DeValue};

use super::style::ThemeStyle;
use super::{Syntax, Theme};
use steersman_base::text::distance;

/// The key that names the theme beneath.
const BASE: &str = "base";
/// The section of the styles of code.
const SYNTAX: &str = "syntax";

/// A file that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sheet {
    /// The theme beneath, with the line that names it.
    pub base: Option<(String, usize)>,
    /// What it says itself, by the keys of [`Theme::styles`].
    pub styles: Vec<(String, ThemeStyle)>,
}

impl Sheet {
    /// Reads a file; `place` names it in errors.
    ///
    /// # Errors
    /// A sentence about the first fault.
    pub(super) fn parse(place: &str, text: &str) -> Result<Self, String> {
        let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
        let table = DeTable::parse(text).map_err(|error| {
            let at = line(error.span().map_or(0, |span| span.start));
            format!("{place}, line {at}: {}", error.message().replace('\n', ", "))
        })?;
        let mut sheet = Self::default();
        let mut faults = Vec::new();
        for (key, value) in table.get_ref() {
            let (name, at) = (key.get_ref().as_ref(), line(key.span().start));
            match (name, value.get_ref()) {
                (SYNTAX, DeValue::Table(code)) => {
                    for (key, value) in code {
                        let at = line(key.span().start);
                        sheet
                            .set_value(SYNTAX, key.get_ref(), value.get_ref())
                            .unwrap_or_else(|why| faults.push((at, why)));
                    }
                }
                (BASE, value) => match value.as_str() {
                    Some(base) => sheet.base = Some((base.to_owned(), at)),
                    None => faults.push((at, "base must be a theme's name in quotes".to_owned())),
                },
                (name, value) => sheet.set_value("", name, value).unwrap_or_else(|why| faults.push((at, why))),
            }
        }
        match faults.into_iter().min() {
            Some((at, why)) => Err(format!("{place}, line {at}: {why}")),
            None => Ok(sheet),
        }
    }

    fn set_value(&mut self, section: &str, key: &str, value: &DeValue<'_>) -> Result<(), String> {
        let (whole, known) =
            if section.is_empty() { (key.to_owned(), Theme::KEYS) } else { (format!("{section}.{key}"), Syntax::KEYS) };
        if Theme::default().style_of(&whole).is_none() {
            let nearest = known.iter().min_by_key(|known| distance(key, known)).copied().unwrap_or_default();
            let nearest = nearest.trim_end_matches('_');
            return Err(format!("unknown key {whole:?}; the nearest known key is {nearest:?}"));
        }
        let words = value.as_str().ok_or_else(|| format!("{whole} must be a style in quotes"))?;
        let style = ThemeStyle::parse(words).map_err(|why| format!("{whole}: {why}"))?;
        self.styles.push((whole, style));
        Ok(())
    }
}
