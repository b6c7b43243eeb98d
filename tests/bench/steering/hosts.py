"""What the bench knows of each host: how to start it against the server, when it is ready, how to type into it, what its screen claims.

An adapter says in `cannot` which moments it does not have, and why; the table repeats these words.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from terminal import Terminal
from wires import Call, Json, Request, Tool, fill

#: What a screen says of a text: it waits, it was given to the model, or nothing.
Claim = Literal["waits", "given", ""]


@dataclass
class Room:
    """The folders of one life of a host, and where its server is."""

    folder: Path
    port: int
    #: Commands are asked about.
    asks: bool = False
    #: Tokens that the host believes to be the window of the model.
    window: int = 200_000

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def put(self, name: str, content: str | Json) -> None:
        """Writes a file below the home directory."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")


class Host:
    """One host; an adapter changes what is different with it."""

    name = ""
    package = ""
    needs_emulator = True
    #: The input takes keys.
    ready = r"\S"
    #: A call waits for an answer.
    question = r"(?!)"
    #: Between a text and Enter, seconds: some hosts take an Enter that follows at once for a part of a paste.
    gap = 0.25
    #: Yes to a question.
    yes = "\r"
    #: How the request for a summary is known: by its last message of the user, or by its system prompt.
    summary = r"(?!)"
    #: How a summary is to be written; the braces stand for its words.
    summary_form = "{}"
    #: Reported tokens of the request for a summary; some hosts subtract them from those of the conversation.
    summary_tokens = 2_000
    #: Arguments of the shell tool: with every command, and with one that is to be asked about.
    with_command: Json = {}
    with_question: Json = {}
    #: Reported tokens at which the conversation is compacted before the next request.
    full = 190_000
    #: The host does nothing any more when it has sent no request for so long, seconds.
    quiet = 1.2
    #: Moments that the host does not have, with the reason.
    cannot: dict[str, str] = {}
    #: The environment of every host.
    base = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "SHELL": "/bin/bash", "USER": "bench",
            "DO_NOT_TRACK": "1", "DISABLE_TELEMETRY": "1", "NO_BROWSER": "1"}

    def __init__(self, peers: Path) -> None:
        self.peers = peers

    def version(self) -> str:
        return json.loads((self.modules / self.package / "package.json").read_text())["version"]

    @property
    def modules(self) -> Path:
        return self.peers / self.name / "node_modules"

    def missing(self) -> str:
        """Returns why the host cannot be started here; empty when it can."""
        path = Path(self.command(Room(Path("/"), 0), False)[0])
        return "" if path.exists() else f"{path} is not there"

    def prepare(self, room: Room) -> None:
        """Writes the host's configuration."""

    def command(self, room: Room, resume: bool) -> list[str]:
        raise NotImplementedError

    def environment(self, room: Room) -> dict[str, str]:
        return {}

    def start(self, room: Room, resume: bool = False) -> Terminal:
        """Starts the host and waits until it takes keys."""
        path = f"{self.peers}/node/node_modules/.bin:{os.environ['PATH']}"
        base = self.base | {"PATH": path, "HOME": str(room.home), "TMPDIR": str(room.folder / "tmp")}
        terminal = Terminal(self.command(room, resume), base | self.environment(room), room.work)
        if not terminal.wait(self.ready, 60):
            screen = terminal.text()
            terminal.kill()
            raise RuntimeError(f"{self.name} is never ready:\n{screen}")
        terminal.wait_quiet(0.5, 5)
        self.begin(terminal)
        return terminal

    def begin(self, terminal: Terminal) -> None:
        """Answers what the host asks at its start."""

    def send(self, terminal: Terminal, text: str) -> float:
        """Types a text and presses Enter; returns the time of Enter."""
        self.type(terminal, text)
        return self.enter(terminal)

    def type(self, terminal: Terminal, text: str, patience: float = 15.0) -> None:
        """Types a text, and waits until its end is echoed, as a person would."""
        terminal.write(text)
        terminal.wait(re.escape(text.split()[-1]), patience)
        time.sleep(self.gap)

    def enter(self, terminal: Terminal) -> float:
        at = time.monotonic()
        terminal.write("\r")
        return at

    def rule(self, terminal: Terminal, text: str) -> float:
        """Sends words that hold from now on, in the host's own way where it has one."""
        return self.send(terminal, text)

    def go_on(self, terminal: Terminal) -> None:
        """Answers what the host asks after a crash, so that texts that waited are sent."""

    #: How a row looks whose text waits, and one whose text was given to the model; `TEXT` stands for the identity of the text.
    waits = given = r"(?!)"

    @property
    def has_marks(self) -> bool:
        return self.waits != Host.waits

    def claim(self, screen: str, text: str) -> Claim:
        """Returns what the screen says of a text; nothing where it says nothing."""
        if re.search(self.waits.replace("TEXT", text), screen):
            return "waits"
        return "given" if re.search(self.given.replace("TEXT", text), screen) else ""

    def is_summary(self, request: Request) -> bool:
        texts = [item.text for item in request.items if item.role == "system"][:1] + request.users()[-1:]
        return any(re.search(self.summary, text) for text in texts)

    def spawn(self, tools: list[Tool], task: str, name: str) -> Call | None:
        """Returns the call that gives a task to a sub-agent; none where the host has no such tool."""
        return None

    def join(self, request: Request, name: str) -> Call | None:
        """Returns the call that waits for sub-agents; none where the call that starts one ends with it."""
        return None

    def finish(self, request: Request, name: str) -> Call | None:
        """Returns the call by which a sub-agent ends; none where it ends by its last words."""
        return None


def call(tools: list[Tool], wanted: str, values: Json, name: str) -> Call | None:
    """Returns a call of a tool by its name; none when it is not on offer."""
    tool = next((tool for tool in tools if tool.name == wanted), None)
    return Call(tool, fill(tool, values), name) if tool else None


class Steersman(Host):
    name = "steersman"
    ready = r"scripted"
    question = r"(?i)yes, this once|1.*yes"
    gap = 0.0
    yes = "\x1by"
    summary = r"You are given the earlier part of a conversation"
    waits = r"(?m)^⋯ .*TEXT"
    given = r"(?m)^[›»] .*TEXT.*\n +✓"

    def binary(self) -> str:
        root = Path(__file__).resolve().parents[3]
        return os.environ.get("STEERSMAN_BIN", str(root / "target/release/steersman"))

    def version(self) -> str:
        return subprocess.run([self.binary(), "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]

    def command(self, room: Room, resume: bool) -> list[str]:
        mode = ["--mode", "ask"] if room.asks else ["--mode", "auto-without-sandbox"]
        return [self.binary(), "--base-url", f"{room.url}/v1", "--model", "scripted", "--context-window", str(room.window), "--sandbox", "off",
                *mode, *(["--continue"] if resume else [])]

    def environment(self, room: Room) -> dict[str, str]:
        return {"OPENAI_API_KEY": "none"}

    def go_on(self, terminal: Terminal) -> None:
        if terminal.wait(r"continue, edit or discard", 2):
            terminal.wait_quiet(0.7, 3)
            terminal.write(self.yes)

    def spawn(self, tools: list[Tool], task: str, name: str) -> Call | None:
        return call(tools, "agent", {"name": "worker", "task": task}, name)


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


class BadHost(Host):
    """The host that is bad on purpose."""

    needs_emulator = False
    ready = r"ready>"
    question = r"question: (?![\s\S]*answered)"
    gap = 0.0
    quiet = 0.4
    yes = "/yes\n"
    summary = r"^Summarise this conversation"
    waits = r"waits: .*TEXT(?![\s\S]*given: .*TEXT)"
    given = r"given: .*TEXT"

    def __init__(self, fault: str) -> None:
        super().__init__(Path("/"))
        self.fault = fault
        self.name = f"bad-{fault}" if fault else "bad"

    def version(self) -> str:
        return self.fault

    def command(self, room: Room, resume: bool) -> list[str]:
        script = Path(__file__).with_name("bad_host.py")
        return [sys.executable, str(script), f"{room.url}/v1", str(room.folder / "state.json"), self.fault]

    def environment(self, room: Room) -> dict[str, str]:
        return {"BAD_HOST_ASKS": "1"} if room.asks else {}

    def spawn(self, tools: list[Tool], task: str, name: str) -> Call | None:
        return call(tools, "agent", {"task": task}, name)


HOSTS: dict[str, type[Host]] = {host.name: host for host in (Steersman, Codex, Pi, OpenCode, Qwen, Gemini)}
