"""Which files a check compares with: what is expected is the judge's, what it is held against is the work."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from santiago.verification.commandline.steps import SUBSTITUTED, Step, resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    Find = Callable[[Step, str], Iterable[str]]
    """Returns the files and folders of the base that a word of a step means."""

_COMPARE = frozenset({"diff", "cmp", "comm", "sdiff", "colordiff", "diff3"})
_SUMS = re.compile(r"(?:sha\d*|md5|b2|blake2|ck|sha)sum|shasum")
_WORDS_FILTERS = "cat sort uniq jq sed tr head tail grep cut awk zcat gunzip expand column"
_FILTERS = frozenset(_WORDS_FILTERS.split())
"""Programs that hand on a file in another form."""
_LITERAL = frozenset({"echo", "printf", "<<"})
"""What says on the command line itself what a file must hold; then the file is the work."""
_EXPECTED = r"expect(?:ed|ations?)?|goldens?|gold"


def _word(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])", re.IGNORECASE)


_SAID = _word(_EXPECTED)
_HINTED = _word(
    rf"{_EXPECTED}|reference|ref|baseline|approved|snapshots?|want(?:ed)?|oracle|correct|solution|fixtures?|testdata"
)
_ASKED = _word(rf"{_EXPECTED}|cases?|vectors?|answers?|fixtures?|testdata")
"""What scripts that judge, and tests, read their questions and answers from."""
_WRITTEN_AGAIN = re.compile(r"docs?/.*|.*\.(?:md|lock|rst)|.*(?:generated|[._]gen\.|\.pb\.).*", re.IGNORECASE)
"""What work brings up to date together with what it is made from."""
_DATA = (
    ".txt",
    ".json",
    ".csv",
    ".tsv",
    ".xml",
    ".yml",
    ".yaml",
    ".toml",
    ".out",
    ".in",
    ".dat",
    ".ndjson",
    ".jsonl",
    ".ini",
    ".cfg",
)
_WORDS_CODE = ".py .js .mjs .cjs .ts .tsx .jsx .rb .go .rs .c .cc .cpp .h .java .kt .sh .php .pl .pm .swift .cs .lua"
_CODE = tuple(_WORDS_CODE.split())
_PATH = re.compile(r"[\w.][\w./-]{2,300}")
_MOST_WORDS = 5_000


def compared_with(line: Sequence[Step], find: Find) -> set[str]:
    """Return files and folders of the base that the steps of a line hold something else against."""
    found: set[str] = set()
    made = {path for step in line for path in _plain(step, (*step.writes, *_made_by(step)))}
    for place, step in enumerate(line):
        if step.name in _COMPARE or step.written[:3] == ("git", "diff", "--no-index"):
            found |= _expected(_operands(line, place, find), made, step)
        elif step.name in {"test", "[", "[["}:
            found |= _expected(_substituted(line, place, find), made, step)
        elif step.name in {"grep", "egrep", "fgrep"}:
            found |= set().union(*_files(step, _values_of_f(step.argv), find))
        elif _SUMS.fullmatch(step.name) and any(re.match(r"--check|-\w*c", word) for word in step.argv[1:]):
            found |= set().union(*_files(step, (*step.argv[1:], *step.reads), find))
    found -= _asked(line)
    if found:  # what is fed to the work is part of the question
        fed = [files for step in line if step.heard for files in _files(step, step.reads, find)]
        found |= set().union(*fed) - made
    return found


def is_question(path: str) -> bool:
    """Whether the name of a data file says that judges read it."""
    return is_data(path) and _ASKED.search(path.rpartition("/")[2]) is not None


def is_data(path: str) -> bool:
    return path.endswith(_DATA)


def expected_in(text: str, folders: Iterable[str], files: Collection[str], *, of_judge: bool = False) -> set[str]:
    """Return the files that a text names and that say by their name what they are there for."""
    said = _ASKED if of_judge else _SAID
    words = [word for word in _PATH.findall(text)[:_MOST_WORDS] if said.search(word)]
    paths = {path for word in words for folder in folders if (path := resolved(folder, word))}
    return {path for path in paths if path in files and not path.endswith(_CODE)}


def _expected(operands: list[frozenset[str]], made: set[str], step: Step) -> set[str]:
    """Return what of that which is compared is the judge's; where nothing tells the sides apart, nothing is."""
    sides = [files - made for files in operands if operands.count(files) == 1 and files - made]
    said = {path for files in sides for path in files if _HINTED.search(path)}
    if len(sides) == 1 and step.fed not in _LITERAL:
        return said | {path for path in sides[0] if not _WRITTEN_AGAIN.fullmatch(path)}
    return said if len(sides) > 1 else set()


def _operands(line: Sequence[Step], place: int, find: Find) -> list[frozenset[str]]:
    """Return the sides of a comparison that are files, also those that come through a filter."""
    step = line[place]
    before = line[place - 1] if place and step.fed == line[place - 1].name else None
    filters = [inner for inner in line[place + 1 :] if inner.within == step.name]
    filters += [before] if before is not None else []
    given = [step, *(one for one in filters if one.name in _FILTERS)]
    return [files for one in given for files in _files(one, (*one.argv[1:], *one.reads), find)]


def _substituted(line: Sequence[Step], place: int, find: Find) -> list[frozenset[str]]:
    """Return the files of `[ "$(work)" = "$(cat FILE)" ]`; one that is held against a word of the line is the work."""
    inner: list[Step] = []
    while place and line[place - 1].within == SUBSTITUTED:
        place -= 1
        inner.append(line[place])
    sides = [files for one in inner if one.name in _FILTERS for files in _files(one, (*one.argv[1:], *one.reads), find)]
    return sides if len(sides) > 1 or any(one.name not in _FILTERS for one in inner) else []


def _asked(line: Sequence[Step]) -> set[str]:
    """Return the files that the compared output is made from: a file that is held against itself is the work."""
    makers = [step for step in line if step.heard and step.name not in _FILTERS | _COMPARE]
    return {path for step in makers for path in _plain(step, (*step.argv, *step.reads))}


def _files(step: Step, words: Iterable[str], find: Find) -> list[frozenset[str]]:
    return [files for word in words if not word.startswith("-") and (files := frozenset(find(step, word)))]


def _plain(step: Step, words: Iterable[str]) -> list[str]:
    return [path for word in words if (path := resolved(step.folder, word))]


def _made_by(step: Step) -> tuple[str, ...]:
    after_o = tuple(word for option, word in pairwise(step.argv) if option in {"-o", "--output"})
    return step.argv[1:] if step.name == "tee" else after_o


def _values_of_f(argv: Sequence[str]) -> list[str]:
    found = [word for option, word in pairwise(argv) if re.fullmatch(r"-\w*f|--file", option)]
    return found + [word.partition("=")[2] for word in argv if word.startswith("--file=")]
