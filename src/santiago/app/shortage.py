"""What a plan lacks before it is run: checks for its stories, attempts, and minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.checks import commands_of
from santiago.util.text import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.contract.plan import Story
    from santiago.contract.policy import Limits, RunInput

MOST = 8
"""How many names one message lists."""


def unchecked(stories: Sequence[Story], run_input: RunInput) -> list[Story]:
    """Return the stories that need a check and have none. A scientist's package needs none: a person is asked instead."""
    return [story for story in stories if story.role != "scientist" and not commands_of(story, run_input)]


def too_few(stories: int, attempts: int, *, each: int = 1, begun: bool = False) -> list[str]:
    """Return the warning that a run has fewer attempts than its stories need. A run that has begun needs `resume` for more."""
    if attempts >= stories * each:
        return []
    first = ", each with its tests first" if each > 1 else ""
    told = f"{count(stories, 'story is', 'stories are')} to be done{first}, and limits.run_max_attempts leaves {count(max(attempts, 0), 'attempt')}"
    more = "`santiago resume --add-attempts N` adds some"
    return [f"{told}; {more}" if begun else f"{told}: raise it in santiago.toml or the run input; later, {more}"]


def too_short(attempts: int, limits: Limits, jobs: int) -> list[str]:
    """Return the warning that the run's minutes may not do for so many attempts, one for each story."""
    needed = -(-attempts // max(jobs, 1)) * limits.attempt_ms
    if needed <= int(limits.run_timeout_minutes):
        return []
    each, most = (f"{ms / 60_000:g}" for ms in (limits.attempt_ms, needed))
    told = f"{count(attempts, 'attempt')}, one for each story, may take {most} minutes ({each} each)"
    return [
        f"{told}, and limits.run_timeout_minutes is {limits.run_timeout_minutes.written:g}: `--timeout N` raises it"
    ]


def named(stories: Sequence[Story]) -> str:
    return ", ".join(story.id for story in stories[:MOST]) + (" …" if len(stories) > MOST else "")
