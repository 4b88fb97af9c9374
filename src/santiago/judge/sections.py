"""Files that are partly work and partly judge: combines the judge's part of one version with the rest of another.

The judge's part is: the runners' sections of settings files, examples in Python's docstrings, Rust's `#[cfg(test)]` modules.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from santiago.contract.lazy_regex import pattern
from santiago.judge.runner_tables import table

_PYTHON = frozenset({"pytest", "coverage", "tox", "nox", "hatch", "poe", "pdm", "task", "nose2"})
NODE = frozenset({"npm", "yarn", "pnpm", "bun", "jest", "mocha", "ava", "vitest", "tap", "tape", "node"})
MIXED: dict[str, frozenset[str]] = {
    "pyproject.toml": _PYTHON, "setup.cfg": _PYTHON, "tox.ini": _PYTHON, "package.json": NODE, "Cargo.toml": frozenset({"cargo"}),
    "composer.json": frozenset({"composer"}), "deno.json": frozenset({"deno"}),
}  # fmt: skip
"""Files that hold sections of test runners among others, and the programs that read these sections."""
_HEADER = pattern(r"^\[{1,2}([^\[\]\n]+)\]{1,2}[^\S\n]*(?:#.*)?$", re.MULTILINE)
_RUST_TESTS = pattern(
    r"^([ \t]*)#\[cfg\(test\)\]\n(?:[ \t]*#\[[^\n]*\n)*\1(?:pub )?mod (\w+) \{\n(?:(?!\1\})[^\n]*\n)*\1\}[ \t]*$",
    re.MULTILINE,
)
"""A module of tests, up to the closing brace with the same indentation as its first line."""
_LONGEST = 1_000_000
"""Longest file that is split into sections, in characters."""
_ERRORS = (ValueError, RecursionError, AttributeError, TypeError, SyntaxError, MemoryError)


def put_back(path: str, mine: bytes, judges_from: bytes, *, loaded: bool = True) -> bytes:
    """Return `mine` with the judge's part as it is in `judges_from`; with what runners only load, if that is asked for."""
    name = path.rpartition("/")[2]
    is_long = max(len(mine), len(judges_from)) > _LONGEST
    if name in MIXED and mine != judges_from:
        return judges_from if is_long else _with_sections(name, mine, judges_from, loaded=loaded)
    compose = {".py": _with_examples, ".rs": _with_modules}.get(name[-3:])
    try:
        return compose(mine.decode(), judges_from.decode()).encode() if compose and not is_long else mine
    except _ERRORS:  # nor could anybody run its tests
        return mine


def _with_sections(name: str, mine: bytes, judges_from: bytes, *, loaded: bool) -> bytes:
    """Return settings with the runner's own sections of another version.

    If that fails (sections are written in another way, so that they would be missed or doubled), the whole file is taken
    from that version.
    """
    try:
        theirs = _settings(name, judges_from.decode())
    except _ERRORS:
        return mine  # a file that no runner can read has no effect on any

    def is_judges(key: str) -> bool:
        kinds = ("tests", "loaded") if loaded else ("tests",)
        return any(re.fullmatch(table("runners")["sections"][kind].get(name, "(?!)"), key) for kind in kinds)

    try:
        own = _settings(name, mine.decode())
        wanted = {key: value for key, value in own.items() if not is_judges(key)}
        wanted |= {key: value for key, value in theirs.items() if is_judges(key)}
        if own == wanted:
            return mine
        made = _composed(name, mine.decode(), judges_from.decode(), wanted, is_judges)
        return made.encode() if _settings(name, made) == wanted else judges_from
    except _ERRORS:
        return judges_from


def _settings(name: str, text: str) -> dict[str, Any]:
    """Return what a file says, by its sections or, in TOML, by whole dotted names."""
    if name.endswith(".json"):
        return dict(json.loads(text or "{}").items())
    if name.endswith(".toml"):
        import tomllib  # loaded here, since few stories change such a file, but status loads this module

        return dict(_dotted(tomllib.loads(text), ""))
    import configparser  # as above

    parser = configparser.RawConfigParser(strict=False, interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(name) from error
    return {section: dict(parser[section]) for section in parser.sections()}


def dotted(name: str, text: str) -> dict[str, Any]:
    """Return all that a JSON or TOML file says, by whole dotted names; nothing if nobody can read it."""
    try:
        return dict(_dotted(_settings(name, text), "")) if name.endswith(".json") else _settings(name, text)
    except _ERRORS:
        return {}


def _dotted(table: dict[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = above + key.replace(".", " ")  # a dot inside quotes does not separate tables
        yield from _dotted(value, f"{name}.") if isinstance(value, dict) else [(name, value)]


def _composed(name: str, mine: str, judges: str, wanted: dict[str, Any], is_judges: Callable[[str], bool]) -> str:
    """Return the text of `mine` with the judge's sections in place of its own of the same names, or else at the end."""
    if name.endswith(".json"):
        indent = re.search(r"^[ \t]+", mine, re.MULTILINE)
        return json.dumps(wanted, indent=indent[0] if indent else None, ensure_ascii=False) + "\n"
    left = {key: text for key, text in _sections(judges).items() if is_judges(key)}
    made = [left.pop(key, "") if is_judges(key) else text for key, text in _sections(mine).items()]
    return "".join([*made, *left.values()])


def _sections(text: str) -> dict[str, str]:
    """Return the texts between headers, by name. Brackets inside long values may look like headers."""
    found: dict[str, str] = defaultdict(str)
    text = f"{text.rstrip()}\n"
    starts = [0, *(header.start() for header in _HEADER.finditer(text)), len(text)]
    for start, end in pairwise(starts):
        header = _HEADER.match(text, start)
        found[re.sub(r"[\s\"']", "", header[1]) if header else ""] += text[start:end]
    return found


def _with_examples(work: str, base: str) -> str:
    """Return the work with code at its end that sets the docstrings of the base, with their examples."""
    ours = dict(_docstrings(ast.parse(work)))
    for name, text in _docstrings(ast.parse(base)):
        if ">>> " in text and ours.get(name, text) != text:
            # A class method is a bound object. Its docstring belongs to the function inside.
            owner = f'getattr({name}, "__func__", {name}).__doc__' if name else "__doc__"
            work = f"{work.rstrip()}\n{owner} = {text!r}\n"
    return work


def with_new_examples(path: str, base: bytes, work: bytes) -> bytes:
    """Return a file of the base with the work's examples, or tests in Rust, of what the base does not define. They fail there."""
    if path.endswith(".rs"):
        return put_back(path, base, work)
    if not path.endswith(".py") or b">>> " not in work or max(len(base), len(work)) > _LONGEST:
        return base
    try:
        known = dict(_docstrings(ast.parse(base)))
        new = {name: text for name, text in _docstrings(ast.parse(work)) if ">>> " in text and name not in known}
    except _ERRORS:
        return base
    return base.rstrip() + f"\n__test__ = {new!r}\n".encode() if new else base


def _docstrings(owner: ast.Module | ast.ClassDef | ast.FunctionDef, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the docstrings of a module and of what it and its classes define, by qualified names."""
    yield name, ast.get_docstring(owner, clean=False) or ""
    for one in () if isinstance(owner, ast.FunctionDef) else owner.body:
        if isinstance(one, ast.ClassDef | ast.FunctionDef):
            yield from _docstrings(one, f"{name}.{one.name}".lstrip("."))


def _with_modules(work: str, base: str) -> str:
    for found in _RUST_TESTS.finditer(base):
        same = [one[0] for one in _RUST_TESTS.finditer(work) if one[2] == found[2]]
        work = work.replace(same[0], found[0], 1) if same else f"{work.rstrip()}\n\n{found[0]}\n"
    return work


def modules_above(path: str) -> tuple[str, ...]:
    """Return the files that may make a file of Rust a module of theirs."""
    folder = path.removesuffix("/mod.rs").rpartition("/")[0]
    names = (f"{folder}/lib.rs", f"{folder}/main.rs", f"{folder}/mod.rs", f"{folder}.rs")
    return tuple(name.lstrip("/") for name in names) if path.endswith(".rs") else ()


def declaration(path: str, text: bytes) -> bytes:
    """Return the line that makes a file of Rust a module, where this text has it."""
    name = re.escape(path.removesuffix("/mod.rs").rpartition("/")[2].removesuffix(".rs"))
    found = re.search(rf"^[ \t]*(?:pub(?:\([^)\n]*\))? )?mod {name};", text.decode(errors="replace"), re.MULTILINE)
    return found[0].encode() if found else b""
