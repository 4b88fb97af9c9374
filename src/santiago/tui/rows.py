"""The chunks and stories of a run as lines of a list: state, what each waits for, and what its agent does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style

from santiago.contract.phases import StoryPhase
from santiago.report.agent_activity import Doing
from santiago.report.chunks import rows_of
from santiago.report.evidence import AttemptEvidence
from santiago.report.marks import mark
from santiago.report.measures import span
from santiago.report.story_status import row_of
from santiago.tui.listing import Listing, Row
from santiago.tui.look import TONES, cut
from santiago.util.text import fit, flat, width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from santiago.contract.plan import Story
    from santiago.contract.state import StoryState
    from santiago.report.chunks import ChunkRow
    from santiago.report.following import Following
    from santiago.tui.look import Part

_TROUBLES = ("failed", "asks you", "blocked", "stopped", "not proven")
"""States of a story that a person looks at first, the most urgent first."""
LABEL = 12
"""Least number of columns for a label."""


class Rows(Listing):
    """The chunks and stories of a run, updated while it runs."""

    def __init__(self, *, plain: bool) -> None:
        super().__init__(plain=plain)
        self.chunks: list[ChunkRow] = []
        self.picked: frozenset[int] = frozenset()
        self._following: Following | None = None
        self._doing: tuple[str, Doing] | None = None
        self._members: dict[str, list[Story]] = {}
        self._known = 0
        self._ids = 2
        """Columns of the longest id."""
        self._counts = 3
        """Columns of the count of finished stories."""

    # What is shown

    def show(self, following: Following) -> None:
        """Show another run, with the cursor on what runs or failed."""
        self._following, self._known, self.cursor, self.picked = following, 0, 0, frozenset()
        self.open, self.words, self.texts, self.rows = set(), (), {}, []
        self.update()
        self.follow()

    def follow(self) -> None:
        """Go to the story that runs, else to the one that failed or waits for a person, else to the next chunk; stay with it."""
        self.follows = True
        if (row := self._where()) is not None and row != self.current:
            self.open.add(row.chunk)
            self.flatten()
            self.go(self.rows.index(row) if row in self.rows else self.cursor)

    def _where(self) -> Row | None:
        assert self._following is not None
        run, here = self._following.run, self.current
        if run.worker and run.state.running:
            names = sorted(run.state.running, key=lambda name: run.state.stories[name].index)
            name = here.story if here is not None and here.story in names else names[0]
        elif run.worker and here is not None and here.story:
            return here  # between two attempts
        else:
            first = {self._word(story): story.id for story in reversed(run.stories)}
            name = next((first[word] for word in _TROUBLES if word in first), "")
        if name:
            label = self._following.by_id[name].chunk
            return next((Row(chunk=chunk.number, story=name) for chunk in self.chunks if chunk.label == label), None)
        words = ("current", "failed", "blocked", "next")
        return next((Row(chunk=row.number) for word in words for row in self.chunks if row.mark.word == word), None)

    def _word(self, story: Story) -> str:
        assert self._following is not None
        run = self._following.run
        return mark(run.state.stories[story.id], at_rest=run.worker is None).word

    def update(self) -> None:
        """Update from the run. The cursor stays on its row, or on what runs."""
        if self._following is None:
            return
        run = self._following.run
        if len(run.stories) != self._known:
            self._known, self._members = len(run.stories), {}
            self._ids = min(14, max(len(story.id) for story in run.stories))
            for story in run.stories:
                self._members.setdefault(story.chunk, []).append(story)
        self._counts = max(len(f"{len(chunk.stories)}") for chunk in run.state.chunks.values()) * 2 + 1
        self.chunks = rows_of(run, self._following.utc())
        self.flatten()
        if self.follows and not self.words:
            self.follow()

    def members(self) -> Iterable[tuple[int, Sequence[Story]]]:
        return ((chunk.number, self._members.get(chunk.label, ())) for chunk in self.chunks)

    def text_of(self, story: Story) -> str:
        return f"{super().text_of(story)} {self._word(story)}"

    def chunk_of(self, row: Row) -> ChunkRow:
        return self.chunks[row.chunk - 1]

    # Lines

    def before(self, row: Row) -> list[Part]:
        return [("┃" if row.chunk in self.picked else " ", TONES["busy"])]

    def of_chunk(self, number: int, columns: int) -> list[Part]:
        chunk = self.chunks[number - 1]
        numbers = max(2, len(str(len(self.chunks))))
        left = f"{chunk.number:>{numbers}} "
        counts = f"{chunk.done}/{chunk.stories}"
        told = f"  {counts:>{self._counts}}  {chunk.mark.word:<9}"
        tail = chunk.note or (span(chunk.ms) if chunk.ms else "")
        room = columns - numbers - 3 - width(told)
        label = min(
            max(LABEL, *(width(flat(one.label)) for one in self.chunks)), max(LABEL, room - (26 if room > 50 else 8))
        )
        label = min(label, max(4, room))
        tail_room = room - label - 2
        style = TONES[chunk.mark.tone]
        return [
            (left, TONES["dim"]),
            (f"{chunk.mark.symbol} ", style),
            (fit(flat(chunk.label), label), Style(bold=True)),
            (told, style),
            (f"  {cut(tail, tail_room)}" if tail_room > 3 and tail else "", TONES["dim"]),
        ]

    def of_story(self, name: str, columns: int) -> list[Part]:
        assert self._following is not None
        run = self._following.run
        story, planned = run.state.stories[name], self._following.by_id[name]
        row = row_of(run.state, story, run.run_input.limits, at_rest=run.worker is None, ahead=run.ahead)
        indent = "     " if columns > 50 else "  "
        indent += "  " if story.parent else ""
        before = f"{indent}{row.mark.symbol} "
        room = columns - width(before) - self._ids - 2
        now = max(12, room * 2 // 5)
        title = max(4, room - now - 9) if columns > 50 else max(4, room - 12)
        now = room - title - 9 if columns > 50 else 10
        told = (
            f"  {row.tries:>5}  {cut(self._now(story) or row.now, now)}"
            if columns > 50
            else f"  {cut(row.mark.word, 10)}"
        )
        style = TONES[row.mark.tone]
        return [
            (before, style),
            (f"{name:<{self._ids}}  ", TONES["dim"]),
            (fit(flat(planned.title), title), Style()),
            (told, style),
        ]

    def _agents(self) -> Doing:
        """Return what follows the agents. It is made when the first agent works, and again for each start."""
        assert self._following is not None
        run = self._following.run
        agent = run.history.start.get("agent", "")
        if self._doing is None or (self._doing[0], self._doing[1].out_dir) != (agent, run.out_dir):
            self._doing = agent, Doing(run.out_dir, agent)
        return self._doing[1]

    def _now(self, story: StoryState) -> str:
        """Return what its agent does; empty if nobody works on it."""
        assert self._following is not None
        run = self._following.run
        if story.phase is StoryPhase.RUNNING and run.worker:
            if AttemptEvidence(run.out_dir, story.id, story.attempts).has_ended():
                return "running  verify"
            words, beat = (
                self._agents().words(story.id, story.attempts),
                self._agents().elsewhere(story.id, story.attempts),
            )
            return words if beat and not beat.worker else f"running  {words}".rstrip()
        return ""
