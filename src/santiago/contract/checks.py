"""Which commands judge a story, and which the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import RunInput


def commands_of(story: Story, run_input: RunInput) -> tuple[str, ...]:
    """Return the checks of a story: its own, then those of every story."""
    return tuple(dict.fromkeys((*story.verify, *run_input.verification.story_commands)))


def run_commands_of(plan: Plan, run_input: RunInput) -> tuple[str, ...]:
    """Return the checks of the run, where it has any of its own."""
    return tuple(dict.fromkeys((*run_input.verification.run_commands, *plan.run_verify)))


def all_commands_of(plan: Plan, run_input: RunInput) -> tuple[str, ...]:
    """Return every check that a run may come to, each once."""
    stories = (command for story in plan.stories for command in commands_of(story, run_input))
    return tuple(dict.fromkeys((*stories, *run_commands_of(plan, run_input))))
