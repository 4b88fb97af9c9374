"""The browser of the run that a plan became, reached from its review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.tui.watch import WatchScreen

if TYPE_CHECKING:
    from pathlib import Path
    from typing import ClassVar

    from textual.binding import BindingType


class RunScreen(WatchScreen):
    """The browser of a run, with a way back to the plan that it came from."""

    BINDINGS: ClassVar[list[BindingType]] = [("b", "plan")]

    def __init__(self, out_dir: Path, *, plain: bool, begins: bool = False) -> None:
        super().__init__(out_dir, plain=plain, note="b goes back to the plan")
        self.begins = begins
        """The run is begun as soon as it is seen."""

    def on_mount(self) -> None:
        if self.begins:
            self.call_after_refresh(self.begin)

    def action_plan(self) -> None:
        self.app.pop_screen()
