"""Finding the run that a command is about (by folder or id, else the running one, else the newest that began), and a story of it."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from santiago.app.loading import frozen_input, working
from santiago.app.paths import near
from santiago.artifacts import registry, run_locations
from santiago.artifacts.names import LOG, PLAN, has_begun
from santiago.contract.counting import count, few
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from santiago.app.loading import AttemptStory, Run
    from santiago.artifacts.registry import Registered
    from santiago.contract.plan import Plan, Story

MOST = 5
"""How many runs one line names."""


def find_run(name: str | None) -> Path:
    """Return the out-dir of a run; without a name, that of the running run, else of the newest one here that began."""
    if name is not None:
        return _named(name)
    known = runs_here()
    at_work = [run for run in known if working(run.out_dir)]
    if len(at_work) > 1:
        raise SantiagoError(
            Kind.USAGE,
            f"{len(at_work)} runs of this repository are running: {enumerated(at_work)}",
            hint="Say which one, by its id.",
        )
    return (at_work or begun_first(known))[0].out_dir


def running_or_newest(name: str | None) -> tuple[Path, str]:
    """Return a run to look at, and a remark. If several are running and none is named, it is the newest of them."""
    if name is not None:
        return _named(name), ""
    known = runs_here()
    at_work = [run for run in known if working(run.out_dir)]
    if len(at_work) > 1:
        return at_work[0].out_dir, f"{len(at_work)} runs of this repository are running: {enumerated(at_work)}"
    return (at_work or begun_first(known))[0].out_dir, ""


def begun_first(known: Sequence[Registered]) -> list[Registered]:
    """Return runs in the same order, but behind them the plans that were never started: people mean a run."""
    return sorted(known, key=lambda run: not has_begun(run.out_dir))


def runs_here() -> list[Registered]:
    """Return the runs of this repository whose folders still exist, newest first; raise if there are none."""
    root = run_locations.find_root(Path.cwd())
    common = registry.common_git_dir(root) if root else None
    if common is None:
        hint = "Go to the repository of the run, or name the run's folder."
        raise SantiagoError(Kind.USAGE, "this is not a git repository", hint=hint)
    known = [run for run in registry.runs(common) if (run.out_dir / PLAN).is_file()]
    if not known:
        hint = "Name a run's folder, or start one: santiago run PRD"
        raise SantiagoError(Kind.USAGE, "no run yet in this repository", hint=hint)
    return known


def unfinished() -> tuple[Registered, Registered | None]:
    """Return the newest run of this repository, and the latest one that began and can go on, killed or not; None if there is none.

    A run that a newer one took over does not count: to go on with it would do the same work twice.
    """
    known, taken_over = begun_first(runs_here()), set[str]()
    for run in known:
        if run.run_id not in taken_over and registry.standing(run) not in ("ended", "planned"):
            return known[0], run
        taken_over.add(registry.earlier_of(run))
    return known[0], None


def never_started() -> list[Registered]:
    """Return the plans of this repository that no run was made of yet, newest first."""
    return [run for run in runs_here() if not has_begun(run.out_dir)]


def _named(name: str) -> Path:
    path = run_locations.resolved(Path(name))
    _refuse_session(name)
    if (path / PLAN).is_file() or (path / LOG).exists():
        return path
    try:
        known = runs_here()
    except SantiagoError as error:
        hint = f"Name a run's folder or its id; {error.message}."
        raise SantiagoError(Kind.USAGE, f"there is no run {name!r}", hint=hint) from None
    for run in known:
        if run.run_id == name:
            return run.out_dir
    hint = f"Name a run's folder or its id; there are {enumerated(known)}."
    raise SantiagoError(Kind.USAGE, f"there is no run {name!r}", hint=hint)


def _refuse_session(name: str) -> None:
    """Raise if the name is that of a planning session, since a plan under review cannot run."""
    from santiago.app.planning import planning_sessions

    if not planning_sessions.names_session(name):
        return
    planning = planning_sessions.load_session(planning_sessions.find_session(name))
    asked = [one.id for one in planning.state.open_questions()]
    waits = f"{', '.join(asked)} is open" if asked else f"it is {planning.state.phase}"
    run = planning.state.run
    hint = (
        f"It became the run {run}."
        if run
        else f"`santiago review {planning.session_id}` shows it; only a plan that you finalize can run."
    )
    message = f"{planning.session_id} is a planning session, not a run: {waits}"
    raise SantiagoError(Kind.BLOCKED, message, hint=hint, reason=Reason.NEEDS_USER_CONFIRMATION)


def names_run(word: str) -> bool:
    """Tell whether a word is the folder or the id of a run."""
    try:
        _named(word)
    except SantiagoError:
        return False
    return True


def enumerated(runs: Sequence[Registered]) -> str:
    """Return the ids of the first few runs, and how many more there are."""
    return few([run.run_id for run in runs], MOST)


def find_story(of: Plan | Run, name: str) -> Story:
    """Return a story by its id, in upper or lower case, or by its id in the document; raise if there is none.

    A run knows the substeps as well, a plan does not.
    """
    by_id = {story.id: story for story in of.stories}
    by_origin = {story.origin.id: story for story in reversed(of.stories)}  # if several share an id, the first one
    found = by_id.get(name) or by_origin.get(name) or by_id.get(name.upper())
    if found is not None:
        return found
    hint = f"There are {of.stories[0].id} to {of.stories[-1].id}."
    raise SantiagoError(Kind.USAGE, f"the plan has no story {name}", hint=hint)


def find_attempt(run: Run, story: Story, number: int) -> AttemptStory:
    """Return an attempt of a story; raise if there is none of that number."""
    tried = run.history.of(story.id)
    if found := next((one for one in tried if one.number == number), None):
        return found
    hint = f"It has {count(len(tried), 'attempt')}." if tried else "It has not been attempted yet."
    raise SantiagoError(Kind.USAGE, f"{story.id} has no attempt {number}", hint=hint)


@contextmanager
def naming(run_id: str) -> Iterator[None]:
    """Let every refusal say which run it is about."""
    try:
        yield
    except SantiagoError as error:
        if run_id not in f"{error.where} {error.message}":
            error.message = f"{run_id}: {error.message}"
        raise


def target(out_dir: Path) -> str:
    """Return the run as a word of a command line, with a space before it; empty if it is the latest run here."""
    try:
        if find_run(None) == out_dir:
            return ""
    except SantiagoError:
        pass
    return f" {quote(near(out_dir))}"


def newest_of(document: Path) -> Registered | None:
    """Return the newest run of a document that has begun, wherever its folder is."""
    root = run_locations.find_root(run_locations.resolved(document))
    common = registry.common_git_dir(root) if root else None
    known = registry.runs(common) if common else []
    return next((run for run in known if has_begun(run.out_dir) and _is_of(run, document)), None)


def unfinished_of(document: Path) -> Path | None:
    """Return the folder of a document's newest run if it is not finished. Older runs do not matter."""
    run = newest_of(document)
    return run.out_dir if run and registry.standing(run) != "ended" else None


def _is_of(run: Registered, document: Path) -> bool:
    try:
        settings = frozen_input(run.out_dir)
    except SantiagoError:
        return False
    return run_locations.resolved(run.out_dir / settings.repo_path / settings.prd_path) == run_locations.resolved(
        document
    )
