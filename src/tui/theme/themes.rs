//! The themes that there are: the built-in ones and those of the user, and which of them is active.
//!
//! Files are read where the program starts and given here as texts; a text is read once its theme is wanted, so that a
//! broken file says so when it is chosen and harms nobody else.

use super::Theme;
use super::depth::{Background, Depth};
use super::sheet::Sheet;
use super::style::ThemeStyle;
use steersman_base::assets;

/// The name that stands for the theme that fits the terminal's background.
pub const AUTO: &str = "auto";
/// What a user's theme is based on when it does not say it.
const USUAL_BASE: &str = "dark";

/// The themes by name, and the name of the one that is active.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Themes {
    users: Vec<NamedTheme>,
    depth: Depth,
    background: Background,
    name: String,
}

/// A theme that was not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NamedTheme {
    name: String,
    /// Where it stands, for errors.
    place: String,
    /// Its text, or why that cannot be read.
    text: Result<String, String>,
}

impl Default for Themes {
    /// Wears `dark` in sixteen colours.
    fn default() -> Self {
        Self { name: USUAL_BASE.to_owned(), ..Self::new(Depth::Sixteen, Background::Unknown) }
    }
}

impl Themes {
    /// Makes the built-in themes for what a terminal shows; `auto` is active.
    pub fn new(depth: Depth, background: Background) -> Self {
        Self { users: Vec::new(), depth, background, name: AUTO.to_owned() }
    }

    /// Adds a theme of the user, which goes before a built-in one of the same name; `place` names its file. One whose text
    /// could not be read has that fault.
    pub fn add(&mut self, name: &str, place: &str, text: Result<String, String>) {
        self.users.push(NamedTheme { name: name.to_owned(), place: place.to_owned(), text });
    }

    /// Returns the name of the theme that is active; may be [`AUTO`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the names of all themes, the built-in ones first.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = assets::THEMES.iter().map(|(name, _)| *name).collect();
        for user in &self.users {
            if !names.contains(&user.name.as_str()) {
                names.push(&user.name);
            }
        }
        names
    }

    /// Makes this theme the active one; returns its styles.
    ///
    /// # Errors
    /// A sentence when there is none of that name, or its file has a fault; what was active stays.
    pub fn activate(&mut self, name: &str) -> Result<Theme, String> {
        let theme = self.theme(name)?;
        name.clone_into(&mut self.name);
        Ok(theme)
    }

    pub fn active(&self) -> Theme {
        self.theme(&self.name).unwrap_or_default()
    }

    /// Tells whether the terminal's background decides how the active theme looks, and is not known.
    pub fn wants_ground(&self) -> bool {
        self.name == AUTO && self.background == Background::Unknown && self.depth != Depth::None
    }

    /// Takes over what the terminal says of its background; returns the styles when it decides about them.
    pub fn set_background(&mut self, background: Background) -> Option<Theme> {
        self.background = background;
        (self.name == AUTO).then(|| self.active())
    }

    /// Returns the name behind the one that is active, the first behind the last; themes with a fault are passed over.
    pub fn next(&self) -> String {
        let names = self.names();
        let active = if self.name == AUTO { self.fitting().0 } else { self.name.as_str() };
        let at = names.iter().position(|name| *name == active).map_or(0, |at| at + 1);
        let mut around = names.iter().cycle().skip(at).take(names.len());
        around.find(|name| self.theme(name).is_ok()).map_or_else(|| self.name.clone(), |name| (*name).to_owned())
    }

    /// Returns the styles of a theme.
    ///
    /// # Errors
    /// A sentence when there is none of that name, or its file has a fault.
    pub fn theme(&self, name: &str) -> Result<Theme, String> {
        let (name, depth) = if name == AUTO { self.fitting() } else { (name, self.depth) };
        let mut theme = Theme::default();
        for (key, said) in self.styles(name, &mut Vec::new())? {
            if let Some(style) = theme.style_of(&key) {
                *style = said.at(depth);
            }
        }
        Ok(theme)
    }

    /// Returns the theme that fits the background. One that is not known may be light: then the terminal's own sixteen
    /// colours are kept to, which its user can read.
    fn fitting(&self) -> (&'static str, Depth) {
        match self.background {
            Background::Dark => ("dark", self.depth),
            Background::Light => ("light", self.depth),
            Background::Unknown => ("dark", self.depth.min(Depth::Sixteen)),
        }
    }

    /// Returns what a theme says, that of the themes beneath it first.
    fn styles(&self, name: &str, above: &mut Vec<String>) -> Result<Vec<(String, ThemeStyle)>, String> {
        // A theme of the user may be based on the built-in one of its own name.
        let is_own_base = above.last().is_some_and(|above| above == name);
        let user = self.users.iter().rev().find(|user| user.name == name && !is_own_base);
        if let Some(user) = user {
            if above.iter().any(|above| above == name) {
                return Err(format!("{}: {name} is based on itself, by way of {}", user.place, above.join(", ")));
            }
            let text = user.text.as_ref().map_err(|fault| format!("cannot read {}: {fault}", user.place))?;
            let sheet = Sheet::parse(&user.place, text)?;
            let (base, line) = sheet.base.unwrap_or((USUAL_BASE.to_owned(), 1));
            above.push(name.to_owned());
            if !self.names().contains(&base.as_str()) {
                return Err(format!("{}, line {line}: base: {}", user.place, self.unknown(&base)));
            }
            if base == name && assets::THEMES.iter().all(|(known, _)| *known != name) {
                return Err(format!("{}, line {line}: base: {name} is this theme itself", user.place));
            }
            let mut styles = self.styles(&base, above)?;
            styles.extend(sheet.styles);
            return Ok(styles);
        }
        self.built_in(name)
    }

    /// Returns what a built-in theme says that stands on no other.
    fn built_in(&self, name: &str) -> Result<Vec<(String, ThemeStyle)>, String> {
        let (_, text) = assets::THEMES.iter().find(|(known, _)| *known == name).ok_or_else(|| self.unknown(name))?;
        let sheet = Sheet::parse(name, text)?;
        let mut styles = match &sheet.base {
            Some((base, _)) => self.built_in(base)?,
            None => Vec::new(),
        };
        styles.extend(sheet.styles);
        Ok(styles)
    }

    fn unknown(&self, name: &str) -> String {
        format!("no theme is called {name}; there are {}", self.names().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::{Color, Modifier};

    #[test]
    fn every_built_in_theme_says_every_style_and_has_no_fault() {
        let themes = Themes::default();
        for name in themes.names() {
            let styles = themes.styles(name, &mut Vec::new()).unwrap();
            for (key, _) in Theme::default().styles() {
                assert!(styles.iter().any(|(said, _)| *said == key), "{name} does not say {key}");
            }
        }
    }

    #[test]
    fn a_users_theme_inherits_what_it_does_not_say() {
        let mut themes = Themes::default();
        themes.add("sea", "sea.toml", Ok("base = 'light'\nheading = 'bold 33'\n[syntax]\ntype = 'cyan'\n".to_owned()));
        let theme = themes.activate("sea").unwrap();
        assert_eq!(theme.heading.add_modifier, Modifier::BOLD);
        assert_eq!(theme.syntax.type_.fg, Some(Color::Cyan));
        assert_eq!(theme.link, Theme::built_in("light", Depth::Sixteen).link);
        assert_eq!((themes.name(), themes.next().as_str()), ("sea", "dark"));
    }

    #[test]
    fn a_theme_may_change_the_built_in_one_of_its_name() {
        let mut themes = Themes::default();
        themes.add("dark", "dark.toml", Ok("base = 'dark'\ntext = 'green'\n".to_owned()));
        assert_eq!(themes.names().len(), assets::THEMES.len());
        let theme = themes.theme("dark").unwrap();
        assert_eq!((theme.text.fg, theme.heading), (Some(Color::Green), Theme::dark().heading));
    }

    #[test]
    fn a_fault_names_the_file_the_line_and_the_key_and_is_passed_over_by_the_key_for_the_next() {
        let mut themes = Themes::default();
        for (text, part) in [
            ("\nheading = 'blau'", "x.toml, line 2: heading: \"blau\" is neither a colour nor an attribute"),
            ("headin = 'blue'", "x.toml, line 1: unknown key \"headin\"; the nearest known key is \"heading\""),
            (
                "[syntax]\n\ntypes = ''",
                "x.toml, line 3: unknown key \"syntax.types\"; the nearest known key is \"type\"",
            ),
            ("text = 3", "x.toml, line 1: text must be a style in quotes"),
            ("base = 'sky'", "x.toml, line 1: base: no theme is called sky; there are dark, "),
            ("text = ", "x.toml, line 1: "),
            ("base = 'y'", "x is based on itself, by way of x, y"),
        ] {
            themes.users.clear();
            themes.add("y", "y.toml", Ok("base = 'x'".to_owned()));
            themes.add("x", "x.toml", Ok(text.to_owned()));
            let error = themes.activate("x").unwrap_err();
            assert!(error.contains(part), "{error}");
            assert_eq!(themes.name(), "dark", "what was active stays");
            themes.name = "plain".to_owned();
            assert_eq!(themes.next(), "dark");
            themes.name = "dark".to_owned();
        }
        assert!(themes.theme("none").unwrap_err().starts_with("no theme is called none; there are dark, light, "));
    }

    #[test]
    fn without_a_word_about_the_background_the_terminals_own_colours_are_kept_to() {
        let theme = |depth, background| Themes::new(depth, background).active();
        assert_eq!(theme(Depth::True, Background::Unknown), Theme::dark());
        assert_eq!(theme(Depth::True, Background::Dark), Theme::built_in("dark", Depth::True));
        assert_eq!(theme(Depth::Indexed, Background::Light), Theme::built_in("light", Depth::Indexed));
        let plain = theme(Depth::None, Background::Dark);
        assert!(plain.styles().iter().all(|(_, style)| style.fg.is_none() && style.bg.is_none()));
    }
}
