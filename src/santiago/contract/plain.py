"""Short documents read without the validating library, whose loading takes longer than the rest of most commands.

The same types with the same marks say what is valid. This reader accepts only what is plainly valid. Everything else is
left to the library, which decides for itself and says what is wrong.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from santiago.contract.units import _Scaled

if TYPE_CHECKING:
    from collections.abc import Callable


class NotPlainError(ValueError):
    """The data is invalid, or of a kind that this reader leaves to the library."""


def read(cls: Any, data: object) -> Any:
    """Return parsed JSON as a value of a record type; raise NotPlainError where anything is unusual."""
    return _reader(cls)(data)


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated and hasattr(inner[1], "takes"):
        return _that(inner[1].takes)
    if origin is Literal:
        words = {(type(one), one) for one in inner}
        return lambda value: (
            value if type(value) in {str, int, bool} and (type(value), value) in words else _refuse(value)
        )
    if origin in {Union, UnionType} and len(inner) == 2 and inner[1] is NoneType:
        return _or_none(_reader(inner[0]))
    if origin is tuple and inner[1:] == (...,):
        return _tuple(_reader(inner[0]))
    if kind in {str, int, bool}:
        return lambda value: value if type(value) is kind else _refuse(value)
    if is_dataclass(kind):
        return _record(kind)
    if isinstance(kind, type) and issubclass(kind, _Scaled):
        return lambda value: kind.of(value) if kind.takes(value) else _refuse(value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        members = {member.value: member for member in kind}
        return lambda value: members[value] if type(value) is str and value in members else _refuse(value)
    return _refuse


def _refuse(_: Any) -> Any:
    raise NotPlainError


def _that(fits: Callable[[Any], bool]) -> Callable[[Any], Any]:
    return lambda value: value if fits(value) else _refuse(value)


def _or_none(read_one: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read_one(value)


def _tuple(read_one: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: tuple([read_one(one) for one in value]) if type(value) is list else _refuse(value)


def _record(cls: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(cls, include_extras=True)
    readers = {field.name: _reader(hints[field.name]) for field in fields(cls)}

    def read_record(data: Any) -> Any:
        if type(data) is not dict:
            raise NotPlainError
        try:
            return cls(**{name: readers[name](value) for name, value in data.items()})
        except (KeyError, TypeError):  # a field that is not known, or one that is missing
            raise NotPlainError from None

    return read_record
