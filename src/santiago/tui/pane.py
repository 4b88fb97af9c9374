"""A page of lines beside the list. It is wrapped to its width, and only visible lines are rendered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.scroll_view import ScrollView

from santiago.tui.look import parts_of, strip

if TYPE_CHECKING:
    from textual.strip import Strip

    from santiago.report.page import Line
    from santiago.tui.look import Part


class Pane(ScrollView, can_focus=True):
    """Shows lines. If it is scrolled to its end, it stays there while lines are added."""

    def __init__(self, *, plain: bool) -> None:
        super().__init__(id="pane")
        self.plain = plain
        self.lines: list[Line] = []
        self._shown: list[Part] = []

    @property
    def columns(self) -> int:
        return max(1, self.size.width - 1)

    def show(self, lines: list[Line], *, anew: bool = False, at_end: bool = False) -> None:
        """Show these lines. `anew` begins at the top, or at the end with `at_end`."""
        if lines == self.lines and not anew:
            return
        followed = at_end and (anew or self.scroll_offset.y >= self.max_scroll_y)
        self.lines = lines
        self._break()
        if followed:
            self.scroll_end(animate=False)
        elif anew:
            self.scroll_home(animate=False)

    def _break(self) -> None:
        self._shown = [part for line in self.lines for part in parts_of(line, self.columns)]
        self.virtual_size = Size(self.size.width, len(self._shown))
        self.refresh()

    def on_resize(self) -> None:
        self._break()

    def render_line(self, y: int) -> Strip:
        place = y + round(self.scroll_offset.y)
        parts = [self._shown[place]] if place < len(self._shown) else []
        return strip(parts, self.size.width, plain=self.plain)
