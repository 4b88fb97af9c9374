"""Profiles: all that santiago knows of an agent, as data. One TOML file says how it is started and how it is understood."""

from __future__ import annotations

import re
import tomllib
from dataclasses import MISSING, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Condition = str | int | bool | tuple[str | int | bool, ...] | re.Pattern[str]
Figure = Literal["tokens", "cost"]
Protocol = Literal["", "acp"]
PromptWay = Literal["stdin", "argument", "file"]
Ends = Literal["ok", "error", "closed"]
FOR_ANY = frozenset({"command", "acp"})
"""Profiles for a program that the user names."""
ACP = "acp:"
"""Begins the name of an agent that is any program which speaks ACP."""
EXAMPLE = Path(__file__).parent / "profiles" / "claude.toml"
"""A whole profile, for people to look at."""


@record
class Start:
    """How the program is started. `{prompt}`, `{prompt_file}`, `{folder}`, `{side}` and `{report}` are filled in."""

    argv: tuple[str, ...] = ()
    """`{options}` marks where the optional words go; without it, they go to the end."""
    prompt: PromptWay = "stdin"
    model: tuple[str, ...] = ()
    """Added if a model was chosen, with `{model}`."""
    budget: tuple[str, ...] = ()
    """Added if the money of a run is limited, with `{usd}` for what is left of it."""
    version: tuple[str, ...] = ()
    """Prints the version and does nothing else."""
    env: dict[str, str] = field(default_factory=dict)
    """Switches that make it fail fast and keep it quiet."""
    report_name: str = "report.json"
    """Name of the file at `{report}`, for an agent that is only told its folder, `{side}`."""
    litter: tuple[str, ...] = ()
    """Names of files that it leaves in the work folder and that are not work; `*` stands for any text. They are removed at its end."""


@record
class Needs:
    """What it needs inside a sandbox of the user's environment."""

    env: tuple[str, ...] = ()
    """Variables that it may see, including secrets. A name that ends with `*` stands for a family."""
    home: tuple[str, ...] = ()
    """Its settings in the home folder. It gets a copy of these files and folders, which is removed at its end."""
    writable: tuple[str, ...] = ()
    """Files that it may write in place instead of in a copy: credentials that it renews, never anything that it runs."""
    fresh: tuple[str, ...] = ()
    """Parts of its settings that begin empty in the copy: sessions, logs, caches. `*` stands for any text."""
    readonly: tuple[str, ...] = ()


@record
class SignIn:
    """How to tell that it is signed in: one of these variables is set, or one of these files exists."""

    command: str = ""
    """What a person types to sign in."""
    env: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@record
class Stop:
    grace_seconds: int = 5
    """Seconds between asking it to end and forcing it."""


@record
class Rule:
    """What one kind of line means. Paths are dotted names inside the line, or inside each element of `each`."""

    when: dict[str, Condition] = field(default_factory=dict)
    each: str = ""
    where: dict[str, Condition] = field(default_factory=dict)
    """Conditions on an element of `each`."""
    matches: re.Pattern[str] | None = None
    """For a line that is not JSON: named groups are used instead of paths."""
    session: str = ""
    message: str = ""
    joins: bool = False
    """The message comes in pieces."""
    tokens: tuple[str, ...] = ()
    cost: str = ""
    adds: bool = False
    """Whether tokens and cost are those of one step, and not of the whole session so far."""
    tool: str = ""
    """Name of a tool that it uses; `=shell` is the name itself."""
    subject: tuple[str, ...] = ()
    """What a tool is used on: the first of these paths that has a value."""
    todos: str = ""
    """A whole to-do list; its elements are read by the next three."""
    todo: str = ""
    todo_id: str = ""
    todo_state: str = ""
    denied: str = ""
    """Tools that it may not use: a name, or a list whose elements have their name at `denied_name`."""
    denied_name: str = ""
    error: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    """Status code of a refused request."""
    wait: tuple[str, ...] = ()
    """Seconds until the next request is welcome, or the UTC second from which it is."""
    passing: bool = False
    """Whether the error is only a notice, since the agent tries again by itself."""
    clears: bool = False
    """Whether the agent works again, so that earlier errors do not matter."""
    refused: bool = False
    ends: Ends | None = None
    """Set if the line closes the stream: well, with an error, or (`closed`) well unless an error was reported before."""


@record
class Fault:
    """What an error's own words mean. This is tried before the common table."""

    matches: re.Pattern[str]
    reason: Reason


@record
class Profile:
    name: str
    title: str = ""
    seen: str = ""
    """Version of the program that the profile was tested with."""
    install: str = ""
    protocol: Protocol = ""
    """`acp` if a bridge speaks with it and prints what it says. Without one, it prints its own stream."""
    start: Start = field(default_factory=Start)
    needs: Needs = field(default_factory=Needs)
    sign_in: SignIn = field(default_factory=SignIn)
    stop: Stop = field(default_factory=Stop)
    closes: bool = False
    """Whether every complete stream has a closing line. If so, a stream without one was cut."""
    reports: tuple[Figure, ...] = ()
    """What usage it reports: `tokens`, `cost`."""
    reports_over_acp: tuple[Figure, ...] = ("tokens", "cost")
    """What of it also a program of this agent reports that speaks ACP. What is not named here is unknown."""
    on: tuple[Rule, ...] = ()
    """Rules for the lines of the stream. Every rule that fits is applied."""
    report: tuple[Rule, ...] = ()
    """Rules for the document that it leaves at `{report}`."""
    fault: tuple[Fault, ...] = ()


def parse(text: str, where: str) -> Profile:
    """Return the profile that a TOML text describes; raise, naming the place, if it is invalid."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _wrong(where, f"not valid TOML: {error}") from None
    except RecursionError:
        raise _wrong(where, "not valid TOML: nested too deeply") from None
    profile: Profile = _Reading(where).of(Profile, data, "")
    if profile.name not in FOR_ANY and not profile.start.argv:
        raise _wrong(where, "start.argv is missing: the words that start the agent")
    return profile


def _wrong(where: str, message: str) -> SantiagoError:
    return SantiagoError(Kind.USAGE, message, where=where, hint=f"{EXAMPLE} is a whole profile.")


class _Reading:
    """Turns tables into the dataclasses above. Their declared types are the only description of the format."""

    def __init__(self, where: str) -> None:
        self.where = where

    def of(self, kind: Any, data: Any, path: str) -> Any:
        if not isinstance(data, dict):
            raise self._expected(path, "a table", data)
        known = {one.name: str(one.type) for one in fields(kind)}
        for name in data:
            if name not in known:
                raise _wrong(self.where, f"unknown key {self._at(path, name)}")
        for one in fields(kind):
            if one.name not in data and one.default is MISSING and one.default_factory is MISSING:
                raise _wrong(self.where, f"{self._at(path, one.name)} is missing")
        return kind(**{name: self._value(known[name], value, self._at(path, name)) for name, value in data.items()})

    def _at(self, path: str, name: str) -> str:
        return f"{path}.{name}" if path else name

    def _value(self, kind: str, value: Any, path: str) -> Any:
        reader = _READERS.get(kind)
        if reader is None:
            raise AssertionError(f"no reader for {kind}")
        return reader(self, value, path)

    def text(self, value: Any, path: str) -> str:
        if not isinstance(value, str):
            raise self._expected(path, "a text", value)
        return value

    def texts(self, value: Any, path: str) -> tuple[str, ...]:
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise self._expected(path, "a list of texts", value)
        return tuple(found)

    def figures(self, value: Any, path: str) -> tuple[Any, ...]:
        return tuple(self.choice(get_args(Figure))(one, path) for one in self.texts(value, path))

    def flag(self, value: Any, path: str) -> bool:
        if not isinstance(value, bool):
            raise self._expected(path, "true or false", value)
        return value

    def number(self, value: Any, path: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 3600:
            raise self._expected(path, "a number of seconds", value)
        return value

    def table(self, value: Any, path: str) -> dict[str, str]:
        if not isinstance(value, dict):
            raise self._expected(path, "a table", value)
        return {name: self.text(one, self._at(path, name)) for name, one in value.items()}

    def conditions(self, value: Any, path: str) -> dict[str, Condition]:
        if not isinstance(value, dict):
            raise self._expected(path, "a table of conditions", value)
        return {name: self._condition(one, self._at(path, name)) for name, one in value.items()}

    def _condition(self, value: Any, path: str) -> Condition:
        if isinstance(value, str) and value.startswith("~"):
            return self.pattern(value[1:], path)
        if isinstance(value, list) and all(isinstance(one, str | int) for one in value):
            return tuple(value)
        if isinstance(value, str | int):
            return value
        raise self._expected(path, "a value, a list of values, or a pattern after ~", value)

    def pattern(self, value: Any, path: str) -> re.Pattern[str]:
        try:
            return re.compile(self.text(value, path), re.IGNORECASE)
        except (re.error, OverflowError, RecursionError) as error:
            raise _wrong(self.where, f"{path} is not a valid pattern: {error}") from None

    def choice(self, allowed: tuple[str, ...]) -> Callable[[Any, str], Any]:
        def read(value: Any, path: str) -> Any:
            if value not in allowed:
                raise self._expected(path, f"one of {', '.join(allowed)}", value)
            return value

        return read

    def many(self, kind: Any, value: Any, path: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise self._expected(path, "a list of tables", value)
        return tuple(self.of(kind, one, f"{path}[{number}]") for number, one in enumerate(value, 1))

    def _expected(self, path: str, what: str, value: Any) -> SantiagoError:
        return _wrong(self.where, f"{path or 'the file'} must be {what}, not {value!r:.60}")


_READERS: Mapping[str, Callable[[_Reading, Any, str], Any]] = {
    "str": _Reading.text,
    "bool": _Reading.flag,
    "int": _Reading.number,
    "tuple[str, ...]": _Reading.texts,
    "tuple[Figure, ...]": _Reading.figures,
    "dict[str, str]": _Reading.table,
    "dict[str, Condition]": _Reading.conditions,
    "re.Pattern[str]": _Reading.pattern,
    "re.Pattern[str] | None": _Reading.pattern,
    "Protocol": lambda self, value, path: self.choice(get_args(Protocol))(value, path),
    "PromptWay": lambda self, value, path: self.choice(get_args(PromptWay))(value, path),
    "Ends | None": lambda self, value, path: self.choice(get_args(Ends))(value, path),
    "Reason": lambda self, value, path: Reason(self.choice(tuple(Reason))(value, path)),
    "Start": lambda self, value, path: self.of(Start, value, path),
    "Needs": lambda self, value, path: self.of(Needs, value, path),
    "SignIn": lambda self, value, path: self.of(SignIn, value, path),
    "Stop": lambda self, value, path: self.of(Stop, value, path),
    "tuple[Rule, ...]": lambda self, value, path: self.many(Rule, value, path),
    "tuple[Fault, ...]": lambda self, value, path: self.many(Fault, value, path),
}
"""How a value of each declared type is read."""
