"""A repository with a board, worked on with plain commands by a person and by the loop."""

import json
import subprocess
from pathlib import Path
from typing import Any, Self

from santiago.app.board.routing import route
from santiago.app.board.ticket_context import Consents
from santiago.app.loading import Run, load
from santiago.board.board_handle import BoardHandle, open_board
from santiago.contract.board import Card, TicketEvent
from tests.cli import greeter
from tests.cli.inside import Told, inside
from tests.cli.santiago import santiago

SETTINGS = '[agent]\nmode = "scripted"\nplaybook = "playbook.yaml"\n[policy]\nsandbox = "off"\n'
ONE = """\
# One
### R1: Say hello
**Files:** `hello.txt`

- [ ] hello.txt says hello

**Verification:** `grep hello hello.txt`
"""
"""A document of one story, for those who look at the board and not at the run."""
HELLO = 'stories:\n  R1:\n    - write: {hello.txt: "hello\\n"}\n'
RESEARCH = """\
# Research first
### R1: Which way of rounding is right
Role: scientist

- [ ] study.md names one and says why
### R2: Say hello
Depends on: R1

**Files:** `hello.txt`

- [ ] hello.txt says hello

**Verification:** `grep hello hello.txt`
"""
SCIENCE = 'stories:\n  R1:\n    - write: {study.md: "Half to even.\\n"}\n  R2:\n    - write: {hello.txt: "hello\\n"}\n'
PROTOCOL = {"SIGEE_ALLOW_DIRECT_ENTRY": "0"}
"""Whoever sets a variable of the protocol reads its codes; what people read is looked at in test_people.py."""
CONSENTS = Consents(commands=lambda _: None, units=lambda _: None, unfenced=lambda: None, tell=lambda _: None)
REQUEST = ("queue", "add", "--queue", "planner-inbox", "--id", "REQ", "--title", "Greetings", "--source", "doc:prd.md")


class Desk:
    def __init__(self, folder: Path, playbook: str = HELLO, settings: str = "", *, prd: str = ONE) -> None:
        files = {"prd.md": prd, "playbook.yaml": playbook, "santiago.toml": SETTINGS + settings}
        self.repo = greeter.committed(folder / "repo", files)
        self.env = {**greeter.place(self.repo), **PROTOCOL}

    def type(self, *words: str, **env: str) -> Told | subprocess.CompletedProcess[str]:
        """Type something; what starts a run is a process of its own."""
        whole = {**self.env, "USER": "user", **env}
        if words[0] in ("loop", "run", "resume") or words[:2] == ("queue", "verify"):
            return santiago(*words, cwd=self.repo, env=whole, trusting=False)
        return inside(*words, cwd=self.repo, env=whole)

    def requested(self, *words: str) -> Self:
        self.ok(*REQUEST, *words)
        return self

    def routed(self) -> Self:
        """Put the document into the inbox, and its stories onto the board."""
        self.requested()
        with self.opened() as opened:
            route(opened, self.card("REQ"), CONSENTS)
        return self

    def ok(self, *words: str, **env: str) -> str:
        found = self.type(*words, **env)
        assert found.returncode == 0, found.stdout + found.stderr
        return found.stdout

    def refused(self, code: int, *words: str, **env: str) -> str:
        found = self.type(*words, **env)
        assert found.returncode == code, found.stdout + found.stderr
        return found.stderr + found.stdout

    def json(self, *words: str) -> Any:
        return json.loads(self.ok(*words, "--json"))

    def loop(self, *words: str, **env: str) -> Told | subprocess.CompletedProcess[str]:
        return self.type("loop", "--trust-commands", "--trust-project", *words, **env)

    def looped(self, *words: str) -> str:
        return self.ok("loop", "--trust-commands", "--trust-project", *words)

    def add(self, name: str, queue: str = "developer-todo", *words: str) -> None:
        self.ok("queue", "add", "--queue", queue, "--id", name, "--title", f"Do {name}", *words)

    def claim(self, worker: str = "ada", queue: str = "developer-todo", *words: str) -> Any:
        return self.json("queue", "claim", "--queue", queue, "--worker", worker, *words)

    def commit(self, **files: str) -> None:
        """Commit files whose names have `_` in place of a dot."""
        for name, text in files.items():
            (self.repo / name.replace("_", ".")).write_text(text)
        greeter.git(self.repo, "add", "-A")
        greeter.git(self.repo, "commit", "-q", "-m", "By hand")

    def opened(self) -> BoardHandle:
        return open_board(self.repo, {})

    def card(self, name: str) -> Card:
        with self.opened() as opened, opened.store.reading() as at:
            found = at.card(name)
        assert found is not None
        return found

    def events(self, name: str) -> list[TicketEvent]:
        with self.opened() as opened, opened.store.reading() as at:
            return list(at.events(ticket=name))

    def run(self, name: str) -> Run:
        return load(self.repo / ".santiago" / "runs" / name)

    @property
    def root(self) -> Path:
        return self.repo / ".santiago" / ".runtime"
