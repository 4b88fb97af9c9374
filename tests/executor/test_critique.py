"""A critique says what failed and what changed since the attempt before, in few lines, whatever an output contains."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from santiago.contract.outcomes import (
    AgentEnding,
    AttemptOutcome,
    CheckResult,
    CheckVerdict,
    Output,
    Usage,
    Verdict,
)  # fmt: skip
from santiago.contract.quantities import Seconds
from santiago.contract.reasons import MEANINGS, SHARED, Reason
from santiago.executor.critique import concerns_the_work, critique
from tests.util.each import each

SAME = "This is the same failure as in the attempt before"


def failed(
    output: str, command: str = "pytest -q", reason: Reason = Reason.STORY_VERIFICATION_FAILED
) -> AttemptOutcome:
    result = CheckResult(
        command=command, exit_code=1, seconds=Seconds(10), timed_out=False, checks=3, verdict=CheckVerdict.FAIL,
        output=Output(head=output, tail="", dropped=0, total=len(output)),
    )  # fmt: skip
    verdict = Verdict(passed=False, proof=None, reason=reason, results=(result,))
    return ended(reason, verdict)


def ended(reason: Reason | None, verdict: Verdict | None = None, message: str = "", **more: str) -> AttemptOutcome:
    ending = AgentEnding(reason=None, exit_code=0, message=message, usage=Usage(), **more)  # type: ignore[arg-type]
    return AttemptOutcome(
        step="attempt/S1/2", story="S1", number=2, status="failed", reason=reason, commit=None, verdict=verdict, ending=ending,
    )  # fmt: skip


def section(text: str) -> list[str]:
    return text.partition("## Since the attempt before")[2].splitlines()


def test_failing_tests_that_are_new_and_that_are_gone_are_named() -> None:
    before = failed("FAILED a.py::test_1 - assert 1 == 2\nFAILED a.py::test_2 - boom\n2 failed in 0.31s")
    now = failed("FAILED a.py::test_2 - boom\nFAILED a.py::test_3 - assert 3 == 4\n2 failed in 0.55s")
    new, gone = "    FAILED a.py::test_3 - assert 3 == 4", "    FAILED a.py::test_1 - assert 1 == 2"
    assert [line for line in section(critique(now, before)) if line] == ["New:", new, "Gone:", gone]


def test_of_a_check_that_was_red_before_the_new_errors_come_first() -> None:
    """Also where old errors would fill a critique alone."""
    old = "".join(f"src/old.js:{line}:1  error  Missing semicolon\n" for line in range(200))
    found = failed(f"src/new.js:1:1  error  'x' is not defined\n{old}")
    assert found.verdict is not None
    result = replace(found.verdict.results[0], new_errors=("src/new.js:1:1  error  'x' is not defined",))
    lines = critique(replace(found, verdict=replace(found.verdict, results=(result,)))).splitlines()
    new = lines.index("    src/new.js:1:1  error  'x' is not defined")
    assert new < next(at for at, line in enumerate(lines) if "src/old.js" in line)
    assert len(lines) < 60


def test_the_same_failure_is_said_whatever_its_durations_and_addresses() -> None:
    before = failed("error: no such thing at 0x7f01 (line 12) after 0.31s")
    now = failed("error: no such thing at 0x9abc (line 14) after 1.7s")
    text = critique(now, before)
    assert SAME in text
    assert not section(text)


def test_cases_of_one_test_are_not_taken_for_each_other_nor_one_command_for_another() -> None:
    text = critique(failed("FAILED a.py::test_add[2-3]"), failed("FAILED a.py::test_add[1-2]"))
    assert SAME not in text
    assert "    FAILED a.py::test_add[1-2]" in section(text)
    lines = section(critique(failed("E501 too long", command="ruff check"), failed("FAILED a.py::test_1")))
    assert "    ruff check: exit code 1" in lines
    assert "    pytest -q: exit code 1" in lines


def test_what_failed_before_the_attempt_is_named() -> None:
    now = failed("FAILED a.py::test_old\nFAILED a.py::test_mine\n2 failed")
    assert now.verdict is not None
    assert "before the attempt" not in critique(now)
    text = critique(replace(now, verdict=replace(now.verdict, as_before=("a.py::test_old",))))
    assert "This failed in the same way before the attempt:\n\n- a.py::test_old\n" in text
    assert "- a.py::test_mine" not in text


def test_the_first_attempt_one_after_a_pass_and_prose_of_two_agents_compare_with_nothing() -> None:
    assert not section(critique(failed("FAILED a.py::test_1")))
    assert not section(critique(failed("FAILED a.py::test_1"), ended(None)))
    text = critique(ended(Reason.AGENT_NO_CHANGE, message="I think so."), failed("FAILED a.py::test_1"))
    assert not section(text)
    assert SAME not in text


@given(st.lists(st.text(max_size=60), max_size=80), st.lists(st.text(max_size=60), max_size=80))
def test_the_section_is_short_and_stays_quoted(before: list[str], now: list[str]) -> None:
    text = critique(failed("\n".join(now)), failed("\n".join(before)))
    lines = section(text)
    assert len([line for line in lines if line]) <= 22
    assert all(not line or line.startswith("    ") or line in ("New:", "Gone:") for line in lines if SAME not in line)


@each("reason", Reason)
def test_every_reason_has_a_critique_with_its_sentence_and_what_the_service_refused_is_not_for_the_next_attempt(
    reason: Reason,
) -> None:
    text = critique(ended(reason, message="last words"))
    assert text.startswith(f"# {reason}\n")
    assert MEANINGS[reason].sentence in text
    assert concerns_the_work(text) == concerns_the_work(critique(ended(reason))) == (reason not in SHARED)


@each(("code", "told"), [(3, True), (0, False), (None, False)])
def test_the_exit_code_that_an_agent_failed_with_is_told(code: int | None, told: bool) -> None:
    outcome = ended(Reason.AGENT_EXIT_NONZERO, message="boom")
    assert outcome.ending is not None
    text = critique(replace(outcome, ending=replace(outcome.ending, exit_code=code)))
    assert (f"Its exit code was {code}." in text) is told
    assert "    boom\n" in text


def test_the_remedy_is_told_and_a_check_that_printed_nothing_and_a_line_of_a_megabyte_takes_no_time() -> None:
    text = critique(ended(Reason.AGENT_NOT_SIGNED_IN, message="401", remedy="Run `agent login`."))
    assert "Run `agent login`." in text
    assert "`pytest -q`: exit code 1\n\n    (no output)\n" in critique(failed(" \n\n"))
    assert len(critique(failed("FAILED " + "9" * 1_000_000), failed("FAILED x"))) < 20_000
