"""What a verdict costs: each check once per tree, the base side by side, caches of the base and of nobody else (promises 2, 3, 7)."""

import json
import os
import re
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from santiago.process.sandbox import detect
from tests.cli.greeter import committed, out_dir, place
from tests.cli.santiago import santiago
from tests.crash.test_hostile_ends import KILL_FROM_CHECK

WRITES = 'echo x > "$SANTIAGO_STORY.txt"\n'


def document(checks: list[str]) -> str:
    """A story for each check; an empty one is left out."""
    parts = [f"### R{n}: Note {n}\n\n- [ ] note {n}\n\n" for n in range(1, len(checks) + 1)]
    own = [f"**Verification:** `{check}`\n\n" if check else "" for check in checks]
    return "# PRD: Notes\n\n" + "".join(part + check for part, check in zip(parts, own, strict=True))


def begun(repo: Path, agent: str, *more: str, sandbox: str = "off", code: int | None = 0) -> dict[str, Any]:
    """Run the document of a repository; return the record of its base, where it has one."""
    (repo.parent / "agent.sh").write_text(agent)
    words = ("--agent", f"sh {repo.parent}/agent.sh", "--sandbox", sandbox, "--trust-commands", "--no-input", *more)
    santiago("run", "prd.md", *words, cwd=repo, env=place(repo), code=code, seconds=200)
    record = out_dir(repo) / "evidence/base.json"
    return json.loads(record.read_bytes()) if record.exists() else {}


def verified(repo: Path, story: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out_dir(repo) / f"attempts/{story}/1/verification.json").read_bytes())
    return found


def test_a_check_runs_once_for_each_tree_however_many_stories_ask_for_it(tmp_path: Path) -> None:
    """The base of a story is the work of the one before, and the end of the run was seen as well."""
    count, stories = tmp_path / "count", 6
    script = f"echo >> {count}; grep -q kept kept.txt\n"
    repo = committed(tmp_path / "repo", {"prd.md": document([""] * stories), "check.sh": script, "kept.txt": "kept\n"})
    begun(repo, WRITES, "--verify", "sh check.sh")
    trees, spoiled = stories + 1, 1
    assert len(count.read_text()) == trees + spoiled
    assert [row["reused"] for row in verified(repo, "S6")["base"]] == [True]


def test_work_cannot_tell_from_variables_or_its_path_on_which_tree_it_runs(tmp_path: Path) -> None:
    """Else it could behave only where the old tests are run."""
    says = "import os\nprint(os.getcwd(), *sorted(f'{k}={v}' for k, v in os.environ.items() if 'TMP' not in k))\n"
    test = "import unittest\nimport app\n\nclass Test(unittest.TestCase):\n    def test_old(self):\n        pass\n"
    new = "    def test_new(self):\n        self.assertTrue(app.new)\n"
    files = {"prd.md": document([""]), "app.py": says, "tests/__init__.py": "", "tests/test_app.py": test}
    repo, log = committed(tmp_path / "repo", files), tmp_path / "log"
    (tmp_path / "new.py").write_text(test + new)
    agent = f"echo 'new = True' >> app.py; cp {tmp_path}/new.py tests/test_app.py\n"
    begun(repo, agent, "--verify", f"mkdir -p {log}; python3 -m unittest tests.test_app > $(mktemp -p {log})")
    seen = [re.sub(r"/tmp-\w+", "", one.read_text()) for one in log.iterdir()]
    assert len(seen) >= 4, "the base, the work, and each with the tests of the other"
    assert len(set(filter(None, seen))) == 1


def test_checks_of_the_base_run_side_by_side_and_tell_the_same_as_one_after_the_other(tmp_path: Path) -> None:
    """Promise 7. Two of them wait for each other, so they end only where both run."""
    records = []
    for jobs in (1, 2, 8):
        meeting = tmp_path / f"meet-{jobs}"
        meeting.mkdir()
        for name in ("a", "b"):
            (meeting / f"{name}.sh").write_text(
                f"test -e {meeting}/alone && exit 1; touch {meeting}/{name}\n"
                f"for i in $(seq 600); do test -e {meeting}/a -a -e {meeting}/b && exit 1; sleep 0.1; done; exit 2\n"
            )
        if jobs == 1:
            (meeting / "alone").touch()
        link = tmp_path / "meet"
        link.unlink(missing_ok=True)
        link.symlink_to(meeting)
        checks = [f"sh {link}/{name}.sh" for name in ("a", "b")] + [f"test -e {n}.txt" for n in range(40)]
        repo = committed(tmp_path / f"repo-{jobs}" / "repo", {"prd.md": document(checks)})
        records.append(begun(repo, "exit 1\n", "--jobs", str(jobs), "--max-attempts", "1", code=None))
    assert records[0]["base"] == records[1]["base"] == records[2]["base"]
    assert Counter(row["exit_code"] for row in records[0]["base"]) == {1: 42}


def test_what_was_examined_before_a_death_is_not_examined_again(tmp_path: Path) -> None:
    """Promises 3 and 4. When an agent has worked, nothing of it is left that could be believed."""
    count, kill = tmp_path / "count", tmp_path / "kill.sh"
    kill.write_text(f"echo last >> {count}; test $(grep -c last {count}) -gt 1 && exit 1\n{KILL_FROM_CHECK}")
    checks = [f"echo {n} >> {count}; test -e S{n}.txt" for n in range(1, 20)] + [f"sh {kill}"]
    repo = committed(tmp_path / "repo", {"prd.md": document(checks)})
    begun(repo, WRITES, "--max-attempts", "1", code=-signal.SIGKILL)
    before = Counter(count.read_text().split())
    assert set(before.values()) == {1}
    assert 5 < len(before) < 20
    santiago("resume", "--sandbox", "off", cwd=repo, env=place(repo), code=None)
    base = {row["command"]: row for row in json.loads((out_dir(repo) / "evidence/base.json").read_bytes())["base"]}
    assert [row["reused"] for row in base.values()] == [str(n) in before for n in range(1, 20)] + [False]
    assert not list(Path(place(repo)["XDG_CACHE_HOME"]).glob("**/examined"))


def test_a_base_that_a_person_repaired_is_examined_anew(tmp_path: Path) -> None:
    there = tmp_path / "there"
    repo = committed(tmp_path / "repo", {"prd.md": document([""])})
    tool = f"test -e {there} || {{ echo no-such-tool: command not found; exit 127; }}; test -e S1.txt"
    begun(repo, WRITES, "--verify", tool, code=10)
    there.touch()
    santiago("resume", "--sandbox", "off", cwd=repo, env=place(repo), code=0)


LOOKS = """ls -A "$GOCACHE" rust/target/debug/deps rust/target/debug 2>/dev/null | sort | tr "\\n" " "
find rust -name dep-lib -newer check.sh
"""
BUILDS = """mkdir -p rust/target/debug/deps rust/target/debug/.fingerprint/a
touch rust/target/debug/.fingerprint/a/dep-lib
for place in "$GOCACHE" rust/target/debug/deps rust/target/debug; do touch $place/of-$(cat version); done
echo poison > "$GOCACHE/users-own"
grep -Eqx "base|S1|S2" version
"""


@pytest.fixture
def fence() -> str:
    kind = detect("auto", dict(os.environ)).kind
    if kind not in ("bubblewrap", "namespaces"):
        pytest.skip("no sandbox with a file system of its own works here")
    return kind


def test_build_caches_hold_what_user_and_base_built_and_never_what_work_built(tmp_path: Path, fence: str) -> None:
    """A compiler believes its cache: what the work of one story writes there must not judge anything else."""
    own = tmp_path / "go-build"
    own.mkdir()
    (own / "users-own").write_text("mine")
    files = {"go.mod": "module x\n", "rust/Cargo.toml": "[package]\n", "version": "base", ".gitignore": "target\n"}
    repo = committed(tmp_path / "repo", {"prd.md": document(["", ""]), "check.sh": LOOKS + BUILDS, **files})
    settings = {"GOCACHE": str(own)}
    (tmp_path / "agent.sh").write_text(LOOKS + "printf $SANTIAGO_STORY > version\n")
    words = ("--agent", f"sh {tmp_path}/agent.sh", "--trust-commands", "--no-input", "--verify", "sh check.sh")
    santiago("run", "prd.md", *words, cwd=repo, env={**place(repo), **settings}, code=0, seconds=200)
    for story in ("S1", "S2"):
        found = verified(repo, story)
        seen = set(found["results"][0]["output"]["head"].split())
        assert {"users-own", "of-base"} <= seen, fence
        assert not {"of-S1", "of-S2"} & seen
        assert {".fingerprint", "deps"} <= seen
        assert "rust/target/debug/.fingerprint/a/dep-lib" not in seen, "all code counts as newer than what was built"
        assert found["results"][0]["output"]["head"].split().count("of-base") == 2, "no program that is ready to run"
        assert "users-own" not in (out_dir(repo) / f"attempts/{story}/1/agent.log").read_text(), "it has a network"
    assert (own / "users-own").read_text() == "mine"
    assert [one.name for one in own.iterdir()] == ["users-own"]


@pytest.mark.skipif(not shutil.which("go"), reason="go is not installed")
def test_go_compiles_the_standard_library_once_and_not_for_every_tree(tmp_path: Path, fence: str) -> None:
    code, test = 'package shop\n\nimport "fmt"\n\nfunc Two() string { return fmt.Sprint(2) }\n', "shop_test.go"
    tested = (
        'package shop\n\nimport "testing"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != "2" {\n\t\tt.Fatal()\n\t}\n}\n'
    )
    files = {"go.mod": "module example.org/shop\n\ngo 1.19\n", "shop.go": code, test: tested}
    repo = committed(tmp_path / "repo", {"prd.md": document([""]), **files})
    agent = "printf 'func Three() string { return fmt.Sprint(3) }\\n' >> shop.go\n"
    agent += f'sed \'s/Two/Three/g; s/"2"/"3"/; /^package/d; /^import/d\' {test} >> {test}.new; cat {test}.new >> {test}; rm {test}.new\n'
    (tmp_path / "empty").mkdir()
    (tmp_path / "agent.sh").write_text(agent)
    words = ("--agent", f"sh {tmp_path}/agent.sh", "--trust-commands", "--no-input", "--verify", "go test -x ./...")
    env = {**place(repo), "GOCACHE": str(tmp_path / "empty"), "GOFLAGS": "-count=1"}
    santiago("run", "prd.md", *words, cwd=repo, env=env, code=0, seconds=400)
    built = verified(repo, "S1")["results"][0]["output"]
    assert "-p example.org/shop" in built["head"] + built["tail"]
    assert "-p fmt" not in built["head"] + built["tail"], fence
