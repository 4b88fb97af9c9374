"""All adversaries, in one table."""

from __future__ import annotations

from tests.adversaries.gits import GITS
from tests.adversaries.judges import JUDGES
from tests.adversaries.outside import OUTSIDE
from tests.adversaries.processes import PROCESSES
from tests.adversaries.runners import RUNNERS
from tests.adversaries.words import WORDS

GROUPS = {
    "Words": WORDS,
    "The tests and what runs them": JUDGES,
    "The runner": RUNNERS,
    "Processes": PROCESSES,
    "Beyond the folder": OUTSIDE,
    "Git": GITS,
}
ADVERSARIES = tuple(adversary for group in GROUPS.values() for adversary in group)
