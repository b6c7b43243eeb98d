//! Which addresses of the web the pattern of a rule covers, however they are spelled.

use super::{allows, clone, denies, fetch, policy, scrape};

#[test]
fn an_address_is_covered_by_scheme_host_and_port_and_a_star_never_spans_the_host() {
    let table: [(&str, &[&str], &[&str]); 7] = [
        (
            "https://docs.rs/*",
            &[
                "https://docs.rs/",
                "https://docs.rs",
                "https://docs.rs/serde/latest?x=1#y",
                "https://DOCS.RS/x",
                "HTTPS://docs.rs./x",
                "https://docs.rs:443/x",
                "https://docs%2ers/x",
                // To the parser, as to the client, this is a path of docs.rs.
                "https://docs.rs\\.evil.example/x",
            ],
            &[
                "http://docs.rs/x",
                "https://docs.rs:8443/x",
                "https://docs.rs.evil.example/x",
                "https://evil.example/docs.rs/x",
                "https://docs.rs@evil.example/x",
                "https://docs.rs:x@evil.example/",
                "https://user@docs.rs/x",
                "https://user:pw@docs.rs/x",
                "https://evil.example/?https://docs.rs/",
                "https://evil.example#https://docs.rs/",
                "https://docsxrs/x",
                "https://a.docs.rs/x",
                "https://docs.rs%2fevil.example/x",
                "ftp://docs.rs/x",
                "file:///docs.rs/x",
                "docs.rs/x",
                "",
                "https://",
                "//docs.rs/x",
            ],
        ),
        (
            "https://*.example.org/*",
            &["https://a.example.org/x", "https://a.b.example.org/"],
            &[
                "https://example.org/x",
                "https://evilexample.org/x",
                "https://.example.org/x",
                "https://a.example.org.evil.example/",
                "https://evil.example/a.example.org/",
            ],
        ),
        (
            "https://example.org/docs/*",
            &["https://example.org/docs/", "https://example.org/docs/a/b", "https://example.org/x/../docs/a"],
            &[
                "https://example.org/docs/../x",
                "https://example.org/docs/%2e%2e/x",
                "https://example.org/docs/..%2fx",
                "https://example.org/docs/%2E%2E%2Fx",
                "https://example.org/docs",
                "https://example.org/other?/docs/",
            ],
        ),
        (
            "https://example.org",
            &["https://example.org/", "https://example.org"],
            &["https://example.org/x", "https://example.org/?q=x"],
        ),
        (
            "http://localhost:8080/*",
            &["http://localhost:8080/x", "http://LOCALHOST:8080/"],
            &["http://localhost/x", "http://localhost:80801/", "https://localhost:8080/x"],
        ),
        (
            "http://127.0.0.1:99/*",
            &["http://127.0.0.1:99/", "http://2130706433:99/", "http://0x7f.1:99/"],
            &["http://127.0.0.2:99/"],
        ),
        (
            "https://bücher.example/*",
            &["https://bücher.example/x", "https://xn--bcher-kva.example/x", "https://BÜCHER.example/x"],
            &["https://bucher.example/x"],
        ),
    ];
    for (pattern, inside, outside) in table {
        let rules = policy(&[&format!("fetch: {pattern}")], &[], &[]);
        for url in inside {
            assert!(allows(&rules, &fetch(url)), "{pattern} covers {url}");
        }
        for url in outside {
            assert!(!allows(&rules, &fetch(url)), "{pattern} does not cover {url}");
        }
    }
}

#[test]
fn a_denied_host_is_denied_in_any_spelling_scheme_and_port() {
    let rules = policy(
        &["fetch"],
        &[],
        &["fetch: https://evil.example/*", "git_clone: https://*.bad.example/*", "fetch: http://127.0.0.1/*"],
    );
    for url in [
        "https://evil.example/",
        "http://evil.example/x",
        "https://EVIL.example./x",
        "https://evil.example:8443/x",
        "https://u:p@evil.example/x",
        "https://evil%2eexample/",
        "https://ｅｖｉｌ.example/",
        "https://evil。example/",
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f000001/x",
        "http://127.1:8080/",
        "http://0177.0.0.1/",
        "not an address",
    ] {
        assert!(denies(&rules, &fetch(url)), "{url}");
        assert!(denies(&rules, &scrape(url)), "{url}");
    }
    assert!(denies(&rules, &clone("http://a.bad.example/x")));
    for url in ["https://notevil.example/", "https://evil.example.org/", "https://example/evil.example"] {
        assert!(!denies(&rules, &fetch(url)), "{url}");
    }
}
