"""Holds what the readers take out of a document against labels made by someone who did not write them.

Labels are facts (line numbers, ids, counts), one JSON file per family; the documents themselves stay where they are.
Run as a program it prints the table of docs/formats.md:  python -m tests.corpus.score [FOLDER LABELS...]
"""

import json
import sys
from pathlib import Path
from typing import Any

from santiago.planner import ids
from santiago.planner.draft import PLANNED, Document, Unit
from santiago.planner.reading import read_document
from santiago.planner.source import Source

HERE = Path(__file__).parent
CORPUS = HERE.parents[2] / "shared" / "corpus"

Label = dict[str, Any]


def labels() -> list[tuple[str, str, Label]]:
    """Return (family, file name, label) for every labelled document."""
    return [
        (path.stem, name, label)
        for path in sorted(HERE.glob("*.json"))
        for name, label in json.loads(path.read_text(encoding="utf-8")).items()
    ]


def read(path: Path) -> Document:
    return read_document(Source(path.read_text(encoding="utf-8-sig"), path=path.name))


def differences(document: Document | None, label: Label) -> list[str]:
    """Return what differs from the closest of the label and its alternatives; empty means exact."""
    return _against(document, closest(document, label))


def closest(document: Document | None, label: Label) -> Label:
    """Return the one of a label and its alternatives (readings that are just as right) that a document comes closest to."""
    candidates = [label, *({**label, "alternatives": [], **other} for other in label.get("alternatives", []))]
    return min(candidates, key=lambda candidate: len(_against(document, candidate)))


def _against(document: Document | None, label: Label) -> list[str]:
    if label["outcome"] == "refused":
        refused = document is None or not any(unit.status in PLANNED for unit in document.units)
        refused = refused or any(finding.level == "error" for finding in document.findings)  # type: ignore[union-attr]
        return [] if refused else [f"should be refused ({label['why']}), got {len(document.units)} units"]  # type: ignore[union-attr]
    if document is None or not document.units:
        return [f"refused, expected {len(label['units'])} units"]
    found = {unit.line: unit for unit in document.units}
    wanted = {unit["line"]: unit for unit in label["units"]}
    problems = [f"line {line}: unit missed ({wanted[line]['id']})" for line in sorted(set(wanted) - set(found))]
    problems += [
        f"line {line}: not a unit ({found[line].id} {found[line].title[:40]})"
        for line in sorted(set(found) - set(wanted))
    ]
    for line in sorted(set(found) & set(wanted)):
        problems += _unit(found[line], wanted[line], counted="declared_edges" in label)
    if "declared_edges" in label:
        edges = sum(len(unit.deps) for unit in document.units) + len(document.edges)
        if edges != label["declared_edges"]:
            problems.append(f"{edges} declared edges, expected {label['declared_edges']}")
    return problems


def _unit(unit: Unit, wanted: dict[str, Any], *, counted: bool) -> list[str]:
    problems = []
    if wanted["id"] is not None and (unit.id is None or _same(unit.id) != _same(wanted["id"])):
        problems.append(f"line {unit.line}: id {unit.id!r}, expected {wanted['id']!r}")
    lines = [criterion.line for criterion in unit.criteria]
    if lines != wanted["criteria"]:
        problems.append(f"line {unit.line}: criteria at {lines}, expected {wanted['criteria']}")
    deps = {_same(dep.target) for dep in unit.deps if dep.is_declared}
    expected = {_same(name) for name in [*wanted.get("depends_on", []), *wanted.get("external", [])]}
    # Where a label counts the edges of the document it does not list them unit by unit.
    if deps != expected and not counted:
        problems.append(f"line {unit.line}: depends on {sorted(deps)}, expected {sorted(expected)}")
    if unit.status.value != wanted.get("status", "open"):
        problems.append(f"line {unit.line}: status {unit.status.value}, expected {wanted.get('status')}")
    return problems


def _same(identifier: str) -> str:
    return ids.fold(str(identifier).split()[-1]) if str(identifier).split() else ""


def main(arguments: list[str]) -> int:
    """Print exact and total per family; with -v every difference."""
    verbose = "-v" in arguments
    only = [a for a in arguments if not a.startswith("-")]
    if only and Path(only[0]).is_dir():
        root = Path(only[0])
        rows = [
            (key.split("/")[0], key.split("/", 1)[1], label)
            for file in only[1:]
            for key, label in json.loads(Path(file).read_text()).items()
        ]
    else:
        root = CORPUS
        rows = [row for row in labels() if not only or row[0] in only]
    score: dict[str, list[int]] = {}
    for family, name, label in rows:
        tally = score.setdefault(family, [0, 0])
        tally[1] += 1
        try:
            problems = differences(read(root / family / name), label)
        except Exception as error:  # a traceback is a result here
            problems = [f"TRACEBACK {type(error).__name__}: {error}"]
        tally[0] += not problems
        if problems:
            print(f"-- {family}/{name}: {len(problems)}")
            for problem in problems[: 40 if verbose else 3]:
                print(f"     {problem}")
    for family, (exact, total) in score.items():
        print(f"{family:14} {exact:3} / {total}")
    print(f"{'all':14} {sum(s[0] for s in score.values()):3} / {sum(s[1] for s in score.values())}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
