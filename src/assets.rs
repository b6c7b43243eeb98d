//! The files that are built into the program: prompts, personas, example configuration.
