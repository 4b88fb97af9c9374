"""`santiago plan` as a user and as a program call it, and the command that it says last, which works where the person stands."""

import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.conftest import Done
from tests.cli.inside import inside
from tests.cli.santiago import santiago

PRD = "# PRD: Shop\n\n### R1: A cart\n\n- [ ] it holds things\n\n### R2: A till\n\nDepends on: R1\n\n- [ ] it takes money\n"
WRONG: list[tuple[dict[str, object], str]] = [
    ({"contract_version": 2}, "contract_version 2"),
    ({"limits": {"story_max_attempt": 3}}, "unknown field limits.story_max_attempt"),
    ({"agent": {"mode": "wild"}}, "agent.mode"),
    ({"limits": {"run_timeout_minutes": 0}}, "limits.run_timeout_minutes"),
    ({"prd_path": "../other.md"}, "outside repo_path"),
]
NEEDED = [
    "click",
    "platformdirs",
    "pydantic",
    "pydantic-core",
    "annotated-types",
    "typing-inspection",
    "pyyaml",
    "typing-extensions",
]
"""What planning imports; screens need more."""
TASKS = "# Tasks\n\n## Phase 1: Setup\n\n- [ ] T001 Make the model in src/model.py\n- [ ] T002 Test the model\n"
SPEC = "# Spec\n\n### User Story 1 - Sign in (Priority: P1)\n\n1. **Given** a user, **When** they sign in, **Then** they see it\n"
ROADMAP = "# Roadmap\n\n### Phase 1: Base\n**Depends on**: Nothing\n**Success Criteria**:\n1. It runs\n\nPlans:\n- [ ] 01-01: Start\n"
NOTES = "# NOTES: Notes\n\n### R1: One\n\n- [ ] there is one\n\n### R2: Two\n\n- [ ] there are two\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "docs").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / "docs" / "prd.md").write_text(PRD)
    return root


def runs(root: Path) -> list[Path]:
    return sorted((root / ".santiago" / "runs").iterdir())


def test_a_plan_and_its_run_input_are_written_out_of_git_and_replaced_until_the_run_begins(repo: Path) -> None:
    done = inside("plan", "docs/prd.md", cwd=repo, code=0)
    (run,) = runs(repo)
    plan = json.loads((run / "plan.json").read_bytes())
    run_input = json.loads((run / "run-input.json").read_bytes())
    assert plan["source"]["path"] == "docs/prd.md"
    assert run_input["run_id"] == run.name
    assert run_input["prd_path"] == "docs/prd.md"
    status = subprocess.run(["git", "status", "--porcelain"], cwd=repo, capture_output=True, text=True, check=True)
    assert ".santiago" not in status.stdout
    done = inside("plan", "docs/prd.md", "--json", cwd=repo)
    document = json.loads(done.stdout)
    assert [story["id"] for story in document["stories"]] == ["S1", "S2"]
    assert document["out_dir"] == str(runs(repo)[0])
    (repo / "docs" / "prd.md").write_text(PRD + "\n### R3: A door\n")
    inside("plan", "docs/prd.md", cwd=repo)
    (run,) = runs(repo)
    assert len(json.loads((run / "plan.json").read_bytes())["stories"]) == 3


def test_a_run_that_has_begun_is_never_touched(repo: Path) -> None:
    inside("plan", "docs/prd.md", cwd=repo)
    (run,) = runs(repo)
    (run / "progress.ndjson").write_text("{}\n")
    before = (run / "plan.json").read_bytes()
    refused = inside("plan", "docs/prd.md", "--out-dir", run, cwd=repo)
    assert (refused.returncode, "frozen" in refused.stderr) == (30, True)
    (repo / "docs" / "prd.md").write_text(PRD + "\n### R3: A door\n")
    assert inside("plan", "docs/prd.md", cwd=repo).returncode == 0
    assert (run / "plan.json").read_bytes() == before
    assert len(runs(repo)) == 2


def test_check_exits_3_where_the_plan_would_change_and_writes_nothing(repo: Path) -> None:
    assert inside("plan", "docs/prd.md", "--check", cwd=repo).returncode == 3
    assert not (repo / ".santiago").exists()
    inside("plan", "docs/prd.md", cwd=repo)
    assert inside("plan", "docs/prd.md", "--check", cwd=repo).returncode == 0
    (repo / "docs" / "prd.md").write_text(PRD.replace("money", "cards"))
    assert inside("plan", "docs/prd.md", "--check", cwd=repo).returncode == 3


def test_against_an_old_plan_ids_are_kept_and_the_difference_is_shown(repo: Path, tmp_path: Path) -> None:
    inside("plan", "docs/prd.md", "--out-dir", tmp_path / "old", cwd=repo)
    (repo / "docs" / "prd.md").write_text(PRD.replace("### R1", "### R0: A shop\n\n### R1").replace("money", "cards"))
    done = inside(
        "plan", "docs/prd.md", "--out-dir", tmp_path / "new", "--against", tmp_path / "old" / "plan.json", cwd=repo
    )
    assert "+ S3" in done.stdout
    assert "~ S2 (criteria)" in done.stdout
    assert "= 1 kept" in done.stdout


def test_a_program_plans_from_a_run_input_and_finds_a_result_where_that_fails(repo: Path, tmp_path: Path) -> None:
    source = tmp_path / "run-input.json"
    out = tmp_path / "out"
    data = {"contract_version": 1, "run_id": "run_7", "repo_path": str(repo), "prd_path": "docs/prd.md"}
    source.write_text(json.dumps(data))
    assert inside("plan", "--input", source, "--out-dir", out, cwd=tmp_path).returncode == 0
    assert json.loads((out / "run-input.json").read_bytes())["limits"]["story_max_attempts"] == 4
    assert not (out / "result.json").exists()
    source.write_text(json.dumps({**data, "prd_path": "docs/none.md"}))
    assert inside("plan", "--input", source, "--out-dir", out, cwd=tmp_path).returncode == 30
    result = json.loads((out / "result.json").read_bytes())
    assert (result["status"], result["reason"], result["next_action"]) == ("failed", "invalid_input", "fix_input")


def test_an_invalid_run_input_is_refused_by_field_with_a_result(repo: Path, tmp_path: Path) -> None:
    source, good = (
        tmp_path / "run-input.json",
        {"contract_version": 1, "repo_path": str(repo), "prd_path": "docs/prd.md"},
    )
    for number, (change, says) in enumerate(WRONG):
        out = tmp_path / f"out{number}"
        source.write_text(json.dumps({**good, **change}))
        done = inside("plan", "--input", source, "--out-dir", out, cwd=tmp_path)
        assert (done.returncode, says in done.stderr) == (30, True), done.stderr
        assert json.loads((out / "result.json").read_bytes())["reason"] == "invalid_input"


def test_the_same_bytes_give_the_same_plan_everywhere(repo: Path, tmp_path: Path) -> None:
    """Promise 1: hash seed, locale, time zone, working directory and line ends make no difference."""
    crlf = tmp_path / "crlf" / "docs" / "prd.md"
    crlf.parent.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", tmp_path / "crlf"], check=True)
    crlf.write_bytes(PRD.replace("\n", "\r\n").encode())
    document = repo / "docs" / "prd.md"
    calls = [
        ({"PYTHONHASHSEED": "1"}, repo, document),
        ({"PYTHONHASHSEED": "77", "LC_ALL": "C", "LANG": "C"}, tmp_path, document),
        ({"PYTHONHASHSEED": "5", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Tokyo"}, repo / "docs", Path("prd.md")),
        ({"TZ": "America/Los_Angeles", "COLUMNS": "40"}, Path("/"), document),
        ({}, tmp_path, crlf),
    ]
    plans = []
    for number, (env, cwd, path) in enumerate(calls):
        santiago("plan", path, "--out-dir", tmp_path / f"out{number}", cwd=cwd, env=env, code=0)
        plans.append((tmp_path / f"out{number}" / "plan.json").read_bytes())
    assert len(set(plans)) == 1


def other_python() -> Path | None:
    """Return another released interpreter that this project supports, where one is on this machine."""
    wanted = "3.13" if sys.version_info < (3, 13) else "3.11"
    homes = [*Path.home().glob(f".pyenv/versions/{wanted}*/bin/python"), *Path("/usr/bin").glob(f"python{wanted}")]
    found = shutil.which(f"python{wanted}")
    homes += [Path(found)] if found else []
    for path in homes:
        asked = subprocess.run(
            [path, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True, check=False
        )
        if asked.returncode == 0 and wanted.replace(".", ", ") in asked.stdout:
            return path
    return None


def test_another_python_gives_the_same_plan(repo: Path, tmp_path: Path) -> None:
    """Promise 1, across Python 3.11 and 3.13: what planning needs is fetched anew for the other interpreter."""
    python = other_python()
    if python is None:
        pytest.skip("only one supported Python is installed on this machine")
    root, version = Path(__file__).parents[2], "3.13" if sys.version_info < (3, 13) else "3.11"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile", "--target"]
    pip += [str(tmp_path / "site"), "--python-version", version, "--only-binary=:all:", "-c"]
    fetched = subprocess.run(
        [*pip, str(root / "constraints.txt"), *NEEDED], capture_output=True, text=True, check=False
    )
    if fetched.returncode:
        pytest.skip(f"cannot install for {python}: {fetched.stderr[-200:]}")
    subprocess.run(
        [python, "-m", "santiago", "plan", repo / "docs" / "prd.md", "--out-dir", tmp_path / "b"],
        check=True, capture_output=True, env={**os.environ, "PYTHONPATH": f"{root / 'src'}:{tmp_path / 'site'}"},
    )  # fmt: skip
    assert inside("plan", repo / "docs" / "prd.md", "--out-dir", tmp_path / "a", cwd=repo).returncode == 0
    assert (tmp_path / "a" / "plan.json").read_bytes() == (tmp_path / "b" / "plan.json").read_bytes()


def test_check_compares_with_the_plan_of_a_run_that_has_begun(success: Done, tmp_path: Path) -> None:
    repo = shutil.copytree(success.repo, tmp_path / "repo", symlinks=True)
    same = inside("plan", "prd.md", "--check", cwd=repo)
    assert (same.returncode, "plan.json is unchanged" in same.stdout) == (0, True), same.stdout
    (repo / "prd.md").write_text(greeter.PRD.replace("Say hello", "Say hi"))
    assert inside("plan", "prd.md", "--check", cwd=repo).returncode == 3
    assert len(list((repo / ".santiago" / "runs").iterdir())) == 1


def lay(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_the_main_document_of_a_folder_is_planned_and_the_others_are_named(tmp_path: Path) -> None:
    for number, (files, given, taken, left) in enumerate((
        ({"specs/001-in/tasks.md": TASKS, "specs/001-in/spec.md": SPEC}, "specs/001-in", "specs/001-in/tasks.md", "spec.md"),
        ({"specs/001-in/tasks.md": TASKS, "specs/001-in/plan.md": "# Plan\n"}, "specs", "specs/001-in/tasks.md", "plan.md"),
        ({".planning/ROADMAP.md": ROADMAP, ".planning/STATE.md": "# State\n"}, ".planning", ".planning/ROADMAP.md", "STATE.md"),
        ({"docs/prd-shop.md": SPEC, "docs/notes.md": "# Notes\n"}, "docs", "docs/prd-shop.md", "notes.md"),
        ({"docs/shop.md": SPEC, "docs/README.md": "# Docs\n"}, "docs", "docs/shop.md", "shop.md is planned"),
    )):  # fmt: skip
        folder = lay(tmp_path / str(number), files)
        done = inside("plan", given, "--out-dir", folder / "out", cwd=folder, code=0)
        assert taken.endswith(json.loads((folder / "out" / "plan.json").read_bytes())["source"]["path"])
        assert (taken in done.stderr, left in done.stderr) == (True, True), done.stderr


def test_a_folder_without_a_main_document_is_refused_with_what_it_holds(tmp_path: Path) -> None:
    for number, (names, says) in enumerate((
        (("login.md", "search.md"), "several documents: specs/login.md, specs/search.md"),
        (("a/tasks.md", "b/tasks.md"), "several documents: specs/a/tasks.md, specs/b/tasks.md"),
        ((), "without a document"),
    )):  # fmt: skip
        folder = lay(tmp_path / str(number), {f"specs/{name}": TASKS for name in names})
        (folder / "specs").mkdir(parents=True, exist_ok=True)
        for command in ("plan", "run"):
            refused = inside(command, "specs", cwd=folder)
            assert (refused.returncode != 0, says in refused.stderr) == (True, True), refused.stderr


ROOT = Path(__file__).parents[2]


@pytest.fixture
def noted(tmp_path: Path) -> Path:
    settings = (
        '[verification]\nstory_commands = ["test -f one.txt"]\n[agent]\nmode = "scripted"\nplaybook = "play.yaml"\n'
    )
    files = {"prd.md": NOTES, "play.yaml": 'stories: {R1: [{write: {one.txt: "x"}}]}\n', "santiago.toml": settings}
    return greeter.committed(tmp_path / "repo", files)


def last(shown: str) -> list[str]:
    line = shown.splitlines()[-1]
    assert line.startswith("next: santiago "), shown
    return shlex.split(line.removeprefix("next: santiago "))


@pytest.mark.parametrize(("place", "stand"), [(None, "."), (None, "docs"), ("my plan", "."), ("../out", "docs")])
def test_the_last_line_of_a_plan_is_a_command_that_begins_it(place: str | None, stand: str, noted: Path) -> None:
    (noted / "docs").mkdir()
    here = noted / stand
    more = ("--out-dir", place) if place else ()
    command = last(inside("plan", noted / "prd.md", *more, cwd=here).stdout)
    assert command[0] == ("resume" if place else "run")
    done = inside(*command, "--dry-run", "--sandbox", "off", cwd=here)
    assert (done.returncode, "would run 2 stories" in done.stdout) == (0, True), done.stderr


def test_a_plan_without_a_check_begins_anew_with_one(noted: Path) -> None:
    settings = (noted / "santiago.toml").read_text()
    (noted / "santiago.toml").write_text(settings.partition("[agent]")[1] + settings.partition("[agent]")[2])
    inside("plan", "prd.md", cwd=noted)
    shown = inside("status", cwd=noted).stdout
    assert shown.endswith('next: santiago run prd.md --verify "CMD"   # begin anew with a check; this plan has none\n')
    (noted / "santiago.toml").write_text(settings)  # comes too late for this plan
    (planned,) = (noted / ".santiago" / "runs").iterdir()
    refused = inside("resume", planned.name, cwd=noted)
    assert (refused.returncode, 'start anew: `santiago run prd.md --verify "CMD"`.' in refused.stderr) == (30, True)


def test_a_plan_in_a_folder_of_its_own_is_no_run_of_the_repository(noted: Path) -> None:
    inside("plan", "prd.md", "--out-dir", "docs/plan", cwd=noted)
    assert inside("status", cwd=noted).returncode == 2


def test_a_program_is_told_to_execute_its_own_run_input(noted: Path, tmp_path: Path) -> None:
    data = {"contract_version": 1, "repo_path": "repo", "prd_path": "prd.md", "agent": {"mode": "scripted"}}
    check = {"verification": {"story_commands": ["test -f one.txt"]}}
    (tmp_path / "in.json").write_text(
        json.dumps({**data, **check, "agent": {"mode": "scripted", "playbook": "play.yaml"}})
    )
    command = last(inside("plan", "--input", "in.json", "--out-dir", "out", cwd=tmp_path).stdout)
    assert command == ["execute", "--input", "in.json", "--plan", "out/plan.json", "--out-dir", "out"]
    assert inside(*command, "--dry-run", cwd=tmp_path).returncode == 0


def test_check_without_a_plan_says_that_there_is_none_and_with_a_kept_one_compares(noted: Path) -> None:
    done = inside("plan", "prd.md", "--check", cwd=noted)
    assert (done.returncode, "there is no plan to compare with" in done.stdout) == (3, True)
    kept = ("--out-dir", "docs/plan")
    command = last(inside("plan", "prd.md", *kept, "--check", cwd=noted).stdout)
    assert inside(*command, cwd=noted).returncode == 0
    (noted / "docs" / "plan" / "run-input.json").unlink()  # it is not kept in git
    assert inside("plan", "prd.md", *kept, "--check", cwd=noted).returncode == 0
    (noted / "prd.md").write_text(NOTES.replace("two", "2"))
    changed = inside("plan", "prd.md", *kept, "--check", cwd=noted)
    assert (changed.returncode, "docs/plan/plan.json would change" in changed.stdout) == (3, True)


def test_the_demo_ends_with_a_command_that_can_be_pasted(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / ".venv" / "bin").mkdir(parents=True)
    shutil.copytree(ROOT / "examples", clone / "examples")
    program = clone / ".venv" / "bin" / "santiago"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m santiago "$@"\n')
    program.chmod(0o755)
    env = {**greeter.place(tmp_path / "x"), "HOME": str(tmp_path), "SANTIAGO_DEMO_DIR": str(tmp_path / "a demo")}
    ran = subprocess.run(
        ["sh", "examples/demo.sh"], cwd=clone, env=env, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    command = ran.stderr.splitlines()[-1].removeprefix("next: ")
    subprocess.run(["sh", "-c", command], cwd="/", env=env, capture_output=True, check=True)
    assert (tmp_path / "a demo" / "ledger" / "money.py").is_file()


def test_the_picture_of_a_plan_shows_what_the_program_says(tmp_path: Path) -> None:
    """Where this fails, `docs/images/make.py` draws it again."""
    files = ROOT / "examples" / "ledger"
    noted = greeter.committed(tmp_path / "repo", {"prd.md": (files / "prd.md").read_text()})
    shutil.copytree(files / "tests", noted / "tests")
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", (ROOT / "docs" / "images" / "plan.svg").read_text())
    shown = inside("plan", "prd.md", cwd=noted, env={"COLUMNS": "100"}).stdout
    assert words_of("".join(html.unescape(text) for text in drawn[1:])) == words_of(f"$ santiago plan prd.md {shown}")


def words_of(text: str) -> str:
    return re.sub(r"r_[0-9]{8}_[0-9]{6}", "RUN", "".join(text.split()))
