//! Public addresses: all that IANA's registries of special addresses do not list.
//!
//! Pure. A refusal names the kind of the address, so that it can be understood.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the kind of an address that is not public; `None` for a public one.
///
/// An IPv6 address that contains an IPv4 one (mapped, compatible, NAT64, 6to4, Teredo) is never public: no server is
/// published under such an address.
pub fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

/// A network: its address, the length of its prefix, its kind.
type Network<T> = (T, u32, &'static str);

/// The special networks of IPv4. Larger networks come after the smaller ones within them: the first match counts.
const V4: [Network<[u8; 4]>; 19] = [
    ([169, 254, 169, 254], 32, "a metadata service"),
    // The host agent of Azure, the one metadata address in a public range.
    ([168, 63, 129, 16], 32, "a metadata service"),
    ([100, 100, 100, 200], 32, "a metadata service"),
    ([0, 0, 0, 0], 32, "unspecified"),
    ([255, 255, 255, 255], 32, "broadcast"),
    ([0, 0, 0, 0], 8, "reserved"),
    ([10, 0, 0, 0], 8, "private"),
    ([100, 64, 0, 0], 10, "shared by a carrier"),
    ([127, 0, 0, 0], 8, "loopback"),
    ([169, 254, 0, 0], 16, "link-local"),
    ([172, 16, 0, 0], 12, "private"),
    ([192, 0, 0, 0], 24, "reserved"),
    ([192, 0, 2, 0], 24, "for documentation"),
    ([192, 88, 99, 0], 24, "a 6to4 relay"),
    ([192, 168, 0, 0], 16, "private"),
    ([198, 18, 0, 0], 15, "for benchmarks"),
    ([198, 51, 100, 0], 24, "for documentation"),
    ([203, 0, 113, 0], 24, "for documentation"),
    ([224, 0, 0, 0], 4, "multicast"),
];

const V6: [Network<[u16; 8]>; 18] = [
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, "unspecified"),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, "loopback"),
    ([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128, "a metadata service"),
    ([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0], 32, "a metadata service"),
    ([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, "an IPv4-mapped address"),
    ([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, "an IPv4-translated address"),
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, "an IPv4-compatible address"),
    ([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, "a NAT64 address"),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "a NAT64 address"),
    ([0x100, 0, 0, 0, 0, 0, 0, 0], 64, "for discarding"),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "a Teredo address"),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "reserved"),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "for documentation"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "for documentation"),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "a 6to4 address"),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "private"),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 9, "link-local or site-local"),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "multicast"),
];

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let within = |(network, prefix, _): &&Network<[u8; 4]>| {
        (bits ^ Ipv4Addr::from(*network).to_bits()).leading_zeros() >= *prefix
    };
    let named = V4.iter().find(within).map(|(_, _, kind)| *kind);
    // Class E is not in use.
    named.or_else(|| (bits >> 28 == 0xf).then_some("reserved"))
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let within = |(network, prefix, _): &&Network<[u16; 8]>| {
        (bits ^ Ipv6Addr::from(*network).to_bits()).leading_zeros() >= *prefix
    };
    let named = V6.iter().find(within).map(|(_, _, kind)| *kind);
    // Only 2000::/3 was ever assigned.
    named.or_else(|| (bits >> 125 != 1).then_some("reserved"))
}
