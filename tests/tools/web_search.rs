//! `web_search`: the cascade of services, their pace, what is kept, and what a result may bring along.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Approvals, Mode, Operation, Policy};
use steersman_core::tool::ToolContext;
use steersman_tools::WebSearchTool;
use steersman_tools::web::WebOptions;
use steersman_tools::web::search::{Search, ServiceUrls};

use crate::support::site::{Canary, Sent, Site, answer, call, call_in, redirect, typed};

const USUAL: &str = include_str!("../fixtures/pages/duckduckgo.html");
const LIGHT: &str = include_str!("../fixtures/pages/duckduckgo_lite.html");
const BRAVE_KEY: &str = "brave-key-canary-71c0";
const EXA_KEY: &str = "exa-key-canary-93ab";

/// One server that plays all services.
fn services(route: impl Fn(&str) -> Option<Vec<Sent>> + Send + Sync + 'static) -> Site {
    Site::start(move |path| {
        route(path).unwrap_or_else(|| match path.split('?').next().unwrap_or_default() {
            "/searx/search" => typed("application/json", searxng().to_string()),
            "/brave" => typed("application/json", brave().to_string()),
            "/exa" => typed("application/json", exa().to_string()),
            "/html/" => typed("text/html", USUAL),
            "/lite/" => typed("text/html", LIGHT),
            _ => answer(404, &[], ""),
        })
    })
}

fn searxng() -> Value {
    json!({ "query": "q", "results": [
        { "title": "One &amp; <b>only</b>", "url": "https://one.example/a", "content": "first\n\twords \u{1b}[31m\u{202e}x" },
        { "title": "", "url": "https://two.example/", "content": null },
        { "title": "bad", "url": "javascript:alert(1)", "content": "" },
        { "title": "no address", "content": "" },
    ], "unresponsive_engines": [] })
}

fn brave() -> Value {
    json!({ "type": "search", "web": { "results": [
        { "title": "Brave page", "url": "https://brave.example/", "description": "with <strong>marked</strong> words" },
    ] } })
}

fn exa() -> Value {
    json!({ "results": [{ "title": "Exa page", "url": "https://exa.example/", "text": "long ".repeat(500) }] })
}

fn settings(site: &Site) -> WebOptions {
    WebOptions {
        allowed_hosts: vec![site.host()],
        service_urls: ServiceUrls {
            brave: site.url("/brave"),
            exa: site.url("/exa"),
            duckduckgo: [site.url("/html/"), site.url("/lite/")],
        },
        ..WebOptions::default()
    }
}

/// Names every service; the server of `SearXNG` need not be allowed.
fn all(site: &Site) -> WebOptions {
    WebOptions {
        searxng_url: Some(site.url("/searx/")),
        brave_key: Some(BRAVE_KEY.into()),
        exa_key: Some(EXA_KEY.into()),
        ..settings(site)
    }
}

fn tool(settings: &WebOptions) -> WebSearchTool {
    WebSearchTool::new(Search::new(settings).unwrap())
}

async fn search(settings: &WebOptions) -> Result<String, String> {
    call(&tool(settings), json!({ "query": "how do\n harbours  freeze?" })).await
}

/// Returns the paths that were asked, without their queries.
fn asked(site: &Site) -> Vec<String> {
    site.paths().iter().map(|path| path.split('?').next().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn the_first_service_that_answers_is_taken() {
    let site = services(|_| None);
    let text = search(&all(&site)).await.unwrap();
    assert_eq!(
        text,
        "Results for \"how do harbours freeze?\" (SearXNG):\n\
         \n1. One & only\n   <https://one.example/a>\n   first words [31mx\n\
         \n2. two.example\n   <https://two.example/>\n"
    );
    assert_eq!(site.paths(), ["/searx/search?q=how+do+harbours+freeze%3F&format=json"]);
}

#[tokio::test]
async fn each_service_is_tried_in_order_and_keys_go_to_their_service_only() {
    let site = services(|path| match path.split('?').next().unwrap_or_default() {
        "/searx/search" => Some(answer(500, &[], "")),
        "/brave" => Some(answer(401, &[], "")),
        "/exa" => Some(typed("text/html", "<html>busy</html>")),
        _ => None,
    });
    let text = search(&all(&site)).await.unwrap();
    assert!(text.starts_with("Results for \"how do harbours freeze?\" (DuckDuckGo):"), "{text}");
    assert_eq!(asked(&site), ["/searx/search", "/brave", "/exa", "/html/"]);
    for head in site.heads() {
        assert_eq!(head.contains(BRAVE_KEY), head.starts_with("GET /brave?q="), "{head}");
        assert_eq!(head.contains(EXA_KEY), head.starts_with("POST /exa "), "{head}");
        assert!(!head.lines().next().unwrap().contains("key"), "{head}");
    }
    assert!(site.heads()[2].contains(r#""query":"how do harbours freeze?","numResults":8"#), "{}", site.heads()[2]);
}

#[tokio::test]
async fn brave_and_exa_are_understood() {
    let site = services(|path| path.starts_with("/searx").then(|| answer(503, &[], "")));
    let text = search(&all(&site)).await.unwrap();
    assert!(text.contains("(Brave):\n\n1. Brave page\n   <https://brave.example/>\n   with marked words\n"), "{text}");
    let only_exa = WebOptions { exa_key: Some(EXA_KEY.into()), ..settings(&site) };
    let text = search(&only_exa).await.unwrap();
    assert!(text.contains("(Exa):\n\n1. Exa page\n   <https://exa.example/>\n   long long"), "{text}");
    assert!(text.len() < 600, "{text}");
    let nothing = services(|_| Some(typed("application/json", r#"{"type": "search", "query": {}}"#)));
    let only_brave = WebOptions { brave_key: Some(BRAVE_KEY.into()), ..settings(&nothing) };
    assert_eq!(search(&only_brave).await.unwrap(), "Brave found nothing for \"how do harbours freeze?\".\n");
}

#[tokio::test]
async fn a_snippet_that_ends_within_a_character_costs_no_result() {
    let found = r#"{"web": {"results": [{"title": "A", "url": "https://a.example/", "description": "cut \ud83d"}]}}"#;
    let site = services(move |_| Some(typed("application/json", found)));
    let only_brave = WebOptions { brave_key: Some(BRAVE_KEY.into()), ..settings(&site) };
    let text = search(&only_brave).await.unwrap();
    assert!(text.contains("<https://a.example/>\n   cut \u{FFFD}\n"), "{text}");
}

#[tokio::test]
async fn duckduckgo_is_read_without_its_advertisements_and_its_detours() {
    let site = services(|_| None);
    let text = search(&settings(&site)).await.unwrap();
    assert_eq!(
        text,
        "Results for \"how do harbours freeze?\" (DuckDuckGo):\n\
         \n1. Ice in harbours - an introduction\n   <https://ice.example/intro?a=1&b=2>\n   Fresh water freezes sooner than salt water & needs calm.\n\
         \n2. Harbour - Encyclopedia\n   <https://encyclopedia.example/wiki/Harbour_(sea)>\n   A harbour is a sheltered body of water.\n"
    );
    // The light pages, when the usual ones do not answer.
    let site = services(|path| path.starts_with("/html/").then(|| answer(403, &[], "")));
    let text = search(&settings(&site)).await.unwrap();
    assert_eq!(
        text,
        "Results for \"how do harbours freeze?\" (DuckDuckGo):\n\
         \n1. Ice in harbours\n   <https://ice.example/intro>\n   Fresh water freezes sooner.\n\
         \n2. Harbour\n   <https://encyclopedia.example/wiki/Harbour>\n   A sheltered body of water.\n"
    );
    let site = services(|_| Some(typed("text/html", "<div class='no-results'>No results found for <b>x</b></div>")));
    assert_eq!(search(&settings(&site)).await.unwrap(), "DuckDuckGo found nothing for \"how do harbours freeze?\".\n");
}

#[tokio::test]
async fn when_nobody_answers_each_reason_is_named() {
    let site = services(|path| match path.split('?').next().unwrap_or_default() {
        "/searx/search" => {
            Some(typed("application/json", r#"{"results": [], "unresponsive_engines": [["x", "captcha"]]}"#))
        }
        "/brave" => Some(answer(429, &[("Retry-After", "7")], "")),
        "/exa" => Some(redirect("https://elsewhere.example/")),
        "/html/" => Some(answer(
            202,
            &[("Content-Type", "text/html")],
            "<form id='challenge-form' action='//x/anomaly.js'></form>",
        )),
        _ => Some(typed("text/html", "<p>something else</p>")),
    });
    let refusal = search(&all(&site)).await.unwrap_err();
    assert_eq!(
        refusal,
        "no search service is reachable (SearXNG: none of its own services answered; Brave: answered 429 Too Many \
         Requests; Exa: answered 302 Found; DuckDuckGo: answered with a page that is not one of results)"
    );
    let gone = WebOptions { searxng_url: Some("http://127.0.0.1:9/".to_owned()), ..settings(&site) };
    let refusal = search(&gone).await.unwrap_err();
    assert!(refusal.contains("SearXNG: 127.0.0.1:9 cannot be reached"), "{refusal}");
}

#[tokio::test]
async fn a_service_that_complains_is_left_alone_for_a_while() {
    let site = services(|path| path.starts_with("/brave").then(|| answer(429, &[("Retry-After", "99")], "")));
    let settings = WebOptions { brave_key: Some(BRAVE_KEY.into()), exa_key: Some(EXA_KEY.into()), ..settings(&site) };
    let tool = tool(&settings);
    for query in ["one", "two"] {
        assert!(call(&tool, json!({ "query": query })).await.unwrap().contains("(Exa)"));
    }
    assert_eq!(asked(&site), ["/brave", "/exa", "/exa"]);
}

#[tokio::test]
async fn requests_to_a_service_keep_their_distance_and_a_wait_can_be_cancelled() {
    let site = services(|_| None);
    let tool = tool(&all(&site));
    let began = Instant::now();
    for query in ["one", "two", "three"] {
        call(&tool, json!({ "query": query })).await.unwrap();
    }
    assert!(began.elapsed() >= Duration::from_secs(1), "three requests within {:?}", began.elapsed());
    // The next one must wait, and is dropped while it does.
    let waiting = call(&tool, json!({ "query": "four" }));
    let dropped = tokio::time::timeout(Duration::from_millis(50), waiting).await;
    assert!(dropped.is_err());
    assert_eq!(site.connections(), 3);
}

#[tokio::test]
async fn what_was_found_is_kept_for_the_user_alone_and_nobody_is_asked_again() {
    let (site, home) = (services(|_| None), tempfile::tempdir().unwrap());
    let directory = home.path().join("cache/steersman");
    let settings = WebOptions { cache_dir: Some(directory.clone()), ..all(&site) };
    let first = search(&settings).await.unwrap();
    // Without any approval: nothing leaves the machine.
    let arguments = json!({ "query": "how do harbours freeze?" });
    let (second, _) = call_in(&tool(&settings), ToolContext::detached(), arguments).await;
    assert_eq!(second.unwrap(), first.replace("(SearXNG)", "(SearXNG, found earlier)"));
    assert_eq!(site.connections(), 1);

    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let kept = directory.join("web_search");
    assert_eq!((mode(&kept), mode(&directory)), (0o700, 0o700));
    let files: Vec<_> = fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(mode(&files[0]), 0o600);
    let name = files[0].file_name().unwrap().to_str().unwrap();
    assert!(name.len() == 64 && name.chars().all(|c| c.is_ascii_hexdigit()), "{name}");
    let text = fs::read_to_string(&files[0]).unwrap();
    assert!(!text.contains("freeze") && !text.contains("canary"), "{text}");

    // Another query, another limit, other services: asked.
    for (count, arguments) in [(2, json!({ "query": "other" })), (3, json!({ "query": "other", "limit": 1 }))] {
        let text = call(&tool(&settings), arguments).await.unwrap();
        assert_eq!(site.connections(), count, "{text}");
    }
    // What is broken is as if it were not there, and is replaced.
    for broken in ["", "{", "[1, 2]", "\0\0\0", "{\"service\": 3}"] {
        fs::write(&files[0], broken).unwrap();
        assert_eq!(search(&settings).await.unwrap(), first);
        assert_eq!(fs::read_to_string(&files[0]).unwrap(), text);
    }
    // What is old, or of the future, as well.
    let day = Duration::from_hours(24);
    for time in [SystemTime::now() - day, SystemTime::now() + day] {
        fs::File::options().write(true).open(&files[0]).unwrap().set_modified(time).unwrap();
        assert_eq!(search(&settings).await.unwrap(), first);
    }
}

#[tokio::test]
async fn what_is_kept_stays_small_and_a_cache_that_cannot_be_written_harms_nothing() {
    let (services, home) = (services(|_| None), tempfile::tempdir().unwrap());
    let settings = WebOptions { cache_dir: Some(home.path().to_owned()), ..all(&services) };
    let kept = home.path().join("web_search");
    fs::create_dir(&kept).unwrap();
    for index in 0..9_u64 {
        let path = kept.join(format!("{index:064x}"));
        fs::write(&path, vec![b'x'; 1024 * 1024]).unwrap();
        let time = SystemTime::now() - Duration::from_secs(1_000 - index);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    search(&settings).await.unwrap();
    let size: u64 = fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert!(size <= 8 * 1024 * 1024, "{size}");
    assert!(!kept.join(format!("{:064x}", 0)).exists() && kept.join(format!("{:064x}", 8)).exists(), "the oldest goes");

    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    let settings = WebOptions { cache_dir: Some(file), ..all(&services) };
    assert!(search(&settings).await.unwrap().contains("(SearXNG)"));
}

#[tokio::test]
async fn the_question_shows_the_query_and_every_service_that_may_get_it() {
    let site = services(|_| None);
    let desk =
        std::sync::Arc::new(Approvals::new(Policy { answerer: Answerer::User, ..Policy::default() }, Mode::default()));
    let context = ToolContext::with_approvals(desk.clone());
    let tool = tool(&all(&site));
    let asking = call_in(&tool, context, json!({ "query": "  a \t query  " }));
    let answering = async {
        let open = loop {
            if let Some(open) = desk.open().pop() {
                break open;
            }
            tokio::task::yield_now().await;
        };
        let ApprovalSubject::Operation { operation: Operation::Search(operation) } = &open.subject else {
            panic!("{open:?}")
        };
        assert_eq!(operation.query, "a query");
        assert_eq!(operation.services, ["SearXNG", "Brave", "Exa", "DuckDuckGo"]);
        desk.answer(open.id, Answer::No(Some("use the files".to_owned())));
    };
    let ((refused, _), ()) = tokio::join!(asking, answering);
    assert_eq!(refused.unwrap_err(), "the user declined this and says: use the files");
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn a_query_that_cannot_be_asked_is_refused_and_a_limit_is_kept() {
    let site = services(|_| None);
    let tool = tool(&all(&site));
    for (arguments, words) in [
        (json!({ "query": " \u{200b} " }), "the query is blank"),
        (json!({ "query": "x".repeat(401) }), "the query is longer than 400 characters"),
        (json!({ "query": "x", "limit": 0 }), "limit must be at least 1"),
        (json!({ "query": "x", "limit": -3 }), "limit must be at least 1"),
    ] {
        assert_eq!(call(&tool, arguments).await.unwrap_err(), words);
    }
    assert_eq!(site.connections(), 0);
    let text = call(&tool, json!({ "query": "x", "limit": 1 })).await.unwrap();
    assert!(text.contains("\n1. ") && !text.contains("\n2. "), "{text}");
    for (url, key) in [("ftp://x/", "searx"), ("nonsense", "searx")] {
        let settings = WebOptions { searxng_url: Some(url.to_owned()), ..settings(&site) };
        assert!(Search::new(&settings).is_err(), "{url} {key}");
    }
}

#[tokio::test]
async fn no_result_is_ever_loaded_and_no_key_is_shown() {
    let canary = Canary::start();
    let place = format!("http://127.0.0.1:{}/x.png", canary.port());
    let results = json!({ "results": [
        { "title": format!("![x]({place})"), "url": place, "content": format!("<img src='{place}'> ![y]({place}?q=1)") },
    ] });
    let site = services(move |path| path.starts_with("/searx").then(|| typed("application/json", results.to_string())));
    let settings = all(&site);
    let text = search(&settings).await.unwrap();
    assert!(text.contains(&place), "it is shown as words");
    let shown = format!("{settings:?} {text}");
    assert!(!shown.contains(BRAVE_KEY) && !shown.contains(EXA_KEY), "{shown}");
    assert_eq!(canary.connections(), 0);
}
