//! Addresses that are never asked, in every spelling, also behind a redirect: no packet leaves. And how
//! http is asked where https is not there.

mod resolution;
mod validation;

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Approvals, Mode, Operation, Policy};
use steersman_core::tool::{Tool, ToolContext};
use steersman_tools::FetchTool;
use steersman_tools::web::{Client, RequestLimits, Resolve, WebOptions};

use crate::support::site::{Canary, Site, answer, call, call_in, redirect, typed};
use crate::support::skip::{Need, skip};

/// Hosts that must be refused before anything is sent or looked up. A `*` stands for the port and its colon.
const SPELLINGS: &[&str] = &[
    // Loopback: decimal, short, octal, hex, mixed, padded, as one number.
    "http://127.0.0.1*/",
    "http://127.0.0.53*/",
    "http://127.255.255.254*/",
    "http://127.1*/",
    "http://127.0.1*/",
    "http://2130706433*/",
    "http://0x7f000001*/",
    "http://0X7F000001*/",
    "http://017700000001*/",
    "http://0177.0.0.1*/",
    "http://0177.0.0.01*/",
    "http://00000177.0.0.1*/",
    "http://0x7f.0.0.1*/",
    "http://0x7f.0x0.0x0.0x1*/",
    "http://0x7f.1*/",
    "http://0177.1*/",
    "http://127.0x1*/",
    "http://127.00000000001*/",
    "http://0x00000000007f.0.0.1*/",
    "http://127.0.0.1.*/",
    "http://2130706433.*/",
    "http://127.1.*/",
    "http://0x7f.1.*/",
    // Dots and digits of other scripts, which a parser of host names makes plain.
    "http://127。0。0。1*/",
    "http://127.0.0。1*/",
    "http://127.0.0.1。*/",
    "http://127｡0｡0｡1*/",
    "http://１２７.０.０.１*/",
    "http://①②⑦.⓪.⓪.①*/",
    "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏*/",
    "http://0ｘ7f.1*/",
    "http://127\u{00ad}.0.0.1*/",
    "http://127.0\u{200b}.0.1*/",
    // Percent-encoded, with blanks that parsers take out, with slashes the other way round, without slashes.
    "http://%31%32%37.0.0.1*/",
    "http://127%2e0%2e0%2e1*/",
    "http://127.0.0.%31*/",
    "http://%6c%6f%63%61%6c%68%6f%73%74*/",
    "http://127.0\t.0.1*/",
    "http://127.0\n.0.1*/",
    "  http://127.0.0.1*/  ",
    "http:\\\\127.0.0.1*\\",
    "http:/\\127.0.0.1*/",
    "http:127.0.0.1*/",
    "http:/127.0.0.1*/",
    "http:////127.0.0.1*/",
    "HTTP://127.0.0.1*/",
    "hTtP://0X7F.1*/",
    "https://127.0.0.1*/",
    "https://2130706433*/",
    // A user part, also one that looks like a host.
    "http://user@127.0.0.1*/",
    "http://user:word@127.0.0.1*/",
    "http://example.com@127.0.0.1*/",
    "http://example.com%40@127.0.0.1*/",
    "http://example.com:80@127.0.0.1*/",
    "http://user@example.com*/",
    "http://127.0.0.1*\\@example.com/",
    "http://127.0.0.1*#@example.com/",
    "http://127.0.0.1*?@example.com/",
    // Names of this machine and of the network around it.
    "http://localhost*/",
    "http://LOCALHOST*/",
    "http://localhost.*/",
    "http://LocalHost。*/",
    "http://a.localhost*/",
    "http://a.b.localhost.*/",
    "http://localhost.localdomain*/",
    "http://localhost6*/",
    "http://ip6-localhost*/",
    "http://ip6-loopback*/",
    "http://router*/",
    "http://printer.local*/",
    "http://printer.LOCAL.*/",
    "http://nas.lan*/",
    "http://box.home*/",
    "http://box.home.arpa*/",
    "http://wiki.corp*/",
    "http://wiki.intranet*/",
    "http://db.internal*/",
    "http://metadata.google.internal*/",
    "http://METADATA.google.internal.*/",
    "http://metadata*/",
    "http://ｌｏｃａｌｈｏｓｔ*/",
    "http://ⓛocalhost*/",
    "http://loc\u{00ad}alhost*/",
    // Unspecified, this network, broadcast, multicast, reserved.
    "http://0.0.0.0*/",
    "http://0*/",
    "http://0.0*/",
    "http://0x0*/",
    "http://00000000*/",
    "http://0.1.2.3*/",
    "http://255.255.255.255*/",
    "http://4294967295*/",
    "http://0xffffffff*/",
    "http://224.0.0.1*/",
    "http://239.255.255.250*/",
    "http://0xe0000001*/",
    "http://240.0.0.1*/",
    "http://254.1.2.3*/",
    // Private, of carriers, link-local, metadata.
    "http://10.0.0.1*/",
    "http://10.255.255.255*/",
    "http://012.1*/",
    "http://0xa000001*/",
    "http://167772161*/",
    "http://172.16.0.1*/",
    "http://172.31.255.255*/",
    "http://0254.020.1*/",
    "http://192.168.0.1*/",
    "http://192.168.1*/",
    "http://0xc0.0xa8.1*/",
    "http://3232235777*/",
    "http://100.64.0.1*/",
    "http://100.127.255.255*/",
    "http://100.100.100.200*/",
    "http://169.254.0.1*/",
    "http://169.254.169.254*/",
    "http://2852039166*/",
    "http://0xa9fea9fe*/",
    "http://0251.0376.0251.0376*/",
    "http://0xa9.0376.43518*/",
    "http://169.254.43518*/",
    "http://169.254.169.254.*/",
    "http://168.63.129.16*/",
    "http://192.0.0.192*/",
    // Documentation, benchmarks, relays.
    "http://192.0.2.1*/",
    "http://198.51.100.7*/",
    "http://203.0.113.9*/",
    "http://198.18.0.1*/",
    "http://198.19.255.255*/",
    "http://192.88.99.1*/",
    "http://192.0.0.8*/",
    // IPv6: loopback and unspecified, in long and short.
    "http://[::1]*/",
    "http://[0:0:0:0:0:0:0:1]*/",
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]*/",
    "http://[::0.0.0.1]*/",
    "http://[0::1]*/",
    "http://[::]*/",
    "http://[0:0::0]*/",
    // IPv4 within IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo.
    "http://[::ffff:127.0.0.1]*/",
    "http://[::FFFF:7F00:1]*/",
    "http://[0:0:0:0:0:ffff:7f00:0001]*/",
    "http://[::ffff:169.254.169.254]*/",
    "http://[::ffff:10.0.0.1]*/",
    "http://[::ffff:93.184.215.14]*/",
    "http://[::127.0.0.1]*/",
    "http://[::7f00:1]*/",
    "http://[::ffff:0:127.0.0.1]*/",
    "http://[64:ff9b::127.0.0.1]*/",
    "http://[64:ff9b::7f00:1]*/",
    "http://[64:ff9b::a9fe:a9fe]*/",
    "http://[64:ff9b:1::7f00:1]*/",
    "http://[2002:7f00:1::]*/",
    "http://[2002:7f00:0001::1]*/",
    "http://[2002:a9fe:a9fe::1]*/",
    "http://[2002:c0a8:101::1]*/",
    "http://[2001::7f00:1]*/",
    "http://[2001:0:7f00:1:0:0:80ff:fffe]*/",
    // IPv6: link-local, site-local, private, metadata, multicast, documentation, discard, unassigned.
    "http://[fe80::1]*/",
    "http://[FE80::1]*/",
    "http://[febf::1]*/",
    "http://[fe80::1%25eth0]*/",
    "http://[fec0::1]*/",
    "http://[feff::1]*/",
    "http://[fc00::1]*/",
    "http://[fd12:3456:789a::1]*/",
    "http://[fd00:ec2::254]*/",
    "http://[fd20:ce::254]*/",
    "http://[ff02::1]*/",
    "http://[ff05::2]*/",
    "http://[2001:db8::1]*/",
    "http://[3fff::1]*/",
    "http://[100::1]*/",
    "http://[2001:2::1]*/",
    "http://[2001:10::1]*/",
    "http://[5f00::1]*/",
    "http://[4000::1]*/",
    "http://[e000::1]*/",
];

/// Answers names from a list, one answer after another, the last one again and again; counts the questions.
#[derive(Default)]
struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    asked: AtomicUsize,
}

impl Names {
    fn answer(&self, name: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.answers.lock().unwrap().entry(name.to_owned()).or_default().push(addresses);
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let answer = match answers.get_mut(name) {
            Some(list) if list.len() > 1 => Ok(list.remove(0)),
            Some(list) => Ok(list[0].clone()),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "no such name")),
        };
        async move { answer }.boxed()
    }
}

fn fetch(allowed: &[String], names: &Arc<Names>) -> FetchTool {
    let settings = WebOptions { allowed_hosts: allowed.to_vec(), resolver: names.clone(), ..WebOptions::default() };
    FetchTool::new(Client::new(&settings).unwrap())
}

async fn get(tool: &dyn Tool, url: &str) -> Result<String, String> {
    call(tool, json!({ "url": url })).await
}

fn spelled(canary: &Canary) -> Vec<String> {
    let port = format!(":{}", canary.port());
    let with_port = SPELLINGS.iter().map(|spelling| spelling.replace('*', &port));
    let without = SPELLINGS.iter().map(|spelling| spelling.replace('*', ""));
    with_port.chain(without).collect()
}

/// Tells whether a refusal is about the place, and not about anything else that may be wrong with an address.
fn about_the_place(refusal: &str) -> bool {
    ["not a public address", "not public", "user name or a password", "not an address"]
        .iter()
        .any(|reason| refusal.contains(reason))
}

#[tokio::test]
async fn no_spelling_of_a_local_address_is_asked() {
    assert!(SPELLINGS.len() >= 120, "{}", SPELLINGS.len());
    let (canary, names) = (Canary::start(), Arc::new(Names::default()));
    let tool = fetch(&[], &names);
    for url in spelled(&canary) {
        let refusal = get(&tool, &url).await.expect_err(&url);
        assert!(about_the_place(&refusal), "{url:?}: {refusal}");
    }
    assert_eq!(names.asked(), 0, "a refused address was looked up");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn no_redirect_leads_to_a_local_address() {
    let (canary, names) = (Canary::start(), Arc::new(Names::default()));
    let places: Vec<String> = spelled(&canary);
    let of_site = places.clone();
    let site = Site::start(move |path| match path.trim_start_matches('/').parse::<usize>() {
        // A header is one line; what a page would say with a line break is said without.
        Ok(index) => redirect(&of_site[index].replace('\n', "")),
        Err(_) => answer(404, &[], ""),
    });
    let tool = fetch(&[site.host()], &names);
    let mut within = 0;
    for (index, place) in places.iter().enumerate() {
        let refusal = get(&tool, &site.url(&format!("/{index}"))).await.expect_err(place);
        // Behind a base of the same scheme these two name a path of the site itself.
        if refusal.contains(&format!("{}/127.0.0.1", site.host())) {
            within += 1;
            continue;
        }
        let met = ["redirects to an address that is refused", "redirects to something that is not an address"];
        assert!(met.iter().any(|words| refusal.contains(words)), "{place:?}: {refusal}");
    }
    assert_eq!(within, 4, "http:127.0.0.1 and http:/127.0.0.1, each with a port and without");
    assert_eq!(site.connections(), places.len() + within, "each redirect was met");
    assert_eq!(names.asked(), 0);
    assert_eq!(canary.connections(), 0);
}

/// The name of the variable that says that this process is on a network of its own.
const OWN_NETWORK: &str = "STEERSMAN_TEST_NETWORK";
/// The address of the world that this machine has on that network.
const PUBLIC_ADDRESS: &str = "93.184.215.14";

/// Runs one test again on a network of its own, which has a public address and leads nowhere.
fn again_on_a_network_of_its_own(test: &str) {
    let set_up = format!("ip link set lo up && ip addr add {PUBLIC_ADDRESS}/32 dev lo");
    let unshare = |script: &str| {
        let mut command = std::process::Command::new("unshare");
        command.args(["-rn", "sh", "-c", script]);
        command
    };
    if !unshare(&set_up).output().is_ok_and(|output| output.status.success()) {
        let missing = ["unshare", "ip"].map(Need::of_program).into_iter().find(|need| *need != Need::Namespace);
        skip(missing.unwrap_or(Need::Namespace), "no network of our own");
        return;
    }
    let program = std::env::current_exe().unwrap();
    let mut command = unshare(&format!("{set_up} && exec \"$0\" --exact {test} --nocapture"));
    let output = command.arg(program).env(OWN_NETWORK, "yes").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn http_is_asked_behind_https_that_nobody_answers_and_approved_by_itself() {
    if std::env::var_os(OWN_NETWORK).is_none() {
        return again_on_a_network_of_its_own(
            "addresses::http_is_asked_behind_https_that_nobody_answers_and_approved_by_itself",
        );
    }
    let names = Arc::new(Names::default());
    names.answer("plain.example", &[PUBLIC_ADDRESS]);
    let site = Site::start_at(format!("{PUBLIC_ADDRESS}:80").parse().unwrap(), |_| typed("text/plain", "in the open"));
    let policy = Policy { answerer: Answerer::User, ..Policy::default() };
    let desk = Arc::new(Approvals::new(policy, Mode::default()));
    let context = ToolContext::with_approvals(Arc::clone(&desk));
    let shown: Mutex<Vec<String>> = Mutex::default();
    let answering = async {
        loop {
            if let Some(open) = desk.open().pop() {
                if let ApprovalSubject::Operation { operation: Operation::Fetch(operation) } = &open.subject {
                    shown.lock().unwrap().push(operation.url.clone());
                }
                desk.answer(open.id, Answer::Once);
            }
            tokio::task::yield_now().await;
        }
    };
    let tool = fetch(&[], &names);
    let text = tokio::select! {
        (text, _) = call_in(&tool, context, json!({ "url": "http://plain.example/page#top" })) => text.unwrap(),
        () = answering => unreachable!(),
    };
    assert!(
        text.starts_with("in the open\n[asked over http, because over https plain.example cannot be reached"),
        "{text}"
    );
    assert_eq!(*shown.lock().unwrap(), ["https://plain.example/page", "http://plain.example/page"]);
    assert_eq!(site.paths(), ["/page"]);
}

#[tokio::test]
async fn a_server_without_tls_cannot_be_reached_over_https() {
    let site = Site::of("text/plain", "plain");
    let bounds = RequestLimits { connect: Duration::from_millis(300), ..RequestLimits::default() };
    let settings = WebOptions { allowed_hosts: vec![site.host()], bounds, ..WebOptions::default() };
    let tool = FetchTool::new(Client::new(&settings).unwrap());
    let refusal = get(&tool, &format!("https://{}/", site.host())).await.unwrap_err();
    assert!(refusal.starts_with(&format!("{} cannot be reached: ", site.host())), "{refusal}");
}
