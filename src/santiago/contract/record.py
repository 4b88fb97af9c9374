"""How santiago's types are made: by `record`, or by `lean` if objects change or their fields are given by position.

Python compiles the methods of every dataclass, which takes a millisecond for each class, and a short command uses only a
few of the many classes. So these classes share their methods. Only `__init__` differs from class to class, and it is
compiled when the first object is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

T = TypeVar("T")

CONFIG: dict[str, Any] = {"extra": "forbid", "strict": True}
"""Read by the codec. All types share it, so that a schema can switch the docstrings of fields on, which costs time."""


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a frozen, slotted, keyword-only dataclass that the codec reads strictly and without unknown fields."""
    made = lean(frozen=True, kw_only=True)(cls)
    made.__pydantic_config__ = CONFIG  # type: ignore[attr-defined]  # read by the codec
    return made


@dataclass_transform(field_specifiers=(field,))
def lean(
    *, frozen: bool = False, kw_only: bool = False, slots: bool = True, eq: bool = True
) -> Callable[[type[T]], type[T]]:
    """Make what `dataclass` makes of these options. Use `slots=False` for a class with a `cached_property`."""

    def make(cls: type[T]) -> type[T]:
        cls.__doc__ = cls.__doc__ or cls.__name__  # without one, a dataclass takes time to make one from its signature
        made = dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
        equal = {"__eq__": _equals, "__hash__": _hash if frozen else None} if eq else {}
        shared = {"__repr__": _shown, **equal, **(_FROZEN if frozen else {})}
        for name, method in (*shared.items(), ("__init__", _compiled_when_called(made))):
            setattr(made, name, method)
        return made

    return make


def _compiled_when_called(cls: Any) -> Callable[..., None]:
    def first(self: object, *given: Any, **named: Any) -> None:
        cls.__init__ = _compiled(cls)
        cls.__init__(self, *given, **named)

    return first


def _compiled(cls: Any) -> Any:
    """Return the `__init__` that a dataclass would have."""
    scope: dict[str, Any] = {"_absent": MISSING}
    placed, named, body = ["self"], ["*"], ["pass"]
    for one in fields(cls):
        name = value = one.name
        if not one.init:
            continue
        parameters = named if one.kw_only else placed
        if one.default is not MISSING:
            scope[f"_{name}"] = one.default
            parameters.append(f"{name}=_{name}")
        elif one.default_factory is not MISSING:
            scope[f"_{name}"] = one.default_factory
            parameters.append(f"{name}=_absent")
            value = f"_{name}() if {name} is _absent else {name}"
        else:
            parameters.append(name)
        body.append(_set(cls, name, value, scope))
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    words = ", ".join([*placed, *(named if len(named) > 1 else ())])
    exec(f"def __init__({words}):\n " + "\n ".join(body), scope)  # noqa: S102  # the names of fields, and nothing else
    return scope["__init__"]


def _set(cls: Any, name: str, value: str, scope: dict[str, Any]) -> str:
    """Return the statement that sets a field for the first time, also in a class whose objects are frozen."""
    if cls.__setattr__ is object.__setattr__:
        return f"self.{name} = {value}"
    if not isinstance(slot := getattr(cls, name, None), MemberDescriptorType):
        return f"self.__dict__[{name!r}] = {value}"
    scope[f"_put_{name}"] = slot.__set__  # the slot itself: it is not looked up by its name each time
    return f"_put_{name}(self, {value})"


_GETTERS: dict[Any, Callable[[Any], Any]] = {}


def _values(cls: Any) -> Callable[[Any], Any]:
    """Return a function that gets all values of an object. If the class has no fields, it gets the class, so all are equal."""
    if cls not in _GETTERS:
        _GETTERS[cls] = attrgetter(*([one.name for one in fields(cls) if one.compare] or ["__class__"]))
    return _GETTERS[cls]


def _equals(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    values = _values(self.__class__)
    return values(self) == values(other)


def _hash(self: Any) -> int:
    return hash(_values(self.__class__)(self))


def _shown(self: Any) -> str:
    pairs = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({pairs})"


def _is_frozen(self: object, name: str, *_: Any) -> NoReturn:
    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")


def _reduced(self: Any) -> tuple[Any, ...]:
    """Have copy and pickle make a new object, since they cannot set the fields of a frozen one."""
    return _made, (type(self), {one.name: getattr(self, one.name) for one in fields(self) if one.init})


def _made(cls: type[T], values: dict[str, Any]) -> T:
    return cls(**values)


_FROZEN: dict[str, Any] = {"__reduce__": _reduced, "__setattr__": _is_frozen, "__delattr__": _is_frozen}


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
