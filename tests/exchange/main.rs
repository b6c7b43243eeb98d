//! Saved sessions from and for other programs.

use steersman_test_support as support;

mod browser;
mod compare;
mod compressed;
mod export;
mod import;
