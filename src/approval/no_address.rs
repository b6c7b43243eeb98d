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

#[cfg(test)]
mod tests {
    use crate::approval::{Act, FetchAct, Grant, Rules};

    #[test]
    fn without_http_a_rule_about_an_address_is_refused_and_no_grant_is_for_a_host() {
        const NONE: &[&str] = &[];
        let about: &[&str] = &["fetch:https://docs.rs/*"];
        for [allow, ask, deny] in [[about, NONE, NONE], [NONE, about, NONE], [NONE, NONE, about]] {
            let refused = Rules::parse(allow, ask, deny).unwrap_err();
            assert!(refused.to_string().contains("reads no web addresses"));
        }
        assert!(Rules::parse(NONE, NONE, &["fetch"]).is_ok(), "a rule about every address needs none");
        let act = Act::Fetch(FetchAct { tool: "fetch".into(), url: "https://docs.rs/".to_owned() });
        assert_eq!(Grant::offered(&act, None, None), None);
        assert!(!Grant::Host("https://docs.rs".to_owned()).covers(&act, None, None));
    }
}
