//! Stands in for `address.rs` in a library without the feature `http`: no web address can be read. A rule with a pattern of
//! addresses is refused, and no grant is for a host. Always holds: what cannot be read is never allowed by its address.

/// An address that can be read: none.
pub(super) enum Address {}

/// A pattern of addresses: none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AddressPattern {}

impl Address {
    pub(super) fn parse(_text: &str) -> Option<Self> {
        None
    }

    pub(super) fn origin(&self) -> Option<String> {
        match *self {}
    }
}

impl AddressPattern {
    pub(super) fn parse(_pattern: &str) -> Result<Self, String> {
        Err("this build of the library reads no web addresses: that needs its feature http".to_owned())
    }

    pub(super) fn is_one_host(&self) -> bool {
        match *self {}
    }

    pub(super) fn allows(&self, _address: &Address) -> bool {
        match *self {}
    }

    pub(super) fn touches(&self, _address: &Address) -> bool {
        match *self {}
    }
}
