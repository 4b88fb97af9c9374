"""The page that GitHub shows beside a job: the outcome of the run, as Markdown in which no title can act as markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.contract.phases import RunPhase
from santiago.contract.reasons import Reason
from santiago.executor.tally import status_of
from santiago.report import spending
from santiago.report.measures import span
from santiago.util.text import count, flat, harmless

if TYPE_CHECKING:
    from santiago.contract.plan import Story
    from santiago.report.failure import Report

MOST = 200
"""How many stories the table has. Failed stories come first."""
CELL = 120
"""Characters of one cell."""
_MARKS = pattern(r"[!-&(-+./:-@\[-`{-~]")


def page(report: Report, following: list[str]) -> list[str]:
    """Return the lines of the page. `following` are the next commands."""
    state = report.state
    word = "stopped" if state.phase is RunPhase.PAUSED else str(state.phase)
    why = f": {plain(state.reason)}" if state.reason and state.reason != Reason.INTERRUPTED else ""
    shown = _shown(report)
    left = len(report.plan.stories) - len(shown)
    return [
        f"### santiago: {word}{why}",
        "",
        f"Run {plain(state.run_id)}: {', '.join([report.counts(), report.attempts(), span(state.used_ms), *_spent(report)])}",
        "",
        "| story | title | status | attempts | proof |",
        "|---|---|---|--:|---|",
        *(_row(report, story) for story in shown),
        *(["", f"… and {count(left, 'story', 'stories')} more"] if left else []),
        "",
        *([f"Branch: {plain(state.branch)}", ""] if state.branch else []),
        *(["```text", *(_line(line) for line in following), "```"] if following else []),
    ]


def plain(text: str) -> str:
    """Return a text that Markdown shows literally: without markup, HTML or links, and within its cell."""
    words = flat(text)
    cut = words if len(words) <= CELL else f"{words[: CELL - 1]}…"
    return _MARKS.sub(lambda mark: f"&#{ord(mark[0])};", cut)


def _line(text: str) -> str:
    """Return a text on one line, with its columns, that cannot end the block around it."""
    return harmless(text).replace("\n", " ")[: 4 * CELL]


def _shown(report: Report) -> list[Story]:
    stories = report.plan.stories
    if len(stories) <= MOST:
        return [*stories]
    badly = [story for story in stories if _status(report, story) in ("failed", "blocked")]
    chosen = {story.id for story in [*badly, *stories][:MOST]}
    return [story for story in stories if story.id in chosen]


def _row(report: Report, story: Story) -> str:
    state = report.state.stories[story.id]
    status = _status(report, story)
    word = "not done" if status == "pending" else status
    why = f": {state.reason}" if state.reason and status != "done" else ""
    cells = (story.id, story.title, f"{word}{why}", str(state.counted), (state.proof or "") if status == "done" else "")
    return f"| {' | '.join(plain(cell) for cell in cells)} |"


def _status(report: Report, story: Story) -> str:
    return status_of(report.state.stories[story.id])


def _spent(report: Report) -> list[str]:
    return [plain(part) for part in spending.of_run(report.state, report.run_input.limits)]
