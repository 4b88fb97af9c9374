"""All adversaries, in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proofs.adversaries.adversary import MAKE, MODULE, PYTEST, SCRIPT, UNITTEST
from proofs.adversaries.asked import ASKED
from proofs.adversaries.before import BEFORE
from proofs.adversaries.beside import BESIDE
from proofs.adversaries.gits import GITS
from proofs.adversaries.inline import INLINE
from proofs.adversaries.judges import JUDGES
from proofs.adversaries.loaded import LOADED
from proofs.adversaries.outside import OUTSIDE
from proofs.adversaries.processes import PROCESSES
from proofs.adversaries.programs import PROGRAMS
from proofs.adversaries.runners import RUNNERS
from proofs.adversaries.seeming import SEEMING
from proofs.adversaries.watched import WATCHED
from proofs.adversaries.words import WORDS

if TYPE_CHECKING:
    from proofs.adversaries.adversary import Adversary, Fence

GROUPS = {
    "Claims and questions": WORDS,
    "Tests, and the files that run them": JUDGES,
    "Files that checks load": LOADED,
    "Test cases, settings and assertions": ASKED,
    "Tests in the same file as the work": INLINE,
    "The test runner": RUNNERS,
    "What is loaded before the first test": BEFORE,
    "Disguises, and work that detects a test": WATCHED,
    "Files beside the work": BESIDE,
    "Tests that only seem to pass": SEEMING,
    "Checks that are programs": PROGRAMS,
    "Processes": PROCESSES,
    "Outside of the agent's folder": OUTSIDE,
    "Git": GITS,
}
ADVERSARIES = tuple(adversary for group in GROUPS.values() for adversary in group)
TRIALS = tuple((one, fence) for one in ADVERSARIES for fence in one.fences)
_USUAL = {UNITTEST: "unittest", MODULE: "unittest", PYTEST: "pytest", MAKE: "make", SCRIPT: "sh"}


def kind(one: Adversary, fence: Fence) -> tuple[str, ...]:
    """Return what a trial shows: what is attacked, through which check, and how it ends; the sandbox, where that changes the end."""
    attacked = next(title for title, group in GROUPS.items() if one in group)
    check = _USUAL.get(one.check) or one.check.split()[0]
    seen = "unseen" if one.unseen else "allowed" if "allowed" in one.does else "seen"
    return attacked, check, one.ends_in(fence), seen, fence if one.ends_off else ""


SAMPLE = tuple({kind(*trial): trial for trial in reversed(TRIALS)}.values())
"""The first trial of each kind. The tests have these; `python -m proofs adversaries` has all."""
