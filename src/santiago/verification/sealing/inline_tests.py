"""Tests that stand inside the work's own files: a story may change the file and add to its tests, but not loosen them.

Rust keeps its unit tests beside the code, Python its doctests in docstrings. Such a file is the story's to change, so no
seal lies on it; what is held is that each test of the base is still there, word for word.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING, Literal

from santiago.verification.commandline.runners import programs
from santiago.verification.sealing import inline_rust

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Side = Literal["base", "now"]

_LARGEST = 2 * 1024 * 1024
_SETTINGS = ("pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg")
_TAKES_AWAY = re.compile(
    r"__doc__[ \t]*=(?!=)|\bdel\b[^\n]{0,200}__doc__|[\"']__(?:doc|test)__[\"']|\b__test__\b|\bdoctest\b(?!\.testmod\()"
)
"""How a module gets rid of its own examples when it is imported."""
_RUNS_THEM = re.compile(r"^[ \t]+import doctest[ \t]*$", re.MULTILINE)
"""How a module begins to run them where it is a program; what it does with it is looked at as well."""
_REBINDS = frozenset({"globals", "locals", "vars", "exec", "eval", "setattr", "__import__", "import_module"})

Example = tuple[str, str]


def loosened(path: str, lines: Sequence[str], read: Callable[[str, Side], bytes | None]) -> bool:
    """Whether a test inside a file is gone or another one; `lines` are the checks and what stands behind them."""
    if not _concerns(path, lines, lambda name: read(name, "base")):
        return False
    before, after = read(path, "base"), read(path, "now")
    if after is None or max(len(before or b""), len(after)) > _LARGEST:
        return False  # a file that is gone takes its tests with it, which shows in their number
    was, is_now = (before or b"").decode("utf-8", "replace"), after.decode("utf-8", "replace")
    if path.endswith(".rs"):
        return inline_rust.loosened(was, is_now) or inline_rust.ends_itself(path, was, is_now)
    if not path.endswith(".py"):
        return _examples_loosened(_examples(was), _examples(is_now))
    if _names(lines, path) and _own_tests(was).items() - _own_tests(is_now).items():
        return True
    return ">>>" in was and _docs_loosened(was, is_now)


def _concerns(path: str, lines: Sequence[str], setting: Callable[[str], bytes | None]) -> bool:
    """Whether the checks run tests that stand inside such a file."""
    if path.endswith(".rs"):
        return _runs(lines, "cargo")
    if path.endswith(".py"):
        return _names(lines, path) or _runs_doctests(lines, setting)
    return _runs(lines, "doctest") and _names(lines, path)


def _runs(lines: Iterable[str], program: str) -> bool:
    return any(argv[0].rpartition("/")[2] == program for line in lines for argv in programs(line))


def _names(lines: Iterable[str], path: str) -> bool:
    """Whether a check names a file, or a module in it."""
    words = {word.removeprefix("./").partition("::")[0] for line in lines for argv in programs(line) for word in argv}
    module = path.removesuffix(".py").replace("/", ".")
    return path in words or any(f"{word}.".startswith(f"{module}.") for word in words)


def _runs_doctests(lines: Sequence[str], setting: Callable[[str], bytes | None]) -> bool:
    if _runs(lines, "doctest") or any("--doctest" in line for line in lines):
        return True
    return _runs(lines, "pytest") and any(b"--doctest" in (setting(name) or b"") for name in _SETTINGS)


def _docs_loosened(before: str, after: str) -> bool:
    old, new = _parsed(before), _parsed(after)
    if old is None or new is None:
        return False  # what cannot be parsed cannot be imported either, so its check fails
    examples = {name: _examples(text) for name, text in _docstrings(new)}
    if any(_examples_loosened(_examples(text), examples.get(name, [])) for name, text in _docstrings(old)):
        return True
    found = [len(_TAKES_AWAY.findall(_RUNS_THEM.sub("", text))) for text in (before, after)]
    return found[1] > found[0]


def _docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for name, node in (("", tree), *_definitions(tree)):
        text = ast.get_docstring(node, clean=False) or ""  # type: ignore[arg-type]  # only those that can have one
        if ">>>" in text:
            yield name, text


def _definitions(tree: ast.AST, above: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield functions and classes by their dotted names."""
    waiting = [(above, tree)]
    while waiting:
        name, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            named = name
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                named = f"{name}.{child.name}"
                yield named, child
            waiting.append((named, child))


def _examples(text: str) -> list[Example]:
    import doctest  # heavy, and most checks have nothing to do with it

    try:
        return [(one.source, one.want) for one in doctest.DocTestParser().get_examples(text)]
    except ValueError:
        return []


def _examples_loosened(before: Sequence[Example], after: Sequence[Example]) -> bool:
    """Whether an example is gone, or one stands before it now that could give its names another meaning."""
    at = 0
    for example in after:
        if at == len(before):
            break
        if example == before[at]:
            at += 1
        elif not _only_asks(example[0]):
            return True
    return at < len(before)


def _only_asks(source: str) -> bool:
    tree = _parsed(source)
    if tree is None or not all(isinstance(statement, ast.Expr) for statement in tree.body):
        return False
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return not names & _REBINDS and not any(isinstance(node, ast.NamedExpr) for node in nodes)


def _own_tests(text: str) -> dict[str, str]:
    """Return the test functions that stand in a module of any name; of two with one name the last one counts."""
    tree = _parsed(text) if "def test" in text else None
    found = _definitions(tree) if tree else ()
    return {name: ast.dump(node) for name, node in found if name.rpartition(".")[2].startswith("test")}


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
