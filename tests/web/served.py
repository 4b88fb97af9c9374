"""The real server in a repository with runs, asked as a browser asks, and as others do."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch
from urllib.parse import urlencode

from santiago.artifacts import registry
from tests.cli import greeter
from tests.tui import made

NAVIGATION = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
SERVED = """
from santiago.web import serving
serving.SILENT_S = {silent}
serving.serve("shop", "ann", host_name="", read_only=False, show=lambda one: print(one, flush=True), tell=print, port={port})
"""
FORM = "application/x-www-form-urlencoded"


def repository(folder: Path, **runs: Callable[[Path], made.Made]) -> Path:
    """Make a repository with runs of these names; the newest is the last."""
    repo = greeter.committed(folder / "shop", {"prd.md": "# PRD\n\n- [ ] it works\n", ".gitignore": ".santiago/\n"})
    return with_runs(repo, **runs)


def with_runs(repo: Path, **runs: Callable[[Path], made.Made]) -> Path:
    common = registry.common_git_dir(repo)
    assert common is not None
    for at, (name, make) in enumerate(runs.items()):
        out_dir = repo / ".santiago" / "runs" / name
        with patch.object(made, "RUN", name):
            make(out_dir)
        registry.register(common, name, out_dir, f"2026-11-15T0{at}:00:00.000Z")
    return repo


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str

    def hidden(self, name: str) -> str:
        """Return what a form of this page brings along by itself."""
        found = re.search(f'name="{name}" value="([^"]*)"', self.text)
        assert found, (name, self.text)
        return found[1]


class Served:
    """One start of the server, and what it has printed."""

    def __init__(self, process: "subprocess.Popen[str]", told: Path) -> None:
        self.process, self._told = process, told
        self.link = self._next()
        found = re.fullmatch(r"https?://[^/]+(/[^/]+)/enter/(.+)", self.link)
        assert found, self.link
        self.base, self.cookie = found[1], ""
        self.port = int(re.findall(r":(\d+)/", self.link)[0]) if "127.0.0.1" in self.link else 0

    def _next(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def another_link(self) -> str:
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self._next()

    def told(self) -> str:
        return self._told.read_text()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, body: str | None = None, headers: dict[str, str | None] | None = None
    ) -> Answer:
        """Ask as this browser would, except for these headers; None leaves one out. A path that begins with a slash is whole."""
        usual: dict[str, str | None] = {"Host": f"127.0.0.1:{self.port}", **NAVIGATION, "Cookie": self.cookie or None}
        if method == "POST":
            usual |= {"Origin": self.origin, "Content-Type": FORM}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path if path.startswith("/") else f"{self.base}/{path}", skip_host=True)
        for name, value in {**usual, **(headers or {})}.items():
            if value is not None:
                connection.putheader(name, value)
        data = (body or "").encode()
        if body is not None:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        found = Answer(
            answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
        )
        connection.close()
        return found

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.ask("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, path: str, form: dict[str, str], **headers: str | None) -> Answer:
        return self.ask(
            "POST", path, urlencode(form), {name.replace("_", "-"): value for name, value in headers.items()}
        )

    def enter(self, link: str = "") -> Answer:
        """Come by a link, as a new browser."""
        path = (link or self.link).partition(f":{self.port}")[2]
        self.cookie = ""
        assert self.ask("GET", path).status == 200
        answer = self.ask("POST", path, "")
        self.cookie = answer.headers.get("set-cookie", "").partition(";")[0]
        return answer

    def token(self, run: str = "failed") -> str:
        """Return what every form of this browser brings along, as a page of a run has it."""
        return self.get(f"runs/{run}").hidden("token")

    def page_of(self, form: dict[str, str]) -> str:
        """Return the address of the page that a form is on."""
        return f"plans/{form['session']}" if "session" in form else f"runs/{form['run']}"

    def act(self, form: dict[str, str], typed: str = "") -> Answer:
        """Press a button, and then the one that sends what was understood; return the page that this leads to, or that says why not."""
        token = self.get(self.page_of(form)).hidden("token")
        step = self.post("ask", {"token": token, **form})
        if step.status != 200:
            return step
        sent = self.post("send", {"token": token, "step": step.hidden("step"), "typed": typed})
        return self.get(sent.headers["location"]) if sent.status == 303 else sent


@contextmanager
def served(
    repo: Path, *options: str, port: int = 0, silent: float = 0, env: dict[str, str] | None = None
) -> Iterator[Served]:
    """Start the server; at a `port`, as somebody would who was unlucky, or with less patience, since no options are for that."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SANTIAGO_")}
    script = SERVED.format(port=port, silent=silent or 10)
    told = repo.parent / "told"
    with told.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, *(["-c", script] if port or silent else ["-m", "santiago", "serve", *options])],
            cwd=repo, env={**clean, **greeter.place(repo), "USER": "ann", **(env or {})},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, text=True,
        )  # fmt: skip
        try:
            yield Served(process, told)
        finally:
            process.terminate()
            process.wait(30)
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    pipe.close()
