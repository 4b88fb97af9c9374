"""`santiago show STORY`: one story with its attempts, why each ended, its checks, its critique and its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.cli.named_story import run_and_story
from santiago.cli.view.terminal import show_page
from santiago.contract.errors import Kind, SantiagoError
from santiago.report.page import Page
from santiago.report.story import document, lines
from santiago.util.text import count

if TYPE_CHECKING:
    from santiago.app.loading import AttemptStory
    from santiago.contract.plan import Story


def show(words: tuple[str, ...], attempt: int | None, patch: bool, with_log: bool, as_json: bool) -> None:
    """Show a story."""
    run, planned = run_and_story(words)
    chosen = _chosen(planned, run.history.of(planned.id), attempt)
    page = Page(
        lambda columns: lines(run, planned, chosen, columns, patch=patch, with_log=with_log),
        lambda: document(run, planned, chosen),
    )
    show_page(page, as_json=as_json)


def _chosen(planned: Story, tried: list[AttemptStory], number: int | None) -> AttemptStory | None:
    if number is None:
        return tried[-1] if tried else None
    found = next((one for one in tried if one.number == number), None)
    if found is None:
        raise SantiagoError(
            Kind.USAGE,
            f"{planned.id} has no attempt {number}",
            hint=f"It has {count(len(tried), 'attempt')}." if tried else "It has not been attempted yet.",
        )
    return found
