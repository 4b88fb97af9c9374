"""The options of one start of a run."""

from __future__ import annotations

from santiago.contract.record import record


@record
class Places:
    """Where a command line has attempts carried out."""

    engine: str | None = None
    remote: str | None = None
    insecure: bool = False


@record
class StartOptions:
    """What a person says about one start. None and False leave a choice to the run input."""

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
    unproven: str | None = None
    tests_first: str | None = None
    actor: str | None = None
    """The person's name; by default from the environment."""
    write_back: bool = False
    max_attempts: int | None = None
    """Of each story."""
    max_cost: float | None = None
    """Dollars for the run."""
    max_tokens: int | None = None
    """Of the run."""
    timeout: float | None = None
    """Minutes for the run."""
    yes: bool = False
    trust_commands: bool = False
    trust_ticks: bool | None = None
    trust_project: bool = False
    dry_run: bool = False
    as_json: bool = False
    plain: bool = False
    no_input: bool = False
    attended: bool = False
    engine: str | None = None
    remote: str | None = None
    insecure: bool = False
