//! The styles of the screen, by name.
//!
//! Colours are the terminal's own sixteen, and only those that read on dark and light backgrounds alike. Meaning never
//! hangs on colour: every kind of cell also has a mark or a word, so `plain` loses nothing.

use ratatui::style::{Color, Modifier, Style};

/// Names a theme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ThemeName {
    /// Sixteen colours that read on dark and on light backgrounds.
    #[default]
    Dark,
    /// Colours that read best on light backgrounds.
    Light,
    /// Nothing dimmed, few colours; weight, underline and reversal tell more.
    HighContrast,
    /// No colour at all.
    Plain,
}

impl ThemeName {
    /// Holds every theme, in the order in which the key goes through them.
    pub const ALL: [Self; 4] = [Self::Dark, Self::Light, Self::HighContrast, Self::Plain];

    /// Returns the name as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::HighContrast => "high-contrast",
            Self::Plain => "plain",
        }
    }

    /// Finds a theme by its name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Returns the theme behind this one, the first behind the last.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Dark => Self::Light,
            Self::Light => Self::HighContrast,
            Self::HighContrast => Self::Plain,
            Self::Plain => Self::Dark,
        }
    }

    /// Makes its styles.
    pub fn theme(self) -> Theme {
        match self {
            Self::Dark => Theme::dark(),
            Self::Light => Theme::light(),
            Self::HighContrast => Theme::high_contrast(),
            Self::Plain => Theme::plain(),
        }
    }
}

/// Names every style that a view may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// Ordinary text.
    pub text: Style,
    /// What matters less: labels, counts, elapsed times.
    pub dim: Style,
    /// Markdown headings.
    pub heading: Style,
    /// Inline code and code blocks.
    pub code: Style,
    /// Markdown emphasis.
    pub emphasis: Style,
    /// Markdown strong emphasis.
    pub strong: Style,
    /// Markdown strikethrough.
    pub struck: Style,
    /// A link's text.
    pub link: Style,
    /// Quoted text.
    pub quote: Style,
    /// The mark of the model's answer.
    pub assistant: Style,
    /// Words of the user.
    pub user: Style,
    /// Words of the user that entered a running turn.
    pub mid_loop: Style,
    /// Reasoning.
    pub thinking: Style,
    /// A tool's name, while it runs.
    pub tool: Style,
    /// The mark of a call that ended well.
    pub tool_ok: Style,
    /// The mark of a call that failed.
    pub tool_error: Style,
    /// Untrusted output of a tool.
    pub output: Style,
    /// The line left of untrusted output.
    pub gutter: Style,
    /// A line that a change adds.
    pub added: Style,
    /// A line that a change takes away.
    pub removed: Style,
    /// Where in a file a change is.
    pub hunk: Style,
    /// What stands for a character that nobody would see.
    pub mark: Style,
    /// The approval mode, where commands run without a question.
    pub mode_auto: Style,
    /// A link to another agent.
    pub agent: Style,
    /// A notice of the program.
    pub notice: Style,
    /// A failure.
    pub error: Style,
    /// The border of a pane.
    pub border: Style,
    /// The border of the pane that has the focus.
    pub border_focus: Style,
    /// The title of a pane.
    pub title: Style,
    /// The selected row or cell.
    pub selected: Style,
    /// The status line.
    pub status: Style,
    /// What draws the eye: keys in help, the running state.
    pub accent: Style,
    /// Messages that wait for delivery.
    pub pending: Style,
    /// The words that a changed line has new, over `added`.
    pub added_word: Style,
    /// The words that a changed line has lost, over `removed`.
    pub removed_word: Style,
    /// A place that a search has found.
    pub found: Style,
    /// The place of the search where the reader is.
    pub found_now: Style,
    /// Text that is selected to be copied.
    pub selection: Style,
    /// Code, by what its words are.
    pub syntax: Syntax,
}

/// Names the styles of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Syntax {
    /// Words of the language.
    pub keyword: Style,
    /// Texts in quotes.
    pub string: Style,
    /// Numbers.
    pub number: Style,
    /// What only people read.
    pub comment: Style,
    /// Names of functions.
    pub function: Style,
    /// Names of types.
    pub type_: Style,
    /// Constants, `true` and `null` too.
    pub constant: Style,
    /// Attributes, decorators, the names of markup.
    pub attribute: Style,
    /// Operators, brackets, separators.
    pub punctuation: Style,
}

impl Syntax {
    /// Makes the styles without colour.
    pub fn plain() -> Self {
        let style = Style::new();
        Self {
            keyword: style.add_modifier(Modifier::BOLD),
            string: style,
            number: style,
            comment: style.add_modifier(Modifier::DIM),
            function: style,
            type_: style,
            constant: style,
            attribute: style,
            punctuation: style,
        }
    }

    /// Makes the styles in the terminal's own colours.
    pub fn coloured() -> Self {
        let plain = Self::plain();
        Self {
            keyword: plain.keyword.fg(Color::Magenta),
            string: plain.string.fg(Color::Green),
            number: plain.number.fg(Color::Cyan),
            function: plain.function.fg(Color::Blue),
            type_: plain.type_.fg(Color::Cyan),
            constant: plain.constant.fg(Color::Cyan),
            attribute: plain.attribute.fg(Color::Magenta),
            ..plain
        }
    }
}

impl Theme {
    /// Makes the default theme: sixteen colours, readable on dark and on light backgrounds.
    pub fn dark() -> Self {
        let plain = Self::plain();
        Self {
            heading: plain.heading.fg(Color::Blue),
            code: plain.code.fg(Color::Cyan),
            link: plain.link.fg(Color::Blue),
            assistant: plain.assistant.fg(Color::Magenta),
            user: plain.user.fg(Color::Green),
            mid_loop: plain.mid_loop.fg(Color::Magenta),
            tool: plain.tool.fg(Color::Blue),
            tool_ok: plain.tool_ok.fg(Color::Green),
            tool_error: plain.tool_error.fg(Color::Red),
            added: plain.added.fg(Color::Green),
            removed: plain.removed.fg(Color::Red),
            hunk: plain.hunk.fg(Color::Cyan),
            mark: plain.mark.fg(Color::Magenta),
            mode_auto: plain.mode_auto.fg(Color::Magenta),
            agent: plain.agent.fg(Color::Cyan),
            notice: plain.notice.fg(Color::Magenta),
            error: plain.error.fg(Color::Red),
            border_focus: plain.border_focus.fg(Color::Cyan),
            accent: plain.accent.fg(Color::Cyan),
            pending: plain.pending.fg(Color::Magenta),
            syntax: Syntax::coloured(),
            ..plain
        }
    }

    /// Makes the theme for light backgrounds: what is dimmed elsewhere is grey here, and no colour is a bright one.
    pub fn light() -> Self {
        let plain = Self::plain();
        let grey = Style::new().fg(Color::DarkGray);
        Self {
            dim: grey,
            thinking: grey.add_modifier(Modifier::ITALIC),
            gutter: grey,
            border: grey,
            heading: plain.heading.fg(Color::Blue),
            code: plain.code.fg(Color::Blue),
            link: plain.link.fg(Color::Blue),
            assistant: plain.assistant.fg(Color::Magenta),
            user: plain.user.fg(Color::Blue),
            mid_loop: plain.mid_loop.fg(Color::Magenta),
            tool: plain.tool.fg(Color::Blue),
            tool_ok: plain.tool_ok.fg(Color::Blue),
            tool_error: plain.tool_error.fg(Color::Red),
            added: plain.added.fg(Color::Blue),
            removed: plain.removed.fg(Color::Red),
            hunk: grey,
            mark: plain.mark.fg(Color::Magenta),
            mode_auto: plain.mode_auto.fg(Color::Magenta),
            agent: plain.agent.fg(Color::Blue),
            notice: plain.notice.fg(Color::Magenta),
            error: plain.error.fg(Color::Red),
            border_focus: plain.border_focus.fg(Color::Blue),
            accent: plain.accent.fg(Color::Blue),
            pending: plain.pending.fg(Color::Magenta),
            ..plain
        }
    }

    /// Makes the theme with the most contrast: the terminal's own foreground throughout, nothing dimmed.
    pub fn high_contrast() -> Self {
        let plain = Self::plain();
        let text = Style::new();
        let bold = text.add_modifier(Modifier::BOLD);
        Self {
            dim: text,
            thinking: text.add_modifier(Modifier::ITALIC),
            gutter: text,
            border: text,
            border_focus: bold.add_modifier(Modifier::REVERSED),
            accent: bold.add_modifier(Modifier::UNDERLINED),
            tool_error: bold.add_modifier(Modifier::REVERSED),
            error: bold.add_modifier(Modifier::REVERSED),
            notice: bold,
            hunk: text,
            removed: text.add_modifier(Modifier::UNDERLINED),
            pending: bold,
            selected: bold.add_modifier(Modifier::REVERSED),
            ..plain
        }
    }

    /// Makes the theme without colour, for `NO_COLOR` and terminals that have none.
    pub fn plain() -> Self {
        let style = Style::new();
        let bold = style.add_modifier(Modifier::BOLD);
        let dim = style.add_modifier(Modifier::DIM);
        Self {
            text: style,
            dim,
            heading: bold,
            code: style,
            emphasis: style.add_modifier(Modifier::ITALIC),
            strong: bold,
            struck: style.add_modifier(Modifier::CROSSED_OUT),
            link: style.add_modifier(Modifier::UNDERLINED),
            quote: style.add_modifier(Modifier::ITALIC),
            assistant: bold,
            user: bold,
            mid_loop: bold,
            thinking: dim.add_modifier(Modifier::ITALIC),
            tool: bold,
            tool_ok: bold,
            tool_error: bold,
            output: style,
            gutter: dim,
            added: style,
            removed: style,
            hunk: dim,
            mark: style.add_modifier(Modifier::UNDERLINED),
            mode_auto: bold.add_modifier(Modifier::REVERSED),
            agent: style,
            notice: style,
            error: bold,
            border: dim,
            border_focus: bold,
            title: bold,
            selected: style.add_modifier(Modifier::REVERSED),
            status: style.add_modifier(Modifier::REVERSED),
            accent: bold,
            pending: style,
            added_word: style.add_modifier(Modifier::UNDERLINED),
            removed_word: style.add_modifier(Modifier::UNDERLINED),
            found: style.add_modifier(Modifier::UNDERLINED),
            found_now: bold.add_modifier(Modifier::REVERSED),
            selection: style.add_modifier(Modifier::REVERSED),
            syntax: Syntax::plain(),
        }
    }
}

impl Default for Theme {
    fn default() -> Self {
        Self::dark()
    }
}
