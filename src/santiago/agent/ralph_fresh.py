"""The default backend: a new process with a new context for every attempt, driven by a profile."""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from santiago.agent.activity import Activity
from santiago.agent.normalize import ending_of
from santiago.agent.packet import render
from santiago.contract.lazy_regex import pattern
from santiago.contract.outcomes import AgentEnding, Usage
from santiago.contract.plan import LONGEST_DETAIL
from santiago.contract.quantities import Usd
from santiago.contract.reasons import Reason
from santiago.contract.session import LONGEST_DRAFT
from santiago.process.command import Command
from santiago.process.environment import own
from santiago.process.place import Ground
from santiago.process.redact import Redactor
from santiago.process.temporary import Temporary
from santiago.util import regular
from santiago.util.disk import failed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from santiago.agent.profile import Profile
    from santiago.agent.stream import Reading
    from santiago.contract.errors import SantiagoError
    from santiago.contract.ports.agent import Packet
    from santiago.contract.ports.run import Stop
    from santiago.process.homes import Home
    from santiago.process.place import Place
    from santiago.process.server import ProcessServer


@contextmanager
def cleared(folder: str, patterns: tuple[str, ...]) -> Iterator[None]:
    """Remove what appears under these names within this context. What was there before stays."""
    before = _named(folder, patterns)
    try:
        yield
    finally:
        for path in _named(folder, patterns) - before:
            _remove(path)


def _named(folder: str, patterns: tuple[str, ...]) -> set[Path]:
    if not patterns:
        return set()
    try:
        return {path for path in Path(folder).iterdir() if any(fnmatchcase(path.name, one) for one in patterns)}
    except OSError:
        return set()


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


KEEP = 1024 * 1024
"""Bytes of an agent's output that are kept in memory, from the beginning and again from the end."""
LOG_KEEP = 64 * 1024 * 1024
"""Bytes of its output that the log holds, besides the end."""
MOST_REPORT = 16 * 1024 * 1024
MOST_ARGUMENT = 100_000
"""Longest single argument, in bytes. The system's limit is about 128 KiB."""

EVIDENCE = "evidence.json"
"""File, beside the agent's folder, in which it names the test of each criterion."""
MOST_EVIDENCE, MOST_NAME = 200, 500
DETAIL = "detail.json"
"""File, beside the agent's folder, into which it writes a detailed plan, or a draft of a whole plan."""

_PLACE = pattern(r"\{([a-z_]+)\}")


class Fenced(NamedTuple):
    """An agent's command inside its sandbox, and its part of the user's home folder."""

    command: Command
    home: Home | None = None


class RalphFresh:
    """Runs a program in the attempt's worktree, as its profile says."""

    def __init__(
        self,
        server: ProcessServer,
        profile: Profile,
        environment: dict[str, str],
        fence: Callable[[Command, Place, str], Fenced],
        secrets: tuple[str, ...],
        scratch: Path,
        model: str | None = None,
        ground: Ground | None = None,
    ) -> None:
        self.server = server
        self.profile = profile
        self.environment = environment
        self.fence = fence
        """Puts a command into the sandbox of an attempt. The last argument is a folder that it may write."""
        self.secrets = secrets
        self.scratch = scratch
        self.model = model
        self.ground = ground or Ground()

    def render(self, packet: Packet) -> str:
        return render(_seen(packet, self._place(packet)))

    def _place(self, packet: Packet) -> Place:
        place = self.ground.place(packet.folder, packet.plan_folder, packet.prompt_file)
        return replace(place, readonly=packet.readonly)

    def attempt(self, packet: Packet, stop: Stop) -> AgentEnding:
        with ExitStack() as stack:
            try:
                side = stack.enter_context(Temporary(self.scratch))
                Path(side, "tmp").mkdir()
                place = self._place(packet)
                command, home = self.fence(self._command(packet, place, side), place, side)
            except OSError as error:  # the agent was not started, so no attempt is spent
                return _unready(failed(self.scratch, error))
            with cleared(packet.folder, self.profile.start.litter):
                report = self.server.run(command, lambda: "now" if stop.now() else None)
            reading = self._read(packet, Path(side, self.profile.start.report_name))
            evidence = _evidence(_document(Path(side, EVIDENCE)) or {})
            most = LONGEST_DRAFT if packet.drafting else LONGEST_DETAIL
            detail = self._written(Path(side, DETAIL), most) if packet.readonly else None
            left = home.left() if home else ()
        ending = ending_of(report, reading, self.profile)
        return replace(ending, evidence=evidence, detail=detail, left=left, ms=report.ms)

    def _command(self, packet: Packet, place: Place, side: str) -> Command:
        start, seen = self.profile.start, _seen(packet, place)
        writes = {"SANTIAGO_EVIDENCE": f"{side}/{EVIDENCE}"}
        if packet.readonly:
            seen = replace(seen, detail_file=f"{side}/{DETAIL}")
            writes = {"SANTIAGO_DRAFT" if packet.drafting else "SANTIAGO_DETAIL": seen.detail_file}
        return Command(
            argv=self.argv(seen, side, Path(packet.prompt_file)),
            cwd=packet.folder,
            env={**self.environment, **start.env, **variables(seen), **writes},
            timeout_ms=packet.timeout_ms,
            stdin=packet.prompt_file if start.prompt == "stdin" else None,
            log=packet.log,
            grace_ms=self.profile.stop.grace_seconds * 1000,
            keep=KEEP,
            log_keep=LOG_KEEP,
            secrets=self.secrets,
        )

    def argv(self, packet: Packet, side: str, prompt: Path) -> tuple[str, ...]:
        """Return the command line that starts the agent. The packet has paths as the agent sees them."""
        start = self.profile.start
        values = {"prompt_file": packet.prompt_file, "folder": packet.folder, "side": side}
        values["report"] = f"{side}/{start.report_name}"
        if start.prompt == "argument":
            values["prompt"] = _argument(packet, prompt)
        options: list[str] = []
        if self.model:
            values["model"] = self.model
            options += start.model
        if packet.budget_micro_usd is not None:
            values["usd"] = f"{packet.budget_micro_usd / 1e6:.6f}"
            options += start.budget
        place = start.argv.index("{options}") if "{options}" in start.argv else len(start.argv)
        words = (*start.argv[:place], *options, *start.argv[place + 1 :])
        # All values at once, so that braces inside a prompt or a name are not filled in again.
        return tuple(_PLACE.sub(lambda found: values.get(found[1], found[0]), word) for word in words)

    def _read(self, packet: Packet, left: Path) -> Reading:
        """Read the log of the agent's output, and the report file that it may have left."""
        reader = Activity(Path(packet.log), self.profile).whole()
        document = _document(left) if self.profile.report else None
        if document is not None:
            reader.take(document, self.profile.report)
        return reader.reading

    def _written(self, file: Path, most: int) -> str | None:
        """Return the plan that the agent left, without secrets; if it is too long, only as much as shows that."""
        # More is read than is kept, since a secret that is cut in two would not be recognised.
        content = regular.content(file, 2 * most, follow=False)
        if content is None:
            return None
        return Redactor(self.secrets).whole(content).decode("utf-8", "replace")[: most + 1]


def variables(packet: Packet) -> dict[str, str]:
    """Return the variables that every agent and every check gets."""
    return own(packet.run_id, packet.story.id, packet.attempt, packet.plan_folder, packet.prompt_file)


def _seen(packet: Packet, place: Place) -> Packet:
    """Return the packet with its paths as the agent sees them."""
    plan, prompt = place.called(packet.plan_folder), place.called(packet.prompt_file)
    return replace(packet, folder=place.seen, plan_folder=plan, prompt_file=prompt)


def _argument(packet: Packet, file: Path) -> str:
    """Return the prompt as one argument; if it is too long, a sentence that names its file."""
    prompt = file.read_text("utf-8", "replace").replace("\0", "")
    if len(prompt.encode()) <= MOST_ARGUMENT:
        return prompt
    return f"Your task is in the file {packet.prompt_file}. Read all of it first, then carry it out."


def _unready(trouble: SantiagoError) -> AgentEnding:
    words, nothing = f"{trouble.where}: {trouble.message}", Usage(tokens=0, cost_usd=Usd(0))
    return AgentEnding(reason=Reason.IO_ERROR, exit_code=None, message=words, usage=nothing, remedy=trouble.hint)


def _evidence(document: dict[str, object]) -> tuple[tuple[str, str], ...]:
    """Return the test that an agent named for each criterion. Anything else in the document is ignored."""
    pairs = [(name, test) for name, test in document.items() if isinstance(test, str) and test.strip()]
    return tuple((name[:MOST_NAME], test.strip()[:MOST_NAME]) for name, test in pairs[:MOST_EVIDENCE])


def _document(path: Path) -> dict[str, object] | None:
    """Return the JSON document that the agent left; None if it is missing, invalid, or not a regular file."""
    content = regular.content(path, MOST_REPORT, follow=False)
    try:
        found = json.loads(content or b"")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
