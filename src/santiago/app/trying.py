"""Trying checks on the last commit as a run would: in a clean checkout, inside the sandbox, and by the judge itself."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from santiago.app.paths import scratch_of
from santiago.app.start import preflight
from santiago.app.start.judging import JudgeParts, dependency_folders, ground_of, look_around
from santiago.artifacts.files import write_whole
from santiago.contract.errors import SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import CONTRACT_VERSION, Plan, Source
from santiago.contract.ports.agent import whole
from santiago.contract.ports.run import Never
from santiago.contract.reasons import ExitCode, Reason
from santiago.contract.record import record
from santiago.judge.verdict_messages import empty_note
from santiago.process import sandbox
from santiago.process.place import Place, link_into
from santiago.util.clock import SystemClock
from santiago.util.text import count, few, first, flat
from santiago.workspace.editable_installs import leads
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from santiago.contract.outcomes import CheckResult
    from santiago.contract.policy import RunInput
    from santiago.contract.ports.judge import Examination, Proposal
    from santiago.judge.check_runner import CommandRunner
    from santiago.process.place import Dependency
    from santiago.process.server import ProcessServer

State = Literal["runs", "red", "cannot_run", "blind"]
_MOST_NAMED = 3
_LONGEST = 300
_FEW_WORDS = 3
_BLIND = "shows nothing: it passes even when every file except the tests is replaced with garbage"
_NO_TEST = "shows nothing: it runs no test"
NO_TEST_YET = "runs, and finds no test yet"


@record
class Tried:
    """The result of a check on the last commit."""

    command: str
    setup: tuple[str, ...]
    state: State
    text: str
    """Text for people, to be put after the command."""
    fix: str = ""
    red: tuple[str, ...] = ()
    """Tests that fail before any work."""
    tests: int | None = None
    """How many tests ran, where the runner is known."""
    ms: int = 0
    """How long trying it took, with its set-up."""
    once_ms: int = 0
    """How long the check itself took, once."""
    proposal: Proposal | None = None

    @property
    def is_usable(self) -> bool:
        """Whether it can judge work: it ran, and fails on broken code."""
        return self.state in ("runs", "red")

    @property
    def is_hopeful(self) -> bool:
        """Whether some of its tests pass. If none does, another command may be better."""
        runs = self.state == "runs" and self.text != NO_TEST_YET
        return runs or (self.state == "red" and len(self.red) < (self.tests or 0))

    def to_data(self) -> dict[str, Any]:
        return {
            "command": self.command, "setup": list(self.setup), "state": self.state, "text": self.text,
            "fix": self.fix, "red": list(self.red), "tests": self.tests, "seconds": self.ms / 1000,
        }  # fmt: skip


@record
class Checkout:
    """A clean checkout."""

    folder: str
    runner: CommandRunner
    """What runs commands in it."""
    touched: Callable[[], tuple[str, ...]]
    """Returns, once, which of its files have changed since."""


@record
class ByHand:
    """A checkout for a person."""

    folder: str
    environment: Mapping[str, str]
    touched: Callable[[], tuple[str, ...]]

    def kept(self, name: Path) -> str:
        """Write what the person changed to a new file, and return its path; empty if they changed nothing."""
        if not (names := self.touched()):
            return ""
        git = ("git", "-C", self.folder)
        subprocess.run((*git, "add", "-N", "--", *names), check=False, capture_output=True)  # noqa: S603  # names of files
        shown = (*git, "diff", "--binary", "HEAD", "--", *names)
        patch = subprocess.run(shown, check=False, capture_output=True).stdout  # noqa: S603  # as above
        paths = (name.with_name(f"{name.name}-{number}.patch") for number in range(1, 10_000))
        path = next(path for path in paths if not path.exists())
        if patch:
            write_whole(path, patch)
        return str(path) if patch else ""


@record
class Bench:
    """Where checks are tried."""

    means: JudgeParts
    run_input: RunInput
    provided: tuple[Dependency, ...]
    commit: str
    unseen: str
    """A path that is not committed, so that no checkout has it; empty where there is none."""
    gaps: tuple[str, ...]
    """Messages on what no checkout has: submodules, objects of Git LFS."""

    @property
    def place(self) -> str:
        """Where and how the checks are tried, in words for people."""
        fence = self.means.fence
        return (
            f"in a clean checkout of {self.commit[:8]}, {'without a sandbox' if fence.kind == 'none' else fence.name}"
        )

    def tried(self, command: str, setup: Sequence[str], lent: Mapping[str, tuple[str, ...]] | None = None) -> Tried:
        """Run one check after its set-up, and find out whether it notices broken code.

        `lent` are names to add to settings of [workspace].
        """
        space = self.run_input.workspace
        more = {key: (*getattr(space, key), *names) for key, names in (lent or {}).items()}
        run_input = replace(
            self.run_input,
            verification=replace(self.run_input.verification, story_commands=(), run_commands=()),
            workspace=replace(space, setup=tuple(setup), **more),
        )
        clock = SystemClock()
        since = clock.monotonic_ms()
        told = self._examined(command, run_input)
        return replace(told, setup=tuple(setup), ms=clock.monotonic_ms() - since)

    @contextmanager
    def checkout(self, commit: str, commands: Sequence[str]) -> Iterator[Checkout]:
        """Lend a checkout of a commit that is ready for these commands."""
        means, setup = self.means, self.run_input.workspace.setup
        ground = ground_of(means.fence, means.workspace, self.provided, means.around, setup, commands)
        trials = means.judge(_plan(""), self.run_input, ground).trials
        folder = means.workspace.checkout(commit, "trying")
        try:
            trials.prepare(folder, Never())
            yield Checkout(folder=folder, runner=trials.checks.runner, touched=means.workspace.watched(folder))
        finally:
            means.workspace.discard(folder)

    @contextmanager
    def by_hand(self, commit: str) -> Iterator[ByHand]:
        """Lend a person a checkout with its dependencies. Their shell has no sandbox, so these are linked into it."""
        with self.checkout(commit, ()) as lent:
            folder, ground, source = lent.folder, lent.runner.ground, os.environ
            linked = ground.given.get(folder, ground.dependencies)
            if ground.seen_there:
                link_into(folder, linked)
                _have_git(Path(folder, ".git"), ground.stores, [one.name for one in linked])
            found = leads(self.means.workspace.inspect().root, [one.source for one in linked], source)
            first = dict.fromkeys(one.first for one in found if one.first is not None)
            place = Place(host=folder, seen=folder, first=tuple(first))
            yield ByHand(folder=folder, environment=place.told(source), touched=self.means.workspace.watched(folder))

    def _examined(self, command: str, run_input: RunInput) -> Tried:
        plan, setup = _plan(command), run_input.workspace.setup
        try:
            judge = self.means.judge_with(plan, run_input, (command,))
        except SantiagoError as error:
            text = f"cannot run: {error.where}: {error.message}"
            return Tried(command=command, setup=setup, state="cannot_run", text=text, fix=error.hint)
        found = judge.examine(self.commit, plan.stories, Never())
        assert found is not None  # only a stop leaves nothing
        return _told(command, found, run_input.verification.timeout_minutes / 60_000)


def _have_git(place: Path, stores: Sequence[str], links: Sequence[str]) -> None:
    """Let git work in a checkout outside the sandbox too: it finds its objects, and lists no link to dependencies."""
    for file, lines in (("objects/info/alternates", stores), ("info/exclude", [f"/{name}" for name in links])):
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@contextmanager
def bench(run_input: RunInput, server: ProcessServer) -> Iterator[Bench]:
    """Lend a bench, and remove its checkouts afterwards; raise if no run could work here."""
    around = look_around(run_input)
    fence = sandbox.detect(run_input.policy.sandbox, around.source)
    scratch = scratch_of(around.repo)
    workspace = GitWorkspace(
        around.repo, f"trying-{os.getpid()}", scratch, provided=around.provided, stores_at=fence.stores
    )
    found = workspace.inspect()
    provided = dependency_folders(workspace, run_input, around.source)
    hidden = (str(workspace.folders.top.parent),)
    means = JudgeParts(server=server, fence=fence, around=around, workspace=workspace, hidden=hidden)
    try:
        with _ending_in_order(), workspace.working():
            yield Bench(
                means=means,
                run_input=run_input,
                provided=provided,
                commit=found.head,
                unseen=workspace.uncommitted([one.name for one in provided]),
                gaps=tuple(preflight.Checkout(run_input, workspace, provided).gaps()),
            )
    finally:
        workspace.tidy()
        with suppress(OSError):
            scratch.rmdir()  # it stays if runs of this repository left something there


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Turn signals that end santiago into an exception, so that everything is tidied up."""

    def leave(*_: object) -> None:
        raise SystemExit(ExitCode.TERMINATED)

    old = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _told(command: str, found: Examination, minutes: float) -> Tried:
    """Return what the examination found about its one check."""

    result = found.results[0] if found.results else None

    def tried(state: State, text: str, fix: str = "") -> Tried:
        return Tried(
            command=command, setup=(), state=state, text=text, fix=fix,
            red=found.red if state == "red" else (), tests=result.checks if result else None,
            proposal=found.proposal, once_ms=int(result.seconds) if result else 0,
        )  # fmt: skip

    if result is None:
        return tried("cannot_run", f"cannot run: {first(flat(found.message), _LONGEST)}", found.hint)
    if found.reason is Reason.NOTHING_VERIFIED:
        return tried("blind", _NO_TEST if result.checks == 0 else _BLIND, found.hint)
    if found.reason is not None:
        return tried("cannot_run", found.message.removeprefix(f"the check `{command}` "), found.hint)
    if empty_note(command) in found.notes:
        return tried("runs", NO_TEST_YET)
    if result.timed_out:
        fix = (
            "If it waits for files to change, name a command that ends by itself, such as `vitest run`. Otherwise name a "
            "quicker check, or raise timeout_minutes under [verification]."
        )
        return tried("cannot_run", f"did not end within {minutes:g} minutes", fix)
    if result.exit_code in (126, 127):
        return tried("cannot_run", f"cannot be started in a checkout: {_last_words(result)}", _NOT_THERE)
    if found.red:
        return tried("red", _red(found.red, result))
    passes = f"runs: {count(result.checks or 0, 'test passes', 'tests pass')}"
    return tried("runs", passes if result.checks else "runs, and passes")


_NOT_THERE = "A checkout has only committed files and git-ignored folders of dependencies; use `setup` under [workspace] to make more."


def _red(red: Sequence[str], result: CheckResult) -> str:
    if red[0] == f"`{result.command}`":
        return f"runs, but fails before any work: {_last_words(result)}"
    of = f" of {count(result.checks, 'test')}" if result.checks else ""
    error = _ERROR.search(result.output.head + result.output.tail) if len(red) >= (result.checks or 0) else None
    why = f" ({first(flat(error[0]), _LONGEST)})" if error else ""  # of a few red tests each has its own
    return f"runs, but {len(red)}{of} {'fails' if len(red) == 1 else 'fail'} before any work: {few([*map(flat, red)], _MOST_NAMED)}{why}"


def _last_words(result: CheckResult) -> str:
    lines = [line for line in (result.output.tail or result.output.head).splitlines() if _TELLS.search(line)]
    telling = [line for line in lines if len(line.split()) > _FEW_WORDS] or lines
    return first(flat(telling[-1]), _LONGEST) if telling else f"exit {result.exit_code}"


_ERROR = pattern(r"\b[A-Z]\w{0,80}(?:Error|Exception): [^\n]{1,300}")
_TELLS = pattern(r"^(?!npm (?:error|ERR!) A complete log|make(?:\[\d+\])?: \*\*\* \[).*\w")
"""Lines of output that say more than that something failed, or where a log is."""


def _plan(command: str) -> Plan:
    """Return a plan of one story with one check, since the judge needs a story and there is no real plan yet."""
    story = replace(whole(""), id="S1", verify=(command,))
    return Plan(
        contract_version=CONTRACT_VERSION, title="", source=Source(path="", sha256="", format="", evidence=()), digest="",
        requirements=(), stories=(story,), chunks=(), run_verify=(), findings=(),
    )  # fmt: skip
