"""Records are dataclasses in everything that anybody does with one, from the first use on."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace

import pytest

from santiago.contract.record import record


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


def test_a_record_has_the_fields_and_defaults_of_a_dataclass() -> None:
    point = Point(x=1)
    assert [one.name for one in fields(Point)] == [one.name for one in fields(Same)]
    assert (point.x, point.y, point.names, point.sum) == (1, 2, [], 3)
    assert Point(x=1).names is not point.names
    assert replace(point, y=5) == Point(x=1, y=5)
    assert is_dataclass(Point)


def test_a_record_is_shown_as_a_dataclass_is() -> None:
    assert repr(Point(x=1)) == repr(Same(x=1)).replace("Same", "Point")


def test_records_of_the_same_values_are_equal_and_others_are_not() -> None:
    kind = fresh()
    assert kind(x=1) == kind(x=1)
    assert hash(kind(x=1)) == hash(kind(x=1))
    assert kind(x=1) != kind(x=2)
    assert kind(x=1) != fresh()(x=1)


def test_records_without_fields_are_all_the_same() -> None:
    @record
    class Nothing:
        pass

    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())
    assert repr(Nothing()).endswith("Nothing()")


@pytest.mark.parametrize("fields", [{}, {"x": 1, "z": 1}], ids=["missing", "unknown"])
@pytest.mark.parametrize("used", [False, True])
def test_a_field_that_is_missing_or_unknown_is_refused_from_the_first_use_on(
    fields: dict[str, int], used: bool
) -> None:
    kind = fresh()
    if used:
        kind(x=1)
    with pytest.raises(TypeError):
        kind(**fields)  # type: ignore[arg-type]


def test_a_record_cannot_be_changed() -> None:
    point = Point(x=1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.x
    with pytest.raises(FrozenInstanceError):
        point.other = 2  # type: ignore[attr-defined]
    assert point.x == 1


def test_a_record_survives_being_copied_and_pickled() -> None:
    point = Point(x=1, names=["a"])
    deep = copy.deepcopy(point)
    assert point == deep == copy.copy(point) == pickle.loads(pickle.dumps(point))
    assert deep.names is not point.names
