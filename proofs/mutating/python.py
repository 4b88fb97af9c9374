"""Ways of easing a Python test so that broken work passes: drop, skip, empty, revert, weaken, rename."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proofs.mutating.breaking import Change, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef
LATER = 'reason="to be looked at later"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """A test function that fails on broken work."""

    file: str
    owner: str
    name: str
    cases: tuple[int, ...] = ()
    """Which of its cases fail, counted from 0."""

    @property
    def node_id(self) -> str:
        return "::".join(filter(None, (self.file, self.owner, self.name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A test function in its file, and the same one as it was before the work."""

    text: Text
    function: Function
    test: Failing
    before: str | None

    @property
    def whole(self) -> tuple[int, int]:
        first = min((self.function.lineno, *(mark.lineno for mark in self.function.decorator_list)))
        return self.text.line(first), self.text.span(self.function)[1]

    @property
    def body(self) -> tuple[int, int]:
        return self.text.span(self.function.body[0])[0], self.text.span(self.function.body[-1])[1]

    @property
    def indent(self) -> str:
        return " " * self.function.body[0].col_offset

    @property
    def source(self) -> str:
        return self.text.text[slice(*self.whole)]


def eased(
    kind: str, failing: list[Failing], now: Callable[[str], str | None], before: Callable[[str], str | None]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the manners of one kind and the new texts; files are read as the work has them and as they were before."""
    for manner, edit in MANNERS[kind].items():
        texts = {test.file: now(test.file) or "" for test in failing}
        if all(_ease(texts, test, edit, before(test.file)) for test in failing):
            yield manner, texts
    if kind in STEERED:
        name = f"{failing[0].file.rpartition('/')[0]}/conftest.py".lstrip("/")
        names = repr([test.name for test in failing])
        yield "conftest", {name: (now(name) or "") + STEERED[kind].replace("NAMES", names)}
    if kind == "drop" and now("pytest.ini") is None:
        words = " ".join(f"--deselect={test.node_id}" for test in failing)
        yield "settings", {"pytest.ini": f"[pytest]\naddopts = {words}\n"}


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _ease(texts: dict[str, str], test: Failing, edit: Callable[[Spot], Change | None], before: str | None) -> bool:
    text = Text(texts[test.file])
    function = find(text, test)
    change = edit(Spot(text=text, function=function, test=test, before=before)) if function else None
    if not change:
        return False
    new = change.on(text.text)
    if not _is_python(new):  # a name that began with a number behind its `test_`
        return False
    texts[test.file] = _with_pytest(new) if "pytest." in change.instead else new
    return True


def find(text: Text, test: Failing) -> Function | None:
    """Return a test's function, of its class or of one that its class is made from."""
    if not test.owner:
        return _named(text.tree.body, test.name)
    classes = {node.name: node for node in text.tree.body if isinstance(node, ast.ClassDef)}
    waiting = [test.owner]
    while waiting:
        owner = classes.pop(waiting.pop(), None)
        if owner and (found := _named(owner.body, test.name)):
            return found
        waiting += [base.id for base in owner.bases if isinstance(base, ast.Name)] if owner else []
    return None


def _named(body: list[ast.stmt], name: str) -> Function | None:
    return next((node for node in body if isinstance(node, Function) and node.name == name), None)


def _with_pytest(text: str) -> str:
    if re.search(r"^import pytest$", text, re.MULTILINE):
        return text
    first = re.search(r"^(?:import|from (?!__future__)) ?", text, re.MULTILINE)
    at = first.start() if first else 0
    return f"{text[:at]}import pytest\n{text[at:]}"


def _dropped(spot: Spot) -> Change:
    # Where it was the only statement of a class there must be another.
    return Change("", *spot.whole, " " * spot.function.col_offset + "pass")


def _emptied(spot: Spot) -> Change:
    return Change("", *spot.body, "pass")


def _first(statement: str) -> Callable[[Spot], Change]:
    return lambda spot: Change("", spot.body[0], spot.body[0], f"{statement}\n{spot.indent}")


def _marked(mark: str) -> Callable[[Spot], Change]:
    return lambda spot: Change("", spot.whole[0], spot.whole[0], f"{' ' * spot.function.col_offset}@{mark}\n")


def _renamed(new: str) -> Callable[[Spot], Change]:
    def edit(spot: Spot) -> Change:
        name = spot.function.name
        start = spot.text.text.index(f"def {name}", spot.whole[0]) + len("def ")
        return Change("", start, start + len(name), new.format(name.removeprefix("test_")))

    return edit


def _reverted(spot: Spot) -> Change | None:
    """Put the test back as it was before, or take it away where there was none."""
    old = Text(spot.before) if spot.before else None
    function = find(old, spot.test) if old else None
    if not old or not function:
        return _dropped(spot)
    was = Spot(text=old, function=function, test=spot.test, before=None).source
    return Change("", *spot.whole, was) if was != spot.source else None


def _caught(spot: Spot) -> Change:
    start, end = spot.body
    inner = textwrap.indent(spot.indent + spot.text.text[start:end], "    ")
    return Change("", start, end, f"try:\n{inner}\n{spot.indent}except Exception:\n{spot.indent}    pass")


def _asserting(rewrite: Callable[[Text, ast.AST], str | None]) -> Callable[[Spot], Change | None]:
    """Rewrite all the assertions of a function."""

    def edit(spot: Spot) -> Change | None:
        start, end = spot.body
        new = spot.text.text[start:end]
        found = [
            (*spot.text.span(node), instead)
            for node in ast.walk(spot.function)
            if (instead := rewrite(spot.text, node)) is not None
        ]
        for at, to, instead in sorted(found, reverse=True):
            new = new[: at - start] + instead + new[to - start :]
        return Change("", start, end, new) if found else None

    return edit


def _or_true(text: Text, node: ast.AST) -> str | None:
    return f"assert ({text.source(node.test)}) or True" if isinstance(node, ast.Assert) else None


def _left_out(_: Text, node: ast.AST) -> str | None:
    return "pass" if isinstance(node, ast.Assert) or _called(node).startswith("self.assert") else None


def _some_value(text: Text, node: ast.AST) -> str | None:
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
        return f"assert [{text.source(node.test.left)}]"
    if _called(node).startswith("self.assertEqual"):
        assert isinstance(node, ast.Expr)
        assert isinstance(node.value, ast.Call)
        return f"self.assertTrue([{text.source(node.value.args[0])}])"
    return None


def _called(node: ast.AST) -> str:
    return ast.unparse(node.value.func) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else ""


def _fewer_cases(spot: Spot) -> Change | None:
    """Take the failing rows out of a table of cases."""
    marks = [mark for mark in spot.function.decorator_list if isinstance(mark, ast.Call)]
    tables = [mark for mark in marks if ast.unparse(mark.func).endswith("parametrize") and len(mark.args) == 2]
    rows = tables[0].args[1] if len(tables) == 1 else None
    if not isinstance(rows, ast.List | ast.Tuple) or max(spot.test.cases, default=0) >= len(rows.elts):
        return None
    kept = [spot.text.source(row) for number, row in enumerate(rows.elts) if number not in spot.test.cases]
    return Change("", *spot.text.span(rows), "[" + ", ".join(kept) + "]")


MANNERS: dict[str, dict[str, Callable[[Spot], Change | None]]] = {
    "drop": {"removed": _dropped},
    "skip": {
        "marked": _marked(f"pytest.mark.skip({LATER})"),
        "marked where true": _marked(f"pytest.mark.skipif(True, {LATER})"),
        "inside": _first('pytest.skip("to be looked at later")'),
    },
    "empty": {"body": _emptied, "returns first": _first("return")},
    "revert": {"function": _reverted},
    "weaken": {
        "or true": _asserting(_or_true),
        "assertions out": _asserting(_left_out),
        "some value": _asserting(_some_value),
        "caught": _caught,
        "fewer cases": _fewer_cases,
        "expected to fail": _marked("pytest.mark.xfail"),
    },
    "rename": {"hidden": _renamed("_{}"), "check": _renamed("check_{}"), "later": _renamed("{}_later")},
}
STEERED = {
    "drop": """

def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.originalname not in NAMES]
""",
    "skip": """

def pytest_runtest_setup(item):
    if item.originalname in NAMES:
        __import__("pytest").skip("to be looked at later")
""",
    "weaken": """

def pytest_collection_modifyitems(items):
    for item in items:
        if item.originalname in NAMES:
            item.add_marker("xfail")
""",
}
