//! `fetch`: the text of an address word for word, under caps, from where it was approved.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Approvals, Mode, Operation, Policy};
use steersman_core::tool::{Concurrency, Tool, ToolContext};
use steersman_tools::FetchTool;
use steersman_tools::web::{AllowedHosts, Client, RequestLimits, Target, WebOptions};

use crate::support::site::{Canary, Sent, Site, answer, approving, call, call_in, redirect, typed};

fn bounded(site: &Site, bounds: RequestLimits) -> FetchTool {
    let settings = WebOptions { allowed_hosts: vec![site.host()], bounds, ..WebOptions::default() };
    FetchTool::new(Client::new(&settings).unwrap())
}

fn tool(site: &Site) -> FetchTool {
    bounded(site, RequestLimits::default())
}

async fn get(site: &Site, path: &str) -> Result<String, String> {
    call(&tool(site), json!({ "url": site.url(path) })).await
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_text_comes_word_for_word() {
    let site = Site::of("text/plain; charset=utf-8", "line one\n\tline <two> & ü\n");
    let (result, shown) = call_in(&tool(&site), approving(), json!({ "url": site.url("/a.txt?x=y#part") })).await;
    assert_eq!(result.unwrap(), "line one\n\tline <two> & ü\n");
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0].url, site.url("/a.txt?x=y"));
    assert_eq!((shown[0].status, shown[0].content_type.as_str(), shown[0].bytes), (200, "text/plain", 26));
    let head = site.heads().remove(0).to_lowercase();
    assert!(head.starts_with("get /a.txt?x=y http/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("user-agent: steersman/{}\r\n", env!("CARGO_PKG_VERSION"))), "{head}");
    for never in ["cookie", "referer", "authorization"] {
        assert!(!head.contains(never), "{head}");
    }
}

#[tokio::test]
async fn nothing_is_sent_before_it_is_approved_and_then_exactly_what_was_shown() {
    let site = Site::of("text/plain", "well");
    let policy = Policy { answerer: Answerer::User, ..Policy::default() };
    let desk = Arc::new(Approvals::new(policy, Mode::default()));
    let context = ToolContext::with_approvals(Arc::clone(&desk));
    let tool = tool(&site);
    let url = format!("HTTP://2130706433:{}/a b?q=ü#x", site.port());
    let asking = call_in(&tool, context, json!({ "url": url }));
    let answering = async {
        let open = loop {
            if let Some(open) = desk.open().pop() {
                break open;
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(site.connections(), 0, "asked before the approval");
        let ApprovalSubject::Operation { operation: Operation::Fetch(operation) } = &open.subject else {
            panic!("{open:?}")
        };
        assert_eq!((&*operation.tool, operation.url.as_str()), ("fetch", site.url("/a%20b?q=%C3%BC").as_str()));
        assert!(desk.answer(open.id, Answer::Once));
    };
    let ((result, _), ()) = tokio::join!(asking, answering);
    assert_eq!(result.unwrap(), "well");
    assert_eq!(site.paths(), ["/a%20b?q=%C3%BC"]);
}

#[tokio::test]
async fn without_an_approval_nothing_is_sent() {
    let site = Site::of("text/plain", "well");
    let (refused, shown) = call_in(&tool(&site), ToolContext::detached(), json!({ "url": site.url("/") })).await;
    assert_eq!(refused.unwrap_err(), "this needs the user's approval, and nobody is there to give it");
    assert!(shown.is_empty());
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once_and_hangs_up() {
    let site = Site::start(|_| vec![Sent::Hang]);
    let tool = tool(&site);
    let asked = async {
        while site.heads().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        result = call(&tool, json!({ "url": site.url("/") })) => panic!("{result:?}"),
        () = asked => {}
    }
    assert_eq!(tool.spec().concurrency, Concurrency::Parallel);
    let traits = tool.spec().traits;
    assert!(traits.untrusted && traits.egress && !traits.private);
}

#[tokio::test]
async fn only_text_is_shown() {
    for kind in [
        "text/html",
        "text/x-rust",
        "application/json",
        "application/vnd.api+json",
        "application/atom+xml",
        "application/xml",
        "application/javascript",
        "application/x-sh",
        "Application/JSON; charset=UTF-8",
        "",
    ] {
        let site = Site::of(kind, "{}");
        assert_eq!(get(&site, "/").await.unwrap(), "{}", "{kind}");
    }
    for kind in [
        "image/png",
        "image/svg+xml",
        "video/mp4",
        "application/octet-stream",
        "application/zip",
        "application/pdf",
        "application/msword",
        "font/woff2",
        "multipart/form-data",
        "nonsense",
    ] {
        let site = Site::of(kind, "12345");
        let refusal = get(&site, "/f").await.unwrap_err();
        assert!(
            refusal.starts_with(&format!("{} is {kind} (5 bytes); fetch shows text only", site.url("/f"))),
            "{refusal}"
        );
        assert_eq!(refusal.contains("web_scrape"), kind == "application/pdf");
    }
    let site = Site::start(|_| answer(200, &[], b"\x7fELF\0\0"));
    assert!(get(&site, "/").await.unwrap_err().contains("has no type and is not text (6 bytes)"));
}

#[tokio::test]
async fn old_encodings_are_decoded() {
    let latin = Site::of("text/plain; charset=ISO-8859-1", b"caf\xe9 \x80");
    assert_eq!(get(&latin, "/").await.unwrap(), "café €");
    let quoted = Site::of("text/plain; a=b; Charset=\"windows-1251\"", b"\xcf\xf0\xe8\xe2\xe5\xf2");
    assert_eq!(get(&quoted, "/").await.unwrap(), "Привет");
    let meta = Site::of("text/html", b"<html><head><meta charset='Shift_JIS'></head>\x93\xfa\x96{");
    assert!(get(&meta, "/").await.unwrap().ends_with("日本"));
    let older =
        Site::of("text/html", b"<META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset=iso-8859-2'>\xb3\xf3d\xbc");
    assert!(get(&older, "/").await.unwrap().ends_with("łódź"));
    let plain = Site::of("text/plain", b"<meta charset=shift_jis> \xe9!");
    assert_eq!(get(&plain, "/").await.unwrap(), "<meta charset=shift_jis> é!", "only pages speak of themselves");
    let marked = Site::of("text/plain; charset=latin1", b"\xef\xbb\xbfna\xc3\xafve");
    assert_eq!(get(&marked, "/").await.unwrap(), "naïve", "a byte order mark wins");
    let wide = Site::of("text/plain", b"\xff\xfeh\0i\0");
    assert_eq!(get(&wide, "/").await.unwrap(), "hi");
    let unknown = Site::of("text/plain; charset=klingon", "ü");
    assert_eq!(get(&unknown, "/").await.unwrap(), "ü");
    let lying = Site::of("text/html", "<meta charset=utf-16>ü");
    assert!(get(&lying, "/").await.unwrap().ends_with('ü'));
    let nul = Site::of("text/plain", b"a\0b");
    assert_eq!(get(&nul, "/").await.unwrap(), "a␀b");
}

#[tokio::test]
async fn a_long_text_comes_in_windows() {
    let text: String = (0..120_000).map(|n| if n % 60 == 59 { '\n' } else { 'ü' }).collect();
    let site = Site::of("text/plain", &text);
    let tool = tool(&site);
    let window = async |offset: usize| call(&tool, json!({ "url": site.url("/"), "offset": offset })).await;
    let mut whole = String::new();
    for (offset, next) in [(0, 50_000), (50_000, 100_000)] {
        let shown = window(offset).await.unwrap();
        let note = format!("[characters {offset} to {next} of 120000; to go on, use offset {next}]\n");
        whole.push_str(shown.strip_suffix(&note).unwrap().trim_end_matches('\n'));
        whole.extend((next % 60 == 0).then_some('\n'));
    }
    assert_eq!(whole, text.chars().take(100_000).collect::<String>());
    let rest: String = text.chars().skip(100_000).collect();
    assert_eq!(window(100_000).await.unwrap(), rest);
    assert_eq!(window(120_000).await.unwrap_err(), "offset 120000 is past the end: the text has 120000 characters");
    assert_eq!(
        call(&tool, json!({ "url": site.url("/"), "offset": -1 })).await.unwrap_err(),
        "offset must be at least 0"
    );
}

#[tokio::test]
async fn an_empty_body_is_said_to_be_empty() {
    let site = Site::of("text/plain", "");
    assert_eq!(get(&site, "/").await.unwrap(), "[there is no text]");
}

#[tokio::test]
async fn an_error_of_the_server_is_an_error_with_its_words() {
    let site = Site::start(|path| match path {
        "/gone" => answer(404, &[("Content-Type", "application/json")], "{\"error\": \"no such page\"}"),
        "/busy" => answer(429, &[("Retry-After", "30")], ""),
        _ => answer(500, &[("Content-Type", "text/plain")], "x".repeat(100_000)),
    });
    let (gone, shown) = call_in(&tool(&site), approving(), json!({ "url": site.url("/gone") })).await;
    assert_eq!(
        gone.unwrap_err(),
        format!("{} answered 404 Not Found:\n{{\"error\": \"no such page\"}}", site.url("/gone"))
    );
    assert_eq!((shown[0].status, shown[0].bytes), (404, 25));
    let busy = get(&site, "/busy").await.unwrap_err();
    assert!(busy.ends_with("answered 429 Too Many Requests (to be tried again after: 30)"), "{busy}");
    assert!(get(&site, "/other").await.unwrap_err().len() < 800);
}

#[tokio::test]
async fn a_bomb_ends_at_the_cap_and_is_not_unpacked_first() {
    let bounds = RequestLimits { bytes: 100_000, ..RequestLimits::default() };
    let bomb = gzip(&vec![b'a'; 64 * 1024 * 1024]);
    let packed = bomb.len();
    let site =
        Site::start(move |_| answer(200, &[("Content-Type", "text/plain"), ("Content-Encoding", "gzip")], &bomb));
    let (result, shown) = call_in(&bounded(&site, bounds), approving(), json!({ "url": site.url("/") })).await;
    let text = result.unwrap();
    assert!(packed < 70_000 && text.starts_with("aaaa"));
    assert!(text.contains("[the body is longer than 100000 bytes; the rest was not read]\n"), "{}", &text[49_000..]);
    assert_eq!(shown[0].bytes, 100_000);
}

#[tokio::test]
async fn compressed_text_is_unpacked_and_a_broken_one_is_an_error() {
    let text = "compressed ü ".repeat(1000);
    let packed = gzip(text.as_bytes());
    let site = Site::start(move |path| {
        let encoded = |encoding: &str, body: &[u8]| {
            answer(200, &[("Content-Type", "text/plain"), ("Content-Encoding", encoding)], body)
        };
        match path {
            "/whole" => encoded("gzip", &packed),
            "/behind" => encoded("gzip", &[packed.as_slice(), b"rubbish behind the end"].concat()),
            "/short" => encoded("gzip", &packed[..packed.len() / 2]),
            "/noise" => encoded("gzip", b"this is not compressed at all"),
            "/none" => encoded("identity", b"as it is"),
            _ => encoded("br", &packed),
        }
    });
    assert_eq!(get(&site, "/whole").await.unwrap(), text);
    assert_eq!(get(&site, "/behind").await.unwrap(), text);
    assert_eq!(get(&site, "/none").await.unwrap(), "as it is");
    for broken in ["/short", "/noise"] {
        assert!(get(&site, broken).await.unwrap_err().contains("cannot be decompressed"), "{broken}");
    }
    assert!(get(&site, "/br").await.unwrap_err().ends_with("is encoded as br, which was not asked for"));
    assert!(site.heads()[0].to_lowercase().contains("accept-encoding: gzip\r\n"));
}

#[tokio::test]
async fn an_endless_body_ends_at_the_cap() {
    let bounds = RequestLimits { bytes: 200_000, ..RequestLimits::default() };
    let site = Site::start(|_| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n".to_vec();
        vec![Sent::Bytes(head), Sent::Endless(vec![b'y'; 4096])]
    });
    let text = call(&bounded(&site, bounds), json!({ "url": site.url("/") })).await.unwrap();
    assert!(text.contains("[the body is longer than 200000 bytes; the rest was not read]\n"));
}

#[tokio::test]
async fn a_length_that_lies_is_an_error_or_is_not_believed() {
    let site = Site::start(|path| {
        let length = if path == "/long" { "1000000000000" } else { "3" };
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n");
        vec![Sent::Bytes([head.as_bytes(), b"12345"].concat())]
    });
    let refusal = get(&site, "/long").await.unwrap_err();
    assert!(refusal.contains("broke off after 5 bytes"), "{refusal}");
    assert_eq!(get(&site, "/short").await.unwrap(), "123");
}

#[tokio::test]
async fn a_slow_drip_and_a_silence_end_in_time() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n".to_vec();
    let of_site = head.clone();
    let site = Site::start(move |path| match path {
        "/drip" => vec![Sent::Bytes(of_site.clone()), Sent::Drip(vec![b'.'; 10_000], Duration::from_millis(20))],
        "/head" => vec![Sent::Drip(of_site.repeat(100), Duration::from_millis(20))],
        "/silent" => vec![Sent::Bytes(of_site.clone()), Sent::Hang],
        _ => vec![Sent::Hang],
    });
    let drip = RequestLimits { time: Duration::from_millis(500), ..RequestLimits::default() };
    let silence = RequestLimits { silence: Duration::from_millis(300), ..RequestLimits::default() };
    for (path, bounds, words) in [
        ("/drip", drip, "took longer than 0.5 s"),
        ("/head", drip, "took longer than 0.5 s"),
        ("/silent", silence, "broke off after 0 bytes"),
        ("/nothing", silence, "no answer of"),
    ] {
        let began = Instant::now();
        let refusal = call(&bounded(&site, bounds), json!({ "url": site.url(path) })).await.unwrap_err();
        assert!(refusal.contains(words), "{path}: {refusal}");
        assert!(began.elapsed() < Duration::from_mins(1), "{path} took {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn a_flood_of_headers_is_an_error() {
    let site = Site::start(|path| match path {
        "/many" => {
            let lines = "X: y\r\n".repeat(5_000);
            vec![Sent::Bytes(format!("HTTP/1.1 200 OK\r\n{lines}\r\nbody").into_bytes())]
        }
        "/long" => {
            let long = format!("HTTP/1.1 200 OK\r\nX-Long: {}\r\n\r\nbody", "y".repeat(4 * 1024 * 1024));
            vec![Sent::Bytes(long.into_bytes())]
        }
        _ => vec![Sent::Bytes(b"HTTP/1.1 200 OK\r\nX: ".to_vec()), Sent::Endless(vec![b'y'; 4096])],
    });
    for path in ["/many", "/long", "/endless"] {
        let refusal = get(&site, path).await.unwrap_err();
        assert!(refusal.starts_with("no answer of 127.0.0.1"), "{path}: {refusal}");
    }
}

#[tokio::test]
async fn what_is_no_http_is_an_error() {
    let site = Site::start(|_| vec![Sent::Bytes(b"220 mail.example ESMTP\r\n".to_vec())]);
    assert!(get(&site, "/").await.unwrap_err().starts_with("no answer of 127.0.0.1"));
}

#[tokio::test]
async fn redirects_are_followed_within_a_site_and_only_five() {
    let site = Site::start(|path| match path {
        "/one" => redirect("two?x=y#z"),
        "/two?x=y" => redirect("/three"),
        "/three" => typed("text/plain", "arrived"),
        "/loop" => redirect("/loop"),
        "/empty" => answer(302, &[], ""),
        "/bad" => redirect("http://[::"),
        _ => {
            let left: u32 = path.trim_start_matches('/').parse().unwrap();
            if left == 0 { typed("text/plain", "at the end") } else { redirect(&format!("/{}", left - 1)) }
        }
    });
    let (result, shown) = call_in(&tool(&site), approving(), json!({ "url": site.url("/one") })).await;
    assert_eq!(result.unwrap(), "arrived");
    assert_eq!(shown[0].url, site.url("/three"));
    assert_eq!(get(&site, "/5").await.unwrap(), "at the end");
    for endless in ["/6", "/loop"] {
        assert!(get(&site, endless).await.unwrap_err().ends_with("redirects more than 5 times"));
    }
    assert!(get(&site, "/empty").await.unwrap_err().contains("answered 302 Found"));
    assert!(
        get(&site, "/bad").await.unwrap_err().contains("redirects to something that is not an address: http://[::")
    );
}

#[tokio::test]
async fn a_redirect_to_another_site_is_named_and_not_followed() {
    let canary = Canary::start();
    let other = Site::of("text/plain", "the other");
    let place = other.url("/next?secret=1");
    let of_site = place.clone();
    let site = Site::start(move |path| match path {
        "/world" => redirect("https://example.com/next?q=ü"),
        "/scheme" => redirect("ftp://127.0.0.1/"),
        "/file" => redirect("file:///etc/passwd"),
        _ => redirect(&of_site),
    });
    let settings = WebOptions { allowed_hosts: vec![site.host(), other.host()], ..WebOptions::default() };
    let tool = FetchTool::new(Client::new(&settings).unwrap());
    let refusal = call(&tool, json!({ "url": site.url("/") })).await.unwrap_err();
    let words = "(not followed; call again with that address if it is wanted)";
    assert_eq!(refusal, format!("{} redirects to another site: {place} {words}", site.url("/")));
    assert_eq!(other.connections(), 0, "an address that nobody approved was asked");
    let world = call(&tool, json!({ "url": site.url("/world") })).await.unwrap_err();
    assert!(world.contains("another site: https://example.com/next?q="), "{world}");
    for scheme in ["/scheme", "/file"] {
        let refusal = call(&tool, json!({ "url": site.url(scheme) })).await.unwrap_err();
        assert!(
            refusal.contains("redirects to an address that is refused") && refusal.contains("only http and https are")
        );
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn http_is_asked_as_https_first_and_approved_for_each() {
    let desk = Arc::new(Approvals::new(Policy { answerer: Answerer::User, ..Policy::default() }, Mode::default()));
    let context = ToolContext::with_approvals(Arc::clone(&desk));
    let shown: Arc<Mutex<Vec<String>>> = Arc::default();
    let answering = async {
        loop {
            if let Some(open) = desk.open().pop() {
                if let ApprovalSubject::Operation { operation: Operation::Fetch(operation) } = &open.subject {
                    shown.lock().unwrap().push(operation.url.clone());
                }
                desk.answer(open.id, Answer::No(None));
            }
            tokio::task::yield_now().await;
        }
    };
    let tool = FetchTool::new(Client::new(&WebOptions::default()).unwrap());
    tokio::select! {
        (refused, _) = call_in(&tool, context, json!({ "url": "http://example.com/a" })) => {
            assert_eq!(refused.unwrap_err(), "the user declined this");
        }
        () = answering => {}
    }
    assert_eq!(*shown.lock().unwrap(), ["https://example.com/a"], "no http behind a refusal");

    let allowed = AllowedHosts::parse(["plain.example"]).unwrap();
    let upgraded = |url: &str| Target::parse(url, &allowed).unwrap().upgraded().map(|target| target.url().to_string());
    assert_eq!(upgraded("http://example.com/a?b"), Some("https://example.com/a?b".to_owned()));
    assert_eq!(upgraded("http://example.com:80/"), Some("https://example.com/".to_owned()));
    assert_eq!(upgraded("http://example.com:8080/"), None, "a port of its own is asked as it is written");
    assert_eq!(upgraded("https://example.com/"), None);
    assert_eq!(upgraded("http://plain.example/"), None);
}
