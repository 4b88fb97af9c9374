"""Strict tests: an edit of test files after which they refuse what only seems to be right, and still pass with honest work.

Refused are values that equal anything, assertions that have lost their voice, and functions of the work that were replaced
by code which only the tests load.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from santiago.verification import texts

if TYPE_CHECKING:
    from collections.abc import Iterable

_ASSERTIONS: dict[str, tuple[object, ...]] = {
    "assertEqual": (1, 2), "assertAlmostEqual": (1, 2), "assertIn": (1, ()), "assertIs": (1, None), "assertTrue": (0,),
    "assertFalse": (1,), "assertIsNone": (1,), "assertListEqual": ([1], [2]), "assertDictEqual": ({1: 1}, {1: 2}), "assertNotEqual": (1, 1),
    "assertTupleEqual": ((1,), (2,)), "assertSequenceEqual": ([1], [2]), "assertCountEqual": ([1], [2]), "assertGreater": (1, 2),
    "assertLess": (2, 1),
}  # fmt: skip
"""Assertions of unittest, each with values that it must say no to."""
_FIRST = """
import ast as _ast, re as _re, sys as _sys, unittest as _planted
from time import perf_counter as _clock

class _Nothing:
    __slots__ = ()

def _is_of_the_tests(of, name="__eq__"):
    code = getattr(getattr(of, name, None), "__code__", None)
    mock = _sys.modules.get("unittest.mock")
    return code is not None and code.co_filename in (globals().get("__file__"), getattr(mock, "__file__", None), *_TESTS)

def _equals_anything(one):
    try:
        return type(one) not in _PLAIN and (one == _Nothing()) is True and not _is_of_the_tests(type(one))
    except Exception:
        return False

def _others(value):
    of = type(value)
    more = {{str: "x", bytes: b"x", list: [_Nothing()], tuple: (_Nothing(),), int: 1, float: 1}}
    if of in more:
        return (value + more[of], value - 1) if of in (int, float) else (value + more[of],)
    return (not value,) if of is bool else ()

def _equals_others(one, value):
    try:
        others = () if type(one) in _PLAIN else [other for other in _others(value) if other != value]
        return any((one == other) is True for other in others) and not _is_of_the_tests(type(one))
    except Exception:
        return False

def _refuse(first, second):
    if _equals_anything(first) or _equals_anything(second):
        raise AssertionError("{token}: equals anything")
    if (first == second) is True and (_equals_others(first, second) or _equals_others(second, first)):
        raise AssertionError("{token}: equals other values, too")
    _see_replaced()

def _same(first, second):
    _refuse(first, second)
    return first == second

def _held(one, many):
    try:
        anything = type(many) not in _PLAIN and _Nothing() in many and not _is_of_the_tests(type(many), "__contains__")
    except Exception:
        anything = False
    if anything:
        raise AssertionError("{token}: holds anything")
    return one in many

def _passes(ask, *values):
    try:
        ask(*values)
    except Exception:
        return False
    return True

def _asked(name, ask, *values):
    if _passes(ask, *_NO[name]):
        raise AssertionError("{token}: " + name + " says yes to anything")
    first, second = (*values, None)[:2]
    if name.endswith("Equal") and "Not" not in name and type(first) not in _PLAIN:
        of_tests = _is_of_the_tests(type(first), "__sub__") or _is_of_the_tests(type(first))
        if not of_tests and _passes(ask, first, 10**9) and _passes(ask, first, -(10**9)):
            raise AssertionError("{token}: is near to anything")
    if name == "assertIn":
        _held(first, second)
    elif len(values) > 1:
        _refuse(first, second)
    else:
        _see_replaced()
    return values

_NO = {no}
_PLAIN = (int, float, complex, str, bytes, bool, list, tuple, dict, set, frozenset, range, type(None))
_PLACE, _TESTS = {folder}, frozenset({tests})
_STATE = vars(_sys).setdefault("{token}", {{"seen": {{}}, "count": 0, "loaded": [], "next": 0.0}})
_TEST_LIKE = _re.compile(r"/tests?/|/(?:test_|conftest)[^/]*$|_test\\.py$")
_JUDGES = {{
    "builtins": "abs all any isinstance len max min repr round sorted sum", "math": "isclose", "cmath": "isclose", "operator": "eq ne",
    "json": "dumps loads", "copy": "copy deepcopy", "filecmp": "cmp", "re": "fullmatch match search",
}}

def _functions(path):
    if path not in _STATE["seen"]:
        try:
            with open(path, encoding="utf-8") as file:
                body = _ast.parse(file.read()).body
        except Exception:
            body = []
        found = [(None, name) for name in _plain(body)]
        found += [(one.name, name) for one in body if isinstance(one, _ast.ClassDef) for name in _plain(one.body)]
        _STATE["seen"][path] = found
    return _STATE["seen"][path]

def _plain(body):
    # Functions that their own file defines once, and gives no other meaning to.
    made = [one for one in body if isinstance(one, (_ast.FunctionDef, _ast.AsyncFunctionDef)) and not one.decorator_list]
    parts = [one for top in body for one in _ast.walk(top)]
    other = [one.name for one in body if isinstance(one, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef))]
    other += [one.id for one in parts if isinstance(one, _ast.Name) and not isinstance(one.ctx, _ast.Load)] * 2
    other += [one.attr for one in parts if isinstance(one, _ast.Attribute) and not isinstance(one.ctx, _ast.Load)] * 2
    other += [one.asname or one.name for one in parts if isinstance(one, _ast.alias)] * 2
    return [] if "*" in other else [one.name for one in made if other.count(one.name) == 1]

def _work():
    if _STATE["count"] != len(_sys.modules):
        files = [(getattr(one, "__file__", None), one) for one in list(_sys.modules.values())]
        own = [(path, one) for path, one in files if isinstance(path, str) and path.startswith(_PLACE) and path.endswith(".py")]
        _STATE.update(count=len(_sys.modules), loaded=[(path, one) for path, one in own if "site-packages" not in path])
    return _STATE["loaded"]

def _is_used(culprit):
    stem = culprit[:-3].removesuffix("/__init__").rpartition("/")[2]
    uses = _re.compile(r"^[ \\t]*(?:from|import)\\b.*\\b" + _re.escape(stem) + r"\\b|\\bimport_module\\(", _re.MULTILINE)
    for path, _ in _work():
        try:
            with open(path, encoding="utf-8") as file:
                if path != culprit and path not in _TESTS and uses.search(file.read()):
                    return True
        except Exception:
            return True
    return False

def _of_judges():
    for module, names in _JUDGES.items():
        if module in _sys.modules:
            yield from ((None, name, vars(_sys.modules[module])[name]) for name in names.split())

def _of_checkout():
    for path, module in _work():
        for owner, name in _functions(path):
            holder = vars(module).get(owner) if owner else module
            now = getattr(holder, "__dict__", {{}}).get(name)
            if now is not None:
                yield path, f"{{owner}}.{{name}}" if owner else name, now

def _see_replaced(first=False):
    # A look takes its time, so the next one comes a good while later.
    began = _clock()
    if first or began > _STATE["next"]:
        _look(first)
        _STATE["next"] = _clock() + 20 * (_clock() - began)

def _look(first):
    # While tests run, what they replace themselves may be anything; before the first one, nothing is replaced.
    for path, name, now in (*_of_judges(), *_of_checkout()):
        culprit = getattr(getattr(getattr(now, "__func__", now), "__code__", None), "co_filename", "")
        if culprit == path or culprit in _TESTS or _TEST_LIKE.search(culprit) or "site-packages" in culprit:
            continue
        if culprit.startswith(_PLACE):
            wrong = path is None or path in _TESTS or not _is_used(culprit)
        else:
            wrong = first and not culprit and "." not in name and (path is not None or getattr(now, "__name__", "") != name)
        if wrong:
            raise AssertionError("{token}: " + name + " was replaced by another")

def _equal(self, first, second, msg=None):
    if not _same(first, second):
        raise self.failureException(self._formatMessage(msg, "%r != %r" % (first, second)))

_planted.TestCase._baseAssertEqual = _equal
"""


def text_of(text: str, token: str, folder: str = "", tests: Iterable[str] = ()) -> str | None:
    """Return strict Python for a test in this folder, which says by the token what it refuses; None where it is no Python."""
    tree = texts.parsed(text)
    if tree is None:
        return None
    tree = ast.fix_missing_locations(_Strict().visit(tree))
    at = texts.first_place(tree)
    where = repr(folder + "/") if folder else "__import__('os').getcwd() + '/'"
    first = _FIRST.format(token=token, no=_ASSERTIONS, folder=where, tests=[f"{folder}/{path}" for path in tests])
    begins = (place for place, one in enumerate(tree.body) if isinstance(one, ast.FunctionDef | ast.ClassDef))
    place = max(at, next(begins, len(tree.body)))
    tree.body[place:place] = ast.parse("_see_replaced(first=True)").body
    tree.body[at:at] = ast.parse(first).body
    return ast.unparse(tree)


class _Strict(ast.NodeTransformer):
    def visit_Compare(self, node: ast.Compare) -> ast.expr:  # the library's name
        self.generic_visit(node)
        asked = {ast.Eq: "_same", ast.In: "_held"}.get(type(node.ops[0])) if len(node.ops) == 1 else None
        return ast.Call(ast.Name(asked, ast.Load()), [node.left, node.comparators[0]], []) if asked else node

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        self.generic_visit(node)
        return [node, ast.Expr(ast.Call(ast.Name("_see_replaced", ast.Load()), [], []))]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Ask an assertion of the test's own case first whether it still says no."""
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(ast.Name("self"), name) if name in _ASSERTIONS:
                count = len(_ASSERTIONS[name])
                values = node.args[:count]
                if len(values) == count and not any(isinstance(one, ast.Starred) for one in values):
                    ask = ast.Call(ast.Name("_asked", ast.Load()), [ast.Constant(name), node.func, *values], [])
                    node.args[:count] = [ast.Starred(ask, ast.Load())]
        return node
