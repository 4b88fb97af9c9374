"""What changed after a run began, and so is not part of it: its document, the settings, the files that judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.app.config import run_input_defaults, values_of
from santiago.app.loading import load
from santiago.artifacts import run_locations
from santiago.artifacts.files import read_json, read_text
from santiago.artifacts.names import SETTINGS
from santiago.contract.box_ticks import digest_of
from santiago.contract.errors import SantiagoError
from santiago.contract.globs import matches
from santiago.contract.phases import RunPhase
from santiago.contract.policy import RunInput
from santiago.judge.judge_files import ALL_TESTS, TESTS
from santiago.util.text import few, flat
from santiago.workspace.ancestry import resolve
from santiago.workspace.earlier_work import brought

if TYPE_CHECKING:
    from santiago.app.loading import Run
    from santiago.contract.plan import Plan
    from santiago.contract.policy import Agent

MOST = 5
"""How many names one sentence lists."""
AGENT = "agent."
"""Settings about the agent begin like this."""


def changes_of(run: Run) -> list[str]:
    """Return a sentence for each kind of change that an unfinished run does not know of."""
    if not run.begun or run.state.phase is RunPhase.SUCCESS:
        return []
    told = [f"{run.plan.source.path} has changed since the run began"] if is_document_changed(run) else []
    root = Path(run.run_input.repo_path)
    names = list(changed_settings(run.out_dir, root))
    if changed_agent(run.out_dir, run.run_input, root) is not None:
        names = [name for name in names if not name.startswith(AGENT)]  # the next start uses it
    if names:
        told.append(f"settings have changed since the run began: {flat(few(names, MOST))}")
    if names := _changed_judges(run):
        told.append(f"protected files have changed on your branch since the run began: {flat(few(names, MOST))}")
    return told


def changes_before_work(folder: Path) -> str:
    """Return what has changed since a run began that has spent nothing. Empty if going on with it is worth something."""
    try:
        run = load(folder)
    except SantiagoError:  # whoever goes on with it is told what is damaged
        return ""
    base, repo = run.state.base, Path(run.run_input.repo_path)
    decided = any(one.proposals or one.skipped for one in run.state.stories.values())
    if not base or run.worker or run.state.attempts or decided:
        return ""
    moved = [] if resolve(repo, "HEAD") in (base, None) else ["your branch has moved since it began"]
    return next(iter((*changes_of(run), *moved)), "")


def is_document_changed(run: Run) -> bool:
    """Tell whether the document of a run changed. A plan that agents made of a sentence has none."""
    path = Path(run.run_input.prd_path)
    if path.is_relative_to(run_locations.SESSIONS):
        return False
    return has_changed(run.plan, Path(run.run_input.repo_path) / path)


def has_changed(plan: Plan, document: Path) -> bool:
    """Tell whether a document changed since it was planned. Ticks do not matter."""
    try:
        text = read_text(document)
    except SantiagoError:
        return False  # a plan may come from elsewhere, so a missing document means nothing
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return digest_of(text) != plan.source.sha256


def changed_settings(out_dir: Path, root: Path) -> dict[str, Any]:
    """Return the settings whose values in files and variables have changed, with the new values."""
    before = read_json(out_dir / SETTINGS, 2**20)
    if not isinstance(before, dict):
        return {}  # its input came from a program, or from a planning session
    try:
        now = values_of(run_input_defaults(root))
    except SantiagoError:
        return {}
    # A run of an older santiago lacks the settings that came later. It went on as their defaults say.
    usual = values_of(RunInput(contract_version=1, repo_path="", prd_path=""))
    return {name: value for name, value in now.items() if before.get(name, usual.get(name)) != value}


def changed_agent(out_dir: Path, run_input: RunInput, root: Path) -> Agent | None:
    """Return the agent that the settings name now, if a run took its agent from the settings and they have changed since.

    An agent that the command line named for the run stays, whatever the settings say; and so does one if they name none now.
    """
    now = changed_settings(out_dir, root)
    before, frozen = read_json(out_dir / SETTINGS, 2**20), values_of(run_input)
    named = [name for name in frozen if name.startswith(AGENT)]
    if not any(name in now for name in named) or any(before.get(name) != frozen[name] for name in named):
        return None
    agent = run_input_defaults(root).agent
    return agent if agent.profile or agent.command or agent.mode == "scripted" else None


def _changed_judges(run: Run) -> list[str]:
    """Return the judging files that differ between the user's branch and the run's."""
    asked = run.run_input.verification.protected
    globs = (*(one for one in asked if one != ALL_TESTS), *(TESTS if ALL_TESTS in asked else ()))
    if not run.state.head or not globs:
        return []
    try:
        paths = brought(Path(run.run_input.repo_path), run.state.head, "HEAD")
    except SantiagoError:
        return []
    return [path for path in paths if matches(path, globs)]
