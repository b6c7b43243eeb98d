//! What the words of a run are: events and messages on the wire, texts, files read within bounds.

#![allow(clippy::format_collect, clippy::format_push_string)] // How a test writes a long text.
#![allow(unreachable_pub)] // What the files of a test share.

use steersman_test_support as support;

mod events;
mod front_matter;
mod price;
mod target;
mod templates;
mod text;
