"""The chunks of a run as rows: number, label, progress, a word and a symbol for the state, and a note; one of them as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.counting import count
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.record import record
from santiago.executor.budget import Budget
from santiago.report.asking import asked
from santiago.report.marks import UNPROVEN, Mark
from santiago.report.measures import span
from santiago.report.page import Line, rows_that_fit
from santiago.report.run_status import chunk_ms, counts_of
from santiago.report.story_status import named
from santiago.util.text import fit, flat, harmless, width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.app.loading import Run
    from santiago.contract.state import ChunkState, StoryState

CURRENT = Mark("▶", "current", "busy")
NEXT = Mark("»", "next", "busy")
COMPLETED = Mark("✓", "completed", "good")
FAILED = Mark("✗", "failed", "bad")
BLOCKED = Mark("!", "blocked", "warn")
LEFT_OUT = Mark("-", "left out", "warn")
WAITING = Mark("·", "waiting", "")
MARKS = (CURRENT, NEXT, COMPLETED, FAILED, BLOCKED, UNPROVEN, LEFT_OUT, WAITING)
"""All states of a chunk, each with its word and symbol."""


@record
class ChunkRow:
    """One chunk, as people see it."""

    number: int
    label: str
    """As it is in the plan. It is untrusted text."""
    mark: Mark
    counts: dict[str, int]
    """Status → the number of its stories. Those that no test shows count as unproven, not as blocked."""
    ms: int | None
    """Time spent on it; None if it has not begun."""
    note: str
    """What needs attention: the story that failed, and its attempts."""

    @property
    def stories(self) -> int:
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        return self.counts["done"]

    @property
    def text(self) -> str:
        """Return the row as one line of text, for screen readers."""
        parts = [
            f"chunk {self.number}",
            flat(self.label),
            self.mark.word,
            f"{self.done} of {count(self.stories, 'story', 'stories')} done",
        ]
        return ", ".join([*parts, self.note] if self.note else parts)


def rows_of(run: Run, now: str = "") -> list[ChunkRow]:
    """Return the chunks in plan order. The first one that waits is marked as next."""
    here, rows = run.state.next_chunk(), list[ChunkRow]()
    for number, chunk in enumerate(run.state.chunks.values(), start=1):
        counts = counts_of(run, chunk)
        counts["blocked"] -= counts["unproven"]
        look = _mark(run, chunk, counts, here)
        if look is WAITING and all(row.mark is not NEXT for row in rows):
            look = NEXT
        ms = chunk_ms(run, chunk, now) if chunk.started else None
        note = _note(run, chunk) if counts["failed"] or counts["blocked"] or counts["unproven"] else ""
        rows.append(ChunkRow(number=number, label=chunk.label, mark=look, counts=counts, ms=ms, note=note))
    return rows


def _mark(run: Run, chunk: ChunkState, counts: dict[str, int], here: ChunkState | None) -> Mark:
    if counts["failed"]:
        return FAILED
    if counts["blocked"]:
        return BLOCKED
    if not chunk.left and counts["unproven"]:
        return UNPROVEN
    if not chunk.left:
        return LEFT_OUT if counts["skipped"] and not counts["done"] else COMPLETED
    if chunk is here and chunk.started and run.state.phase is not RunPhase.SUCCESS:
        return CURRENT
    return WAITING


def _note(run: Run, chunk: ChunkState) -> str:
    resting = [run.state.stories[name] for name in chunk.stories]
    found = [story for story in resting if story.phase in (StoryPhase.FAILED, StoryPhase.BLOCKED) and not story.skipped]
    if not found:
        weak = [story.id for story in resting if story.is_unproven]
        return f"not proven: {named(weak)}" if weak else ""
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{found[0].id}{_why(run, found[0])}{more}"


def _why(run: Run, story: StoryState) -> str:
    if story.phase is StoryPhase.BLOCKED:
        return f", {story.reason}" if story.reason else ""
    return f", {story.counted} of {count(Budget(run.run_input.limits, run.state).attempts_of(story), 'attempt')}"


WORDS = {
    "done": "done", "unproven": "not proven", "failed": "failed", "blocked": "blocked", "pending": "pending",
    "skipped": "left out",
}  # fmt: skip


def chunk_table(rows: list[ChunkRow], columns: int) -> Iterator[Line]:
    """Yield the chunks with the number of their stories by status. Columns without a number may be dropped."""
    size = max([5, *(width(harmless(row.label)) for row in rows)])
    size = min(size, 48, max(12, columns - 54) if columns else 48)
    names = [name for name in WORDS if name != "unproven" or any(row.counts[name] for row in rows)]
    heads = [f"{WORDS[name]:>5}" for name in names]
    cells = [[fit("chunk", size), *heads, f"{'time':>7}"]]
    for row in rows:
        numbers = (f"{row.counts[name]:>{len(head)}}" for name, head in zip(names, heads, strict=True))
        cells.append([fit(row.label, size), *numbers, f"{'-' if row.ms is None else span(row.ms):>7}"])
    unused = (name for name in ("skipped", "failed", "blocked") if not any(row.counts[name] for row in rows))
    expendable = [*(names.index(name) + 1 for name in unused), len(names) + 1]
    head, *texts = rows_that_fit(cells, columns and columns - 2, expendable)
    yield Line(f"  {head}", "dim")
    for row, text in zip(rows, texts, strict=True):
        yield Line(f"{row.mark.symbol} {text}", row.mark.tone)


def chunk_page(run: Run, row: ChunkRow) -> list[Line]:
    """Return the page of a chunk as a whole."""
    lines = [
        Line(f"chunk {row.number}  {flat(row.label)}", "head"),
        Line(f"{row.mark.word}   {row.done} of {count(row.stories, 'story', 'stories')} done"),
    ]
    lines += [Line(row.note, row.mark.tone)] if row.note else []
    lines += [Line(f"{span(row.ms)} so far" if row.mark.word == "current" else span(row.ms), "dim")] if row.ms else []
    own = run.state.chunks[row.label].stories
    waiting = [one for one in asked(run.state, run.out_dir)[0] if one.story in own]
    return [*lines, *(Line(f"{one.id} asks: {flat(one.text)}", "warn") for one in waiting)]
