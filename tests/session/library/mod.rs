//! Stories of what a user of the library builds: agents in a few lines, a host for any agent, the examples.

mod building;
mod host;
mod parts;
