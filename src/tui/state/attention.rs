//! What the terminal says about its user: whether the screen is looked at, and whether the mouse is the screen's.

/// Whether the terminal has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// It has it: the screen is being looked at.
    Here,
    /// It has lost it.
    Away,
}

/// Whom the mouse belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MouseMode {
    /// The screen.
    #[default]
    On,
    /// The terminal, which selects text with it.
    Off,
}
