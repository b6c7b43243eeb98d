"""Models that are scripted, to test the second layer: one that obeys, and one for each way of not doing so; what is reported of each
must be what it does.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hosts import Steersman
from models import Case, Result, play
from server import Reply, Server, Shell
from tasks import KINDS, NOTE, TASKS, WHEN
from traces import Trace
from wires import Request

Manner = Literal["obeys", "ignores", "drops", "dawdles", "notes"]


class Model(Server):
    """A model that reads a task and works on it in its manner, one command for each fact."""

    def __init__(self, manner: Manner, case: Case, folder: Path, trace: Trace) -> None:
        super().__init__(trace, Steersman(folder))
        self.manner, self.case, self.work = manner, case, folder / "work"
        self.dawdled = False
        #: How the text stood in the last request that held it.
        self.seen = ""

    def choose(self, request: Request) -> Reply:
        task, (text, changed) = self.case.task, self.case.task.texts[self.case.kind]
        found = next((words for words in request.users() if text in words), "")
        self.seen = found or self.seen
        goal = task.goal
        if found and self.manner in ("obeys", "dawdles"):
            goal = task.goal | changed
        if found and self.manner == "drops":
            goal = changed
        if found and self.manner in ("dawdles", "notes") and not self.dawdled:
            self.dawdled = True
            return Reply("", (Shell("ls" if self.manner == "dawdles" else f"echo The {NOTE} works > note.txt"),))
        facts = task.facts(self.work)
        missing = next(((name, value) for name, value in goal.items() if facts.get(name, "") != value), None)
        return Reply("", (Shell(task.command(*missing)),)) if missing else Reply("All of it is done.")


@dataclass(frozen=True)
class Expected:
    followed: bool
    kept: bool
    wastes: bool


def trials() -> list[tuple[Manner, Case, Expected]]:
    """Returns what is tried: the one that obeys with each text at each time, and the others where their manner shows."""
    framing = {"early": "framed", "middle": "plain", "late": "framed"}
    every = [(kind, when) for kind in KINDS for when in WHEN]
    found: list[tuple[Manner, Case, Expected]] = [
        ("obeys", Case(TASKS[index % len(TASKS)], kind, when, framing[when]), Expected(True, True, False)) for index, (kind, when) in enumerate(every)]
    for index, kind in enumerate(("addition", "revision", "retraction")):
        task = TASKS[index]
        found.append(("ignores", Case(task, kind, "middle", "framed"), Expected(False, True, kind != "addition")))
        found.append(("drops", Case(task, kind, "early", "plain"), Expected(True, False, False)))
        found.append(("dawdles", Case(task, kind, "middle", "framed"), Expected(True, True, True)))
    found.append(("notes", Case(TASKS[0], "note", "early", "framed"), Expected(False, True, True)))
    return found


def trial(manner: Manner, case: Case, expected: Expected, binary: str, folder: Path) -> str:
    """Plays one trial; returns what is wrong about its result."""
    (folder / "work").mkdir(parents=True)
    model = Model(manner, case, folder, Trace(folder / "requests.jsonl"))
    try:
        found = play(case, binary, f"http://127.0.0.1:{model.port}/v1", "scripted", folder / "trace.jsonl", folder)
    finally:
        model.close()
        model.trace.close()
    words = case.task.texts[case.kind][0]
    wrong = [] if found.delivered and not found.failure else [f"it is not delivered: {found.failure}"]
    if (model.seen == words) != (case.framing == "plain"):
        wrong.append(f"the text came as {model.seen!r}")
    if Expected(found.followed, found.kept, found.wasted > 0) != expected:
        wrong.append(f"{described(found)}, in place of {expected}")
    return "; ".join(wrong)


def described(found: Result) -> str:
    return f"followed {found.followed}, kept {found.kept}, {found.wasted} of {found.tokens} tokens wasted"


def test_models(binary: str, folder: Path) -> int:
    """Plays all trials; returns how many have a wrong result."""
    wanted = trials()
    with ThreadPoolExecutor(6) as pool:
        folders = [folder / f"model-{number}" for number in range(len(wanted))]
        wrongs = list(pool.map(lambda one, place: trial(one[0], one[1], one[2], binary, place), wanted, folders))
    for (manner, case, _), wrong in zip(wanted, wrongs):
        print(f"{'WRONG' if wrong else 'as expected'}: a model that {manner}, {case.name}{': ' + wrong if wrong else ''}")
    return sum(map(bool, wrongs))
