"""A machine of its own for a page: the home folder of Ann, her repository, and the programs that she has installed."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from santiago.agent.catalog import Catalog
from tests import forked
from tests.docs.terminal import Typist
from tests.util.terminal import SECONDS

AGENT = Path(__file__).with_name("agent.py")
KEY = "sk-not-a-real-key-0123456789"
COLUMNS, WIDE = 100, 300
"""How wide the terminal is; one that is typed on is wider, so that its lines are whole also where folders have long names."""
NEWEST = [(re.compile(r"\br_\d{8}_\d{6}\b|\bRUN\b"), "runs"), (re.compile(r"\bp_\d{8}_\d{6}\b"), "sessions")]

Play = tuple[str, list[dict[str, Any]]]
"""Words, and what an agent does, turn by turn, where they fit; see agent.py."""


class World:
    """Where the commands of a page run."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.home = self.root / "home" / "ann"
        self.repo = self.home / "ledger"
        self.bin = self.home / ".local" / "bin"
        self.repo.mkdir(parents=True)
        self.bin.mkdir(parents=True)
        self.cwd = self.repo
        self.variables: dict[str, str] = {}
        self.runs: dict[str, str] = {}
        """Each run of the page, and the run here that it stands for."""
        self.program("santiago", forked.program())
        git = {
            "user.name": "Ann",
            "user.email": "ann@example.org",
            "init.defaultBranch": "main",
            "advice.detachedHead": "false",
        }
        for name, value in git.items():
            self.unseen(f"git config --file {self.home / '.gitconfig'} {name} '{value}'")
        self.unseen("git init -q .")

    def env(self) -> dict[str, str]:
        """Return the environment: nothing of whoever runs the tests but where programs are."""
        path = [self.bin, Path(sys.executable).parent, *_path()]
        return {
            "HOME": str(self.home), "USER": "ann", "PATH": ":".join(map(str, path)), "LANG": "C.UTF-8", "TZ": "UTC",
            "COLUMNS": str(COLUMNS), "LINES": "40", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", "TERM": "dumb",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **self.variables,
        }  # fmt: skip

    def write(self, name: str, text: str) -> None:
        path = self.home / name[2:] if name.startswith("~/") else self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self, files: dict[str, str] | None = None) -> None:
        """Commit files."""
        for name, text in (files or {}).items():
            self.write(name, text)
        self.unseen("git add -A && git commit -q -m 'Go on'")

    def program(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def agent(self, name: str, *plays: Play) -> None:
        """Install a program under the name of an agent, and sign in to it; see agent.py for what it plays."""
        text = AGENT.read_text(encoding="utf-8").replace("]]]] = []", f"]]]] = {list(plays)!r}", 1)
        self.program(name, f"#!{sys.executable}\n{text}")
        self.variables |= {"claude": {"ANTHROPIC_API_KEY": KEY}, "codex": {"OPENAI_API_KEY": KEY}}.get(name, {})

    def unseen(self, command: str) -> None:
        """Run what the reader does not type; it must succeed."""
        code, lines = self.run(command)
        assert code == 0, "\n".join([f"{command}: exit {code}", *lines])

    def run(self, command: str) -> tuple[int, list[str]]:
        """Run a command line as it is typed into a shell, and return its exit code and what it prints."""
        where = self.root / "cwd"
        done = subprocess.run(
            ["sh", "-c", f'{self._named(command)}\ncode=$?\npwd >"{where}"\nexit $code'], cwd=self.cwd, env=self.env(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False,
        )  # fmt: skip
        self.cwd = Path(where.read_text().strip())
        return done.returncode, self._lines(done.stdout)

    def type(self, command: str, answers: list[tuple[str, str]]) -> list[str]:
        """Run a command on a terminal and type each answer when what stands before it on its line is there."""
        return self._lines(Typist(self._named(command), self.cwd, self.env(), WIDE).type(answers))

    def watch(self, command: str, is_there: Callable[[list[str]], bool]) -> list[str]:
        """Run a command on a terminal until a picture is there, and return it; the command is stopped then."""
        typist = Typist(self._named(command), self.cwd, {**self.env(), "TERM": "xterm"}, 120)
        return self._lines(typist.watch(lambda picture: is_there(self._lines(picture))))

    def _named(self, command: str) -> str:
        """Put the newest run, or session, in the place of the one that the page names."""
        for pattern, folder in NEWEST:
            made = sorted((self.repo / ".santiago" / folder).glob("*_*"), key=lambda one: one.stat().st_ctime_ns)
            command = pattern.sub(made[-1].name, command) if made else command
        return command

    def _lines(self, printed: bytes) -> list[str]:
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", printed.decode("utf-8", "replace"))
        return text.replace(str(self.root), "").splitlines()


@cache
def _path() -> list[Path]:
    """Return where programs are, without folders in which whoever runs the tests keeps agents of their own."""
    agents = [profile.start.argv[0] for profile in map(Catalog().get, Catalog().names()) if profile.start.argv]
    folders = [Path(folder) for folder in os.environ["PATH"].split(":")]
    return [one for one in folders if (one / "git").exists() or not any((one / agent).exists() for agent in agents)]
