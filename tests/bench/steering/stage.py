"""One life of a host: its folders, its server, its terminal, and what a moment needs to type, look, let go and wait.

Each act is written into the trace. Nothing is scored here.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from hosts import Host, Room
from server import Gate, Pipe, Script, Server
from terminal import Terminal
from traces import Trace

#: Longest wait for something that a host should do, seconds; machines that run this are often busy.
PATIENCE = 60.0
PHRASES = ("Also keep the names short, as in", "Look at the second part too, it is", "Please use the new layout of",
           "Leave the old files as they are, see", "Mention the date at the end of")


class Missing(Exception):
    """A moment that the host did not come to; the words say what was waited for."""


class Stage:
    """A host in its room."""

    def __init__(self, host: Host, trace: Trace, seed: str, asks: bool = False) -> None:
        self.host, self.trace = host, trace
        self.random = random.Random(seed)
        self.room = Room(Path(tempfile.mkdtemp(prefix="sb-")), 0, asks)
        self.gates = self.room.folder / "gates"
        for folder in (self.room.home, self.room.work, self.gates, self.room.folder / "tmp"):
            folder.mkdir()
        (self.room.work / "README.md").write_text("# A small project\n")
        git = "git init -q . && git add . && git -c user.email=a@b -c user.name=n commit -qm first"
        subprocess.run(git, shell=True, cwd=self.room.work, env={"PATH": "/usr/bin:/bin", "HOME": str(self.room.home)}, check=False)
        self.server = Server(trace, host)
        self.room.port = self.server.port
        host.prepare(self.room)
        self.pipes: list[Gate] = []
        self.texts: list[str] = []
        self.words: dict[str, str] = {}
        self.count = 0
        self.terminal: Terminal = host.start(self.room)

    def close(self) -> None:
        for gate in self.pipes:
            gate.open()
        self.terminal.kill()
        self.server.close()
        shutil.rmtree(self.room.folder, ignore_errors=True)

    def pipe(self, output: str = "") -> Pipe:
        """Returns a gate within a tool."""
        pipe = Pipe(f"g{len(self.pipes)}", self.gates, output)
        self.pipes.append(pipe)
        return pipe

    def gate(self, name: str) -> Gate:
        gate = Gate(f"{name}{len(self.pipes)}")
        self.pipes.append(gate)
        return gate

    def identity(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}x{self.random.randrange(16**5):05x}"

    def task(self, script: Script) -> str:
        """Starts a turn; returns the words of its task."""
        self.server.play(script)
        words = f"Please go through the whole list and do every step of it for {self.identity('task')}"
        if not self.ask("task", words):
            raise Missing("a request for the task")
        return words

    def ask(self, kind: str, words: str) -> bool:
        """Sends a task or a last message, and waits for its request; tells whether it came. Some hosts do not hear an Enter while
        they still load something: it is pressed again, for these messages alone and never for a text."""
        identity, before = words.split()[-1], len(self.server.requests)
        self.trace.write(kind, self.host.send(self.terminal, words), text=words)
        end = time.monotonic() + PATIENCE
        while not self.server.wait(lambda all_: any(identity in text for one in all_[before:] for text in one.users()), 8):
            self.trace.write("again", screen=self.terminal.text())
            if time.monotonic() > end:
                return False
            self.terminal.write("\r")
        return True

    def type(self, patience: float = 15.0) -> str:
        """Types a text without Enter; returns its identity."""
        identity = self.identity("t")
        self.words[identity] = f"{self.random.choice(PHRASES)} {identity}"
        self.host.type(self.terminal, self.words[identity], patience)
        return identity

    def enter(self, identity: str, moment: str) -> None:
        at = self.host.enter(self.terminal)
        self.texts.append(identity)
        self.trace.write("typed", at, text=identity, words=self.words[identity], moment=moment)

    def say(self, moment: str, patience: float = 15.0) -> None:
        """Types a text and presses Enter."""
        self.enter(self.type(patience), moment)

    def some(self, moment: str, most: int = 2) -> None:
        """Types a few texts, with gaps such as people make, or none at all."""
        for index in range(self.random.randint(1, most)):
            if index:
                time.sleep(self.random.choice((0.0, 0.05, 0.3)))
            self.say(moment)

    def rule(self) -> None:
        words = f"From now on, and in every step, never touch the files of {self.identity('rule')}"
        at = self.host.rule(self.terminal, words)
        self.trace.write("rule", at, text=words)

    def look(self) -> None:
        """Writes down what the screen claims of each text."""
        screen, at = self.terminal.text(), time.monotonic()
        for text in self.texts:
            if says := self.host.claim(screen, text):
                self.trace.write("claim", at, text=text, says=says)

    def taken(self) -> None:
        """Waits until the screen shows that the host has taken what was typed, where it shows that; a busy machine is no fault."""
        end = time.monotonic() + 3
        while self.host.has_marks and time.monotonic() < end:
            screen = self.terminal.text()
            if all(self.host.claim(screen, text) for text in self.texts):
                break
            time.sleep(0.05)
        time.sleep(0.3 + self.random.random() * 0.3)
        self.look()

    def reach(self, *gates: Gate) -> Gate:
        """Waits until something is held open; returns the first of the gates that is."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if reached := next((gate for gate in gates if gate.reached.is_set()), None):
                return reached
            time.sleep(0.005)
        self.trace.write("screen", text=self.terminal.text())
        raise Missing(gates[0].name)

    def reaches(self, *gates: Gate) -> Gate | None:
        """Waits as `reach`, but returns nothing when the script is played and all is quiet: a host may throw away the reply with the call."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and (self.server.script.main or self.server.quiet_for() < 3 * self.host.quiet):
            if reached := next((gate for gate in gates if gate.reached.is_set()), None):
                return reached
            time.sleep(0.005)
        return next((gate for gate in gates if gate.reached.is_set()), None)

    def let(self, gate: Gate) -> None:
        """Gives the host a moment to take what was typed, looks, and lets go."""
        self.taken()
        time.sleep(0.4)
        self.trace.write("opened", gate=gate.name)
        gate.open()

    def rest(self) -> None:
        """Waits until the turn is over; then a last message flushes what may still wait."""
        self.settle()
        self.look()
        self.ask("probe", f"Is there anything else to do for {self.identity('probe')}")
        self.settle()
        self.look()
        self.texts.clear()

    def settle(self) -> None:
        """Waits until the script is played and the host is quiet, and a little longer for a text that is on its way."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and (self.server.script.main or self.server.quiet_for() < self.host.quiet):
            time.sleep(0.05)
        self.server.wait(lambda all_: all(any(text in words for one in all_ for words in one.users()) for text in self.texts), 4)
        while time.monotonic() < end and self.server.quiet_for() < self.host.quiet / 2:
            time.sleep(0.05)

    def crash(self) -> None:
        """Kills the host and everything below it, and starts it again where it can go on."""
        self.trace.write("crash")
        self.terminal.kill()
        self.terminal = self.host.start(self.room, resume=True)
        self.trace.write("resumed", screen=self.terminal.text())
        self.host.go_on(self.terminal)
