"""`santiago show STORY`: one story with its attempts, why each ended, its checks, its critique and its changes."""

from __future__ import annotations

from santiago.app.finding import find_attempt
from santiago.cli.named_story import run_and_story
from santiago.cli.view.terminal import show_page
from santiago.report.page import Page
from santiago.report.story import document, lines


def show(words: tuple[str, ...], attempt: int | None, patch: bool, with_log: bool, as_json: bool) -> None:
    """Show a story."""
    run, planned = run_and_story(words)
    latest = next(reversed(run.history.of(planned.id)), None)
    chosen = latest if attempt is None else find_attempt(run, planned, attempt)
    page = Page(
        lambda columns: lines(run, planned, chosen, columns, patch=patch, with_log=with_log),
        lambda: document(run, planned, chosen),
    )
    show_page(page, as_json=as_json)
