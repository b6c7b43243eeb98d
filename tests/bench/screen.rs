//! Whole-program figures: the release program on a 120x40 pseudo-terminal against a paced server on loopback.
//!
//! `cargo bench --bench screen` prints them, each beside the best comparable program as measured in November 2026.
//! CPU and memory come from `/proc`, so those rows need Linux. Arguments pick rows: `cargo bench --bench screen -- burst`.

use steersman_test_support as support;

use std::time::{Duration, Instant};

use steersman_base::limits;

use support::long_session::{LAST_WORDS, recorded, write};
use support::paced::Paced;
use support::terminal::{ALTERNATE_SCREEN, Start, Terminal, keys};

/// Letters that the paced server never writes.
const RARE: [&str; 4] = ["Z", "Q", "X", "J"];
/// What rubs a letter out again.
const RUB_OUT: &str = "\x7f";
/// What terminals send for F5.
const F5: &str = "\x1b[15~";
/// Sub-agents that stream beside each other.
const STREAMING: usize = limits::PARALLEL_TOOLS;
/// Time between two letters, as a fast typist makes it; a letter is two frames, its echo and its end.
const GAP: Duration = Duration::from_millis(70);

fn main() {
    let picked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wanted = |name: &str| picked.is_empty() || picked.iter().any(|pick| name.contains(pick.as_str()));
    println!("{:<46} {:>26}   best comparable program", "figure (times: median / p99 / max)", "here");
    let rows: [(&str, fn()); 12] = [
        ("start", start),
        ("idle", idle),
        ("stream", stream),
        ("fast", fast),
        ("burst", burst),
        ("flood", flood),
        ("escape", escape),
        ("now", deliver_now),
        ("crew", crew),
        ("sizes", sizes),
        ("unread", unread),
        ("resume", resume),
    ];
    for (name, row) in rows {
        if wanted(name) {
            row();
        }
    }
}

fn start() {
    let server = Paced::start();
    let mut first = Vec::new();
    for _ in 0..10 {
        let began = Instant::now();
        let mut terminal = open(&server);
        terminal.wait_written(0, ALTERNATE_SCREEN);
        terminal.send("Z");
        first.push(terminal.wait_written(0, b"Z").duration_since(began));
    }
    print("first key echoed after the start", &summary(&mut first), "59 ms");
}

fn idle() {
    let server = Paced::start();
    let mut terminal = ready(&server);
    let mut echoes = type_keys(&mut terminal, 200, GAP);
    print("key, idle", &summary(&mut echoes), "2.3 / 5.3 ms");
    wait(Duration::from_secs(2));
    let (cpu, bytes) = (cpu_ms(&terminal), terminal.written());
    wait(Duration::from_secs(10));
    let (cpu, bytes) = (cpu_ms(&terminal) - cpu, terminal.written() - bytes);
    print("idle for 10 s: CPU / bytes written", &format!("{cpu} ms / {bytes}"), "0 %");
    print("memory after the start", &memory(&terminal), "142 MiB");
}

fn stream() {
    let server = Paced::start();
    let mut terminal = ready(&server);
    terminal.send("stream 3200 words at 200 words/s\r");
    terminal.wait_for("part 4");
    let bytes = terminal.written();
    wait(Duration::from_secs(5));
    let rate = (terminal.written() - bytes) / 5 / 1024;
    print("to the terminal at 200 words/s", &format!("{rate} KB/s"), "51 KB/s");
    let mut echoes = type_keys(&mut terminal, 100, GAP);
    print("key while 200 words/s stream", &summary(&mut echoes), "11 / 29 ms");
}

fn fast() {
    let server = Paced::start();
    let mut terminal = ready(&server);
    let cpu = cpu_ms(&terminal);
    let began = Instant::now();
    terminal.send("stream 20000 words at 500 words/s\r");
    wait_end(&terminal);
    let (cpu, wall) = (u128::from(cpu_ms(&terminal) - cpu), began.elapsed().as_millis());
    let share = format!("{}.{} %", cpu * 100 / wall, cpu * 1000 / wall % 10);
    print("20,000 words at 500/s: share of a core", &share, "44 %");
    print("memory after 20,000 words", &memory(&terminal), "296 MiB");
}

fn burst() {
    let server = Paced::start();
    let mut terminal = ready(&server);
    let began = Instant::now();
    terminal.send("burst 20000 words\r");
    wait_end(&terminal);
    print("20,000 words in one burst, on screen after", &format!("{} ms", began.elapsed().as_millis()), "4500 ms");

    let mut terminal = ready(&server);
    terminal.send("burst 20000 words\r");
    terminal.wait_for("part ");
    let mut echoes = Vec::new();
    let mut letters = RARE.iter().cycle();
    while !terminal.screen().contains("END") {
        echoes.extend(letters.next().map(|letter| type_key(&mut terminal, letter)));
        wait(GAP / 2);
    }
    print("key during the burst", &summary(&mut echoes), "max 145 ms");
}

/// A hostile server: emoji and stacked marks as fast as the machine carries them.
fn flood() {
    let server = Paced::start();
    let mut terminal = ready(&server);
    terminal.send("flood 32 MiB\r");
    terminal.wait_for("flood");
    let mut echoes = type_keys(&mut terminal, 40, GAP);
    print("key during 32 MiB of emoji and marks", &summary(&mut echoes), "");
    print(
        "memory after them / at most",
        &format!("{} / {} MiB", terminal.memory_kib() / 1024, peak_mib(&terminal)),
        "",
    );
    let mut cuts = Vec::new();
    for _ in 0..5 {
        let server = Paced::start();
        let mut terminal = ready(&server);
        terminal.send("flood 32 MiB\r");
        server.wait_asked(1);
        let pressed = Instant::now();
        terminal.send(keys::ESC);
        cuts.push(server.wait_cut().duration_since(pressed));
    }
    print("Esc until the flood is cut", &summary(&mut cuts), "");
}

fn escape() {
    let mut cuts = Vec::new();
    for _ in 0..10 {
        let server = Paced::start();
        let mut terminal = ready(&server);
        // Until then an Esc may be the beginning of the terminal's answer, which this one never gives.
        wait(limits::BACKGROUND_TIME);
        terminal.send("hang\r");
        terminal.wait_for("hanging");
        let pressed = Instant::now();
        terminal.send(keys::ESC);
        cuts.push(server.wait_cut().duration_since(pressed));
    }
    print("Esc until the request is cut", &summary(&mut cuts), "11 ms");
}

fn deliver_now() {
    let mut asked = Vec::new();
    for _ in 0..10 {
        let server = Paced::start();
        let mut terminal = ready(&server);
        terminal.send("hang\r");
        terminal.wait_for("hanging");
        terminal.send("and be QUICK");
        terminal.wait_for("QUICK");
        let pressed = Instant::now();
        terminal.send(F5);
        asked.push(server.wait_asked(2).duration_since(pressed));
    }
    print("F5 until the new request has arrived", &summary(&mut asked), "31 ms");
}

/// One session with 1,000 sub-agents: 992 have ended, and the last 8 stream, which is as many as one batch runs at a time.
fn crew() {
    const QUICK: usize = 992;
    let server = Paced::start();
    let start = Start::new(["--base-url", server.url(), "--model", "paced", "--max-steps", "2000"]);
    let mut terminal = made_ready(start.size(120, 40).spawn());
    let began = Instant::now();
    terminal.send(&format!("crew {QUICK} and {STREAMING}\r"));
    let of_main = QUICK.div_ceil(limits::CALLS_PER_REPLY) + 1;
    let asked = server.wait_asked(of_main + QUICK + STREAMING);
    println!("1,000 agents, {STREAMING} streaming 50 words/s each (one batch runs at most {STREAMING}):");
    print("  992 agents spawned and ended after", &format!("{} ms", asked.duration_since(began).as_millis()), "");
    terminal.wait_for("9 of 1001 running");
    let (cpu, since) = (cpu_ms(&terminal), Instant::now());
    wait(Duration::from_secs(5));
    let share = u128::from(cpu_ms(&terminal) - cpu) * 1000 / since.elapsed().as_millis();
    print("  share of a core", &format!("{}.{} %", share / 10, share % 10), "");
    let mut echoes = type_keys(&mut terminal, 200, GAP);
    print("  key to its echo", &summary(&mut echoes), "");
    terminal.send(keys::F3);
    let mut frames = Vec::new();
    for (key, title) in [(keys::DOWN, "file_miner"), (keys::UP, "main")].into_iter().cycle().take(100) {
        wait(GAP);
        let pressed = Instant::now();
        terminal.send(key);
        // The transcript's title stands in the first line, to the right of the agents.
        let shown = |screen: &str| screen.lines().next().and_then(|line| line.split('│').nth(1)).map(str::to_owned);
        terminal.wait_until(title, |screen| shown(screen).is_some_and(|line| line.contains(title)));
        frames.push(pressed.elapsed());
    }
    print("  another agent selected, to its transcript", &summary(&mut frames), "");
    print("  memory", &memory(&terminal), "");
}

/// A thousand sizes a second for ten seconds, while text streams.
fn sizes() {
    let server = Paced::start();
    let mut terminal = ready(&server);
    terminal.send("stream 4000 words at 200 words/s\r");
    terminal.wait_for("part ");
    let (cpu, began, kib) = (cpu_ms(&terminal), Instant::now(), terminal.memory_kib());
    for at in 0..10_000_u32 {
        let step = u16::try_from(at % 60).unwrap_or_default();
        terminal.resize(60 + step, 20 + step / 2);
        wait(Duration::from_millis(u64::from(at + 1)).saturating_sub(began.elapsed()));
    }
    let share = u128::from(cpu_ms(&terminal) - cpu) * 1000 / began.elapsed().as_millis();
    terminal.resize(120, 40);
    let mut echoes = type_keys(&mut terminal, 10, GAP);
    print("1,000 sizes a second for 10 s: share of a core", &format!("{}.{} %", share / 10, share % 10), "");
    print("  key right after", &summary(&mut echoes), "");
    print("  memory grown by", &format!("{} KiB", terminal.memory_kib().saturating_sub(kib)), "");
}

/// A terminal that does not read for thirty seconds, while text streams.
fn unread() {
    let server = Paced::start();
    let mut terminal = ready(&server);
    terminal.send("stream 20000 words at 500 words/s\r");
    terminal.wait_for("part ");
    let (cpu, kib) = (cpu_ms(&terminal), terminal.memory_kib());
    terminal.stop_reading();
    wait(Duration::from_secs(30));
    let share = (cpu_ms(&terminal) - cpu) / 30;
    let grown = terminal.memory_kib().saturating_sub(kib);
    let began = Instant::now();
    let from = terminal.written();
    terminal.send("Z");
    terminal.read_on();
    let shown = terminal.wait_written(from, b"Z").duration_since(began);
    print("unread for 30 s of a stream: share of a core", &format!("{}.{} %", share / 10, share % 10), "");
    print("  memory grown by (the answer's text too)", &format!("{grown} KiB"), "");
    print("  key after it", &format!("{} ms", shown.as_millis()), "");
}

fn open(server: &Paced) -> Terminal {
    Start::new(["--base-url", server.url(), "--model", "paced"]).size(120, 40).spawn()
}

fn ready(server: &Paced) -> Terminal {
    made_ready(open(server))
}

fn made_ready(mut terminal: Terminal) -> Terminal {
    terminal.wait_written(0, ALTERNATE_SCREEN);
    terminal.send("Y");
    terminal.wait_written(0, b"Y");
    terminal.send(RUB_OUT);
    terminal
}

/// Opens long sessions: until their end is on the screen, until all of them is there, and what that takes.
fn resume() {
    for (events, times) in [(200_000, 5), (1_000_000, 1)] {
        let home = tempfile::tempdir().unwrap();
        let work = home.path().join("work");
        std::fs::create_dir(&work).unwrap();
        let (state, work) = (home.path().join(".local/state/steersman"), work.canonicalize().unwrap());
        let session = write(&state, &work, events, recorded).file.session;
        let server = Paced::start();
        let (mut ends, mut wholes, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        let mut most = String::new();
        for _ in 0..times {
            let began = Instant::now();
            let args = ["--base-url", server.url(), "--model", "paced", "--resume", session.as_str()];
            let home = home.path().to_str().unwrap();
            let mut terminal = Start::new(args).env("HOME", home).cwd(&work).size(120, 40).spawn();
            terminal.wait_for(LAST_WORDS);
            ends.push(began.elapsed());
            keys.push(type_key(&mut terminal, "Z"));
            // The question about it comes when everything is there.
            terminal.wait_until("the question", |screen| screen.contains("1 pending"));
            wholes.push(began.elapsed());
            most = format!("{} / {} MiB", terminal.memory_kib() / 1024, peak_mib(&terminal));
        }
        print(&format!("{events} events: the end is shown after"), &summary(&mut ends), "");
        print(&format!("{events} events: a key meanwhile"), &summary(&mut keys), "");
        print(&format!("{events} events: complete after"), &summary(&mut wholes), "");
        print(&format!("{events} events: memory then / at most"), &most, "");
    }
}

/// Waits for the last word of an answer to be on the screen.
fn wait_end(terminal: &Terminal) {
    while !terminal.screen().contains("END") {
        wait(Duration::from_millis(5));
    }
}

/// Types letters and rubs them out again; returns how long each took to be written back.
fn type_keys(terminal: &mut Terminal, count: usize, gap: Duration) -> Vec<Duration> {
    let mut echoes = Vec::with_capacity(count);
    for letter in RARE.iter().cycle().take(count) {
        echoes.push(type_key(terminal, letter));
        wait(gap);
    }
    echoes
}

/// Types one letter, which must differ from the one before: a frame that rubs out and types the same writes nothing.
fn type_key(terminal: &mut Terminal, letter: &str) -> Duration {
    let from = terminal.written();
    let pressed = Instant::now();
    terminal.send(letter);
    let echo = terminal.wait_written(from, letter.as_bytes()).duration_since(pressed);
    terminal.send(RUB_OUT);
    echo
}

fn wait(time: Duration) {
    let end = Instant::now() + time;
    while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        std::thread::park_timeout(left);
    }
}

fn summary(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: usize| times.get((times.len().saturating_sub(1)) * share / 100).map_or(0, Duration::as_micros);
    let ms = |micros: u128| format!("{}.{:02}", micros / 1000, micros % 1000 / 10);
    format!("{} / {} / {} ms", ms(at(50)), ms(at(99)), ms(at(100)))
}

/// User and system time of the program so far, milliseconds.
fn cpu_ms(terminal: &Terminal) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", terminal.pid())).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    (ticks(11) + ticks(12)) * 10
}

fn memory(terminal: &Terminal) -> String {
    format!("{} MiB", terminal.memory_kib() / 1024)
}

/// Most memory of the program so far, MiB.
fn peak_mib(terminal: &Terminal) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", terminal.pid())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|kib| kib.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn print(figure: &str, here: &str, best: &str) {
    println!("{figure:<46} {here:>26}   {best}");
}
