"""Voices: assertions and examples that must fail, put where a check's own stand; a check on which they are lost is not believed.

An assertion of C begins each test, an example each docstring that has some. They say their name when they fail. Held against the
same on the base, silence shows work that took the meaning from what judges it, however it did so.
"""

from __future__ import annotations

import ast
import re
import secrets
from typing import TYPE_CHECKING

from santiago.verification.provoking import edits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from santiago.contract.outcomes import CheckResult

_C = (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".inc", ".m", ".mm")
_C_ASSERTS = re.compile(r"^[ \t]*(?!#)[^\n]*(?<![\w.>:])assert[ \t]*\(", re.MULTILINE)
_C_TEST = re.compile(r"\b(?:main|test\w*)[ \t]*\([^;{}()]*\)\s*\{")
"""Where a program or a test in C begins."""
_C_NAME = "assert"
_UNPLAIN = re.compile(r"\W")
_RUNS_EXAMPLES = re.compile(r"(?:.*/)?(?:[^/]*\.(?:py|sh|ini|toml|cfg)|Makefile|makefile|justfile)")
"""Files by which a check may come to run examples."""
_EXAMPLE = re.compile(r"[ \t]*(?=>>> )")


def plant(
    folder: str, files: Iterable[str], changed: Collection[str], commands: Collection[str]
) -> tuple[str, frozenset[str]]:
    """Put voices where the changed files could have had a hand; return the word that they begin with, and their names."""
    word, names = f"Voice{secrets.token_hex(6)}", set[str]()
    if any(path.endswith(_C) for path in changed):
        sources = [path for path in files if path.endswith(_C) and path not in changed]
        names |= {_C_NAME for path in sources if edits.rewrite(folder, path, lambda text: in_c(text, word))}
    modules = [path for path in changed if path.endswith(".py")]
    if modules and _runs_examples(folder, {*files, *changed}, commands):
        for path in modules:
            names |= _in_examples(folder, path, f"{word}.{_UNPLAIN.sub('_', path)}")
    return word, frozenset(names)


def in_c(text: str, word: str) -> str | None:
    """Return a source whose tests begin with an assertion that fails; None where it asserts nothing, or tests nothing."""
    if not _C_ASSERTS.search(text):
        return None
    # On a line of its own, so that no message about another line shows it.
    longer = _C_TEST.sub(lambda found: f'{found[0]}\nassert(!"{word}.{_C_NAME}");\n', text)
    return None if longer == text else longer


def in_examples(text: str, word: str) -> tuple[str, frozenset[str]]:
    """Return a module each of whose docstrings with examples begins with one that fails, and what has such docstrings."""
    tree = edits.parsed(text)
    lines, names = text.split("\n"), set[str]()
    for name, first, last in sorted(_docstrings(tree) if tree else (), key=lambda one: -one[1]):
        for place in range(first, last):
            if found := _EXAMPLE.match(lines[place]):
                lines.insert(place, f"{found[0]}>>> {word}.{name}")
                names.add(f"{word}.{name}".partition(".")[2])
                break
    return "\n".join(lines), frozenset(names)


def heard(word: str, result: CheckResult) -> frozenset[str] | None:
    """Return the names that a check says; None where not all of what it said is known."""
    text = result.output.head + result.output.tail
    return None if result.output.dropped else frozenset(re.findall(rf"\b{word}\.([\w.]+)", text))


def _runs_examples(folder: str, files: Iterable[str], commands: Iterable[str]) -> bool:
    if any("doctest" in command for command in commands):
        return True
    texts = (edits.read(folder, path) or "" for path in files if _RUNS_EXAMPLES.fullmatch(path))
    return any("doctest" in text for text in texts)


def _in_examples(folder: str, path: str, word: str) -> frozenset[str]:
    found = in_examples(edits.read(folder, path) or "", word)
    return found[1] if found[1] and edits.rewrite(folder, path, lambda _: found[0]) else frozenset()


def _docstrings(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """Yield each docstring by the name of what it belongs to, with the lines that it stands in."""
    waiting: list[tuple[str, ast.Module | ast.stmt]] = [("", tree)]
    while waiting:
        name, owner = waiting.pop()
        if not isinstance(owner, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        match owner.body[:1]:
            case [ast.Expr(ast.Constant(value=str()) as text)]:
                yield name.strip(".") or "module", text.lineno - 1, text.end_lineno or text.lineno
        if not isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += [(f"{name}.{getattr(one, 'name', '')}", one) for one in owner.body]
