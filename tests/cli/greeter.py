"""A small document in a real repository, three stories in two chunks, and a run of it whose first story is repaired."""

import atexit
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from tests.cli.inside import Told, inside
from tests.cli.santiago import santiago

PRD = """\
# PRD: Greeter

## Phase 1: Words

### R1: Say hello

**Files:** `hello.txt`

- [ ] hello.txt says hello

**Verification:** `grep hello hello.txt`

### R2: Say goodbye

**Files:** `bye.txt`

- [ ] bye.txt says goodbye

**Verification:** `grep goodbye bye.txt`

## Phase 2: Together

### R3: Both

Depends on: R1, R2

**Files:** `both.txt`

- [ ] both.txt says both

**Verification:** `grep both both.txt`
"""

GOOD = """\
stories:
  R1:
    - write: {hello.txt: "helo\\n"}
      say: Done, all tests pass.
    - write: {hello.txt: "hello\\n"}
      say: Repaired.
  R2:
    - write: {bye.txt: "goodbye\\n"}
  R3:
    - write: {both.txt: "both\\n"}
"""

BAD = """\
stories:
  R1:
    - write: {hello.txt: "::error::helo ##[add-path]x\\n"}
  R2:
    - write: {bye.txt: "goodbye\\n"}
"""

SLOW = GOOD.replace("    - write", "    - seconds: 0.3\n      write")


def make(folder: Path, playbook: str = GOOD, *, limits: str = "") -> Path:
    settings = f'[agent]\nmode = "scripted"\nplaybook = "playbook.yaml"\n[policy]\nsandbox = "off"\n{limits}'
    return committed(folder, {"prd.md": PRD, "playbook.yaml": playbook, "santiago.toml": settings})


def committed(folder: Path, files: dict[str, str]) -> Path:
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(_template(tuple(files.items())), folder, symlinks=True)
    git(folder, "update-index", "-q", "--refresh")  # a copy is another file, which git would take for changed
    return folder


@cache
def _template(files: tuple[tuple[str, str], ...]) -> Path:
    """Make a repository that others are copied from: most tests want one that another test had, too."""
    folder = Path(tempfile.mkdtemp(prefix="greeter-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, text in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "-q", "-b", "main", ".")
    for sample in (folder / ".git" / "hooks").glob("*.sample"):
        sample.unlink()
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.org")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Start")
    folder.chmod(0o755)  # a folder for temporary files is closed to others
    return folder


def copied(repo: Path, folder: Path) -> Path:
    """Return a copy of a repository with all that its runs have left beside it, to go on with."""
    shutil.copytree(repo.parent, folder, symlinks=True, dirs_exist_ok=True)
    return folder / repo.name


def git(folder: Path, *arguments: str) -> str:
    found = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return found.stdout.strip()


def carry_out(
    repo: Path, env: dict[str, str] | None = None, *, code: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the document; checkouts go below the repository's parent, so that nothing is left behind elsewhere."""
    words = ("run", "prd.md", "--jobs", "2", "--trust-commands")
    return santiago(*words, cwd=repo, env={**place(repo), **(env or {})}, code=code)


def place(repo: Path) -> dict[str, str]:
    return {
        "XDG_CACHE_HOME": str(repo.parent / "cache"),
        "XDG_STATE_HOME": str(repo.parent / "state"),
        "CI": "",
        "GITHUB_ACTIONS": "",
        "BUILDKITE": "",
        "PATH": os.environ["PATH"],
    }


def says(repo: Path, *arguments: str | Path, code: int | None = None) -> subprocess.CompletedProcess[str]:
    """Have a command line carried out in the repository."""
    return santiago(*arguments, cwd=repo, env=place(repo), code=code)


def looks(repo: Path, *arguments: str | Path, code: int | None = None) -> Told:
    """Have a command line carried out in this process, which may start no run."""
    return inside(*arguments, cwd=repo, env=place(repo), code=code)


def out_dir(repo: Path) -> Path:
    (only,) = (repo / ".santiago" / "runs").iterdir()
    return only


def lose(repo: Path, name: str) -> None:
    """Take an object out of a repository, as a clean-up does that knows of nobody who needs it."""
    packs = sorted((repo / ".git" / "objects" / "pack").glob("*.pack"))
    for pack in packs:
        outside = pack.rename(repo / ".git" / pack.name)
        for other in pack.parent.glob(f"{pack.stem}.*"):
            other.unlink()
        with outside.open("rb") as content:
            subprocess.run(["git", "unpack-objects", "-q"], cwd=repo, stdin=content, check=True)
        outside.unlink()
    (repo / ".git" / "objects" / name[:2] / name[2:]).unlink()
