//! The panes that the keys can go to.

/// The pane that has the focus.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pane {
    /// The message being written.
    #[default]
    Composer,
    /// The search of what was sent before.
    History,
    /// The agent tree.
    Tree,
    /// The filter of the agent tree.
    Filter,
    /// The transcript of the selected agent.
    Transcript,
    /// The search in it, while it is typed.
    Search,
    /// The panel of a paused agent.
    Gate,
    /// The texts that wait for delivery.
    Pending,
    /// The details of the shown agent.
    Details,
}

impl Pane {
    /// Returns the pane that it is a part of.
    #[must_use]
    pub fn whole(self) -> Self {
        match self {
            Self::Filter => Self::Tree,
            Self::Search => Self::Transcript,
            Self::History => Self::Composer,
            Self::Composer | Self::Tree | Self::Transcript | Self::Gate | Self::Pending | Self::Details => self,
        }
    }
}
