"""Files that santiago itself copies into checkouts, such as `.env`: for agents and checks to read, and for nobody to keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.greeter import committed, git, out_dir, place
from tests.cli.santiago import santiago

PASSWORD = "hunter22-river"
PRD = """\
# PRD: Greeter

### R1: Say hello

**Files:** `hello.txt`

- [ ] hello.txt says hello

**Verification:** `sh check.sh`
"""
CHECK = """\
cat .env
grep hello hello.txt
"""
AGENT = "cat .env; echo $((SANTIAGO_ATTEMPT)) >>.env; [ $SANTIAGO_ATTEMPT -lt 2 ] && echo helo >hello.txt || echo hello >hello.txt\n"
SETTINGS = '[agent]\ncommand = ["sh", "agent.sh"]\n[policy]\nsandbox = "off"\n'


@pytest.mark.parametrize("ignored", [True, False], ids=["ignored", "merely untracked"])
def test_a_provided_file_is_there_to_read_and_neither_it_nor_its_secrets_are_kept(
    tmp_path: Path, *, ignored: bool
) -> None:
    """Safe: what git does not know stays unknown to git, and what is secret in it reaches no file of the run."""
    files = {"prd.md": PRD, "check.sh": CHECK, "agent.sh": AGENT, "santiago.toml": SETTINGS}
    repo = committed(tmp_path / "repo", files | {".gitignore": ".santiago\n" + ".env\n" * ignored})
    (repo / ".env").write_text(f'MODE=test\nexport DB_PASSWORD="{PASSWORD}"\n', encoding="utf-8")
    done = santiago("run", "prd.md", "--trust-commands", cwd=repo, env=place(repo))
    assert done.returncode == 0, done.stderr
    everything = b"".join(path.read_bytes() for path in out_dir(repo).rglob("*") if path.is_file())
    assert b"MODE=test" in everything  # agent and check did print it
    assert PASSWORD.encode() not in everything
    assert PASSWORD not in done.stdout + done.stderr
    branch = f"santiago/{out_dir(repo).name}"
    assert git(repo, "diff", "--name-only", "main", branch) == "hello.txt"
    kept = git(repo, "for-each-ref", "--format=%(refname)", "refs/santiago").splitlines()
    assert kept
    assert not any(git(repo, "ls-tree", "--name-only", ref, ".env") for ref in kept)


def test_what_set_up_makes_is_no_work_of_the_agents(tmp_path: Path) -> None:
    """Honest agents are not blamed for an environment that git does not ignore, and no branch carries it."""
    settings = SETTINGS + '[workspace]\nsetup = ["sh setup.sh"]\n'
    setup = (
        "mkdir -p .venv/lib 'odd [name]' && echo 'def test(): pass' >.venv/lib/test_x.py && echo x >'odd [name]/#y'\n"
    )
    files = {"prd.md": PRD, "check.sh": "grep hello hello.txt\n", "agent.sh": "echo hello >hello.txt; rm -r .venv\n"}
    repo = committed(
        tmp_path / "repo", files | {"setup.sh": setup, "santiago.toml": settings, ".gitignore": ".santiago\n"}
    )
    done = santiago("run", "prd.md", "--trust-commands", cwd=repo, env=place(repo))
    assert done.returncode == 0, done.stdout + done.stderr
    assert git(repo, "diff", "--name-only", "main", f"santiago/{out_dir(repo).name}") == "hello.txt"
