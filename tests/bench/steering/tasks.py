"""The tasks of the second layer, the texts that change them, and what is checked: the state of a folder, never what a model says of it.

A state is a set of facts: a name and a value each. A task wants a goal; a text changes some facts of the goal and leaves the others, so
both questions have an answer: was the text followed, and was the rest of the task kept?
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Facts = dict[str, str]

#: Words by which the irrelevant note is found again where it does not belong.
NOTE = "coffee machine"
KINDS = ("addition", "revision", "retraction", "note")
#: Parts of the task that are done when the text is sent; the call that is about to run comes before its delivery.
WHEN = {"early": 0, "middle": 3, "late": 5}


@dataclass(frozen=True)
class Task:
    """A task in six parts."""

    name: str
    words: str
    start: dict[str, str]
    goal: Facts
    #: By kind: what the user writes, and the facts that change with it; an empty value is a fact that must not be.
    texts: dict[str, tuple[str, Facts]]
    facts: Callable[[Path], Facts]
    #: The command that makes one fact so.
    command: Callable[[str, str], str]

    def prepare(self, folder: Path) -> None:
        for name, content in self.start.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def changed(self, kind: str) -> Facts:
        """Returns the facts of the goal that a text changes."""
        return self.texts[kind][1]

    def goal_with(self, kind: str) -> Facts:
        return self.goal | self.changed(kind)

    def distance(self, folder: Path, goal: Facts) -> int:
        """Returns how many facts are not as a goal wants them."""
        facts = self.facts(folder)
        return sum(facts.get(name, "") != value for name, value in goal.items())

    def followed(self, folder: Path, kind: str) -> bool:
        """Tells whether the state is as the text wants it; a note wants that nothing is made of it."""
        if kind == "note":
            return not any(NOTE in name or NOTE in content for name, content in files(folder).items())
        return self.distance(folder, self.changed(kind)) == 0

    def kept(self, folder: Path, kind: str) -> bool:
        """Tells whether all parts of the task are done that the text leaves as they were."""
        return self.distance(folder, {name: value for name, value in self.goal.items() if name not in self.changed(kind)}) == 0


def files(folder: Path) -> dict[str, str]:
    """Returns the files of a folder by their names, without what surrounds their words."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and ".git" not in path.parts:
            found[str(path.relative_to(folder))] = path.read_text(errors="replace").strip()
    return found


def places(folder: Path) -> Facts:
    """Returns in which folder each letter lies."""
    return {name.partition("/")[2]: name.partition("/")[0] for name in files(folder) if "/" in name}


def prices(folder: Path) -> Facts:
    """Returns the lines of the list of prices."""
    lines = files(folder).get("prices.csv", "").splitlines()[1:]
    return {name.strip(): price.strip() for name, _, price in (line.partition(",") for line in lines)}


def write(name: str, value: str) -> str:
    return f"mkdir -p squares && echo {value} > {name}" if value else f"rm -f {name}"


def move(name: str, value: str) -> str:
    return f"mkdir -p {value} && mv */{name} {value}/"


def set_price(name: str, value: str) -> str:
    if not value:
        return f"sed -i '/^{name},/d' prices.csv"
    return f"grep -q '^{name},' prices.csv && sed -i 's/^{name},.*/{name},{value}/' prices.csv || echo '{name},{value}' >> prices.csv"


STEPS = "Do it in six steps, one command for each, and look at the result of a step before the next one."
ASIDE: tuple[str, Facts] = (f"By the way, the {NOTE} on the second floor works again.", {})
FRUIT = {"apple": 3, "banana": 2, "cherry": 8, "date": 6, "elder": 5, "fig": 4}
LETTERS = ("anna", "bert", "carl", "dora", "emil", "fred")

TASKS = [
    Task("squares", f"Write the squares of 1 to 6 into files: squares/1.txt holds 1, squares/2.txt holds 4, and so on. {STEPS}", {"README.md": "Numbers.\n"},
         {f"squares/{number}.txt": str(number**2) for number in range(1, 7)},
         {"addition": ("Also write squares/9.txt in the same way.", {"squares/9.txt": "81"}),
          "revision": ("The files of 4, 5 and 6 must hold the cube of the number, not the square.", {f"squares/{n}.txt": str(n**3) for n in (4, 5, 6)}),
          "retraction": ("I do not need squares/6.txt any more; at the end there must be no such file.", {"squares/6.txt": ""}),
          "note": ASIDE},
         files, write),
    Task("prices", f"Double each price in prices.csv, from the top to the bottom. {STEPS}",
         {"prices.csv": "item,price\n" + "".join(f"{name},{price}\n" for name, price in FRUIT.items())},
         {name: str(2 * price) for name, price in FRUIT.items()},
         {"addition": ("Also add a line for grape, with a price of 7.", {"grape": "7"}),
          "revision": ("The prices of elder and fig must be three times the old ones, not twice.", {"elder": "15", "fig": "12"}),
          "retraction": ("Leave fig out: in the end its price must be the old one, 4.", {"fig": "4"}),
          "note": ASIDE},
         prices, set_price),
    Task("letters", f"Move the six letters from the folder inbox to the folder archive, in the order of their names. {STEPS}",
         {f"inbox/{name}": f"A letter of {name}.\n" for name in LETTERS} | {"desk/gina": "A letter of gina.\n"},
         {name: "archive" for name in LETTERS},
         {"addition": ("Also move gina from the folder desk to archive.", {"gina": "archive"}),
          "revision": ("The letters of dora, emil and fred belong in the folder old, not in archive.", {name: "old" for name in LETTERS[3:]}),
          "retraction": ("The letter of fred is not to be moved: in the end it must be in inbox.", {"fred": "inbox"}),
          "note": ASIDE},
         places, move),
]
