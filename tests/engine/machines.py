"""A small world with many machines: a coordinator and workers as real processes, a git remote, and an engine's real server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.contract.ports.queue import POOL
from santiago.engine import connect
from tests.crash.world import BRANCH, RUN, Story, World, git, playbook
from tests.engine.servers import awaited
from tests.forked import Process

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LEASE_S, SHORT_S = 12, 4
"""Leases. The short one is for tests in which one passes: with it, a machine that is busy enough loses others as well."""
TWO = (Story("a"), Story("b"))
"""Two stories that can be worked on side by side."""
_NOT_OURS = ("SANTIAGO_", "XDG_", "CI", "ANTHROPIC_", "CLAUDE_", "OPENAI_", "CODEX_", "GEMINI_")
_MODULES = ("santiago.engine.postgres",)
"""What those of a fleet import beside what every command does."""
_AGENT = """#!{python}
import os, pathlib, re, sys, time
prompt = sys.stdin.read()
name = re.search(r"Thing (\\w+)", prompt)[1]
print("my secret is", os.environ.get("PLANTED_TOKEN"), dict(os.environ), flush=True)
if os.environ.get("PLANTED_TOKEN") == "limited":
    sys.exit("429 too many requests")
pathlib.Path("{begun}", "." + name).write_text(str(os.getpid()))
os.rename(os.path.join("{begun}", "." + name), os.path.join("{begun}", name))
while pathlib.Path("{begun}", "wait").exists():
    time.sleep(0.05)
pathlib.Path(name + ".txt").write_text("good\\n")
"""
"""Says a secret, notes that it has begun, and works as soon as nothing holds it up."""
_PROFILE = """
name = "helper"
start.argv = ["{program}"]
needs.env = ["PLANTED_TOKEN"]

[[fault]]
matches = "too many requests"
reason = "agent_rate_limited"
"""


class Program:
    """One santiago of an interpreter of its own, or of a copy of one, which can be killed. What it prints goes to a file."""

    def __init__(
        self, arguments: list[str], cwd: Path, env: Mapping[str, str], log: Path, inside: tuple[str, ...] = (),
        *, forked: bool = False,
    ) -> None:  # fmt: skip
        """`inside` are the words that start a program in another network."""
        self.log = log
        self.process: Process | subprocess.Popen[bytes]
        with log.open("ab") as out:
            self.began = out.tell()
            if forked:
                self.process = Process(arguments, cwd, env, out.fileno(), out.fileno(), _MODULES)
                return
            self.process = subprocess.Popen(
                [*inside, sys.executable, "-m", "santiago", *arguments], cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=out,
                stderr=out, start_new_session=True,
            )  # fmt: skip

    @property
    def said(self) -> str:
        """What it printed. A start before it may have had the same file."""
        return self.log.read_bytes()[self.began :].decode("utf-8", "replace")

    def says(self, words: str) -> None:
        """Return when it has printed this."""

        def has() -> bool:
            assert words in self.said or self.process.poll() is None, f"it ended without {words!r}:\n{self.said}"
            return words in self.said

        awaited(has, f"it does not say {words!r}: {self.log}")

    def ends(self, *codes: int) -> str:
        """Return what it printed, when it has ended with one of these codes."""
        awaited(lambda: self.process.poll() is not None, f"it does not end: {self.log}")
        assert self.process.returncode in codes, self.said
        return self.said

    def kill(self) -> None:
        """Kill it and all that it started, as a power cut would. Once it has ended, its number may be that of anybody."""
        if self.process.poll() is None:
            for process in _family(self.process.pid):
                _kill(process)
            self.process.wait()


def _family(process: int) -> list[int]:
    listed = (entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit())
    parents = {int(name): _parent(name) for name in listed}
    found = [process]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def _parent(process: str) -> int:
    try:
        return int(Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


class Fleet:
    """One run, and the machines that carry it out."""

    forks = True
    """Whether programs are forked, which saves their imports; their command lines are not their own then.

    Those in other networks never are, since another program begins them there.
    """

    def __init__(
        self, folder: Path, url: str, stories: tuple[Story, ...] = TWO, moves: Mapping[str, Any] | None = None,
        lease_s: int = LEASE_S,
    ) -> None:  # fmt: skip
        """`moves` are what agents do otherwise: what is asked for → each attempt's move."""
        self.world = World(top=folder / "world", stories=stories)
        self.url, self.folder, self.remote = url, folder, folder / "remote.git"
        self.programs: list[Program] = []
        self.begun = folder / "begun"
        self.begun.mkdir(parents=True)
        home = folder / "home"
        home.mkdir()
        ours = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_OURS)}
        self.env = {
            **ours, "HOME": str(home), "USER": "ann", "SANTIAGO_ENGINE_LEASE_SECONDS": str(lease_s), "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        self._make({**playbook(stories)["stories"], **(moves or {})})

    def _make(self, moves: Mapping[str, Any]) -> None:
        world = self.world
        world.make(self.folder / "spare")
        (world.repo / "playbook.yaml").write_text(json.dumps({"stories": moves}), "utf-8")
        git(world.repo, "commit", "-qam", "two")
        git(world.repo, "init", "-q", "--bare", str(self.remote))
        git(world.repo, "push", "-q", str(self.remote), "HEAD:main")

    def helper(self, *, waits: bool = False) -> None:
        """Have a program work instead of the playbook: an agent by the name of a profile, with a secret in its environment.

        One that `waits` goes on when the file of this name is gone.
        """
        if waits:
            (self.begun / "wait").touch()
        program, profiles = self.folder / "helper", self.folder / "home" / ".config" / "santiago" / "agents"
        program.write_text(_AGENT.format(python=sys.executable, begun=self.begun))
        program.chmod(0o755)
        profiles.mkdir(parents=True)
        (profiles / "helper.toml").write_text(_PROFILE.format(program=program))
        self.settle(agent={"mode": "ralph_fresh", "playbook": None, "profile": "helper"})

    def settle(self, **settings: dict[str, Any]) -> None:
        """Change the run's input before its first start: table → what is different in it."""
        place = self.world.top / "in.json"
        found = json.loads(place.read_text())
        place.write_text(json.dumps(found | {name: found.get(name, {}) | more for name, more in settings.items()}))

    def worker(self, *options: str, url: str = "") -> Program:
        """Start a worker, and return when it waits for orders."""
        given = ["work", "--engine", url or self.url, "--remote", str(self.remote), *options]
        made = self.program(given, self.folder, f"worker-{len(self.programs)}.log")
        made.says("waits for orders")
        return made

    def execute(self, *options: str, word: str = "execute") -> Program:
        """Begin the run, or go on with it."""
        engine = ["--engine", self.url, "--remote", str(self.remote), *options]
        given = self.world.arguments(2) if word == "execute" else ["resume", str(self.world.out), "--no-input"]
        return self.program([*given, *engine], self.world.top, f"coordinator-{len(self.programs)}.log")

    def types(self, *arguments: str) -> str:
        """Type another command, and return what it printed."""
        return self.program([*arguments], self.world.top, f"command-{len(self.programs)}.log").ends(0)

    def program(self, arguments: list[str], cwd: Path, log: str = "", inside: tuple[str, ...] = ()) -> Program:
        made = Program(
            arguments,
            cwd,
            self.env,
            self.folder / (log or f"program-{len(self.programs)}.log"),
            inside,
            forked=self.forks and not inside,
        )
        self.programs.append(made)
        return made

    def close(self) -> None:
        for program in self.programs:
            program.kill()
        if "queue" in vars(self):
            self.queue.close()

    # What can be read back

    def events(self, kind: str = "", story: str = "") -> list[dict[str, Any]]:
        lines = self.world.log.read_bytes().split(b"\n")[:-1] if self.world.log.exists() else []
        found = map(json.loads, lines)
        return [one for one in found if kind in ("", one["event"]) and story in ("", one["story_id"])]

    def logs(self, kind: str, story: str = "") -> dict[str, Any]:
        """Return the first event of a kind, when the log has it."""
        awaited(lambda: self.events(kind, story), f"the log gets no {kind} of {story}: {self.world.out}")
        return self.events(kind, story)[0]

    def endings(self, story: str) -> list[tuple[str, str]]:
        """Return how the attempts of a story ended: status and reason."""
        ends = [one for one in self.events(story=story) if one["event"] in {"attempt_ended", "attempt_voided"}]
        return [(one["status"], one["context"].get("reason", "")) for one in ends]

    @cached_property
    def queue(self) -> Any:
        return connect.open_queue(self.url, git(self.world.repo, "rev-list", "--max-parents=0", "main"))

    def rows(self, statement: str, **values: Any) -> list[dict[str, Any]]:
        """Ask PostgreSQL about the queue of orders, whose tables the statement names as {t} for tasks and {c} for checkpoints."""
        database, place = self.queue.database, self.queue.place
        found: list[dict[str, Any]] = database.once(database.ready(place.orders(POOL)), statement, **values)
        return found

    def has_heard(self, step: str) -> None:
        """Return when the worker of a step must know that it is to stop: it has begun to beat after that was written."""
        asked = "select checkpoint_name as name, updated_at as at from absurd.{c} join absurd.{t} using (task_id)"
        beats: set[Any] = set()

        def knows() -> bool:
            found = self.rows(f"{asked} where idempotency_key = %(id)s", id=f"{RUN}/{step}")
            told = {row["name"].split()[0]: row["at"] for row in found}
            beats.update(at for name, at in told.items() if name == "beat" and "stop" in told)
            return len(beats) > 2  # the first may have been before, and the second under way

        awaited(knows, f"the worker of {step} does not hear")

    @property
    def tree(self) -> str:
        return git(self.world.repo, "rev-parse", f"{BRANCH}^{{tree}}")

    def is_done(self) -> None:
        """Hold up that every story is done, and done once; that the audit finds nothing; and that the remote is as before."""
        done = Counter(one["story_id"] for one in self.events("story_done"))
        assert done == Counter(f"S{number}" for number in range(1, len(self.world.stories) + 1))
        assert self.events("run_ended")[-1]["phase"] == "success"
        assert "clean" in self.types("audit", str(self.world.out))
        assert git(self.remote, "for-each-ref", "--format=%(refname)") == "refs/heads/main"


def everything(place: Path) -> bytes:
    """Return the content of all files below a folder, in which somebody may be at work."""
    found = []
    for path in [place, *place.rglob("*")]:
        with suppress(OSError):
            found += [path.read_bytes()] if path.is_file() and not path.is_symlink() else []
    return b"".join(found)


def serial(folder: Path, stories: tuple[Story, ...]) -> tuple[str, Iterator[str]]:
    """Return the tree that one process alone makes of these stories, and its stories in the order of their completion."""
    fleet = Fleet(folder, "", stories)
    fleet.program(fleet.world.arguments(1), fleet.world.top, "serial.log").ends(0)
    return fleet.tree, iter(one["story_id"] for one in fleet.events("story_done"))
