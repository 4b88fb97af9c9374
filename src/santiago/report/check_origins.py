"""The checks of a plan, each with its origin: the document, a settings file, the run input, or the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from santiago.app.config import load
from santiago.app.paths import shortest
from santiago.contract.checks import own_commands_of, run_commands_of
from santiago.util import regular

if TYPE_CHECKING:
    from santiago.app.compiling import Job
    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import RunInput

_LARGEST = 2**20


class Placed(NamedTuple):
    """A command, and where it comes from."""

    command: str
    place: str
    """Empty for a command that agents wrote in a planning session."""


def origin_of(plan: Plan) -> str:
    """Return what the commands of a plan come from, in a word."""
    return "plan" if plan.source.is_drafted else "document"


def of_story(plan: Plan, story: Story, run_input: RunInput) -> list[Placed]:
    """Return the checks that the document gives a story, each with its line."""
    lines = {one.value: one.line for one in story.provenance if one.field == "verify"}
    return [
        Placed(command, _in_document(plan, f":{lines.get(command, story.origin.line)}"))
        for command in own_commands_of(story, run_input)
    ]


def of_document(plan: Plan, run_input: RunInput) -> list[Placed]:
    """Return every command of the document once, with its first line. Commands that the settings run too are left out."""
    found: dict[str, Placed] = {}
    checks = run_input.verification
    for one in (placed for story in plan.stories for placed in of_story(plan, story, run_input)):
        found.setdefault(one.command, one)
    for command in plan.run_verify:
        if command not in checks.left_out:
            found.setdefault(command, Placed(command, _in_document(plan, ", for the whole run")))
    given = (*checks.story_commands, *checks.run_commands)
    return [one for one in found.values() if one.command not in given]


def of_every_story(job: Job) -> list[Placed]:
    """Return the checks that the settings give every story."""
    return _of_settings(job, "verification.story_commands", job.run_input.verification.story_commands)


def at_the_end(plan: Plan, job: Job) -> list[Placed]:
    """Return the checks of the whole run, which run once more at its end: those of the settings, then the document's."""
    own = job.run_input.verification.run_commands
    others = (one for one in run_commands_of(plan, job.run_input) if one not in own)
    return [
        *_of_settings(job, "verification.run_commands", own),
        *(Placed(command, _in_document(plan)) for command in others),
    ]


def _in_document(plan: Plan, where: str = "") -> str:
    return "" if plan.source.is_drafted else f"{plan.source.path}{where}"


def _of_settings(job: Job, key: str, commands: tuple[str, ...]) -> list[Placed]:
    if not commands:
        return []
    origin = str(job.source or load(Path(job.run_input.repo_path))[key].origin)
    return [Placed(command, _place(origin, command)) for command in commands]


def _place(origin: str, command: str) -> str:
    """Return an origin, with the line that names a command if it is a file."""
    path = Path(origin.removesuffix(" [tool.santiago]"))
    text = (regular.content(path, _LARGEST) or b"").decode("utf-8", "replace") if path.is_absolute() else ""
    escaped = command.replace("\\", "\\\\").replace('"', '\\"')
    lines = ((number, one) for number, one in enumerate(text.splitlines(), 1) if not one.lstrip().startswith("#"))
    line = next((number for number, one in lines if command in one or escaped in one), None)
    return f"{shortest(path)}:{line}" if line else origin
