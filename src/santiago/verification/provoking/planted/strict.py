# Stands before strict tests, whose comparisons and assertions ask these functions.
import ast as _ast
import re as _re
import sys as _sys
import unittest as _planted
from time import perf_counter as _clock


class _Nothing:
    __slots__ = ()


def _is_of_the_tests(of, name="__eq__"):
    code = getattr(getattr(of, name, None), "__code__", None)
    mock = getattr(_sys.modules.get("unittest.mock"), "__file__", None)
    if code is not None and code.co_filename == mock:
        return not any(_holds(path, "ANY") for path, _ in _work() if path not in _TESTS and not _TEST_LIKE.search(path))
    return code is not None and code.co_filename in (globals().get("__file__"), *_TESTS)


def _holds(path, word):
    try:
        with open(path, encoding="utf-8") as file:
            return word in file.read()
    except Exception:
        return True


def _equals_anything(one):
    try:
        return type(one) not in _PLAIN and (one == _Nothing()) is True and not _is_of_the_tests(type(one))
    except Exception:
        return False


def _others(value):
    of = type(value)
    more = {str: "x", bytes: b"x", list: [_Nothing()], tuple: (_Nothing(),), int: 1, float: 1}
    if of in more:
        return (value + more[of], value - 1) if of in (int, float) else (value + more[of],)
    return (not value,) if of is bool else ()


def _equals_others(one, value):
    try:
        others = () if type(one) in _PLAIN else [other for other in _others(value) if other != value]
        return any((one == other) is True for other in others) and not _is_of_the_tests(type(one))
    except Exception:
        return False


def _refuse(first, second, kept=None, other=None):
    if any(map(_equals_anything, (*_parts(first), *_parts(second)))):
        raise AssertionError("__TOKEN__: equals anything")
    if (first == second) is True and (_equals_others(first, second) or _equals_others(second, first)):
        raise AssertionError("__TOKEN__: equals other values, too")
    if other is not None and (first == second) is True and _passes(_ask_other, (first, second)[kept], other):
        raise AssertionError("__TOKEN__: equals whatever it is made of")
    _see_replaced()


def _ask_other(one, other):
    made = other()
    if _is_of_the_tests(type(one)) or (one == made) is not True:
        raise ValueError


def _same(first, second, **more):
    _refuse(first, second, **more)
    return first == second


def _differs(first, second):
    found = first != second
    if found is False:
        if (first == second) is False and not _is_of_the_tests(type(first), "__ne__"):
            raise AssertionError("__TOKEN__: is neither equal nor unequal")
        _refuse(first, second)
    return found


def _parts(one):
    # The thing itself and what it holds, as far as a look at it costs little.
    found, at = [one], 0
    while at < len(found) < 200:
        if type(found[at]) in (list, tuple, set, frozenset, dict):
            inner = found[at]
            found += list(inner.values())[:100] if type(inner) is dict else list(inner)[:100]
        at += 1
    return found


def _length(one):
    for of in (list, tuple, dict, set, frozenset, str, bytes):
        if (
            type(one) is not of
            and isinstance(one, of)
            and of.__len__(one) != len(one)
            and not _is_of_the_tests(type(one), "__len__")
        ):
            raise AssertionError("__TOKEN__: has another length than it holds")
    return len(one)


def _held(one, many):
    try:
        anything = type(many) not in _PLAIN and _Nothing() in many and not _is_of_the_tests(type(many), "__contains__")
    except Exception:
        anything = False
    if anything:
        raise AssertionError("__TOKEN__: holds anything")
    return one in many


def _passes(ask, *values):
    try:
        ask(*values)
    except Exception:
        return False
    return True


def _is_replaced(name, ask):
    # Another assertion than the library's is the tests' own, or nobody's.
    for one in (vars(_planted.TestCase)[name], getattr(ask, "__func__", ask)):
        made = getattr(getattr(one, "__code__", None), "co_filename", "")
        if (
            made.startswith(_PLACE)
            and made not in _TESTS
            and not _TEST_LIKE.search(made)
            and "site-packages" not in made
        ):
            return True
    return not hasattr(vars(_planted.TestCase)[name], "__code__")


def _asked(name, ask, *values, **more):
    if _is_replaced(name, ask):
        raise AssertionError("__TOKEN__: " + name + " was replaced by another")
    if _passes(ask, *_NO[name]):
        raise AssertionError("__TOKEN__: " + name + " says yes to anything")
    first, second = (*values, None)[:2]
    if name.endswith("Equal") and "Not" not in name and type(first) not in _PLAIN:
        of_tests = _is_of_the_tests(type(first), "__sub__") or _is_of_the_tests(type(first))
        if not of_tests and _passes(ask, first, 10**9) and _passes(ask, first, -(10**9)):
            raise AssertionError("__TOKEN__: is near to anything")
    if name == "assertIn":
        _held(first, second)
    elif len(values) > 1:
        _refuse(first, second, **more)
    else:
        _see_replaced()
    return values


_NO = "__NO__"
_PLAIN = (int, float, complex, str, bytes, bool, list, tuple, dict, set, frozenset, range, type(None))
_PLACE = "__PLACE__"
_TESTS = frozenset("__TESTS__")
_CALLED = "__CALLED__"
_STATE = vars(_sys).setdefault("__TOKEN__", {"seen": {}, "count": 0, "loaded": [], "next": 0.0})
_TEST_LIKE = _re.compile(r"/tests?/|/(?:test_|conftest)[^/]*$|_test\.py$")
_JUDGES = {
    "builtins": "abs all any isinstance len max min repr round sorted sum",
    "math": "isclose",
    "cmath": "isclose",
    "operator": "eq ne",
    "json": "dumps loads",
    "copy": "copy deepcopy",
    "filecmp": "cmp",
    "re": "fullmatch match search",
}


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
    made = [
        one for one in body if isinstance(one, (_ast.FunctionDef, _ast.AsyncFunctionDef)) and not one.decorator_list
    ]
    parts = [one for top in body for one in _ast.walk(top)]
    other = [one.name for one in body if isinstance(one, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef))]
    other += [one.id for one in parts if isinstance(one, _ast.Name) and not isinstance(one.ctx, _ast.Load)] * 2
    other += [one.attr for one in parts if isinstance(one, _ast.Attribute) and not isinstance(one.ctx, _ast.Load)] * 2
    other += [one.asname or one.name for one in parts if isinstance(one, _ast.alias)] * 2
    return [] if "*" in other else [one.name for one in made if other.count(one.name) == 1]


def _work():
    if _STATE["count"] != len(_sys.modules):
        files = [(getattr(one, "__file__", None), one) for one in list(_sys.modules.values())]
        own = [
            (path, one)
            for path, one in files
            if isinstance(path, str) and path.startswith(_PLACE) and path.endswith(".py")
        ]
        _STATE.update(count=len(_sys.modules), loaded=[(path, one) for path, one in own if "site-packages" not in path])
    return _STATE["loaded"]


def _is_used(culprit):
    stem = culprit[:-3].removesuffix("/__init__").rpartition("/")[2]
    uses = _re.compile(r"^[ \t]*(?:from|import)\b.*\b" + _re.escape(stem) + r"\b|\bimport_module\(", _re.MULTILINE)
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


def _of_library():
    # Functions of the library that a test calls itself.
    for module, name in _CALLED:
        now = getattr(_sys.modules.get(module), name, None)
        if hasattr(now, "__code__"):
            yield None, name, now


def _of_checkout():
    for path, module in _work():
        for owner, name in _functions(path):
            holder = vars(module).get(owner) if owner else module
            now = getattr(holder, "__dict__", {}).get(name)
            if now is not None:
                yield path, f"{owner}.{name}" if owner else name, now


def _see_replaced(first=False):
    # A look takes its time, so the next one comes a good while later.
    began = _clock()
    if first or began > _STATE["next"]:
        _look(first)
        _STATE["next"] = _clock() + 20 * (_clock() - began)


def _look(first):
    # While tests run, what they replace themselves may be anything; before the first one, nothing is replaced.
    for path, name, now in (*_of_judges(), *_of_library(), *_of_checkout()):
        culprit = getattr(getattr(getattr(now, "__func__", now), "__code__", None), "co_filename", "")
        if culprit == path or culprit in _TESTS or _TEST_LIKE.search(culprit) or "site-packages" in culprit:
            continue
        if culprit.startswith(_PLACE):
            wrong = path is None or path in _TESTS or not _is_used(culprit)
        else:
            wrong = (
                first and not culprit and "." not in name and (path is not None or getattr(now, "__name__", "") != name)
            )
        if wrong:
            raise AssertionError("__TOKEN__: " + name + " was replaced by another")


def _equal(self, first, second, msg=None):
    if not _same(first, second):
        raise self.failureException(self._formatMessage(msg, f"{first!r} != {second!r}"))


_planted.TestCase._baseAssertEqual = _equal
