//! Which addresses pass before anything is sent: the edges of each network, allowed hosts, ports, and the one way in which
//! an address is written.

use steersman_tools::web::{AllowedHosts, Target, special};

/// Addresses of the world, which are asked.
const PUBLIC: &[&str] = &[
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "93.184.215.14",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2600::1",
    "2606:4700:4700::1111",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2a00:1450:4001:82a::200e",
    "3ffe::1",
];

#[test]
fn public_addresses_are_public_and_the_edges_of_each_network_are_exact() {
    for address in PUBLIC {
        assert_eq!(special(address.parse().unwrap()), None, "{address}");
    }
    let kind = |address: &str| special(address.parse().unwrap()).unwrap_or("public");
    assert_eq!(kind("127.0.0.1"), "loopback");
    assert_eq!(kind("0.0.0.0"), "unspecified");
    assert_eq!(kind("0.0.0.1"), "reserved");
    assert_eq!(kind("169.254.169.254"), "a metadata service");
    assert_eq!(kind("169.254.169.253"), "link-local");
    assert_eq!(kind("255.255.255.255"), "broadcast");
    assert_eq!(kind("255.255.255.254"), "reserved");
    assert_eq!(kind("fd00:ec2::254"), "a metadata service");
    assert_eq!(kind("::ffff:8.8.8.8"), "an IPv4-mapped address");
    assert_eq!(kind("2001:1ff:ffff::1"), "reserved");
    assert_eq!(kind("fdff:ffff::1"), "private");
}

#[test]
fn an_allowed_host_is_exactly_that_host_and_port() {
    let allowed =
        AllowedHosts::parse(["127.0.0.1:8080", "wiki.corp", "[::1]:3000", "Büro.example:80", "10.0.0.7:443"]).unwrap();
    let passes = |url: &str| Target::parse(url, &allowed).is_ok();
    for url in [
        "http://127.0.0.1:8080/x",
        "http://2130706433:8080/",
        "http://127.1:8080/",
        "http://wiki.corp/",
        "https://WIKI.corp.:5432/",
        "http://[::1]:3000/",
        "http://[0:0::1]:3000/",
        "http://xn--bro-hoa.example/",
        "https://10.0.0.7/",
        "https://example.com/",
    ] {
        assert!(passes(url), "{url}");
    }
    for url in [
        "http://127.0.0.1/",
        "http://127.0.0.1:8081/",
        "http://127.0.0.2:8080/",
        "http://[::ffff:127.0.0.1]:8080/",
        "http://a.wiki.corp/",
        "http://wiki.corp.corp/",
        "http://[::1]:3001/",
        "http://10.0.0.7/",
        "http://user@127.0.0.1:8080/",
        "ftp://127.0.0.1:8080/",
    ] {
        assert!(!passes(url), "{url}");
    }
    for entry in
        ["", "http://x.example", "x.example/path", "a@b.example", "x.example:port", "x.example?y", "a b", "::1"]
    {
        assert!(AllowedHosts::parse([entry]).is_err(), "{entry}");
    }
}

#[test]
fn ports_of_other_services_are_refused() {
    let fault = |url: &str| Target::parse(url, &AllowedHosts::default()).map(|_| ()).map_err(|error| error.to_string());
    for port in
        [1, 21, 22, 23, 25, 53, 110, 143, 389, 445, 465, 587, 993, 1023, 2375, 3306, 5432, 6379, 9200, 11211, 27017]
    {
        let refusal = fault(&format!("https://example.com:{port}/")).unwrap_err();
        assert!(refusal.contains(&format!("port {port} is not one of a web server")), "{refusal}");
    }
    for port in [80, 443, 1024, 3000, 8000, 8080, 8443, 49152, 65535] {
        assert_eq!(fault(&format!("https://example.com:{port}/")), Ok(()));
    }
}

#[test]
fn a_target_is_written_the_one_way_it_is_requested() {
    let written = |url: &str| Target::parse(url, &AllowedHosts::default()).unwrap().url().to_string();
    assert_eq!(written("HTTPS://Example.COM.:443/a/../b?c=d e#part"), "https://example.com/b?c=d%20e");
    assert_eq!(written("https://bücher.example/ü?q=ü"), "https://xn--bcher-kva.example/%C3%BC?q=%C3%BC");
    assert_eq!(written("https:\\\\example.com\\a"), "https://example.com/a");
    assert_eq!(written("http://example.com\\@127.0.0.1/"), "http://example.com/@127.0.0.1/");
    assert_eq!(written("https://example.com/\u{202e}gpj"), "https://example.com/%E2%80%AEgpj");
    for url in ["https://example.com/", "https://xn--bcher-kva.example/%C3%BC"] {
        assert_eq!(written(&written(url)), url, "written twice it is the same");
    }
    let long = format!("https://example.com/{}", "a".repeat(9_000));
    assert!(Target::parse(&long, &AllowedHosts::default()).is_err());
    for odd in [
        "",
        "example.com",
        "//example.com/",
        "file:///etc/passwd",
        "data:text/plain,x",
        "javascript:1",
        "https://",
        "https://a..b/",
        "https://.a.example/",
    ] {
        assert!(Target::parse(odd, &AllowedHosts::default()).is_err(), "{odd:?}");
    }
}
