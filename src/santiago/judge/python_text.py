"""Python read statement by statement as if names were written out: aliases, constants, texts in pieces.

`import sys as s`, then `"py" + "test" in s.modules` reads as `'pytest' in sys.modules`.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LONGEST = 300
"""What a name stands for is written out up to this many characters; names that hold names would grow without end."""
_ASKED = {"startswith", "endswith", "find", "index", "count", "search", "match", "fullmatch"}
_SIMPLE = "int float complex str bytes list tuple dict set object"
_ALWAYS = {"__eq__": "True", "__contains__": "True", "__ne__": "False"}
_NUMBERS = ("__len__", "__sub__", "__rsub__", "__abs__")
Names = dict[str, ast.expr]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A simple statement, or the head of a compound one."""

    lines: range
    where: str
    """`module`, `main` (behind `if __name__ == …`), or the name of the function."""
    text: str
    compared: tuple[str, ...] = ()
    """Texts that it compares with something or looks for."""
    imports: tuple[str, ...] = ()
    """Modules that it imports, and names that it takes from them."""


def statements(source: bytes) -> list[Statement]:
    """Return the statements of a module; ValueError where this Python cannot read it."""
    try:
        return list(_walk(ast.parse(source).body, "module", {}))
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(str(error)) from error


def _walk(body: Iterable[ast.AST], where: str, names: Names) -> Iterator[Statement]:
    for one in body:
        inner, inside = names, where
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            given = {arg.arg for arg in ast.walk(one.args) if isinstance(arg, ast.arg)}
            inner, inside = {name: value for name, value in names.items() if name not in given}, one.name
            if value := _constant_answer(one):
                lines = range(one.lineno, (one.end_lineno or one.lineno) + 1)
                yield Statement(lines=lines, where=where, text=f"def {one.name} returns {value}")
        elif isinstance(one, ast.ClassDef) and _compares_nothing(one):
            yield Statement(
                lines=range(one.lineno, (one.end_lineno or one.lineno) + 1),
                where=where,
                text="dataclass without comparison",
            )
        elif isinstance(one, ast.If) and "__name__" in ast.unparse(one.test):
            inside = "main"
        parts = [
            child
            for child in ast.iter_child_nodes(one)
            if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)
        ]
        if not _is_text(one):
            heads = (
                [child for child in ast.iter_child_nodes(one) if child not in parts] if hasattr(one, "body") else [one]
            )
            yield from _statement(one, [_Written(names).visit(copy.deepcopy(head)) for head in heads], where)
        _learn(one, names)
        yield from _walk(parts, inside, inner)


def _statement(one: ast.AST, heads: list[ast.AST], where: str) -> Iterator[Statement]:
    first = getattr(one, "lineno", 0)
    if heads and first:
        last = max(getattr(head, "end_lineno", None) or first for head in heads)
        compared = tuple(word for head in heads for node in ast.walk(head) for word in _compared(node))
        text = " ".join(ast.unparse(head) for head in heads)
        imports = tuple(_imported(one))
        yield Statement(lines=range(first, last + 1), where=where, text=text, compared=compared, imports=imports)


def _is_text(one: ast.AST) -> bool:
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)


def _learn(one: ast.AST, names: Names) -> None:
    """Note what names stand for behind a statement."""
    match one:
        case ast.Import(aliases):
            names.update({alias.asname: ast.Name(alias.name) for alias in aliases if alias.asname})
        case ast.ImportFrom(module, aliases, level):
            place = "." * (level or 0) + (module or "")
            names.update({alias.asname or alias.name: ast.Name(f"{place}.{alias.name}") for alias in aliases})
        case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
            _name(name, value, names)
        case ast.For(ast.Name(name), value) | ast.AsyncFor(ast.Name(name), value):
            _name(name, value, names)
        case ast.With(items) | ast.AsyncWith(items):
            for item in items:
                if isinstance(item.optional_vars, ast.Name):
                    _name(item.optional_vars.id, item.context_expr, names)


def _name(name: str, value: ast.expr, names: Names) -> None:
    written = _Written(names).visit(copy.deepcopy(value))
    text = ast.unparse(written)
    names.pop(name, None)
    if len(text) <= _LONGEST and text != name:
        names[name] = written if isinstance(written, ast.Constant) else ast.Name(text)


class _Written(ast.NodeTransformer):
    """Writes out what names stand for. A name may hold the text of a whole expression: nobody but a pattern reads it."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.names.get(node.id, node) if isinstance(node.ctx, ast.Load) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.BinOp(ast.Constant(str() as one), ast.Add(), ast.Constant(str() as other)):
                return ast.Constant(one + other)
            case ast.BinOp(ast.Constant(str() as one), ast.Mult(), ast.Constant(int() as times)) if times < _LONGEST:
                return ast.Constant((one * times)[:_LONGEST])
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name("chr"), [ast.Constant(int() as code)]) if 0 <= code < 0x11_0000:
                return ast.Constant(chr(code))
            case ast.Call(ast.Name("getattr"), [owner, ast.Constant(str() as name), *_]):
                return ast.Attribute(owner, name)
            case ast.Call(ast.Name("__import__" | "importlib.import_module"), [ast.Constant(str() as name), *_]):
                return ast.Name(name)
        return node


def _imported(one: ast.AST) -> Iterator[str]:
    match one:
        case ast.Import(aliases):
            yield from (alias.name for alias in aliases)
        case ast.ImportFrom(str() as module, aliases, 0):
            yield from (module, *(f"{module}.{alias.name}" for alias in aliases))


def _compared(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Compare(left, _, others):
            asked = [left, *others]
        case ast.Call(ast.Attribute(_, name), arguments) if name in _ASKED:
            asked = arguments
        case _:
            return
    for one in asked:
        if isinstance(one, ast.Constant) and isinstance(one.value, str | bytes):
            yield one.value if isinstance(one.value, str) else one.value.decode("latin-1")


def _constant_answer(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """Return what a method of comparison returns whatever it is asked; None where it looks at what it is given."""
    answers = {ast.unparse(node.value) for node in ast.walk(function) if isinstance(node, ast.Return) and node.value}
    if len(answers) != 1 or function.name not in {*_ALWAYS, *_NUMBERS}:
        return None
    answer = answers.pop()
    given = [arg.arg for arg in function.args.args[1:2]]
    if answer in {f"isinstance({name}, {kind})" for name in given for kind in _SIMPLE.split()}:
        return answer
    if function.name in _NUMBERS:
        return answer if answer.replace(".", "").isdigit() and (answer != "0" or function.name != "__len__") else None
    return answer if answer == _ALWAYS[function.name] else None


def _compares_nothing(cls: ast.ClassDef) -> bool:
    """Whether a dataclass leaves every field out of its comparison."""
    fields = [ast.unparse(one) for one in cls.body if isinstance(one, ast.AnnAssign)]
    return (
        bool(fields)
        and any("dataclass" in ast.unparse(one) for one in cls.decorator_list)
        and all("compare=False" in one for one in fields)
    )
