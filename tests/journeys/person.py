"""A person at a terminal: a home of her own, clones of what others share, and agents that are small programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests import forked

_GIT = "[user]\n\tname = {0}\n\temail = {0}@example.org\n[init]\n\tdefaultBranch = main\n[pull]\n\trebase = false\n"
_NOT_HERS = ("SANTIAGO_", "XDG_", "GIT_", "PIP_", "npm_config_", "CI", "GITHUB_", "BUILDKITE", "FORCE_COLOR", "CLICOLOR",
             "ANTHROPIC_", "CLAUDE_", "OPENAI_", "CODEX_", "GEMINI_", "GOOGLE_", "OPENCODE_")  # fmt: skip
"""Variables of whoever runs the tests: settings, sign-ins, a CI."""
_AGENT = f"""#!{sys.executable}
import json, os, pathlib, sys
prompt = sys.stdin.read().splitlines()
for title, files in json.loads({{work!r}}).items():
    if title in prompt:
        for path, text in files.items():
            place = pathlib.Path(os.path.expandvars(path))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        sys.exit()
sys.exit("nobody told me of this story")
"""

EVIDENCE = "$SANTIAGO_EVIDENCE"
"""Where an agent names the test of each criterion."""
MERGED = "its work is merged"
"""What `santiago status` says once the commit that is checked out has it all."""
Files = dict[str, str]


class Person:
    """Types command lines in one folder; what she sees is what a terminal shows."""

    def __init__(self, folder: Path, name: str = "ann") -> None:
        self.home = folder / name
        self.bin = self.home / "bin"
        self.bin.mkdir(parents=True)
        self.here = self.home
        (self.home / ".gitconfig").write_text(_GIT.format(name))
        (program := self.bin / "santiago").write_text(forked.program())
        program.chmod(0o755)
        hers = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_HERS)}
        self.env = {
            **hers, "HOME": str(self.home), "USER": name, "PATH": f"{self.bin}:{os.environ['PATH']}",
            # No registry is asked for anything.
            "PIP_NO_INDEX": "1", "npm_config_offline": "true", "npm_config_update_notifier": "false", "CARGO_NET_OFFLINE": "true",
        }  # fmt: skip

    def types(self, line: str, *, code: int = 0) -> str:
        """Type a command line, and return what the terminal shows."""
        done = subprocess.run(
            ["sh", "-c", line], cwd=self.here, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == code, f"$ {line}\n{done.stdout}"
        return done.stdout

    def clones(self, origin: Path, name: str = "") -> None:
        """Clone what others share, and go there."""
        self.types(f"git clone -q {origin} {name or origin.stem}")
        self.here = self.here / (name or origin.stem)

    def writes(self, files: Files) -> None:
        write(self.here, files)

    def installs(self, name: str, work: dict[str, Files], program: str = "") -> None:
        """Install an agent that writes the files of the story whose title it is given, and knows of no other story."""
        place = self.bin / name
        place.write_text(program or _AGENT.format(work=json.dumps(work)))
        place.chmod(0o755)


def write(folder: Path, files: Files) -> None:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def shared(folder: Path, name: str, files: Files) -> Path:
    """Make a repository that people clone, with one commit of these files; without files it has no commit at all."""
    origin = folder / f"{name}.git"
    maker = Person(folder, "maker")
    maker.types(f"git init -q --bare {origin}")
    if files:
        maker.clones(origin)
        maker.writes(files)
        maker.types("git add -A && git commit -q -m Begin && git push -q origin HEAD")
    return origin


def branch_of(said: str) -> str:
    """Return the branch that the end of a run offers to merge."""
    (line,) = [line for line in said.splitlines() if "git merge santiago/" in line]
    return line.partition("git merge ")[2].split()[0]
