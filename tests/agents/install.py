"""The real programs, pinned, from the package registry into a cache outside the repository: once per machine."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

NODE = "node@22.23.3"
"""The registry has Node itself, for what needs a newer one than the machine has."""
NO_NPM = "npm is not on PATH, and the agent programs come from there"
_UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "ENOTCACHED")
MINUTES = 10
"""For one installation, on a slow line."""


@dataclass(frozen=True)
class Program:
    """One program of the registry. An agent's name is also that of its profile and of its executable, if nothing else is said."""

    name: str
    package: str
    version: str
    scripts: bool = False
    """Whether its own set-up script must put a binary in place."""
    seconds: int = 15
    """Until it surely works on its task; an attempt that is to be ended by force lasts this long."""
    more: tuple[str, ...] = ()
    """Packages that it needs besides."""
    executable: str = ""
    home: str = ""
    """Whose settings it has."""
    words: str = ""
    """What `--agent` is given for it."""
    counts_sides: bool = False
    """Whether its usage holds side questions too, such as one for a title."""

    @property
    def folder(self) -> Path:
        return cache() / f"{self.executable or self.name}-{self.version}"

    @property
    def bin(self) -> Path:
        return self.folder / "node_modules" / ".bin"


PROGRAMS = {
    program.name: program
    for program in (
        Program("claude", "@anthropic-ai/claude-code", "2.1.325", scripts=True),
        Program("codex", "@openai/codex", "0.166.0"),
        Program("opencode", "opencode-ai", "1.18.18", scripts=True, seconds=60),
        Program("gemini", "@google/gemini-cli", "0.61.0", seconds=40),
        Program(
            "claude-acp", "@agentclientprotocol/claude-agent-acp", "0.99.0", scripts=True, seconds=30, more=(NODE,),
            executable="claude-agent-acp", home="claude", words="acp:claude-agent-acp", counts_sides=True,
        ),
        Program(
            "gemini-acp", "@google/gemini-cli", "0.61.0", seconds=40, executable="gemini", home="gemini",
            words="acp:gemini --acp --skip-trust --approval-mode yolo",
        ),
    )
}  # fmt: skip
INSPECTOR = Program(
    "inspector", "@modelcontextprotocol/inspector", "2.12.0", scripts=True, more=(NODE,), executable="mcp-inspector"
)
OVER_ACP = tuple(name for name, program in PROGRAMS.items() if program.words)


class InstallError(Exception):
    """The registry did not give the program; what npm says is in the message."""


def cache() -> Path:
    """Return the folder for what the tests fetch; not a temporary one, where some agents refuse to work."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "santiago-tests" / "agents"


def have_npm() -> bool:
    return shutil.which("npm") is not None


def install(program: Program) -> Path:
    """Return the folder with a program's executable; fetch it where it is not there yet."""
    if program.bin.exists():
        return program.bin
    with _alone(program):
        if not program.bin.exists():
            for left in program.folder.parent.glob(f".{program.folder.name}.*"):
                shutil.rmtree(left, ignore_errors=True)  # by one that was killed
            place = Path(mkdtemp(prefix=f".{program.folder.name}.", dir=program.folder.parent))
            _fetch(program, place)
            place.rename(program.folder)
    return program.bin


@contextmanager
def _alone(program: Program) -> Iterator[None]:
    """Keep other processes from fetching the same thing at the same time."""
    program.folder.parent.mkdir(parents=True, exist_ok=True)
    with program.folder.with_name(f"{program.folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(program: Program, place: Path) -> None:
    wanted = f"{program.package}@{program.version}"
    quiet = [
        "--no-audit",
        "--no-fund",
        "--no-progress",
        "--no-update-notifier",
        "--loglevel=error",
        "--fetch-retry-maxtimeout=10000",
    ]
    scripts = [] if program.scripts else ["--ignore-scripts"]
    ran = subprocess.run(
        ["npm", "install", "--prefix", str(place), *quiet, *scripts, *program.more, wanted],
        capture_output=True, text=True, timeout=MINUTES * 60, check=False, stdin=subprocess.DEVNULL, cwd=place,
    )  # fmt: skip
    if ran.returncode == 0 and (place / "node_modules" / ".bin" / (program.executable or program.name)).exists():
        return
    shutil.rmtree(place, ignore_errors=True)
    said = (ran.stderr or ran.stdout).strip()[-2000:]
    why = "the package registry cannot be reached" if any(word in said for word in _UNREACHABLE) else "npm failed"
    raise InstallError(f"cannot install {wanted}: {why}\n{said}")


def is_whole() -> bool:
    """Whether every cell of every table is wanted: somebody named programs, as `python -m proofs agents` does."""
    return "SANTIAGO_TEST_AGENTS" in os.environ


def chosen() -> list[str]:
    """Return the agents to test with: the two that start fastest, or those that somebody named."""
    return os.environ.get("SANTIAGO_TEST_AGENTS", "claude codex").split()
