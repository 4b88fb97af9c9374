"""Values of the contract's types, derived from the types themselves, so that a new field is covered at once."""

from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from santiago.contract import board
from santiago.contract.events import Context
from santiago.contract.quantities import Minutes, Seconds, Usd
from santiago.contract.record import AtLeast, Matching

LARGEST = 2**53
TEXT = st.text(max_size=8)
ASCII = st.characters(codec="ascii")

EXAMPLES = {
    r"[A-Z][A-Z0-9-]{0,63}(\.[0-9]+)*": "S2.1",
    r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}": "run-1",
    r"[0-9a-f]{32}": "0123456789abcdef" * 2,
    r"[0-9a-f]{64}": "0123456789abcdef" * 4,
    r"[A-Za-z_][A-Za-z0-9_]*": "API_BASE",
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z": "2026-01-02T03:04:05.678Z",
    board.TICKET_ID: "REQ-1.S2",
    board.UTC: "2026-01-02T03:04:05Z",
    board.LEASE: "held:ada:2026-01-02T03:04:05Z",
}
"""Pattern → a text that matches it."""


def hints(record: type) -> dict[str, Any]:
    """Return a record's fields with their types and marks."""
    found = get_type_hints(record, include_extras=True)
    return {field.name: found[field.name] for field in fields(record)} if is_dataclass(record) else found


def required(record: type) -> set[str]:
    if not is_dataclass(record):
        return set()  # a context: every key may be absent
    return {f.name for f in fields(record) if f.default is MISSING and f.default_factory is MISSING}


def options(kind: Any) -> tuple[Any, ...]:
    """Return the alternatives of a union; anything else is its own only one."""
    return get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)


def mark_of(kind: Any) -> AtLeast | Matching | None:
    if get_origin(kind) is not Annotated:
        return None
    return next(mark for mark in get_args(kind)[1:] if isinstance(mark, AtLeast | Matching))


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of a type."""
    if len(options(kind)) > 1:
        return st.one_of([values(option) for option in options(kind)])
    mark, origin = mark_of(kind), get_origin(kind)
    if isinstance(mark, AtLeast):
        return st.integers(mark.least, LARGEST)
    if isinstance(mark, Matching):
        return st.from_regex(mark.pattern, fullmatch=True, alphabet=ASCII)
    if origin is Literal:
        return st.sampled_from(get_args(kind))
    if origin in {tuple, list}:
        return st.lists(values(get_args(kind)[0]), max_size=2).map(origin)
    if kind in {Minutes, Seconds, Usd}:
        return st.integers(int(kind.POSITIVE), 10**9 * kind.SCALE).map(kind)
    if kind is Context:
        return st.fixed_dictionaries({}, optional={name: values(hint) for name, hint in hints(Context).items()})
    if is_dataclass(kind):
        return st.builds(_class(kind), **{name: values(hint) for name, hint in hints(_class(kind)).items()})
    return st.sampled_from(kind) if issubclass(kind, Enum) else PLAIN[kind]


PLAIN: dict[type, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(-LARGEST, LARGEST),
    bool: st.booleans(),
    NoneType: st.none(),
}


def example(kind: Any) -> Any:
    """Return one value of a type with nothing left out: every optional field is there, every list has an element."""
    kind = options(kind)[0]
    mark, origin = mark_of(kind), get_origin(kind)
    if isinstance(mark, AtLeast):
        return mark.least
    if isinstance(mark, Matching):
        return EXAMPLES[mark.pattern]
    if origin is Literal:
        return get_args(kind)[0]
    if origin in {tuple, list}:
        return origin([example(get_args(kind)[0])])
    if kind in {Minutes, Seconds, Usd}:
        return kind.of(1.5)
    if kind is Context:
        return {name: example(hint) for name, hint in hints(Context).items()}
    if is_dataclass(kind):
        return _class(kind)(**{name: example(hint) for name, hint in hints(_class(kind)).items()})
    return next(iter(kind)) if issubclass(kind, Enum) else {str: "text", int: 1, bool: True}[kind]


class Mutant(NamedTuple):
    """One way to spoil a document."""

    name: str
    data: Any


def mutants(kind: Any, data: Any, path: str = "") -> Iterator[Mutant]:
    """Yield every way to spoil a valid document at one place: a key too few or too many, a wrong type or value."""
    if NoneType not in options(kind):
        yield Mutant(f"{path} is null", None)
    inner = options(kind)[0]
    if is_dataclass(inner) or inner is Context:
        yield from _spoiled_object(_class(inner), data, path)
    elif get_origin(inner) in {tuple, list}:
        yield Mutant(f"{path} is an object", {})
        for mutant in mutants(get_args(inner)[0], data[0], f"{path}[0]"):
            yield Mutant(mutant.name, [mutant.data])
    else:
        for wrong in wrong_values(inner):
            yield Mutant(f"{path} is {wrong!r}", wrong)


def _spoiled_object(record: type, data: dict[str, Any], path: str) -> Iterator[Mutant]:
    yield Mutant(f"{path} is a list", [])
    yield Mutant(f"{path} has an unknown key", {**data, "unknown_key": 1})
    for name, hint in hints(record).items():
        place = f"{path}.{name}" if path else name
        if name in required(record):
            yield Mutant(f"{place} is missing", {key: value for key, value in data.items() if key != name})
        for mutant in mutants(hint, data[name], place):
            yield Mutant(mutant.name, {**data, name: mutant.data})


def wrong_values(kind: Any) -> list[Any]:
    """Return values just outside a plain type."""
    mark = mark_of(kind)
    if isinstance(mark, AtLeast):
        return ["1", 1.5, True, mark.least - 1, LARGEST + 2]
    if isinstance(mark, Matching):
        return [1, "", "../" + EXAMPLES[mark.pattern], EXAMPLES[mark.pattern] + "\n"]
    if get_origin(kind) is Literal:
        return ["no_such_value", 2, True]
    if kind in {Minutes, Seconds, Usd}:
        return ["1", True, -1, 10**10, *([0] if kind.POSITIVE else [])]
    return (
        ["no_such_value", 1]
        if issubclass(kind, Enum)
        else {str: [1, []], int: ["1", 1.5, True], bool: ["yes", 1]}[kind]
    )


def _class(kind: Any) -> type:
    assert isinstance(kind, type)
    return kind
