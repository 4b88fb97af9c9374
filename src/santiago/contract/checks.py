"""Which commands judge a story, and which the run; what each is told, and which may run side by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from santiago.contract.lazy_regex import pattern

if TYPE_CHECKING:
    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import RunInput

_NAMES = pattern(r"\s(?:-k|-run|-t|--filter|--grep)[\s=]|\s\S*(?:::|/|\w\.\w)\S*")
"""A selection of tests by name, or a word that is a path, a module or the id of a test."""
STORY, ATTEMPT, PROMPT_FILE = "SANTIAGO_STORY", "SANTIAGO_ATTEMPT", "SANTIAGO_PROMPT_FILE"
"""Variables that a check gets only if its command names them. So the results of all other checks hold for every story."""
_LANES = 16
"""How many checkouts share the checks that only one story has, when a base is examined."""
ID = "{id}"
"""Stands in a check of every story for the story's own id: `pytest tests/test_{id}.py`."""


def commands_of(story: Story, run_input: RunInput) -> tuple[str, ...]:
    """Return the checks of a story: its own, then those of every story."""
    return tuple(dict.fromkeys((*own_commands_of(story, run_input), *shared_commands_of(story, run_input))))


def own_commands_of(story: Story, run_input: RunInput) -> tuple[str, ...]:
    """Return the checks that the document gives a story, without those that a person left out."""
    return tuple(command for command in story.verify if command not in run_input.verification.left_out)


def shared_commands_of(story: Story, run_input: RunInput) -> tuple[str, ...]:
    """Return the checks that every story has, with `{id}` replaced by this story's id in the document, as fits a file name."""
    if not any(ID in command for command in run_input.verification.story_commands):
        return run_input.verification.story_commands
    name = re.sub(r"[^0-9a-z]+", "_", (story.origin.id or story.id).lower()).strip("_") or story.id.lower()
    return tuple(command.replace(ID, name) for command in run_input.verification.story_commands)


def with_own_check(plan: Plan, run_input: RunInput) -> frozenset[str]:
    """Return the stories that have a check of their own: one that stands at no other story, and names a test or a file."""
    checks = {story.id: commands_of(story, run_input) for story in plan.stories}
    times = Counter(command for commands in checks.values() for command in commands)
    times.update((*run_input.verification.story_commands, *run_commands_of(plan, run_input)))
    return frozenset(
        name for name, commands in checks.items() if any(times[one] == 1 and _NAMES.search(one) for one in commands)
    )


def run_commands_of(plan: Plan, run_input: RunInput) -> tuple[str, ...]:
    """Return the checks of the run, where it has any of its own."""
    checks = run_input.verification
    return tuple(dict.fromkeys((*checks.run_commands, *(one for one in plan.run_verify if one not in checks.left_out))))


def all_commands_of(plan: Plan, run_input: RunInput) -> tuple[str, ...]:
    """Return every check that a run may have to run, each once."""
    stories = (command for story in plan.stories for command in commands_of(story, run_input))
    return tuple(dict.fromkeys((*stories, *run_commands_of(plan, run_input))))


def is_told(command: str) -> bool:
    """Tell whether a check's result depends on the story that it judges."""
    return any(name in command for name in (STORY, ATTEMPT, PROMPT_FILE))


def lanes(plan: Plan, stories: Sequence[Story], run_input: RunInput) -> list[tuple[str, list[str]]]:
    """Return every check of these stories, and of the run, in groups that may run side by side, each with the story it is told.

    The groups do not depend on how many of them run at a time. Checks that several stories have, or the run, stay together,
    since one may need what the one before it built; so do the checks of one story.
    """
    found: dict[str, tuple[str, int]] = {}
    for number, story in enumerate(stories, 1):
        for command in commands_of(story, run_input):
            if is_told(command):
                found.setdefault(command, (story.id, 0))
            else:
                found[command] = ("", 0 if command in found else number % _LANES + 1)
    for command in run_commands_of(plan, run_input):
        if not is_told(command) or command not in found:
            found[command] = ("", 0)
    groups: dict[tuple[str, int], list[str]] = {}
    for command, group in found.items():
        groups.setdefault(group, []).append(command)
    return [(story, commands) for (story, _), commands in groups.items()]
