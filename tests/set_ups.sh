#!/bin/sh
# Clones public repositories with skills, commands, hooks and agents into a directory, and loads all of them.
#
#     tests/set_ups.sh DIRECTORY
set -eu
directory=${1:?a directory for the repositories, which may exist}
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
cd "$(dirname "$0")/.."

for repository in anthropics/skills anthropics/claude-code obra/superpowers wshobson/agents wshobson/commands \
    vercel-labs/agent-skills disler/claude-code-hooks-mastery; do
    place=$directory/$(echo "$repository" | tr / -)
    [ -d "$place" ] || git clone --quiet --depth 1 "https://github.com/$repository" "$place"
done

SET_UPS=$directory cargo test --test program -- --ignored --nocapture public_set_ups
