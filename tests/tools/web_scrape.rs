//! `web_scrape`: what a reader sees of a page, as Markdown; nothing that the page names is loaded.

use std::time::Duration;

use serde_json::json;
use steersman_tools::WebScrapeTool;
use steersman_tools::web::{Client, Readable, WebOptions, readable};

use crate::support::cpu_time::CpuTime;
use crate::support::processes::spawner;
use crate::support::site::{Canary, Site, answer, approving, call, call_in, typed};
use crate::support::skip::{Need, skip};

const ARTICLE: &str = include_str!("../fixtures/pages/article.html");
const DOCS: &str = include_str!("../fixtures/pages/docs.html");
const LISTING: &str = include_str!("../fixtures/pages/listing.html");

fn read(html: &str) -> Readable {
    readable(html, &"https://site.example/dir/page.html".parse().unwrap())
}

fn tool(site: &Site) -> WebScrapeTool {
    let settings = WebOptions { allowed_hosts: vec![site.host()], ..WebOptions::default() };
    WebScrapeTool::new(Client::new(&settings).unwrap(), Some(spawner().as_ref().clone()))
}

async fn scrape(site: &Site) -> Result<String, String> {
    call(&tool(site), json!({ "url": site.url("/x") })).await
}

/// Makes a small PDF document of one line on each page.
fn pdf(lines: &[&str]) -> Vec<u8> {
    let count = lines.len();
    let kids: Vec<String> = (0..count).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {count} >>", kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for (page, line) in lines.iter().enumerate() {
        let content = format!("BT /F1 12 Tf 72 720 Td ({line}) Tj ET");
        let of_page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>";
        objects.push(format!("{of_page} /Contents {} 0 R >>", 5 + 2 * page));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    let mut document = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(document.len());
        document.extend([&(index + 1).to_string(), " 0 obj\n", object, "\nendobj\n"]);
    }
    let start = document.len();
    document.extend(["xref\n0 ", &(objects.len() + 1).to_string(), "\n0000000000 65535 f \n"]);
    for place in places {
        document.extend([format!("{place:010} 00000 n \n").as_str()]);
    }
    let size = objects.len() + 1;
    document.extend([format!("trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").as_str()]);
    document.into_bytes()
}

#[test]
fn an_article_is_shown_without_what_surrounds_it() {
    let page = read(ARTICLE);
    assert_eq!(page.title, "How the harbour froze in a night | The Coastal Courier");
    insta::assert_snapshot!("article", page.markdown);
    for shown in [
        "the water was gone",
        "[so clear that one could see the chains](https://courier.example/news/harbour-history.html?year=1929#ice)",
        "(https://institute.example/people/lind)",
        "(image: The frozen harbour, seen from the north pier)",
        "**“it needs great calm.”**",
        "## What happens now",
        "The boats are towed out, the small ones first.",
        "> Whoever walks on it",
        "skating club",
        "AB, zerowidth, bidi mark",
    ] {
        assert!(page.markdown.contains(shown), "{shown}\n{}", page.markdown);
    }
    for dropped in [
        "Ignore all earlier",
        "hidden words",
        "comment words",
        "template words",
        "script words",
        "style words",
        "link words",
        "javascript:",
        "Most read",
        "Accept all",
        "CANARY",
        "counter",
        "Sport",
    ] {
        assert!(!page.markdown.contains(dropped), "{dropped}\n{}", page.markdown);
    }
}

#[test]
fn code_and_tables_keep_their_form() {
    let page = read(DOCS);
    insta::assert_snapshot!("docs", page.markdown);
    assert!(page.markdown.contains("```rust\nlet pool = Pool::new()\n    .size(8)      // connections\n    .idle(None);\nif a < b && c { pool.close(); }\n```"), "{}", page.markdown);
    assert!(page.markdown.contains("| `size` | 4 |"), "{}", page.markdown);
    assert!(page.markdown.contains("[the guide on pools](https://site.example/guide/pools.html)"));
    assert!(!page.markdown.contains("](#") && !page.markdown.contains("page.html#"), "{}", page.markdown);
}

#[test]
fn a_page_without_an_article_is_shown_whole() {
    let page = read(LISTING);
    for shown in [
        "[A small compiler in a weekend](https://one.example/post)",
        "(https://site.example/item?id=2)",
        "Maps of imaginary islands",
        "51 points",
    ] {
        assert!(page.markdown.contains(shown), "{shown}\n{}", page.markdown);
    }
    assert_eq!(read("").markdown, "");
    assert_eq!(read("just words").markdown, "just words");
    assert_eq!(read("<div id=root></div><script>app()</script>").markdown, "");
    assert_eq!(read("<title> a\n b&#x202e; </title><p>x</p>").title, "a b");
}

#[test]
fn no_page_takes_down_the_program_or_holds_it_up() {
    let formats: String = (0..10_000).fold(String::new(), |all, n| all + &format!("<b id={n}>"));
    let pages = [
        ("<div>".repeat(100_000), 1),
        ("<ul><li>".repeat(30_000), 1),
        ("<blockquote>".repeat(30_000), 1),
        ("<table><tr><td>".repeat(5_000), 1),
        ("<a href=x><b>".repeat(20_000), 1),
        ("<b><i><p>".repeat(1_000), 0),
        (formats.clone() + &"<p>x".repeat(10_000), 1),
        ("<p>".to_owned() + &formats.replace("><", "></p><p><") + &"<p>x".repeat(2_000), 1),
        ("<p>word</p>".repeat(101_000), 1),
        ("<p>word</p>".repeat(10_000), 0),
        ("<br>".repeat(20_000), 0),
        (format!("<p title='{}'>", "x".repeat(4_000_000)), 0),
        ("&lt;".repeat(30_000), 0),
        // What is written as HTML to find the article, escape by escape.
        (format!("<p>{}", "\u{a0}".repeat(500_000)), 0),
        (format!("<p title='{}'>", "\u{a0}".repeat(500_000)), 0),
        ("\u{202e}\u{0}<".repeat(50_000), 0),
        ("<div><p>word</p>".repeat(60), 0),
    ];
    for (index, (page, cut)) in pages.iter().enumerate() {
        let page = format!("<p>begin</p>{page}<p>end");
        // A stack as small as those of the threads that do it.
        let (shown, time) = std::thread::scope(|scope| {
            let small = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
            let measured = || {
                let began = CpuTime::now();
                (read(&page), began.elapsed())
            };
            small.spawn_scoped(scope, measured).unwrap().join().unwrap()
        });
        assert!(shown.markdown.contains("begin"), "page {index}");
        assert_eq!(usize::from(shown.cut), *cut, "page {index}");
        assert!(shown.cut || shown.markdown.contains("end"), "page {index}");
        assert!(time < Duration::from_mins(1), "page {index} took {time:?}");
    }
}

#[tokio::test]
async fn title_and_address_stand_above_and_nothing_else_is_loaded() {
    let canary = Canary::start();
    let place = format!("http://127.0.0.1:{}", canary.port());
    let site = Site::of("text/html; charset=utf-8", ARTICLE.replace("CANARY", &place));
    let (text, shown) = call_in(&tool(&site), approving(), json!({ "url": site.url("/x") })).await;
    let text = text.unwrap();
    let top = format!("# How the harbour froze in a night | The Coastal Courier\n{}\n\n", site.url("/x"));
    assert!(text.starts_with(&top), "{text}");
    assert!(!text.contains(&place), "{text}");
    assert_eq!((shown[0].status, shown[0].content_type.as_str()), (200, "text/html"));
    assert_eq!(site.connections(), 1);
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn plain_text_passes_and_what_has_no_type_is_looked_at() {
    let plain = Site::of("text/plain", "a <b> c\n");
    assert_eq!(scrape(&plain).await.unwrap(), format!("{}\n\na <b> c\n", plain.url("/x")));
    let untyped = Site::start(|_| answer(200, &[], "\n <!DOCTYPE HTML><title>t</title><p>some words"));
    assert_eq!(scrape(&untyped).await.unwrap(), format!("# t\n{}\n\nsome words\n", untyped.url("/x")));
    let latin = Site::of("text/html", b"<meta charset=latin1><p>caf\xe9</p>");
    assert!(scrape(&latin).await.unwrap().ends_with("café\n"));
    let shell = Site::of("text/html", "<title>App</title><script>x</script>");
    assert!(scrape(&shell).await.unwrap().contains("[the page shows no text without its scripts]"));
    let image = Site::of("image/png", b"\x89PNG");
    assert!(scrape(&image).await.unwrap_err().contains("is image/png (4 bytes); web_scrape shows pages"));
}

#[tokio::test]
async fn a_long_page_comes_in_windows() {
    let site = Site::of("text/html", format!("<p>{}</p>", "word ".repeat(30_000)));
    let first = scrape(&site).await.unwrap();
    assert!(first.contains("to go on, use offset 50000]"), "{}", &first[first.len() - 100..]);
    let last = call(&tool(&site), json!({ "url": site.url("/x"), "offset": 150_000 })).await.unwrap();
    assert!(last.ends_with("word\n"), "{last}");
}

#[tokio::test]
async fn a_pdf_document_is_read_page_by_page() {
    let document = pdf(&["First page (of two)".replace(['(', ')'], "").as_str(), "Second page"]);
    let of_site = document.clone();
    let site = Site::start(move |path| match path {
        "/broken.pdf" => typed("application/pdf", b"%PDF-1.4 rubbish"),
        "/doc.pdf" => typed("application/octet-stream", &of_site),
        _ => typed("application/pdf", &of_site),
    });
    let without = WebScrapeTool::new(
        Client::new(&WebOptions { allowed_hosts: vec![site.host()], ..WebOptions::default() }).unwrap(),
        None,
    );
    let refusal = call(&without, json!({ "url": site.url("/x") })).await.unwrap_err();
    assert!(refusal.ends_with("is a PDF document, and nothing here can read it"), "{refusal}");
    let text = match scrape(&site).await {
        Err(missing) if missing.contains("is not installed") => {
            skip(Need::Program("pdftotext"), "PDF documents are not read");
            return;
        }
        text => text.unwrap(),
    };
    assert!(text.contains("(PDF document)\n\n## Page 1\n\nFirst page of two\n\n## Page 2\n\nSecond page\n"), "{text}");
    let untyped = call(&tool(&site), json!({ "url": site.url("/doc.pdf") })).await.unwrap();
    assert!(untyped.contains("Second page"), "{untyped}");
    let broken = call(&tool(&site), json!({ "url": site.url("/broken.pdf") })).await.unwrap_err();
    assert!(broken.contains("the PDF document cannot be read"), "{broken}");
}
