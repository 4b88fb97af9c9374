"""What each fault of a model service ends in, agent by agent: the table is what docs/agents-faults.md shows.

One fault of each reason; `python -m proofs agents` has all of them.
"""

from santiago.contract.reasons import MEANINGS
from tests.agents.bench import ended
from tests.agents.document import PAGE, page_with
from tests.agents.faults import CASES, FREE, TABLE, TELLS_WHEN, WAIT, sample
from tests.agents.install import PROGRAMS, is_whole
from tests.process.serving import start_server


def test_every_fault_ends_in_the_reason_of_the_table(agent: str) -> None:
    """Every stop has a name, and the exit code alone decides none of them."""
    cases = CASES if is_whole() else sample(agent)
    server = start_server()
    try:
        met = ended(agent, cases, server, PROGRAMS[agent].seconds)
    finally:
        server.close()
    assert {name: one.reason for name, one in met.items()} == {case.name: TABLE[agent][case.name] for case in cases}
    assert {one.reason for one in met.values()} == set(TABLE[agent].values())
    well = [one for one in met.values() if one.reason is None]
    whole = [one for one in well if not one.case.name.startswith("cut")]
    assert {one.case.name: one.ending.usage.tokens for one in whole} == {one.case.name: one.spent for one in whole}
    # Of an answer that was cut off an agent may have seen enough to count it.
    assert all((one.ending.usage.tokens or 0) >= one.spent for one in well)
    named = met["429 until"].ending.wait_seconds
    assert (named is not None and WAIT - 120 < named <= WAIT) if agent in TELLS_WHEN else named is None


def test_what_is_no_fault_of_the_work_spends_no_attempt() -> None:
    """Bounded, and fair: an attempt is spent by work, not by the weather."""
    reasons = {reason for row in TABLE.values() for reason in row.values() if reason is not None}
    assert {reason for reason in reasons if not MEANINGS[reason].spends} == FREE


def test_the_table_knows_every_case() -> None:
    assert all(set(row) == {case.name for case in CASES} for row in TABLE.values())


def test_the_page_has_the_codes_own_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page_with(text) == text, "run `python -m tests.agents.document`"
