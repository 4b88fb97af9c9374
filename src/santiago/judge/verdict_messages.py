"""The messages about a verdict: what was seen, in which tests or files, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract.outcomes import CheckVerdict, DoubtfulLine, Proof, Verdict
from santiago.contract.plan import Story
from santiago.contract.policy import Policy
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from santiago.judge.verdict import Check

Difference = Callable[[Iterable[str]], str]
_SHOWN = 10
BLIND_HINT = (
    "Name a check that fails when the code is broken: `--verify CMD`, or story_commands under [verification] in santiago.toml. "
    "Where the tests load an installed copy of the project, install it in editable mode (`pip install -e .`)."
)

_EASED = (
    "These tests failed before the work, and in their old form they still fail. They pass or are gone now only because "
    "the work changed them:\n\n{}\n\nUndo the change to these tests, and change the code so that they pass."
)
_BROKEN = "These tests passed before the work. In their old form they fail with it:\n\n{}\n\nChange the code so that they pass again."
_CHANGED = "The work changed what these existing tests expect. In their old form they fail:\n\n{}"
_VANISHED = "These tests ran before, and no longer run with the work:\n\n{}"


def listed(tests: Sequence[str]) -> str:
    more = f"\n- and {len(tests) - _SHOWN} more" if len(tests) > _SHOWN else ""
    return "\n".join(f"- {test}" for test in tests[:_SHOWN]) + more


def blind(story: Story, command: str, has_folder: Callable[[str], bool]) -> str:
    """Return the message that no check of a story notices broken code, with the likely cause."""
    copies = next((name for name in (".venv", "venv", "node_modules") if has_folder(name)), "")
    elsewhere = f"a copy of the project that is installed elsewhere (look into {copies})" if copies else ""
    return (
        f"nothing checks {story.id}: `{command}` still passes when every file of the repository except the tests is replaced "
        f"with garbage; it always succeeds, or it tests {elsewhere or 'something outside this repository'}"
    )


def blind_note(command: str) -> str:
    return f"`{command}` passes even when the code is replaced with garbage, so it shows nothing; the verdict rests on other checks"


def empty_note(command: str) -> str:
    return f"`{command}` finds no test yet; each story has to bring tests of its own"


def of_old_tests(found: Verdict, policy: Policy, difference: Difference) -> Verdict:
    """Return the verdict after the tests of the base were run on the work."""
    if found.eased:
        message = _EASED.format(listed(found.eased))
        return _not_passed(found, Reason.VERIFICATION_TAMPERED, message, difference(found.eased))
    if found.broken:
        return _not_passed(found, Reason.STORY_VERIFICATION_FAILED, _BROKEN.format(listed(found.broken)))
    asked = (*found.changed, *found.vanished)
    if not asked or policy.changed_tests == "accept":
        return replace(found, message="")
    kinds = ((_CHANGED, found.changed), (_VANISHED, found.vanished))
    message = "\n\n".join(words.format(listed(tests)) for words, tests in kinds if tests)
    message += f"\n\n{found.message}" if found.message else ""
    if policy.changed_tests == "refuse":
        message += "\n\nKeep what these tests check (policy.changed_tests is `refuse`)."
        return _not_passed(found, Reason.STORY_VERIFICATION_FAILED, message, difference(asked))
    return _not_passed(found, Reason.CHANGED_EXPECTATION, message, difference(asked))


def of_run(found: Verdict, agreed: Collection[str], policy: Policy, difference: Difference) -> Verdict:
    """Return the verdict after the tests of the run's first base were run on the final work. Accepted changes do not count."""
    broken, changed, vanished = (
        tuple(test for test in tests if test not in agreed) for tests in (found.broken, found.changed, found.vanished)
    )
    found = replace(found, broken=broken, eased=(), changed=changed, vanished=vanished)
    asked = (*broken, *changed, *vanished)
    if not asked or (policy.changed_tests == "accept" and not broken):
        return found
    message = (
        "Each story passed, but some tests from before the run fail on the result. "
        "Stories changed these tests, and nobody accepted the change:\n\n" + listed(asked)
    )
    return _not_passed(found, Reason.RUN_VERIFICATION_FAILED, message, difference(asked))


def _not_passed(found: Verdict, reason: Reason, message: str, difference: str = "") -> Verdict:
    return replace(found, passed=False, proof=None, reason=reason, message=message, difference=difference)


def nothing_shown(found: Verdict, *, untouched: bool) -> Verdict:
    """Return the verdict if the tests that failed before still fail, and nothing else shows what the work does.

    If they fail in exactly the same way (`untouched`), the story may not be about them. A person decides after a second such
    attempt.
    """
    message = (
        "This failed before the work and still fails, and no new test shows what the work does:\n\n"
        f"{listed(found.as_before)}\n\nMake it pass if the story is about it; otherwise add a test that fails without "
        "the work and passes with it."
    )
    results = tuple(
        replace(one, verdict=CheckVerdict.FAIL) if one.verdict is CheckVerdict.INHERITED else one
        for one in found.results
    )
    reason = Reason.NOTHING_VERIFIED if untouched else Reason.STORY_VERIFICATION_FAILED
    return replace(_not_passed(found, reason, message), results=results)


def package(found: Verdict) -> Verdict:
    """Return the verdict on a scientist's package: no check can judge it, so a person must accept it."""
    message = "No check can judge this package. Read it, then accept it, or say what is missing."
    return _not_passed(found, Reason.NEEDS_USER_CONFIRMATION, message)


def without_test_file(found: Verdict, path: str) -> Verdict:
    """Return the verdict on work without the test file that the document names: only a person knows whether it is meant."""
    message = (
        f"The document names {path} as the test of this story. It does not exist, and the attempt did not write it. Is it to be "
        "written (refuse), or is the path a mistake and the work right (accept)?"
    )
    return _not_passed(found, Reason.NEEDS_USER_CONFIRMATION, message)


def nothing_seen(found: Verdict) -> Verdict:
    names = ", ".join(f"`{result.command}`" for result in found.results)
    message = (
        f"{names} still pass when every file of the work except the tests is replaced with garbage, so they show nothing. "
        "Add a test that runs the code."
    )
    return replace(_not_passed(found, Reason.NOTHING_VERIFIED, message), lacks_test=True)


def unproven(found: Verdict, wanted: str, checks: Sequence[Check], excuse: str) -> Verdict:
    """Return the verdict on work whose checks pass and show less than the policy asks for. The work is kept."""
    proved = "a test that existed before the work, failed, and passes now"
    ask = proved if wanted == "proved" else "a test that fails without the work and passes with it"
    without = {True: "passes without it too", False: "was not there before, or could not run"}
    words = [f"`{check.work.command}` {without[check.base.is_green]}" for check in checks if check.work.is_green]
    message = f"{_ended(found)}, but nothing shows what the work does: {'; '.join(words)}. What is missing is {ask}."
    if found.as_before:
        message += f"\n\nThese tests failed before the work and still fail:\n\n{listed(found.as_before)}"
    if named := [f"{row.test} (for {row.id})" for row in found.criteria if row.test and row.before == "passed"]:
        message += f"\n\nThese named tests passed before the work too, so they show nothing:\n\n{listed(named)}"
    told = replace(found, passed=False, reason=Reason.UNPROVEN, message=message, lacks_test=True, excuse=excuse)
    return replace(told, proof=Proof.REGRESSION)


def _ended(found: Verdict) -> str:
    red = ", ".join(f"`{one.command}`" for one in found.results if one.verdict is CheckVerdict.INHERITED)
    return f"No check fails anew ({red} fails as before the work)" if red else "The checks pass"


def without_evidence(found: Verdict, lacking: Sequence[str]) -> Verdict:
    message = (
        f'{_ended(found)}, but policy.evidence = "required" asks for a passing test for every criterion. These criteria have '
        f"no test, or it does not pass:\n\n{listed(lacking)}"
    )
    return _not_passed(found, Reason.NOTHING_VERIFIED, message)


def with_doubts(found: Verdict, doubts: tuple[DoubtfulLine, ...], policy: str) -> Verdict:
    """Return the verdict with the lines that could deceive the checks. A person decides, unless the policy refuses them."""
    found = replace(found, doubts=doubts)
    if policy == "accept":
        return found
    lines = "\n".join(f"- {one.sentence}" for one in doubts)
    message = f"{_ended(found)}, but they may not tell the truth about this work:\n\n{lines}"
    if found.message:
        message = f"{found.message}\n\n{message}"
    if policy == "refuse":
        message += "\n\nWrite the work without them (policy.doubts is `refuse`)."
        return replace(found, passed=False, reason=Reason.STORY_VERIFICATION_FAILED, message=message)
    return replace(found, passed=False, reason=found.reason or Reason.DOUBTED, message=message)
