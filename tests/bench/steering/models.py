"""The second layer: does a real model follow a text that comes while it works, and does it keep its task?

A task is run by `steersman exec`, which asks before each command; so the text is sent when a certain part of the task is done, not after a
certain time. The trace of a run holds every event; what is reported is read from it.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from report import rate, table
from tasks import KINDS, TASKS, WHEN, Task
from wires import Json

FRAMINGS = ("framed", "plain")
#: Longest run of one task, as the program takes it.
LONGEST = "15m"


@dataclass(frozen=True)
class Case:
    """One run: a task, what is sent, when, and how."""

    task: Task
    kind: str
    when: str
    framing: str
    run: int = 1

    @property
    def name(self) -> str:
        return f"{self.task.name}-{self.kind}-{self.when}-{self.framing}-{self.run}"


@dataclass(frozen=True)
class Result:
    """What came of a case. Tokens are of replies."""

    case: Json
    delivered: bool
    followed: bool
    kept: bool
    #: Tokens of all replies behind the text, and of those whose commands brought the state no nearer to the goal; the final answer is none of these.
    tokens: int
    wasted: int
    failure: str


def cases(framings: list[str], runs: int) -> list[Case]:
    return [Case(task, kind, when, framing, run) for run in range(1, runs + 1) for task in TASKS for kind in KINDS for when in WHEN for framing in framings]


class Program:
    """A run of `steersman exec` with its events and requests as JSON lines."""

    def __init__(self, binary: str, url: str, model: str, folder: Path, framing: str) -> None:
        home = folder / "home"
        home.mkdir()
        (home / "config.toml").write_text(f'[steering]\nframing = "{framing}"\n')
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(home), "BENCH_KEY": os.environ.get("BENCH_KEY", "none")}
        self.process = subprocess.Popen(
            [binary, "exec", "--input", "json", "--json", "--deltas", "off", "--base-url", url, "--model", model, "--api-key-env", "BENCH_KEY",
             "--config", str(home / "config.toml"), "--tools", "bash", "--ask", "bash", "--ephemeral", "--max-time", LONGEST],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder / "work", env=environment)
        self.words: list[str] = []
        self.errors = threading.Thread(target=lambda: self.words.extend(self.process.stderr or []), daemon=True)
        self.errors.start()

    def ask(self, request: str, /, **members: str | int) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps({"id": request, "type": request} | members) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def events(self) -> Iterator[Json]:
        for line in self.process.stdout or []:
            yield json.loads(line)
        self.process.wait()
        self.errors.join(5)


def play(case: Case, binary: str, url: str, model: str, trace: Path, folder: Path) -> Result:
    """Plays one case in a folder and writes its trace: the events, and behind each result of a command what the state is."""
    task = case.task
    kind = "note" if case.kind == "note" else "add"
    is_sent = False
    work = folder / "work"
    task.prepare(work)
    with trace.open("w", encoding="utf-8") as file:

        def write(**fields: object) -> None:
            file.write(json.dumps(fields, ensure_ascii=False) + "\n")

        write(kind="case", task=task.name, text=case.kind, when=case.when, framing=case.framing, run=case.run, model=model)
        program = Program(binary, url, model, folder, case.framing)
        program.ask("send", text=task.words)
        for line in program.events():
            event = line["event"]
            write(kind="event", line=line)
            match event["type"]:
                case "question":
                    if not is_sent and len(task.goal) - task.distance(work, task.goal) >= WHEN[case.when]:
                        is_sent = True
                        program.ask("send", text=task.texts[case.kind][0], delivery="steer", kind=kind)
                    program.ask("answer", question=event["number"], answer="yes")
                case "tool_result":
                    write(kind="state", distance=task.distance(work, task.goal_with(case.kind)))
                case "turn_ended" if not line["agent"]:
                    program.ask("end")
        write(kind="end", followed=task.followed(work, case.kind), kept=task.kept(work, case.kind), code=program.process.returncode,
              errors="".join(program.words)[-2000:])
    return result(trace)


@dataclass
class Round:
    """One reply behind the text, with its calls, and how far the state is from the goal before and after them."""

    before: int
    after: int
    tokens: int = 0
    calls: int = 0


def result(trace: Path) -> Result:
    """Returns what came of a case, from its trace."""
    lines = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    case, end = lines[0], lines[-1]
    text = next(task for task in TASKS if task.name == case["task"]).texts[case["text"]][0]
    delivered, rounds, distance = False, list[Round](), len(TASKS)
    for line in lines[1:]:
        if line["kind"] == "state":
            distance = line["distance"]
            if rounds:
                rounds[-1].after = distance
        if line["kind"] != "event" or line["line"]["agent"]:
            continue
        event = line["line"]["event"]
        match event["type"]:
            case "user_turn" if event["mid_loop"] and text in event["text"]:
                delivered = True
            case "round_started" if delivered:
                rounds.append(Round(distance, distance))
            case "tokens" if rounds:
                rounds[-1].tokens += event["output"] or 0
            case "tool_call" if rounds:
                rounds[-1].calls += 1
    wasted = sum(each.tokens for each in rounds if each.calls and each.after >= each.before)
    return Result(case, delivered, end.get("followed", False), end.get("kept", False), sum(each.tokens for each in rounds), wasted,
                  "" if end["kind"] == "end" and end["code"] == 0 else f"exit code {end.get('code')}: {end.get('errors', '').strip()}")


def models_report(results: list[Result]) -> str:
    """Returns the table: one row for each framing, text and time, with sums for each framing."""
    rows = []
    for framing in FRAMINGS:
        here = [each for each in results if each.case["framing"] == framing]
        groups = [(f"{framing}: {kind}, {when}", [each for each in here if (each.case["text"], each.case["when"]) == (kind, when)])
                  for kind in KINDS for when in WHEN]
        for title, group in [*groups, (f"**{framing}: all**", here)]:
            reached = [each for each in group if each.delivered and not each.failure]
            if group:
                tokens = [each.wasted for each in reached]
                hits = [[each.followed for each in reached], [each.kept for each in reached], [each.followed and each.kept for each in reached]]
                rows.append([title, *(rate(sum(column), len(reached)).replace("**", "") for column in hits),
                             f"{statistics.mean(tokens):.0f} of {statistics.mean(each.tokens for each in reached):.0f}" if reached else "–",
                             str(len(group) - len(reached))])
    failures = sorted({each.failure.splitlines()[-1] for each in results if each.failure})
    names = ", ".join(sorted({each.case["model"] for each in results}))
    head = ["text", "followed", "task kept", "both", "wasted tokens, mean", "not delivered"]
    return "\n\n".join([f"Model: {names}.", table(head, rows), *(f"- failed: {failure}" for failure in failures)]) + "\n"
