"""A run that is killed and taken up step by step: a person picks which story goes on, and what is unknown is said."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from santiago.app.loading import load
from tests.cli import greeter
from tests.cli.greeter import looks, out_dir, place, says
from tests.cli.santiago import trusted
from tests.cli.typing_person import Person
from tests.util.restored import restored

AGENT = """\
case "$SANTIAGO_STORY" in
S1) echo hello > hello.txt ;;
S2) echo goodbye > bye.txt ;;
*) echo both > both.txt; exit 0 ;;
esac
echo "$SANTIAGO_STORY" > {begun}
exec sleep 600
"""


pytestmark = pytest.mark.xdist_group("picking")
PROPOSING = """\
if test -e {again}; then
    echo '{{"objective": "Greet", "create": ["hello.txt"], "actions": ["write it"], "checks": ["grep hello hello.txt"]}}' > "$SANTIAGO_DETAIL"
    exit 0
fi
touch {again}
echo > {begun}
exec sleep 600
"""


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("killed")
    repo = greeter.make(folder / "world" / "repo")
    agent, begun = folder / "agent.sh", folder / "begun"
    os.mkfifo(begun)
    agent.write_text(AGENT.format(begun=begun))
    words = ("run", "prd.md", "--jobs", "2", "--agent", f"sh {agent}", "--sandbox", "off", "--trust-commands")
    with begin(repo, *trusted(*words)) as process:
        names = set[str]()
        while len(names) < 2:
            names |= set(begun.read_text().split())
        process.kill()
    return repo


@pytest.fixture
def killed(left: Path) -> Path:
    """A repository with a run that was killed while two of its agents were at work."""
    return restored(left, left.parent)


def begin(repo: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "santiago", *words]
    return subprocess.Popen(command, cwd=repo, env={**os.environ, **place(repo)}, stderr=subprocess.PIPE)


def test_line_43_of_two_that_a_kill_left_under_way_a_person_picks_one_and_the_other_is_put_off(killed: Path) -> None:
    repo = killed
    asked = says(repo, "step")
    assert (asked.returncode, "santiago answer pick-1 S2" in asked.stderr) == (10, True), asked.stderr
    (question,) = json.loads(looks(repo, "status", "--json").stdout)["questions"]
    assert (question["kind"], question["words"]) == ("pick", ["S1", "S2", "stop"])
    wrong = looks(repo, "answer", "pick-1", "S3")
    assert (wrong.returncode, "none of those to pick from: S1, S2" in wrong.stderr) == (2, True), wrong.stderr
    assert looks(repo, "answer", "pick-1", "S2").returncode == 0
    says(repo, "step")
    tasks = json.loads(looks(repo, "status", "--tasks").stdout)["tasks"]
    assert [task["status"] for task in tasks] == ["pending", "in_progress", "pending"]
    for name, word in (("S2-resume-1", "complete"), ("S2-result-2", "validate")):
        looks(repo, "answer", name, word, code=0)
        says(repo, "step")
    state = load(out_dir(repo)).state
    assert (state.stories["S2"].phase, state.stories["S1"].deferred) == ("done", True)
    assert [one.id for one in state.open_questions()] == ["deferred-1"]


def test_line_43_at_a_terminal_the_name_alone_is_the_answer(killed: Path) -> None:
    person = Person("step", cwd=killed, env=place(killed))
    person.sees("2 steps are under way: S1, S2. Which one goes on?")
    person.sees("S1        go on with it (it was interrupted), and put the others off")
    person.sees("\n> ")
    person.types("both")
    person.sees("none of those to pick from: S1, S2; or stop")
    person.says("s1", 'pick "S1"')
    person.sees("S1-resume-1")
    person.says("complete", "complete")
    person.sees("S1-result-2")
    person.says("ok", "validate")
    person.sees("Only stories that were put off are left: S2")
    person.says("stop", "stop")
    assert person.leaves() == 0


def test_what_a_killed_proposal_used_is_unknown_and_said_so(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    agent, begun, again = tmp_path / "agent.sh", tmp_path / "begun", tmp_path / "again"
    os.mkfifo(begun)
    agent.write_text(PROPOSING.format(begun=begun, again=again))
    words = ("step", "prd.md", "--agent", f"sh {agent}", "--sandbox", "off", "--trust-commands", "--trust-project")
    with begin(repo, *words) as process:
        begun.read_text()
        process.kill()
    told = says(repo, "step")
    assert (told.returncode, "santiago answer S1-detail-2" in told.stderr) == (10, True), told.stderr
    run = load(out_dir(repo))
    assert (run.state.stories["S1"].proposals, run.state.unreported) == (2, 2), (
        "the killed one, and one that said nothing"
    )
    log = [json.loads(line) for line in (run.out_dir / "progress.ndjson").read_text().splitlines()]
    (ended,) = [one for one in log if one["event"] == "proposal_ended"]
    told_of = (ended["status"], ended["context"]["reason"], "tokens" in ended["context"])
    assert told_of == ("voided", "interrupted", False)
    assert looks(repo, "audit", run.out_dir).returncode == 0
