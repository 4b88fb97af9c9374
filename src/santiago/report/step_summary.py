"""The page that GitHub shows beside a job: the outcome of the run, as Markdown in which no title can act as markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.lazy_regex import pattern
from santiago.executor.tally import headline, status_of
from santiago.report import spending
from santiago.report.measures import span
from santiago.report.proof import on_word_lines, unproven_lines
from santiago.util.text import count, flat, harmless

if TYPE_CHECKING:
    from santiago.contract.plan import Story
    from santiago.report.failure import Report

MOST = 200
"""How many stories the table has. Failed stories come first."""
CELL = 120
"""Characters of one cell."""
LINE = 300
"""Characters of a line outside the table."""
_MARKS = pattern(r"[!-&(-+./:-@\[-`{-~]")


def page(report: Report, following: list[str]) -> list[str]:
    """Return the lines of the page. `following` are the next commands."""
    state = report.state
    told = headline(report.plan, state)
    why = f": {told.reason}" if told.reason else ""
    weak = [*unproven_lines(report.plan, state, report.out_dir), *on_word_lines(report.plan, state, report.history)]
    spent = map(plain, spending.of_run(state, report.run_input.limits))
    shown = _shown(report)
    left = len(report.plan.stories) - len(shown)
    return [
        f"### santiago: {plain(f'{told.word}{why}, {told.text}', LINE)}",
        "",
        f"Run {plain(state.run_id)}: {', '.join([report.attempts(), span(state.used_ms), *spent])}",
        "",
        *(f"- {plain(text, LINE)}" for text in weak),
        *([""] if weak else []),
        "| story | title | status | attempts | proof |",
        "|---|---|---|--:|---|",
        *(_row(report, story) for story in shown),
        *(["", f"… and {count(left, 'story', 'stories')} more"] if left else []),
        "",
        *([f"Branch: {plain(state.branch)}", ""] if state.branch else []),
        *(["```text", *(_line(line) for line in following), "```"] if following else []),
    ]


def plain(text: str, most: int = CELL) -> str:
    """Return a text that Markdown shows literally: without markup, HTML or links, and within its cell."""
    words = flat(text)
    cut = words if len(words) <= most else f"{words[: most - 1]}…"
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
    word = "not proven" if state.is_unproven else "not done" if status == "pending" else status
    why = f": {state.reason}" if state.reason and status != "done" and not state.is_unproven else ""
    cells = (story.id, story.title, f"{word}{why}", str(state.counted), (state.proof or "") if status == "done" else "")
    return f"| {' | '.join(plain(cell) for cell in cells)} |"


def _status(report: Report, story: Story) -> str:
    return status_of(report.state.stories[story.id])
