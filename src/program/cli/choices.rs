//! Values of flags that are types of the library, each with a sentence for the manual page and for completions.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use steersman_base::mode::Mode;
use steersman_core::provider::Effort;

const EFFORTS: [(Effort, &str, &str); 6] = [
    (Effort::Off, "off", "None"),
    (Effort::Minimal, "minimal", "As little as possible"),
    (Effort::Low, "low", "A little"),
    (Effort::Medium, "medium", "In between"),
    (Effort::High, "high", "Much"),
    (Effort::Max, "max", "As much as possible"),
];

fn mode_help(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "Reading runs; overwriting, editing, commands and the network are asked about",
        Mode::AutoEdit => "Files within the workspace are written without a question",
        Mode::Auto => "Everything runs that the sandbox confines; needs a sandbox",
        Mode::AutoWithoutSandbox => "As auto, also without a sandbox; only chosen by name",
        Mode::ReadOnly => "Nothing is changed or sent, and no command runs",
        Mode::Plan => "As read-only, until you accept the plan of the agent",
    }
}

/// Returns the parser of an approval mode.
pub(super) fn mode() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(|mode| PossibleValue::new(mode.name()).help(mode_help(mode))))
        .try_map(|name| Mode::named(&name).ok_or("no such mode"))
}

/// Returns the parser of an amount of thinking.
pub(super) fn effort() -> impl TypedValueParser<Value = Effort> {
    PossibleValuesParser::new(EFFORTS.map(|(_, name, help)| PossibleValue::new(name).help(help))).try_map(|name| {
        let found = EFFORTS.into_iter().find(|(_, known, _)| *known == name);
        found.map(|(effort, ..)| effort).ok_or("no such amount")
    })
}
