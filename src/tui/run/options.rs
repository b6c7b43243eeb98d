//! What the screen is started with, and how it ended.

use std::path::PathBuf;
use std::sync::Arc;

use crate::alerts::AlertWhen;
use crate::input::TerminalLink;
use crate::keymap::Keymap;
use crate::message::vim::EditorKeys;
use crate::outside::Outside;
use crate::pictures::PictureProtocol;
use crate::status::ModelSource;
use crate::switch::Switch;
use crate::terminal::alert::{AlertMethod, Relay, Titled};
use crate::terminal::{MouseMode, TerminalKind};
use crate::theme::Themes;
use crate::timeline::Recorded;
use crate::tour::TourStart;
use steersman_base::event::Envelope;
use steersman_base::id::ClientId;
use steersman_base::price::Prices;
use steersman_base::steering::AgentsGiveWay;

/// What the screen is to show from the start.
#[derive(Debug, Clone, Default)]
pub struct ScreenOptions {
    /// The provider and model as configured, for the status line.
    pub label: String,
    /// Whether the embedded model answers.
    pub source: ModelSource,
    /// Whether the tour begins with the screen.
    pub tour: TourStart,
    /// A text to send at once.
    pub prompt: Option<String>,
    pub themes: Themes,
    pub prices: Prices,
    /// Where exported files go.
    pub cwd: PathBuf,
    /// Where the program remembers things from one session to the next.
    pub state: Option<PathBuf>,
    /// What `~/` means in the path of an exported file.
    pub home: Option<PathBuf>,
    /// Starts the user's own programs.
    pub outside: Option<Arc<dyn Outside>>,
    /// Whether the mouse is asked for from the start.
    pub mouse: MouseMode,
    /// Whether the terminal's title says what the agents do.
    pub titled: Titled,
    /// How a user who does not look at the screen is notified.
    pub way: AlertMethod,
    /// What that has to pass on its way.
    pub relay: Relay,
    /// What the screen is shown on.
    pub terminal: TerminalKind,
    /// What its keys come over.
    pub link: TerminalLink,
    /// How the terminal is given pictures; `None` where it is given none.
    pub pictures: Option<PictureProtocol>,
    pub when: AlertWhen,
    pub keymap: Keymap,
    /// Which keys the message takes.
    pub editor_keys: EditorKeys,
    /// Which texts end the wait for sub-agents.
    pub agents_give_way: AgentsGiveWay,
    /// The name that the session is saved by.
    pub session: Option<String>,
    /// The name of this client; `None` where the run was started with this screen.
    pub client: Option<ClientId>,
    /// A recorded session to be shown instead of a run.
    pub replay: Option<Recorded>,
    /// The last events of a session that goes on, to be shown while the whole of it is read: empty of a short one, `None`
    /// where nothing goes on.
    pub session_end: Option<Vec<Envelope>>,
    /// Whether a session is to be chosen first.
    pub choose_session: bool,
}

/// Why the screen ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    Quit,
    /// The user left a run that goes on.
    Detached,
    /// The user goes on with something else.
    Switch(Switch),
    /// A signal asked for it, or the terminal is gone; the code that the program is to exit with.
    Signal(u8),
}

impl Ending {
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Quit | Self::Detached | Self::Switch(_) => 0,
            Self::Signal(code) => *code,
        }
    }
}
