//! What names resolve to: no name leads to a local address, each hop looks one up once, and its address is pinned.

use std::net::IpAddr;
use std::sync::Arc;

use steersman_tools::web::{AllowedHosts, Client, Target, WebOptions};

use super::{Names, OWN_NETWORK, PUBLIC_ADDRESS, SPELLINGS, again_on_a_network_of_its_own, fetch, get};
use crate::support::site::{Canary, Site, redirect, typed};

#[tokio::test]
async fn no_name_leads_to_a_local_address() {
    let (canary, names) = (Canary::start(), Arc::new(Names::default()));
    let tool = fetch(&[], &names);
    let literals: Vec<IpAddr> = SPELLINGS
        .iter()
        .filter_map(|spelling| {
            let host = spelling.strip_prefix("http://")?.strip_suffix("*/")?;
            host.trim_matches(['[', ']']).parse().ok()
        })
        .collect();
    assert!(literals.len() >= 60, "{}", literals.len());
    for (index, address) in literals.iter().enumerate() {
        let name = format!("trap{index}.example");
        names.answer(&name, &[&address.to_string()]);
        // One bad address among good ones is enough.
        let mixed = format!("mixed{index}.example");
        names.answer(&mixed, &["93.184.215.14", "2606:4700:4700::1111", &address.to_string()]);
        for name in [name, mixed] {
            let url = format!("http://{name}:{}/", canary.port());
            let refusal = get(&tool, &url).await.expect_err(&url);
            assert!(refusal.contains(&address.to_string()) && refusal.contains("not a public address"), "{refusal}");
        }
    }
    assert_eq!(names.asked(), 2 * literals.len());
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn a_name_is_looked_up_once_for_each_hop_and_its_address_is_pinned() {
    let (canary, names) = (Canary::start(), Arc::new(Names::default()));
    let site = Site::of("text/plain", "the first answer");
    // The first answer is where the site is; each later one is the canary's other address.
    names.answer("rebind.example", &["127.0.0.1"]);
    names.answer("rebind.example", &["127.0.0.2"]);
    let tool = fetch(&[format!("rebind.example:{}", site.port())], &names);
    let url = format!("http://rebind.example:{}/", site.port());
    assert_eq!(get(&tool, &url).await.unwrap(), "the first answer");
    assert_eq!(names.asked(), 1, "looked up again between check and connection");
    assert_eq!(site.heads().len(), 1);

    // The second time the name answers with another address: that one is asked then, and nobody is there.
    let refusal = get(&tool, &url).await.unwrap_err();
    assert!(refusal.contains("cannot be reached"), "{refusal}");
    assert_eq!((names.asked(), site.connections(), canary.connections()), (2, 1, 0));
}

#[tokio::test]
async fn a_name_that_turns_local_is_refused_the_next_time_and_on_the_next_hop() {
    let (canary, names) = (Canary::start(), Arc::new(Names::default()));
    let port = canary.port();
    let target = |host: &str| Target::parse(&format!("http://{host}:{port}/"), &AllowedHosts::default()).unwrap();
    names.answer("turn.example", &["127.0.0.1"]);
    let settings = WebOptions { resolver: names.clone(), ..WebOptions::default() };
    let client = Client::new(&settings).unwrap();
    // It passed as a name; what it resolves to is looked at before each connection.
    let refusal = client.get(&target("turn.example")).await.unwrap_err();
    assert!(refusal.to_string().contains("127.0.0.1, which is not a public address (loopback)"), "{refusal}");

    // A hop within the site: the first host is allowed by the configuration, the second is not and turns local.
    let site = Site::start(|path| redirect(&format!("http://www.hop.example:{}/", path.trim_start_matches("/to/"))));
    names.answer("hop.example", &["127.0.0.1"]);
    names.answer("www.hop.example", &["127.0.0.1"]);
    let tool = fetch(&[format!("hop.example:{}", site.port())], &names);
    let url = format!("http://hop.example:{0}/to/{0}", site.port());
    let refusal = get(&tool, &url).await.unwrap_err();
    assert!(refusal.contains("www.hop.example is at 127.0.0.1"), "{refusal}");
    assert_eq!(site.connections(), 1, "the second hop was asked");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn a_public_name_that_turns_local_between_two_hops_is_refused_on_the_second() {
    if std::env::var_os(OWN_NETWORK).is_none() {
        return again_on_a_network_of_its_own(
            "addresses::resolution::a_public_name_that_turns_local_between_two_hops_is_refused_on_the_second",
        );
    }
    let names = Arc::new(Names::default());
    let public = Site::start_at(format!("{PUBLIC_ADDRESS}:8080").parse().unwrap(), |path| match path {
        "/start" => redirect("/next"),
        _ => typed("text/plain", "from the world"),
    });
    // On every hop the second answer is the canary.
    let canary = Site::start_at("127.0.0.1:8080".parse().unwrap(), |_| typed("text/plain", "from within"));
    names.answer("turn.example", &[PUBLIC_ADDRESS]);
    names.answer("turn.example", &["127.0.0.1"]);
    let tool = fetch(&[], &names);
    let refusal = get(&tool, "http://turn.example:8080/start").await.unwrap_err();
    assert!(refusal.contains("turn.example is at 127.0.0.1, which is not a public address (loopback)"), "{refusal}");
    assert_eq!((public.paths(), names.asked()), (vec!["/start".to_owned()], 2));

    // Within one hop nobody asks a second time.
    names.answer("once.example", &[PUBLIC_ADDRESS]);
    names.answer("once.example", &["127.0.0.1"]);
    assert_eq!(get(&tool, "http://once.example:8080/page").await.unwrap(), "from the world");
    assert_eq!(names.asked(), 3);
    assert!(get(&tool, "http://once.example:8080/page").await.unwrap_err().contains("not a public address"));
    assert_eq!(canary.connections(), 0);
}
