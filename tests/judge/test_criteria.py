"""Which test shows which criterion: read from the runs of the verdict, and never hidden where there is none."""

from santiago.contract.outcomes import Criterion
from santiago.judge.comparison import Shown
from santiago.judge.criteria_shown import MOST_ALONE, matrix
from santiago.judge.verdict import Check
from tests.judge.showing import shown
from tests.util.each import each

ADD, OLD = "tests/test_a.py::test_add", "tests/test_a.py::test_old"
CHECK = Check(base=shown(OLD), work=shown(f"{OLD} {ADD}"), new_tests=shown(f"{OLD} {ADD}-"))


def never(command: str) -> tuple[Shown, Shown]:
    raise AssertionError(f"{command} was run by itself")


@each(
    ("test", "check", "expected"),
    [
        # it is looked up in the runs by its id or its unmistakable end
        (ADD, CHECK, (ADD, "failed", "passed")),
        ("test_add", CHECK, (ADD, "failed", "passed")),
        ("test_x", Check(base=shown("a"), work=shown("a.py::test_x b.py::test_x")), ("test_x", "missing", "missing")),
        # a test of the base did there what it did
        ("test_old", Check(base=shown(f"{OLD}-"), work=shown(OLD)), (OLD, "failed", "passed")),
        # one whose file could not be loaded without the work failed
        (ADD, Check(base=shown("x"), work=shown(ADD), new_tests=shown("tests/test_a.py-")), (ADD, "failed", "passed")),
        # the check itself may be the evidence
        ("pytest", Check(base=shown(exit_code=1), work=shown()), ("pytest", "failed", "passed")),
    ],
)
def test_a_test_shows_what_it_did_before_and_after(test: str, check: Check, expected: tuple[str, str, str]) -> None:
    (found,) = matrix(["R1#1"], {"R1#1": test}, [check], never)
    assert (found.test, found.before, found.after) == expected


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
