"""Compiles the catalogue: copies each scenario to below the runtime root, and lists the copies in a manifest.

The copies must not be edited. The digests in the manifest show whether one was.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from santiago.artifacts.files import write_whole
from santiago.artifacts.run_locations import keep_out_of_git, name_inside, refuse_linked
from santiago.board.governance import scenarios
from santiago.board.governance.documents import Fault, Faults
from santiago.board.governance.scenarios import CATALOGUE, ENDING, files_in
from santiago.contract.record import record
from santiago.util import regular
from santiago.util.clock import SystemClock
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from santiago.board.board_place import Place
    from santiago.board.governance.scenarios import Catalogue, Scenario

COPIES = "dag/scenarios"
"""The folder of the copies, below the runtime root."""
MANIFEST = ".compiled-manifest.tsv"
COLUMNS = ("id", "source_rel", "source_sha256", "runtime_rel", "runtime_sha256", "compiled_at")
_LARGEST = 16 << 20
_COMPILE = "Run `santiago scenario compile`."
_EDITED = "Move what you changed to the scenario in .sigee/dag/scenarios, remove this copy, and compile again."


@record
class Compiled:
    """What a compilation did. It wrote nothing where there are faults."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    faults: tuple[Fault, ...]
    catalogue: Catalogue

    def to_data(self) -> dict[str, Any]:
        return {
            "contract_version": 1, "status": "FAIL" if self.faults else "PASS", "written": list(self.written),
            "removed": list(self.removed), "unchanged": self.unchanged, "faults": [one.to_data() for one in self.faults],
        }  # fmt: skip


def compiled(project: Path, place: Place, *, check_only: bool = False) -> Compiled:
    """Bring the copies up to date with the catalogue. A copy that somebody edited is a fault, and is left alone.

    With `check_only`, nothing is written, and what a compilation would do is among the faults.
    """
    catalogue = scenarios.read(project)
    copies = _Copies(place)
    faults = Faults([*catalogue.faults, *copies.edited(catalogue.scenarios), *without_source(project, place.root)])
    if check_only:
        _add_differences(copies, catalogue, faults)
    stale = [one for one in catalogue.scenarios.values() if not copies.is_current(one)]
    gone = [name for name in copies.rows if name not in catalogue.scenarios]
    done = not faults and not check_only
    if done and (stale or gone):
        copies.write(stale, gone)
    return Compiled(
        written=tuple(copies.name_of(one.id) for one in stale) if done else (),
        removed=tuple(map(copies.name_of, gone)) if done else (),
        unchanged=len(catalogue.scenarios) - (0 if check_only else len(stale)),
        faults=faults.in_order(),
        catalogue=catalogue,
    )


def _add_differences(copies: _Copies, catalogue: Catalogue, faults: Faults) -> None:
    """Add what a compilation would do."""
    edited = {one.file for one in faults}
    for one in catalogue.scenarios.values():
        name = copies.name_of(one.id)
        if not copies.is_current(one) and name not in edited:
            is_known = one.id in copies.rows
            message = f"it changed since its copy {name} was made" if is_known else "it was never compiled"
            faults.add(one.file, 0, message, _COMPILE)
    for name in copies.rows:
        if name not in catalogue.scenarios and copies.name_of(name) not in edited:
            faults.add(copies.name_of(name), 0, f"its scenario {name} was removed", _COMPILE)


def without_source(project: Path, root: Path) -> tuple[Fault, ...]:
    """Return a fault where there are scenarios below the runtime root, but none in the catalogue."""
    copies = files_in(root, COPIES)
    if not copies or files_in(project, CATALOGUE):
        return ()
    name = name_inside(root / COPIES, project)
    message = f"scenarios are only here, and none is in {CATALOGUE}"
    return (
        Fault(file=name, line=0, message=message, remedy=f"Move them to {CATALOGUE}, without their first 3 lines."),
    )


class _Copies:
    """The copies below the runtime root, and what the manifest says of them."""

    def __init__(self, place: Place) -> None:
        self.place, self.folder = place, place.root / COPIES
        self.rows = _rows(self.folder / MANIFEST)

    def path_of(self, scenario: str) -> Path:
        return self.folder / f"{scenario}{ENDING}"

    def name_of(self, scenario: str) -> str:
        return self.place.named(self.path_of(scenario))

    def content(self, scenario: str) -> bytes | None:
        return regular.content(self.path_of(scenario), _LARGEST, follow=False)

    def is_current(self, one: Scenario) -> bool:
        """Tell whether the copy is what this scenario compiles to."""
        row = self.rows.get(one.id)
        return row is not None and self.content(one.id) == _copy(one, row["compiled_at"]).encode()

    def edited(self, known: Mapping[str, Scenario]) -> list[Fault]:
        """Return a fault for each copy that is not as a compilation wrote it."""
        faults = Faults()
        for path in files_in(self.place.root, COPIES):
            scenario = path.rpartition("/")[2].removesuffix(ENDING)
            name = self.name_of(scenario)
            row, data = self.rows.get(scenario), self.content(scenario) or b""
            if row is None:
                faults.add(name, 0, "this file was not made by a compilation", _EDITED)
                continue
            # Copy and manifest may agree with each other, but not with the scenario that they name as source.
            one = known.get(scenario)
            is_from = one is not None and one.digest == row["source_sha256"]
            forged = one is not None and is_from and data != _copy(one, row["compiled_at"]).encode()
            if forged or sha256(data).hexdigest() != row["runtime_sha256"]:
                faults.add(name, 0, "this copy was edited", _EDITED)
        return list(faults)

    def write(self, stale: list[Scenario], gone: list[str]) -> None:
        now = SystemClock().utc()
        rows = {name: row for name, row in self.rows.items() if name not in gone}
        refuse_linked(self.folder)
        keep_out_of_git(self.place.root)
        for one in stale:
            data, name = _copy(one, now).encode(), self.name_of(one.id)
            write_whole(self.path_of(one.id), data)
            values = (one.id, one.file, one.digest, name, sha256(data).hexdigest(), now)
            rows[one.id] = dict(zip(COLUMNS, values, strict=True))
        lines = ["\t".join(COLUMNS), *("\t".join(row.values()) for _, row in sorted(rows.items()))]
        write_whole(self.folder / MANIFEST, ("\n".join(lines) + "\n").encode())
        for name in gone:
            with guarding(self.folder):
                self.path_of(name).unlink(missing_ok=True)


def _copy(one: Scenario, at: str) -> str:
    return f"# GENERATED_FROM: {one.file}\n# SOURCE_SHA256: {one.digest}\n# GENERATED_AT: {at}\n{one.text}"


def _rows(path: Path) -> dict[str, dict[str, str]]:
    """Return the rows of a manifest by scenario. Malformed lines are skipped."""
    text = (regular.content(path, _LARGEST, follow=False) or b"").decode("utf-8", "replace")
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    return {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in rows if len(row) == len(COLUMNS)}
