"""The tables of a run, as Markdown: one row for each host, then one for each moment, then what could not be compared and why."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from itertools import groupby

from moments import MOMENTS
from peers import HOSTS
from score import FAULTS, Life, Text, median_interval, wilson

TITLES = {"lost": "lost", "doubled": "doubled", "disordered": "out of order", "mangled": "without some of its words", "inside": "between a call and its result",
          "late": "only after the final answer", "missed": "a boundary later", "replayed": "open again"}
ABOUT = {name: (play.__doc__ or "").split(".")[0].split(";")[0] for name, (play, _) in MOMENTS.items()}


def rate(hits: int, trials: int) -> str:
    """Returns a rate with its interval; a dash where nothing was tried."""
    if not trials:
        return "–"
    low, high = wilson(hits, trials)
    return f"**{hits}** of {trials} ({100 * low:.0f}–{100 * high:.0f} %)" if hits else f"0 of {trials} (≤ {100 * high:.0f} %)"


def milliseconds(lives: list[Life], value: Callable[[Text], float | None]) -> str:
    """Returns the median of a time, with its interval."""
    groups = [[time for text in life.texts if (time := value(text)) is not None] for life in lives]
    groups = [group for group in groups if group]
    if not groups:
        return "–"
    middle, low, high = (round(1000 * value) for value in median_interval(groups))
    return f"{middle} ({low}–{high})"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def machine(lives: list[Life]) -> str:
    loads = [life.load for life in lives] or [0.0]
    return (f"{time.strftime('%Y-%m-%d')}, {platform.system()} {platform.machine()}, {os.cpu_count()} processors, "
            f"load average {min(loads):.1f} to {max(loads):.1f} during the run, seeds {min(life.seed for life in lives)} to {max(life.seed for life in lives)}.")


def by_host(lives: list[Life]) -> dict[str, list[Life]]:
    order = list(HOSTS)
    ordered = sorted(lives, key=lambda life: order.index(life.host))
    return {host: list(own) for host, own in groupby(ordered, key=lambda life: life.host)}


def scores_of(lives: list[Life]) -> dict[str, str]:
    """Returns the column of a host: each score by its title."""
    texts = [text for life in lives for text in life.texts]
    changed = [text for life in lives if life.moment == "crash" or life.after_compaction for text in life.texts]
    total = sum(life.after_compaction for life in lives)
    found = {f"texts: {TITLES[fault]}": rate(sum(getattr(text, fault) for text in texts), len(texts)) for fault in FAULTS[:-1]}
    return found | {
        f"texts: {TITLES[FAULTS[-1]]}": rate(sum(text.replayed for text in changed), len(changed)),
        "requests: calls and results do not match": rate(sum(life.broken for life in lives), sum(life.requests for life in lives)),
        "questions: answered by a text": rate(sum(life.answered_by_text for life in lives), sum(life.questions for life in lives)),
        "marks: false": rate(sum(text.false_claims for text in texts), sum(text.claims for text in texts)),
        "compacted requests: without the task": rate(total - sum(life.with_task for life in lives), total),
        "compacted requests: without the rule": rate(total - sum(life.with_rule for life in lives), total),
        "replies cut off by a text (no fault)": str(sum(life.cut for life in lives)),
    }


def hosts_table(lives: list[Life]) -> str:
    hosts = by_host(lives)
    scores = {f"{host} {own[0].version}": scores_of(own) for host, own in hosts.items()}
    rows = [[title, *(column[title] for column in scores.values())] for title in next(iter(scores.values()))]
    return table(["", *scores], rows)


def moments_table(lives: list[Life]) -> str:
    hosts = by_host(lives)
    rows = []
    for moment, about in ABOUT.items():
        row = [about]
        for own in hosts.values():
            here = [Life(**(vars(life) | {"texts": [text for text in life.texts if text.moment == moment]})) for life in own]
            texts = [text for life in here for text in life.texts]
            faults = [f"{number} {TITLES[fault]}" for fault in FAULTS if (number := sum(getattr(text, fault) for text in texts))]
            cell = f"{len(texts)}: {', '.join(faults) or 'no fault'}" if texts else "–"
            row.append(cell)
        rows.append(row)
    return table(["texts typed", *hosts], rows)


def times_table(lives: list[Life]) -> str:
    hosts = by_host(lives)
    rows = []
    for moment, about in ABOUT.items():
        if moment == "crash":
            continue
        row = [about]
        for own in hosts.values():
            here = [Life(**(vars(life) | {"texts": [text for text in life.texts if text.moment == moment]})) for life in own]
            row.append(milliseconds(here, lambda text: text.latency))
        rows.append(row)
    return table(["ms from the end of what held a text up to its request: median (95 %)", *hosts], rows)


def not_comparable(lives: list[Life]) -> str:
    """Returns what was not measured, with the reason: what a host does not have, and what failed in which life."""
    lines = []
    for host, own in by_host(lives).items():
        lines += [f"- **{host}**, {ABOUT[moment]}: {why}." for moment, why in HOSTS[host].cannot.items()]
        reasons: dict[str, list[str]] = {}
        for life in own:
            for why in [*(f"no {what}" for what in dict.fromkeys(life.missing)), *(line.rstrip(":") for line in life.failure.splitlines()[:1])]:
                reasons.setdefault(f"{ABOUT[life.moment]}: {why}", []).append(str(life.seed))
        lines += [f"- **{host}**, {reason} (seed {', '.join(seeds)})." for reason, seeds in reasons.items()]
    return "\n".join(lines) or "Nothing."


def report(lives: list[Life]) -> str:
    parts = [machine(lives), hosts_table(lives), moments_table(lives), times_table(lives), "Not comparable:", not_comparable(lives)]
    return "\n\n".join(parts) + "\n"
