#!/bin/sh
# Installs seven public MCP servers (npm, PyPI) into a directory and calls every tool of each once.
#
#     tests/mcp_servers.sh DIRECTORY
set -eu
directory=${1:?a directory for the servers, which may exist}
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
cd "$(dirname "$0")/.."

npm install --no-fund --no-audit --prefix "$directory" \
    @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem \
    @modelcontextprotocol/server-memory @modelcontextprotocol/server-sequential-thinking
[ -x "$directory/venv/bin/pip" ] || python3 -m venv "$directory/venv"
"$directory/venv/bin/pip" install --quiet mcp-server-time mcp-server-git mcp-server-fetch

MCP_SERVERS=$directory cargo test -p steersman-extensions --test extensions -- --ignored --nocapture mcp::real
