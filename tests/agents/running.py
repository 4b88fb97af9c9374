"""Starting santiago with a real agent, a home folder of its own and the scripted model."""

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from santiago.process import sandbox
from tests.agents.conversation import Json
from tests.agents.homes import home
from tests.agents.install import PROGRAMS
from tests.agents.model import Model
from tests.cli.greeter import out_dir
from tests.cli.santiago import santiago

SECONDS = 400
"""For a whole run, on a busy machine."""
_OWN = ("ANTHROPIC_", "CLAUDE", "OPENAI_", "CODEX_", "OPENCODE_", "GEMINI_", "GOOGLE_", "AWS_", "AZURE_", "XDG_")


def surroundings(name: str, folders: dict[str, str], scratch: Path) -> dict[str, str]:
    """Return an environment in which nothing of the user's own agents is left."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_OWN)}
    path = f"{PROGRAMS[name].bin}:{os.environ['PATH']}"
    return {**kept, **folders, "PATH": path, "XDG_CACHE_HOME": str(scratch), "CI": "", "GITHUB_ACTIONS": ""}


@dataclass(frozen=True)
class Ran:
    """A run that has ended."""

    repo: Path
    code: int
    said: str
    left: list[str]
    """Command lines of what was still alive afterwards."""

    @property
    def out_dir(self) -> Path:
        return out_dir(self.repo)

    @property
    def result(self) -> Json:
        found: Json = json.loads((self.out_dir / "result.json").read_text())
        return found

    def outcome(self, attempt: int) -> Json:
        found: Json = json.loads((self.out_dir / "attempts" / "S1" / str(attempt) / "outcome.json").read_text())
        return found


def carry_out(name: str, repo: Path, model: Model, *, word: str = "", fence: str = "auto") -> Ran:
    """Run the story with an agent; `word` is what else its processes are known by."""
    model.counts_sides = PROGRAMS[name].counts_sides
    with home(name, model.url) as folders:
        env = surroundings(name, folders, repo.parent / "cache")
        fence = "off" if sandbox.detect("auto", env).kind == "none" else fence
        agent = PROGRAMS[name].words or name
        arguments = ("run", "prd.md", "--agent", agent, "--trust-commands", "--plain", "--sandbox", fence)
        ran = santiago(*arguments, cwd=repo, env=env, seconds=SECONDS)
        return Ran(repo, ran.returncode, ran.stdout + ran.stderr, alive(folders["HOME"], word))


def alive(home_folder: str, word: str) -> list[str]:
    """Return what runs with this home folder or with this word in its command line, in whatever session."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            line = Path("/proc", entry, "cmdline").read_bytes()
            inherited = f"HOME={home_folder}".encode() in Path("/proc", entry, "environ").read_bytes().split(b"\0")
            if line and (inherited or (word and word.encode() in line)):
                found.append(line.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found
