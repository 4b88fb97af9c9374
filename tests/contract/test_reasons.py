"""Every way of not finishing has its name, its sentence and its exit code, as the contract lists them."""

from pathlib import Path
from typing import get_args

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import MEANINGS, OF_WORKERS, SHARED, ErrorClass, ExitCode, Meaning, Reason
from tests.util.each import each

NAMES = """
    plan_generation_failed agent_exit_nonzero agent_timeout story_verification_failed run_verification_failed
    attempt_budget_exhausted run_timeout blocked_dependency
    invalid_input nothing_verified verification_tampered changed_expectation doubted unproven untrusted_project secret_in_work
    verification_timeout verification_unrunnable
    cost_budget_exhausted usage_unknown agent_unavailable agent_rate_limited agent_not_signed_in agent_model_not_found
    agent_context_too_long agent_refused agent_denied agent_killed agent_no_change agent_asked output_limit disk_limit
    workspace_conflict no_progress max_cycles test_contract_broken exhaustion_accumulated
    needs_user_confirmation needs_routing interrupted artifact_corrupt io_error lock_held worker_lost declined no_workers
"""

EXIT_CODES = {0, 2, 3, 10, 20, 30, 70, 130, 143}

BY_EXIT_CODE = {
    20: "agent_unavailable agent_rate_limited io_error lock_held no_workers",
    30: """invalid_input plan_generation_failed attempt_budget_exhausted run_timeout cost_budget_exhausted
           run_verification_failed""",
    10: """blocked_dependency agent_asked agent_not_signed_in agent_model_not_found agent_denied usage_unknown
           needs_user_confirmation untrusted_project needs_routing verification_unrunnable changed_expectation doubted unproven worker_lost declined""",
    130: "interrupted",
}

UNCOUNTED = """agent_unavailable agent_rate_limited agent_not_signed_in agent_model_not_found agent_denied agent_asked
               usage_unknown workspace_conflict io_error lock_held worker_lost declined no_workers"""
FINAL = """plan_generation_failed run_verification_failed attempt_budget_exhausted run_timeout cost_budget_exhausted
           invalid_input"""
TRIED_AGAIN = """agent_exit_nonzero agent_timeout agent_killed agent_no_change agent_context_too_long agent_refused
                 story_verification_failed
                 verification_tampered secret_in_work verification_timeout nothing_verified output_limit disk_limit"""


def meanings(names: str) -> list[Meaning]:
    return [MEANINGS[Reason(name)] for name in names.split()]


def test_the_closed_lists_are_the_contracts() -> None:
    assert [reason.value for reason in Reason] == NAMES.split()
    assert set(MEANINGS) == set(Reason)
    assert {int(code) for code in ExitCode} == EXIT_CODES
    assert get_args(ErrorClass) == ("none", "soft_fail", "hard_fail", "dependency_blocked")


@each(("reason", "meaning"), MEANINGS.items())
def test_a_reason_says_what_happened_and_what_to_do_and_never_exits_like_a_success_or_a_usage_error(
    reason: Reason, meaning: Meaning
) -> None:
    assert meaning.sentence[0].isupper()
    assert meaning.sentence.endswith(".")
    assert meaning.hint.endswith(".")
    assert [one for one, other in MEANINGS.items() if other.sentence == meaning.sentence] == [reason]
    assert int(meaning.exit_code) in {10, 20, 30, 130}
    assert (meaning.ends_in == "blocked") == (meaning.exit_code == 10)


@each("code", BY_EXIT_CODE)
def test_the_contracts_examples_have_their_exit_code(code: int) -> None:
    assert {int(meaning.exit_code) for meaning in meanings(BY_EXIT_CODE[code])} == {code}


@each(("reason", "meaning"), MEANINGS.items())
def test_what_fails_hard_or_waits_for_somebody_is_never_tried_again_by_itself(reason: Reason, meaning: Meaning) -> None:
    assert meaning.error_class in get_args(ErrorClass)
    if meaning.error_class in {"hard_fail", "dependency_blocked"} or meaning.ends_in == "blocked":
        assert not meaning.retryable or reason in OF_WORKERS, "only another machine may help at once"
    if meaning.error_class == "dependency_blocked":
        assert meaning.ends_in == "blocked"


def test_only_what_is_outside_the_agents_power_costs_no_attempt() -> None:
    assert {str(reason) for reason, meaning in MEANINGS.items() if not meaning.spends} == set(UNCOUNTED.split())
    assert not any(MEANINGS[reason].spends for reason in SHARED)
    paused = {str(reason) for reason, meaning in MEANINGS.items() if meaning.ends_in == "paused" and meaning.retryable}
    assert {"agent_rate_limited", "interrupted"} <= paused


def test_what_the_agent_did_wrong_is_tried_again_and_what_fails_the_same_way_again_is_not() -> None:
    assert all(meaning.retryable and meaning.spends for meaning in meanings(TRIED_AGAIN))
    assert not any(meaning.retryable for meaning in meanings(FINAL))


@each(("kind", "code"), [("USAGE", 2), ("INPUT", 30), ("BLOCKED", 10), ("TRANSIENT", 20), ("BUG", 70)])
def test_an_error_exits_by_its_kind(kind: str, code: int) -> None:
    assert SantiagoError(Kind[kind], "wrong").exit_code == code


def test_the_reference_has_the_same_table() -> None:
    page = Path(__file__).parents[2].joinpath("docs", "reference.md").read_text()
    yes = {True: "yes", False: "no"}
    rows = [
        f"| `{reason}` | {one.ends_in} | {int(one.exit_code)} | {yes[one.retryable]} | {yes[one.spends]} | {one.sentence} |"
        for reason, one in ((reason, MEANINGS[reason]) for reason in Reason)
    ]
    assert "\n".join(rows) in page
