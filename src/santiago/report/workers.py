"""The workers that are connected, and what the runs that are coordinated here know of each: what it does, what it has used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago import __version__
from santiago.app.finding import runs_here
from santiago.app.loading import load
from santiago.artifacts.lock import last_sign
from santiago.contract.errors import SantiagoError
from santiago.contract.record import lean
from santiago.report.agent_activity import DOING
from santiago.report.measures import ago
from santiago.report.page import Line, Page, rows_that_fit
from santiago.report.spending import dollars, thousands
from santiago.util.text import count, flat, width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from santiago.contract.ports.queue import Beat, WorkerSeen

_HEADS = ["worker", "pool", "version", "does", "since", "last beat", "used"]


@lean(kw_only=True)
class Known:
    """What is known here of one worker."""

    doing: list[tuple[str, str, Beat]]
    """Run, step and latest beat of each order that it has."""
    tokens: int = 0
    micro_usd: int = 0

    def add(self, tokens: int | None, micro_usd: int | None) -> None:
        self.tokens, self.micro_usd = self.tokens + (tokens or 0), self.micro_usd + (micro_usd or 0)


def page(seen: Sequence[WorkerSeen], engine: str, now: str) -> Page:
    """Return the page of these workers."""
    known = _known()
    rows = [(one, known.get(one.name) or Known(doing=[])) for one in seen]
    return Page(
        lambda columns: _lines(rows, engine, now, columns),
        lambda: {"contract_version": 1, "engine": engine, "workers": [_data(one, known) for one, known in rows]},
    )


def _known() -> dict[str, Known]:
    """Return what is known of each worker by the runs of this repository that are under way, and are coordinated here."""
    found: dict[str, Known] = {}
    try:
        known = runs_here()
    except SantiagoError:
        return found
    for registered in known:
        sign = last_sign(registered.out_dir)
        if sign is None or not sign.workers:
            continue
        run = load(registered.out_dir)
        for step, beat in sign.workers.items() if run.worker else ():
            one = found.setdefault(beat.worker, Known(doing=[]))
            one.doing.append((run.run_id, step, beat))
            one.add(beat.tokens, beat.micro_usd)
        for attempts in run.history.attempts.values():
            for attempt in attempts:
                if attempt.worker:
                    found.setdefault(attempt.worker, Known(doing=[])).add(attempt.tokens, attempt.cost)
    return found


def _data(one: WorkerSeen, known: Known) -> dict[str, Any]:
    return {
        "name": one.name, "pool": one.pool, "version": one.version, "judges": one.judges, "jobs": one.jobs,
        "doing": [{"run_id": run, "step": step, "activity": beat.doing} for run, step, beat in known.doing],
        "since": one.since, "last_beat": one.beat_at, "tokens": known.tokens, "cost_usd": known.micro_usd / 1e6,
    }  # fmt: skip


def _lines(rows: list[tuple[WorkerSeen, Known]], engine: str, now: str, columns: int) -> Iterator[Line]:
    if not rows:
        yield Line(f"no worker of this repository is connected to {engine}")
        yield Line("`santiago work` starts one, on any machine that reaches the engine and the git remote")
        return
    yield Line(f"{count(len(rows), 'worker')} of this repository at {engine}")
    table = [_HEADS, *(_cells(one, known, now) for one, known in rows)]
    widths = [max(width(row[at]) for row in table) for at in range(len(_HEADS))]
    padded = [[cell + " " * (size - width(cell)) for cell, size in zip(row, widths, strict=True)] for row in table]
    head, *texts = rows_that_fit(padded, columns, [4, 2, 1, 6])
    yield Line(head.rstrip(), "dim", verbatim=True)
    for (one, _), text in zip(rows, texts, strict=True):
        yield Line(text.rstrip(), "" if one.version == __version__ else "warn", verbatim=True)
    if any(one.version != __version__ for one, _ in rows):
        yield Line(f"workers of another version get nothing from santiago {__version__}, which this is", "warn")


def _cells(one: WorkerSeen, known: Known, now: str) -> list[str]:
    orders = "; ".join(f"{run} {step}: {DOING[beat.doing]}" for run, step, beat in known.doing)
    waits = "waits for work to judge" if one.judges else f"waits for {count(one.jobs, 'order')}"
    spent = [
        dollars(known.micro_usd) if known.micro_usd else "",
        f"{thousands(known.tokens)} tokens" if known.tokens else "",
    ]
    return [
        flat(one.name), flat(one.pool), flat(one.version), orders or waits, ago(one.since, now), ago(one.beat_at, now),
        ", ".join(filter(None, spent)) or "-",
    ]  # fmt: skip
