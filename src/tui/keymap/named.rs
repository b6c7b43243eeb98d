//! Enums of what keys do, each made from one table: the meaning, its documentation, and its name in a file of keys.

/// Makes such an enum; those of single panes stand within the enum of all.
macro_rules! named_keys {
    (
        $(#[$doc:meta])*
        pub enum $enum:ident { $($(#[$key_doc:meta])* $key:ident = $name:literal,)* }
        $(within { $($(#[$part_doc:meta])* $part:ident($type:ident),)* })?
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $enum {
            $($(#[$key_doc])* $key,)*
            $($($(#[$part_doc])* $part($type),)*)?
        }

        impl $enum {
            /// Returns the name that it has in a file of keys.
            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$key => $name,)*
                    $($(Self::$part(part) => part.id(),)*)?
                }
            }
        }
    };
}
