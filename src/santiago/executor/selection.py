"""Which chunks a person means: numbers, labels, ranges and lists of them, read in the same way wherever they are typed.

One grammar: parts with commas between them, each a chunk or two chunks with `-` or `..` between them, in either order. A
chunk is its number, its label, or the beginning of one label. Quotes make a label of whatever is in them, and `#2` is
always a number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from santiago.contract.counting import count
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.phases import StoryPhase
from santiago.contract.record import record
from santiago.contract.state import RunState

LONGEST = 2000
"""Characters of one selection."""
MOST_NAMED = 6
_COMMA = pattern(r"""[^,"']+|"[^"]*"|'[^']*'|["',]""")
_BETWEEN = pattern(r"""\.\.|-|"[^"]*"|'[^']*'""")

Places = tuple[int, ...]


@record
class Selection:
    """What a start would run."""

    labels: tuple[str, ...]
    """Chunks in plan order."""
    stories: int
    """The stories of these chunks that are neither done nor left out."""
    again: int
    """How many of these stories were attempted before."""

    @property
    def sentence(self) -> str:
        """Say what would run, on one line."""
        names = ", ".join(self.labels[:MOST_NAMED])
        more = f" and {len(self.labels) - MOST_NAMED} more" if len(self.labels) > MOST_NAMED else ""
        chunks = count(len(self.labels), "chunk")
        stories = count(self.stories, "story", "stories")
        again = f" ({self.again} attempted before)" if self.again else ""
        return f"will run {chunks}, {stories}{again}: {names}{more}"


def chunks_named(text: str, labels: Sequence[str]) -> tuple[str, ...]:
    """Return the chunks that a text names, in plan order; raise where it names none, or may mean two things."""
    if len(text) > LONGEST:
        raise _refused(f"the selection has {len(text):,} characters, and {LONGEST:,} are the most")
    if not text.strip():
        raise _refused("no chunk is named", f"Name one by number or label: {_listed(labels)}.")
    parts = _parts(text)
    whole = [(labels.index(text.strip()),)] if len(parts) > 1 and text.strip() in labels else []
    if whole:  # a label with commas in it, unless what it lists is there as well
        try:
            listed = _together(parts, labels)
        except SantiagoError:
            listed = whole[0]
        readings = dict.fromkeys((*whole, listed))
        if len(readings) > 1:
            raise _ambiguous(text.strip(), list(readings), labels)
        return (labels[whole[0][0]],)
    return tuple(labels[place] for place in _together(parts, labels))


def selected(state: RunState, text: str) -> Selection:
    """Return what a text selects of a run; raise where a chunk of it is completed, or comes before its turn."""
    labels = chunks_named(text, list(state.chunks))
    numbers = {label: number for number, label in enumerate(state.chunks, start=1)}
    upto = through(state, labels)
    can_begin = numbered([numbers[label] for label in upto])
    for label in labels:
        if not state.chunks[label].left:
            skipped = all(state.stories[name].skipped for name in state.chunks[label].stories)
            word = "left out" if skipped else "completed"
            hint = f"{can_begin} would run." if upto else "What is done is never done again."
            raise _refused(f"chunk {numbers[label]} ({label}) is {word}", hint)
    for label in upto:
        if label not in labels:
            first = numbers[label]
            later = next(one for one in labels if numbers[one] > first)
            message = f"chunk {numbers[later]} ({later}) comes after {first} ({label}), which is not finished"
            raise _refused(message, f"Select {can_begin}.")
    stories = [state.stories[name] for label in labels for name in state.chunks[label].stories]
    open_ones = [one for one in stories if not (one.parent or one.skipped or one.phase is StoryPhase.DONE)]
    again = sum(bool(one.attempts) for one in open_ones)
    return Selection(labels=labels, stories=len(open_ones), again=again)


def through(state: RunState, labels: Collection[str]) -> list[str]:
    """Return the unfinished chunks up to the last unfinished one of these: what can begin, since no chunk overtakes another."""
    left = [chunk.label for chunk in state.chunks.values() if chunk.left]
    wanted = [label for label in left if label in labels]
    return left[: left.index(wanted[-1]) + 1] if wanted else []


def needed(state: RunState, names: Collection[str]) -> list[str]:
    """Return these stories and all that must be done before them, in plan order, without what is done or left out."""
    chunks = through(state, {state.stories[name].chunk for name in names if not state.stories[name].satisfied})
    before = {name for label in chunks[:-1] for name in state.chunks[label].stories}
    waiting, found = [*names, *before], set[str]()
    while waiting:
        story = state.stories[waiting.pop()]
        name = story.parent or story.id
        if name not in found and not story.satisfied:
            found.add(name)
            waiting += state.needs.get(name, ())
    return [name for name in state.order if name in found]


def quoted(label: str) -> str:
    """Return a label as it can always be typed."""
    return f'"{label}"' if '"' not in label else f"'{label}'"


def numbered(numbers: Sequence[int]) -> str:
    """Return numbers in order as a selection, neighbours as ranges: `2-4,6`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


# Reading


def _parts(text: str) -> list[str]:
    """Return what stands between commas that no quotes hold."""
    parts = [""]
    for piece in _COMMA.findall(text):
        if piece == ",":
            parts.append("")
        else:
            parts[-1] += piece
    return [part.strip() for part in parts]


def _together(parts: list[str], labels: Sequence[str]) -> Places:
    found: set[int] = set()
    for part in parts:
        found.update(_part(part, labels))
    return tuple(sorted(found))


def _part(text: str, labels: Sequence[str]) -> Places:
    """Return the chunks of one part; words as they are count before beginnings of words."""
    if not text:
        raise _refused("a comma has nothing beside it")
    for beginnings in (False, True):
        readings = list(dict.fromkeys(_readings(text, labels, beginnings=beginnings)))
        if len(readings) > 1:
            raise _ambiguous(text, readings, labels)
        if readings:
            return readings[0]
    raise _unknown(text, labels)


def _readings(text: str, labels: Sequence[str], *, beginnings: bool) -> Iterator[Places]:
    """Yield all that a part may mean: one chunk, or a range wherever it can be split."""
    for place in _places(text, labels, beginnings=beginnings):
        yield (place,)
    for between in _BETWEEN.finditer(text):
        if between[0] not in ("-", ".."):
            continue
        first, last = text[: between.start()].strip(), text[between.end() :].strip()
        for one in _places(first, labels, beginnings=beginnings):
            for other in _places(last, labels, beginnings=beginnings):
                yield tuple(range(min(one, other), max(one, other) + 1))


def _places(text: str, labels: Sequence[str], *, beginnings: bool) -> list[int]:
    """Return the chunks that one word may stand for: the one of this label, the one of this number."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return [labels.index(text[1:-1])] if text[1:-1] in labels else []
    found = [labels.index(text)] if text in labels else []
    number = text.removeprefix("#")
    if number.isascii() and number.isdigit() and len(number) < 7 and 1 <= int(number) <= len(labels):
        found.append(int(number) - 1)
    if found or not beginnings or not text:
        return list(dict.fromkeys(found))
    return [place for place, label in enumerate(labels) if label.lower().startswith(text.lower())]


# Refusing


def _refused(message: str, hint: str = "") -> SantiagoError:
    return SantiagoError(Kind.USAGE, message, hint=hint)


def _unknown(text: str, labels: Sequence[str]) -> SantiagoError:
    sides = [side.strip() for side in re.split(r"\.\.|-", text)] if not re.search("[\"']", text) else []
    if sides and all(side.removeprefix("#").isdigit() for side in sides):
        outside = next((side for side in sides if not _places(side, labels, beginnings=False)), text)
        return _refused(f"there is no chunk {outside}", f"There are {_listed(labels)}.")
    return _refused(f"there is no chunk {text!r}", f"There are {_listed(labels)}.")


def _ambiguous(text: str, readings: list[Places], labels: Sequence[str]) -> SantiagoError:
    """Name the readings, and how each is typed so that it cannot be misread."""
    told = " or ".join(_reading(places, labels, text) for places in readings[:MOST_NAMED])
    typed = ", ".join(_typed(places, labels, text) for places in readings[:MOST_NAMED])
    return _refused(f"{text!r} may mean {told}", f"Type one of {typed}.")


def _reading(places: Places, labels: Sequence[str], text: str) -> str:
    if len(places) > 1:
        return f"chunks {places[0] + 1} to {places[-1] + 1}"
    return (
        f"the chunk labelled {labels[places[0]]!r}"
        if labels[places[0]] == text
        else f"chunk {places[0] + 1} ({labels[places[0]]})"
    )


def _typed(places: Places, labels: Sequence[str], text: str) -> str:
    if len(places) > 1:
        return f"#{places[0] + 1}..#{places[-1] + 1}"
    return quoted(labels[places[0]]) if labels[places[0]] == text else f"#{places[0] + 1}"


def _listed(labels: Sequence[str]) -> str:
    names = ", ".join(f"{number} {quoted(label)}" for number, label in enumerate(labels[:MOST_NAMED], start=1))
    return f"{names} and {len(labels) - MOST_NAMED} more" if len(labels) > MOST_NAMED else names
