"""The chunks and stories of a plan as lines of a list in its review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style

from santiago.tui.listing import Listing
from santiago.tui.look import TONES
from santiago.util.text import fit, flat, width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from santiago.contract.plan import Story
    from santiago.report.session_review import ChunkRow, Review
    from santiago.tui.look import Part

_SIGNS = {"new": ("+", "good"), "changed": ("~", "warn"), "": (" ", "")}


class PlanRows(Listing):
    """The chunks and stories of a plan, with what a revision changed."""

    def __init__(self, *, plain: bool) -> None:
        super().__init__(plain=plain)
        self.chunks: tuple[ChunkRow, ...] = ()
        self._review: Review | None = None
        self._stories: dict[str, Story] = {}
        self._ids = self._labels = 2
        """Columns of the longest id, and of the longest label."""

    # What is shown

    def show(self, review: Review) -> None:
        """Show a plan. Unfolded chunks stay unfolded, and the cursor stays on its row if that is still there."""
        same = self._review is not None and self._review.plan is review.plan
        self._review, self.chunks = review, review.chunks
        if not same:
            self._stories = {story.id: story for chunk in review.chunks for story in chunk.stories}
            self._ids = min(14, max((len(name) for name in self._stories), default=2))
            self._labels = max((width(flat(one.label)) for one in review.chunks), default=2)
            self.texts = {}
        self.flatten()

    def members(self) -> Iterable[tuple[int, Sequence[Story]]]:
        return ((chunk.number, chunk.stories) for chunk in self.chunks)

    @property
    def chunk(self) -> ChunkRow | None:
        """The chunk that the cursor is on or in."""
        return self.chunks[self.current.chunk - 1] if self.current else None

    @property
    def story(self) -> Story | None:
        return self._stories[self.current.story] if self.current and self.current.story else None

    # Lines

    def of_chunk(self, number: int, columns: int) -> list[Part]:
        assert self._review is not None
        chunk = self.chunks[number - 1]
        sign = "▼" if self.words or number in self.open else "▶"
        told = f"  {len(chunk.stories)}"
        changed = f"  {chunk.changed} changed in rev {self._review.revision}" if chunk.changed else ""
        if self._labels + width(told + changed) + 2 > columns:
            changed = f"  ~{chunk.changed}" if chunk.changed else ""
        room = max(4, columns - 2 - width(told) - width(changed))
        return [
            (f"{sign} ", TONES["dim"]),
            (fit(flat(chunk.label), min(self._labels, room)), Style(bold=True)),
            (told, TONES["dim"]),
            (changed, TONES["warn"]),
        ]

    def of_story(self, name: str, columns: int) -> list[Part]:
        assert self._review is not None
        sign, tone = _SIGNS[self._review.marks.get(name, "")]
        return [
            (f"  {sign} ", TONES[tone]),
            (f"{name:<{self._ids}}  ", TONES["dim"]),
            (fit(flat(self._stories[name].title), max(4, columns - 6 - self._ids)), TONES[tone]),
        ]
