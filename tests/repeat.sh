#!/usr/bin/env bash
# Runs the tests that depend on the order of threads and processes again and again on a machine that is too busy:
# those on a terminal, those of random lives, those of the queue under every order of its threads, and those of attackers.
# Stops at the first failure and keeps its output.
#
#     tests/repeat.sh [ROUNDS [FILTER]]      30 rounds of all; FILTER is part of the name of a test
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-30}
filter=${2:-}
# Built apart and optimized a little: the random lives compute most of their time.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target/repeat} CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=0
output=${REPEAT_OUTPUT:-$CARGO_TARGET_DIR/repeat.log}
# The tests of each crate; of these only the modules with random tests run, as libtest names them.
crates=(base core provider tools agent extensions session tui program)
random() { (cd "tests/$1" && grep -rl 'proptest!' . | sed 's|^\./||; s|/mod\.rs$||; s|\.rs$||; s|/|::|g; s|$|::|'); }

# Builds first, and takes the names of the binaries from cargo.
targets=(pty security loom "${crates[@]}")
mapfile -t binaries < <(
    cargo test --locked --no-run "${targets[@]/#/--test=}" --message-format json-render-diagnostics |
        sed -n 's/.*"target":{"kind":\["test"\][^}]*"name":"\([a-z]*\)".*"executable":"\([^"]*\)".*/\1 \2/p'
)
[ ${#binaries[@]} -eq ${#targets[@]} ] || { echo "repeat: cargo built ${#binaries[@]} of ${#targets[@]} test binaries" >&2; exit 2; }

busy=()
trap 'kill "${busy[@]}" 2>/dev/null || true' EXIT
for _ in $(seq $((2 * $(nproc)))); do
    (while :; do :; done) &
    busy+=($!)
done

# kill -9 at 200 points of a turn, and 10,000 races for each of three protected names in each kind of sandbox, once.
if [ -z "$filter" ]; then
    for line in "${binaries[@]}"; do
        read -r name binary <<<"$line"
        case $name in
            program) first=sessions::killed ;;
            tools) first=sandbox::names::no_race ;;
            *) continue ;;
        esac
        if ! STEERSMAN_KILLS=all STEERSMAN_TEST_RACES=10000 "$binary" "$first" >"$output" 2>&1; then
            echo "repeat: a killed program lost or doubled something, or a race was won; the output is in $output:"
            tail -n 60 "$output"
            exit 1
        fi
    done
fi

for round in $(seq "$rounds"); do
    for line in "${binaries[@]}"; do
        read -r name binary <<<"$line"
        filters=()
        if [ -n "$filter" ]; then
            filters=("$filter")
        elif [[ " ${crates[*]} " = *" $name "* ]]; then
            mapfile -t filters < <(random "$name")
            [ ${#filters[@]} -gt 0 ] || continue
        fi
        began=$SECONDS
        if ! "$binary" "${filters[@]}" >"$output" 2>&1; then
            echo "repeat: $name failed in round $round of $rounds; its output is in $output:"
            tail -n 60 "$output"
            exit 1
        fi
        echo "repeat: round $round of $rounds: $name: $((SECONDS - began)) s"
    done
done
