//! The styles of the screen, by name, each a key of a theme's file.
//!
//! The built-in themes are files too (`assets/themes`); the code has no second definition. Meaning never hangs on colour:
//! every kind of cell also has a mark or a word, so that a theme without colour loses nothing.
//!
//! # Where things are
//!
//! - themes: colours and styles, `NO_COLOR`: `assets/themes/dark.toml`, `mod.rs`, `themes.rs`,
//!   `src/program/cli/screen_files.rs`; tests: `themes.rs`, `commands.rs`
//! - how many colours a terminal shows, `COLORTERM`, `COLORFGBG`: `depth.rs`
//! - a theme's file: TOML in which each key is a style in words: `sheet.rs`
//! - a style in words: `bold #7aa2f7 on 236 | bold blue`: `style.rs`

mod depth;
mod sheet;
mod style;
mod themes;

use ratatui::style::Style;

pub use depth::{Background, Depth};
pub use themes::{AUTO, Themes};

/// Makes a struct of styles whose fields are the keys of a theme's file; `_` at the end of a name is no part of its key.
macro_rules! styles {
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$doc:meta])* $style:ident,)* } $({ $(#[$more_doc:meta])* $more:ident: $kind:ty })?
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* pub $style: Style,)*
            $($(#[$more_doc])* pub $more: $kind,)?
        }

        impl $name {
            /// Holds the keys of its styles.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($style)),*];

            fn style_mut(&mut self, key: &str) -> Option<&mut Style> {
                $(
                    if key == stringify!($style).trim_end_matches('_') {
                        return Some(&mut self.$style);
                    }
                )*
                None
            }

            fn own(&self) -> Vec<(&'static str, Style)> {
                vec![$((stringify!($style).trim_end_matches('_'), self.$style)),*]
            }
        }
    };
}

styles! {
    /// Names every style that a view may use.
    Theme {
        /// Ordinary text.
        text,
        /// What matters less: labels, counts, elapsed times.
        dim,
        /// Markdown headings.
        heading,
        /// Inline code and code blocks.
        code,
        /// Markdown emphasis.
        emphasis,
        /// Markdown strong emphasis.
        strong,
        /// Markdown strikethrough.
        struck,
        /// A link's text.
        link,
        /// Quoted text.
        quote,
        /// The mark of the model's answer.
        assistant,
        /// Words of the user.
        user,
        /// Words of the user that entered a running turn.
        mid_loop,
        /// Reasoning.
        thinking,
        /// A tool's name, while it runs.
        tool,
        /// The mark of a call that ended well.
        tool_ok,
        /// The mark of a call that failed.
        tool_error,
        /// Untrusted output of a tool.
        output,
        /// The line left of untrusted output.
        gutter,
        /// A line that a change adds.
        added,
        /// A line that a change takes away.
        removed,
        /// Where in a file a change is.
        hunk,
        /// What stands for a character that nobody would see.
        mark,
        /// The approval mode, where commands run without a question.
        mode_auto,
        /// A link to another agent.
        agent,
        /// A notice of the program.
        notice,
        /// A failure.
        error,
        /// The border of a pane.
        border,
        /// The border of the pane that has the focus.
        border_focus,
        /// The title of a pane.
        title,
        /// The selected row or cell.
        selected,
        /// The status line.
        status,
        /// What draws the eye: keys in help, the running state.
        accent,
        /// Messages that wait for delivery.
        pending,
        /// The words that a changed line has new, over `added`.
        added_word,
        /// The words that a changed line has lost, over `removed`.
        removed_word,
        /// A place that a search has found.
        found,
        /// The place of the search where the reader is.
        found_now,
        /// Text that is selected to be copied.
        selection,
    } {
        /// Code, by what its words are.
        syntax: Syntax
    }
}

styles! {
    /// Names the styles of code.
    Syntax {
        /// Words of the language.
        keyword,
        /// Texts in quotes.
        string,
        /// Numbers.
        number,
        /// What only people read.
        comment,
        /// Names of functions.
        function,
        /// Names of types.
        type_,
        /// Constants, `true` and `null` too.
        constant,
        /// Attributes, decorators, the names of markup.
        attribute,
        /// Operators, brackets, separators.
        punctuation,
    }
}

impl Theme {
    /// Makes a built-in theme for what a terminal can show; one that does not exist has no style at all.
    pub fn built_in(name: &str, depth: Depth) -> Self {
        Themes::new(depth, Background::Unknown).theme(name).unwrap_or_default()
    }

    /// Makes the theme `dark` in sixteen colours, which reads on dark and on light backgrounds.
    pub fn dark() -> Self {
        Self::built_in("dark", Depth::Sixteen)
    }

    /// Makes the theme without colour.
    pub fn plain() -> Self {
        Self::built_in("plain", Depth::Sixteen)
    }

    /// Returns every style with its key; those of code begin with `syntax.`.
    pub fn styles(&self) -> Vec<(String, Style)> {
        let code = self.syntax.own().into_iter().map(|(key, style)| (format!("syntax.{key}"), style));
        self.own().into_iter().map(|(key, style)| (key.to_owned(), style)).chain(code).collect()
    }

    /// Returns the place of the style that a key names.
    fn style_of(&mut self, key: &str) -> Option<&mut Style> {
        match key.strip_prefix("syntax.") {
            Some(code) => self.syntax.style_mut(code),
            None => self.style_mut(key),
        }
    }
}
