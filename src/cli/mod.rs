//! The command line: flags, sub-commands, and what they start.
