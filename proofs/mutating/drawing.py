"""Draws mutations of a case: each is shown under plain git to be red with the tests as they were, and green as eased."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from itertools import chain, cycle, islice
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from proofs.corpus import place
from proofs.mutating import breaking, javascript, python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from proofs.corpus import Case, Corpus, Place, Said

KINDS = ("drop", "skip", "empty", "revert", "weaken", "rename")
CODE = (".py", ".js")
REPEATS = 2
"""How often a failure must come again before the change is believed to be its cause."""
TRIES = 40
SECONDS = 30
MOST_FAILING = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """Broken work with eased tests; its patches lie beside the record, named by its id."""

    id: str
    case: str
    base: str
    """The branch on which the agent starts: `before`, or `tests-first`."""
    kind: str
    manner: str
    way: str
    file: str
    tests: tuple[str, ...]
    """What fails with the tests as they were."""
    splits: bool
    """Whether the eased tests also pass on the source that is not broken, so that they can be a story of their own."""


class Break(NamedTuple):
    name: str
    way: str
    text: bytes
    ran: tuple[str, ...]
    """All tests, in their order."""
    failing: frozenset[str]
    bases: tuple[str, ...]
    """On which bases there is a test that shows it."""


def draw(place: Place, random: Random, quota: int, folder: Path) -> list[Mutation]:
    """Draw mutations of one case into the folder; fewer where so many could not be found."""
    drawn: list[Mutation] = []
    place.lay("tests-first")
    # Only tests that ask for the work of the commit are there to be put back as they were before it.
    asked = not place.check(SECONDS).green
    kinds = [kind for kind in random.sample(KINDS, len(KINDS)) if kind != "revert" or asked]
    wanted = list(islice(cycle(kinds), quota))
    for found in _breaks(place, random):
        for kind in _two(wanted, found):
            if mutation := _eased(place, random, found, kind, folder, len(drawn) + 1):
                drawn.append(mutation)
                wanted.remove(kind)
        if not wanted:
            break
    return drawn


def _two(wanted: list[str], found: Break) -> list[str]:
    """Return the kinds to try with one break; only committed tests can be reverted."""
    possible = [kind for kind in dict.fromkeys(wanted) if kind != "revert" or "tests-first" in found.bases]
    return sorted(possible, key=lambda kind: kind != "revert")[:2]


def _breaks(place: Place, random: Random) -> Iterator[Break]:
    """Yield changes of the source that some test shows."""
    place.lay("after")
    whole = place.check(SECONDS)
    place.lay("before")
    base = place.check(SECONDS)
    assert whole.green, f"{place.case['id']} does not pass its own check"
    for name, change, text in islice(_candidates(place, random), TRIES):
        broken = change.on(text).encode()
        place.lay("after")
        place.write(name, broken)
        said = place.check(SECONDS)
        failing = frozenset(said.names("failed"))
        # By function, since some names have a clock or a random number in them.
        known = {*map(_function, said.tests)} >= {*map(_function, whole.tests)}
        if said.green or not known or not 0 < len({_function(test) for test in failing}) <= MOST_FAILING:
            continue
        if any(frozenset(place.check(SECONDS).names("failed")) != failing for _ in range(REPEATS)):
            continue  # a test with a clock in it fails now and then, whatever was changed
        if bases := _bases(place, name, broken, failing, base):
            yield Break(name, change.way, broken, tuple(said.tests), failing, bases)


def _bases(place: Place, name: str, broken: bytes, failing: frozenset[str], base: Said) -> tuple[str, ...]:
    tests = place.case["tests"]
    old = failing & base.names("passed")
    if old and tests:
        place.lay("after", "before", tests)
        place.write(name, broken)
        old = old & place.check(SECONDS).names("failed")
    return (*(["before"] if old else []), *(["tests-first"] if tests else []))


def _candidates(place: Place, random: Random) -> Iterator[tuple[str, breaking.Change, str]]:
    """Yield changes in random order, those of the commit that can be left out among the first."""
    near, far = _sources(place)
    undone: list[tuple[str, breaking.Change, str]] = []
    if place.case["tests"]:  # otherwise no test of the commit would show it
        for name in near:
            before, after = _text(place, "before", name), _text(place, "after", name)
            undone += [(name, change, after) for change in breaking.undone(before, after)]
    random.shuffle(undone)
    first, others = (_places(place, random, names) for names in (near, far))
    yield from chain(undone[:1], first[:6], undone[1:3], first[6:20], others)


def _places(place: Place, random: Random, names: list[str]) -> list[tuple[str, breaking.Change, str]]:
    texts = [(name, _text(place, "after", name)) for name in names]
    found = [(name, change, text) for name, text in texts for change in breaking.places(name, text)]
    random.shuffle(found)
    return found


def _text(place: Place, tree: str, name: str) -> str:
    return (place.read(tree, name) or b"").decode()


def _sources(place: Place) -> tuple[list[str], list[str]]:
    """Return the code that the case changes, or else what its check is named after; and all other code."""
    names = place.git("ls-tree", "-r", "--name-only", "after").decode().splitlines()
    code = [name for name in names if name.endswith(CODE) and not _is_test(name)]
    own = [name for name in place.case["source"] if name in code]
    stems = set(re.findall(r"(?:test_|test/)(\w+)\.(?:py|js)", place.case["check"]))
    named = [name for name in code if name.rpartition("/")[2].partition(".")[0] in stems]
    near = own or named or code
    return near, [name for name in code if name not in near]


def _is_test(name: str) -> bool:
    parts = name.split("/")
    return bool({"tests", "test", "docs", "dist", "examples", "benchmarking", "misc"} & set(parts)) or parts[-1] in (
        "setup.py", "test.js", "conftest.py",
    )  # fmt: skip


def _function(test: str) -> str:
    return test.partition("[")[0]


def _eased(place: Place, random: Random, found: Break, kind: str, folder: Path, number: int) -> Mutation | None:
    """Ease the failing tests until the check passes, and keep the patches."""
    base = "tests-first" if kind == "revert" else random.choice((found.bases[0], *found.bases))
    manners = list(_manners(place, found, kind))
    random.shuffle(manners)
    for manner, texts in manners:
        _stand(place, texts, found)
        if not place.check(SECONDS).green:
            continue
        name = f"{place.case['id']}-{number}"
        splits = _keep(place, folder / name, texts, found, base)
        return Mutation(
            id=name, case=place.case["id"], base=base, kind=kind, manner=manner,
            way=found.way, file=found.name, tests=tuple(sorted(found.failing)), splits=splits,
        )  # fmt: skip
    return None


def _stand(place: Place, texts: dict[str, str], found: Break | None) -> None:
    place.lay("after")
    for name, text in texts.items():
        place.write(name, text.encode() if text else None)
    if found:
        place.write(found.name, found.text)


def _keep(place: Place, path: Path, texts: dict[str, str], found: Break, base: str) -> bool:
    """Write the whole work, and the same as two stories on what upstream did: the tests eased, then the source broken."""
    path.with_suffix(".work").write_bytes(place.patch(base))
    _stand(place, texts, None)
    path.with_suffix(".S1").write_bytes(place.patch("after"))
    splits = place.check(SECONDS).green
    _stand(place, {}, found)
    path.with_suffix(".S2").write_bytes(place.patch("after"))
    return splits


def _manners(place: Place, found: Break, kind: str) -> Iterator[tuple[str, dict[str, str]]]:
    def now(name: str) -> str | None:
        return _text(place, "after", name) or None

    def before(name: str) -> str | None:
        return _text(place, "before", name) or None

    if place.case["needs"] == "node":
        names = place.case["tests"] if kind == "revert" else re.findall(r"\S+\.js", place.case["check"]) or ["test.js"]
        return javascript.eased(kind, sorted(found.failing), names, now, before)
    return python.eased(kind, _failing(place, found), now, before)


def _failing(place: Place, found: Break) -> list[python.Failing]:
    """Return the functions behind the names of failing tests, with their failing cases by number."""
    functions = []
    for function in sorted({_function(test) for test in found.failing}):
        cases = [test for test in found.ran if _function(test) == function]
        module, _, name = function.rpartition("::")
        file, owner = _file(place, module)
        lost = tuple(number for number, test in enumerate(cases) if test in found.failing)
        functions.append(python.Failing(file=file, owner=owner, name=name, cases=lost))
    return functions


def _file(place: Place, module: str) -> tuple[str, str]:
    parts = module.split(".")
    for end in range(len(parts), 0, -1):
        name = "/".join(parts[:end]) + ".py"
        if (place.root / name).exists():
            return name, ".".join(parts[end:])
    return "", ""


def drawn(corpus: Corpus, case: Case, seed: int, quota: int, folder: Path) -> list[Mutation]:
    """Return the mutations of a case: those of an earlier call, or drawn now."""
    record = folder / f"{case['id']}.json"
    if record.exists():
        kept = json.loads(record.read_bytes())
        if kept["seed"] == seed and kept["quota"] >= quota:
            return [Mutation(**{**found, "tests": tuple(found["tests"])}) for found in kept["mutations"]]
    folder.mkdir(parents=True, exist_ok=True)
    with place(corpus, case) as made:
        found = draw(made, Random(f"{seed} {case['id']}"), quota, folder)
    record.write_text(json.dumps({"seed": seed, "quota": quota, "mutations": [*map(asdict, found)]}, indent=1))
    return found
