"""Proof, not promise: the table of verdicts, row by row."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from santiago.contract.outcomes import CheckVerdict, Verdict
from santiago.contract.reasons import Reason
from santiago.judge import tests_first, verdict
from santiago.judge.comparison import Shown, of_files
from santiago.judge.missing import Missing
from santiago.judge.naming.named_tests import Status, Tests
from santiago.judge.verdict import Check
from santiago.simulation.random_plans import story_of
from tests.judge.showing import shown
from tests.util.each import each


def nothing_changed(_: str) -> bool:
    return False


def of_old_tests(
    checks: list[Check],
    text_changed: Callable[[str], bool],
    renamed: Callable[[str], bool] = nothing_changed,
    was_to_fail: Callable[[str], bool] = nothing_changed,
    speaks_of: Callable[[str], bool] = nothing_changed,
) -> Verdict:
    texts: Any = SimpleNamespace(text_changed=text_changed, renamed=renamed, was_to_fail=was_to_fail)
    return verdict.of_old_tests(verdict.of_work(checks), checks, texts, speaks_of)


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


LINT = "a.js:3:1  error  Missing semicolon  semi\nb.js:14:9  error  Unexpected var  no-var\n"


def test_a_red_check_whose_list_of_errors_is_cut_elsewhere_each_time_is_compared_by_its_set_of_errors() -> None:
    """And what the next attempt is told is never made of old errors alone."""
    then = shown(exit_code=1, output=LINT + "c.js:1:1  error  Unexpected var  no-")
    cut = shown(
        exit_code=1, output="b.js:15:9  error  Unexpected var  no-var\nnew.js:3:1  error  Missing semicolon  semi\n"
    )
    assert verdict.of_work([Check(base=then, work=cut)]).passed
    worse = shown(exit_code=1, output=LINT + "new.js:2:1  error  'x' is not defined  no-undef\n")
    found = verdict.of_work([Check(base=then, work=worse)])
    assert (found.passed, found.results[0].new_errors) == (False, ("new.js:2:1  error  'x' is not defined  no-undef",))


def test_a_check_that_was_red_beside_its_passing_tests_is_compared_without_the_lines_of_the_tests() -> None:
    """`npm test` is often a runner and then a linter: a new test adds a line, and is no other failure."""
    then = shown("a b", exit_code=1, output="ok a\nok b\nlint: 3 problems")
    more = shown("a b new", exit_code=1, output="ok a\nok b\nok new\nlint: 3 problems")
    found = verdict.of_work([Check(base=then, work=more)])
    assert (found.passed, [one.verdict for one in found.results]) == (True, [CheckVerdict.INHERITED])
    other = shown("a b new", exit_code=1, output="ok a\nok b\nok new\ncannot import app")
    assert not verdict.of_work([Check(base=then, work=other)]).passed


def test_a_runner_that_ran_no_test_and_no_check_at_all_verify_nothing() -> None:
    found = verdict.of_work([Check(base=shown("a"), work=shown(checks=0))])
    assert found.reason is Reason.NOTHING_VERIFIED
    assert verdict.of_work([]).reason is Reason.NOTHING_VERIFIED


def test_an_old_test_that_the_work_breaks_is_broken_where_its_text_stands() -> None:
    check = Check(base=shown("a b"), work=shown("a"), old_tests=shown("a b-"))
    assert of_old_tests([check], nothing_changed).broken == ("b",)
    found = of_old_tests([check], all_changed)
    assert (found.broken, found.changed) == ((), ("b",))


@each(
    ("base", "work", "vanished"),
    [
        ("a b c", "a b?", ("b", "c")),
        ("a b", "", ("a", "b")),
        # cases whose ids change from run to run are still there
        ("t.py::f[10:01] t.py::f[10:02]", "t.py::f[11:01] t.py::f[11:02]", ()),
        ("t.py::f[10:01] t.py::f[10:02]", "t.py::f[11:01]", ("t.py::f[10:01]", "t.py::f[10:02]")),
        # and so are tests that moved to another class or file
        ("t.py::A::f[1] t.py::A::f[2] t.A.g", "u.py::B::f[1] u.py::B::f[2] u.B.g", ()),
        ("t.py::A::f t.py::B::f", "t.py::B::f", ("t.py::A::f",)),
    ],
)
def test_a_test_that_no_longer_runs_or_is_skipped_anew_has_vanished(
    base: str, work: str, vanished: tuple[str, ...]
) -> None:
    for changed in (nothing_changed, all_changed):
        assert of_old_tests([Check(base=shown(base), work=shown(work))], changed).vanished == vanished


@each(
    ("then", "now"),
    [
        ("0.5121140720380406", "0.016827050543781752"),
        ("1795110672453", "1795110935184"),
        ('"2026-11-19T17:51:12.456Z"', '"2026-11-19T17:55:35.191Z"'),
        ("<Shelf at 0x7f3a5c1b2d30>", "<Shelf at 0x7f11aa20fe80>"),
        ("c56a4180-65aa-42ec-a945-5fd21dec0538", "3f1b2d30-0f6e-4d1b-9a53-77aa20fe8011"),
    ],
)
def test_a_test_whose_name_holds_a_time_or_a_random_value_is_compared_without_it(then: str, now: str) -> None:
    def told(value: str, *, other: str = "takes 2", ends: Status = "passed") -> Shown:
        tests: Tests = {f"is a number > {value} should be one": ends, f"is a number > {other}": "passed"}
        return replace(shown("a"), tests=tests)

    same = Check(base=told(then), work=told(now), old_tests=told(now))
    assert of_old_tests([same], nothing_changed).vanished == of_old_tests([same], nothing_changed).broken == ()
    worse = Check(base=told(then), work=told(now), old_tests=told(now, ends="failed"))
    assert of_old_tests([worse], nothing_changed).broken
    # other numbers of a name are part of it
    left_out = Check(base=told(then), work=told(now, other="takes 3"))
    assert of_old_tests([left_out], nothing_changed).vanished == ("is a number > takes 2",)


@each(
    ("base", "work", "vanished"),
    [
        ("a b-", "a", ("b",)), ("a b-", "a b?", ("b",)), ("a b-", "a b", ()), ("a b-", "a b-", ()),
        ("a t::f[1] t::f[2]-", "a t::f[1]", ("t::f[2]",)), ("a t::f[1]-", "a t::f[2]", ()), ("a hook-", "a b", ()), ("a a.py-", "a a.py::b", ()),
    ],
)  # fmt: skip
def test_a_test_that_failed_and_no_longer_runs_or_is_skipped_is_not_answered(
    base: str, work: str, vanished: tuple[str, ...]
) -> None:
    assert of_old_tests([Check(base=shown(base), work=shown(work))], nothing_changed).vanished == vanished


def test_a_failure_that_kept_others_from_running_is_answered_only_if_tests_of_the_base_run_now() -> None:
    check = Check(base=shown("a hook-"), work=shown("a b"))
    assert of_old_tests([check], all_changed).vanished == ("hook",), "the work wrote this test itself"


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


def test_a_red_test_that_the_story_itself_speaks_of_may_be_what_is_wrong() -> None:
    """A story that repairs a wrong test is asked about, and is not accused."""
    check = Check(base=shown("a b-"), work=shown("a b"), old_tests=shown("a b-"))
    found = of_old_tests([check], all_changed, speaks_of="b".__eq__)
    assert (found.eased, found.changed) == ((), ("b",))


@each(
    ("title", "description", "speaks"),
    [
        ("Correct the wrong test of rounding", "", True), ("Round to even", "`test_round` expects 3, and 2 is right.", True),
        ("Round to even", "Its tests are in tests/test_round.py; test_rounding passes.", False), ("Add a contest page", "", False),
    ],
)  # fmt: skip
def test_a_story_speaks_of_a_test_by_its_title_or_by_the_tests_own_name(
    title: str, description: str, speaks: bool
) -> None:
    assert story_of("S1", title=title, description=description).speaks_of("test_round") is speaks


MISSING = of_files(shown("test/a.js test/new.js-"), {"test/a.js", "lib/new.js"})


@each(
    ("old", "told"),
    [
        (MISSING, ()),
        # a check that does not even run the tests that the base ran tells something else
        (shown(exit_code=1), ("test/a.js",)),
        (of_files(shown("test/a.js- test/new.js-"), {"test/a.js"}), ("test/a.js",)),
    ],
)
def test_a_file_that_the_check_names_and_the_base_has_not_is_a_failure_of_the_check_and_of_no_test(
    old: Shown, told: tuple[str, ...]
) -> None:
    """tap reports such a file as a failed test."""
    work, without = shown("test/a.js test/new.js>x"), shown("test/a.js test/new.js>x-")
    check = Check(base=MISSING, work=work, old_tests=old, new_tests=without, lacks_file=True)
    found = of_old_tests([check], all_changed)
    assert (found.eased, found.broken, found.changed) == ((), (), told)
    assert (verdict.is_proved([check]), verdict.has_own_tests([check], all_changed)) == (False, True)


def test_a_test_that_is_no_longer_expected_to_fail_changes_no_expectation() -> None:
    check = Check(base=shown("a b"), work=shown("a b"), old_tests=shown("a b-"))
    assert of_old_tests([check], all_changed, was_to_fail="b".__eq__).changed == ()
    stopped = Check(base=shown("a b"), work=shown("a b"), old_tests=shown("b-"))
    assert of_old_tests([stopped], all_changed, was_to_fail="b".__eq__).changed == ("b",)
    still_red = Check(base=shown("a b"), work=shown("a b?"), old_tests=shown("a b-"))
    assert of_old_tests([still_red], all_changed, was_to_fail="b".__eq__).changed == ("b",)


@each(
    "said",
    [
        'Jest: "global" coverage threshold for statements (90%) not met: 80%', "FAIL Required test coverage of 100% not reached. Total: 98%",
        "ERROR: Coverage for lines (66.66%) does not meet global threshold (100%)", "Coverage failure: total of 75 is less than fail-under=100",
    ],
)  # fmt: skip
def test_old_tests_alone_need_not_cover_new_work(said: str) -> None:
    uncovered = shown("a", exit_code=1, output=said)
    for base in (shown("a"), uncovered):
        found = of_old_tests([Check(base=base, work=shown("a b"), old_tests=uncovered)], all_changed)
        assert (found.eased, found.broken, found.changed) == ((), (), ())
    other = Check(base=shown("a"), work=shown("a b"), old_tests=shown("a", exit_code=1, output="tsd: 2 errors"))
    assert of_old_tests([other], all_changed).changed == ("`pytest`",)


@each(
    ("old", "changed"),
    [
        (shown(exit_code=2, output="compiling\nt.ts(3,1): error TS2554: Expected 1 arguments"), "`pytest`"),
        (shown("t.py-", output="E   ImportError: cannot import name 'gone' from 'pkg'"), "t.py"),
        (shown("m/pkg- m/other/TestC", exit_code=1), "m/pkg"),
    ],
)
def test_one_error_that_keeps_many_tests_from_running_is_one_line(old: Shown, changed: str) -> None:
    """Nor are tests broken whose text stands, and which do not run because of another."""
    tests = "t.py::a t.py::b u.py::c m/pkg/TestA m/other/TestC"
    found = of_old_tests(
        [Check(base=shown(tests), work=shown(tests), old_tests=old)], ("", "t.py", "m/pkg").__contains__
    )
    assert (found.changed, found.broken) == ((changed,), ())
    assert found.message == ("t.ts(3,1): error TS2554: Expected 1 arguments" if changed[0] == "`" else "")


NODE = "two test/greet.test.js-"


@each(
    ("base", "work", "old_tests", "proved"),
    [
        # a red test that passes as it stood is a proof, and one that is not there any more did not pass
        ("a b-", "a b", None, True),
        ("a b-", "a b c", "a b", True),
        ("sum- sum_of_two", "sum sum_of_two", "sum_of_two", False),
        # a file that could not be loaded is proved by its tests, and one of node by a run that is green
        ("tests/test_a.py-", "tests/test_a.py::test_x", None, True),
        (NODE, "two name nobody", None, True),
        (NODE, "two name nobody-", None, False),
        (NODE, "two", NODE, False),
    ],
)
def test_work_is_proved_by_a_test_that_failed(base: str, work: str, old_tests: str | None, proved: bool) -> None:
    old = None if old_tests is None else shown(old_tests)
    assert verdict.is_proved([Check(base=shown(base), work=shown(work), old_tests=old)]) is proved


def test_a_check_whose_own_file_comes_with_the_work_proves_nothing() -> None:
    check = Check(base=shown(exit_code=4), work=shown("a"), came_with_work=True, new_tests=shown(exit_code=2))
    assert not verdict.is_proved([check])
    assert verdict.has_own_tests([check], all_changed)


@each(
    ("base", "work", "new_tests", "own"),
    [
        ("a", "a b", "a b-", [True, True]),
        # a test whose name begins the names of others speaks for itself
        ("sum sum_of_two", "sum sum_of_two", "sum- sum_of_two", [False, True]),
        # what passes without the work shows nothing, and an old test that flakes without it is none of its own
        ("a", "a b", "a b", [False, False]),
        ("a", "a", "a-", [False, True]),
        # what does not run without the work, or is skipped, has not failed: a time in its name, a case for each file
        ("a", "a b[12:00]", "a b[12:01]", [False, False]),
        ("a", "a b", "a b?", [False, False]),
        ("a r-", "a b r-", "a r-", [False, False]),
        # its file could not be loaded
        ("a", "a t.b", "a t-", [True, True]),
    ],
)
def test_new_or_changed_tests_that_fail_without_the_work_are_its_own(
    base: str, work: str, new_tests: str, own: list[bool]
) -> None:
    check = Check(base=shown(base), work=shown(work), old_tests=shown(base), new_tests=shown(new_tests))
    assert [verdict.has_own_tests([check], changed) for changed in (nothing_changed, all_changed)] == own


@each("exit_code", [1, 2])
def test_a_command_without_test_ids_is_compared_as_a_whole(exit_code: int) -> None:
    red = shown(exit_code=exit_code)
    check = Check(base=shown(), work=shown(), old_tests=red, new_tests=red)
    assert of_old_tests([check], nothing_changed).broken == ("`pytest`",)
    assert verdict.has_own_tests([check], nothing_changed)


# Tests that are written before the work: they must run, and fail for want of it

FILES = frozenset({"tests/test_new.py", "tests/test_old.py", "a.test.js"})
NO_MODULE = "E   ModuleNotFoundError: No module named 'greet'"


def judged(old: Shown, new: Shown, *, changed: Sequence[str] = (), lacks: Missing | None = None) -> Verdict:
    return tests_first.verdict([(old, new)], FILES, lambda test: test in changed, lambda _: lacks)


def test_new_tests_that_fail_are_what_is_wanted_and_those_that_pass_already_show_nothing() -> None:
    found = judged(shown("a b-"), shown("a b- c- d"))
    assert (found.passed, found.awaiting) == (True, ("c",))
    found = judged(shown("a"), shown("a b c"))
    assert not found.passed
    assert "pass already without the work, so they show nothing" in found.message
    assert "- b\n- c" in found.message


def test_tests_that_no_check_runs_or_that_failed_before_are_refused() -> None:
    assert "None of the checks runs the new tests: `pytest`" in judged(shown("a"), shown("a")).message
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


EARLIER = shown("a")
HIDDEN = tests_first.joined(EARLIER, shown("tests/test_new.py-", output=NO_MODULE))


def test_what_the_new_tests_hide_on_the_base_still_passed_there() -> None:
    assert HIDDEN.tests == {"a": "passed", "tests/test_new.py": "failed"}
    gone = Check(base=HIDDEN, work=shown("tests/test_new.py::b"), earlier=EARLIER)
    assert of_old_tests([gone], lambda _: False).vanished == ("a",)


def test_work_that_fails_one_of_its_own_tests_does_not_inherit_that() -> None:
    base = tests_first.joined(EARLIER, shown("a b- c-"))
    assert not verdict.of_work([Check(base=base, work=shown("a b c-"), earlier=EARLIER)]).passed
    red = shown("a r-")
    base = tests_first.joined(red, shown("a r- b-"))
    assert verdict.of_work([Check(base=base, work=shown("a r- b"), earlier=red)]).passed


def test_work_that_passes_only_by_easing_its_own_tests_is_seen_test_by_test() -> None:
    old_tests = shown("a tests/test_new.py::b- tests/test_new.py::c")
    work = shown("a tests/test_new.py::b tests/test_new.py::c")
    assert verdict.is_proved([Check(base=HIDDEN, work=work, earlier=EARLIER)])
    check = Check(base=HIDDEN, work=work, old_tests=old_tests, earlier=EARLIER)
    found = of_old_tests([check], lambda _: True)
    assert (found.eased, found.changed, found.broken) == (("tests/test_new.py::b",), (), ())
    assert not verdict.is_proved([check])


def test_own_tests_that_are_gone_from_the_work_have_vanished() -> None:
    check = Check(base=HIDDEN, work=shown("a"), old_tests=shown("a tests/test_new.py::b"), earlier=EARLIER)
    assert of_old_tests([check], lambda _: True).vanished == ("tests/test_new.py::b",)
