"""The verdict and its strength: only what ran counts, and what the base already had is nobody's fault or merit."""

from __future__ import annotations

import pytest

from santiago.contract.outcomes import CheckResult, CheckVerdict, Output, Proof
from santiago.contract.reasons import Reason
from santiago.contract.units import Seconds
from santiago.verification import record
from santiago.verification.counting.missing import Base
from santiago.verification.counting.verdict import judge, said_no

PASS, FAIL, NOT_RUN, INHERITED = CheckVerdict.PASS, CheckVerdict.FAIL, CheckVerdict.NOT_RUN, CheckVerdict.INHERITED


def result(
    command: str = "./check", code: int | None = 0, text: str = "", checks: int | None = None, **more: object
) -> CheckResult:
    verdict = more.pop("verdict", PASS if code == 0 else FAIL)
    output = Output(head=text, tail="", dropped=0, total=len(text))
    fields = {"timed_out": False, **more}
    return CheckResult(
        command=command, exit_code=code, seconds=Seconds(1), output=output, checks=checks, verdict=verdict, **fields  # type: ignore[arg-type]
    )  # fmt: skip


def pytest_run(failed: list[str], passed: int, code: int | None = None, seconds: str = "0.1") -> CheckResult:
    lines = [f"FAILED tests/t.py::{name} - assert 1 == 2" for name in failed]
    count = f"{len(failed)} failed, " if failed else ""
    text = "\n".join([*lines, f"{count}{passed} passed in {seconds}s\n"])
    return result("pytest", (1 if failed else 0) if code is None else code, text, len(failed) + passed)


def test_no_check_at_all_is_nothing_verified() -> None:
    assert judge(None, ()).reason is Reason.NOTHING_VERIFIED
    assert judge((), (), has_checks=False).reason is Reason.NOTHING_VERIFIED


def test_tampering_comes_before_anything_else() -> None:
    verdict = judge(None, [result()], ["tests/test_a.py"])
    assert (verdict.passed, verdict.reason, verdict.proof) == (False, Reason.VERIFICATION_TAMPERED, None)
    assert verdict.tampered == ("tests/test_a.py",)
    assert judge(None, (), ["x"]).reason is Reason.VERIFICATION_TAMPERED


@pytest.mark.parametrize(
    "results",
    [
        [result("true")],
        [result("pytest || true")],
        [result("echo ok"), result("exit 0")],
        [result("pytest", checks=0)],
        [result("./check"), result("pytest", checks=0)],
        [result("npm test", checks=0)],
    ],
)
def test_no_ops_and_runners_without_tests_are_never_green(results: list[CheckResult]) -> None:
    verdict = judge(results, results)
    assert (verdict.passed, verdict.reason) == (False, Reason.NOTHING_VERIFIED)


def test_a_no_op_beside_a_real_check_does_no_harm() -> None:
    assert judge(None, [result("echo begin"), result("./check")]).passed


def test_green_before_and_after_is_regression() -> None:
    assert judge([result()], [result()]).proof is Proof.REGRESSION
    assert judge(None, [result()]).proof is Proof.REGRESSION


def test_red_before_and_green_after_is_proved() -> None:
    assert judge([result(code=1, text="assertion failed")], [result()]).proof is Proof.PROVED
    assert judge([pytest_run(["test_new"], 3)], [pytest_run([], 4)]).proof is Proof.PROVED


def test_a_missing_module_under_test_is_a_failure_of_the_work_and_so_a_proof() -> None:
    text = "ImportError while importing test module 'tests/test_a.py'\nE   ModuleNotFoundError: No module named 'calc'\n1 error in 0.1s\n"
    before = result("pytest tests/test_a.py", 2, text, 1)
    assert judge([before], [result("pytest tests/test_a.py", checks=1)]).proof is Proof.PROVED


@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        (
            "pytest tests/test_new.py",
            4,
            "ERROR: file or directory not found: tests/test_new.py\n\nno tests ran in 0.00s\n",
        ),
        ("pytest -q", 5, "no tests ran in 0.00s\n"),
        ("python -m unittest", 5, "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n"),
        ("python -m unittest tests.test_new", 1, "ModuleNotFoundError: No module named 'tests.test_new'\n"),
        ("python -m unittest tests.test_new", 1, "ModuleNotFoundError: No module named 'tests'\n"),
        (
            "python scripts/check.py",
            2,
            "python: can't open file '/x/scripts/check.py': [Errno 2] No such file or directory\n",
        ),
        ("sh check.sh", 2, "sh: 0: cannot open check.sh: No such file\n"),
        ("sh check.sh", 127, "sh: check.sh: No such file or directory\n"),
        ("./check.sh", 127, "/bin/sh: 1: ./check.sh: not found\n"),
        ("grep -q hello hello.txt", 2, "grep: hello.txt: No such file or directory\n"),
        ("node test.js", 1, "Error: Cannot find module '/x/test.js'\n"),
        ("npx jest a.test.js", 1, "No tests found, exiting with code 1\n"),
        ("npx vitest run", 1, "No test files found, exiting with code 1\n"),
        ("npm test", 1, 'npm ERR! Missing script: "test"\n'),
        ("make test", 2, "make: *** No rule to make target 'test'.  Stop.\n"),
        ("go test ./new", 1, "stat /x/new: directory not found\n"),
        ("cargo test --test new", 101, "error: no test target named `new`\n"),
        ("no-such-tool", 127, "sh: 1: no-such-tool: not found\n"),
    ],
)
def test_a_check_that_was_not_there_proves_nothing(command: str, code: int, text: str) -> None:
    before = result(command, code, text, 0 if "pytest" in command else None)
    assert not said_no(before, Base({"tests/__init__.py", "Makefile", "package.json"}))
    assert judge([before], [result(command, checks=3)]).proof is Proof.REGRESSION


NODE = "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/x/lib/upper.js' imported from /x/test/upper.test.js\n"
PACKAGE = '{"scripts": {"test": "node --test test/upper.test.js"}}'
MAKEFILE = "CC = gcc\ntest: t/a\n\t./t/a\nt/a:\n\t$(CC) t/a.c -o t/a\nshell:\n\tsh t/greet.sh\n"
ON_BASE = [
    ("node --test test/upper.test.js", 1, NODE, "test/upper.test.js"),
    ("npm test", 1, NODE, "test/upper.test.js"),
    ("cd web && node --test test/upper.test.js", 1, NODE, "web/test/upper.test.js"),
    (
        "npx jest test/upper.test.js",
        1,
        "Cannot find module '../lib/upper' from 'test/upper.test.js'\n",
        "test/upper.test.js",
    ),
    ("npx jest upper", 1, "Cannot find module '../lib/upper' from 'test/upper.test.js'\n", "test/upper.test.js"),
    (
        "npx tsc --noEmit test/upper.ts",
        2,
        "test/upper.ts(1,23): error TS2307: Cannot find module '../lib/upper' or its corresponding type declarations.\n",
        "test/upper.ts",
    ),
    ("gcc t/a.c -o t/a && ./t/a", 1, "t/a.c:1:10: fatal error: lib.h: No such file or directory\n", "t/a.c"),
    ("make test", 2, "t/a.c:1:10: fatal error: lib.h: No such file or directory\nmake: *** [Makefile:5: t/a] Error 1\n", "t/a.c"),
    ("sh t/greet.sh", 1, "t/greet.sh: 1: ./greet.sh: not found\n", "t/greet.sh"),
    ("sh t/greet.sh", 127, "t/greet.sh: 1: ./greet.sh: not found\n", "t/greet.sh"),
    ("./t/greet.sh", 127, "./t/greet.sh: line 1: ./greet.sh: No such file or directory\n", "t/greet.sh"),
    ("make shell", 2, "t/greet.sh: 1: ./greet.sh: not found\nmake: *** [Makefile:7: shell] Error 1\n", "t/greet.sh"),
    ("python3 check.py", 1, "check.py: config.toml: No such file or directory\n", "check.py"),
    ("python3 -m unittest tests.test_a.Add", 1, "tests.test_a: FileNotFoundError: data.txt not found\n", "tests/test_a.py"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "code", "text", "check"), ON_BASE)
def test_a_check_that_stood_and_did_not_find_what_it_asks_for_is_a_proof(
    command: str, code: int, text: str, check: str
) -> None:
    files = {"package.json": PACKAGE, "Makefile": MAKEFILE, check: ""}
    before = result(command, code, text)
    proof = judge([before], [result(command, checks=1)], tree=reading(files)).proof
    assert proof is Proof.PROVED


@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        ("node --test test/upper.test.js", 1, "Could not find '/x/test/upper.test.js'\n"),
        ("npm test", 1, "> node --test test/upper.test.js\n\nCould not find '/x/test/upper.test.js'\n"),
        ("npm test -- test/more.test.js", 1, "Could not find '/x/test/more.test.js'\n"),
        ("node test/upper.test.js", 1, "Error: Cannot find module '/x/test/upper.test.js'\n"),
        ("node ./test", 1, "Error: Cannot find module '/x/test'\n"),
        ("npx tsc --noEmit test/upper.ts", 2, "error TS6053: File 'test/upper.ts' not found.\n"),
        ("gcc t/a.c -o t/a && ./t/a", 1, "cc1: fatal error: t/a.c: No such file or directory\ncompilation terminated.\n"),
        ("make test", 2, "cc1: fatal error: t/a.c: No such file or directory\nmake: *** [Makefile:5: t/a] Error 1\n"),
        ("make shell", 2, "sh: 0: cannot open t/greet.sh: No such file\nmake: *** [Makefile:7: shell] Error 2\n"),
        ("sh t/greet.sh", 2, "sh: 0: cannot open t/greet.sh: No such file\n"),
        ("sh t/greet.sh", 127, "sh: t/greet.sh: No such file or directory\n"),
        ("cd t && ./greet.sh", 127, "/bin/sh: 1: ./greet.sh: not found\n"),
        ("./t/run < t/in.txt", 2, "/bin/sh: 1: cannot open t/in.txt: No such file\n"),
        ("python3 -m unittest tests.test_new", 1, "ModuleNotFoundError: No module named 'tests.test_new'\n"),
    ],
)  # fmt: skip
def test_a_check_that_the_base_does_not_have_is_no_proof_whatever_stands_beside_it(
    command: str, code: int, text: str
) -> None:
    files = {"package.json": PACKAGE, "Makefile": MAKEFILE, "t/run": "", "test/x.js": "", "tests/__init__.py": ""}
    proof = judge([result(command, code, text)], [result(command, checks=1)], tree=reading(files)).proof
    assert proof is Proof.REGRESSION


def reading(files: dict[str, str]) -> Base:
    return Base(frozenset(files), lambda path: files[path].encode() if path in files else None)


def test_a_base_that_timed_out_or_could_not_start_proves_nothing() -> None:
    assert judge([result(code=None, timed_out=True, verdict=FAIL)], [result()]).proof is Proof.REGRESSION
    assert judge([result(code=1, cause="unrunnable")], [result()]).proof is Proof.REGRESSION


def test_a_failure_is_the_storys_where_the_base_does_not_have_it() -> None:
    verdict = judge([result()], [result(code=1, text="boom")])
    assert (verdict.passed, verdict.reason) == (False, Reason.STORY_VERIFICATION_FAILED)


def test_a_failure_that_the_base_has_is_inherited_and_the_rest_decides() -> None:
    old = pytest_run(["test_old", "test_older"], 3)
    verdict = judge([old, result()], [pytest_run(["test_old"], 5, seconds="9.9"), result()])
    assert (verdict.passed, verdict.proof) == (True, Proof.REGRESSION)
    assert [one.verdict for one in verdict.results] == [INHERITED, PASS]


def test_a_test_that_is_new_and_passes_excuses_none_that_fails_as_before() -> None:
    old = pytest_run(["test_mine"], 3)
    verdict = judge([old, result()], [pytest_run(["test_mine"], 4), result()])
    assert (verdict.passed, verdict.reason) == (False, Reason.STORY_VERIFICATION_FAILED)


def test_failures_that_count_although_the_base_has_them_are_named() -> None:
    old = pytest_run(["test_old"], 3)
    assert judge([old], [old]).as_before == ("tests/t.py::test_old",)
    assert judge([old], [pytest_run(["test_mine", "test_old"], 3)]).as_before == ("tests/t.py::test_old",)
    assert judge([old], [pytest_run(["test_mine"], 3)]).as_before == ()
    script = result("./check", 1, "old trouble")
    assert judge([script], [script]).as_before == ("`./check`",)
    assert judge([script], [result("./check", 1, "new trouble")]).as_before == ()
    assert judge([script], [script], own=("./check",)).as_before == ()
    assert judge([old, result("make", 1)], [old, result("make")]).as_before == ()


def test_a_failure_as_before_is_shown_where_there_is_nothing_else_to_go_by() -> None:
    """Whoever is told that it is not held against them would never find out what is."""
    old = result("./check", 1, "No module named 'calc'")
    verdict = judge([old], [old])
    assert (verdict.reason, [one.verdict for one in verdict.results]) == (Reason.STORY_VERIFICATION_FAILED, [FAIL])


def test_a_runner_that_finds_no_test_before_and_after_verifies_nothing() -> None:
    none = result("pytest -q", 5, "no tests ran in 0.01s\n", 0)
    assert judge([none], [none]).reason is Reason.NOTHING_VERIFIED
    assert (
        judge([pytest_run([], 3)], [result("pytest", 5, "no tests ran in 0.01s\n", 0)]).reason
        is Reason.NOTHING_VERIFIED
    )


def test_an_inherited_failure_alone_is_not_green() -> None:
    old = pytest_run(["test_old"], 3)
    assert judge([old], [old]).reason is Reason.STORY_VERIFICATION_FAILED
    assert judge([old, result("true")], [old, result("true")]).reason is Reason.STORY_VERIFICATION_FAILED


def test_a_failing_check_that_may_be_the_storys_own_is_inherited_only_where_something_new_is_shown() -> None:
    """Otherwise a story whose test fails before and after would be done because something else passes."""
    old = pytest_run(["test_mine"], 3)
    verdict = judge([old, result("make build")], [old, result("make build")])
    assert verdict.reason is Reason.STORY_VERIFICATION_FAILED
    assert verdict.results[0].verdict is FAIL
    proved = judge([old, result("make build", 1, "boom")], [old, result("make build")])
    assert (proved.passed, proved.proof) == (True, Proof.PROVED)


def test_a_storys_own_check_is_never_inherited() -> None:
    old = result("./accept.sh", 1, "add is wrong")
    verdict = judge([old, result("x", 1, "no")], [old, result("x")], own=("./accept.sh",))
    assert verdict.reason is Reason.STORY_VERIFICATION_FAILED


def test_a_further_failing_test_is_not_inherited() -> None:
    before, after = pytest_run(["test_old"], 3), pytest_run(["test_old", "test_mine"], 3)
    verdict = judge([before, result()], [after, result()])
    assert verdict.reason is Reason.STORY_VERIFICATION_FAILED
    assert verdict.results[0].verdict is FAIL


def test_another_failing_test_is_not_inherited_though_there_are_as_many() -> None:
    verdict = judge([pytest_run(["test_old"], 3), result()], [pytest_run(["test_mine"], 3), result()])
    assert verdict.reason is Reason.STORY_VERIFICATION_FAILED


def test_another_exit_code_or_fewer_checks_are_not_inherited() -> None:
    before = pytest_run(["test_old"], 3)
    assert not judge([before, result()], [pytest_run(["test_old"], 3, code=2), result()]).passed
    assert not judge([before, result()], [pytest_run(["test_old"], 1), result()]).passed


def test_without_test_names_the_last_lines_are_compared_without_what_varies() -> None:
    before = result("make lint", 2, "/tmp/base/src/a.c:12:3: error: unused x (0x7f01)\ntook 3.1s\n")
    same = result("make lint", 2, "/tmp/work/src/a.c:19:3: error: unused x (0x7e55)\ntook 12.9s\n")
    other = result("make lint", 2, "/tmp/work/src/b.c:19:3: error: unused y\ntook 12.9s\n")
    assert judge([before, result()], [same, result()]).passed
    assert judge([before, result()], [other, result()]).reason is Reason.STORY_VERIFICATION_FAILED


def test_what_did_not_run_after_an_inherited_failure_is_not_taken_for_green() -> None:
    old = pytest_run(["test_old"], 3)
    assert not judge([old], [result(), old, result("./later", None, verdict=NOT_RUN)]).passed


def test_each_way_of_failing_has_its_reason() -> None:
    assert judge(None, [result(code=None, timed_out=True, verdict=FAIL)]).reason is Reason.VERIFICATION_TIMEOUT
    assert judge(None, [result(code=127, cause="unrunnable")]).reason is Reason.VERIFICATION_UNRUNNABLE
    assert judge(None, [result(code=None, cause="output_limit", verdict=FAIL)]).reason is Reason.OUTPUT_LIMIT
    assert judge(None, [result(code=None, cause="stopped", verdict=NOT_RUN)]).reason is Reason.INTERRUPTED
    assert judge(None, [result(code=0, cause="contradicted", verdict=FAIL)]).reason is Reason.STORY_VERIFICATION_FAILED


def test_what_the_attempt_made_unrunnable_is_its_own_failure() -> None:
    gone = result(code=127, cause="unrunnable")
    assert judge([result()], [gone]).reason is Reason.STORY_VERIFICATION_FAILED
    assert judge([gone], [gone]).reason is Reason.VERIFICATION_UNRUNNABLE


def test_checks_that_went_away_are_missed() -> None:
    before = result("make test", checks=12)
    assert judge([before], [result("make test", checks=None)]).reason is Reason.NOTHING_VERIFIED
    assert judge([before], [result("make test", checks=3)]).reason is Reason.NOTHING_VERIFIED
    assert judge([before], [result("make test", checks=3)], fewer_allowed=True).passed
    assert judge([before], [result("make test", checks=13)]).passed


def test_the_record_is_the_same_for_the_same_verdict_and_tells_others_apart() -> None:
    one, two = judge(None, [result()]), judge(None, [result(text="x")])
    assert record.document(one) == record.document(judge(None, [result()]))
    assert record.document(one) != record.document(two)
    assert b'"verdict": "pass"' in record.document(one)
