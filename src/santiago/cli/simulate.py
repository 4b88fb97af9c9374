"""`santiago simulate`: what a plan or the rest of a run will take, and what would make it faster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from santiago.app.compiling import job_of, read_document, roomy
from santiago.app.config import run_input_defaults
from santiago.app.earlier_runs import history_elsewhere, history_here
from santiago.app.finding import find_run, names_run
from santiago.app.forecasting import compared, task_of
from santiago.app.loading import frozen_input, load
from santiago.app.paths import shortest
from santiago.artifacts.files import read_bytes, write_whole
from santiago.artifacts.names import INPUT
from santiago.artifacts.run_locations import find_root, resolved
from santiago.cli.plan import document_of, refuse
from santiago.cli.view.terminal import say, show_page
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.plan import Plan
from santiago.report.forecast_page import calibration, page, svg
from santiago.simulation.drawn_run import Task
from santiago.simulation.draws import Said, with_options
from santiago.simulation.forecast import forecast, gains
from santiago.util.clock import SystemClock

if TYPE_CHECKING:
    from santiago.contract.policy import RunInput

_UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000}
_LESS = 10
"""What-ifs take this share of the runs each, since there are many of them."""


def simulate(
    subject: str | None, jobs: str | None, runs: int, seed: int, attempt: str | None, success: float | None,
    cost: float | None, check: str | None, calibrate: bool, picture: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Simulate a plan, a run or a document."""
    root = find_root(Path.cwd()) or Path.cwd()
    if calibrate:
        show_page(calibration(list(compared(root))), as_json=as_json)
        return 0
    said = Said(
        attempt=_range("--attempt", attempt), success=success,
        micro_usd=None if cost is None else round(cost * 1e6), check_ms=None if check is None else _time("--check", check),
    )  # fmt: skip
    made = _task(subject, as_json=as_json)
    if isinstance(made, int):
        return made
    task, run_input, called, run_id = made
    history = with_options(history_here(root, apart=run_id) or history_elsewhere(root), said)
    wanted = _jobs(jobs) if jobs else [1 if run_input.policy.stepwise else run_input.policy.jobs]
    found = [forecast(task, history, number, runs, seed) for number in wanted]
    gained = gains(task, history, found[0], max(10, runs // _LESS), seed)
    if picture is not None:
        write_whole(resolved(picture), svg(task.plan.stories, found[0]).encode())
    show_page(page(task, history, found, gained, seed, called), as_json=as_json)
    if picture is not None and not as_json:
        say(f"wrote {shortest(picture)}", err=True)
    return 0


def _task(subject: str | None, *, as_json: bool) -> tuple[Task, RunInput, str, str] | int:
    """Return what to simulate, its settings, what it is called, and the id of its run; or an exit code."""
    if subject is None or (not Path(subject).is_file() and names_run(subject)):
        run = load(find_run(subject))
        task = task_of(run, SystemClock().utc())
        left = {story.id for story in run.state.stories.values() if not story.satisfied} if task.events else ()
        more = f" ({len(left)} of them left)" if task.events else ""
        return task, run.run_input, f"{run.run_id}{more}", run.run_id if task.events else ""
    path = Path(subject)
    if (plan := _plan_in(path)) is not None:
        beside = path.parent / INPUT
        root = find_root(resolved(path)) or path.parent
        run_input = frozen_input(path.parent) if beside.is_file() else run_input_defaults(root)
    else:
        job = job_of(document_of(path), None)
        document = read_document(job.document, job.name)
        compiled = document.compiled(None)
        if compiled.plan is None:
            return refuse(compiled, document, as_json=as_json)
        plan = compiled.plan
        run_input = roomy(job, plan).run_input
    return Task(plan=plan, limits=run_input.limits, policy=run_input.policy), run_input, shortest(path), ""


def _plan_in(path: Path) -> Plan | None:
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        return codec.decode(Plan, read_bytes(path, codec.MAX_BYTES), str(path))
    except SantiagoError:
        return None  # a document in JSON


def _jobs(text: str) -> list[int]:
    words = text.split(",")
    if not all(re.fullmatch(r"[1-9]\d{0,3}", word.strip()) for word in words):
        raise click.BadParameter("numbers of jobs, such as 4 or 1,4,16", param_hint="--jobs")
    return [int(word) for word in words]


def _range(option: str, text: str | None) -> tuple[int, int] | None:
    """Return the times of `5m..20m`; of `8m` alone, twice that."""
    if text is None:
        return None
    low, _, high = text.partition("..")
    first, last = _time(option, low), _time(option, high or low)
    if first > last:
        raise click.BadParameter(f"{low} is longer than {high}", param_hint=option)
    return first, last


def _time(option: str, text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|h)", text.strip())
    ms = round(float(found[1]) * _UNITS[found[2]]) if found else 0
    if ms <= 0:
        raise click.BadParameter(f"{text!r} is no time; write 90s, 5m or 1.5h", param_hint=option)
    return ms
