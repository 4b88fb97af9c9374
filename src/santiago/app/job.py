"""One planning job: what `santiago plan` and `santiago run` read, and where they write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from santiago.artifacts import repository

if TYPE_CHECKING:
    from santiago.contract.policy import RunInput


class Job(NamedTuple):
    """What to read, where to write, and the run input that goes with it."""

    document: Path
    name: str
    """The plan's name for the document."""
    out_dir: Path
    run_input: RunInput
    settings: dict[str, Any] | None = None
    """The settings from files and variables; empty if a program gave the input."""
    source: Path | None = None
    """The file of the run input, if one was given."""
    compared: Path | None = None
    """The earlier plan to compare with, if there is one."""
    is_read_plainly: bool = True
    """Whether no option says how to read the document, so that `santiago run` makes the same plan of it."""
    fitted: bool = False
    """Whether the attempts of the run were fitted to the number of stories."""

    worker: str = ""
    """The options that name the agent, as they were typed."""

    findings: bool = False
    """Whether all findings are shown, and the whole account."""

    @property
    def from_program(self) -> bool:
        """Whether a program called with --input. If so, a failure leaves a result.json."""
        return self.source is not None

    @property
    def is_at_home(self) -> bool:
        """Whether the out-dir is in the usual place, so that its name is enough to find it."""
        return self.out_dir.parent == Path(self.run_input.repo_path) / repository.RUNS
