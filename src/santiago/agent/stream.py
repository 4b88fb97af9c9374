"""Reading what an agent prints, by its profile's rules: its last words, usage, present activity, and how it ended.

Lenient by design: a line that is not JSON, or that no rule fits, changes nothing. Everything that is kept has a limit.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from santiago.agent.waits import bounded, wait_in
from santiago.contract.lazy_regex import pattern
from santiago.contract.outcomes import Usage
from santiago.contract.quantities import Usd
from santiago.contract.record import lean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from santiago.agent.profile import Condition, Profile, Rule


MOST_KNOWN = 500
"""How many values of the key are remembered with their rules."""


class Dispatch:
    """The rules of one profile, grouped by the value of that key, such as `type`."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rule for rule in rules if rule.matches is None)
        keys = Counter(path for rule in self.rules for path in rule.when if "." not in path)
        self.key = keys.most_common(1)[0][0] if keys else ""
        self.known: dict[str | None, tuple[Rule, ...]] = {}

    def of(self, document: dict[str, Any]) -> tuple[Rule, ...]:
        """Return, in order, the rules that this document may fit."""
        value = document.get(self.key)
        if value is not None and not isinstance(value, str):
            return self.rules
        found = self.known.get(value)
        if found is None:
            found = tuple(rule for rule in self.rules if self._may_fit(rule, value))
            if len(self.known) < MOST_KNOWN and len(value or "") < MOST_KNOWN:
                self.known[value] = found
        return found

    def _may_fit(self, rule: Rule, value: str | None) -> bool:
        return self.key not in rule.when or fits({self.key: value}, {self.key: rule.when[self.key]})


MOST_NESTED = 1024 * 1024
"""Longest text that is parsed as JSON when a path leads into it, in characters."""
MOST_SEARCHED = 20_000
"""How many characters of a text a pattern is matched against."""
_INDEX = pattern(r"-?[0-9]{1,6}")


def at(document: Any, path: str) -> Any:
    """Return the value at a dotted path; None if there is none.

    A key with dots in it is found as well. A number leads into a list, `-1` to its last element. A text that holds
    JSON is looked into: some agents print the arguments of a tool that way.
    """
    if not path:
        return document
    if isinstance(document, str):
        document = _unpacked(document)
    head, _, rest = path.partition(".")
    if isinstance(document, dict):
        if path in document:
            return document[path]
        return at(document[head], rest) if rest and head in document else None
    if isinstance(document, list) and _INDEX.fullmatch(head) and -len(document) <= int(head) < len(document):
        return at(document[int(head)], rest)
    return None


def parts(document: dict[str, Any], each: str, where: Mapping[str, Condition]) -> Iterator[Any]:
    """Return the document, or the elements of its list at `each` that satisfy the conditions."""
    if not each:
        yield document
        return
    found = at(document, each)
    for part in found if isinstance(found, list) else ():
        if isinstance(part, dict) and fits(part, where):
            yield part


def fits(document: Any, conditions: Mapping[str, Condition]) -> bool:
    return all(_holds(at(document, path), wanted) for path, wanted in conditions.items())


def _holds(value: Any, wanted: Condition) -> bool:
    if isinstance(wanted, re.Pattern):
        return isinstance(value, str) and wanted.search(value, 0, MOST_SEARCHED) is not None
    if wanted == "*":
        return value not in (None, "", [], {})
    choices = wanted if isinstance(wanted, tuple) else (wanted,)
    return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in choices)


def _unpacked(text: str) -> Any:
    if len(text) > MOST_NESTED or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def text_of(value: Any, most: int = 1_000_000) -> str:
    """Return a text; for a list of text blocks, their texts joined."""
    if isinstance(value, str):
        return _writable(value[:most])
    if isinstance(value, list):
        blocks = [one.get("text") for one in value if isinstance(one, dict)]
        return _writable("\n".join(text for text in blocks if isinstance(text, str))[:most])
    if isinstance(value, dict):
        try:
            return json.dumps(value)[:most]
        except RecursionError:
            return ""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18 else ""


def _writable(text: str) -> str:
    """Return a text that can be written as UTF-8, since JSON may contain half surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


_FIGURE = pattern(r"\s*\$?([0-9][0-9,]{0,20}(?:\.[0-9]{1,20})?)\s*([kKmM]?)")
_SCALE = {"": 1, "k": 1_000, "m": 1_000_000}


def number_of(value: Any) -> float | None:
    """Return a number that is not negative; also from `1.2k` and `$0.02`. None if it is not one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        found = _FIGURE.fullmatch(value)
        value = float(found[1].replace(",", "")) * _SCALE[found[2].lower()] if found else None
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e15 else None


def first_line(text: str, most: int = 120) -> str:
    """Return the first line that is not empty, cut to `most`."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    return line if len(line) <= most else line[: most - 1] + "…"


MOST_LINE = 8 * 1024 * 1024
MOST_TEXT = 20_000
"""How many characters of a message or an error are kept."""
MOST_COST = 1e6
"""Highest cost in dollars that is believed."""
MOST_TODOS = 100
MOST_DENIALS = 20
MOST_ACTIONS = 200
_BEFORE = "\ufeff\0 \t"
"""Characters before a line's text that mean nothing."""
_ESCAPES = pattern(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


@lean()
class Trouble:
    """An error that the stream reported."""

    words: str
    status: int | None
    wait: int | None
    passing: bool


@lean(frozen=True)
class Todo:
    text: str
    done: bool
    active: bool


@lean(frozen=True)
class Action:
    """One use of a tool."""

    tool: str
    subject: str

    def __str__(self) -> str:
        return f"{self.tool} {self.subject}".strip()


@lean()
class Reading:
    """What is known of a stream so far."""

    message: str = ""
    session: str | None = None
    tokens: int | None = None
    cost: int | None = None
    """Millionths of a dollar."""
    added: bool = False
    """Whether the figures are sums over steps, so that a missing line makes them too small."""
    trouble: Trouble | None = None
    ends: Literal["ok", "error"] | None = None
    refused: bool = False
    denials: list[str] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    """The latest uses of tools, oldest first."""
    tools: int = 0
    """How often any tool was used."""
    todos: dict[str, Todo] = field(default_factory=dict)
    lines: int = 0
    gaps: bool = False
    """Whether some lines were skipped because there were too many."""

    def usage(self, *, complete: bool) -> Usage:
        """Return what was used; unknown if nothing was reported, or if lines of a sum are missing.

        A zero is believed only if nothing was done, since agents report 0 if they know no price or got no figure.
        """
        if self.added and (self.gaps or not complete):
            return Usage()
        tokens = None if self.tokens == 0 and (self.actions or self.ends == "ok") else self.tokens
        known = self.cost is not None and (self.cost > 0 or tokens == 0)
        return Usage(tokens=tokens, cost_usd=Usd(self.cost or 0) if known else None)

    def now(self) -> str:
        """Return what the agent is doing, in a few words."""
        if self.trouble is not None and self.trouble.passing:
            return f"tries again: {first_line(self.trouble.words)}"
        return str(self.actions[-1]) if self.actions else first_line(self.message)


class StreamReader:
    """Takes the lines of one agent's output."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.reading = Reading()
        self._joined = False
        self._rules = Dispatch(profile.on)
        self._counted: set[int] = set()
        """Lines whose figures were added, so that a repeated line counts once."""

    def feed(self, line: str) -> None:
        """Take one line of any content."""
        self.reading.lines += 1
        if len(line) > MOST_LINE:
            return
        text = line.strip()
        if not text:
            return
        if not text.startswith("{"):
            text = _ESCAPES.sub("", text).lstrip(_BEFORE)
        before, document = _found(text)
        if document is not None:
            again = (mark := hash(text)) in self._counted
            if self.take(document, self._rules.of(document), again=again):
                self._counted.add(mark)
        if before:
            self._take_text(_ESCAPES.sub("", line.rstrip("\n"))[:MOST_TEXT])

    def take(self, document: dict[str, Any], rules: Iterable[Rule], *, again: bool = False) -> bool:
        """Apply every rule that fits a document; return whether its figures are those of one step."""
        added = False
        for rule in rules:
            if rule.matches is not None or (again and rule.adds) or not fits(document, rule.when):
                continue
            added = added or rule.adds
            for part in parts(document, rule.each, rule.where):
                self._apply(rule, lambda path, part=part: at(part, path))  # type: ignore[misc]
        return added

    def _take_text(self, line: str) -> None:
        for rule in self.profile.on:
            if rule.matches is not None and (found := rule.matches.search(line)):
                groups = {"line": line.strip(), **found.groupdict()}
                self._apply(rule, groups.get)

    def _apply(self, rule: Rule, get: Callable[[str], Any]) -> None:
        reading = self.reading
        if rule.session and (session := text_of(get(rule.session))):
            reading.session = session[:200]
        if rule.message and (message := text_of(get(rule.message))):
            self._say(message, joins=rule.joins)
        self._count(rule, get)
        self._act(rule, get)
        self._note_trouble(rule, get)
        if rule.refused:
            reading.refused = True
        if rule.ends is not None:
            hard = reading.trouble is not None and not reading.trouble.passing
            reading.ends = "error" if rule.ends == "error" or (rule.ends == "closed" and hard) else "ok"
            if reading.ends == "ok":
                reading.trouble = None

    def _say(self, message: str, *, joins: bool) -> None:
        old = self.reading.message if joins and self._joined else ""
        self.reading.message = (old + message)[-MOST_TEXT:]
        self._joined = joins

    def _count(self, rule: Rule, get: Callable[[str], Any]) -> None:
        reading = self.reading
        said = [value for value in map(get, rule.tokens) if value is not None]
        counted = [n for n in map(number_of, said) if n is not None]
        if said and len(counted) == len(said):  # if one part is not a number, the sum would be too small
            reading.tokens = int(sum(counted)) + (reading.tokens or 0 if rule.adds else 0)
            reading.added = reading.added or rule.adds
        cost = number_of(get(rule.cost)) if rule.cost else None
        if cost is not None and cost <= MOST_COST:
            reading.cost = round(cost * 1_000_000) + (reading.cost or 0 if rule.adds else 0)

    def _act(self, rule: Rule, get: Callable[[str], Any]) -> None:
        reading = self.reading
        if tool := rule.tool[1:] if rule.tool.startswith("=") else text_of(get(rule.tool)) if rule.tool else "":
            subject = next((text for text in (text_of(get(path)) for path in rule.subject) if text), "")
            reading.actions.append(Action(first_line(tool, 60), first_line(subject)))
            del reading.actions[:-MOST_ACTIONS]
            reading.tools += 1
            reading.refused = False  # an agent that goes on working has not refused
            self._joined = False
            if reading.trouble is not None and reading.trouble.passing:
                reading.trouble = None
        if rule.todos or rule.todo_id:
            self._note_todos(rule, get)
        if rule.denied:
            found = get(rule.denied)
            names = [at(one, rule.denied_name) for one in found] if isinstance(found, list) else [found]
            named = [first_line(text) for text in map(text_of, names) if text]
            reading.denials = list(dict.fromkeys(reading.denials + named))[:MOST_DENIALS]

    def _note_todos(self, rule: Rule, get: Callable[[str], Any]) -> None:
        todos = self.reading.todos
        if rule.todos:
            items = get(rule.todos)
            if isinstance(items, list):
                todos.clear()
                for number, item in enumerate(items[:MOST_TODOS]):
                    todos[str(number)] = _todo(at(item, rule.todo), at(item, rule.todo_state), None)
            return
        name = text_of(get(rule.todo_id))
        if name and (name in todos or len(todos) < MOST_TODOS):
            text = get(rule.todo) if rule.todo else None
            todos[name] = _todo(text, get(rule.todo_state) if rule.todo_state else None, todos.get(name))

    def _note_trouble(self, rule: Rule, get: Callable[[str], Any]) -> None:
        if rule.clears:
            self.reading.trouble = None
        words = next((text for text in (text_of(get(path)) for path in rule.error) if text), "")
        status = next((int(n) for n in (number_of(get(path)) for path in rule.status) if n), None)
        if not words and not status:
            return
        before = self.reading.trouble
        said = next((n for n in (number_of(get(path)) for path in rule.wait) if n is not None), None)
        wait = bounded(said, datetime.now(UTC)) if said is not None else wait_in(words)
        if before is not None and not rule.passing:
            # The closing error often tells less than the notices before it.
            status, wait = status or before.status, wait if wait is not None else before.wait
        self.reading.trouble = Trouble(words[:MOST_TEXT], status, wait, rule.passing)


def _found(text: str) -> tuple[str, dict[str, Any] | None]:
    """Return the text before the JSON document in a line, and the document; the whole line if it holds none.

    Standard error is in the same stream, so a text there without a line end comes before the next document.
    """
    start = 0 if text.startswith("{") else text.find('{"')
    if start >= 0 and text.endswith("}"):
        try:
            document = json.loads(text[start:])
        except (ValueError, RecursionError):
            document = None
        if isinstance(document, dict):
            return text[:start], document
    return text, None


_DONE = frozenset({"completed", "complete", "done", True})
_ACTIVE = frozenset({"in_progress", "active", "doing"})


def _todo(text: Any, state: Any, before: Todo | None) -> Todo:
    words = first_line(text_of(text)) or (before.text if before else "")
    if state is None and before is not None:
        return Todo(words, before.done, before.active)
    known = state if isinstance(state, str | bool) else None
    return Todo(words, known in _DONE, known in _ACTIVE)
