"""The browser of a run, opened from the review of its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.tui.watch import WatchScreen

if TYPE_CHECKING:
    from pathlib import Path
    from typing import ClassVar

    from textual.binding import BindingType

    from santiago.tui.starting import Wished


class RunScreen(WatchScreen):
    """The browser of a run, with a key that goes back to its plan."""

    BINDINGS: ClassVar[list[BindingType]] = [("b", "plan")]
    advice = f"b goes back to the plan; {WatchScreen.advice}"

    def __init__(self, out_dir: Path, *, plain: bool, begins: Wished | None = None) -> None:
        super().__init__(out_dir, plain=plain)
        self.begins = begins
        """The options of the start that begins as soon as the run is shown; None to begin nothing."""

    def on_mount(self) -> None:
        if self.begins is not None:
            self.call_after_refresh(self.begin, self.begins)

    def action_plan(self) -> None:
        self.app.pop_screen()
