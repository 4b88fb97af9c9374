"""A start whose attempts go out to workers: its engine, and what workers are told. That names profiles and settings, never a program."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago import __version__
from santiago.app.config import is_named
from santiago.app.profiles import own_catalog
from santiago.app.shortage import MOST
from santiago.app.start.agents import NOBODY, called, for_tests, profile_of
from santiago.app.work.clones import root_of
from santiago.artifacts.attempts import FileAttempts
from santiago.artifacts.names import INPUT
from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.engine.connect import open_queue
from santiago.engine.judging import RemoteJudge, WrittenElsewhere
from santiago.engine.remote import Brought, RemoteEngine
from santiago.workspace.courier import GitCourier
from santiago.workspace.manifests import ENVIRONMENT, node_install, python_install
from santiago.workspace.remote import Remote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from santiago.app.start.engine_terms import Terms
    from santiago.app.start.judging import StartEnvironment
    from santiago.app.start.preflight import Checkout
    from santiago.artifacts.store import FileStore
    from santiago.contract.policy import Agent, RunInput
    from santiago.contract.ports.agent import AgentBackend
    from santiago.contract.ports.judge import Judge
    from santiago.contract.ports.queue import WorkerSeen
    from santiago.contract.state import RunState
    from santiago.engine.threads import ThreadsEngine
    from santiago.executor.perform import StepPerformer
    from santiago.process.place import Dependency
    from santiago.workspace.workspace import GitWorkspace


class Outside:
    """The engine of a start, the git remote, and what is sent there."""

    def __init__(self, terms: Terms, run_input: RunInput, store: FileStore, workspace: GitWorkspace) -> None:
        """Connect. `run_input` is what workers get."""
        self.terms, self.run_input, self.brought = terms, run_input, Brought()
        self.queue = open_queue(terms.url, root_of(workspace.repo), insecure=terms.insecure)
        _refuse_others(self.queue.workers())
        remote = Remote(terms.remote, insecure=terms.insecure)
        self.courier = GitCourier(
            workspace, run_input.run_id or "", remote, store, FileAttempts(store), lambda order: self.performer.message(order),
            {INPUT: codec.canonical(run_input)},
        )  # fmt: skip
        self.performer: StepPerformer
        """Made when judge and courier are there."""

    def agents(self) -> tuple[AgentBackend, AgentBackend, str]:
        """Return the agents of this process, which only take what workers brought, and the name of the one that works."""
        nobody = WrittenElsewhere(inner=NOBODY, brought=self.brought)
        return nobody, nobody, called(self.run_input.agent)

    def judge(self, local: Judge, state: Callable[[], RunState]) -> Judge:
        """Return a judge that asks workers which only judge, if one is connected."""
        return RemoteJudge(
            local=local, queue=self.queue, courier=self.courier,
            state=state, lease_ms=self.terms.lease_ms, brought=self.brought,
        )  # fmt: skip

    def engine(self, inner: ThreadsEngine, performer: StepPerformer) -> RemoteEngine:
        """Return the engine. What needs no agent is carried out here, by the performer."""
        self.performer, trusts = performer, self.terms.trust == "workers"
        return RemoteEngine(inner, self.queue, self.courier, self.terms.lease_ms, self.brought, trusts=trusts)


def sent(
    run_input: RunInput, around: StartEnvironment, checkout: Checkout, dependencies: tuple[Dependency, ...]
) -> RunInput:
    """Return the run input that workers get; raise if no worker could do what it says."""
    space, names = run_input.workspace, tuple(one.name for one in dependencies)
    if names and not space.setup and not is_named(around.repo, "workspace.provide"):
        raise _no_setup(names, checkout)
    if links := checkout.empty_submodules:
        hint = 'Write under [workspace] in santiago.toml: setup = ["git submodule update --init --recursive"].'
        raise _only_here(f"submodules do not travel to workers: {', '.join(links[:MOST])}", hint)
    copied = [name for name in around.provided if name not in checkout.files]
    if copied and not space.setup and not is_named(around.repo, "workspace.copy"):
        raise _no_files(copied)
    agent = _named(run_input.agent, around.source, checkout)
    other = for_tests(run_input)
    if other is not None:
        _named(other, around.source, checkout)
    space = replace(space, copy=around.provided, provide=names)
    return replace(run_input, repo_path=str(around.repo.resolve()), agent=agent, workspace=space)


def _named(agent: Agent, source: Mapping[str, str], checkout: Checkout) -> Agent:
    """Return an agent as an order may name it."""
    if agent.mode == "scripted":
        if not agent.playbook or agent.playbook.startswith("/") or checkout.lacks(agent.playbook):
            message = f"the playbook {agent.playbook or ''} is not in the commit that the run begins on"
            raise _only_here(message, "Commit it, and name it by its path in the repository.")
        return agent
    if agent.command:
        message = f"workers start no program that an order names, and the agent is one: {agent.command[0]}"
        raise _only_here(message, "Give each worker a profile of it, and name that: `santiago doctor` says where.")
    if agent.profile:
        own_catalog().get(agent.profile)  # raises if no agent has this name
        return agent
    return replace(agent, profile=profile_of(agent, source).name)


def _only_here(message: str, hint: str) -> SantiagoError:
    return SantiagoError(Kind.INPUT, message, hint=hint, reason=Reason.INVALID_INPUT)


def _refuse_others(seen: Sequence[WorkerSeen]) -> None:
    """Raise if all workers are of other versions of santiago, which get nothing from this one."""
    others = sorted({one.version for one in seen})
    if others and __version__ not in others:
        message = f"the workers are of santiago {', '.join(others)}, and this is {__version__}"
        hint = "Have one version on all machines, then start the workers again; `santiago workers` lists them."
        raise SantiagoError(Kind.BLOCKED, message, hint=hint, reason=Reason.BLOCKED_DEPENDENCY)


def _no_files(names: list[str]) -> SantiagoError:
    """Return the error for files of this machine that checkouts get, and that no worker has."""
    message = f"checkouts get {', '.join(names)}, which git ignores and workers do not have"
    hint = (
        "Write under [workspace] in santiago.toml: copy = [], where no check needs it. Or start workers with --repo, in "
        f"checkouts that have it, and write: copy = {json.dumps(names)}."
    )
    return SantiagoError(Kind.BLOCKED, message, hint=hint, reason=Reason.VERIFICATION_UNRUNNABLE)


def _no_setup(names: tuple[str, ...], checkout: Checkout) -> SantiagoError:
    """Return the error for checkouts that live on ignored folders of this machine, with the line that makes them elsewhere."""
    files = checkout.files
    text = (checkout.repo / "pyproject.toml").read_bytes() if "pyproject.toml" in files else None
    install = f"{ENVIRONMENT} {' '.join([*python_install(files, text), 'pytest'])}"
    made = node_install(files, "") if any(name.endswith("node_modules") for name in names) else install
    return SantiagoError(
        Kind.BLOCKED,
        f"checkouts need {', '.join(names)}, which git ignores and workers do not have",
        hint=f"Write under [workspace] in santiago.toml: setup = [{json.dumps(made)}]. Or start workers with --repo, in "
        f"checkouts that have it, and write: provide = {json.dumps(list(names))}.",
        reason=Reason.VERIFICATION_UNRUNNABLE,
    )
