"""Scores a trace: what became of each text, and of the task and the rule, by what the server saw.

Reads nothing but the trace of one life. A text counts as delivered in the first request of the main agent that holds its
identity; assistant messages and calls do not count.
"""

from __future__ import annotations

import math
import random
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from traces import read_trace
from wires import Item, Json

#: The time within which a host may take what was typed before a boundary that passes without it counts, seconds.
GRACE = 0.15
#: How far a screen may be behind the wire, seconds.
BEHIND = 3.0
#: Words with which a host says that a text is not new.
MARKED = re.compile(r"(?i)none of them is new|\bhandled\b|already (?:been )?(?:done|answered|acted)|you have read them")


@dataclass
class Text:
    """What became of one text."""

    moment: str
    life: str
    lost: bool = False
    doubled: bool = False
    disordered: bool = False
    #: The words came without some of them.
    mangled: bool = False
    inside: bool = False
    #: Results went to the model without a text that was there: it followed only behind the final answer, or with later results.
    late: bool = False
    missed: bool = False
    replayed: bool = False
    #: From Enter, or from the end of what the bench held open, to the request, seconds.
    latency: float | None = None
    claims: int = 0
    false_claims: int = 0


@dataclass
class Life:
    """The scores of one life."""

    host: str
    version: str
    moment: str
    seed: int
    load: float
    texts: list[Text] = field(default_factory=list)
    requests: int = 0
    broken: int = 0
    #: Replies that the host did not read to their end because a text came.
    cut: int = 0
    questions: int = 0
    answered_by_text: int = 0
    #: Requests after a compaction, and how many of them hold the words of the task and of the rule.
    after_compaction: int = 0
    with_task: int = 0
    with_rule: int = 0
    missing: list[str] = field(default_factory=list)
    failure: str = ""


def count(items: Iterable[Item], words: str) -> int:
    """Returns how often words stand in what is no assistant's."""
    return sum(item.text.count(words) for item in items if item.role in ("user", "system", "result"))


def position(items: Sequence[Item], words: str) -> tuple[int, int] | None:
    for index, item in enumerate(items):
        if item.role not in ("assistant", "call") and words in item.text:
            return index, item.text.index(words)
    return None


def is_inside(items: Sequence[Item], words: str) -> bool:
    """Tells whether words of the user stand between a call and its result."""
    results = {item.call: index for index, item in enumerate(items) if item.role == "result"}
    open_calls: set[str] = set()
    for index, item in enumerate(items):
        if item.role == "call":
            open_calls.add(item.call)
        elif item.role == "result":
            open_calls.discard(item.call)
        elif item.role == "user" and words in item.text and any(results.get(call, -1) > index for call in open_calls):
            return True
    return False


def is_broken(items: Sequence[Item]) -> bool:
    """Tells whether a call has no result behind it, or a result no call before it."""
    open_calls: set[str] = set()
    for item in items:
        if item.role == "call":
            open_calls.add(item.call)
        elif item.role == "result" and item.call not in open_calls:
            return True
        elif item.role == "result":
            open_calls.remove(item.call)
    return bool(open_calls)


def is_open(items: Sequence[Item], words: str) -> bool:
    """Tells whether a text stands as a message that nothing has answered, without a word that says that it is not new."""
    for index, item in enumerate(items):
        if item.role == "user" and words in item.text and not MARKED.search(item.text):
            return not any(later.role in ("assistant", "call") for later in items[index + 1 :])
    return False


def is_boundary(items: Sequence[Item]) -> bool:
    """Tells whether a request brings results of tools."""
    return next((item.role for item in reversed(items) if item.role != "user"), "") == "result"


class Turn:
    """The lines of one turn, sorted by what they are."""

    def __init__(self, lines: list[Json], life: str, moment: str) -> None:
        self.life, self.moment = life, moment
        self.by_kind: Callable[[str], list[Json]] = lambda kind: [line for line in lines if line["kind"] == kind]
        self.main = [line for line in self.by_kind("request") if line["of"] == "main"]
        self.refused = {line["number"] for line in self.by_kind("reply") if line["refused"]}
        self.replies = [line for line in self.by_kind("reply") if line["of"] == "main" and not line["refused"]]
        self.typed = self.by_kind("typed")
        self.changes = [line["at"] for line in lines if line["kind"] in ("compacted", "resumed")]

    def texts(self) -> list[Text]:
        return [self.text(index, line) for index, line in enumerate(self.typed)]

    def text(self, index: int, typed: Json) -> Text:
        identity, at = typed["text"], typed["at"]
        text = Text(typed["moment"], self.life)
        carriers = [request for request in self.main if count(request["items"], identity)]
        arrival = carriers[0]["at"] if carriers else math.inf
        text.lost = not carriers
        text.doubled = any(count(request["items"], identity) > 1 for request in carriers)
        text.mangled = not any(count(request["items"], typed["words"]) for request in carriers) and bool(carriers)
        text.inside = any(is_inside(request["items"], identity) for request in carriers)
        text.disordered = any(self.precedes(identity, earlier["text"]) for earlier in self.typed[:index])
        boundaries = [request for request in self.main if at + GRACE < request["at"] < arrival and is_boundary(request["items"])
                      and not self.is_retry(request)]
        if boundaries and carriers and typed["moment"] != "crash":
            # By their order: that a reply has ended is written down after it was sent, perhaps behind the next request.
            first, carrier = boundaries[0]["number"], carriers[0]["number"]
            text.late = any(reply["final"] and first <= reply["number"] < carrier for reply in self.replies)
            text.missed = not text.late
        text.replayed = self.is_replayed(identity, carriers)
        opened = [line["at"] for line in self.by_kind("opened") if line["at"] < arrival]
        if carriers:
            text.latency = arrival - max([at, *opened])
        for claim in self.by_kind("claim"):
            if claim["text"] == identity:
                text.claims += 1
                # What the text has to wait for was still held open, or it never comes.
                is_early = claim["says"] == "given" and (text.lost or any(claim["at"] < at < arrival for at in opened))
                is_old = claim["says"] == "waits" and arrival < claim["at"] - BEHIND
                text.false_claims += is_early or is_old
        return text

    def precedes(self, identity: str, earlier: str) -> bool:
        """Tells whether a text stands before one that was typed earlier, in the last request with both."""
        for request in reversed(self.main):
            one, other = position(request["items"], identity), position(request["items"], earlier)
            if one and other:
                return one < other
        return False

    def is_retry(self, request: Json) -> bool:
        """Tells whether a request is one that the server had refused, once more."""
        return any(other["number"] in self.refused and other["items"] == request["items"] for other in self.main if other is not request)

    def is_replayed(self, identity: str, carriers: list[Json]) -> bool:
        """Tells whether a text that the model had answered stands open again after a compaction or a restart."""
        numbers = {request["number"] for request in carriers}
        answered = [reply["at"] for reply in self.replies if reply["number"] in numbers and not reply["cut"]]
        changes = [change for change in self.changes if answered and answered[0] < change]
        return any(request["at"] > changes[0] and is_open(request["items"], identity) for request in carriers) if changes else False

    def requests_after_compaction(self) -> list[list[Item]]:
        compacted = self.by_kind("compacted")
        probes = [line["at"] for line in self.by_kind("probe")] or [math.inf]
        return [request["items"] for request in self.main if compacted and compacted[0]["at"] < request["at"] < probes[0]]


def score(path: Path) -> Life:
    """Returns the scores of one life."""
    lines = read_trace(path)
    head = lines[0]
    life = Life(head["host"], head["version"], head["moment"], head["seed"], head["load"])
    starts = [index for index, line in enumerate(lines) if line["kind"] == "turn"] + [len(lines)]
    for start, end in zip(starts, starts[1:]):
        turn = Turn(lines[start:end], path.stem, life.moment)
        life.texts += turn.texts()
        life.requests += len(turn.main)
        life.broken += sum(is_broken(request["items"]) for request in turn.main)
        life.cut += sum(reply["cut"] for reply in turn.replies) if life.moment != "crash" else 0
        answers = turn.by_kind("answered")
        life.questions += len(answers)
        life.answered_by_text += sum(answer["by"] == "text" for answer in answers)
        task, rule = ([line["text"] for line in turn.by_kind(kind)] for kind in ("task", "rule"))
        for items in turn.requests_after_compaction():
            life.after_compaction += 1
            life.with_task += bool(task and count(items, task[0]))
            life.with_rule += bool(rule and count(items, rule[0]))
    life.missing = [line["what"] for line in lines if line["kind"] == "missing"]
    life.failure = next((line["why"] for line in lines if line["kind"] == "failed"), "")
    return life


#: The faults of a text, in the order of the tables.
FAULTS = ("lost", "doubled", "disordered", "mangled", "inside", "late", "missed", "replayed")


def columns(life: Life) -> dict[str, int]:
    """Returns how often each fault was found in a life."""
    found = {fault: sum(getattr(text, fault) for text in life.texts) for fault in FAULTS}
    found |= {"false_claims": sum(text.false_claims for text in life.texts), "broken": life.broken, "answered": life.answered_by_text,
              "without_task": life.after_compaction - life.with_task, "without_rule": life.after_compaction - life.with_rule}
    return found | {"missing": len(life.missing), "failed": int(bool(life.failure))}


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """Returns the 95 % interval of a rate by Wilson."""
    if not trials:
        return 0.0, 1.0
    z, rate = 1.96, hits / trials
    middle = rate + z * z / (2 * trials)
    spread = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def median_interval(groups: list[list[float]], rounds: int = 1000) -> tuple[float, float, float]:
    """Returns the median and its 95 % interval by the bootstrap; whole lives are drawn, as texts of one life are alike."""
    chance = random.Random(1)
    medians = sorted(statistics.median([value for group in chance.choices(groups, k=len(groups)) for value in group]) for _ in range(rounds))
    middle = statistics.median([value for group in groups for value in group])
    return middle, medians[int(rounds * 0.025)], medians[int(rounds * 0.975)]
