"""A model server that plays a script, and the gates that hold a stream, a tool or a summary open until the bench lets it go.

It runs in the process of the bench, so a text is sent at a moment that is known, not guessed. Requests are told apart here: of
the main agent, of a sub-agent, for a summary, and others on the side (titles and the like).
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Protocol

import wires
from traces import Trace
from wires import Call, Json, Request, Tool

#: The first words of every task that the script gives to a sub-agent.
CHILD = "Look after this part of the work:"


class Gate:
    """Something that is reached at one time and may go on at another."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.opened_at = 0.0

    def hold(self, patience: float = 60.0) -> None:
        self.reached.set()
        self.opened.wait(patience)

    def open(self) -> None:
        self.opened_at = time.monotonic()
        self.opened.set()


class Pipe(Gate):
    """A gate within a tool: a command reads this named pipe, and ends when the bench lets it go."""

    def __init__(self, name: str, folder: Path, output: str = "") -> None:
        super().__init__(name)
        self.path = folder / name
        self.output = output or f"The step {name} is done.\n"
        os.mkfifo(self.path)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                file = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
                break
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.01)
        self.hold()
        os.set_blocking(file, True)
        try:
            os.write(file, self.output.encode())
        except BrokenPipeError:
            pass
        os.close(file)

    @property
    def command(self) -> str:
        return f"cat {self.path}"


@dataclass(frozen=True)
class Shell:
    """A call of the shell tool; one that asks is to be approved by the user."""

    command: str
    asks: bool = False


@dataclass(frozen=True)
class Spawn:
    """A call that gives a task to a sub-agent."""

    task: str


@dataclass(frozen=True)
class Join:
    """A call that waits for the sub-agents, where a host has sub-agents that run beside its main agent."""


Act = Shell | Spawn | Join


@dataclass(frozen=True)
class Reply:
    """What the model does with one request; without acts it ends the turn."""

    words: str = ""
    acts: tuple[Act, ...] = ()
    hold: Gate | None = None
    #: How much of the words comes before the gate.
    share: float = 0.5
    #: The conversation is said to fill the window.
    full: bool = False


@dataclass(frozen=True)
class Refusal:
    """A rate limit, with the seconds after which the host may ask again."""

    after: int
    gate: Gate


@dataclass
class Script:
    """What the model does in one turn."""

    main: list[Reply | Refusal]
    child: list[Reply] = field(default_factory=list)
    #: Holds each compaction at its first summary; they are used up in their order.
    summaries: list[Gate] = field(default_factory=list)


SUMMARY = "Summary of the work so far: the first steps were done, their results were good, and the work goes on with the next step."


class Player(Protocol):
    """What the server must know of a host."""

    full: int
    summary_form: str
    summary_tokens: int
    with_command: Json
    with_question: Json

    def is_summary(self, request: Request) -> bool: ...
    def spawn(self, tools: list[Tool], task: str, name: str) -> Call | None: ...
    def join(self, request: Request, name: str) -> Call | None: ...
    def finish(self, request: Request, name: str) -> Call | None: ...


class Server:
    """The server and the script that it plays."""

    def __init__(self, trace: Trace, host: Player) -> None:
        self.trace, self.host = trace, host
        self.script = Script([])
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.requests: list[Request] = []
        self.open_replies = 0
        self.last_change = time.monotonic()
        handler = type("Handler", (_Handler,), {"server_": self})
        self.http = _Http(("127.0.0.1", 0), handler)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()

    def play(self, script: Script) -> None:
        with self.lock:
            self.script = script

    def sort(self, request: Request) -> str:
        """Returns whose request it is."""
        if any(CHILD in text for text in request.users()):
            return "child"
        if self.host.is_summary(request):
            return "summary"
        return "main" if request.tools else "side"

    def choose(self, request: Request) -> Reply | Refusal:
        """Takes the next part of the script for a request."""
        if request.kind == "side":
            return Reply("A title")
        if request.kind == "summary":
            is_first = next((one.kind for one in self.requests[-2::-1] if one.kind in ("main", "summary")), "main") == "main"
            return Reply(self.host.summary_form.format(SUMMARY), hold=self.script.summaries.pop(0) if self.script.summaries and is_first else None)
        if request.kind == "child":
            return self.script.child.pop(0) if self.script.child else Reply("This part is done.")
        if not self.script.main:
            return Reply("Nothing is left to do.")
        reply = self.script.main.pop(0)
        if isinstance(reply, Reply) and Join() in reply.acts and self.host.join(request, "") is None:
            reply = self.script.main.pop(0)
        return reply

    def answer(self, request: Request) -> tuple[Reply | Refusal, list[Call]]:
        """Notes a request, and returns the reply to it with its calls."""
        with self.changed:
            request.number, request.at = len(self.requests), time.monotonic()
            request.kind = self.sort(request)
            self.requests.append(request)
            self.open_replies += 1
            self.last_change = request.at
            self.trace.request(request)
            reply = self.choose(request)
            self.changed.notify_all()
        calls: list[Call] = []
        for index, act in enumerate(reply.acts if isinstance(reply, Reply) else ()):
            call = self.call(request, act, f"call_{request.number}_{index}")
            if call is None:
                self.trace.write("missing", what="shell" if isinstance(act, Shell) else "sub-agents")
            else:
                calls.append(call)
        if request.kind == "child" and not calls and (end := self.host.finish(request, f"call_{request.number}_end")):
            calls.append(end)
        return reply, calls

    def call(self, request: Request, act: Act, name: str) -> Call | None:
        match act:
            case Shell(command, asks):
                extra = self.host.with_command | (self.host.with_question if asks else {})
                return wires.shell(request.tools, command, name, extra)
            case Spawn(task):
                return self.host.spawn(request.tools, task, name)
            case Join():
                return self.host.join(request, name)

    def ended(self, request: Request, reply: Reply | Refusal, calls: list[Call], cut: bool) -> None:
        with self.changed:
            self.open_replies -= 1
            self.last_change = time.monotonic()
            final = request.kind == "main" and isinstance(reply, Reply) and not calls
            self.trace.write("reply", number=request.number, of=request.kind, final=final, cut=cut, refused=isinstance(reply, Refusal),
                             text=reply.words if isinstance(reply, Reply) else "")
            self.changed.notify_all()

    def wait(self, what: Callable[[list[Request]], bool], patience: float) -> bool:
        """Waits until something holds for the requests; tells whether it came to be."""
        with self.changed:
            return self.changed.wait_for(lambda: what(self.requests), patience)

    def quiet_for(self) -> float:
        """Returns how long nothing has happened; 0 while a reply is open."""
        with self.lock:
            return 0.0 if self.open_replies else time.monotonic() - self.last_change


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing: hosts that are killed leave their connections open."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_: Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def send_json(self, data: Json, status: int = 200, **headers: str) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json", "Content-Length": str(len(body))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        model: Json = {"id": "scripted", "object": "model", "created": 1, "owned_by": "bench"}
        if path.endswith("/models"):
            self.send_json({"object": "list", "data": [model]})
        else:
            self.send_json({"error": {"message": "there is no such page"}}, 404)

    def do_POST(self) -> None:
        raw, path = self.body(), self.path.split("?")[0].rstrip("/")
        try:
            request = wires.read(path, json.loads(raw or b"{}"), len(self.server_.requests))
        except ValueError:
            request = None
        if request is None:
            known = {"totalTokens": len(raw) // 4} if path.endswith(":countTokens") else None
            self.send_json(known or {"error": {"message": "there is no such page"}}, 200 if known else 404)
            return
        reply, calls = self.server_.answer(request)
        cut = False
        try:
            self.reply(request, reply, calls)
        except OSError:
            cut = self.close_connection = True
        self.server_.ended(request, reply, calls, cut)

    def reply(self, request: Request, reply: Reply | Refusal, calls: list[Call]) -> None:
        if isinstance(reply, Refusal):
            error = {"message": "Rate limit reached, try again later.", "type": "rate_limit_error", "code": 429, "status": "RESOURCE_EXHAUSTED"}
            self.send_json({"error": error}, 429, Retry_After=str(reply.after))
            reply.gate.reached.set()
            return
        host = self.server_.host
        tokens = host.full if reply.full else host.summary_tokens if request.kind == "summary" else 2000
        if not request.streams:
            if reply.hold:
                reply.hold.hold()
            self.send_json(request.wire.whole(reply.words, calls, tokens))
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.chunk(request.wire.begin())
        parts = list(wires.pieces(reply.words))
        place = min(int(len(parts) * reply.share), len(parts) - 1)
        for index, part in enumerate(parts):
            if reply.hold and index == place:
                self.hold(reply.hold)
            self.chunk(request.wire.text(part))
        if calls:
            self.chunk(request.wire.calls(calls))
        self.chunk(request.wire.end(tokens))
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def hold(self, gate: Gate) -> None:
        """Waits at a gate, and notices meanwhile when the host goes away."""
        gate.reached.set()
        while not gate.opened.wait(0.02):
            self.wfile.flush()
            if gone(self.connection):
                raise BrokenPipeError

    def chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()


def gone(connection: socket.socket) -> bool:
    """Tells whether the other side has closed a connection."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
