"""What agents are given to read is there, is not changed for the next one, and no secret reaches the branch."""

import base64
import json
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.fakes import PRD
from tests.cli.greeter import committed, git, out_dir, place
from tests.cli.santiago import santiago

SECRET = "tok-4f9a1c77e2b84d0e"
PLAY = """\
stories:
  R1: [{{write: {{hello.txt: "hello\\n", {name}: "{content}"}}}}, {{write: {{hello.txt: "hello\\n"}}}}]
  R2: [{{write: {{bye.txt: "goodbye\\n"}}}}]
  R3: [{{write: {{both.txt: "both\\n"}}}}]
"""
PASSWORD = "hunter22-river"
CHECKED = PRD.replace("grep hello hello.txt", "sh check.sh")
CHECK = """\
cat .env
grep hello hello.txt
"""
AGENT = "cat .env; echo $((SANTIAGO_ATTEMPT)) >>.env; [ $SANTIAGO_ATTEMPT -lt 2 ] && echo helo >hello.txt || echo hello >hello.txt\n"
SETTINGS = '[agent]\ncommand = ["sh", "agent.sh"]\n[policy]\nsandbox = "off"\n'
FORGER = """\
if [ "$SANTIAGO_ATTEMPT" = 1 ]; then
    echo forged > "$SANTIAGO_PLAN_DIR/plan.json"
    rm "$SANTIAGO_PLAN_DIR/planning_docs/full_plan.json"
    echo helo > hello.txt
elif grep -q execution_scope "$SANTIAGO_PLAN_DIR/plan.json" && [ -e "$SANTIAGO_PLAN_DIR/planning_docs/full_plan.json" ]; then
    echo hello > hello.txt
fi
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
def test_work_that_adds_a_secret_is_refused_and_never_reaches_the_branch(tmp_path: Path, content: str) -> None:
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
    santiago("accept", "S1", "--why", "fine", cwd=repo, env=env, code=30)
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


@pytest.mark.parametrize("ignored", [True, False], ids=["ignored", "merely untracked"])
def test_a_provided_file_can_be_read_and_neither_it_nor_its_secrets_are_kept(tmp_path: Path, *, ignored: bool) -> None:
    """Safe: what git does not know stays unknown to git, and what is secret in it reaches no file of the run."""
    files = {"prd.md": CHECKED, "check.sh": CHECK, "agent.sh": AGENT, "santiago.toml": SETTINGS}
    repo = committed(tmp_path / "repo", files | {".gitignore": ".santiago\n" + ".env\n" * ignored})
    (repo / ".env").write_text(f'MODE=test\nexport DB_PASSWORD="{PASSWORD}"\n', encoding="utf-8")
    done = santiago("run", "prd.md", "--trust-commands", cwd=repo, env=place(repo), code=0)
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
    files = {
        "prd.md": CHECKED,
        "check.sh": "grep hello hello.txt\n",
        "agent.sh": "echo hello >hello.txt; rm -r .venv\n",
    }
    repo = committed(
        tmp_path / "repo", files | {"setup.sh": setup, "santiago.toml": settings, ".gitignore": ".santiago\n"}
    )
    santiago("run", "prd.md", "--trust-commands", cwd=repo, env=place(repo), code=0)
    assert git(repo, "diff", "--name-only", "main", f"santiago/{out_dir(repo).name}") == "hello.txt"


def test_the_prompt_names_chunk_and_plan_and_what_an_agent_changed_there_is_written_anew(tmp_path: Path) -> None:
    (tmp_path / "agent.sh").write_text(FORGER)
    repo = committed(tmp_path / "repo", {"prd.md": PRD})
    words = ("run", "prd.md", "--agent", f"sh {tmp_path}/agent.sh", "--trust-commands", "--sandbox", "off")
    greeter.says(repo, *words, code=0)
    tasks = out_dir(repo) / "tasks"
    prompt = (out_dir(repo) / "attempts/S1/1/prompt.md").read_text()
    assert f"The chunk of the plan that is being worked on: `{tasks}/plan.json`" in prompt
    assert f"The whole plan: `{tasks}/planning_docs/full_plan.json`" in prompt
    assert "- S1 Say hello" in prompt
    (note,) = json.loads((out_dir(repo) / "attempts/S1/1/outcome.json").read_bytes())["notes"]
    assert note.startswith("tasks/plan.json and tasks/planning_docs/full_plan.json changed while the agent worked")
    assert json.loads((out_dir(repo) / "attempts/S1/2/outcome.json").read_bytes())["notes"] == []
    ended = [line for line in (out_dir(repo) / "progress.ndjson").read_text().splitlines() if '"attempt_ended"' in line]
    assert [note in line for line in ended] == [True, False]
    assert greeter.looks(repo, "audit").returncode == 0
