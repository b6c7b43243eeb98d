//! What a frame costs while sixteen sub-agents stream at once: `cargo bench --bench agents`.
//!
//! One figure folds a piece of text of every agent and draws the whole screen, 120x40; the other handles a key on top.
//! The budget is the 50 ms between two frames of a stream; a key has 1.5 ms on its whole way.

use steersman_test_support as support;

use divan::{Bencher, black_box};
use steersman_base::event::Event;

use support::stage::Stage;

const AGENTS: usize = 16;

fn main() {
    divan::main();
}

/// Sixteen sub-agents in the middle of their answers, each with some thousand words behind it.
fn crew() -> Stage {
    let mut stage = Stage::new(120, 40);
    stage.keys("look at everything<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false);
    for agent in names() {
        stage.spawn("", &agent);
        stage.turn(&agent);
        for word in support::paced::words(3_000) {
            stage.event(&agent, Event::AssistantDelta { text: word });
        }
    }
    stage.screen();
    stage
}

fn names() -> impl Iterator<Item = String> {
    (0..AGENTS).map(|number| format!("file_miner {number}"))
}

fn all_stream(stage: &mut Stage) {
    for agent in names() {
        stage.event(&agent, Event::AssistantDelta { text: "another word ".to_owned() });
    }
}

#[divan::bench]
fn a_piece_of_each_of_sixteen_agents_to_a_frame(bencher: Bencher) {
    let mut stage = crew();
    bencher.bench_local(|| {
        all_stream(&mut stage);
        black_box(stage.screen());
    });
}

#[divan::bench]
fn a_key_to_a_frame_while_sixteen_agents_stream(bencher: Bencher) {
    let mut stage = crew();
    bencher.bench_local(|| {
        all_stream(&mut stage);
        stage.keys("x<backspace>");
        black_box(stage.screen());
    });
}
