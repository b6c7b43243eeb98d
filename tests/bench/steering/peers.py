"""Other hosts: the adapters of what `run install` fetches from npm, each as it comes, without telemetry and updates."""

from __future__ import annotations

import re

from hosts import Host, Room, Steersman, call
from wires import Call, Request, Tool


class Codex(Host):
    name = "codex"
    package = "@openai/codex"
    ready = r"\? for shortcuts|scripted default"
    question = r"Would you like to run"
    summary = r"CONTEXT CHECKPOINT COMPACTION"
    waits = r"(?m)^ +↳ .*TEXT"
    given = r"(?m)^› .*TEXT(?=[\s\S]*^› )"
    with_command = {"yield_time_ms": 30000}
    with_question = {"sandbox_permissions": "require_escalated", "justification": "May this run?"}

    def command(self, room: Room, resume: bool) -> list[str]:
        vendor = self.modules / "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
        return [str(vendor), *(["resume", "--last"] if resume else [])]

    def environment(self, room: Room) -> dict[str, str]:
        return {"BENCH_KEY": "none", "CODEX_HOME": str(room.home / ".codex"), "RUST_LOG": "error"}

    def prepare(self, room: Room) -> None:
        room.put(".codex/config.toml", f'''model = "scripted"
model_provider = "bench"
approval_policy = "{'on-request' if room.asks else 'never'}"
sandbox_mode = "{'workspace-write' if room.asks else 'danger-full-access'}"
check_for_update_on_startup = false
model_context_window = {room.window}
web_search = "disabled"
[analytics]
enabled = false
[feedback]
enabled = false
[notice]
hide_full_access_warning = true
[tui]
show_tooltips = false
[model_providers.bench]
name = "bench"
base_url = "{room.url}/v1"
env_key = "BENCH_KEY"
wire_api = "responses"
[projects."{room.work}"]
trust_level = "trusted"
''')

    def spawn(self, tools: list[Tool], task: str, name: str) -> Call | None:
        return call(tools, "spawn_agent", {"message": task}, name)

    def join(self, request: Request, name: str) -> Call | None:
        found = [re.search(r'"agent_id": *"([^"]+)"', item.text) for item in request.items if item.role == "result"]
        agents = [match[1] for match in found if match]
        return call(request.tools, "wait_agent", {"targets": agents[-1:], "timeout_ms": 60000}, name) if agents else None


class Pi(Host):
    name = "pi"
    package = "@earendil-works/pi-coding-agent"
    ready = r"scripted"
    summary = r"context summarization assistant"
    waits = r"(?m)^ (?:Steering|Follow-up): .*TEXT"
    given = r"(?m)^ (?!Steering|Follow-up).*TEXT(?=[\s\S]*^───)"
    cannot = {"child": "it has no sub-agents", "spawn": "it has no sub-agents", "approval": "it asks for no approval"}

    def command(self, room: Room, resume: bool) -> list[str]:
        return [str(self.modules / ".bin/pi"), "--provider", "bench", "--model", "scripted", *(["--continue"] if resume else [])]

    def environment(self, room: Room) -> dict[str, str]:
        return {"PI_SKIP_VERSION_CHECK": "1", "PI_OFFLINE": "1", "PI_TELEMETRY": "0"}

    def prepare(self, room: Room) -> None:
        free = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        model = {"id": "scripted", "name": "scripted", "reasoning": False, "input": ["text"], "contextWindow": room.window,
                 "maxTokens": 8192, "cost": free}
        room.put(".pi/agent/models.json", {"providers": {"bench": {
            "baseUrl": f"{room.url}/v1", "api": "openai-completions", "apiKey": "none", "models": [model]}}})
        room.put(".pi/agent/settings.json", {"defaultProvider": "bench", "defaultModel": "scripted", "enableInstallTelemetry": False,
                                             "lastChangelogVersion": self.version()})


class OpenCode(Host):
    name = "opencode"
    package = "opencode-ai"
    ready = r"Ask anything|Build\b.*scripted"
    question = r"Permission required"
    #: Its limit leaves room for the longest reply.
    full = 199_000
    summary = r"(?i)context summarization|summarizing conversations"

    def command(self, room: Room, resume: bool) -> list[str]:
        return [str(self.modules / "opencode-linux-x64/bin/opencode"), *(["--continue"] if resume else [])]

    def environment(self, room: Room) -> dict[str, str]:
        folders = {"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_CACHE_HOME": ".cache", "XDG_STATE_HOME": ".local/state"}
        off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE")
        return {name: str(room.home / path) for name, path in folders.items()} | {f"OPENCODE_DISABLE_{name}": "1" for name in off}

    def prepare(self, room: Room) -> None:
        bash = "ask" if room.asks else "allow"
        model = {"name": "scripted", "tool_call": True, "limit": {"context": room.window, "output": 8192}}
        room.put(".config/opencode/opencode.json", {
            "model": "bench/scripted", "small_model": "bench/scripted", "autoupdate": False, "share": "disabled",
            "permission": {"bash": bash, "edit": "allow", "webfetch": "deny", "doom_loop": "allow", "external_directory": "allow"},
            "provider": {"bench": {"npm": "@ai-sdk/openai-compatible", "name": "Bench", "models": {"scripted": model},
                                   "options": {"baseURL": f"{room.url}/v1", "apiKey": "none"}}}})

    def spawn(self, tools: list[Tool], task: str, name: str) -> Call | None:
        return call(tools, "task", {"description": "a part of the work", "prompt": task, "subagent_type": "general"}, name)


class Qwen(Host):
    name = "qwen-code"
    package = "@qwen-code/qwen-code"
    ready = r"Type your message|YOLO"
    question = r"Allow execution of"
    summary = r"produce the <state_snapshot> XML"
    summary_form = "<state_snapshot>{}</state_snapshot>"
    summary_tokens = 190_000
    waits = r"TEXT *\n(?:  .*\n)*? +Ctrl\+Q to queue"
    given = r"(?m)^ +> .*TEXT"

    def command(self, room: Room, resume: bool) -> list[str]:
        return [str(self.modules / ".bin/qwen"), *([] if room.asks else ["--yolo"]), *(["--continue"] if resume else [])]

    def environment(self, room: Room) -> dict[str, str]:
        return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{room.url}/v1", "OPENAI_MODEL": "scripted", "QWEN_TELEMETRY_ENABLED": "0"}

    def prepare(self, room: Room) -> None:
        room.put(".qwen/settings.json", {
            "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
            "general": {"disableAutoUpdate": True, "disableUpdateNag": True, "enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
            "model": {"name": "scripted", "generationConfig": {"contextWindowSize": room.window}},
            "ui": {"hideTips": True, "enableFollowupSuggestions": False}, "tools": {"approvalMode": "default" if room.asks else "yolo"},
            "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False}})

    def spawn(self, tools: list[Tool], task: str, name: str) -> Call | None:
        values = {"description": "a part of the work", "prompt": task, "subagent_type": "general-purpose", "run_in_background": False}
        return call(tools, "agent", values, name) or call(tools, "task", values, name)


class Gemini(Host):
    name = "gemini-cli"
    package = "@google/gemini-cli"
    ready = r"Type your message"
    question = r"Allow execution of"
    waits = r"Queued \(press.*\n(?: {4}.*\n)*? {4}.*TEXT"
    given = r"(?m)^ > .*TEXT"
    cannot = {"compaction": "it compacts what stands before the last message of the user, and so nothing of a long task"}

    def command(self, room: Room, resume: bool) -> list[str]:
        return [str(self.modules / ".bin/gemini"), *([] if room.asks else ["--yolo"]), "-m", "gemini-2.5-pro",
                *(["--resume", "latest"] if resume else [])]

    def environment(self, room: Room) -> dict[str, str]:
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": room.url, "GEMINI_TELEMETRY_ENABLED": "false",
                "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def prepare(self, room: Room) -> None:
        room.put(".gemini/settings.json", {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "disableAutoUpdate": True, "disableUpdateNag": True},
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}, "ui": {"hideTips": True},
            "model": {"disableLoopDetection": True}})

    def spawn(self, tools: list[Tool], task: str, name: str) -> Call | None:
        return call(tools, "invoke_agent", {"agent_name": "generalist", "prompt": task}, name)

    def finish(self, request: Request, name: str) -> Call | None:
        return call(request.tools, "complete_task", {"result": "This part of the work is done."}, name)


HOSTS: dict[str, type[Host]] = {host.name: host for host in (Steersman, Codex, Pi, OpenCode, Qwen, Gemini)}
