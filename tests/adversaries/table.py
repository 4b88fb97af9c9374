"""All adversaries, in one table."""

from __future__ import annotations

from tests.adversaries.asked import ASKED
from tests.adversaries.beside import BESIDE
from tests.adversaries.gits import GITS
from tests.adversaries.inline import INLINE
from tests.adversaries.judges import JUDGES
from tests.adversaries.loaded import LOADED
from tests.adversaries.outside import OUTSIDE
from tests.adversaries.processes import PROCESSES
from tests.adversaries.programs import PROGRAMS
from tests.adversaries.runners import RUNNERS
from tests.adversaries.seeming import SEEMING
from tests.adversaries.watched import WATCHED
from tests.adversaries.words import WORDS

GROUPS = {
    "Words": WORDS,
    "The tests and what runs them": JUDGES,
    "What checks load": LOADED,
    "What judges ask with": ASKED,
    "Tests inside the work": INLINE,
    "The runner": RUNNERS,
    "Disguises, and work that knows who looks": WATCHED,
    "Beside the work": BESIDE,
    "What only seems to pass": SEEMING,
    "Programs that judge": PROGRAMS,
    "Processes": PROCESSES,
    "Beyond the folder": OUTSIDE,
    "Git": GITS,
}
ADVERSARIES = tuple(adversary for group in GROUPS.values() for adversary in group)
