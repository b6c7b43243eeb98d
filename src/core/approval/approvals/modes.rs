//! The mode at the desk: the user may switch it at any time, also while the setup is still made.

use super::Approvals;
use crate::approval::{Answerer, Mode, ModeRefused, Sandboxed};
use steersman_base::sync::lock;

impl Approvals {
    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        lock(&self.inner).mode
    }

    /// Returns whether the user has said yes beforehand to what is asked about (`--yes`).
    pub fn has_standing_yes(&self) -> bool {
        matches!(lock(&self.inner).policy.answerer, Answerer::Yes | Answerer::YesOrUser)
    }

    /// Returns the mode that a key switches to.
    pub fn next_mode(&self) -> Mode {
        let inner = lock(&self.inner);
        inner.mode.next(inner.policy.sandboxed.unwrap_or(Sandboxed::No))
    }

    /// Sets the mode, for what is asked from here on. It answers no open question: those stay as they are.
    ///
    /// # Errors
    /// [`ModeRefused`]; the mode is as it was.
    pub fn set_mode(&self, mode: Mode) -> Result<(), ModeRefused> {
        {
            let mut inner = lock(&self.inner);
            if mode == Mode::Auto && inner.policy.sandboxed != Some(Sandboxed::Yes) {
                return Err(ModeRefused::NotSandboxed);
            }
            inner.mode = mode;
            inner.is_mode_set = true;
        }
        self.changed();
        Ok(())
    }

    /// Sets the mode of a setup, unless the user has chosen one while it was made.
    ///
    /// # Errors
    /// As for [`Self::set_mode`].
    pub fn start_in(&self, mode: Mode) -> Result<(), ModeRefused> {
        if lock(&self.inner).is_mode_set { Ok(()) } else { self.set_mode(mode) }
    }
}
