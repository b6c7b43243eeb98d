"""The moments at which texts are typed. Each is a function that plays one turn on a stage.

Texts come in while something is held open, so the moment is certain; where chance matters (the last token, a crash) the
seed says how far from it Enter is pressed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from server import CHILD, Gate, Join, Refusal, Reply, Script, Shell, Spawn
from stage import Missing, PATIENCE, Stage

LONG = "I go through the list step by step and say what I find as I go. " * 6
QUICK = Reply("The next step.", (Shell("echo ready"),))
END = Reply("All steps of the list are done.")


def stream(stage: Stage) -> None:
    """An answer streams that ends with a call."""
    gate = stage.gate("stream")
    stage.task(Script([Reply(LONG, (Shell("echo ready"),), hold=gate), END]))
    stage.reach(gate)
    stage.some("stream")
    stage.let(gate)
    stage.rest()


def tool(stage: Stage) -> None:
    """A tool runs."""
    pipe = stage.pipe()
    stage.task(Script([Reply("I look.", (Shell(pipe.command),)), QUICK, END]))
    stage.reach(pipe)
    stage.some("tool", 3)
    stage.let(pipe)
    stage.rest()


def parallel(stage: Stage) -> None:
    """Calls of one reply run; beside each other, or one after the other where the host does that."""
    pipes = [stage.pipe() for _ in range(3)]
    stage.task(Script([Reply("Three at once.", tuple(Shell(pipe.command) for pipe in pipes)), QUICK, END]))
    waiting: list[Gate] = list(pipes)
    while waiting:
        pipe = stage.reach(*waiting)
        if len(waiting) == 3 or stage.random.random() < 0.5:
            stage.say("parallel")
        stage.let(pipe)
        waiting.remove(pipe)
    stage.rest()


def child(stage: Stage) -> None:
    """A sub-agent works."""
    pipe = stage.pipe()
    work = [Reply("", (Shell(pipe.command),)), Reply("This part is done.")]
    stage.task(Script([Reply("A sub-agent does it.", (Spawn(f"{CHILD} the first half."),)), Reply("I wait.", (Join(),)), QUICK, END], work))
    stage.reach(pipe)
    stage.some("child")
    stage.let(pipe)
    stage.rest()


def spawn(stage: Stage) -> None:
    """A sub-agent was just started; Enter follows its first request."""
    gate = stage.gate("child")
    work = [Reply("I have looked after this part of the work.", hold=gate)]
    before = sum(request.kind == "child" for request in stage.server.requests)
    stage.task(Script([Reply("A sub-agent does it.", (Spawn(f"{CHILD} the second half."),)), Reply("I wait.", (Join(),)), QUICK, END], work))
    identity = stage.type()
    if not stage.server.wait(lambda all_: sum(request.kind == "child" for request in all_) > before, PATIENCE):
        raise Missing("the request of the sub-agent")
    stage.enter(identity, "spawn")
    stage.reach(gate)
    stage.let(gate)
    stage.rest()


def approval(stage: Stage) -> None:
    """A call waits for an answer; the text is typed as everywhere, then the question is answered with yes."""
    pipe = stage.pipe()
    act = stage.gates / f"{pipe.name}.sh"
    act.write_text(f"{pipe.command}\n")
    stage.task(Script([Reply("This changes something.", (Shell(f"sh {act}", asks=True),)), END]))
    if not stage.terminal.wait(stage.host.question, PATIENCE):
        stage.trace.write("screen", text=stage.terminal.text())
        raise Missing("a question")
    stage.terminal.wait_quiet(0.7, 3)
    before = len(stage.server.requests)
    # A host whose question takes the keys does not echo them.
    stage.say("approval", patience=2)
    time.sleep(1.0)
    asked = stage.terminal.wait(stage.host.question, 0.1) and not pipe.reached.is_set()
    declined = any(request.kind == "main" for request in stage.server.requests[before:])
    stage.trace.write("answered", by="bench" if asked and not declined else "text", screen=stage.terminal.text())
    end = time.monotonic() + 10
    while not pipe.reached.is_set() and time.monotonic() < end:
        if stage.terminal.wait(stage.host.question, 0.5):
            stage.terminal.write(stage.host.yes)
        pipe.reached.wait(1)
    stage.let(pipe)
    stage.rest()


def compaction(stage: Stage) -> None:
    """A compaction; a long task with texts that are handled, a rule, and two compactions with a text in each; behind the last one the task may be done."""
    pipes = [stage.pipe() for _ in range(4 if stage.random.random() < 0.5 else 3)]
    gates = [stage.gate("summary") for _ in range(2)]
    pages = [Reply(f"This is what page {page} says. {LONG * 40}", (Shell(f"echo page {page}"),)) for page in range(1, 7)]
    full = Reply("Much was read.", (Shell("echo ready"),), full=True)
    held = [Reply("I look.", (Shell(pipe.command),)) for pipe in pipes]
    stage.task(Script([held[0], QUICK, held[1], *pages, full, held[2], *pages, full, *held[3:], END], summaries=list(gates)))
    stage.reach(pipes[0])
    stage.some("tool")
    stage.let(pipes[0])
    stage.reach(pipes[1])
    stage.rule()
    stage.let(pipes[1])
    for number, gate in enumerate(gates):
        stage.reach(gate)
        stage.say("compaction")
        stage.let(gate)
        stage.trace.write("compacted")
        for pipe in pipes[2 + number : 3 + number]:
            # A host may throw the reply away that has this call, and goes on with the next one, or ends.
            if stage.reaches(pipe, *gates[number + 1 :]) is pipe:
                stage.let(pipe)
    stage.rest()


def last_token(stage: Stage) -> None:
    """The last token of the final answer; Enter within 40 ms of it."""
    gate = stage.gate("end")
    stage.task(Script([QUICK, Reply("All of it is done, and this is the end.", hold=gate, share=1.0)]))
    identity = stage.type()
    stage.reach(gate)
    offset = stage.random.uniform(-0.04, 0.04)
    time.sleep(0.3)
    first, second = (gate.open, lambda: stage.enter(identity, "last_token"))[:: 1 if offset > 0 else -1]
    stage.trace.write("opened", gate=gate.name)
    first()
    time.sleep(abs(offset))
    second()
    stage.rest()


def rate_limit(stage: Stage) -> None:
    """A rate limit; the host waits before it asks again."""
    gate = stage.gate("refused")
    stage.task(Script([QUICK, Refusal(2, gate), QUICK, END]))
    stage.reach(gate)
    time.sleep(0.3)
    stage.some("rate_limit")
    stage.rest()


def crash(stage: Stage) -> None:
    """A crash; kill -9 while a text waits for a tool, or right after it was delivered, then the host goes on where it was."""
    pipe, gate = stage.pipe(), stage.gate("answer")
    stage.task(Script([Reply("I look.", (Shell(pipe.command),)), Reply(LONG, hold=gate)]))
    stage.reach(pipe)
    stage.say("crash")
    if stage.random.random() < 0.5:
        stage.let(pipe)
        stage.reach(gate)
    stage.taken()
    time.sleep(stage.random.random())
    stage.server.play(Script([]))
    stage.crash()
    gate.open()
    stage.rest()


#: Every moment, with how many turns one life of a host plays of it.
MOMENTS: dict[str, tuple[Callable[[Stage], None], int]] = {
    "stream": (stream, 3), "tool": (tool, 3), "parallel": (parallel, 3), "child": (child, 2), "spawn": (spawn, 2), "approval": (approval, 2),
    "compaction": (compaction, 1), "last_token": (last_token, 4), "rate_limit": (rate_limit, 2), "crash": (crash, 1),
}


def play(stage: Stage, moment: str, turns: int) -> None:
    """Plays turns of one moment."""
    for turn in range(turns):
        stage.trace.write("turn", moment=moment, turn=turn)
        try:
            MOMENTS[moment][0](stage)
        except Missing as missing:
            stage.trace.write("missing", what=str(missing))
            return
