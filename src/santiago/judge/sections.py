"""Files of which only the runner's own sections judge: taking those from one version, and all else from another."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PYTHON = frozenset({"pytest", "coverage", "tox", "nox", "hatch", "poe", "pdm", "task", "nose2"})
_NODE = frozenset(
    {
        "npm",
        "yarn",
        "pnpm",
        "bun",
        "run-s",
        "run-p",
        "npm-run-all",
        "jest",
        "mocha",
        "ava",
        "vitest",
        "tap",
        "tape",
        "node",
    }
)
MIXED: dict[str, frozenset[str]] = {
    "pyproject.toml": _PYTHON, "setup.cfg": _PYTHON, "tox.ini": _PYTHON, "package.json": _NODE, "Cargo.toml": frozenset({"cargo"}),
    "composer.json": frozenset({"composer"}), "deno.json": frozenset({"deno"}),
}  # fmt: skip
"""Files that hold sections of runners among others, and the programs that read those."""
_SECTIONS = {
    "pyproject.toml": re.compile(
        r"tool\.(?:pytest|coverage|tox|nox|poe|taskipy|hatch\.envs|pdm\.scripts|poetry\.plugins\.pytest11)(?:\..*)?"
        r"|project\.entry-points\.pytest11(?:\..*)?"
    ),
    "Cargo.toml": re.compile(r"test"),
    **dict.fromkeys(("setup.cfg", "tox.ini"), re.compile(r"(?:tool:)?pytest|testenv.*|tox.*|coverage:.*|aliases")),
}
_CARGO_KEYS = {"lib": ("test", "doctest", "harness"), "package": ("autotests",)}
"""Keys that steer tests in sections that are not the runner's."""
_JSON_KEYS = {
    "package.json": ("scripts", "jest", "mocha", "ava", "vitest", "nyc", "c8", "tap"), "composer.json": ("scripts",), "deno.json": ("tasks", "test"),
}  # fmt: skip
_TOML_HEADER = re.compile(r"[ \t]*\[{1,2}([^\[\]\n]+)\]{1,2}[ \t]*(?:#.*)?\r?\n?$")
_INI_HEADER = re.compile(r"\[([^\n]+)\]")
_TOML_PIECE = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\\.')
_LONGEST = 1_000_000
"""Characters of a file that is taken apart; a longer one is the judge's as a whole."""
_ERRORS = (ValueError, IndexError, RecursionError, configparser.Error, AttributeError, TypeError)


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    text: str
    """With its header, up to the next one; what stands before the first header has no name."""


def put_back(path: str, mine: bytes, judges_from: bytes) -> bytes:
    """Return `mine` with the runner's own sections as they are in `judges_from`.

    Where that cannot be done section by section (they are written in another way, so that they would be missed or
    stand there twice) the whole file is taken from there.
    """
    name = path.rpartition("/")[2]
    if mine == judges_from or max(len(mine), len(judges_from)) > _LONGEST:
        return judges_from
    part = _part_of(name)
    try:
        wanted = part(judges_from)
    except _ERRORS:
        return mine  # what no runner can read steers none
    try:
        if part(mine) == wanted:
            return mine
        made = _composed(name, mine.decode("utf-8"), judges_from.decode("utf-8")).encode("utf-8")
        return made if part(made) == wanted else judges_from
    except _ERRORS:
        return judges_from


def _composed(name: str, mine: str, judges: str) -> str:
    if name in _JSON_KEYS:
        return _json_composed(mine, judges or "{}", _JSON_KEYS[name])
    split = _toml_sections if name.endswith(".toml") else _ini_sections
    own, theirs = list(split(mine)), list(split(judges))
    if name == "Cargo.toml":
        own = _with_keys(own, theirs)
    return _with_sections(own, theirs, lambda section: _SECTIONS[name].fullmatch(section) is not None)


def _with_sections(own: list[_Section], theirs: list[_Section], is_judges: Callable[[str], bool]) -> str:
    """Return the own sections, with the judge's in the places where sections of these names stand, or else at the end."""
    left = {
        name: "".join(_ended(one.text) for one in some)
        for name, some in groupby(sorted(theirs, key=lambda one: one.name), key=lambda one: one.name)
        if is_judges(name)
    }
    made = "".join(_ended(left.pop(one.name, "")) if is_judges(one.name) else one.text for one in own)
    rest = [left.pop(one.name, "") for one in theirs]
    return made if not any(rest) else _ended(made) + "".join(rest)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _with_keys(own: list[_Section], theirs: list[_Section]) -> list[_Section]:
    """Return the own sections of a Cargo.toml with those single keys that steer tests as the judge has them."""
    found = list(own)
    for name, keys in _CARGO_KEYS.items():
        line = re.compile(rf"^[ \t]*(?:{'|'.join(keys)})[ \t]*=.*\n?", re.MULTILINE)
        wanted = "".join(_ended(text) for one in theirs if one.name == name for text in line.findall(one.text))
        if wanted and not any(one.name == name for one in found):
            found.append(_Section(name, f"[{name}]\n"))
        for place, one in enumerate(found):
            if one.name == name and "".join(map(_ended, line.findall(one.text))) != wanted:
                header, _, rest = one.text.partition("\n")
                found[place] = _Section(name, f"{header}\n{wanted}{line.sub('', rest)}")
    return found


def _toml_sections(text: str) -> Iterator[_Section]:
    """Yield the sections of a TOML text; brackets inside of values begin none."""
    name, lines = "", list[str]()
    inside = ("", 0)
    for line in text.splitlines(keepends=True):
        header = _TOML_HEADER.match(line) if inside == ("", 0) else None
        if header:
            yield _Section(name, "".join(lines))
            name, lines = re.sub(r"[\s\"']", "", header[1]), []
        else:
            inside = _inside(line, *inside)
        lines.append(line)
    yield _Section(name, "".join(lines))


def _inside(line: str, quotes: str, depth: int) -> tuple[str, int]:
    """Return the quotes of the string, and the depth of the brackets, that are open behind a line."""
    at = 0
    while True:
        if quotes:
            end = line.find(quotes, at)
            if end < 0:
                return quotes, depth
            at, quotes = end + 3, ""
        piece = _TOML_PIECE.search(line, at)
        if piece is None:
            return quotes, depth
        at = piece.end()
        quotes = piece.group() if piece.group() in {'"""', "'''"} else ""
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(piece.group(), 0)


def _ini_sections(text: str) -> Iterator[_Section]:
    name, lines = "", list[str]()
    for line in text.splitlines(keepends=True):
        if header := _INI_HEADER.match(line):
            yield _Section(name, "".join(lines))
            name, lines = header[1], []
        lines.append(line)
    yield _Section(name, "".join(lines))


def _json_composed(mine: str, judges: str, keys: tuple[str, ...]) -> str:
    """Return a JSON object with some members of another one; each member is taken over as it is written."""
    head, own, tail = _members(mine)
    theirs = {key: text for key, text in _members(judges)[1] if key in keys}
    made = [theirs.pop(key, None) if key in keys else text for key, text in own]
    return head + ",".join([text for text in made if text is not None] + list(theirs.values())) + tail


def _members(text: str) -> tuple[str, list[tuple[str, str]], str]:
    """Return what stands before the members of a JSON object, each with its key, and what stands behind them."""
    decoder = json.JSONDecoder()
    space = re.compile(r"\s*")

    def behind(at: int) -> int:
        found = space.match(text, at)
        return found.end() if found else at

    at = end = start = behind(0) + 1
    found: list[tuple[str, str]] = []
    while text[behind(at)] != "}":
        key, end = decoder.raw_decode(text, behind(at))
        _, end = decoder.raw_decode(text, behind(behind(end) + 1))
        found.append((str(key), text[at:end]))
        at = behind(end) + (text[behind(end)] == ",")
    return text[:start], found, text[end:]


def _part_of(name: str) -> Callable[[bytes], Any]:
    """Return how to read the runner's part of a file, in a form that can be compared."""
    if name in _JSON_KEYS:
        return lambda raw: {key: value for key, value in json.loads(raw or b"{}").items() if key in _JSON_KEYS[name]}
    if name == "Cargo.toml":
        return _cargo_part
    return _toml_part if name == "pyproject.toml" else _ini_part


def _toml_part(raw: bytes) -> Any:
    data = tomllib.loads(raw.decode("utf-8"))
    return {name: value for name, value in _tables(data, "") if _SECTIONS["pyproject.toml"].fullmatch(name)}


def _tables(data: dict[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, dict) and above.count(".") < 3:
            yield from _tables(value, f"{above}{key}.")
        else:
            yield above + key, value


def _cargo_part(raw: bytes) -> Any:
    data = tomllib.loads(raw.decode("utf-8"))
    keys = {f"{name}.{key}": data.get(name, {}).get(key) for name, keys in _CARGO_KEYS.items() for key in keys}
    return {"test": data.get("test"), **keys}


def _ini_part(raw: bytes) -> Any:
    parser = configparser.RawConfigParser(strict=False, interpolation=None)
    parser.read_string(raw.decode("utf-8"))
    return {name: dict(parser[name]) for name in parser.sections() if _SECTIONS["setup.cfg"].fullmatch(name)}
