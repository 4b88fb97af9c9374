"""The verdict through the command line: what an attempt changes in its tests never helps it, and honest work gets through."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli import greeter
from tests.cli.greeter import looks, out_dir, place, says
from tests.cli.santiago import santiago

PRD = "# PRD: Numbers\n\n### R1: Add numbers\n\n{files}\n- [ ] add returns the sum\n"
SOURCE = "def add(a, b):\n    return a + b\n\n\ndef twice(a):\n    return 2 * a\n"
TESTS = """\
import unittest

import numbers_


class Numbers(unittest.TestCase):
    def test_twice(self):
        self.assertEqual(numbers_.twice(2), 4)
"""
WITH_ADD = TESTS + "\n    def test_add(self):\n        self.assertEqual(numbers_.add(1, 2), 3)\n"
CHECK = "python3 -m unittest -q test_numbers"
ONCE = {"santiago.toml": "[limits]\nstory_max_attempts = 1\n"}
BASE = {"numbers_.py": "def twice(a):\n    return 2 * a\n", "test_numbers.py": TESTS}
FLOATS = "twice(2), 4.0)\n        self.assertIsInstance(numbers_.twice(1), float)"
CHANGED = {
    "numbers_.py": SOURCE.replace("2 * a", "a + a + 0.0"),
    "test_numbers.py": WITH_ADD.replace("twice(2), 4)", FLOATS),
}
OLD = TESTS.replace(
    "        self.assertEqual(numbers_.twice(2), 4)", "        self.assertIsInstance(numbers_.twice(2), int)"
)
OUTSIDE = """\
case "$1" in
  S1) test -e one.txt ;;
  S2) test -e two.txt ;;
  S3) test -e three.txt ;;
  *) exit 1 ;;
esac
"""


def repository(folder: Path, files: dict[str, str], prd: str = PRD.format(files="")) -> Path:
    return greeter.committed(folder, {"prd.md": prd, **files})


def run(
    repo: Path, *works: Mapping[str, str | None], check: str = CHECK, more: tuple[str, ...] = (), **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run the document; the agent leaves these files, one mapping for each attempt, None deletes."""
    script = repo.parent / "agent.py"
    script.write_text(
        "import json, os, pathlib\n"
        f"works = json.loads({json.dumps(json.dumps(works))})\n"
        "for name, text in works[min(int(os.environ['SANTIAGO_ATTEMPT']), len(works)) - 1].items():\n"
        "    pathlib.Path(name).unlink() if text is None else pathlib.Path(name).write_text(text)\n"
    )
    arguments = ("--agent", f"python3 {script}", "--verify", check, "--sandbox", "off", "--no-input", *more)
    return santiago("run", "prd.md", *arguments, cwd=repo, env=place(repo), **options)


def story(repo: Path, number: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out_dir(repo) / "result.json").read_bytes())["stories"][number]
    return found


def verdict(repo: Path, attempt: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out_dir(repo) / f"attempts/S1/{attempt}/verification.json").read_bytes())
    return found


def test_tests_that_got_another_class_and_another_name_are_taken_for_what_they_were(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", BASE)
    renamed = WITH_ADD.replace("class Numbers", "class Sums").replace("test_twice", "test_doubles")
    ran = run(repo, {"numbers_.py": SOURCE, "test_numbers.py": renamed})
    assert (ran.returncode, story(repo)["proof"]) == (0, "own_tests"), ran.stderr


def test_new_tests_that_would_never_end_without_the_work_are_not_waited_for(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", BASE)
    endless = WITH_ADD.replace("test_add(self):", "test_add(self):\n        while not hasattr(numbers_, 'add'): pass")
    impatient = "from santiago.judge import tree_judge; tree_judge._LEAST_MS = 500; from santiago.cli.entry import entry; entry()"
    ran = run(repo, {"numbers_.py": SOURCE, "test_numbers.py": endless}, program=("-c", impatient))
    assert (ran.returncode, story(repo)["proof"]) == (0, "own_tests"), ran.stderr


def test_a_test_that_stood_and_failed_proves_the_work_also_if_that_ends_in_sys_exit(tmp_path: Path) -> None:
    program = (
        SOURCE + "import sys\n\n\ndef main():\n    return 0\n\n\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    repo = repository(tmp_path / "repo", {**BASE, "test_numbers.py": WITH_ADD})
    ran = run(repo, {"numbers_.py": program})
    assert "1 test failed already before any work: test_numbers.Numbers.test_add" in ran.stderr
    assert (story(repo)["status"], story(repo)["proof"]) == ("done", "proved")


def test_the_examples_of_a_new_module_show_it(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {**BASE, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"})
    ran = run(
        repo,
        {"sums.py": SOURCE.replace(":\n", ':\n    """\n    >>> add(1, 2)\n    3\n    """\n', 1)},
        check=f"{sys.executable} -m pytest -q",
    )
    assert (ran.returncode, story(repo)["proof"]) == (0, "own_tests"), ran.stderr


def test_tests_are_put_back_as_a_whole_where_examples_in_docstrings_are_run_too(tmp_path: Path) -> None:
    settings = {"pytest.ini": "[pytest]\naddopts = --doctest-modules\n"}
    repo = repository(tmp_path / "repo", {**BASE, **ONCE, **settings})
    broken = {"numbers_.py": "def twice(a):\n    return a\n", "test_numbers.py": TESTS.replace(", 4", ", 2")}
    ran = run(repo, broken, check=f"{sys.executable} -m pytest -q")
    assert ran.returncode == 10, ran.stderr
    assert story(repo)["reason"] == "changed_expectation"


@pytest.mark.parametrize(
    "eased", [TESTS, None, WITH_ADD.replace("def test_add", "@unittest.skip('')\n    def test_add")]
)
def test_a_story_whose_files_name_its_tests_is_not_done_by_reverting_them(tmp_path: Path, eased: str | None) -> None:
    """Proof, not promise: today's false green. The failing test is put back and still fails."""
    files = "**Files:** `numbers_.py`, `test_numbers.py`\n"
    kept = {
        "test_other.py": "import unittest\n\n\nclass Other(unittest.TestCase):\n    def test_it(self):\n        pass\n"
    }
    repo = repository(tmp_path / "repo", {**BASE, **kept, "test_numbers.py": WITH_ADD}, PRD.format(files=files))
    work = {"test_numbers.py": eased, "numbers_.py": BASE["numbers_.py"] + "# as asked\n"}
    ran = run(repo, work, check="python3 -m unittest discover", more=() if eased is None else ("--max-attempts", "1"))
    if eased is None:  # the second attempt did just the same
        assert (ran.returncode, story(repo)["reason"], story(repo)["attempts"]) == (10, "needs_user_confirmation", 2)
    assert story(repo)["status"] != "done"
    assert verdict(repo)["reason"] == "verification_tampered", ran.stderr
    assert verdict(repo)["eased"] == ["test_numbers.Numbers.test_add"]


def test_work_that_breaks_an_old_test_and_drops_it_is_asked_about_and_never_done(tmp_path: Path) -> None:
    broken = SOURCE.replace("2 * a", "a")
    repo = repository(tmp_path / "repo", BASE)
    ran = run(repo, {"numbers_.py": broken, "test_numbers.py": WITH_ADD.replace("def test_twice", "def twice")})
    assert ran.returncode == 10, ran.stderr
    assert story(repo)["reason"] == "changed_expectation"
    assert verdict(repo)["changed"] == ["test_numbers.Numbers.test_twice"]
    assert "-    def test_twice" in verdict(repo)["difference"]


def test_a_check_whose_tests_fail_has_failed_also_where_its_line_succeeds(tmp_path: Path) -> None:
    """The exit code of `pytest | tee log` is that of tee."""
    repo = repository(tmp_path / "repo", {**BASE, "test_numbers.py": WITH_ADD, **ONCE})
    ran = run(repo, {"numbers_.py": SOURCE.replace("a + b", "a - b")}, check=f"{CHECK} 2>&1 | cat")
    assert (ran.returncode, story(repo)["status"]) == (30, "failed"), ran.stderr


of_one_world = pytest.mark.xdist_group("doubted")


@pytest.fixture(scope="module")
def doubted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of a run that asks about a changed expectation; a second attempt would change none."""
    repo = repository(tmp_path_factory.mktemp("doubted") / "repo", {**BASE, "test_numbers.py": OLD})
    ran = run(repo, CHANGED, {"numbers_.py": SOURCE, "test_numbers.py": OLD + WITH_ADD.removeprefix(TESTS)})
    assert (ran.returncode, story(repo)["reason"], story(repo)["attempts"]) == (10, "changed_expectation", 1)
    assert "santiago answer S1-1 accept" in ran.stderr
    return repo


@of_one_world
def test_a_changed_expectation_is_a_question_and_a_person_may_accept_it(doubted: Path, tmp_path: Path) -> None:
    repo = greeter.copied(doubted, tmp_path)
    told = looks(repo, "answer", "S1-1", "approve")
    assert (told.returncode, "takes accept, refuse" in told.stderr) == (2, True)
    assert looks(repo, "answer", "S1-1", "accept").returncode == 0
    says(repo, "resume", "--no-input", code=0)
    assert (story(repo)["status"], story(repo)["proof"], story(repo)["attempts"]) == ("done", "attested", 1)


@of_one_world
def test_a_refused_change_goes_back_to_the_agent_with_the_persons_words(doubted: Path, tmp_path: Path) -> None:
    repo = greeter.copied(doubted, tmp_path)
    assert looks(repo, "answer", "S1-1", "refuse", "--text", "twice stays an int").returncode == 0
    says(repo, "resume", "--no-input", code=0)
    assert (story(repo)["status"], story(repo)["proof"], story(repo)["attempts"]) == ("done", "own_tests", 2)
    assert "twice stays an int" in (out_dir(repo) / "attempts/S1/2/prompt.md").read_text()


@of_one_world
def test_accept_takes_refused_work_as_it_is_and_records_who_and_why(doubted: Path, tmp_path: Path) -> None:
    repo = greeter.copied(doubted, tmp_path)
    says(repo, "accept", "S1", "--why", "floats are fine", code=0)
    assert (story(repo)["status"], story(repo)["proof"]) == ("done", "attested")
    events = [json.loads(line) for line in (out_dir(repo) / "progress.ndjson").read_text().splitlines()]
    accepted = next(event for event in events if event["event"] == "story_accepted")
    assert (accepted["actor"], accepted["context"]["text"]) == ("user", "floats are fine")
    looks(repo, "audit", code=0)
    again = says(repo, "resume", out_dir(repo).name, "--no-input", code=0)
    assert "attested: S1 by user: floats are fine\n" in again.stderr, "a later start tells it, too"


@pytest.mark.parametrize(("policy", "code"), [("accept", 0), ("refuse", 30)])
def test_the_policy_may_answer_for_changed_tests(tmp_path: Path, policy: str, code: int) -> None:
    repo = repository(tmp_path / "repo", {**BASE, **ONCE, "test_numbers.py": OLD})
    ran = run(repo, CHANGED, more=("--changed-tests", policy))
    assert ran.returncode == code, ran.stderr
    assert verdict(repo)["changed"] == ["test_numbers.Numbers.test_twice"]


def test_doubtful_work_is_asked_about_with_file_and_line(tmp_path: Path) -> None:
    liar = SOURCE + "import os, sys\nif 'unittest' in sys.modules:\n    os._exit(0)\n"
    repo = repository(tmp_path / "repo", {**BASE, "test_numbers.py": WITH_ADD})
    ran = run(repo, {"numbers_.py": liar}, check="python3 -c 'import numbers_; assert numbers_.add(1, 2) == 3'")
    assert ran.returncode == 10, ran.stderr
    assert story(repo)["reason"] == "doubted"
    assert "numbers_.py:" in ran.stderr


def test_a_check_outside_the_repository_that_is_given_the_story_judges_each_for_itself(tmp_path: Path) -> None:
    """Proof, not promise: today's false green. Only the first story is really done."""
    prd = "# PRD\n\n" + "".join(f"### R{n}: Story {n}\n\n- [ ] it is there\n\n" for n in (1, 2, 3))
    repo = repository(tmp_path / "repo", {**ONCE, "one.md": "x"}, prd)
    (tmp_path / "judge.sh").write_text(OUTSIDE)
    ran = run(
        repo, {"one.txt": "1", "more.txt": "x"}, check=f"sh {tmp_path}/judge.sh $SANTIAGO_STORY", more=("--keep-going",)
    )
    assert ran.returncode != 0
    assert [story(repo, n)["status"] for n in range(3)] == ["done", "failed", "failed"], ran.stderr


def test_a_check_that_flaked_once_is_not_remembered_as_the_failure_of_later_attempts(tmp_path: Path) -> None:
    flag = tmp_path / "flaked"
    flaky = (
        "import unittest, pathlib\n\nimport numbers_\n\n\nclass Flaky(unittest.TestCase):\n    def test_add(self):\n"
        f"        self.assertEqual(numbers_.add(1, 2), 3)\n        flag = pathlib.Path({str(flag)!r})\n"
        "        first = not flag.exists()\n        flag.write_text('')\n        self.assertFalse(first)\n"
    )
    repo = repository(tmp_path / "repo", {**BASE, "test_numbers.py": flaky})
    ran = run(repo, {"numbers_.py": SOURCE})
    assert ran.returncode == 0, ran.stderr
    assert story(repo)["attempts"] == 2


def once(flag: Path, name: str = "test_twice") -> str:
    """A test that fails on the work, the first time that it runs there."""
    return TESTS.replace("test_twice", name) + (
        f"        import pathlib\n        flag = pathlib.Path({str(flag)!r})\n"
        "        if hasattr(numbers_, 'add') and not flag.exists():\n            flag.touch()\n            self.fail()\n"
    )


def test_a_test_of_the_base_that_fails_once_and_then_passes_is_flaky_and_costs_no_attempt(tmp_path: Path) -> None:
    """An unchanged test only, and it is named wherever people look."""
    name = "test_numbers.Numbers.test_twice"
    repo = repository(tmp_path / "repo", {**BASE, "test_numbers.py": once(tmp_path / "flag")})
    new = "import unittest\n\nimport numbers_\n\n\nclass Add(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(numbers_.add(1, 2), 3)\n"
    ran = run(repo, {"numbers_.py": SOURCE, "test_add.py": new}, check="python3 -m unittest discover")
    assert ran.returncode == 0, ran.stderr
    assert (story(repo)["proof"], story(repo)["attempts"], verdict(repo)["flaky"]) == ("own_tests", 1, [name])
    assert name in ran.stderr
    assert name in looks(repo, "status").stdout
    assert json.loads(looks(repo, "status", "--json").stdout)["stories"][0]["flaky"] == [name]
    assert json.loads(looks(repo, "show", "S1", "--json").stdout)["flaky"] == [name]
    for command in ("show", "explain"):
        told = looks(repo, command, "S1").stdout
        assert "failed once" in told
        assert name in told


@pytest.mark.parametrize("name", ["test_new", "test_twice"])
def test_a_new_or_changed_test_that_fails_gets_no_second_chance(tmp_path: Path, name: str) -> None:
    """Proof, not promise: work that makes its own tests random must not pass by luck."""
    repo = repository(tmp_path / "repo", {**BASE, **ONCE})
    changed = once(tmp_path / "flag", name).replace(
        "class Numbers", "class Numbers" if name == "test_twice" else "class New"
    )
    tests = changed if name == "test_twice" else TESTS + changed.removeprefix("import unittest\n\nimport numbers_\n")
    ran = run(repo, {"numbers_.py": SOURCE, "test_numbers.py": tests})
    assert (ran.returncode, verdict(repo)["flaky"]) == (30, []), ran.stderr


PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider"


def test_a_test_that_is_no_longer_marked_as_failing_is_taken_without_a_question(tmp_path: Path) -> None:
    mark = "import pytest\n\nimport numbers_\n\n\n@pytest.mark.xfail(strict=True)\n"
    test = "def test_add():\n    assert numbers_.add(1, 2) == 3\n"
    repo = repository(tmp_path / "repo", {**BASE, "test_add.py": mark + test})
    ran = run(repo, {"numbers_.py": SOURCE, "test_add.py": f"import numbers_\n\n\n{test}"}, check=PYTEST)
    assert (ran.returncode, story(repo)["proof"]) == (0, "own_tests"), ran.stderr


def test_a_story_that_repairs_a_wrong_test_is_asked_about_at_once_and_not_accused(tmp_path: Path) -> None:
    prd = "# PRD: Numbers\n\n### R1: Correct the wrong test of twice\n\n- [ ] the test expects 4\n"
    repo = repository(tmp_path / "repo", {**BASE, "test_numbers.py": TESTS.replace("twice(2), 4", "twice(2), 5")}, prd)
    ran = run(repo, {"test_numbers.py": TESTS})
    assert (ran.returncode, story(repo)["reason"], story(repo)["attempts"]) == (10, "changed_expectation", 1), (
        ran.stderr
    )
    assert (verdict(repo)["eased"], verdict(repo)["changed"]) == ([], ["test_numbers.Numbers.test_twice"])
    assert "+        self.assertEqual(numbers_.twice(2), 4)" in verdict(repo)["difference"]


def test_a_base_on_which_the_check_cannot_run_blocks_the_run_and_spends_nothing(tmp_path: Path) -> None:
    needs = {"requirements.txt": "surely_not_installed\n", "test_numbers.py": "import surely_not_installed\n"}
    repo = repository(tmp_path / "repo", {**BASE, **needs})
    ran = run(repo, {"numbers_.py": SOURCE})
    assert ran.returncode == 10, ran.stderr
    result = json.loads((out_dir(repo) / "result.json").read_bytes())
    assert (result["reason"], result["usage"]["attempts"]) == ("verification_unrunnable", 0)
    assert "the Python module `surely_not_installed` is missing" in ran.stderr
    assert "setup" in ran.stderr


def test_a_module_that_the_story_has_still_to_write_is_red_and_not_unrunnable(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"test_numbers.py": WITH_ADD})
    ran = run(repo, {"numbers_.py": SOURCE})
    assert ran.returncode == 0, ran.stderr
    assert story(repo)["proof"] == "proved"


def test_a_check_that_sees_nothing_of_the_checkout_is_refused_before_the_first_attempt(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", BASE)
    ran = run(repo, {"numbers_.py": SOURCE}, check="test -e test_numbers.py")
    assert (ran.returncode, "replaced with garbage" in ran.stderr) == (30, True), ran.stderr
    result = json.loads((out_dir(repo) / "result.json").read_bytes())
    assert (result["reason"], result["usage"]["attempts"]) == ("nothing_verified", 0)


def test_a_check_that_fails_on_the_code_and_would_pass_without_it_is_not_blind(tmp_path: Path) -> None:
    """One of its tests sees nothing; the other asks for something to be gone."""
    tests = (
        "import pathlib\nimport unittest\n\n\nclass Tidy(unittest.TestCase):\n"
        "    def test_nothing(self):\n        pass\n\n"
        "    def test_no_print(self):\n        self.assertNotIn(b'print', pathlib.Path('numbers_.py').read_bytes())\n"
    )
    base = {"numbers_.py": "def twice(a):\n    print(a)\n    return 2 * a\n", "test_tidy.py": tests}
    repo = repository(tmp_path / "repo", base)
    # Where numbers_.py is missing the test fails as well, so only garbage in it shows that the check looks at it.
    ran = run(repo, {"numbers_.py": SOURCE}, check="python3 -m unittest -q test_tidy")
    assert ran.returncode == 0, ran.stderr
    assert story(repo)["proof"] == "proved"


def test_a_check_that_writes_more_reports_than_are_read_is_judged_as_a_whole_and_that_is_said(tmp_path: Path) -> None:
    writes = (
        "import numbers_, pathlib\nfor one in range(1001):\n    pathlib.Path(f'{one}.xml').write_text('<testsuite/>')\n"
    )
    repo = repository(tmp_path / "repo", {**BASE, "reports.py": writes})
    ran = run(repo, {"numbers_.py": SOURCE}, check="python3 reports.py")
    assert "`python3 reports.py` writes more than the 1000 test reports that are read" in ran.stderr
    assert story(repo)["status"] == "done"


def test_easing_that_is_spread_over_two_stories_is_caught_by_the_runs_verification(tmp_path: Path) -> None:
    prd = "# PRD\n\n### R1: First\n\n- [ ] it is there\n\n### R2: Second\n\n- [ ] it is there\n"
    repo = repository(tmp_path / "repo", BASE, prd)
    eased = TESTS.replace("numbers_.twice(2), 4", "1, 1")
    script = (
        "import os, pathlib\n"
        f"eased, broken = {eased!r}, {BASE['numbers_.py'].replace('2 * a', 'None')!r}\n"
        "first = os.environ['SANTIAGO_STORY'] == 'S1'\n"
        "pathlib.Path('test_numbers.py' if first else 'numbers_.py').write_text(eased if first else broken)\n"
    )
    (tmp_path / "two.py").write_text(script)
    arguments = ("--agent", f"python3 {tmp_path}/two.py", "--verify", CHECK, "--sandbox", "off", "--no-input")
    says(repo, "run", "prd.md", *arguments, code=30)
    result = json.loads((out_dir(repo) / "result.json").read_bytes())
    assert (result["status"], result["reason"]) == ("failed", "run_verification_failed")


def test_work_with_a_new_test_is_done_by_it_and_evidence_names_each_criterions_test(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", BASE)
    (tmp_path / "agent.sh").write_text(
        f"cat > numbers_.py <<'E'\n{SOURCE}E\ncat > test_numbers.py <<'E'\n{WITH_ADD}E\n"
        'id=$(grep -o \'"[^"]*": "tests/test_example\' "$SANTIAGO_PROMPT_FILE" | cut -d\\" -f2)\n'
        'printf \'{"%s": "test_numbers.Numbers.test_add"}\' "$id" > "$SANTIAGO_EVIDENCE"\n'
    )
    arguments = ("--agent", f"sh {tmp_path}/agent.sh", "--verify", CHECK, "--sandbox", "off", "--no-input")
    says(repo, "run", "prd.md", *arguments, code=0)
    [row] = verdict(repo)["criteria"]
    assert (row["test"], row["before"], row["after"]) == ("test_numbers.Numbers.test_add", "failed", "passed")
    assert (story(repo)["status"], story(repo)["proof"]) == ("done", "own_tests")
