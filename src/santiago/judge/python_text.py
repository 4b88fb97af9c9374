"""Reads Python statement by statement, and resolves names: aliases, constants, texts in pieces.

`import sys as s`, then `"py" + "test" in s.modules` reads as `'pytest' in sys.modules`.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Container, Iterable, Iterator

from santiago.contract.record import record

_LONGEST = 300
"""A name's meaning is written out only up to this many characters, since names within names could grow without end."""
_MOST_NAMES = 200
"""In one statement."""
_ASKED = {"startswith", "endswith", "find", "index", "count", "search", "match", "fullmatch"}
_SIMPLE = {"int", "float", "complex", "str", "bytes", "list", "tuple", "dict", "set", "object"}
_COMPARING = {"__ne__": "True"} | dict.fromkeys(
    ("__eq__", "__contains__", "__lt__", "__le__", "__gt__", "__ge__"), "False"
)
"""Methods of comparison, each with the constant answer that makes it useless."""
_NUMBERS = {"__len__", "__sub__", "__rsub__", "__abs__"}
Names = dict[str, ast.expr]


@record
class Statement:
    """A simple statement, or the head of a compound one."""

    line: int
    """The first of its lines that was asked for."""
    where: str
    """`module`, `main` (behind `if __name__ == …`), or the name of the function."""
    text: str
    compared: tuple[str, ...] = ()
    """Texts that it compares with something or looks for."""


def statements(source: bytes, lines: Container[int]) -> list[Statement]:
    """Return the statements on these lines; raise ValueError if this Python cannot parse the module."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parsing other people's code may print warnings
            body = ast.parse(source).body
        return list(_walk(body, "module", {}, lines))
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(str(error)) from error


def _walk(body: Iterable[ast.AST], where: str, names: Names, lines: Container[int]) -> Iterator[Statement]:
    for one in body:
        remark = _remark(one)
        if remark and (line := _first_of(one, lines)):
            yield Statement(line=line, where=where, text=remark)
        inner, inside = names, where
        match one:
            case ast.FunctionDef(name, given) | ast.AsyncFunctionDef(name, given):
                own = {node.arg for node in ast.walk(given) if isinstance(node, ast.arg)}
                inner, inside = {known: value for known, value in names.items() if known not in own}, name
            case ast.If(ast.Compare(ast.Name("__name__"))):
                inside = "main"
        parts = _taken_apart(one)
        _Written(names).generic_visit(one)
        _learn(one, names)
        if (line := _first_of(one, lines)) and not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):
            compared = tuple(word for node in ast.walk(one) for word in _compared(node))
            yield Statement(line=line, where=where, text=ast.unparse(one), compared=compared)
            owned = [node for node in ast.walk(one) if isinstance(node, ast.Attribute)]
            targets = [ast.unparse(node) for node in owned if isinstance(node.ctx, ast.Store)]
            yield from (Statement(line=line, where=where, text=f"{target} = 0") for target in targets)
            if any(map(_runs_text, ast.walk(one))):
                yield Statement(line=line, where=where, text="runs text")
        yield from _walk(parts, inside, inner, lines)


def _taken_apart(one: ast.AST) -> list[ast.AST]:
    """Remove the inner statements from a compound one, so that only its head is left, and return them."""
    parts: list[ast.AST] = []
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        if isinstance(inside := getattr(one, name, None), list):
            parts += inside
            setattr(one, name, [])
    if parts and isinstance(one, ast.stmt | ast.excepthandler):
        one.end_lineno = max(one.lineno, getattr(parts[0], "lineno", 0) - 1)
    return parts


def _first_of(one: ast.AST, lines: Container[int]) -> int | None:
    first = getattr(one, "lineno", 0)
    return next((line for line in range(first, getattr(one, "end_lineno", first) + 1) if line in lines), None)


def _learn(one: ast.AST, names: Names) -> None:
    """Note what names mean after a statement whose own names are resolved."""
    match one:
        case ast.Import(aliases):
            names.update({alias.asname: _name(alias.name) for alias in aliases if alias.asname})
        case ast.ImportFrom(module, aliases, level):
            place = "." * (level or 0) + (module or "")
            names.update({alias.asname or alias.name: _name(f"{place}.{alias.name}") for alias in aliases})
        case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
            _assign(name, value, names)
        case ast.For(ast.Name(name), value) | ast.With([ast.withitem(value, ast.Name(name))]):
            _assign(name, value, names)
        case ast.For(ast.Tuple(targets), value):
            for target in targets:
                _assign(ast.unparse(target), value, names)


def _assign(name: str, value: ast.expr, names: Names) -> None:
    names.pop(name, None)
    if isinstance(value, ast.Constant | ast.Name):
        names[name] = value
    elif value.end_lineno == value.lineno and len(text := ast.unparse(value)) <= _LONGEST:
        names[name] = _name(text)


def _name(text: str) -> ast.Name:
    """Return a name node that may hold the text of a whole expression. Only patterns read it."""
    return ast.Name(text, ast.Load())


class _Written(ast.NodeTransformer):
    """Replaces names in one statement by what they mean, and joins texts."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.left = _MOST_NAMES

    def visit(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        return ast.copy_location(self._meant(node), node)

    def _meant(self, node: ast.AST) -> ast.AST:
        match node:
            case ast.Name(name, ast.Load()) if self.left > 0 and name in self.names:
                self.left -= 1
                return self.names[name]
            case ast.BinOp(ast.Constant(str() as one), ast.Add(), ast.Constant(str() as other)):
                return ast.Constant(one + other)
            case ast.BinOp(ast.Constant(str() as one), ast.Mult(), ast.Constant(int() as times)) if times < _LONGEST:
                return ast.Constant((one * times)[:_LONGEST])
            case ast.Call(ast.Name("chr"), [ast.Constant(int() as code)]) if 0 <= code <= sys.maxunicode:
                return ast.Constant(chr(code))
            case ast.Call(ast.Name("getattr"), [owner, ast.Constant(str() as name), *_]):
                return ast.Attribute(owner, name, ast.Load())
            case ast.Subscript(
                ast.Attribute(owner, "__dict__") | ast.Call(ast.Name("vars"), [owner]), ast.Constant(str() as name), ctx
            ):
                return ast.Attribute(owner, name, ctx)
            case ast.Call(ast.Name("__import__" | "importlib.import_module"), [ast.Constant(str() as name), *_]):
                return _name(name)
        return node


def _compared(node: ast.AST) -> Iterator[str]:
    asked: list[ast.expr] = []
    match node:
        case ast.Compare(left, _, others):
            asked = [left, *others]
        case ast.Call(ast.Attribute(_, name), arguments) if name in _ASKED:
            asked = arguments
    for one in asked:
        for text in (one, *getattr(one, "elts", ())):
            if isinstance(text, ast.Constant) and isinstance(text.value, str | bytes):
                yield str(text.value)


def _runs_text(node: ast.AST) -> bool:
    """Tell whether a call runs a text as Python that is not written out there."""
    match node:
        case ast.Call(ast.Name(name), [text, *_]) | ast.Call(ast.Attribute(ast.Name("builtins"), name), [text, *_]):
            return name.removeprefix("builtins.") in {"exec", "eval"} and not isinstance(text, ast.Constant)
    return False


def _remark(one: ast.AST) -> str:
    """Return a remark on a definition whose objects compare equal to anything; empty for others."""
    match one:
        case ast.FunctionDef(name) if name in (*_COMPARING, *_NUMBERS):
            return f"def {name} ignores what it is given" if _answers_alike(one) else ""
        case ast.ClassDef(body=body, decorator_list=marks) if any("dataclass" in ast.unparse(mark) for mark in marks):
            fields = [ast.unparse(field) for field in body if isinstance(field, ast.AnnAssign)]
            return "dataclass compares nothing" if fields and all("compare=False" in text for text in fields) else ""
    return ""


def _answers_alike(method: ast.FunctionDef) -> bool:
    """Tell whether a method always gives the same answer, looking at most at the type of its argument."""
    answers = {ast.unparse(node.value) for node in ast.walk(method) if isinstance(node, ast.Return) and node.value}
    if method.name in _NUMBERS:
        said = " ".join(answers)
        return re.fullmatch(r"-?[\d.]+", said) is not None and (method.name, said) != ("__len__", "0")
    given = [node.arg for node in ast.walk(method.args) if isinstance(node, ast.arg)][1:]
    plain = {f"isinstance({name}, {kind})" for name in given for kind in _SIMPLE}
    used = {node.id for node in ast.walk(method) if isinstance(node, ast.Name)}
    unused = bool(answers) and not used & {*given} and not answers & {"NotImplemented", _COMPARING[method.name]}
    same = all(re.fullmatch(r"(.+) (?:==|is) \1", one) for one in answers)  # `other == other`
    return unused or (len(answers) == 1 and answers <= plain) or (same and bool(answers))
