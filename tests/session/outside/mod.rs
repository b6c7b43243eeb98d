//! Sessions that are seen and steered from outside: a run with several clients, and its socket.

mod clients;
mod hostile;
mod lines;
mod place;
mod remote;
