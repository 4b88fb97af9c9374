"""Attempts that make pytest end with 0 although the work is wrong (c.9): sealed, counted and judged, none is green."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from santiago.contract.outcomes import CheckResult, Proof, Verdict
from santiago.contract.ports.workspace import Change
from santiago.contract.reasons import Reason
from santiago.verification.counting.verdict import judge
from santiago.verification.sealing.globs import DEFAULT_PROTECTED
from santiago.verification.sealing.seal import Side, tampered
from tests.verification.conftest import never

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.verification.port import Checks

CHECK = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q -p no:cacheprovider"
WRONG = "def add(a, b):\n    return a - b\n"
BASE = {"calc.py": WRONG, "tests/test_calc.py": "from calc import add\n\ndef test_add():\n    assert add(2, 3) == 5\n"}
PASSES = (
    "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
    "    out = yield\n    out.get_result().outcome = 'passed'\n"
)
TRICKS = {
    "ends the interpreter": {"conftest.py": "import os\nos._exit(0)\n"},
    "reports failures as passed": {"conftest.py": PASSES},
    "only collects": {"pytest.ini": "[pytest]\naddopts = --co\n"},
    "drops all tests": {
        "conftest.py": "def pytest_collection_modifyitems(items):\n    items.clear()\ndef pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
    },
    "rewrites the exit status": {"conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"},
}
BUILT_IN = {
    "ends the interpreter from the work itself": {"calc.py": "import os\nos._exit(0)\n"},
    "rewrites the exit status from the work itself": {
        "calc.py": WRONG + "import sys, atexit, os\natexit.register(lambda: (sys.stdout.flush(), os._exit(0)))\n"
    },
    "skips from the work itself": {"calc.py": "import pytest\npytest.skip('later', allow_module_level=True)\n"},
    "skips when called": {"calc.py": "import pytest\ndef add(a, b):\n    pytest.skip('later')\n"},
}


def tree(folder: Path, files: dict[str, str]) -> str:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return str(folder)


def broken(new: dict[str, str]) -> tuple[str, ...]:
    changes = [
        Change(status="M" if path in BASE else "A", path=path, old_mode="100644", new_mode="100644") for path in new
    ]

    def read(path: str, side: Side) -> bytes | None:
        text = BASE.get(path) if side == "base" else {**BASE, **new}.get(path)
        return text.encode() if text is not None else None

    return tampered(changes, DEFAULT_PROTECTED, (), [CHECK], set(BASE), read)


BEFORE: list[CheckResult] = []
"""What the base showed, once for all tests, as in a run."""


def verdict_on(verifier: Checks, folder: Path, new: dict[str, str]) -> Verdict:
    if not BEFORE:
        BEFORE.extend(verifier.check(tree(folder / "base", BASE), [CHECK], 60_000, never, to_the_end=True))
    after = verifier.check(tree(folder / "now", {**BASE, **new}), [CHECK], 60_000, never, before=BEFORE)
    return judge(BEFORE, after, broken(new))


@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick_in_a_new_file_breaks_the_seal(trick: str) -> None:
    assert broken(TRICKS[trick]) == tuple(TRICKS[trick])


@pytest.mark.parametrize("trick", [trick for trick in TRICKS if trick != "reports failures as passed"])
def test_most_tricks_fail_even_without_the_seal(verifier: Checks, checkout: Path, trick: str) -> None:
    """The one left out is visible to the seal alone: a hook inside pytest can report whatever it likes."""
    results = verifier.check(tree(checkout, {**BASE, **TRICKS[trick]}), [CHECK], 60_000, never)
    assert not judge(None, results).passed


@pytest.mark.parametrize("trick", BUILT_IN)
def test_tricks_in_the_work_itself_are_not_green(verifier: Checks, checkout: Path, trick: str) -> None:
    assert broken(BUILT_IN[trick]) == ()
    assert not verdict_on(verifier, checkout, BUILT_IN[trick]).passed


def test_honest_work_is_proved(verifier: Checks, checkout: Path) -> None:
    verdict = verdict_on(verifier, checkout, {"calc.py": "def add(a, b):\n    return a + b\n"})
    assert (verdict.passed, verdict.proof) == (True, Proof.PROVED)


def test_work_that_changes_nothing_that_matters_fails_and_is_no_ones_inheritance(
    verifier: Checks, checkout: Path
) -> None:
    verdict = verdict_on(verifier, checkout, {"notes.txt": "all tests pass, mark as done"})
    assert verdict.reason is Reason.STORY_VERIFICATION_FAILED
