"""The run input: what a run is about, its hard limits, how work is verified, who does it, and the policy."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from santiago.contract.ids import RUN_ID
from santiago.contract.record import AtLeast, Matching, record
from santiago.contract.units import Minutes, Usd


@record
class Limits:
    """Hard limits, checked before each attempt and counted from the log."""

    story_max_attempts: Annotated[int, AtLeast(1)] = 4
    run_max_attempts: Annotated[int, AtLeast(1)] = 20
    story_timeout_minutes: Minutes = Minutes.of(20)
    """Agent and verification time over all attempts of one story."""
    attempt_timeout_minutes: Minutes | None = None
    """One attempt; half of the story's minutes where it is not given."""
    run_timeout_minutes: Minutes = Minutes.of(180)
    """Time in which santiago was executing; pauses do not count."""
    wait_max_minutes: Minutes = Minutes.of(360)
    """Waiting for a rate limit or a person."""
    run_max_tokens: Annotated[int, AtLeast(0)] | None = None
    run_max_cost_usd: Usd | None = None

    @property
    def attempt_ms(self) -> int:
        return int(self.attempt_timeout_minutes or self.story_timeout_minutes // 2)


@record
class Verification:
    story_commands: tuple[str, ...] = ()
    """Checks of every story, beside its own."""
    run_commands: tuple[str, ...] = ()
    """Checks of the final head; all story commands where none is given."""
    timeout_minutes: Minutes = Minutes.of(10)
    protected: tuple[str, ...] = ("@tests",)
    """Globs of files that no attempt may change or delete unless its story names them; `@tests` stands for all tests."""


@record
class Workspace:
    setup: tuple[str, ...] = ()
    """Commands that prepare a fresh checkout before an attempt and before its verdict."""
    copy: tuple[str, ...] = (".env",)
    """Ignored files that a checkout needs from the repository."""
    env: tuple[Annotated[str, Matching("[A-Za-z_][A-Za-z0-9_]*")], ...] = ()
    """Names of further environment variables that agent and checks may see; never their values."""


@record
class Agent:
    mode: Literal["ralph_fresh", "scripted"] = "ralph_fresh"
    command: tuple[str, ...] | None = None
    """An argument list, run in the attempt's worktree with the prompt on standard input."""
    profile: str | None = None
    model_hint: str | None = None
    playbook: str | None = None
    """What the scripted agent plays; relative to the repository."""


@record
class Policy:
    gate: Literal["auto", "chunk"] = "auto"
    """When a run rests by itself: only at its end, or after every chunk."""
    jobs: Annotated[int, AtLeast(1)] = 1
    proof: Literal["regression", "proved"] = "regression"
    """How strong a verdict must be for a story to be done."""
    exhausted: Literal["failed", "blocked"] = "failed"
    """Where a story without budget ends."""
    sandbox: Literal["auto", "required", "off"] = "auto"
    keep_going: bool = False
    """Independent stories go on after one failed."""
    optimistic: bool = False
    """Stories without file focus may run beside others."""
    assume_external: bool = False
    """Dependencies outside the document are taken to be there."""
    unknown_usage: Literal["block", "allow"] = "block"
    """What to do where a money or token limit is set and the agent does not report."""


@record
class RunInput:
    contract_version: Literal[1]
    run_id: Annotated[str, Matching(RUN_ID)] | None = None
    repo_path: str
    prd_path: str
    """Relative to the repository."""
    base_branch: str | None = None
    working_branch: str | None = None
    """Both are for those who read it: a run starts from HEAD, and its branch is `santiago/<run id>`."""
    limits: Limits = field(default_factory=Limits)
    verification: Verification = field(default_factory=Verification)
    workspace: Workspace = field(default_factory=Workspace)
    agent: Agent = field(default_factory=Agent)
    policy: Policy = field(default_factory=Policy)
