"""Records and lean classes are dataclasses in everything that anybody does with one, from the first use on."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import pytest

from santiago.contract.record import lean, record
from tests.util.each import each


@record
class Point:
    x: int
    y: int = 2
    names: list[str] = field(default_factory=list)

    @property
    def sum(self) -> int:
        return self.x + self.y


@dataclass(frozen=True, slots=True, kw_only=True)
class Same:
    x: int
    y: int = 2
    names: list[str] = field(default_factory=list)


def fresh() -> type[Point]:
    """Return a record type that nobody has used yet."""

    @record
    class Fresh:
        x: int
        y: int = 2

    return Fresh  # type: ignore[return-value]


def test_a_record_has_the_fields_defaults_and_look_of_a_dataclass() -> None:
    point = Point(x=1)
    assert [one.name for one in fields(Point)] == [one.name for one in fields(Same)]
    assert (point.x, point.y, point.names, point.sum) == (1, 2, [], 3)
    assert Point(x=1).names is not point.names
    assert replace(point, y=5) == Point(x=1, y=5)
    assert is_dataclass(Point)
    assert repr(point) == repr(Same(x=1)).replace("Same", "Point")


def test_records_of_the_same_values_are_equal_and_others_are_not() -> None:
    @record
    class Nothing:
        pass

    kind = fresh()
    assert kind(x=1) == kind(x=1)
    assert hash(kind(x=1)) == hash(kind(x=1))
    assert kind(x=1) != kind(x=2)
    assert kind(x=1) != fresh()(x=1)
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())
    assert repr(Nothing()).endswith("Nothing()")


@each("fields", [{}, {"x": 1, "z": 1}])
@each("used", [False, True])
def test_a_missing_or_unknown_field_is_refused_from_the_first_use_on(fields: dict[str, int], used: bool) -> None:
    kind = fresh()
    if used:
        kind(x=1)
    with pytest.raises(TypeError):
        kind(**fields)  # type: ignore[arg-type]


def test_a_record_cannot_be_changed_but_copied_and_pickled() -> None:
    point = Point(x=1, names=["a"])
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.x
    with pytest.raises(FrozenInstanceError):
        point.other = 2  # type: ignore[attr-defined]
    assert point.x == 1
    deep = copy.deepcopy(point)
    assert point == deep == copy.copy(point) == pickle.loads(pickle.dumps(point))
    assert deep.names is not point.names


class Counted:
    first: int
    second: int = 2
    names: list[str] = field(default_factory=list)
    note: str = field(default="", repr=False, compare=False)
    total: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", self.first + self.second)


OPTIONS: list[dict[str, bool]] = [
    {}, {"frozen": True}, {"kw_only": True}, {"eq": False}, {"slots": False}, {"frozen": True, "slots": False},
    {"frozen": True, "eq": False},
]  # fmt: skip


@each("options", OPTIONS)
def test_a_lean_class_does_what_a_dataclass_with_the_same_options_does(options: dict[str, bool]) -> None:
    def made(decorator: Any) -> list[object]:
        body = {name: value for name, value in vars(Counted).items() if name not in {"__dict__", "__weakref__"}}
        kind: Any = decorator(type("Counted", (), body))
        return [_tried(kind, attempt) for attempt in _ATTEMPTS]

    assert made(lean(**options)) == made(dataclass(**{"slots": True, **options}))


_ATTEMPTS: list[Any] = [
    lambda kind: repr(kind(1, 5)),
    lambda kind: repr(kind(first=1, names=["a"])),
    lambda kind: kind(),
    lambda kind: kind(1, 2, [], "", 3),
    lambda kind: kind(first=1, other=2),
    lambda kind: kind(first=1) == kind(first=1, note="n"),
    lambda kind: kind(first=1) == kind(first=2),
    lambda kind: len({kind(first=1, names=()), kind(first=1, names=())}),
    lambda kind: kind(first=1).names is kind(first=1).names,
    lambda kind: replace(kind(first=1), second=7).total,
    lambda kind: setattr(kind(first=1), "second", 3),
    lambda kind: copy.deepcopy(kind(first=1)).total,
    lambda kind: kind.__match_args__,
]


def _tried(kind: Any, attempt: Any) -> object:
    try:
        return attempt(kind)
    except (TypeError, AttributeError) as error:
        return type(error)


def test_an_object_of_a_lean_class_keeps_what_was_computed_once() -> None:
    @lean(frozen=True, slots=False)
    class Kept:
        names: list[str]

        @cached_property
        def longest(self) -> str:
            return max(self.names, key=len)

    kept = Kept(["a", "bcd"])
    assert kept.longest is kept.longest == "bcd"
    with pytest.raises(FrozenInstanceError):
        kept.names = []  # type: ignore[misc]
