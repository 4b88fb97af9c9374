"""Documents, and what a reader tells of them, written down in short.

A case is its name behind `==`, the document, and behind `=>` what is told of it: fields of all units (`|` is between
units, `+` inside a field), or the code of a finding with the lines where it is said (`CODE says`: words of it). `-` is nothing.
"""

from collections.abc import Callable, Iterable

from santiago.planner.draft import Document, Unit
from santiago.planner.findings import CATALOGUE

OF_A_UNIT: dict[str, Callable[[Unit], Iterable[object]]] = {
    "ids": lambda unit: [unit.id or ""],
    "titles": lambda unit: [unit.title],
    "lines": lambda unit: [unit.line],
    "status": lambda unit: [unit.status.value],
    "chunks": lambda unit: [unit.chunk or ""],
    "priorities": lambda unit: [unit.priority or ""],
    "tags": lambda unit: unit.tags,
    "criteria": lambda unit: [criterion.text for criterion in unit.criteria],
    "criteria at": lambda unit: [criterion.line for criterion in unit.criteria],
    "criteria ids": lambda unit: [criterion.id or "" for criterion in unit.criteria],
    "needs": lambda unit: [dep.target for dep in unit.deps if dep.is_declared],
    "carriers": lambda unit: [dep.carrier for dep in unit.deps],
    "files": lambda unit: [hint.value for hint in unit.files],
    "covers": lambda unit: [hint.value for hint in unit.covers],
    "verify": lambda unit: [hint.value for hint in unit.verify],
}
OF_A_DOCUMENT: dict[str, Callable[[Document], Iterable[object]]] = {
    "format": lambda document: [document.format],
    "edges": lambda document: [f"{edge.group} -> {edge.target}" for edge in document.edges],
    "run verify": lambda document: [hint.value for hint in document.run_verify],
    "rivals": lambda document: [offer.units for offer in document.rivals],
    "refused": lambda document: [] if document.units else OF_A_DOCUMENT["errors"](document),
    "errors": lambda document: [finding.code for finding in document.findings if finding.level == "error"],
}


def cases(text: str) -> list[tuple[str, str, str]]:
    """Return (name, document, what is told of it) for every case."""
    found = []
    for case in text.split("\n== ")[1:]:
        name, _, rest = case.partition("\n")
        document, *expected = rest.rstrip("\n").split("\n=> ")
        found.append((name, document + "\n", "\n".join(expected)))
    return found


def told(document: Document, expected: str) -> str:
    pairs = (line.partition(": ") for line in expected.split("\n"))
    return "\n".join(f"{what}: {_told(document, what, value)}" for what, _, value in pairs)


def _told(document: Document, what: str, value: str) -> str:
    fields = [OF_A_UNIT[name] for name in what.split(", ") if name in OF_A_UNIT]
    if fields:
        return " | ".join(", ".join(_joined(field(unit), " + ") for field in fields) for unit in document.units) or "-"
    if what in OF_A_DOCUMENT:
        return _joined(OF_A_DOCUMENT[what](document), " | ")
    if what.endswith(" says"):
        texts = [one.message for one in document.findings if what == f"{one.code} says"]
        texts += [unit.text for unit in document.units if what == "text says"]
        return value if any(value in text for text in texts) else repr(texts)
    assert what in CATALOGUE, what
    return _joined((finding.line for finding in document.findings if finding.code == what), " | ")


def _joined(values: Iterable[object], mark: str) -> str:
    return mark.join(str(value) or "-" for value in values) or "-"
