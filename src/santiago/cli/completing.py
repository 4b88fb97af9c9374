"""The ids that a shell completes: runs, stories, chunks, questions, sessions and tickets. What a word is, its metavar says.

A shell waits for every key of Tab, so names are read from plain files where they stand, and a fault completes nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click import Choice, Group
from click.shell_completion import CompletionItem

from santiago.app.finding import find_run, runs_here
from santiago.artifacts.names import PLAN
from santiago.artifacts.run_locations import SESSIONS, find_root
from santiago.contract.errors import SantiagoError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click

    from santiago.artifacts.registry import Registered

Names = dict[str, str]
"""Word → what it is."""


def with_completion(command: click.Command) -> click.Command:
    """Let a command, and all below it, complete the ids that its words and options take."""
    for inner in command.commands.values() if isinstance(command, Group) else ():
        with_completion(inner)
    for one in command.params:
        names = _NAMES.get(one.metavar or "") or _NAMES.get(one.name or "")
        if names is not None and not isinstance(one.type, Choice):
            one.shell_complete = _completing(names, one)  # type: ignore[method-assign, assignment]
    return command


def _completing(names: _Of, param: click.Parameter) -> Callable[[click.Context, str], list[CompletionItem]]:
    def complete(context: click.Context, incomplete: str) -> list[CompletionItem]:
        given = context.params.get(param.name or "") or ()
        found: Names = {}
        with suppress(SantiagoError, OSError, ValueError, KeyError, TypeError):
            found = names([given] if isinstance(given, str) else list(given), context, incomplete)
        return [CompletionItem(name, help=told) for name, told in found.items() if name.startswith(incomplete)]

    return complete


# What there is


def _runs(*_: object) -> Names:
    return {run.run_id: run.created[:16].replace("T", " ") for run in _known()}


def _known() -> list[Registered]:
    try:
        return runs_here()
    except SantiagoError:
        return []


def _plan(run: object = None) -> Any:
    """Return the plan of a run, or of the running or newest one, as it was written."""
    named = next((one.out_dir for one in _known() if one.run_id == run), Path(str(run))) if run else find_run(None)
    return json.loads((named / PLAN).read_bytes())


def _stories(_given: list[str], context: click.Context, _incomplete: str) -> Names:
    """Return the stories of the run that another word of the command line names."""
    return _of_plan(context.params.get("run"))


def _of_plan(run: object) -> Names:
    return {story["id"]: story["title"] for story in _plan(run)["stories"]}


def _run_or_story(given: list[str], *_: object) -> Names:
    return _of_plan(given[0]) if given else {**_of_plan(None), **_runs()}


def _run_or_question(given: list[str], *_: object) -> Names:
    from santiago.app.loading import load

    asked = load(find_run(given[0] if given else None)).state.open_questions() if len(given) < 2 else []
    return {**{one.id: one.text for one in asked}, **({} if given else _runs())}


def _chunks(_given: list[str], context: click.Context, incomplete: str) -> Names:
    """Return the chunks by number and label, after whatever is typed of a list or a range."""
    before = re.match(r"(?:.*(?:,|\.\.|(?<=\d)-))?", incomplete)
    labels = [chunk["label"] for chunk in _plan(context.params.get("run"))["chunks"]]
    found = {str(number): label for number, label in enumerate(labels, 1)}
    found |= {label: f"chunk {number}" for number, label in found.items() if re.fullmatch(r"\w+", label)}
    return {f"{before[0] if before else ''}{name}": told for name, told in found.items()}


def _sessions(*_: object) -> Names:
    root = find_root(Path.cwd())
    folders: Iterable[Path] = sorted((root / SESSIONS).iterdir(), reverse=True) if root else ()
    return {folder.name: "planning session" for folder in folders if folder.is_dir()}


def _tickets(*_: object) -> Names:
    """Return the tickets that stand in the files of the board's queues, which are hardly ever late."""
    from santiago.board.board_place import find

    found: Names = {}
    for path in sorted(find(Path.cwd(), os.environ).queues.glob("*.tsv")):
        rows = (line.split("\t") for line in path.read_text("utf-8").splitlines()[1:])
        found |= {row[0]: f"{row[3]}  ({path.stem})" for row in rows if len(row) > 3}
    return found


def _codes(given: list[str], context: click.Context, incomplete: str) -> Names:
    from santiago.contract.reasons import MEANINGS

    found = {reason.value: meaning.sentence for reason, meaning in MEANINGS.items()}
    with suppress(SantiagoError, OSError, ValueError):  # there may be no run
        found |= _stories(given, context, incomplete)
    return found


def _commands(given: list[str], *_: object) -> Names:
    from santiago.cli.commands import COMMANDS

    return {} if given else {name: told for name, (_, told) in COMMANDS.items()}


_Of = Callable[[list[str], "click.Context", str], Names]
_NAMES: dict[str, _Of] = {
    "run": _runs, "[PLAN|RUN]": _runs, "[RUN] STORY": _run_or_story, "[RUN] [STORY]": _run_or_story, "STORY": _stories,
    "[RUN] [QUESTION ANSWER]": _run_or_question, "A[-B][,C]": _chunks, "session": _sessions, "ID": _tickets, "[ID]": _tickets,
    "[COMMAND]": _commands, "code": _codes, "RUN": _runs,
}  # fmt: skip
"""Metavar of a parameter, else its name → what completes it."""
