//! Stories of the exported web page in a real browser: hostile text is inert, calls fold and unfold, light and dark.
//!
//! Not a part of a usual run: `CHROMIUM` names the program of a Chromium. It is steered over its pipe, with messages of the
//! `Chrome DevTools` protocol between zero bytes.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use steersman_base::event::Event;
use steersman_exchange::export::{SessionParts, html};
use tempfile::TempDir;

use crate::support::saved::{self, Saved};
use crate::support::server::Server;

/// A browser without a window, with one page; it ends with its value.
struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// The session of the page.
    session: Value,
    number: u64,
    /// What happened between the answers.
    events: Vec<Value>,
    directory: TempDir,
}

impl Browser {
    fn start() -> Self {
        let program = std::env::var("CHROMIUM").expect("CHROMIUM names the program of a Chromium");
        let directory = TempDir::new().unwrap();
        let profile = format!("--user-data-dir={}", directory.path().join("profile").display());
        // It reads from 3 and writes to 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null", "sh", &program, &profile])
            .args(["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--disable-background-networking", "about:blank"])
            .env("HOME", directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut browser = Self { child, to, from, session: Value::Null, number: 0, events: Vec::new(), directory };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }))["targetId"].clone();
        let attach = json!({ "targetId": target, "flatten": true });
        browser.session = browser.call("Target.attachToTarget", &attach)["sessionId"].clone();
        for domain in ["Page", "Network", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Reads the next message.
    fn next(&mut self) -> Value {
        let mut message = Vec::new();
        self.from.read_until(0, &mut message).unwrap();
        assert_eq!(message.pop(), Some(0), "the browser has ended");
        serde_json::from_slice(&message).unwrap()
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": params });
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut answer = self.next();
            if answer["id"] == self.number {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].take();
            }
            self.events.push(answer);
        }
    }

    /// Opens a page and waits until everything of it is loaded.
    fn open(&mut self, page: &str) {
        let path = self.directory.path().join("page.html");
        fs::write(&path, page).unwrap();
        self.events.clear();
        self.call("Page.navigate", &json!({ "url": format!("file://{}", path.display()) }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.next();
            self.events.push(event);
        }
    }

    /// Returns the value of an expression in the page.
    fn value(&mut self, expression: &str) -> Value {
        let mut answer = self.call(
            "Runtime.evaluate",
            &json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }),
        );
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// Presses and lets go of the mouse in the middle of the first element of a kind.
    fn click(&mut self, selector: &str) {
        let place = self.value(&format!(
            "(() => {{ const e = document.querySelector('{selector}'); e.scrollIntoView();
             const r = e.getBoundingClientRect(); return [r.x + 20, r.y + r.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Sets what the page is told of the user's wish; returns the colours of its text and its ground.
    fn colours(&mut self, scheme: &str) -> Value {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &features);
        self.value("(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))")
    }

    /// Returns the addresses that the page has asked for.
    fn requests(&self) -> Vec<&str> {
        let sent = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.map(|event| event["params"]["request"]["url"].as_str().unwrap()).collect()
    }

    fn has_event(&self, method: &str) -> bool {
        self.events.iter().any(|event| event["method"] == method)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Texts that would run, load, lead away or style in a page that took them for its own.
fn hostile(origin: &str) -> Vec<String> {
    let texts = [
        "<script>window.owned = 1; alert(1)</script>",
        "</pre></details></style></title><script src=\"ORIGIN/a.js\"></script>",
        "<img src=\"ORIGIN/b.png\" onerror=\"window.owned = 2\">",
        "<svg onload=\"window.owned = 3\"><use href=\"ORIGIN/c.svg#x\"/></svg>",
        "<iframe srcdoc=\"<script>parent.owned = 4</script>\"></iframe><object data=\"ORIGIN/d\"></object>",
        "<link rel=stylesheet href=\"ORIGIN/e.css\"><style>@import 'ORIGIN/f.css'; body { background: url(ORIGIN/g) }</style>",
        "<meta http-equiv=refresh content=\"0;url=ORIGIN/h\"><base href=\"ORIGIN/\">",
        "![x](ORIGIN/i.png) [click](javascript:window.owned=5) <ORIGIN/j>",
        "<form action=\"ORIGIN/k\"><input autofocus onfocus=\"window.owned = 6\"></form>",
        "<details open ontoggle=\"window.owned = 7\"><summary>x</summary></details>",
        "<body style=\"display:none\" onload=\"window.owned = 8\"><video src=\"ORIGIN/l\" onerror=\"window.owned = 9\"></video>",
        "'\"`--></textarea><math><mtext><script>window.owned = 10</script></mtext></math>",
    ];
    texts.iter().map(|text| text.replace("ORIGIN", origin)).collect()
}

#[test]
#[ignore = "needs CHROMIUM, a Chromium"]
fn hostile_text_is_inert_in_a_browser() {
    let server = Server::start([]);
    let saved = Saved::new();
    let texts = hostile(server.origin());
    let file = saved.session(|play| {
        saved::usual(play);
        play.event("", Event::TurnStarted { turn: 2 });
        for (number, text) in texts.iter().enumerate() {
            let id = format!("h{number}");
            play.user(&id, text, None).event("", Event::RoundStarted { turn: 2, round: 1 });
            play.event("", Event::Thinking { text: text.clone() }).answer("", text);
            play.call("", &id, text, &json!({ "command": text }).to_string()).result("", &id, text);
            play.event("", Event::Notice { text: text.clone() });
        }
    });
    let page = html(&SessionParts::new(file.read().unwrap()), &TimeZone::UTC);
    let mut browser = Browser::start();
    browser.open(&page);
    // All of it is looked at, and everything that can be clicked and does not lead away is clicked.
    browser.value("document.querySelectorAll('details').forEach(e => { e.open = true })");
    browser.value("document.querySelectorAll('a[href^=\"#\"], summary').forEach(e => e.click())");
    browser.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    assert_eq!(browser.value("window.owned === undefined"), true);
    assert!(!browser.has_event("Page.javascriptDialogOpening"));
    let requests = browser.requests();
    assert!(requests.iter().all(|address| address.starts_with("file://")), "{requests:?}");
    assert_eq!(server.requests().len(), 0, "no request leaves");
    let elements = "script, img, iframe, object, embed, link, form, input, base, svg, math, video, [style], [srcdoc]";
    assert_eq!(browser.value(&format!("document.body.querySelectorAll('{elements}').length")), 0);
    let handlers = "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes]).filter(a => a.name.startsWith('on')).length";
    assert_eq!(browser.value(handlers), 0);
    assert_eq!(browser.value("document.querySelectorAll('style').length"), 1);
    // It is there to be read.
    let shown = browser.value("document.body.innerText");
    for text in &texts {
        let begin: String = text.chars().take(24).collect();
        assert!(shown.as_str().unwrap().contains(&begin), "{begin} is not shown");
    }
    // The policy holds also for what would find a way out of its text.
    browser.value("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.owned = 11\">')");
    browser
        .value("document.body.append(Object.assign(document.createElement('script'), { text: 'window.owned = 12' }))");
    browser.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    assert_eq!(browser.value("window.owned === undefined"), true);
}

#[test]
#[ignore = "needs CHROMIUM, a Chromium"]
fn calls_fold_and_unfold_and_the_page_is_light_or_dark_as_the_user_wishes() {
    let saved = Saved::new();
    let page = html(&SessionParts::new(saved.usual().read().unwrap()), &TimeZone::UTC);
    let mut browser = Browser::start();
    browser.open(&page);
    let is_shown = "document.querySelector('details.call pre').checkVisibility({ contentVisibilityAuto: true })
        && document.querySelector('details.call').open";
    assert_eq!(browser.value(is_shown), false, "calls begin folded");
    browser.click("details.call > summary");
    assert_eq!(browser.value(is_shown), true);
    browser.click("details.call > summary");
    assert_eq!(browser.value(is_shown), false);
    let (light, dark) = (browser.colours("light"), browser.colours("dark"));
    assert_eq!(light, json!(["rgb(31, 35, 40)", "rgb(255, 255, 255)"]));
    assert_eq!(dark, json!(["rgb(230, 237, 243)", "rgb(13, 17, 23)"]));
    // Nothing is wider than a narrow screen.
    let narrow = json!({ "width": 360, "height": 640, "deviceScaleFactor": 1, "mobile": true });
    browser.call("Emulation.setDeviceMetricsOverride", &narrow);
    assert_eq!(browser.value("document.documentElement.scrollWidth <= 360"), true);
}
