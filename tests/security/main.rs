//! What an attacker can try on the real program: floods and bombs, a start in odd surroundings, and the kinds of holes that
//! others' hosts had, under each sandbox that the machine has.

#![allow(unreachable_pub)] // What the files of a test share.

use steersman_test_support as support;

mod advisories;
mod bounds;
mod open_names;
mod surroundings;
