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
        return str(json.loads((self.modules / self.package / "package.json").read_text())["version"])

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
        if not terminal.wait(self.ready, 120):
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
