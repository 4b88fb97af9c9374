"""Test ids: one for each test of a run, and what an id tells about the test's function and file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Literal

from santiago.contract.lazy_regex import pattern

Status = Literal["passed", "failed", "skipped"]
Tests = dict[str, Status]
"""Test id to status, in order of appearance."""
Named = list[tuple[str, Status]]
"""The tests that one process of a runner named. A name may come twice."""

INSIDE = " > "
"""Separates a suite from what is in it."""
_SEVERITY: dict[Status, int] = {"passed": 0, "skipped": 1, "failed": 2}
_REPEATED = pattern(r" \(\d{1,9}\)$")
_GO_FUNCTION = pattern(r"[^ ]*?/(?:Test|Example|Fuzz|Benchmark)(?![a-z])[^/]*")
_PARAMETERS = pattern(r"[\[({]")
_OF_CLASS = (".py", ".java", ".kt", ".groovy", ".scala", "/__init__.py")
"""Endings of files whose classes or modules an id spells with dots."""
_DEEPEST = 40
"""How many parts of a path or of a dotted name are looked at."""


def worst(found: Iterable[tuple[str, Status]]) -> Tests:
    """Return each test once, with its worst result."""
    tests: Tests = {}
    for test, status in found:
        tests[test] = max(tests.get(test, status), status, key=_SEVERITY.__getitem__)
    return tests


def numbered(found: Iterable[tuple[str, Status]]) -> Tests:
    """Return the tests of one process. The second test with the same name becomes `name (2)`."""
    seen: Counter[str] = Counter()
    named: Named = []
    for test, status in found:
        seen[test] += 1
        named.append((f"{test} ({seen[test]})" if seen[test] > 1 else test, status))
    return worst(named)


def function_of(test: str) -> str:
    """Return a test id without its parameters. For a Go subtest it is the test that runs it."""
    head, sign, rest = test.partition("::")
    if sign and INSIDE not in head:
        return f"{head}::{_PARAMETERS.split(rest, maxsplit=1)[0].rstrip()}"
    whole = _REPEATED.sub("", test)
    go = _GO_FUNCTION.match(whole)
    return go[0] if go else whole


def name_of(test: str) -> str:
    """Return the name of a test without its file and class."""
    function = function_of(test)
    last = function.rpartition("::")[2].rpartition(INSIDE)[2]
    return last if " " in last else last.rpartition(".")[2]


def file_of(test: str, files: Collection[str]) -> str | None:
    """Return which of these files holds a test, if its id tells: by a path at its beginning, or by a dotted name."""
    head = test.split("::", 1)[0].split(INSIDE, 1)[0].removeprefix("./")
    by_name = _by_name(frozenset(files))  # the same frozenset is indexed once
    for place in _places(head):
        same = by_name.get(place.rpartition("/")[2], ())
        found = [path for path in same if f"/{path}".endswith(f"/{place}")]
        if place in found or len(found) == 1:
            return place if place in found else found[0]
    return None


def _places(head: str) -> Iterator[str]:
    """Yield the paths that the beginning of an id may mean, the likeliest first."""
    parts = head.split("/")[:_DEEPEST]
    yield from ("/".join(parts[start:]) for start in range(len(parts)))
    words = head.partition("$")[0].split(".")[:_DEEPEST]
    for length in range(0 if parts[1:] else len(words), 0, -1):
        yield from ("/".join(words[:length]) + ending for ending in _OF_CLASS)


@lru_cache(maxsize=4)
def _by_name(files: frozenset[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in files:
        found[path.rpartition("/")[2]].append(path)
    return found
