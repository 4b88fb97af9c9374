"""Which run a command means where none is named: never one that nobody had in mind, and every answer names the run."""

import json
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from santiago.artifacts.lock import Lock
from tests.cli import greeter
from tests.cli.conftest import Done
from tests.cli.inside import Told, inside
from tests.cli.santiago import santiago

pytestmark = pytest.mark.xdist_group("which run")


class Two(NamedTuple):
    repo: Path
    older: Path
    newer: Path

    def says(self, *arguments: str) -> Told:
        return inside(*arguments, cwd=self.repo, env=greeter.place(self.repo))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Two:
    repo = greeter.make(tmp_path_factory.mktemp("two") / "repo")
    for folder, more in (("z-older", ("--only", "S2")), ("a-newer", ())):
        santiago(
            "run",
            "prd.md",
            "--trust-commands",
            "--out-dir",
            folder,
            *more,
            cwd=repo,
            env=greeter.place(repo),
            code=0,
        )
    return Two(repo, repo / "z-older", repo / "a-newer")


def run_id(out_dir: Path) -> str:
    found: str = json.loads((out_dir / "run-input.json").read_bytes())["run_id"]
    return found


def test_resume_goes_on_with_the_latest_unfinished_says_which_and_does_not_make_it_the_newest(two: Two) -> None:
    """Newest is what began last; otherwise the order in which runs are listed would follow nothing that is seen."""
    said = two.says("resume", "--only", "S2")
    assert said.returncode == 0
    assert f"the newest run, {run_id(two.newer)}, is finished; going on with {run_id(two.older)}" in said.stderr
    assert two.says("resume", run_id(two.older), "--only", "S2").returncode == 0
    told = json.loads(two.says("status", "--json").stdout)
    assert told["run_id"] == run_id(two.newer)
    assert [other["run_id"] for other in told["others"]] == [run_id(two.older)]


def test_where_all_are_finished_nothing_begins_and_a_lost_result_comes_back(success: Done, tmp_path: Path) -> None:
    """Promise 3: killed between the last event and the result, the run has ended by its log, and is still gone on with."""
    repo = shutil.copytree(success.repo, tmp_path / "repo", symlinks=True)
    env, out_dir = greeter.place(repo), greeter.out_dir(repo)
    log, result = (out_dir / name for name in ("progress.ndjson", "result.json"))
    before = (log.read_bytes(), result.read_bytes())
    first, second = inside("resume", "--json", cwd=repo, env=env).stdout.splitlines()
    assert (json.loads(first)["type"], json.loads(second)["type"]) == ("stream", "nothing_to_resume")
    assert (log.read_bytes(), result.read_bytes()) == before
    result.unlink()
    inside("resume", cwd=repo, env=env, code=0)
    assert result.read_bytes() == before[1]
    out_dir.rename(tmp_path / "elsewhere")  # and what is gone is not the newest
    told = inside("status", cwd=repo, env=env)
    assert (told.returncode, "no run yet" in told.stderr) == (2, True)


def test_a_plan_that_was_never_started_is_said_and_neither_resumed_nor_in_the_way(tmp_path: Path) -> None:
    """Issue 25, part 7. People who type `resume`, `status` or `pr` mean a run; a plan is begun by who names it."""
    repo = greeter.make(tmp_path / "repo")
    env = greeter.place(repo)
    for folder in ("p1", "p2"):
        inside("plan", "prd.md", "--out-dir", f".santiago/runs/{folder}", cwd=repo, env=env, code=0)
    refused = inside("resume", cwd=repo, env=env, code=2)
    assert "`santiago resume .santiago/runs/p2`" in refused.stderr, "what is offered begins it"
    assert inside("step", cwd=repo, env=env).returncode == 2
    told = json.loads(inside("status", "--json", cwd=repo, env=env, code=0).stdout)
    assert (told["run_id"], told["state"], told["planned"]) == ("p2", "planned", ["p1"])
    santiago("run", "prd.md", "--trust-commands", "--out-dir", ".santiago/runs/began", cwd=repo, env=env, code=0)
    inside("plan", "prd.md", "--out-dir", ".santiago/runs/p3", cwd=repo, env=env, code=0)
    told = json.loads(inside("status", "--json", cwd=repo, env=env).stdout)
    assert (told["run_id"], told["others"], told["planned"]) == ("began", [], ["p3", "p2", "p1"])
    assert "p3" in inside("resume", cwd=repo, env=env, code=0).stderr
    assert json.loads(inside("resume", "--json", cwd=repo, env=env, code=0).stdout.splitlines()[1])["run_id"] == "began"
    santiago("resume", ".santiago/runs/p2", "--trust-commands", cwd=repo, env=env, code=0)
    assert json.loads(inside("status", "--json", cwd=repo, env=env).stdout)["planned"] == ["p3", "p1"]


def test_what_is_running_is_meant_before_what_is_newer_and_named_by_a_refusal(two: Two) -> None:
    with Lock(two.older, since="now"):
        assert json.loads(two.says("status", "--json").stdout)["run_id"] == run_id(two.older)
        alone = two.says("stop", "--detach")
        told = two.says("stop")
    assert (alone.returncode, "has no workers" in alone.stderr) == (2, True)
    assert two.says("stop", "--detach", "--now").returncode == 2
    (asked := two.older / "inbox" / "stop.json").unlink()
    assert (told.returncode, f"{run_id(two.older)} was asked to stop" in told.stderr) == (0, True)
    assert not asked.with_name("stop-now.json").exists()
    assert json.loads(two.says("status", "--json").stdout)["run_id"] == run_id(two.newer)
    told = two.says("stop", "--json")
    said = json.loads(told.stdout)
    assert (told.returncode, said["run_id"], said["done"], said["running"]) == (0, run_id(two.newer), False, False)
    with Lock(two.older, since="now"):
        refused = two.says("skip", "S3", "--why", "no")
    assert (refused.returncode, str(two.older) in refused.stderr) == (20, True)


def test_where_several_are_running_one_has_to_be_named(two: Two) -> None:
    with ExitStack() as stack:
        for run in (two.older, two.newer):
            stack.enter_context(Lock(run, since="now"))
        for words in (("stop",), ("status",), ("log", "--follow"), ("change", "S3", "--text", "blue")):
            told = two.says(*words)
            assert told.returncode == 2, words
            assert f"{run_id(two.newer)}, {run_id(two.older)}" in told.stderr
    assert not list(two.repo.glob("*/inbox/*.json"))


def test_outside_a_repository_it_is_that_what_is_said(tmp_path: Path) -> None:
    for command in ("status", "log", "stop", "resume"):
        told = inside(command, cwd=tmp_path, env=greeter.place(tmp_path))
        assert (told.returncode, "this is not a git repository" in told.stderr) == (2, True), command


def test_status_says_how_many_more_runs_there_are_than_it_names(two: Two) -> None:
    notes = two.repo / ".git" / "santiago" / "runs"
    made = [f"r_{number}" for number in range(7)]
    for number, name in enumerate(made):
        note = {"run_id": name, "out_dir": str(two.repo / name), "created": f"2020-01-0{number + 1}T00:00:00Z"}
        (notes / f"{name}.json").write_text(json.dumps(note))
    shown = two.says("status").stdout
    for name in made:
        (notes / f"{name}.json").unlink()
    listed = next(line for line in shown.splitlines() if line.startswith("other runs, newest first: "))
    names = [part.split()[0] for part in listed.partition(": ")[2].split(" · ")]
    assert names == [run_id(two.older), "r_6", "r_5", "r_4", "r_3", "and"]
    assert listed.endswith("and 3 older")
