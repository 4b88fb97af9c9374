"""The run input: what a run is about, its hard limits, how work is verified, who does it, and the policy."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from santiago.contract.ids import RUN_ID
from santiago.contract.quantities import Minutes, Usd
from santiago.contract.record import AtLeast, Matching, record


@record
class Limits:
    """Hard limits, checked before each attempt and counted from the log."""

    story_max_attempts: Annotated[int, AtLeast(1)] = 4
    """Attempts of one story."""
    run_max_attempts: Annotated[int, AtLeast(1)] = 20
    """Attempts of all stories together."""
    story_timeout_minutes: Minutes = Minutes.of(20)
    """Agent and verification time over all attempts of one story."""
    attempt_timeout_minutes: Minutes | None = None
    """Time of one attempt; half of the story's minutes where it is not given."""
    run_timeout_minutes: Minutes = Minutes.of(180)
    """Time in which santiago was executing; pauses do not count."""
    wait_max_minutes: Minutes = Minutes.of(360)
    """The longest wait for a rate limit or a person."""
    story_max_proposals: Annotated[int, AtLeast(1)] = 10
    """Detailed plans that an agent may write for one story, those that were sent back included."""
    planning_max_turns: Annotated[int, AtLeast(1)] = 20
    """Turns of one planning session, those that brought no plan included."""
    planning_timeout_minutes: Minutes = Minutes.of(120)
    """Time of all agents of a planning session together."""
    planning_max_tokens: Annotated[int, AtLeast(0)] | None = None
    """Tokens of all agents of a planning session together, as they report them."""
    planning_max_cost_usd: Usd | None = None
    """Money for all agents of a planning session together, as they report it."""
    run_max_tokens: Annotated[int, AtLeast(0)] | None = None
    """Tokens of all attempts together, as the agent reports them."""
    run_max_cost_usd: Usd | None = None
    """Money for all attempts together, as the agent reports it."""

    @property
    def attempt_ms(self) -> int:
        return int(self.attempt_timeout_minutes or self.story_timeout_minutes // 2)


@record
class Verification:
    """How work is checked."""

    story_commands: tuple[str, ...] = ()
    """Checks of every story, beside its own; `{id}` in one stands for the story's id in the document."""
    run_commands: tuple[str, ...] = ()
    """Checks of the final head; all story commands where none is given."""
    left_out: tuple[str, ...] = ()
    """Commands of the document that a person left out when they were asked about them."""
    timeout_minutes: Minutes = Minutes.of(10)
    """One command."""
    protected: tuple[str, ...] = ("@tests",)
    """Globs of files that judge: the verdict puts them back as they were; `@tests` stands for all tests."""


@record
class Workspace:
    """What a checkout needs before an agent or a check works in it."""

    setup: tuple[str, ...] = ()
    """Commands that prepare a fresh checkout before an attempt and before its verdict."""
    copy: tuple[str, ...] = (".env",)
    """Git-ignored files, and folders of such files, that are copied from the repository into a checkout."""
    provide: tuple[str, ...] = (".venv", "venv", "node_modules", "vendor")
    """Git-ignored folders of dependencies that a checkout gets from the repository, by name or path; no build output."""
    env: tuple[Annotated[str, Matching("[A-Za-z_][A-Za-z0-9_]*")], ...] = ()
    """Names of further environment variables that agent and checks may see; never their values."""


@record
class Agent:
    """Who does the work. If no agent is named, it is the first one that is installed and signed in."""

    mode: Literal["ralph_fresh", "scripted"] = "ralph_fresh"
    """A program, started anew for every attempt, or a playbook."""
    command: tuple[str, ...] | None = None
    """An argument list, run in the attempt's worktree with the prompt on standard input."""
    profile: str | None = None
    """The name of an agent that santiago knows, or of a profile of your own."""
    model_hint: str | None = None
    """The model, by the agent's own name for it."""
    playbook: str | None = None
    """What the scripted agent plays; relative to the repository."""
    fallback: tuple[str, ...] = ()
    """Agents, by name or command line. Each takes over when the one before it cannot go on."""


Gate = Literal["detail", "result", "chunk"]
GateWord = Literal["auto", "chunk", "step"]
GATES: dict[GateWord, tuple[Gate, ...]] = {"auto": (), "chunk": ("chunk",), "step": ("detail", "result")}
"""What the words of `--gate` stand for."""


AS_PROPOSED = "proposed"
"""The units of a proposal, as they are."""


@record
class Policy:
    """How a run goes about its work."""

    gate: GateWord = "auto"
    """A word for a set of gates: no gate, a pause after every chunk, or step by step."""
    gates: tuple[Gate, ...] = ()
    """Where a person's word is needed: for a story's detailed plan, for its result, or after each chunk."""
    jobs: Annotated[int, AtLeast(1)] = 1
    """Stories that may be worked on at the same time."""
    proof: Literal["regression", "own_tests", "proved"] = "own_tests"
    """How strong a verdict must be for a story to be done without a person's word."""
    unproven: Literal["ask", "accept"] = "ask"
    """What to do with work that passes its checks and is shown by less than that: ask a person, or take it."""
    changed_tests: Literal["ask", "accept", "refuse"] = "ask"
    """What to do where the work changes what existing tests expect, or removes them."""
    doubts: Literal["ask", "accept", "refuse"] = "ask"
    """What to do with work that could deceive its checks."""
    evidence: Literal["listed", "required"] = "listed"
    """Whether every criterion of a story needs a test that shows it."""
    tests_first: str = ""
    """Who writes a story's tests before it is implemented: nobody, `same` for the run's agent, or another agent by name."""
    exhausted: Literal["failed", "blocked"] = "failed"
    """The phase in which a story ends when its budget is used up."""
    sandbox: Literal["auto", "required", "off"] = "auto"
    """`auto`: the strongest sandbox that works here. `required`: a sandbox, or no run. `off`: none."""
    keep_going: bool = False
    """Independent stories go on after one failed."""
    optimistic: bool = False
    """Stories without file focus may run beside others."""
    assume_external: bool = False
    """Dependencies outside the document are taken to be there."""
    unknown_usage: Literal["block", "allow"] = "block"
    """What to do where a money or token limit is set and the agent does not report."""
    units: str = ""
    """The list that a person confirmed as the work: a value of `--units`, or `proposed`."""
    write_back: bool = False
    """Ticks of the plan's document are written back, as one commit on the run's branch."""

    @property
    def takes_unproven(self) -> bool:
        """Whether work that no test shows is taken without a word. `proof = "regression"` has always meant that."""
        return self.unproven == "accept" or self.proof == "regression"

    @property
    def wants_proof(self) -> bool:
        """Whether a test must show the work. Where a person looks at each result, their word stands for it."""
        return not (self.takes_unproven or self.stepwise)

    @property
    def closed(self) -> frozenset[Gate]:
        """The gates at which a person is asked."""
        return frozenset((*GATES[self.gate], *self.gates))

    @property
    def stepwise(self) -> bool:
        """Whether a person approves each story's plan and its result: then one story at a time is under way."""
        return {"detail", "result"} <= self.closed


@record
class RunInput:
    """What a run is about, and its settings."""

    contract_version: Literal[1]
    """Of this document."""
    run_id: Annotated[str, Matching(RUN_ID)] | None = None
    """Made from the name of the out-dir where it is not given."""
    repo_path: str
    """Relative to the folder of this file."""
    prd_path: str
    """The document, relative to the repository."""
    base_branch: str | None = None
    """Only a note for readers: a run always starts from HEAD."""
    working_branch: str | None = None
    """Only a note for readers: the run's branch is always `santiago/<run id>`."""
    limits: Limits = field(default_factory=Limits)
    verification: Verification = field(default_factory=Verification)
    workspace: Workspace = field(default_factory=Workspace)
    agent: Agent = field(default_factory=Agent)
    policy: Policy = field(default_factory=Policy)
