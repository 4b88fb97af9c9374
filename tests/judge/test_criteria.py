"""Which test shows which criterion: read from the runs of the verdict, and never hidden where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.outcomes import Criterion
from santiago.judge.criteria import MOST_ALONE, matrix
from santiago.judge.verdict import Check
from tests.judge.showing import shown
from tests.util.each import each

if TYPE_CHECKING:
    from santiago.judge.shown import Shown

ADD, OLD = "tests/test_a.py::test_add", "tests/test_a.py::test_old"
CHECK = Check(base=shown(OLD), work=shown(f"{OLD} {ADD}"), new_tests=shown(f"{OLD} {ADD}-"))


def row(test: str, *checks: Check) -> tuple[str, str, str]:
    (found,) = matrix(["R1#1"], {"R1#1": test}, checks or [CHECK], never)
    return found.test, found.before, found.after


def never(command: str) -> tuple[Shown, Shown]:
    raise AssertionError(f"{command} was run by itself")


@each("test", [ADD, "test_add"])
def test_a_test_is_looked_up_in_the_runs_by_its_id_or_its_unmistakable_end(test: str) -> None:
    assert row(test) == (ADD, "failed", "passed")


def test_a_test_of_the_base_did_there_what_it_did() -> None:
    assert row("test_old", Check(base=shown(f"{OLD}-"), work=shown(OLD))) == (OLD, "failed", "passed")


def test_a_name_that_several_tests_end_with_shows_nothing() -> None:
    two = Check(base=shown("a"), work=shown("a.py::test_x b.py::test_x"))
    assert row("test_x", two) == ("test_x", "missing", "missing")


def test_a_test_whose_file_could_not_be_loaded_without_the_work_failed() -> None:
    unloaded = Check(base=shown("x"), work=shown(ADD), new_tests=shown("tests/test_a.py-"))
    assert row(ADD, unloaded) == (ADD, "failed", "passed")


def test_the_check_itself_may_be_the_evidence() -> None:
    whole = Check(base=shown(exit_code=1, command="make test"), work=shown(command="make test"))
    assert row("make test", whole) == ("make test", "failed", "passed")


def test_a_criterion_without_evidence_is_listed() -> None:
    found = matrix(["R1#1", "R1#2"], {"R1#2": "test_nowhere", "R9#9": ADD}, [CHECK], never)
    assert found == (
        Criterion(id="R1#1", test="", before="", after=""),
        Criterion(id="R1#2", test="test_nowhere", before="missing", after="missing"),
    )


def test_a_command_that_no_run_names_is_run_by_itself_and_only_so_many() -> None:
    ran: list[str] = []

    def alone(command: str) -> tuple[Shown, Shown]:
        ran.append(command)
        return shown(exit_code=1), shown()

    ids = [f"R1#{number}" for number in range(MOST_ALONE + 2)]
    found = matrix(ids, {name: f"grep {name} a.txt" for name in ids}, [CHECK], alone)
    assert ran == [f"grep {name} a.txt" for name in ids[:MOST_ALONE]]
    assert [(one.before, one.after) for one in found] == [("failed", "passed")] * MOST_ALONE + [
        ("missing", "missing")
    ] * 2
