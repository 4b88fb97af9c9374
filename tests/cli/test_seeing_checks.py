"""What will judge the work is seen before it runs: each check with its line, what has none, and a word on single ones."""

import json
from dataclasses import replace
from pathlib import Path

from santiago.app.candidates import scripts
from santiago.contract.plan import CONTRACT_VERSION, DRAFTED
from santiago.contract.policy import RunInput
from santiago.report.check_origins import of_document, origin_of
from tests.cli import greeter
from tests.cli.inside import inside
from tests.cli.santiago import santiago
from tests.cli.typing_person import Person
from tests.contract.histories import plan_of
from tests.transcripts import recording
from tests.transcripts.playing import typed

BARE = "# PRD\n\n### US-01: One\n\n- [ ] a\n\n**Verification:** `grep a a.txt`\n\n### US-02: Two\n\n- [ ] b\n"
PACKAGE = '{"scripts": {"test": "node --test", "lint": "eslint .", "type-check": "tsc", "build": "vite build"}}'
REPOSITORIES: list[tuple[dict[str, str], list[tuple[str, str]]]] = [
    ({"package.json": PACKAGE}, [("lint", "npm run lint"), ("typecheck", "npm run type-check"), ("build", "npm run build")]),
    ({"package.json": PACKAGE, "pnpm-lock.yaml": ""}, [("lint", "pnpm run lint"), ("typecheck", "pnpm run type-check"), ("build", "pnpm run build")]),
    ({"pyproject.toml": "[tool.ruff]\nline-length = 99\n[tool.mypy]\nstrict = true\n"}, [("lint", "ruff check ."), ("typecheck", "mypy .")]),
    ({"pyproject.toml": "[tool.ruff]\n", "uv.lock": ""}, [("lint", "uv run --no-sync ruff check .")]),
    ({"pyproject.toml": "broken ["}, []),
    ({"Makefile": "lint:\n\truff\nbuild = x\ntypecheck: all\n\tmypy\n"}, [("lint", "make lint"), ("typecheck", "make typecheck")]),
    ({"justfile": "build target:\n  cc\n"}, [("build", "just build")]),
    ({"Cargo.toml": ""}, [("lint", "cargo clippy"), ("build", "cargo build")]),
    ({"go.mod": ""}, [("lint", "go vet ./..."), ("build", "go build ./...")]),
    ({"build.gradle.kts": ""}, [("lint", "gradle check -x test"), ("build", "gradle assemble")]),
    ({"packages/api/package.json": '{"scripts": {"lint": "x"}}', "web/ruff.toml": ""},
     [("lint", "cd web && ruff check ."), ("lint", "cd packages/api && npm run lint")]),
    ({"notes.md": ""}, []),
]  # fmt: skip


def test_a_plan_tells_each_check_with_its_line_and_which_story_has_none(tmp_path: Path) -> None:
    """In words it stands in the transcript of `plan`."""
    repo = recording.load("checked", tmp_path)
    data = json.loads("\n".join(typed("santiago plan prd.md --json", repo)))
    assert data["checks"]["stories"] == {"S1": [{"command": "grep a a.txt", "place": "prd.md:7"}], "S2": []}
    assert data["checks"]["at_the_end"] == [{"command": "make all", "place": "santiago.toml:6"}]
    assert data["unchecked"] == []
    (repo / "santiago.toml").unlink()
    assert json.loads("\n".join(typed("santiago plan prd.md --json", repo)))["unchecked"] == ["S2"]


def test_commands_that_agents_wrote_stand_in_no_document() -> None:
    run_input = RunInput(contract_version=CONTRACT_VERSION, repo_path=".", prd_path="prd.md")
    plan = replace(plan_of(S1=""), run_verify=("make",))
    drafted = replace(plan, source=replace(plan.source, format=DRAFTED))
    for one, origin, place in ((plan, "document", "prd.md, for the whole run"), (drafted, "plan", "")):
        assert (origin_of(one), of_document(one, run_input)) == (origin, [("make", place)])


def test_plan_shows_what_runs_at_the_end_and_a_check_of_every_story_may_name_the_story(tmp_path: Path) -> None:
    """`{id}` is the document's id as file names have it."""
    repo = greeter.committed(tmp_path / "repo", {"prd.md": BARE})
    run_input = {"contract_version": 1, "repo_path": str(repo), "prd_path": "prd.md"}
    given = tmp_path / "run-input.json"
    given.write_text(json.dumps({**run_input, "verification": {"run_commands": ["make all"]}}))
    told = inside("plan", "--input", given, "--out-dir", tmp_path / "out", cwd=repo, env=greeter.place(repo))
    assert "at the end: $ make all   ../run-input.json:1\n" in told.stdout, told.stderr
    words = ("run", "prd.md", "--agent", "sh -c true", "--sandbox", "off", "--verify", "pytest tests/test_{id}.py")
    told = inside(*words, "--dry-run", "--json", cwd=repo, env=greeter.place(repo))
    rows = {row["id"]: row["checks"] for row in json.loads(told.stdout)["stories"]}
    assert rows == {"S1": ["grep a a.txt", "pytest tests/test_us_01.py"], "S2": ["pytest tests/test_us_02.py"]}


def test_a_person_leaves_out_single_commands_and_the_run_keeps_to_that(tmp_path: Path) -> None:
    """Each is shown with its line; what is no answer is asked again, and a resume asks nothing."""
    prd = greeter.PRD.replace("`grep goodbye bye.txt`", "`grep nowhere bye.txt`, `grep goodbye bye.txt`")
    repo = greeter.make(tmp_path / "repo")
    (repo / "prd.md").write_text(prd)
    greeter.git(repo, "commit", "-qam", "Another check")
    person = Person("run", "prd.md", "--trust-project", "--plain", cwd=repo, env=greeter.place(repo))
    shown = person.sees("Run them? y, n, or the numbers of those to leave out")
    line = next(n for n, text in enumerate(prd.splitlines(), 1) if "nowhere" in text)
    assert f"    2  grep nowhere bye.txt   prd.md:{line}\n" in shown
    person.types("9")
    person.sees("neither y nor n nor numbers from 1 to 4")
    person.types("2")
    assert person.leaves() == 0, person.seen
    folder = greeter.out_dir(repo)
    assert json.loads((folder / "run-input.json").read_text())["verification"]["left_out"] == ["grep nowhere bye.txt"]
    evidence = (folder / "attempts" / "S2" / "1" / "verification.json").read_text()
    assert ("grep goodbye" in evidence, "grep nowhere" in evidence) == (True, False)


def test_no_is_still_no(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    person = Person("run", "prd.md", "--trust-project", "--plain", cwd=repo, env=greeter.place(repo))
    person.sees("to leave out")
    person.types("")
    assert (person.leaves(), "were not approved" in person.seen) == (10, True)


def test_the_commands_of_a_repository_beside_its_tests_are_found(tmp_path: Path) -> None:
    for number, (files, wanted) in enumerate(REPOSITORIES):
        repo = tmp_path / str(number)
        for name, text in files.items():
            (repo / name).parent.mkdir(parents=True, exist_ok=True)
            (repo / name).write_text(text)
        assert [(one.kind, one.command) for one in scripts(repo)] == wanted, files


def test_init_takes_the_lint_that_passes_and_leaves_out_the_one_that_is_red(tmp_path: Path) -> None:
    make = "test:\n\tgrep -q ok a.txt\nlint:\n\tgrep -q o a.txt\ntypecheck:\n\tgrep -q types a.txt\n"
    repo = greeter.committed(tmp_path / "repo", {"Makefile": make, "a.txt": "ok\n"})
    told = santiago("init", "--json", cwd=repo, env={**greeter.place(repo), "SANTIAGO_POLICY_SANDBOX": "off"}, code=0)
    found = json.loads(told.stdout)
    assert [one["test"] for one in found["checks"]] == ["make test", "make lint"]
    assert {one["command"]: one["state"] for one in found["tried"]}["make typecheck"] == "red"
