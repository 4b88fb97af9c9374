"""`execute --plan` holds a plan that a program wrote to every rule before anything starts, and tells all that is wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from santiago.contract import codec
from tests.cli import greeter
from tests.cli.inside import Told, inside

Data = dict[str, Any]
LISTED, WORDS = "the chunks are listed as", 'the chunk "Phase 1: Words"'


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    repo = greeter.make(tmp_path / "repo")
    assert inside("plan", "prd.md", cwd=repo, env=greeter.place(repo)).returncode == 0
    return repo


def _execute(repo: Path, change: Callable[[Data], object], *words: str) -> Told:
    """Execute the plan as a program would have written it: changed, with a digest of what it says."""
    folder = greeter.out_dir(repo)
    data = json.loads((folder / "plan.json").read_bytes())
    change(data)
    del data["digest"]
    (repo.parent / "plan.json").write_bytes(codec.canonical({**data, "digest": codec.digest(data)}))
    began = ("--input", folder / "run-input.json", "--plan", repo.parent / "plan.json", "--out-dir")
    return inside("execute", *began, repo.parent / "out", "--trust-commands", *words, cwd=repo, env=greeter.place(repo))


def _story(number: int, **fields: object) -> Callable[[Data], object]:
    return lambda data: data["stories"][number].update(fields)


def _chunk(*stories: str) -> Callable[[Data], object]:
    return lambda data: data["chunks"][0].update(stories=list(stories))


def _all(*changes: Callable[[Data], object]) -> Callable[[Data], object]:
    return lambda data: [change(data) for change in changes]


def _chunk_as_dependency(data: Data) -> None:
    for one in (*data["stories"], *data["chunks"]):
        key = "chunk" if "chunk" in one else "label"
        one[key] = one[key].replace("Phase 1: Words", "P1")
    data["stories"][2]["depends_on"] = ["P1"]


def _unlisted_chunk(data: Data) -> None:
    del data["chunks"][1]


def _same_requirement(data: Data) -> None:
    data["requirements"][1]["id"] = "R1"


_unknown_dependency, _unlisted_story = _story(0, depends_on=["S9"]), _chunk("S1")
_cycle = _all(_story(0, depends_on=["S2"]), _story(1, depends_on=["S1"]))
_later_chunk = _all(_story(0, depends_on=["S3"]), _story(2, depends_on=[]))
BROKEN: list[tuple[Callable[[Data], object], str, str]] = [
    (_unknown_dependency, "unknown_dependency", "S1 depends on S9, which the plan does not define"),
    (_chunk_as_dependency, "unknown_dependency", "S3 depends on P1, which is not the id of a story"),
    (_story(1, id="S1"), "duplicate_id", "the id S1 is defined twice"),
    (_unlisted_story, "invalid_field", f"{WORDS} does not list S2"),
    (_unlisted_chunk, "invalid_field", f"{LISTED} Phase 1: Words, and the stories are in"),
    (_chunk("S1", "S1", "S2"), "invalid_field", f"{WORDS} lists S1 more than once"),
    (_chunk("S2", "S1"), "invalid_field", f"{WORDS} lists its stories in another order"),
    (lambda data: data["chunks"].reverse(), "invalid_field", f"{LISTED} Phase 2: Together, Phase 1: Words"),
    (_story(0, depends_on=["S1"]), "self_dependency", "S1 depends on itself"),
    (_cycle, "cycle", "dependencies go in a circle: S1 -> S2 -> S1"),
    (_later_chunk, "later_chunk", "S1 (chunk Phase 1: Words) depends on S3"),
    (_story(0, depends_on=["S2"]), "out_of_order", "S1 depends on S2, which comes after it"),
    (_story(0, requirements=["R9"]), "invalid_field", "S1 names the requirement R9, which the plan does not define"),
    (_same_requirement, "duplicate_id", "the requirement R1 is defined twice"),
    (_story(0, criteria=["R9#1"]), "invalid_field", "S1 names the criterion R9#1, which no requirement has"),
]


def test_a_plan_that_breaks_a_rule_begins_nothing(planned: Path) -> None:
    out = planned.parent / "out"
    for change, code, says in BROKEN:
        told = _execute(planned, change)
        assert (told.returncode, f"error[{code}]: {says}" in told.stderr) == (30, True), told.stderr
        assert [path.name for path in out.iterdir()] == ["result.json"]
        result = json.loads((out / "result.json").read_bytes())
        assert (result["status"], result["reason"], result["next_action"]) == ("failed", "invalid_input", "fix_input")
        assert says in result["message"]
        (out / "result.json").unlink()


def test_all_that_is_wrong_is_told_at_once_with_its_place_and_a_dry_run_writes_nothing(planned: Path) -> None:
    told = _execute(planned, _cycle, "--dry-run")
    assert (told.returncode, "error[cycle]" in told.stderr) == (30, True)
    assert not (planned.parent / "out").exists()
    told = _execute(planned, _all(_unknown_dependency, _unlisted_chunk, _same_requirement), "--json")
    assert told.returncode == 30
    answer = json.loads(told.stdout)
    lines = (planned.parent / "plan.json").read_text().split("\n")
    places = {finding["code"]: lines[finding["line"] - 1] for finding in answer["findings"]}
    assert '"S9"' in places["unknown_dependency"]
    assert {"unknown_dependency", "invalid_field", "duplicate_id"} == set(places)
    assert answer["error"]["reason"] == "invalid_input"
    message = json.loads((planned.parent / "out" / "result.json").read_bytes())["message"]
    assert all(finding["message"] in message for finding in answer["findings"])
    folder, out = greeter.out_dir(planned), planned.parent / "out"
    (planned.parent / "bad.json").write_text('{"contract_version": 1}')
    for files in (
        (folder / "run-input.json", planned.parent / "bad.json"),
        (planned.parent / "bad.json", folder / "plan.json"),
    ):
        words = ("execute", "--input", files[0], "--plan", files[1], "--out-dir", out)
        assert inside(*words, cwd=planned, env=greeter.place(planned)).returncode == 30
        assert json.loads((out / "result.json").read_bytes())["reason"] == "invalid_input"
        (out / "result.json").unlink()


def test_a_mended_plan_runs_where_the_refused_one_left_its_result(planned: Path) -> None:
    assert _execute(planned, _unlisted_story).returncode == 30
    assert _execute(planned, lambda data: data.update(title="Mended")).returncode == 0
    out = planned.parent / "out"
    assert json.loads((out / "result.json").read_bytes())["status"] == "success"
    assert json.loads((out / "result.0.json").read_bytes())["reason"] == "invalid_input"
    assert inside("audit", out, cwd=planned, env=greeter.place(planned)).returncode == 0


def test_a_refused_plan_has_not_begun_for_audit(planned: Path) -> None:
    out = planned.parent / "out"
    assert _execute(planned, _cycle).returncode == 30
    for name in ("run-input.json", "plan.json"):
        (out / name).write_bytes((greeter.out_dir(planned) / name).read_bytes())
    told = inside("audit", out, cwd=planned, env=greeter.place(planned))
    assert (told.returncode, "has not begun" in told.stderr) == (30, True), told.stdout + told.stderr


def test_the_result_of_a_run_whose_log_is_gone_is_left_alone(planned: Path) -> None:
    assert _execute(planned, lambda _: None).returncode == 0
    out = planned.parent / "out"
    kept = (out / "result.json").read_bytes()
    (out / "progress.ndjson").unlink()
    assert _execute(planned, _cycle).returncode == 30
    assert (out / "result.json").read_bytes() == kept


def test_an_external_dependency_that_is_called_like_a_story_stays_one(planned: Path) -> None:
    told = _execute(planned, lambda data: data["stories"][0].update(external_depends_on=["S1"]), "--assume-external")
    assert told.returncode == 0, told.stderr
