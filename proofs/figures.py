"""What was measured, on which code and machine: docs/figures.json is the record, and the tables of docs/proofs.md show it."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from proofs.rows import MEASUREMENTS, Measurement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[1]
RECORDS, PAGE = Path("docs/figures.json"), Path("docs/proofs.md")
BY_ROW = {row: measurement for measurement in MEASUREMENTS for row in measurement.rows}
NOT_YET = "not measured yet"
_HEAD = "| what | figure | target | command | commit | date | load |\n|---|---|---|---|---|---|---|\n"
_TABLE = re.compile(r"(?<=<!-- figures: )(\w+)( -->\n).*?(?=<!-- end of figures -->)", re.DOTALL)
_RELEASE = re.compile(r"^## \d\S* \((\d{4}-\d\d-\d\d)\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What a proof or a benchmark measured, in the words that are printed and recorded."""

    row: str
    figure: str
    target: str
    missed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A row that could not be measured on this machine; it is never recorded."""

    row: str
    reason: str


Measured = Figure | Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(Figure):
    """A figure, with all that is needed to measure it again."""

    command: str
    """The command line that was run, with its options."""
    commit: str
    date: str
    load: str
    """`quiet`, or `busy` where other programs used the machine before or after the measurement."""
    machine: str


Records = dict[str, Record]


def told(measured: Measured) -> str:
    if isinstance(measured, Skipped):
        return f"  skipped {measured.row}: {measured.reason}"
    return f"  {'MISSED' if measured.missed else 'ok':7} {measured.row}: {measured.figure} (target: {measured.target})"


def missed(found: list[Measured]) -> list[Figure]:
    return [one for one in found if isinstance(one, Figure) and one.missed]


def read(root: Path = ROOT) -> Records:
    return {entry["row"]: Record(**entry) for entry in json.loads((root / RECORDS).read_bytes())}


def write(records: Records, root: Path = ROOT) -> None:
    """Write the record and the page's tables; a record of a row that there is no longer is dropped."""
    known = {row: record for row, record in sorted(records.items()) if row in BY_ROW}
    entries = json.dumps([asdict(record) for record in known.values()], indent=1, sort_keys=True, ensure_ascii=False)
    page = with_tables((root / PAGE).read_text(encoding="utf-8"), known)
    for path, text in ((RECORDS, entries + "\n"), (PAGE, page)):
        new = root / path.with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        new.replace(root / path)


def with_tables(page: str, records: Mapping[str, Record]) -> str:
    """Return the page with what the records say between its marks."""
    return _TABLE.sub(lambda found: found[1] + found[2] + _table(found[1], records), page)


def _table(part: str, records: Mapping[str, Record]) -> str:
    """Missed figures come first, then rows that nobody measured yet."""
    rows = [row for row, measurement in BY_ROW.items() if measurement.part == part]
    machines = {records[row].machine for row in rows if row in records}
    shared = machines.pop() if len(machines) == 1 else ""
    rows.sort(key=lambda row: (row not in records or not records[row].missed, row in records))
    lines = [_line(row, BY_ROW[row], records.get(row), shared) for row in rows]
    return (f"\nMachine: {shared}.\n" if shared else "") + f"\n{_HEAD}{''.join(lines)}\n"


def _line(row: str, measurement: Measurement, record: Record | None, shared_machine: str) -> str:
    what = f'<a id="{row}"></a>{measurement.rows[row]}'
    if record is None:
        cells = [what, NOT_YET, "", f"`{measurement.command}`", "", "", ""]
    else:
        figure = f"**missed**: {record.figure}" if record.missed else record.figure
        load = record.load if shared_machine else f"{record.load}; {record.machine}"
        cells = [what, figure, record.target, f"`{record.command}`", record.commit, record.date, load]
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n"


def stale(records: Mapping[str, Record], root: Path = ROOT) -> Iterator[str]:
    """Yield a sentence for each row that must be measured again, with the command for it."""
    for row, measurement in BY_ROW.items():
        record = records.get(row)
        if why := _why_stale(record, measurement.paths, root) if record else NOT_YET:
            yield f"{row}: {why}; to measure it: {measurement.command}"


def _why_stale(record: Record, paths: tuple[str, ...], root: Path) -> str:
    words = ["git", "diff", "--name-only", record.commit, "HEAD", "--", *paths]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"its commit {record.commit} is not known here"
    changed = done.stdout.splitlines()
    more = f" and {len(changed) - 1} more" if changed[1:] else ""
    return f"{changed[0]}{more} changed since {record.commit}" if changed else ""


def before_release(records: Mapping[str, Record], changelog: str) -> list[str]:
    """Return a sentence for each row that was measured before the day of the latest release."""
    released = max(_RELEASE.findall(changelog), default="")
    return [
        f"{row} was measured on {record.date}, before the release of {released}; to measure it: {BY_ROW[row].command}"
        for row, record in records.items()
        if record.date < released
    ]
