//! The real program on a pseudo-terminal, looked at through a terminal emulator.
