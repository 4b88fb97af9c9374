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
    "Claims and questions": WORDS,
    "Tests, and the files that run them": JUDGES,
    "Files that checks load": LOADED,
    "Test cases, settings and assertions": ASKED,
    "Tests in the same file as the work": INLINE,
    "The test runner": RUNNERS,
    "Disguises, and work that detects a test": WATCHED,
    "Files beside the work": BESIDE,
    "Tests that only seem to pass": SEEMING,
    "Checks that are programs": PROGRAMS,
    "Processes": PROCESSES,
    "Outside of the agent's folder": OUTSIDE,
    "Git": GITS,
}
ADVERSARIES = tuple(adversary for group in GROUPS.values() for adversary in group)
