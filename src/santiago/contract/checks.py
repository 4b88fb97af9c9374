"""Which commands judge a story, and which the run."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern

if TYPE_CHECKING:
    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import RunInput

_NAMES = pattern(r"\s(?:-k|-run|-t|--filter|--grep)[\s=]|\s\S*(?:::|/|\w\.\w)\S*")
"""A selection of tests by name, or a word that is a path, a module or the id of a test."""
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
