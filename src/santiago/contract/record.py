"""How the contract's types are made: plain frozen dataclasses, with the few marks that the codec needs on them.

The methods of a dataclass are compiled one by one, a millisecond for each class, and a short command uses few of the
many that its modules hold. A record is a dataclass in everything, but its methods are compiled when it is first used.
"""

from __future__ import annotations

import re
from copy import copy
from dataclasses import FrozenInstanceError, dataclass, fields, make_dataclass
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

T = TypeVar("T")

CONFIG: dict[str, Any] = {"extra": "forbid", "strict": True}
"""Read by the codec; one for all types, so that a schema can ask for their fields' docstrings, which costs time."""

_COMPILED = ("__init__", "__repr__", "__eq__", "__hash__")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a frozen, slotted, keyword-only dataclass that the codec reads strictly and without unknown fields."""
    cls.__doc__ = cls.__doc__ or cls.__name__  # where there is none, a dataclass looks up its signature to write one
    made = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=True)(cls)
    methods = {"__setattr__": _is_frozen, "__delattr__": _is_frozen, "__reduce__": _reduced}
    methods |= {name: _compiled_when_called(made, name) for name in _COMPILED}
    for name, method in methods.items():
        setattr(made, name, method)
    made.__pydantic_config__ = CONFIG  # type: ignore[attr-defined]  # read by the codec
    return made


def _compiled_when_called(cls: Any, name: str) -> Callable[..., Any]:
    def method(self: object, *args: Any, **named: Any) -> Any:
        parts = [(field.name, field.type, copy(field)) for field in fields(cls)]
        whole = make_dataclass(cls.__name__, parts, frozen=True, kw_only=True)
        for each in _COMPILED:
            setattr(cls, each, getattr(whole, each))
        return getattr(cls, name)(self, *args, **named)

    return method


def _is_frozen(self: object, name: str, *_: Any) -> NoReturn:
    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")


def _reduced(self: Any) -> tuple[Any, ...]:
    """Copy and pickle make it anew, for they could not fill it in."""
    return _made, (type(self), {field.name: getattr(self, field.name) for field in fields(self)})


def _made(cls: type[T], values: dict[str, Any]) -> T:
    return cls(**values)


class AtLeast:
    """Marks a whole number with its smallest value."""

    MOST = 2**53

    def __init__(self, least: int) -> None:
        self.least = least

    def takes(self, value: object) -> bool:
        return type(value) is int and self.least <= value <= self.MOST

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema  # the codec's library; the core itself never loads it

        return core_schema.int_schema(ge=self.least, le=self.MOST, strict=True)


class Matching:
    """Marks a text with the pattern that it must match as a whole."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def takes(self, value: object) -> bool:
        return type(value) is str and re.fullmatch(self.pattern, value) is not None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema  # the codec's library; the core itself never loads it

        return core_schema.str_schema(pattern=f"^{self.pattern}$", strict=True)
