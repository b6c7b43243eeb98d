//! The commands that only the line output has: what is a key on the screen is a word here.
//!
//! The table is of the same kind as the one of all commands; help is made from both.

use super::Takes::{Any, Nothing, Text, Word};
use super::{Command, Verb, row};

/// What a command of the line output does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineVerb {
    /// Sends a text to be delivered after the turn.
    Later,
    /// Changes a pending text.
    Edit,
    /// Deletes a pending text.
    Delete,
    /// Lets a pending text change places with the one before it.
    Up,
    /// Lets a pending text change places with the one behind it.
    Down,
    /// Makes a steer of a pending text.
    Steer,
    /// Makes a follow-up of a pending text.
    FollowUp,
    /// Joins a pending text with the next.
    Join,
    /// Changes what a pending text is to its agent.
    Kind,
    /// Delivers a pending text at once.
    Deliver,
    /// Takes the newest pending text back into the line.
    Take,
    /// Brings back what was removed last.
    Back,
    /// Forgets what is in the line.
    Drop,
    /// Answers a question with yes.
    Yes,
    /// Answers a question with yes, for the session.
    Session,
    /// Answers a question with yes, and keeps a rule for later sessions.
    Always,
    /// Answers a question: yes, and keep the rule that it shows for every project.
    Everywhere,
    /// Answers a question with no.
    No,
    /// Leaves a question about an old text unanswered.
    Leave,
    /// Reads on in a long question.
    More,
    /// Lets the paused agent go one step.
    Step,
    /// Runs the call that is waited for with other arguments.
    EditCall,
    /// Skips the call that is waited for.
    Skip,
    /// Lets the paused agent go on.
    Go,
    /// Reads another agent.
    Agent,
    CancelAgent,
    /// Says what is going on.
    Status,
    /// Says what was used.
    Cost,
    /// Reads an entry whole.
    Show,
    /// Copies an entry.
    Copy,
    /// Begins a text of several lines.
    Paste,
}

const fn line(verb: LineVerb, usage: &'static str, takes: super::Takes, help: &'static str) -> Command {
    row(Verb::Line(verb), usage, takes, "", help)
}

/// Holds every command that only the line output has.
pub const LINE_COMMANDS: &[Command] = &[
    line(LineVerb::Status, "/status", Nothing, "what is going on now"),
    line(LineVerb::Cost, "/cost", Nothing, "tokens, money and room in the conversation"),
    line(LineVerb::Show, "/show [N]", Word, "read entry N whole; without a number: list the last entries"),
    line(LineVerb::Copy, "/copy [N]", Word, "copy entry N; without a number: the last answer"),
    line(LineVerb::Later, "/later TEXT", Text, "send this text as a follow-up, only after the turn"),
    line(LineVerb::Edit, "/edit N [TEXT]", Text, "change pending text N; without a text: into the line"),
    line(LineVerb::Delete, "/delete N", Text, "delete pending text N"),
    line(LineVerb::Up, "/up N", Text, "move pending text N up"),
    line(LineVerb::Down, "/down N", Text, "move pending text N down"),
    line(LineVerb::Steer, "/steer N", Text, "deliver pending text N at the next tool boundary"),
    line(LineVerb::FollowUp, "/followup N", Text, "deliver pending text N after the turn"),
    line(LineVerb::Deliver, "/deliver N", Text, "deliver pending text N now, in place of the answer"),
    line(LineVerb::Kind, "/kind N KIND", Text, "make pending text N an add, an instead, a note or a rule"),
    line(LineVerb::Join, "/join N", Text, "join pending text N with the next"),
    line(LineVerb::Take, "/take", Nothing, "take the newest pending text back into the line"),
    line(LineVerb::Back, "/back", Nothing, "bring back what was removed last"),
    line(LineVerb::Drop, "/drop", Nothing, "forget the text that is kept in the line"),
    line(LineVerb::Paste, "/paste", Nothing, "write several lines; a line with a dot alone sends them"),
    line(LineVerb::Leave, "/leave", Nothing, "not now: an old text stays in the list"),
    line(LineVerb::More, "/more", Nothing, "read on in a long question"),
    line(LineVerb::Step, "/step", Nothing, "the paused agent runs one step"),
    line(LineVerb::EditCall, "/edit-call [JSON]", Any, "run the waiting call with these arguments"),
    line(LineVerb::Skip, "/skip REASON", Text, "skip the waiting call; the model is told why"),
    line(LineVerb::Go, "/go", Nothing, "the paused agent goes on"),
    line(LineVerb::Agent, "/agent [NAME]", Any, "read this agent; without a name: main"),
    line(LineVerb::CancelAgent, "/cancel-agent NAME", Text, "cancel it and every agent beneath it"),
];

/// Tells whether a command changes what is drawn and nothing else.
pub fn only_drawn(verb: Verb) -> bool {
    match verb {
        Verb::Entry(entry) => entry.only_draws,
        verb => verb == Verb::Theme,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::COMMANDS;

    #[test]
    fn no_name_stands_twice_and_none_hides_a_command_of_the_screen() {
        for (i, one) in LINE_COMMANDS.iter().enumerate() {
            assert!(LINE_COMMANDS[i + 1..].iter().all(|two| two.name != one.name), "{}", one.name);
            assert!(COMMANDS.iter().all(|two| two.name != one.name), "{}", one.name);
        }
    }
}
