"""The request for one start of a run: what is wanted, from a run input, a plan and a person's options."""

from __future__ import annotations

import os
from dataclasses import field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from santiago.app.actor import actor
from santiago.app.changes import changed_agent
from santiago.app.config import load as settings_at
from santiago.app.finding import find_story, target
from santiago.app.loading import frozen as begun_with
from santiago.app.loading import frozen_input
from santiago.app.paths import typed
from santiago.app.start.agents import called, lasting
from santiago.app.start.engine_terms import terms
from santiago.app.start.identity import derived_id, frozen_path, repository_of
from santiago.app.start.proposals import refuse
from santiago.artifacts.files import read_bytes
from santiago.artifacts.names import PLAN, has_begun
from santiago.artifacts.run_locations import refuse_linked
from santiago.contract import codec
from santiago.contract.box_ticks import is_same_plan
from santiago.contract.codec import plan_digest
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import Context
from santiago.contract.plan import Finding
from santiago.contract.policy import Policy
from santiago.contract.quantities import Minutes, Usd
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.executor.reopen import Grants
from santiago.executor.scope import Scope
from santiago.executor.selection import chunks_named
from santiago.util.own_run import refuse_own_word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.app.start.engine_terms import Terms
    from santiago.app.start.start_options import StartOptions
    from santiago.contract.events import Event
    from santiago.contract.plan import Plan
    from santiago.contract.policy import Agent, Limits, RunInput
    from santiago.contract.state import RunState


_MOST = 20
"""How many findings an error's message repeats. All of them are shown below it."""
_CHANGED = "the settings of the agent have changed since the run began, and this start uses them"


def _unconfirmed(plan: Plan) -> None:
    raise refuse(plan, plan.source.path)


@lean(frozen=True)
class RunHeader:
    """What a person should see before anything runs."""

    run_id: str
    out_dir: Path
    stories: int
    chunks: int
    agent: str
    sandbox: str
    jobs: int
    resumed: bool
    notices: tuple[str, ...]
    follower: str = ""
    """Who takes over where the agent cannot go on."""
    engine: str = ""
    """Whose workers carry attempts out. Empty where they are carried out here."""


@lean(kw_only=True)
class Request:
    """What one start of a run was asked to do."""

    out_dir: Path
    run_input: RunInput
    plan: Plan
    repo: Path | None = None
    """Where the repository is now, if it was moved since the run began."""
    jobs: int = 1
    """How many stories a person wants to run at the same time."""
    scope: Scope = field(default_factory=Scope)
    grants: Grants = field(default_factory=Grants)
    consent: Callable[[list[str]], None] = lambda _: None
    """Asks whether commands of the document may run; raises if not."""
    consent_ticks: Callable[[int], bool] = lambda _: False
    """Asks whether the document's word is taken for ticked boxes that no check shows; raises if nobody can say."""
    confirm_units: Callable[[Plan], None] = _unconfirmed
    """Asks whether the units of a proposal are meant; raises if not."""
    consent_unfenced: Callable[[], None] = lambda: None
    """Asks whether an agent may run without any sandbox; raises if not."""
    policy: Policy | None = None
    """The policy of this start, if flags changed it. The frozen policy stays unchanged."""
    agent: Agent | None = None
    """The agent of this start, if flags name another than the frozen one."""
    skips: list[tuple[str, str]] = field(default_factory=list)
    """(story, why) to leave out. The start then only records this."""
    own_work: tuple[str, str] | None = None
    """(story, ref): a person's own commit, to be judged as an attempt."""
    why: str = ""
    """Why a person takes their own work even if no test shows it."""
    accepts: tuple[tuple[str, ...], str] | None = None
    """(stories, why): a person accepts the work of their latest attempts."""
    only_creates: bool = False
    """Whether the start only records that the run exists, and which of its commands are approved."""
    approves: bool = True
    """Whether commands of the document are asked about and recorded as approved. If not, a later start asks."""
    begins_on: str | None = None
    """The commit that a new run begins on; the repository's HEAD if none is named."""
    planned: Context = field(default_factory=Context)
    """Details for the run's first event: the planning session or the earlier run that it was made from."""
    settings: dict[str, Any] | None = None
    """The settings from files and variables when a new run was made, without the command line."""
    note: str = ""
    """A note to record first: that another agent takes over."""
    actor: str = "user"
    """The name, for the log, of who starts it."""
    attended: bool = False
    """Whether somebody answers questions while it runs. If not, an open question ends the run as blocked."""
    opened: Callable[[RunState], None] = lambda _: None
    """Called with the run's state when its work begins."""
    listeners: list[Callable[[Sequence[Event], RunState], None]] = field(default_factory=list)
    beat: Callable[[], None] = lambda: None
    """Hears several times a second that the start is at work, also while it waits and nothing is recorded."""
    announce: Callable[[RunHeader], None] = lambda _: None
    check_begun: Callable[[str, int, int, str], None] = lambda *_: None
    """Called when a check begins, with the name of its trial, its number, the number of checks, and the command."""
    signals: list[int] = field(default_factory=list)
    """The signals that came while it ran, in order."""
    terms: Terms | None = None
    """The engine through which attempts go out to workers; None if they are carried out here."""

    @property
    def run_id(self) -> str:
        if self.run_input.run_id is None:
            raise ValueError("a run is started under an id")
        return self.run_input.run_id

    @property
    def engine(self) -> str:
        """Where workers get their orders: the engine's address without its password. Empty where agents run in this process."""
        return self.terms.shown if self.terms else ""

    @property
    def starts_agents(self) -> bool:
        """Whether an agent may be started. Recording a person's work or decision needs none."""
        return not (self.own_work or self.accepts or self.skips or self.scope.is_empty)

    @property
    def at_once(self) -> int:
        """How many stories may run at the same time: one if a person decides on each."""
        return 1 if self.effective.policy.stepwise else self.jobs

    def handed_on(self, agent: Agent, note: str) -> Request:
        """Return the request for the agent that takes over. What a person asked for once is already done, and consents are given."""
        return replace(
            self,
            agent=agent,
            note=note,
            grants=Grants(actor=self.grants.actor),
            own_work=None,
            accepts=None,
            consent_unfenced=lambda: None,
        )

    @property
    def effective(self) -> RunInput:
        """The run input with the policy, the agent and the place of this start."""
        frozen = self.run_input
        return replace(
            frozen,
            repo_path=str(self.repo or frozen.repo_path),
            policy=self.policy or frozen.policy,
            agent=self.agent or frozen.agent,
        )


class Asked(TypedDict, total=False):
    """What else a start is told. A plan that was `compiled` just now is in no file yet, and surely keeps all rules."""

    plan_file: Path | None
    compiled: bool
    grants: Grants | None
    agent: Agent | None
    skips: list[tuple[str, str]] | None
    own_work: tuple[str, str] | None
    why: str
    accepts: tuple[tuple[str, ...], str]


def prepare(
    out_dir: Path, run_input: RunInput, plan: Plan, options: StartOptions, *, base: Path, **asked: Unpack[Asked]
) -> Request:
    """Return the request for a start. The caller adds how to ask people, and the listeners.

    `base` is the folder that the paths of the run input start from.
    """
    refuse_linked(out_dir)
    compiled, plan_file, agent = asked.get("compiled", False), asked.get("plan_file"), asked.get("agent")
    own_work, accepts = asked.get("own_work"), asked.get("accepts")
    repo = Path(os.path.abspath(base / run_input.repo_path))  # noqa: PTH100  # links keep their names
    if has_begun(out_dir):  # the digest in the log already protects this plan
        if compiled or plan_file:
            begun, _ = begun_with(out_dir)
            plan = begun if is_same_plan(begun, plan) else plan  # ticks may differ
        refuse_other(frozen_input(out_dir).limits, options, out_dir)
    elif not compiled:
        _refuse_unapproved(plan_file or out_dir / PLAN)
        _refuse_unfit(plan, plan_file or out_dir / PLAN, repo / run_input.prd_path)
    settings, now = _settings(out_dir, run_input, repo, options)
    # A person who supplies or accepts work only wants it on the branch, so no agent is started for other stories.
    scope = Scope(stories=frozenset()) if own_work or accepts else scope_of(plan, options.chunks, options.only)
    refuse_own_word(settings.run_id or "")
    policy, who = replace(settings.policy, **_said_of_policy(options)), actor(options.actor)
    policy = replace(policy, gates=() if options.gate else policy.gates)
    of_settings = changed_agent(out_dir, settings, now) if agent is None and has_begun(out_dir) else None
    model = f", model {of_settings.model_hint}" if of_settings and of_settings.model_hint else ""
    request = Request(
        out_dir=out_dir,
        run_input=settings,
        repo=now,
        policy=policy,
        plan=plan,
        jobs=policy.jobs,
        scope=scope,
        skips=asked.get("skips") or [],
        own_work=own_work,
        why=asked.get("why", ""),
        accepts=accepts,
        agent=agent or of_settings,
        note=f"{_CHANGED}: {called(of_settings)}{model}" if of_settings else "",
        grants=replace(asked.get("grants") or Grants(), actor=who),
        actor=who,
    )
    if request.starts_agents:
        values = {name: one.value for name, one in settings_at(now).items()}
        request.terms = terms((options.engine, options.remote), values, insecure=options.insecure)
    return request


def _settings(out_dir: Path, run_input: RunInput, repo: Path, options: StartOptions) -> tuple[RunInput, Path]:
    """Return the run input as it is frozen, and where its repository is now.

    Who writes tests first, and whether ticks are written back, stays as the run began; a later start chooses for itself.
    """
    run_id = run_input.run_id or derived_id(out_dir, repo)
    now = repository_of(out_dir, run_id, repo)
    began, policy, checks = (
        frozen_input(out_dir) if has_begun(out_dir) else None,
        run_input.policy,
        run_input.verification,
    )
    said = _said_of_policy(options)
    settings = replace(
        run_input,
        repo_path=frozen_path(out_dir, run_id, repo, now),
        policy=replace(
            policy,
            # Whether stories without files may overlap decides which events are possible, so it is frozen with the run.
            optimistic=options.optimistic or policy.optimistic,
            tests_first=began.policy.tests_first if began else said.get("tests_first", policy.tests_first),
            write_back=began.policy.write_back if began else options.write_back or policy.write_back,
        ),
        limits=replace(run_input.limits, **wished(options)),  # type: ignore[arg-type]  # each has the type of its field
        verification=replace(checks, left_out=began.verification.left_out) if began else checks,
        run_id=run_id,
    )
    return settings, now


def _said_of_policy(options: StartOptions) -> dict[str, Any]:
    """Return the fields of a run's policy that a person replaces for this start."""
    said = {one.name: value for one in fields(Policy) if (value := getattr(options, one.name, None))}
    return {**said, "tests_first": lasting(said["tests_first"])} if "tests_first" in said else said


def scope_of(plan: Plan, chunks: str | None, only: tuple[str, ...]) -> Scope:
    """Return which chunks and stories a start may touch, as a person named them."""
    stories = frozenset(find_story(plan, name).id for name in only)
    named = frozenset(chunks_named(chunks, [chunk.label for chunk in plan.chunks])) if chunks is not None else None
    return Scope(chunks=named, stories=stories if only else None)


def said_in(options: StartOptions) -> frozenset[str]:
    """Return the settings that a person's options replace."""
    policy = (f"policy.{name}" for name in _said_of_policy(options))
    engine = (name for name, said in (("engine.url", options.engine), ("engine.remote", options.remote)) if said)
    return frozenset((*policy, *engine, *(f"limits.{name}" for name in wished(options))))


FLAGS = {
    "story_max_attempts": ("--max-attempts", "--add-attempts"),
    "run_max_cost_usd": ("--max-cost", "--add-cost"),
    "run_max_tokens": ("--max-tokens", "--add-tokens"),
    "run_timeout_minutes": ("--timeout", "--add-minutes"),
}
"""Limit → the flag that sets it, and the flag of `resume` that adds to it."""


def wished(options: StartOptions) -> dict[str, int]:
    """Return the limits that a person names, in the units of the run input."""
    found = {
        "story_max_attempts": options.max_attempts,
        "run_max_cost_usd": None if options.max_cost is None else _of(Usd, options.max_cost, "--max-cost"),
        "run_max_tokens": options.max_tokens,
        "run_timeout_minutes": None if options.timeout is None else _of(Minutes, options.timeout, "--timeout"),
    }
    return {name: value for name, value in found.items() if value is not None}


def _of(kind: type[Minutes | Usd], number: float, flag: str) -> int:
    if not kind.takes(number):
        raise SantiagoError(Kind.USAGE, f"{flag} {number} is not a valid limit", hint=f"Name a number: {flag} 5.")
    return kind.of(number)


def refuse_other(frozen: Limits, options: StartOptions, out_dir: Path) -> None:
    """Raise if a person names another limit than the run began with. The hint tells how to add to it."""
    for name, value in wished(options).items():
        began = getattr(frozen, name)
        if value == began:
            continue
        flag, more = FLAGS[name]
        message = f"{flag} {_shown(value)} differs from what the run began with, which is {_shown(began)}"
        hint = f"Leave {flag} out: a run keeps the limits that it began with."
        if began is not None and value > began:
            difference = _shown(type(began)(value - began))
            hint = f"Leave {flag} out; `santiago resume{target(out_dir)} {more} {difference}` grants the difference."
        raise SantiagoError(Kind.USAGE, message, hint=hint)


def _shown(value: int | None) -> str:
    if value is None:
        return "no limit"
    return f"{value.written:g}" if isinstance(value, Minutes | Usd) else str(value)


def _refuse_unapproved(path: Path) -> None:
    """Raise if a plan is a revision of a planning session, since only a finalized plan can run."""
    folder = path.absolute().parent.parent
    if folder.parent.name == "sessions" and folder.parent.parent.name == ".santiago":
        message = f"it belongs to the planning session {folder.name}, which is not final"
        hint = f"`santiago review {folder.name}` shows it; --finalize there makes a run of it."
        raise SantiagoError(Kind.BLOCKED, message, where=str(path), hint=hint, reason=Reason.NEEDS_USER_CONFIRMATION)


def _refuse_unfit(plan: Plan, path: Path, document: Path) -> None:
    """Raise with all findings if a plan breaks a rule, or if it does not match its digest.

    `path` is its file, and `document` the document that it was compiled from.
    """
    from santiago.planner.compile import faults_of_plan
    from santiago.planner.source import Source

    text = read_bytes(path, codec.MAX_BYTES).decode()  # it was decoded before
    found = (*_edited(plan, path, document), *faults_of_plan(Source(text, path=path.name)))
    if not found:
        return
    said = [f"line {finding.line}: {finding.message}" if finding.line else finding.message for finding in found]
    more = [f"and {len(said) - _MOST} more"] if len(said) > _MOST else []
    raise SantiagoError(
        Kind.INPUT,
        "; ".join(said[:_MOST] + more),
        where=str(path),
        hint=found[0].hint,
        reason=Reason.INVALID_INPUT,
        findings=found,
    )


def _edited(plan: Plan, path: Path, document: Path) -> list[Finding]:
    now = plan_digest(plan)
    if now == plan.digest:
        return []
    return [
        Finding(
            level="error",
            code="invalid_field",
            line=0,
            message=f"the plan was edited after it was written: its digest says {plan.digest[:16]}, and its text has {now[:16]}",
            hint=f"`santiago plan {typed(path)}` plans what it says now; `santiago plan {typed(document)}` plans the document again.",
        )
    ]
