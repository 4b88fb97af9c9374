"""Tests that are written before the work: they must run, and fail for want of it."""

from __future__ import annotations

from collections.abc import Sequence

from santiago.contract.outcomes import Verdict
from santiago.judge import tests_first, verdict
from santiago.judge.missing import Missing
from santiago.judge.shown import Shown
from santiago.judge.verdict import Check
from tests.judge.showing import shown
from tests.judge.test_verdict import of_old_tests
from tests.util.each import each

FILES = frozenset({"tests/test_new.py", "tests/test_old.py", "a.test.js"})
NO_MODULE = "E   ModuleNotFoundError: No module named 'greet'"


def judged(old: Shown, new: Shown, *, changed: Sequence[str] = (), lacks: Missing | None = None) -> Verdict:
    return tests_first.verdict([(old, new)], FILES, lambda test: test in changed, lambda _: lacks)


def test_new_tests_that_fail_are_what_is_wanted() -> None:
    found = judged(shown("a b-"), shown("a b- c- d"))
    assert found.passed
    assert found.awaiting == ("c",)


def test_tests_that_pass_already_show_nothing() -> None:
    found = judged(shown("a"), shown("a b c"))
    assert not found.passed
    assert "pass already without the work, so they show nothing" in found.message
    assert "- b\n- c" in found.message


def test_tests_that_no_check_runs_are_refused() -> None:
    assert "None of the checks runs the new tests: `pytest`" in judged(shown("a"), shown("a")).message


def test_a_test_that_failed_before_is_not_new() -> None:
    assert not judged(shown("a b-"), shown("a b-")).passed


@each("test", ["tests/test_new.py", "tests.test_new", "test_new", "a.test.js"])
def test_a_file_that_cannot_be_loaded_counts_only_for_want_of_the_work(test: str) -> None:
    found = judged(shown("a"), shown(f"{test}-", output=NO_MODULE))
    assert (found.passed, found.awaiting) == (True, (test,))
    assert "missing work is not the cause" in judged(shown("a"), shown(f"{test}-", output="ZeroDivisionError")).message
    assert "Mend their syntax" in judged(shown("a"), shown(f"{test}-", output=f"{NO_MODULE}\nSyntaxError: x")).message


def test_a_module_that_is_not_the_repositorys_to_write_is_no_want_of_the_work() -> None:
    lacks = Missing(command="pytest", kind="Python", name="hypothesis")
    found = judged(shown("a"), shown("tests/test_new.py-", output=NO_MODULE), lacks=lacks)
    assert "need the Python module `hypothesis`, which is not installed here" in found.message


def test_old_tests_must_not_break_or_go() -> None:
    assert "- a\n" in judged(shown("a b"), shown("a- b c-")).message
    assert "- b\n" in judged(shown("a b"), shown("a c-")).message


def test_old_tests_that_a_file_which_cannot_be_loaded_hides_are_fine_unless_they_were_changed() -> None:
    new = shown("tests/test_new.py-", output=NO_MODULE)
    assert judged(shown("a b"), new).passed
    assert "- b\n" in judged(shown("a b"), new, changed=["b"]).message


def test_a_check_that_hangs_or_cannot_start_is_refused() -> None:
    assert "does not end" in judged(shown("a"), shown(exit_code=124, timed_out=True)).message
    assert "cannot run" in judged(shown("a"), shown(exit_code=127, cause="unrunnable")).message


def test_a_command_without_test_ids_counts_as_a_whole() -> None:
    assert judged(shown(), shown(exit_code=1)).awaiting == ("`pytest`",)
    assert not judged(shown(exit_code=1), shown(exit_code=1)).passed
    assert judged(shown(), shown(exit_code=1, checks=0, output="undefined: Greet")).passed
    assert not judged(shown(), shown(exit_code=1, checks=0, output="usage: go test")).passed


# The work that comes after them

EARLIER = shown("a")
BASE = tests_first.joined(EARLIER, shown("tests/test_new.py-", output=NO_MODULE))


def test_what_the_new_tests_hide_on_the_base_still_passed_there() -> None:
    assert BASE.tests == {"a": "passed", "tests/test_new.py": "failed"}
    gone = Check(base=BASE, work=shown("tests/test_new.py::b"), earlier=EARLIER)
    assert of_old_tests([gone], lambda _: False).vanished == ("a",)


def test_work_that_fails_one_of_its_own_tests_does_not_inherit_that() -> None:
    base = tests_first.joined(EARLIER, shown("a b- c-"))
    assert not verdict.of_work([Check(base=base, work=shown("a b c-"), earlier=EARLIER)]).passed
    red = shown("a r-")
    base = tests_first.joined(red, shown("a r- b-"))
    assert verdict.of_work([Check(base=base, work=shown("a r- b"), earlier=red)]).passed


def test_its_own_tests_prove_the_work() -> None:
    check = Check(base=BASE, work=shown("a tests/test_new.py::b"), earlier=EARLIER)
    assert verdict.is_proved([check])


def test_work_that_passes_only_by_easing_its_own_tests_is_seen_test_by_test() -> None:
    old_tests = shown("a tests/test_new.py::b- tests/test_new.py::c")
    check = Check(
        base=BASE, work=shown("a tests/test_new.py::b tests/test_new.py::c"), old_tests=old_tests, earlier=EARLIER
    )
    found = of_old_tests([check], lambda _: True)
    assert (found.eased, found.changed, found.broken) == (("tests/test_new.py::b",), (), ())
    assert not verdict.is_proved([check])


def test_own_tests_that_are_gone_from_the_work_have_vanished() -> None:
    check = Check(base=BASE, work=shown("a"), old_tests=shown("a tests/test_new.py::b"), earlier=EARLIER)
    assert of_old_tests([check], lambda _: True).vanished == ("tests/test_new.py::b",)
