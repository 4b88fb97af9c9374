"""One planning: what `santiago plan` and `santiago run` read, and where they write."""

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
    """How the plan calls the document."""
    out_dir: Path
    run_input: RunInput
    settings: dict[str, Any] | None = None
    """What files and variables say; nothing where a program gave the input."""
    source: Path | None = None
    """The run input, where one was given."""
    compared: Path | None = None
    """The plan that it is compared with, where there is one."""
    is_read_plainly: bool = True
    """Whether no option says how to read the document, so that `santiago run` makes the same plan of it."""
    fitted: bool = False
    """Whether the attempts of the run were fitted to the number of stories."""

    @property
    def from_program(self) -> bool:
        """Called with --input: a failure leaves a result.json."""
        return self.source is not None

    @property
    def is_at_home(self) -> bool:
        """Whether the out-dir is where runs of the repository lie, so that its name is enough to find it."""
        return self.out_dir.parent == Path(self.run_input.repo_path) / repository.RUNS
