//! One place per key of the configuration file: `settings!` declares a section with the type and the words of each key; the
//! struct, the list of its keys and the rule that fills its gaps are made of that.

/// A key of the configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its name, without that of its section.
    pub name: &'static str,
    /// What its value may be, for the sentence about one that it does not take.
    pub allowed: &'static str,
}

/// Declares the keys of a section, each as `name: Type, "what it allows"`, and behind them the sections within it.
macro_rules! settings {
    (
        $(#[$about:meta])*
        pub struct $name:ident { $($(#[$doc:meta])* $key:ident: $kind:ty, $allowed:expr;)* }
        $(sections { $($(#[$section_doc:meta])* $section:ident: $section_kind:ty;)* })?
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$doc])* pub $key: Option<$kind>,)*
            $($($(#[$section_doc])* pub $section: Option<$section_kind>,)*)?
        }

        impl $name {
            /// The keys, in the order of their documentation.
            pub const KEYS: &'static [$crate::program::config::Key] =
                &[$($crate::program::config::Key { name: stringify!($key), allowed: $allowed },)*];
            $(
                /// The sections, and the keys within each.
                pub const SECTIONS: &'static [(&'static str, &'static [$crate::program::config::Key])] =
                    &[$((stringify!($section), <$section_kind>::KEYS),)*];
            )?

            /// Returns these settings with their gaps filled from lower ones.
            #[must_use]
            pub fn or(self, lower: Self) -> Self {
                Self {
                    $($key: self.$key.or(lower.$key),)*
                    $($($section: match (self.$section, lower.$section) {
                        (Some(upper), Some(lower)) => Some(upper.or(lower)),
                        (upper, lower) => upper.or(lower),
                    },)*)?
                }
            }
        }
    };
}

pub(super) use settings;

/// What a key that takes true or false allows.
pub(super) const FLAG: &str = "true or false";
/// What a key that takes a path allows.
pub(super) const FILE: &str = "a path in quotes";
/// What a key that takes free text allows.
pub(super) const TEXT: &str = "a text in quotes";
/// What a key that names an environment variable allows.
pub(super) const VARIABLE: &str = "the name of an environment variable, in quotes";
/// What a key that takes a number of tokens allows.
pub(super) const TOKENS: &str = "a whole number of tokens, 1 or more";
/// What a key that takes an address allows.
pub(super) const ADDRESS: &str = "an address in quotes, such as \"http://localhost:8080\"";
/// What a key that takes directories allows.
pub(super) const DIRECTORIES: &str = "a list of directories in quotes, such as [\"~/.cargo\"]";
