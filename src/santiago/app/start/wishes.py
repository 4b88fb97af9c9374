"""What a person says about one start of a run."""

from __future__ import annotations

from santiago.contract.record import record


@record
class Wishes:
    """What is wished of one start; None and False leave it to the run input."""

    jobs: int | None = None
    gate: str | None = None
    chunks: str | None = None
    only: tuple[str, ...] = ()
    keep_going: bool = False
    optimistic: bool = False
    assume_external: bool = False
    sandbox: str | None = None
    changed_tests: str | None = None
    doubts: str | None = None
    tests_first: str | None = None
    actor: str | None = None
    """Who wishes it; by default whom the environment names."""
