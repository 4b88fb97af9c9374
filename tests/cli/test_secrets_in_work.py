"""Secrets never reach the branch: work that adds one is refused with its place, whatever the form."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.greeter import git, out_dir
from tests.cli.santiago import santiago

SECRET = "tok-4f9a1c77e2b84d0e"
PLAY = """\
stories:
  R1: [{{write: {{hello.txt: "hello\\n", {name}: "{content}"}}}}, {{write: {{hello.txt: "hello\\n"}}}}]
  R2: [{{write: {{bye.txt: "goodbye\\n"}}}}]
  R3: [{{write: {{both.txt: "both\\n"}}}}]
"""


def make(tmp_path: Path, playbook: str, *, limits: str = "") -> Path:
    """Make a repository whose playbook, which holds the secret, is not committed."""
    repo = greeter.make(tmp_path / "repo", limits=limits)
    (repo / "playbook.yaml").write_text(playbook)
    return repo


def run(tmp_path: Path, content: str, env: dict[str, str]) -> tuple[Path, str]:
    repo = make(tmp_path, PLAY.format(content=content, name="settings.py"))
    done = santiago("run", "prd.md", "--only", "S1", "--trust-commands", cwd=repo, env=greeter.place(repo) | env)
    return repo, done.stderr


def files_on_branch(repo: Path) -> list[str]:
    return git(repo, "ls-tree", "-r", "--name-only", f"santiago/{out_dir(repo).name}").split()


@pytest.mark.parametrize(
    "content",
    [
        f"TOKEN = '{SECRET}'\\n",
        base64.b64encode(SECRET.encode()).decode(),
        SECRET.encode().hex(),
        "".join(f"%{byte:02x}" for byte in SECRET.encode()),
    ],
    ids=["plain", "base64", "hex", "quoted"],
)
def test_work_that_adds_a_secret_is_refused_with_its_place_and_never_reaches_the_branch(
    tmp_path: Path, content: str
) -> None:
    repo, shown = run(tmp_path, f"# settings\\n{content}", {"SERVICE_TOKEN": SECRET})
    assert "secret_in_work" in shown
    told = (out_dir(repo) / "attempts/S1/1/critique.md").read_text()
    assert "settings.py:2 holds a secret" in told
    assert "hello.txt" in files_on_branch(repo)
    assert "settings.py" not in files_on_branch(repo)
    log = git(repo, "log", "-p", "main", f"santiago/{out_dir(repo).name}")
    assert SECRET not in log


def test_a_secret_behind_a_pointer_of_lfs_is_found_too(tmp_path: Path) -> None:
    repo = make(tmp_path, PLAY.format(content=f"# settings\\n{SECRET}\\n", name="settings.py"))
    (repo / ".gitattributes").write_text("settings.py filter=lfs\n")
    git(repo, "add", ".gitattributes")
    git(repo, "commit", "-qm", "Rules")
    env = greeter.place(repo) | {"SERVICE_TOKEN": SECRET}
    done = santiago("run", "prd.md", "--only", "S1", "--trust-commands", cwd=repo, env=env)
    assert "secret_in_work" in done.stderr
    assert "settings.py:2 holds a secret" in (out_dir(repo) / "attempts/S1/1/critique.md").read_text()
    assert "settings.py" not in files_on_branch(repo)


def test_a_persons_word_does_not_bring_a_secret_onto_the_branch(tmp_path: Path) -> None:
    playbook = PLAY.format(content=SECRET, name="settings.py").replace(', {write: {hello.txt: "hello\\n"}}', "")
    repo = make(tmp_path, playbook, limits="[limits]\nstory_max_attempts = 1\n")
    env = greeter.place(repo) | {"SERVICE_TOKEN": SECRET}
    assert santiago("run", "prd.md", "--only", "S1", "--trust-commands", cwd=repo, env=env).returncode == 30
    accepted = santiago("accept", "S1", "--why", "fine", cwd=repo, env=env)
    assert accepted.returncode == 30
    assert "settings.py" not in files_on_branch(repo)


def test_a_short_value_is_a_word_and_blocks_nothing(tmp_path: Path) -> None:
    words = {"API_KEY": "test", "DB_PASSWORD": "postgres", "HOST_SECRET": "localhost"}
    repo, shown = run(tmp_path, f"password = '{' '.join(words.values())}'\\n", words)
    assert "settings.py" in files_on_branch(repo), shown


def test_a_value_that_the_repository_holds_already_is_no_secret_of_the_work(tmp_path: Path) -> None:
    repo = make(tmp_path, PLAY.format(content=SECRET, name="settings.py"))
    (repo / "example.env").write_text(f"TOKEN={SECRET}\n")
    git(repo, "add", "example.env")
    git(repo, "commit", "-qm", "An example")
    env = greeter.place(repo) | {"SERVICE_TOKEN": SECRET}
    done = santiago("run", "prd.md", "--only", "S1", "--trust-commands", cwd=repo, env=env)
    assert "settings.py" in files_on_branch(repo), done.stderr
