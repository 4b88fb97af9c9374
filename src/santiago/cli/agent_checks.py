"""What `santiago doctor` finds out about agents: which are installed, their versions, whether they are signed in and answer."""

from __future__ import annotations

import os
import tempfile
import threading
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.agent import catalog
from santiago.app.profiles import own_catalog
from santiago.app.start import agents, backends
from santiago.contract.errors import SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.ports.agent import Packet, whole
from santiago.contract.ports.run import Never
from santiago.contract.reasons import Reason
from santiago.contract.record import lean, record
from santiago.process import environment
from santiago.process.command import Command
from santiago.process.redact import secrets_in
from santiago.report.endings import words_of
from santiago.report.measures import span
from santiago.util.clock import SystemClock
from santiago.util.text import first, flat
from santiago.workspace import git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from santiago.agent.catalog import Availability
    from santiago.agent.profile import Profile
    from santiago.contract.outcomes import AgentEnding
    from santiago.contract.policy import RunInput
    from santiago.process.sandbox import Sandbox
    from santiago.process.server import ProcessServer

VERSION_SECONDS = 15
ANSWER_SECONDS = 60
MOST_WORDS = 160
QUESTION = "Answer with the single word ready.\n"
_NUMBER = pattern(r"(?<!\d)\d+(?:\.\d+)+[\w.+-]*")


@lean(kw_only=True)
class AgentTold:
    """What is known of one agent that is installed."""

    name: str
    title: str
    program: str
    signed_in: bool | None
    taken: bool
    """Whether `santiago run` would take it."""
    seen: str
    """Version that its profile was tested with."""
    fix: str = ""
    version: str = ""
    trouble: str = ""
    """Why it does not start, if it was tried."""
    answers: bool | None = None
    """Whether it answered; None if it was not asked."""
    words: str = ""
    ms: int = 0

    @property
    def level(self) -> str:
        """`fail` if the agent that a run would use has a problem; for other agents a problem is only a warning."""
        if self.answers is False or self.trouble:
            return "fail" if self.taken else "warn"
        return "warn" if self.signed_in is False and not self.answers else "ok"

    def text(self) -> str:
        parts = [self.version or "version unknown", _SIGNED[self.signed_in]]
        if self.trouble:
            parts = [f"does not start: {self.trouble}"]
        taken = "   `santiago run` takes it" if self.taken else ""
        return f"{', '.join(parts)}   {self.program}{taken}"

    def answer(self) -> str:
        """Return the outcome of asking it; empty if it was not asked."""
        if self.answers is None:
            return ""
        return f"answers, in {span(self.ms)}" if self.answers else f"does not answer: {self.words}"

    def to_data(self) -> dict[str, Any]:
        names = ("name", "title", "program", "version", "seen", "signed_in", "taken", "answers", "words", "trouble")
        return {**{name: getattr(self, name) for name in names}, "level": self.level, "fix": self.fix}


_SIGNED_OUT = Reason.AGENT_NOT_SIGNED_IN
_HELP = {
    Reason.AGENT_UNAVAILABLE: "Its service cannot be reached; try again later.",
    Reason.AGENT_RATE_LIMITED: "Wait until the limit is over; a run does so by itself.",
    Reason.AGENT_MODEL_NOT_FOUND: "Correct model_hint under [agent], or leave it out.",
}
_BY_HAND = "Start it by hand, and read what it prints."
_SIGNED = {True: "signed in", False: "not signed in", None: "sign-in unknown"}


@lean(kw_only=True)
class AgentsTold:
    installed: list[AgentTold] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """The user's own profiles that cannot be read, with the reason."""
    not_asked: str = ""
    """Why no agent was asked, although that was wanted."""


@record
class Checkup:
    """Checks all agents in parallel."""

    server: ProcessServer
    settings: RunInput
    source: Mapping[str, str]

    def look(self, box: Sandbox | None) -> AgentsTold:
        """Return what was found. If a sandbox is given, the agents must answer in it."""
        own, taken = own_catalog(), self._taken()
        known = [self._as_settings_have_it(one, taken) for one in own.availabilities(self.source)]
        available = [one for one in known if one.program is not None]
        missing = [one.profile.name for one in known if one.program is None]
        found = AgentsTold(missing=missing, broken=[str(one) for one in own.broken()])
        found.installed = [_told(one, taken) for one in available]
        pairs = list(zip(available, found.installed, strict=True))
        _side_by_side(partial(self._version, one.profile, told) for one, told in pairs)
        if box is not None:
            _side_by_side(partial(self._answer, one.profile, told, box) for one, told in pairs if not told.trouble)
        return found

    def _as_settings_have_it(self, one: Availability, taken: Profile | None) -> Availability:
        """Return the agent with the command of the settings, if they name another one for it."""
        if taken is None or taken.name != one.profile.name:
            return one
        return catalog.availability(taken, self.source)

    def _taken(self) -> Profile | None:
        if self.settings.agent.mode == "scripted":
            return None
        try:
            return agents.profile_of(self.settings.agent, self.source)
        except SantiagoError:
            return None

    def _environment(self, profile: Profile) -> dict[str, str]:
        env = environment.for_agent(self.source, (), catalog.variables(profile, self.source))
        return {**env, **profile.start.env}

    def _version(self, profile: Profile, told: AgentTold) -> None:
        if not profile.start.version:
            return
        command = Command(
            argv=profile.start.version,
            cwd=tempfile.gettempdir(),
            env=self._environment(profile),
            timeout_ms=VERSION_SECONDS * 1000,
        )
        report = self.server.run(command)
        words = first(flat(report.head), MOST_WORDS)
        if report.timed_out:
            told.trouble = f"no version within {VERSION_SECONDS} s"
        elif report.exit_code != 0:
            told.trouble = report.error or words or f"exit code {report.exit_code}"
        else:
            # Warnings may come first.
            numbers = [found[0] for line in reversed(report.head.splitlines()) if (found := _NUMBER.search(line))]
            told.version = first(flat(numbers[0]), 40) if numbers else words
        if told.trouble and not told.fix:
            told.fix = f"Install it anew: {profile.install}" if profile.install else ""

    def _answer(self, profile: Profile, told: AgentTold, box: Sandbox) -> None:
        model = self.settings.agent.model_hint if told.taken else None
        settings = replace(self.settings, agent=replace(self.settings.agent, model_hint=model))
        with tempfile.TemporaryDirectory(prefix="santiago-doctor-", ignore_cleanup_errors=True) as top:
            ending, told.ms = _ask(Path(top), profile, settings, self.server, self.source, box)
        reason = ending.reason if ending.reason is not Reason.AGENT_ASKED else None
        said = first(" ".join(words_of(ending.message)[-1:]), MOST_WORDS)
        told.answers = reason is None and bool(said)
        told.words = said if reason is None else f"{reason}{': ' if said else ''}{said}"
        if reason is not None:
            told.fix = _HELP.get(reason, "") or (profile.sign_in.command if reason is _SIGNED_OUT else _BY_HAND)
        elif not told.answers:
            told.words = "it ended without any output"


def _told(one: Availability, taken: Profile | None) -> AgentTold:
    profile = one.profile
    sign_in = profile.sign_in.command
    return AgentTold(
        name=profile.name,
        title=profile.title,
        program=one.program or "",
        signed_in=one.signed_in,
        taken=taken is not None and taken.name == profile.name,
        seen=profile.seen,
        fix=sign_in if one.signed_in is False else "",
    )


def _side_by_side(calls: Iterable[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=call, daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _ask(
    top: Path, profile: Profile, settings: RunInput, server: ProcessServer, source: Mapping[str, str], box: Sandbox
) -> tuple[AgentEnding, int]:
    """Have an agent answer in an empty repository, as an attempt would have it work; return its ending and the time."""
    folder, plans, prompt = top / "work", top / "plan", top / "prompt.md"
    folder.mkdir()
    plans.mkdir()
    prompt.write_text(QUESTION, encoding="utf-8")
    git.call(("init", "-q", "."), git.environment(), folder)
    fence = partial(backends.fenced, profile=profile, sandbox=box, source=source, hidden=())
    backend = backends.backend(
        profile, settings, server, source, fence, secrets_in(dict(source)), Path(os.path.realpath(top), "tmp")
    )
    packet = _packet(folder, plans, prompt, top / "agent.log")
    clock = SystemClock()
    began = clock.monotonic_ms()
    return backend.attempt(packet, Never()), clock.monotonic_ms() - began


def _packet(folder: Path, plans: Path, prompt: Path, log: Path) -> Packet:
    return Packet(
        run_id="doctor", story=replace(whole("Ready?"), id="S1"), attempt=1, criteria=(), commands=(), chunk_titles=(), critiques=(), notes=(),
        folder=str(folder), plan_folder=str(plans), log=str(log), prompt_file=str(prompt), timeout_ms=ANSWER_SECONDS * 1000,
    )  # fmt: skip
