"""Proof, not promise: the table of verdicts, row by row."""

from __future__ import annotations

from collections.abc import Callable

from santiago.contract.outcomes import CheckVerdict, Verdict
from santiago.contract.reasons import Reason
from santiago.judge import verdict
from santiago.judge.verdict import Check
from tests.judge.showing import shown
from tests.util.each import each


def of_old_tests(
    checks: list[Check], text_changed: Callable[[str], bool], renamed: Callable[[str], bool] = lambda _: False
) -> Verdict:
    return verdict.of_old_tests(verdict.of_work(checks), checks, text_changed, renamed)


def nothing_changed(_: str) -> bool:
    return False


def all_changed(_: str) -> bool:
    return True


def test_a_red_work_fails_whatever_the_base_showed() -> None:
    for base in (shown("a b"), shown("a b-", exit_code=2)):
        found = verdict.of_work([Check(base=base, work=shown("a- b"))])
        assert not found.passed
        assert found.reason is Reason.STORY_VERIFICATION_FAILED


def test_a_failure_that_the_base_has_too_is_not_held_against_the_work() -> None:
    found = verdict.of_work([Check(base=shown("a b-"), work=shown("a b- c"))])
    assert found.passed
    assert [one.verdict for one in found.results] == [CheckVerdict.INHERITED]
    assert found.as_before == ("b",)


def test_a_failure_of_the_storys_own_check_is_nobody_elses() -> None:
    assert not verdict.of_work([Check(base=shown("a b-"), work=shown("a b-"), is_own=True)]).passed


def test_a_whole_check_that_fails_alike_is_recognised_by_its_last_words() -> None:
    then = shown(exit_code=1, output="lint: 3 problems in 0.2s")
    assert verdict.of_work([Check(base=then, work=shown(exit_code=1, output="lint: 4 problems in 0.3s"))]).passed
    assert not verdict.of_work([Check(base=then, work=shown(exit_code=1, output="cannot import app"))]).passed


def test_a_check_that_was_red_beside_its_passing_tests_is_compared_without_the_lines_of_the_tests() -> None:
    """`npm test` is often a runner and then a linter: a new test adds a line, and is no other failure."""
    then = shown("a b", exit_code=1, output="ok a\nok b\nlint: 3 problems")
    more = shown("a b new", exit_code=1, output="ok a\nok b\nok new\nlint: 3 problems")
    found = verdict.of_work([Check(base=then, work=more)])
    assert (found.passed, [one.verdict for one in found.results]) == (True, [CheckVerdict.INHERITED])
    other = shown("a b new", exit_code=1, output="ok a\nok b\nok new\ncannot import app")
    assert not verdict.of_work([Check(base=then, work=other)]).passed


def test_a_runner_that_ran_no_test_verifies_nothing() -> None:
    found = verdict.of_work([Check(base=shown("a"), work=shown(checks=0))])
    assert found.reason is Reason.NOTHING_VERIFIED


def test_no_check_at_all_verifies_nothing() -> None:
    assert verdict.of_work([]).reason is Reason.NOTHING_VERIFIED


def test_an_old_test_that_the_work_breaks_is_broken_where_its_text_stands() -> None:
    check = Check(base=shown("a b"), work=shown("a"), old_tests=shown("a b-"))
    assert of_old_tests([check], nothing_changed).broken == ("b",)
    found = of_old_tests([check], all_changed)
    assert (found.broken, found.changed) == ((), ("b",))


def test_a_test_that_no_longer_runs_or_is_skipped_anew_has_vanished() -> None:
    check = Check(base=shown("a b c"), work=shown("a b?"), old_tests=shown("a b c"))
    assert of_old_tests([check], all_changed).vanished == ("b", "c")


def test_all_tests_have_vanished_where_the_work_silences_its_runner() -> None:
    check = Check(base=shown("a b"), work=shown())
    assert of_old_tests([check], nothing_changed).vanished == ("a", "b")


def test_cases_whose_ids_change_from_run_to_run_have_not_vanished() -> None:
    check = Check(base=shown("t.py::f[10:01] t.py::f[10:02]"), work=shown("t.py::f[11:01] t.py::f[11:02]"))
    assert of_old_tests([check], nothing_changed).vanished == ()
    fewer = Check(base=shown("t.py::f[10:01] t.py::f[10:02]"), work=shown("t.py::f[11:01]"))
    assert of_old_tests([fewer], nothing_changed).vanished == ("t.py::f[10:01]", "t.py::f[10:02]")


def test_tests_that_moved_to_another_class_or_file_have_not_vanished() -> None:
    check = Check(base=shown("t.py::A::f[1] t.py::A::f[2] t.A.g"), work=shown("u.py::B::f[1] u.py::B::f[2] u.B.g"))
    assert of_old_tests([check], all_changed).vanished == ()
    fewer = Check(base=shown("t.py::A::f t.py::B::f"), work=shown("t.py::B::f"))
    assert of_old_tests([fewer], all_changed).vanished == ("t.py::A::f",)


def test_a_test_whose_text_stands_below_another_name_has_not_vanished() -> None:
    check = Check(base=shown("a b"), work=shown("a c"))
    assert of_old_tests([check], all_changed, renamed="b".__eq__).vanished == ()
    for work in ("a", "a c?"):
        left_out = Check(base=shown("a b"), work=shown(work))
        assert of_old_tests([left_out], all_changed, renamed="b".__eq__).vanished == ("b",)


def test_a_red_test_that_only_its_own_change_makes_green_is_eased() -> None:
    for work in ("a b", "a", "a b?"):
        check = Check(base=shown("a b-"), work=shown(work), old_tests=shown("a b-"))
        assert of_old_tests([check], all_changed).eased == ("b",)
        assert not verdict.is_proved([check])


def test_a_red_test_that_passes_as_it_stood_is_a_proof() -> None:
    assert verdict.is_proved([Check(base=shown("a b-"), work=shown("a b"))])
    assert verdict.is_proved([Check(base=shown("a b-"), work=shown("a b c"), old_tests=shown("a b"))])


def test_a_file_that_could_not_be_loaded_is_proved_by_its_tests() -> None:
    assert verdict.is_proved([Check(base=shown("tests/test_a.py-"), work=shown("tests/test_a.py::test_x"))])


def test_a_file_of_node_that_could_not_be_loaded_is_proved_by_a_run_that_is_green() -> None:
    base = shown("two test/greet.test.js-")
    assert verdict.is_proved([Check(base=base, work=shown("two name nobody"))])
    assert not verdict.is_proved([Check(base=base, work=shown("two name nobody-"))])
    eased = Check(base=base, work=shown("two"), old_tests=shown("two test/greet.test.js-"))
    assert not verdict.is_proved([eased])


def test_a_check_whose_own_file_comes_with_the_work_proves_nothing() -> None:
    check = Check(base=shown(exit_code=4), work=shown("a"), came_with_work=True, new_tests=shown(exit_code=2))
    assert not verdict.is_proved([check])
    assert verdict.has_own_tests([check], all_changed)


def test_new_tests_that_fail_without_the_work_are_its_own_tests() -> None:
    check = Check(base=shown("a"), work=shown("a b"), old_tests=shown("a"), new_tests=shown("a b-"))
    assert verdict.has_own_tests([check], nothing_changed)


def test_a_test_whose_name_begins_the_names_of_others_speaks_for_itself() -> None:
    check = Check(base=shown("sum sum_of_two"), work=shown("sum sum_of_two"), new_tests=shown("sum- sum_of_two"))
    assert verdict.has_own_tests([check], all_changed)
    gone = Check(base=shown("sum- sum_of_two"), work=shown("sum sum_of_two"), old_tests=shown("sum_of_two"))
    assert not verdict.is_proved([gone]), "what is not there any more did not pass"


def test_new_tests_that_pass_without_the_work_show_nothing() -> None:
    check = Check(base=shown("a"), work=shown("a b"), old_tests=shown("a"), new_tests=shown("a b"))
    assert not verdict.has_own_tests([check], all_changed)


def test_an_old_test_that_flakes_without_the_work_is_no_test_of_its_own() -> None:
    check = Check(base=shown("a"), work=shown("a"), old_tests=shown("a"), new_tests=shown("a-"))
    assert not verdict.has_own_tests([check], nothing_changed)


@each("exit_code", [1, 2])
def test_a_command_without_test_ids_is_compared_as_a_whole(exit_code: int) -> None:
    check = Check(
        base=shown(), work=shown(), old_tests=shown(exit_code=exit_code), new_tests=shown(exit_code=exit_code)
    )
    assert of_old_tests([check], nothing_changed).broken == ("`pytest`",)
    assert verdict.has_own_tests([check], nothing_changed)
